/* Random numbers: one stream a device handle, reproducible bit for bit on any number of threads.
 *
 * The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011). A
 * block is its four 32-bit outputs w0 .. w3 for the key (seed mod 2^32, seed / 2^32) and the counter (n mod 2^32, n /
 * 2^32, 0, 0), where n is the number of the block. A new handle, and wick_seed_set, start at block 0. A call that needs
 * k blocks takes the next k in one step, so calls from several threads never share a block. Element i of a result, in
 * row-major order, comes from word i % 4 of block i / 4 of its call. Where it says "wide", and always for f64, it comes
 * from the 64-bit number x = w[2 (i % 2)] + 2^32 w[2 (i % 2) + 1] of block i / 2.
 *
 *   uniform      low + u (high - low), u = (w >> (32 - s)) / 2^s, where s is the dtype's significand: f32 24, f16 11,
 *                bf16 8, f8e4m3 4; f64: u = (x >> 11) / 2^53
 *   normal       by Box and Muller, from two neighbours i (even) and i + 1: u = (w[i] + 1) / 2^32, v = w[i + 1] / 2^32,
 *                r = sqrt(-2 ln u); mean + deviation r cos(2 pi v) and mean + deviation r sin(2 pi v);
 *                f64: u = ((x[i] >> 11) + 1) / 2^53, v = (x[i + 1] >> 11) / 2^53
 *   bernoulli    1 when w < round(p 2^32), 0 otherwise
 *   randint      wide: low + floor(x (high - low) / 2^64)
 *   permutation  wide: the numbers 0 .. n-1 in the order of their x, the lower number first where two are equal
 *   dropout      0 when w < round(p 2^32), x / (1 - p) otherwise
 *
 *   multinomial  f64, of rows of K weights w. With replacement: whole[k] = floor(w[k] / max(w) 2^s), s = 52 -
 *                ceil(log2(K)); the first k with whole[0] + ... + whole[k] > floor(u (whole[0] + ... + whole[K-1])), u
 *                as of uniform, an element for each draw. Without: the first of the least -ln(u[k]) / (w[k] / max(w)),
 *                an element for each weight
 *
 * Everything is computed in f64 and rounded to the dtype once. ln, cos and sin are right to one unit in the last place
 * of f64, so device families agree exactly on uniform, bernoulli, randint, permutation, dropout and multinomial with
 * replacement; to one rounding of the dtype on normal; and on multinomial without replacement unless two of the least
 * numbers agree in 51 bits. */
#ifndef WICK_RANDOM_H
#define WICK_RANDOM_H

#include <wick/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Evenly spread over low <= x < high; rounding to the dtype may give high itself unless low is 0 and high is 1.
 * Floats. WICK_INVALID unless low <= high, both finite. */
WICK_API struct wick_tensor *wick_uniform(struct wick_device *device, enum wick_dtype dtype, int rank,
                                          const int64_t *shape, double low, double high);
/* Normally distributed. Floats. WICK_INVALID unless mean and deviation are finite, deviation >= 0. */
WICK_API struct wick_tensor *wick_normal(struct wick_device *device, enum wick_dtype dtype, int rank,
                                         const int64_t *shape, double mean, double deviation);
/* 1 with probability p, 0 otherwise. Compute dtypes. WICK_INVALID unless 0 <= p <= 1. */
WICK_API struct wick_tensor *wick_bernoulli(struct wick_device *device, enum wick_dtype dtype, int rank,
                                            const int64_t *shape, double p);
/* Integers low <= x < high. u8, u32, i16, i32, i64. WICK_INVALID unless low < high and all results fit the dtype. */
WICK_API struct wick_tensor *wick_randint(struct wick_device *device, enum wick_dtype dtype, int rank,
                                          const int64_t *shape, int64_t low, int64_t high);
/* The numbers 0 .. n-1 in random order, [N]. u8, u32, i16, i32, i64. WICK_INVALID when n - 1 does not fit the dtype. */
WICK_API struct wick_tensor *wick_permutation(struct wick_device *device, enum wick_dtype dtype, int64_t n);

/* n indices 0 .. K-1 into weights [K] or [N,K], floats, drawn with probabilities in proportion to the weights: i64, [n]
 * or [N,n]. Without `replacement` no index comes twice in a row of n. An index is 2^63 - 1, the sentinel of index.h,
 * where a row has no more weights above 0 to draw without replacement, and in rows with weights that are negative,
 * infinite or NaN, or all 0. With replacement, weights below 2^-s of the largest, s = 52 - ceil(log2(K)), count as 0.
 * WICK_INVALID for n < 0, for n > K without replacement, and for K > 2^24; WICK_SHAPE for K = 0 and for other ranks. */
WICK_API struct wick_tensor *wick_multinomial(const struct wick_tensor *weights, int64_t n, bool replacement);

/* wick_uniform and wick_normal with the device, dtype and shape of x. */
WICK_API struct wick_tensor *wick_uniform_like(const struct wick_tensor *x, double low, double high);
WICK_API struct wick_tensor *wick_normal_like(const struct wick_tensor *x, double mean, double deviation);

/* Each element 0 with probability p, or else divided by 1 - p, so that the mean stays: for training. Floats.
 * WICK_INVALID unless 0 <= p <= 1. */
WICK_API struct wick_tensor *wick_dropout(const struct wick_tensor *x, double p);

struct wick_dropout_options {
    /* If not NULL, *mask receives a u8 of the shape of x: 1 where an element stays, 0 where it becomes 0. A gradient
     * needs it. It is released like the result. A failure leaves *mask as it was. */
    struct wick_tensor **mask;
    WICK_RESERVED;
};
/* The same; `options` may be NULL. */
WICK_API struct wick_tensor *wick_dropout_with(const struct wick_tensor *x, double p,
                                               const struct wick_dropout_options *options);

#ifdef __cplusplus
}
#endif
#endif
