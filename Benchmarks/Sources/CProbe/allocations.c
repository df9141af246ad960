#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "probe.h"

// The program's own malloc, which every library in the process then uses too, in front of glibc's.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static bool is_counting;
static atomic_uint_fast64_t calls;

static inline void note(void) {
  if (__builtin_expect(__atomic_load_n(&is_counting, __ATOMIC_RELAXED), false)) {
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  }
}

void *malloc(size_t size) {
  note();
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  note();
  return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
  note();
  return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void *made = memalign(alignment, size);
  if (made == NULL) return ENOMEM;
  *result = made;
  return 0;
}

void probe_start_allocations(void) {
  atomic_store(&calls, 0);
  __atomic_store_n(&is_counting, true, __ATOMIC_SEQ_CST);
}

uint64_t probe_stop_allocations(void) {
  __atomic_store_n(&is_counting, false, __ATOMIC_SEQ_CST);
  return atomic_load(&calls);
}

void probe_release_memory(void) { malloc_trim(0); }
