// What Swift's view of the C library lacks. Header only: nothing is compiled or linked for it.
#pragma once
#include <stdint.h>

#ifdef __linux__
#include <errno.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

// renameat2 with RENAME_NOREPLACE; musl has no wrapper for it.
static inline long logstore_rename_noreplace(int directory, const char *from, const char *to) {
  return syscall(SYS_renameat2, directory, from, directory, to, 1u);
}

// The kind of file system a descriptor lies on; 0 if that cannot be told.
static inline uint32_t logstore_file_system_type(int descriptor) {
  struct statfs info;
  return fstatfs(descriptor, &info) == 0 ? (uint32_t)info.f_type : 0;
}

// Has the system begin to write a range of a file; with `waits` returns once all that was to be written is, or failed.
static inline int logstore_write_out(int descriptor, uint64_t offset, uint64_t count, int waits) {
#if defined(SYS_sync_file_range) && defined(__LP64__)
  return (int)syscall(SYS_sync_file_range, descriptor, offset, count, waits ? 7u : 2u);
#else
  errno = ENOSYS;
  return -1;
#endif
}

// Writes what the system has of a descriptor's file system.
static inline long logstore_sync_file_system(int descriptor) { return syscall(SYS_syncfs, descriptor); }

// Writes and forgets what the system has of a block device (BLKFLSBUF).
static inline int logstore_forget_device(int descriptor) { return (int)syscall(SYS_ioctl, descriptor, 0x1261, 0); }
#endif

static inline void logstore_prefetch(const void *address) { __builtin_prefetch(address, 1, 3); }
