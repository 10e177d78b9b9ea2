/* Ids as kernels take them: unsigned, by their width, with the sentinel and the first number that is not a valid id. */
#ifndef WICK_KERNELS_IDS_H
#define WICK_KERNELS_IDS_H

#include "report.h"

struct gpu_ids {
    const void *data;
    struct gpu_report report;
    u64 limit;    /* ids below it are valid; it is the size of the dim, or the sentinel where that is less */
    u64 sentinel; /* the id type's maximum: no id, and no failure */
    u32 width;    /* bytes of an id: 1, 2, 4 or 8 */
    u32 negative; /* the id type is signed, for the value of a report */
};

#if defined(__cplusplus)
#include "gpu.h"

/* Reports an id of a number of bits, which lies at an offset. */
GPU_FN void gpu_id_failed(const struct gpu_ids &ids, u64 v, u32 bits, i64 at) {
    u32 shift = 64 - bits;
    gpu_report_failure(ids.report, at, ids.negative ? (i64)(v << shift) >> shift : (i64)v);
}

/* Whether v, which lies at an offset, is a valid id; reports it when it is neither that nor the sentinel. */
template <typename ID> GPU_FN bool gpu_id_valid(const struct gpu_ids &ids, ID v, i64 at) {
    if (v < (ID)ids.limit) return true;
    if (v != (ID)ids.sentinel) gpu_id_failed(ids, v, 8 * sizeof(ID), at);
    return false;
}

/* The id at an offset, of whatever width; 2^64 - 1 when it is not a valid one. */
GPU_FN u64 gpu_id_at(const struct gpu_ids &ids, i64 at) {
    u64 v = ids.width == 8   ? ((const u64 *)ids.data)[at]
            : ids.width == 4 ? ((const u32 *)ids.data)[at]
            : ids.width == 2 ? ((const u16 *)ids.data)[at]
                             : ((const u8 *)ids.data)[at];
    if (v < ids.limit) return v;
    if (v != ids.sentinel) gpu_id_failed(ids, v, 8 * ids.width, at);
    return ~0ull;
}
#endif

#endif
