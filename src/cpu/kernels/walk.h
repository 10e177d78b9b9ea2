/* Walking several layouts of one shape in row-major order, for kernel files. */
#ifndef WICK_CPU_KERNELS_WALK_H
#define WICK_CPU_KERNELS_WALK_H

#include "core/layout.h"

enum { WICK__WALKERS = 4 };

/* A position in `rank` dims, and for each of n layouts its distance from the first element, in elements. */
struct wick__walk {
    int rank, n;
    int64_t shape[WICK_MAX_RANK], index[WICK_MAX_RANK];
    int64_t stride[WICK__WALKERS][WICK_MAX_RANK];
    int64_t at[WICK__WALKERS];
};

/* A walk over the first `rank` dims of n layouts, which have those in common. */
static inline struct wick__walk wick__walk_new(const struct wick__layout *layouts, int n, int rank) {
    struct wick__walk walk = {.rank = rank, .n = n};
    for (int d = 0; d < rank; d++) {
        walk.shape[d] = layouts[0].shape[d];
        for (int i = 0; i < n; i++) walk.stride[i][d] = layouts[i].stride[d];
    }
    return walk;
}

/* Goes to the position with row-major number `flat`. */
static inline void wick__walk_to(struct wick__walk *walk, int64_t flat) {
    for (int i = 0; i < walk->n; i++) walk->at[i] = 0;
    for (int d = walk->rank - 1; d >= 0; d--) {
        walk->index[d] = flat % walk->shape[d];
        flat /= walk->shape[d];
        for (int i = 0; i < walk->n; i++) walk->at[i] += walk->index[d] * walk->stride[i][d];
    }
}

/* Goes one position on; from the last to the first. */
static inline void wick__walk_next(struct wick__walk *walk) {
    for (int d = walk->rank - 1; d >= 0; d--) {
        bool carry = ++walk->index[d] == walk->shape[d];
        for (int i = 0; i < walk->n; i++)
            walk->at[i] += carry ? -(walk->shape[d] - 1) * walk->stride[i][d] : walk->stride[i][d];
        if (!carry) return;
        walk->index[d] = 0;
    }
}

#endif
