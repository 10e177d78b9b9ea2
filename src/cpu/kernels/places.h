/* Where the elements of a resized dim lie in the dim they come from, and with which weights they take from it. */
#ifndef WICK_CPU_KERNELS_PLACES_H
#define WICK_CPU_KERNELS_PLACES_H

#include "backend.h"
#include "core/checked.h"

#include <math.h>

/* low + part, 0 <= part < 1; low may lie outside the dim. */
struct place {
    int64_t low;
    double part;
};

/* The places one after the other. Quotients and remainders are added up, so that no product can overflow. */
struct placer {
    struct wick__position at;
    int64_t place, rest, o;
};

static inline struct placer placer_of(struct wick__position at) {
    int64_t by = at.scale == 0 ? at.by : 1, place = at.add < 0 ? -((by - 1 - at.add) / by) : at.add / by;
    return (struct placer){.at = at, .place = place, .rest = at.add - place * by};
}

static inline struct place next_place(struct placer *p) {
    const struct wick__position *at = &p->at;
    if (at->scale != 0) {
        double x = ((double)p->o++ + at->offset) / at->scale - at->shift, low = floor(fmin(x, 0x1p62));
        return (struct place){(int64_t)low, x < 0x1p52 ? x - low : 0};
    }
    struct place here = {p->place, (double)p->rest / (double)at->by};
    p->place += at->mul / at->by;
    p->rest += at->mul % at->by;
    if (p->rest >= at->by) p->place++, p->rest -= at->by;
    return here;
}

/* What an element takes: `n` elements from `first` on, those outside the dim being its edge, with a weight each; of an
 * area all with weight[0]. */
struct taps {
    int64_t first, n;
    double weight[4];
};

static inline struct taps nearest_taps(struct place at) { return (struct taps){at.low, 1, {1}}; }

static inline struct taps linear_taps(struct place at, int64_t in) {
    double part = at.low < 0 || at.low >= in - 1 ? 0 : at.part;
    return (struct taps){at.low, part > 0 ? 2 : 1, {1 - part, part}};
}

/* The cubics in factors, which cancel nothing. */
static inline struct taps cubic_taps(struct place at) {
    double p = at.part, q = 1 - p;
    return (struct taps){
        at.low - 1, 4, {-0.75 * p * q * q, q * (1 + p - 1.25 * p * p), p * (1 + q - 1.25 * q * q), -0.75 * q * p * p}};
}

/* Window o of `out` that cover `in` elements. */
static inline struct taps area_taps(int64_t o, int64_t in, int64_t out) {
    int64_t q = in / out, r = in % out; /* o in / out, without a product of sizes */
    int64_t begin = o * q + o * r / out, end = (o + 1) * q + ((o + 1) * r + out - 1) / out;
    return (struct taps){begin, end - begin, {1 / (double)(end - begin)}};
}

static inline int64_t clamped(int64_t i, int64_t in) { return i < 0 ? 0 : i < in ? i : in - 1; }

#endif
