/* Host memory: the allocator hook. For a device's memory, see device.h. */
#ifndef WICK_MEMORY_H
#define WICK_MEMORY_H

#include <wick/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the library gets all its host memory. Both functions may be called from several threads at once. */
struct wick_allocator {
    void *context;
    /* Returns `nbytes` > 0 bytes at a multiple of `alignment` (a power of two), or NULL when memory is exhausted.
     * Contents are undefined. */
    void *(*alloc)(void *context, size_t nbytes, size_t alignment);
    /* Gives back what alloc returned for the same `nbytes`. Never called with NULL. */
    void (*free)(void *context, void *memory, size_t nbytes);
};

/* Uses a copy of `allocator` from now on; NULL means the C library's. WICK_INVALID when a function is missing, or
 * when memory of the present allocator is still in use: set it before the first device is opened. */
WICK_API WICK_CHECKED enum wick_status wick_allocator_set(const struct wick_allocator *allocator);

/* Bytes of host memory the library holds now through the hook, device pools of the CPU family included. */
WICK_API size_t wick_host_memory_used(void);

#ifdef __cplusplus
}
#endif
#endif
