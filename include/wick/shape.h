/* Views and copies: reshaping, slicing, broadcasting, joining, flipping, triangles.
 *
 * A view shares the elements of x: it copies nothing, keeps them alive, and sees later writes to them. Dtypes of blocks
 * (dtype.h), which are quantised ones and floats packed below a byte, have views of whole blocks: rows, and parts of
 * rows that begin and end with a block. WICK_UNSUPPORTED for a view that would cut a block.
 *
 * Dims count from the end when negative; WICK_RANGE when there is no such dim. */
#ifndef WICK_SHAPE_H
#define WICK_SHAPE_H

#include <wick/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- views ---- any dtype */

/* x in row-major order without gaps; a view of x if it is contiguous already. */
WICK_API struct wick_tensor *wick_contiguous(const struct wick_tensor *x);

/* x in row-major order without gaps, in a buffer of its own: always a copy. */
WICK_API struct wick_tensor *wick_clone(const struct wick_tensor *x);

/* The elements of x in row-major order with another shape. One size may be -1, and follows from the others. A view if
 * the strides of x allow one, otherwise a contiguous copy. WICK_SHAPE if the counts differ, or if -1 is ambiguous
 * because the other sizes multiply to 0. WICK_INVALID for two -1 or another negative size. */
WICK_API struct wick_tensor *wick_reshape(const struct wick_tensor *x, int rank, const int64_t *shape);

/* x without dim `dim` if its size is 1; otherwise x as it is. A scalar, whose dims are 0 and -1, stays as it is. */
WICK_API struct wick_tensor *wick_squeeze(const struct wick_tensor *x, int dim);
/* x without all its dims of size 1. */
WICK_API struct wick_tensor *wick_squeeze_all(const struct wick_tensor *x);
/* x with a new dim of size 1 before dim `dim`, -rank-1 <= dim <= rank. */
WICK_API struct wick_tensor *wick_unsqueeze(const struct wick_tensor *x, int dim);
/* Merges dims `from` to `to`, inclusive, into one; a scalar becomes [1]. A view if wick_reshape gives one. WICK_RANGE
 * if from lies after to. */
WICK_API struct wick_tensor *wick_flatten(const struct wick_tensor *x, int from, int to);

/* Swaps dims a and b. A scalar, whose dims are 0 and -1, stays as it is. */
WICK_API struct wick_tensor *wick_transpose(const struct wick_tensor *x, int a, int b);
/* Swaps the last two dims: the transpose of a matrix, or of a batch of them. WICK_SHAPE for rank < 2. */
WICK_API struct wick_tensor *wick_t(const struct wick_tensor *x);
/* Dim i of the result is dim dims[i] of x. WICK_INVALID unless `dims` names each of the rank dims once. */
WICK_API struct wick_tensor *wick_permute(const struct wick_tensor *x, int rank, const int *dims);

/* Positions start .. start+length-1 of a dim. WICK_RANGE unless 0 <= start <= start + length <= size. */
WICK_API struct wick_tensor *wick_narrow(const struct wick_tensor *x, int dim, int64_t start, int64_t length);
/* Position `index` of a dim; the result lacks the dim. A negative index counts from the end. WICK_RANGE outside. */
WICK_API struct wick_tensor *wick_select(const struct wick_tensor *x, int dim, int64_t index);
/* Positions start, start+step, ... below end of a dim, as x[start:end:step] in Python: negative bounds count from the
 * end, and both are then clamped to the dim; INT64_MAX is "to the end". WICK_INVALID unless step >= 1. */
WICK_API struct wick_tensor *wick_slice(const struct wick_tensor *x, int dim, int64_t start, int64_t end, int64_t step);

/* x repeated along its dims of size 1, and along new dims in front, to a shape that it broadcasts to by NumPy's rule.
 * WICK_SHAPE otherwise. */
WICK_API struct wick_tensor *wick_broadcast_to(const struct wick_tensor *x, int rank, const int64_t *shape);
/* The same, where a size of -1 keeps that of x. */
WICK_API struct wick_tensor *wick_expand(const struct wick_tensor *x, int rank, const int64_t *shape);

/* n >= 1 views whose sizes along dim differ by at most one, the larger first (NumPy's array_split): 10 in 4 parts are
 * 3, 3, 2, 2. Later ones are empty when n exceeds the size. out[0 .. n-1] is set only on success. */
WICK_API WICK_CHECKED enum wick_status wick_chunk(const struct wick_tensor *x, int64_t n, int dim,
                                                  struct wick_tensor **out);
/* n >= 1 views of the given sizes along dim. WICK_SHAPE unless the sizes add up to that of dim. */
WICK_API WICK_CHECKED enum wick_status wick_split(const struct wick_tensor *x, int n, const int64_t *sizes, int dim,
                                                  struct wick_tensor **out);

/* All windows of `size` positions along dim, one every `step`: [.., N, ..] -> [.., (N - size) / step + 1, .., size].
 * Windows that overlap share elements. A scalar, whose dim is 0 or -1, has one window, [size]. WICK_RANGE unless 0 <=
 * size <= N, WICK_INVALID unless step >= 1. */
WICK_API struct wick_tensor *wick_unfold(const struct wick_tensor *x, int dim, int64_t size, int64_t step);
/* The elements with position[b] - position[a] == offset. The result lacks dims a and b; the diagonal becomes its last
 * dim. [.., A, .., B, ..] -> [.., L]. WICK_INVALID if a and b are one dim. */
WICK_API struct wick_tensor *wick_diagonal(const struct wick_tensor *x, int64_t offset, int a, int b);

/* A view of the buffer of x, whatever the layout of x itself. Element (i, j, ..) is i strides[0] + j strides[1] + ..
 * elements after the `offset`-th of the buffer. `strides` has an entry a dim; 0 repeats. wick_tensor_strides and
 * wick_tensor_offset return those of x. Strides of dims of size 1, and of views without elements, do not matter; the
 * result may have others. WICK_RANGE if an element would lie outside the buffer, WICK_INVALID for a negative stride or
 * offset. */
WICK_API struct wick_tensor *wick_as_strided(const struct wick_tensor *x, int rank, const int64_t *shape,
                                             const int64_t *strides, int64_t offset);

/* The n coordinate grids of n axes, axis i [N_i] along dim i of [N_0, .., N_(n-1)] (PyTorch's indexing "ij"). n is 1 to
 * WICK_MAX_RANK. out[0 .. n-1] is set only on success. */
WICK_API WICK_CHECKED enum wick_status wick_meshgrid(int n, struct wick_tensor *const *axes, struct wick_tensor **out);

/* ---- copies ---- any dtype of 8 bits or more; results are new and contiguous */

/* Joins n >= 1 tensors of one dtype along dim. WICK_SHAPE unless their other dims agree. */
WICK_API struct wick_tensor *wick_cat(int n, struct wick_tensor *const *tensors, int dim);
/* Joins n >= 1 tensors of one shape and dtype along a new dim of size n before dim `dim`, -rank-1 <= dim <= rank. */
WICK_API struct wick_tensor *wick_stack(int n, struct wick_tensor *const *tensors, int dim);

/* x repeated repeats[d] >= 0 times along dim d. If `rank` exceeds that of x, x gets new dims in front first. */
WICK_API struct wick_tensor *wick_repeat(const struct wick_tensor *x, int rank, const int64_t *repeats);
/* x reversed along n dims. WICK_INVALID if a dim appears twice. */
WICK_API struct wick_tensor *wick_flip(const struct wick_tensor *x, int n, const int *dims);
/* Position i of dim goes to (i + shift) mod size; shift may be negative. */
WICK_API struct wick_tensor *wick_roll(const struct wick_tensor *x, int64_t shift, int dim);

/* The same along dims[i] by shifts[i], for n dims one after the other; a copy of x for none. */
WICK_API struct wick_tensor *wick_roll_dims(const struct wick_tensor *x, int n, const int64_t *shifts, const int *dims);

/* Writes source into positions start .. start+n-1 of dim of `target`, where n is the size of source along dim. Other
 * dims must agree. WICK_RANGE if source does not fit, WICK_INVALID if the two share a buffer or target is a broadcast
 * view. */
WICK_API WICK_CHECKED enum wick_status wick_slice_set_inplace(struct wick_tensor *target,
                                                              const struct wick_tensor *source, int dim, int64_t start);
/* The same on a copy of x. */
WICK_API struct wick_tensor *wick_slice_scatter(const struct wick_tensor *x, const struct wick_tensor *source, int dim,
                                                int64_t start);

/* The lower or upper triangle of matrices [.., M, N], 0 elsewhere: element (i, j) stays when j <= i + k, or when
 * j >= i + k. WICK_SHAPE for rank < 2. */
WICK_API struct wick_tensor *wick_tril(const struct wick_tensor *x, int64_t k);
WICK_API struct wick_tensor *wick_triu(const struct wick_tensor *x, int64_t k);
/* 1 on the diagonal, 0 elsewhere. [rows, columns], of one of the ten compute dtypes. */
WICK_API struct wick_tensor *wick_eye(struct wick_device *device, enum wick_dtype dtype, int64_t rows, int64_t columns);

#ifdef __cplusplus
}
#endif
#endif
