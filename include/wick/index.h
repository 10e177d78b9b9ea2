/* Indexing: picking, placing and adding elements by number.
 *
 * Ids are u8, u32, i16, i32 or i64. The largest value of the id type (255, 2^32 - 1, 32767, 2^31 - 1, 2^63 - 1) is a
 * sentinel for "none": gather, index_select and embedding give 0 there, scatter, scatter_add and index_add skip the
 * element, one_hot gives a row of zeros. Any other id outside 0 .. size-1 is WICK_RANGE; the text has the id, its
 * row-major position in `ids` and the size, and an op in place has written nothing. The CPU fails at once and names the
 * first such id. A GPU names one of them when the result is read (status.h).
 *
 * Equal ids take effect in row-major order of `ids`: the last one stays in scatter; scatter_add and index_add sum in
 * that order, 16-bit and 8-bit floats in f32 with one rounding at the end. Results do not depend on the number of
 * threads.
 *
 * A scalar has a dim, 0 or -1, of one element. The other operands may then be scalars or have rank 1, and the result
 * has the rank that it would have otherwise: of ids in gather, of x elsewhere.
 *
 * "dtypes: any" means any of 8 bits or more; "compute" the ten of dtype.h. */
#ifndef WICK_INDEX_H
#define WICK_INDEX_H

#include <wick/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* out[.., k, ..] = x[.., ids[k], ..] along dim, ids [K]. dtypes: any, and quantised ones, whose last dim can't be
 * picked from: WICK_UNSUPPORTED. WICK_SHAPE unless ids has rank 1. */
WICK_API struct wick_tensor *wick_index_select(const struct wick_tensor *x, int dim, const struct wick_tensor *ids);
/* Rows of weight [V, D]: ids of any shape S -> [S.., D], of the same dtype. dtypes: any, and quantised ones. */
WICK_API struct wick_tensor *wick_embedding(const struct wick_tensor *weight, const struct wick_tensor *ids);

enum wick_bag_mode { WICK_BAG_SUM, WICK_BAG_MEAN, WICK_BAG_MAX };

/* Where bags begin, and what counts in them. All zero: sums of the rows of ids. */
struct wick_bag_options {
    enum wick_bag_mode mode;
    /* For ids [N]: bag b has ids offsets[b] .. offsets[b + 1] - 1, the last one those up to the end. Integers [B],
     * which begin with 0 and never decrease; in others, ids may land in any bag, or be WICK_RANGE. NULL for ids [B,L],
     * a bag a row. */
    const struct wick_tensor *offsets;
    bool ends;                         /* offsets [B+1] have the end of the last bag too */
    const struct wick_tensor *weights; /* times each id's row, in the shape of ids; of sums alone. NULL: 1 */
    bool padded;                       /* ids that are `padding`, 0 .. V-1, count for nothing */
    int64_t padding;
    WICK_RESERVED;
};
/* The sum, the mean or the largest elements of the rows of weight [V,D] that the ids of each bag name: [B,D]. Rows add
 * up in the order of ids, in f32 (f64 for f64), and the result is rounded once. A bag of no ids, or of sentinels and
 * padding alone, gives zeros. Makes a copy of the rows, [N,D]. `options` may be NULL. Floats. WICK_SHAPE for other
 * shapes, WICK_INVALID for weights without sums, WICK_RANGE for another padding. */
WICK_API struct wick_tensor *wick_embedding_bag(const struct wick_tensor *weight, const struct wick_tensor *ids,
                                                const struct wick_bag_options *options);

/* out[p] = x[p with p[dim] = ids[p]], in the shape of ids. dtypes: any. WICK_SHAPE unless ids has the rank of x and, in
 * every other dim, at most the size of x. */
WICK_API struct wick_tensor *wick_gather(const struct wick_tensor *x, int dim, const struct wick_tensor *ids);

/* A copy of x with out[p with p[dim] = ids[p]] = source[p] for every p of ids. dtypes: any. WICK_SHAPE unless source
 * has the shape of ids, and ids has the rank of x and, in every other dim, at most the size of x. */
WICK_API struct wick_tensor *wick_scatter(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                          const struct wick_tensor *source);
/* The same with += in place of =. dtypes: compute. */
WICK_API struct wick_tensor *wick_scatter_add(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                              const struct wick_tensor *source);
/* The same with the product, the largest, the smallest and the mean of all sources that ids give to an element, and,
 * with `include_self`, of the element of x. Elements without a source stay. Products, like sums, multiply in the order
 * of ids; integers wrap around. NaN is the largest and the smallest where there is one. The mean sums in f32 (f64 for
 * f64) and is rounded once; it is for floats alone. x has rank 1 or more. dtypes: compute. */
WICK_API struct wick_tensor *wick_scatter_prod(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                               const struct wick_tensor *source, bool include_self);
WICK_API struct wick_tensor *wick_scatter_amax(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                               const struct wick_tensor *source, bool include_self);
WICK_API struct wick_tensor *wick_scatter_amin(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                               const struct wick_tensor *source, bool include_self);
WICK_API struct wick_tensor *wick_scatter_mean(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                               const struct wick_tensor *source, bool include_self);
enum wick_scatter_kind { WICK_SCATTER_SUM, WICK_SCATTER_PROD, WICK_SCATTER_MEAN, WICK_SCATTER_AMAX, WICK_SCATTER_AMIN };
/* The sum, or what the function of that name does. WICK_INVALID for another kind. */
WICK_API struct wick_tensor *wick_scatter_reduce(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                                 const struct wick_tensor *source, enum wick_scatter_kind kind,
                                                 bool include_self);
/* The same with one id for each position along dim: out[.., ids[k], ..] comes of source[.., k, ..]. ids [K]; source has
 * the shape of x, but size K along dim: WICK_SHAPE otherwise. */
WICK_API struct wick_tensor *wick_index_reduce(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                               const struct wick_tensor *source, enum wick_scatter_kind kind,
                                               bool include_self);
/* scatter and scatter_add on `target` itself. WICK_INVALID if target shares a buffer with ids or source, or is a
 * broadcast view. A failure leaves target as it was. */
WICK_API WICK_CHECKED enum wick_status wick_scatter_inplace(struct wick_tensor *target, int dim,
                                                            const struct wick_tensor *ids,
                                                            const struct wick_tensor *source);
WICK_API WICK_CHECKED enum wick_status wick_scatter_add_inplace(struct wick_tensor *target, int dim,
                                                                const struct wick_tensor *ids,
                                                                const struct wick_tensor *source);

/* A copy of x with out[.., ids[k], ..] += source[.., k, ..] along dim. ids [K]; source has the shape of x, but size K
 * along dim: WICK_SHAPE otherwise. dtypes: compute. */
WICK_API struct wick_tensor *wick_index_add(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                            const struct wick_tensor *source);

/* x where mask is 0, `value` cast to x's dtype elsewhere. mask is u8. dtypes: compute. WICK_SHAPE unless mask
 * broadcasts to the shape of x. */
WICK_API struct wick_tensor *wick_masked_fill(const struct wick_tensor *x, const struct wick_tensor *mask,
                                              struct wick_number value);

/* ---- several tensors of ids ---- for the first n dims of x [D0, .., D(n-1), R..], 1 <= n <= rank
 *
 * ids[0 .. n-1] broadcast to one shape S. WICK_SHAPE if they do not, or if S and R have more than WICK_MAX_RANK dims.
 */

/* out[p, ..] = x[ids[0][p], .., ids[n-1][p], ..]: [S.., R..]. dtypes: any. */
WICK_API struct wick_tensor *wick_index(const struct wick_tensor *x, int n, struct wick_tensor *const *ids);
/* A copy of x with out[ids[0][p], .., ids[n-1][p], ..] = values[p, ..], or += with `accumulate`. Values broadcast to
 * [S.., R..]: WICK_SHAPE otherwise. dtypes: compute. */
WICK_API struct wick_tensor *wick_index_put(const struct wick_tensor *x, int n, struct wick_tensor *const *ids,
                                            const struct wick_tensor *values, bool accumulate);
/* A copy of x with out[.., ids[k], ..] = source[.., k, ..] along dim. ids [K]; source has the shape of x, but size K
 * along dim: WICK_SHAPE otherwise. dtypes: any. */
WICK_API struct wick_tensor *wick_index_copy(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                             const struct wick_tensor *source);

/* ---- results whose size depends on elements ---- these wait for the device, to read that size; WICK_INVALID while a
 * graph records it */

/* The indices of the elements that are not 0, in row-major order: [count, rank], i64. dtypes: compute. */
WICK_API struct wick_tensor *wick_nonzero(const struct wick_tensor *x);
/* The elements of x where mask is not 0, in row-major order: [count]. x and mask broadcast to one shape, mask is u8.
 * dtypes: any. WICK_SHAPE when they do not broadcast. */
WICK_API struct wick_tensor *wick_masked_select(const struct wick_tensor *x, const struct wick_tensor *mask);
/* The different elements of x in ascending order, [count]. Each NaN is an element of its own. If `inverse` is not NULL,
 * *inverse receives, in the shape of x, the place of each element in the result, and *counts, likewise, how many there
 * are of each: both i64; a failure leaves them as they were. dtypes: compute. */
WICK_API struct wick_tensor *wick_unique(const struct wick_tensor *x, struct wick_tensor **inverse,
                                         struct wick_tensor **counts);
/* How many elements of x [N], integers, are 0, 1, 2 ..: [max(largest + 1, least)], i64. With weights [N], which may be
 * NULL, the sums of these, in their dtype. WICK_RANGE for an element below 0, WICK_SHAPE for other shapes, WICK_INVALID
 * for least < 0. */
WICK_API struct wick_tensor *wick_bincount(const struct wick_tensor *x, const struct wick_tensor *weights,
                                           int64_t least);
/* x with position i along dim repeated repeats[i] times. repeats are integers, [size of dim], or a scalar for all.
 * dtypes: any. WICK_SHAPE for other repeats, WICK_INVALID for one below 0. */
WICK_API struct wick_tensor *wick_repeat_interleave(const struct wick_tensor *x, const struct wick_tensor *repeats,
                                                    int dim);

/* ---- order ---- */

/* For each value v how many elements of a sequence, in ascending order along its last dim, are < v, or with `right` <=
 * v: i64, in the shape of values. NaN is above all others. The sequence has rank 1, or the shape of values but for the
 * last dim: WICK_SHAPE otherwise. O(m log n) for m values. In a sequence of another order the numbers mean nothing.
 * dtypes: compute. */
WICK_API struct wick_tensor *wick_searchsorted(const struct wick_tensor *sequence, const struct wick_tensor *values,
                                               bool right);

/* ids of any shape S -> [S.., classes] of a compute dtype: 1 at the id, 0 elsewhere. WICK_INVALID for classes < 0. */
WICK_API struct wick_tensor *wick_one_hot(const struct wick_tensor *ids, int64_t classes, enum wick_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
