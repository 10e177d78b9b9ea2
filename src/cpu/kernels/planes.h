/* Images whose results are weighted sums, or the largest, of elements of each dim on its own: 16 planes at a time, side
 * by side, so that vectors do not depend on how wide a plane is. */
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
    struct readers axis[3];  /* what each of `to` takes of `from` */
    const double *divide[3]; /* [to], whose product a sum is divided by; NULL: `divisor` alone */
    double divisor;
    /* Set by wick__planes_fit: a slab of y is `deep` by `high` rows, and what it takes of x up to `box` elements. */
    int64_t deep, high, box;
};

#ifdef WICK_ISA
/* Cuts y into slabs. False where a slab takes too much of planes that have to be turned first. */
bool WICK__ISA(wick__planes_fit)(struct wick__planes *p);

/* Computes y. WICK_MEMORY. */
enum wick_status WICK__ISA(wick__planes_run)(const struct wick__planes *p);
#endif

#endif
