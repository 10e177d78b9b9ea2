/* Copies between GPUs of one vendor. */
#ifndef WICK_GPU_RUNTIME_PEER_H
#define WICK_GPU_RUNTIME_PEER_H

#include "gpu/runtime/gpu.h"

/* Queues a copy between two devices of one family in the order of both streams. *done is false, and nothing was queued,
 * when the pair can't be trusted with it: go by the host. */
enum wick_status wick__gpu_copy_between(struct wick_device *target, void *to, struct wick_device *source,
                                        const void *from, size_t nbytes, bool *done);

#endif
