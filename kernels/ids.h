/* Ids as kernels take them: unsigned, by their width, with the sentinel and the first number that is no valid id. */
#ifndef WICK_KERNELS_IDS_H
#define WICK_KERNELS_IDS_H

#include "params.h"

struct gpu_ids {
    const void *data;
    u64 *fault;
    u64 limit;    /* ids below it are valid; it is the size of the dim, or the sentinel where that is less */
    u64 sentinel; /* the id type's maximum: no id, and no fault */
    u32 width;    /* bytes of an id: 1, 2, 4 or 8 */
    u32 negative; /* the id type is signed, for the fault's value */
};

#if defined(__cplusplus)
#include "gpu.h"

/* Whether v is a valid id; reports it when it is neither that nor the sentinel. */
template <typename ID> GPU_FN bool gpu_id_valid(const struct gpu_ids &ids, ID v) {
    if (v < (ID)ids.limit) return true;
    if (v != (ID)ids.sentinel) {
        u32 shift = 64 - 8 * sizeof(ID);
        gpu_fail(ids.fault, GPU_FAULT_INDEX, ids.negative ? (i64)((u64)v << shift) >> shift : (i64)v);
    }
    return false;
}

/* The id at an offset, of whatever width; 2^64 - 1 when it is no valid one. */
GPU_FN u64 gpu_id_at(const struct gpu_ids &ids, i64 at) {
    u64 v = ids.width == 8   ? ((const u64 *)ids.data)[at]
            : ids.width == 4 ? ((const u32 *)ids.data)[at]
            : ids.width == 2 ? ((const u16 *)ids.data)[at]
                             : ((const u8 *)ids.data)[at];
    if (v < ids.limit) return v;
    if (v != ids.sentinel) {
        u32 shift = 64 - 8 * ids.width;
        gpu_fail(ids.fault, GPU_FAULT_INDEX, ids.negative ? (i64)(v << shift) >> shift : (i64)v);
    }
    return ~0ull;
}
#endif

#endif
