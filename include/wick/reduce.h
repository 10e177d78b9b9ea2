/* Reductions, running sums, sorting.
 *
 * Reductions take the dims to reduce as the two arguments `int n_dims, const int *dims`. WICK_DIMS(0, -1) is the first
 * and the last dim. WICK_ALL_DIMS, `WICK_ALL, NULL`, is every dim. `0, NULL` is no dim, so each element is reduced
 * alone. Dims may count from the end and come in any order; WICK_INVALID if one appears twice. With `keepdim` the
 * result keeps the reduced dims, with size 1; without it the result lacks them. In this header a scalar has one dim, 0
 * or -1.
 *
 * All floats accumulate in f64 and are rounded once. Up to a few vectors of neighbours are added in f32 first (f64 for
 * f64). The order depends on shapes and strides alone, so the number of threads never changes a bit. */
#ifndef WICK_REDUCE_H
#define WICK_REDUCE_H

#include <wick/tensor.h>

#ifdef __cplusplus
#define WICK_DIMS(...)                                                                                                 \
    static_cast<int>(std::initializer_list<int>{__VA_ARGS__}.size()), std::initializer_list<int>{__VA_ARGS__}.begin()
#else
#define WICK_DIMS(...)                                                                                                 \
    (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), (const int[]) { __VA_ARGS__ }
#endif
/* As a number of dims: all there are. */
#define WICK_ALL (-1)
#define WICK_ALL_DIMS WICK_ALL, NULL

#ifdef __cplusplus
extern "C" {
#endif

/* ---- any dtype in, the same out; integers wrap around ---- */

/* The sum; 0 of nothing. u8 sums wrap in u8: cast first where that is too narrow. */
WICK_API struct wick_tensor *wick_sum(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim);
/* The product; 1 of nothing. Of floats it is right where it is in range, even if products on the way are not. */
WICK_API struct wick_tensor *wick_prod(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim);
/* The smallest and the largest element; NaN if there is one. WICK_SHAPE for nothing. */
WICK_API struct wick_tensor *wick_min(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim);
WICK_API struct wick_tensor *wick_max(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim);

/* ---- any dtype in, u8 out: 1 or 0 ---- */

/* Whether an element is not zero; 0 of nothing. NaN is not zero. */
WICK_API struct wick_tensor *wick_any(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim);
/* Whether all elements are not zero; 1 of nothing. */
WICK_API struct wick_tensor *wick_all(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim);

/* ---- any dtype in, u32 out ---- */

/* The index of the smallest and of the largest element: the first among equals, or the first NaN if there is one. Over
 * several dims it counts in row-major order. WICK_SHAPE for nothing, WICK_OVERFLOW for 2^32 - 1 elements or more. */
WICK_API struct wick_tensor *wick_argmin(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim);
WICK_API struct wick_tensor *wick_argmax(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim);

/* ---- floats in, the same out ---- */

/* sum(x) / n; NaN of nothing. */
WICK_API struct wick_tensor *wick_mean(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim);
/* sum((x - mean)^2) / (n - correction), and its square root. A correction of 1 makes the variance unbiased; 0 gives the
 * variance of the elements themselves. NaN of nothing. NaN or infinite if n <= correction, because the divisor is
 * max(0, n - correction). The sum is over deviations, not over squares of the elements, so nothing cancels. */
WICK_API struct wick_tensor *wick_var(const struct wick_tensor *x, double correction, int n_dims, const int *dims,
                                      bool keepdim);
WICK_API struct wick_tensor *wick_std(const struct wick_tensor *x, double correction, int n_dims, const int *dims,
                                      bool keepdim);
/* The p-norm sum(|x|^p)^(1/p), right wherever it is in range, even if powers are not. p = INFINITY gives max |x|,
 * -INFINITY min |x|, and 0 the number of nonzero elements. 0 of nothing, but WICK_SHAPE if p < 0. WICK_INVALID if p is
 * NaN. */
WICK_API struct wick_tensor *wick_norm(const struct wick_tensor *x, double p, int n_dims, const int *dims,
                                       bool keepdim);
/* log(sum(exp(x))) without overflow; -infinity of nothing. */
WICK_API struct wick_tensor *wick_log_sum_exp(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim);

/* ---- along one dim, with the index of what was found ---- any dtype in, the same out; indices u32
 *
 * [.., N, ..] -> [.., ..], or [.., 1, ..] with keepdim. If `indices` is not NULL, *indices receives the position of
 * each result along dim, in its shape; a failure leaves it as it was. WICK_SHAPE if the dim has size 0. */

/* The largest and the smallest element: the first among equals, or the first NaN if there is one. */
WICK_API struct wick_tensor *wick_max_along(const struct wick_tensor *x, int dim, bool keepdim,
                                            struct wick_tensor **indices);
WICK_API struct wick_tensor *wick_min_along(const struct wick_tensor *x, int dim, bool keepdim,
                                            struct wick_tensor **indices);
/* Element (N - 1) / 2 of wick_sort, the lower of the two in the middle; the last NaN if there is one. */
WICK_API struct wick_tensor *wick_median(const struct wick_tensor *x, int dim, bool keepdim,
                                         struct wick_tensor **indices);
/* What lies at place p = q (N - 1) of wick_sort, between elements a and b: a + (p - floor p) (b - a), computed in f64
 * and rounded once. NaN if there is one. Floats. WICK_INVALID unless 0 <= q <= 1. WICK_SHAPE if the dim has size 0. */
WICK_API struct wick_tensor *wick_quantile(const struct wick_tensor *x, double q, int dim, bool keepdim);

/* ---- in another dtype ---- any dtype in, `dtype` out */

/* The sum and the mean of the elements, each cast to `dtype` first as wick_cast does: a sum of u8 in i64 does not wrap.
 * WICK_DTYPE unless it is a compute dtype; for mean_in, a float. */
WICK_API struct wick_tensor *wick_sum_in(const struct wick_tensor *x, enum wick_dtype dtype, int n_dims,
                                         const int *dims, bool keepdim);
WICK_API struct wick_tensor *wick_mean_in(const struct wick_tensor *x, enum wick_dtype dtype, int n_dims,
                                          const int *dims, bool keepdim);

/* ---- along one dim, any dtype in, the same out ---- a scalar counts as one element */

/* y[i] = x[0] + ... + x[i], and the products, in O(n). Floats accumulate in f64 and round each element once; integers
 * wrap around. */
WICK_API struct wick_tensor *wick_cumsum(const struct wick_tensor *x, int dim);
WICK_API struct wick_tensor *wick_cumprod(const struct wick_tensor *x, int dim);

/* The largest and the smallest of x[0] .. x[i]; from a NaN on, NaN. If `indices` is not NULL, *indices receives where
 * it is, u32: the last among equals, or the last NaN so far; a failure leaves it as it was. O(n). WICK_OVERFLOW if the
 * dim is 2^32 - 1 or more. */
WICK_API struct wick_tensor *wick_cummax(const struct wick_tensor *x, int dim, struct wick_tensor **indices);
WICK_API struct wick_tensor *wick_cummin(const struct wick_tensor *x, int dim, struct wick_tensor **indices);
/* log(exp(x[0]) + ... + exp(x[i])) without overflow, in f64 and rounded once. Floats. O(n). */
WICK_API struct wick_tensor *wick_logcumsumexp(const struct wick_tensor *x, int dim);

/* The elements in ascending or descending order along dim. Both are stable: equal elements keep their order, and -0 and
 * +0 are equal. NaNs come last ascending, first descending. If `indices` is not NULL, *indices receives the original
 * position of each element, u32; a failure leaves it as it was. WICK_OVERFLOW if the dim is 2^32 - 1 or more. */
WICK_API struct wick_tensor *wick_sort(const struct wick_tensor *x, int dim, bool descending,
                                       struct wick_tensor **indices);
/* The indices alone, u32. */
WICK_API struct wick_tensor *wick_argsort(const struct wick_tensor *x, int dim, bool descending);
/* The first k elements of wick_sort: the k largest in descending order, or the k smallest in ascending order, the first
 * among equals. WICK_RANGE unless 0 <= k <= the size of dim. `indices` as in wick_sort. */
WICK_API struct wick_tensor *wick_topk(const struct wick_tensor *x, int64_t k, int dim, bool largest,
                                       struct wick_tensor **indices);

#ifdef __cplusplus
}
#endif
#endif
