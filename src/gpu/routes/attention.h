/* Attention by vendors' libraries. */
#ifndef WICK_GPU_ROUTES_ATTENTION_H
#define WICK_GPU_ROUTES_ATTENTION_H

#include "core/checked.h"
#include "gpu/routes/route.h"

/* A call of scaled_dot_product_attention in which every query sees every key. */
struct wick__attention_offer {
    struct wick__offer offer;
    struct wick__dnn_attention a;
    bool whole; /* the strides' last ones are 1, and none repeats what it steps over */
    const struct wick__call *call;
};

typedef enum wick__ran wick__attend_fn(struct wick__gpu *gpu, struct wick__held *held,
                                       const struct wick__dnn_attention *a);

/* Runs calls of a dtype whose results are known, and looks at every element, and at what lies behind the last: GOOD,
 * ABSENT when the library refuses one, WRONG, FLUSHES when only subnormal numbers are taken as 0; UNCHECKED when there
 * is no memory for it. */
enum wick__verdict wick__attention_trials(struct wick__gpu *gpu, struct wick__held *held, enum wick_dtype dtype,
                                          wick__attend_fn *attend);

#endif
