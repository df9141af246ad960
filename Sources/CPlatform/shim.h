// What Swift's view of the C library lacks. Header only: nothing is compiled or linked for it.
#pragma once
#include <stdint.h>

#ifdef __linux__
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

// Writes what the system has of a descriptor's file system.
static inline long logstore_sync_file_system(int descriptor) { return syscall(SYS_syncfs, descriptor); }

// Writes and forgets what the system has of a block device (BLKFLSBUF).
static inline int logstore_forget_device(int descriptor) { return (int)syscall(SYS_ioctl, descriptor, 0x1261, 0); }
#endif

static inline void logstore_prefetch(const void *address) { __builtin_prefetch(address, 1, 3); }
