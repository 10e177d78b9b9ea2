/* Ids for kernels, and scratch memory in parts: shared by the ops that take ids. */
#ifndef WICK_GPU_OPS_IDS_H
#define WICK_GPU_OPS_IDS_H

#include "gpu/runtime/slots.h"
#include "kernels/gather.h"

/* Ids that count along a dim of n elements, and where the call reports one that is out of range. */
static inline enum wick_status wick__gpu_ids(const struct wick__call *call, const struct wick_tensor *ids, int64_t n,
                                             struct gpu_ids *result) {
    struct wick__suspect *suspect;
    struct gpu_report report;
    bool negative = wick__has(WICK__SIGNED, ids->dtype);
    int bits = wick_dtype_bits(ids->dtype);
    uint64_t sentinel = UINT64_MAX >> (64 - bits + negative);
    WICK__TRY(wick__gpu_report(call, WICK__BAD_ID, &suspect, &report));
    wick__suspect_operand(suspect, 0, 0, ids, n);
    *result = (struct gpu_ids){.data = wick__data(ids),
                               .report = report,
                               .limit = (uint64_t)n < sentinel ? (uint64_t)n : sentinel,
                               .sentinel = sentinel,
                               .width = (uint32_t)bits / 8,
                               .negative = negative};
    return WICK_OK;
}

/* A layout for each of a kernel's operands with the shape of `like`: ids of rank 1 lie along `dim` alone. */
static inline struct wick__layout wick__gpu_ids_layout(const struct wick_tensor *ids, const struct wick__layout *like,
                                                       int dim, bool shared) {
    struct wick__layout layout = *like;
    for (int d = 0; d < like->rank; d++)
        layout.stride[d] = !shared ? ids->layout.stride[d] : d == dim ? ids->layout.stride[0] : 0;
    return layout;
}

/* Queues a check of all ids that count along a dim of n elements. */
enum wick_status wick__gpu_check_ids(const struct wick__call *call, const struct wick_tensor *ids, int64_t n);

#endif
