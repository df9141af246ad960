#ifndef PROBE_H
#define PROBE_H

#include <stdint.h>

/// Starts to count, from zero, how often the program asks the C library's allocator for memory, from all threads, in all
/// libraries that it uses. Until then an allocation costs one branch more than without.
void probe_start_allocations(void);
/// Stops counting, and returns the count.
uint64_t probe_stop_allocations(void);

/// Gives what the allocator holds and nobody uses back to the system.
void probe_release_memory(void);

/// Lets any process trace this one, where the system would allow only its ancestors to.
void probe_allow_tracing(void);

#endif
