/* Images whose results are weighted sums, or the largest, of elements of each dim on its own: 16 planes at a time, or
 * 32 channels that lie side by side, so that vectors do not depend on how wide a plane is. */
#ifndef WICK_CPU_KERNELS_PLANES_H
#define WICK_CPU_KERNELS_PLANES_H

#include "cpu/kernels/readers.h"
#include "cpu/runtime/isa.h"

#include "backend.h"

enum wick__planes_kind {
    WICK__PLANES_PICK,     /* of one element each */
    WICK__PLANES_SUM,      /* in f32 */
    WICK__PLANES_SUM_WIDE, /* in f64 */
    WICK__PLANES_LARGEST   /* the first among equals, or the last NaN */
};

/* x is [images,channels,from..], contiguous or with channels last; y is [images,channels,to..], contiguous. Leading
 * dims that are missing have one element. */
struct wick__planes {
    enum wick__planes_kind kind;
    enum wick_dtype dtype; /* a float of up to 32 bits; with channels last f32 */
    const char *x;
    char *y;
    uint32_t *largest; /* where the largest elements lie in their planes; NULL when nobody wants them */
    bool channels_last;
    int64_t images, channels, from[3], to[3];
    const double *divide[3]; /* [to], whose product a sum is divided by; NULL: `divisor` alone */
    double divisor;
    /* The rest is set by wick__planes_try: what each of `to` takes of `from`; a slab of y is `deep` by `high` rows, and
     * what it takes of x up to `box` elements. */
    struct readers axis[3];
    int64_t deep, high, box;
};

#ifdef WICK_ISA
/* Computes y, where `list` with context[d] lists what dim d of y takes of x. False, and nothing done, where a slab of y
 * takes too much of planes that have to be turned first. *status: WICK_OK or WICK_MEMORY. */
bool WICK__ISA(wick__planes_try)(struct wick__planes *p, list_readers *list, const void *const context[3],
                                 enum wick_status *status);
#endif

#endif
