/* The CPU family's buffers: host memory in size classes, freed blocks kept for reuse.
 *
 * A fresh block of a large tensor costs a page fault every 4 KiB, which is more than most kernels need to fill it;
 * a block that is used again costs nothing. */
#ifndef WICK_CPU_RUNTIME_POOL_H
#define WICK_CPU_RUNTIME_POOL_H

#include <wick/device.h>

enum wick_status wick__pool_alloc(size_t nbytes, void **data);
void wick__pool_free(void *data, size_t nbytes);
void wick__pool_stats(struct wick_memory *memory);
void wick__pool_set_limit(size_t nbytes);
void wick__pool_set_cache(size_t nbytes);
void wick__pool_reset_peak(void);
void wick__pool_trim(void);

/* Scratch space of a kernel, from the same lists: fresh memory costs a page fault for each 4 KiB. NULL after a failure.
 */
static inline void *wick__scratch(size_t nbytes) {
    void *data;
    return wick__pool_alloc(nbytes, &data) == WICK_OK ? data : NULL;
}
static inline void wick__scratch_free(void *data, size_t nbytes) {
    if (data) wick__pool_free(data, nbytes);
}

#endif
