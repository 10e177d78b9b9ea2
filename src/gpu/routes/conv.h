/* Convolutions by vendors' libraries. */
#ifndef WICK_GPU_ROUTES_CONV_H
#define WICK_GPU_ROUTES_CONV_H

#include "core/checked.h"
#include "gpu/routes/route.h"

/* A copy of x without gaps, its dims in their order; NULL with an error. */
typedef struct wick_tensor *wick__pack_fn(const struct wick__call *call, const struct wick_tensor *x);

/* A convolution, a transposed one, or a gradient of either by its weight, that is offered to routes. Operands are
 * dense; images may have channels last. */
struct wick__conv_offer {
    struct wick__offer offer;
    struct wick__dnn_conv c;
    bool rest; /* the library leaves bias and relu to the caller */
    const struct wick__call *call;
    wick__kernel_fn *whole;
    const struct wick_tensor *images[2]; /* x and y where they have channels last, or NULL */
    wick__pack_fn *pack;
};

/* The places in spatial dim s where a window may begin. */
static inline int64_t wick__conv_places(const struct wick__dnn_conv *c, int s) {
    return c->in[s] + 2 * c->padding[s] - c->dilation[s] * (c->kernel[s] - 1);
}

/* Whether groups have so few channels, `in` that a result takes and `out` of results, that a tile of matrix
 * instructions makes more than WASTE times the products that are needed, as many as it makes while a thread makes one.
 */
static inline bool wick__conv_has_few(int64_t in, int64_t out) {
    enum { TILE = 64, RUN = 8, WASTE = 8 };
    return TILE * wick__div_up(in, RUN) * RUN > WASTE * in * out;
}

/* Runs the call by a vendor's library, if one has it, is chosen, and passed its check; *done says so, and *rest that
 * bias and relu of a result in f32 or f64 are left to do. `whole`, which calls this and does the rest, is called anew
 * where ways are to be timed. `pack` copies images that have channels last for the library. */
enum wick_status wick__conv_run(const struct wick__call *call, wick__kernel_fn *whole, wick__pack_fn *pack, bool *done,
                                bool *rest);

/* Runs a convolution. */
typedef enum wick__ran wick__convolve_fn(struct wick__gpu *gpu, struct wick__held *held,
                                         const struct wick__dnn_conv *c);

/* Runs convolutions of a way and a dtype whose results are known, and looks at every element, and at what lies behind
 * the last: GOOD, ABSENT when the library refuses one, WRONG, FLUSHES when only subnormal operands are wrong;
 * UNCHECKED when there is no memory for it. */
enum wick__verdict wick__conv_trials(struct wick__gpu *gpu, struct wick__held *held, enum wick_dtype dtype,
                                     enum wick__conv_way way, wick__convolve_fn *convolve);

#endif
