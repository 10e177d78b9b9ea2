/* Device memory, cached: freed blocks are kept, split and merged, and reused in the order of the stream. */
#ifndef WICK_GPU_RUNTIME_POOL_H
#define WICK_GPU_RUNTIME_POOL_H

#include "gpu/runtime/gpu.h"

enum wick_status wick__gpu_pool_open(struct wick__gpu *gpu);
/* Gives everything back, blocks in use too. */
void wick__gpu_pool_close(struct wick__gpu *gpu);

/* A block of nbytes > 0 at a multiple of 256, contents undefined. When the device has no more, or the limit is reached,
 * gives the cache back and tries once again before WICK_MEMORY. */
enum wick_status wick__gpu_pool_alloc(struct wick__gpu *gpu, size_t nbytes, void **memory);
/* Takes a block back; work queued before may still use it. */
void wick__gpu_pool_free(struct wick__gpu *gpu, void *memory);

void wick__gpu_pool_stats(const struct wick__gpu *gpu, struct wick_memory *memory);
void wick__gpu_pool_set_limit(struct wick__gpu *gpu, size_t nbytes);
void wick__gpu_pool_set_cache(struct wick__gpu *gpu, size_t nbytes);
void wick__gpu_pool_reset_peak(struct wick__gpu *gpu);
/* Gives segments without a block in use back to the device until at most `keep` bytes are cached. */
void wick__gpu_pool_trim(struct wick__gpu *gpu, size_t keep);

/* While an owner is set, the thread that records takes blocks from those it owns, or they become its; freed, they stay
 * its own, since a recorded graph will use their addresses again. NULL ends it. */
void wick__gpu_pool_own(struct wick__gpu *gpu, const void *owner);
/* Makes an owner's blocks ordinary ones. */
void wick__gpu_pool_disown(struct wick__gpu *gpu, const void *owner);

#endif
