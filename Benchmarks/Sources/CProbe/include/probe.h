#ifndef PROBE_H
#define PROBE_H

#include <stdint.h>

/// What the program has asked the C library's allocator for, from all threads, in all libraries that it uses.
typedef struct {
  uint64_t calls;
  uint64_t bytes;
} probe_allocations;

/// Starts counting at zero. Until then an allocation costs one branch more than without.
void probe_start_allocations(void);
/// Stops counting.
probe_allocations probe_stop_allocations(void);

/// Gives what the allocator holds and nobody uses back to the system.
void probe_release_memory(void);

/// Lets any process trace this one, where the system would allow only its ancestors to.
void probe_allow_tracing(void);

#endif
