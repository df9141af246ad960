// Tells the thread sanitizer what it cannot see: the slow paths of `Synchronization.Mutex` lie in the standard library,
// which is not instrumented, so that a lock taken after waiting looks like none. Preloaded into the tests; does nothing
// in a process without the sanitizer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define CONTEXT __attribute__((swift_context))

SWIFT void lock_slow(uint32_t thread, CONTEXT void *handle) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void unlock_slow(CONTEXT void *handle) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

typedef SWIFT void (*Lock)(uint32_t, CONTEXT void *);
typedef SWIFT void (*Unlock)(CONTEXT void *);

SWIFT void lock_slow(uint32_t thread, CONTEXT void *handle) {
  static Lock next;
  if (next == NULL) next = (Lock)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
  next(thread, handle);
  if (__tsan_acquire != NULL) __tsan_acquire(handle);
}

SWIFT void unlock_slow(CONTEXT void *handle) {
  static Unlock next;
  if (next == NULL) next = (Unlock)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
  if (__tsan_release != NULL) __tsan_release(handle);
  next(handle);
}
