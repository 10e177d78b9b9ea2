/* The text of every kind of failure: op, operands with shapes and dtypes, device, and the rule broken with its numbers.
 * What the core itself refuses stands in tests/core/. */
#include "tests/test.h"

static struct wick_device *cpu, *other;

static struct wick_tensor *tensor(struct wick_device *device, enum wick_dtype dtype, double value, int rank,
                                  const int64_t *shape) {
    return wick_full(device, dtype, rank, shape, WICK_REAL(value));
}

#define F32(...) tensor(cpu, WICK_F32, 1, WICK_SHAPE(__VA_ARGS__))
#define I64(value, ...) tensor(cpu, WICK_I64, value, WICK_SHAPE(__VA_ARGS__))
#define I32(value, ...) tensor(cpu, WICK_I32, value, WICK_SHAPE(__VA_ARGS__))

static void check_shape(void) {
    struct wick_tensor *m23 = F32(2, 3);
    struct wick_tensor *m43 = F32(4, 3);
    struct wick_tensor *i23 = I32(1, 2, 3);
    struct wick_tensor *v3 = F32(3);
    struct wick_tensor *parts[8];
    CHECK_FAILS(wick_reshape(m23, WICK_SHAPE(4, 2)), WICK_SHAPE,
                "reshape: x [2,3] f32 on cpu: shape [4,2] has 8 elements, not 6");
    CHECK_FAILS(wick_reshape(m23, WICK_SHAPE(-1, -1)), WICK_INVALID,
                "reshape: x [2,3] f32 on cpu: shape [-1,-1] may have one -1 and no other negative size");
    CHECK_FAILS(wick_reshape(m23, WICK_SHAPE(-1, 4)), WICK_SHAPE,
                "reshape: x [2,3] f32 on cpu: no size in place of -1 makes [-1,4] hold 6 elements");
    CHECK_FAILS(wick_reshape(m23, WICK_SHAPE(-2, 3)), WICK_INVALID,
                "reshape: x [2,3] f32 on cpu: shape [-2,3] may have one -1 and no other negative size");
    CHECK_FAILS(wick_reshape(m23, 9, NULL), WICK_INVALID, "reshape: x [2,3] f32 on cpu: rank 9 is not in 0..8");
    CHECK_FAILS(wick_squeeze(m23, 2), WICK_RANGE, "squeeze: x [2,3] f32 on cpu: dim 2 is out of range for rank 2");
    CHECK_FAILS(wick_unsqueeze(m23, 4), WICK_RANGE, "unsqueeze: x [2,3] f32 on cpu: dim 4 is not in -3..2");
    CHECK_FAILS(wick_flatten(m23, 1, 0), WICK_RANGE, "flatten: x [2,3] f32 on cpu: dim 1 comes after dim 0");
    CHECK_FAILS(wick_transpose(m23, 0, 2), WICK_RANGE,
                "transpose: x [2,3] f32 on cpu: dim 2 is out of range for rank 2");
    CHECK_FAILS(wick_t(v3), WICK_SHAPE, "transpose: x [3] f32 on cpu: rank 1 is less than 2");
    CHECK_FAILS(wick_permute(m23, 2, (const int[]){0, 0}), WICK_INVALID,
                "permute: x [2,3] f32 on cpu: dim 0 is named twice");
    CHECK_FAILS(wick_narrow(m23, 1, 2, 2), WICK_RANGE,
                "narrow: x [2,3] f32 on cpu: 2 positions from 2 on do not lie in dim 1 of size 3");
    CHECK_FAILS(wick_select(m23, 0, -3), WICK_RANGE,
                "select: x [2,3] f32 on cpu: index -3 is out of range for dim 0 of size 2");
    CHECK_FAILS(wick_slice(m23, 0, 0, 2, 0), WICK_INVALID, "slice: x [2,3] f32 on cpu: step 0 is less than 1");
    CHECK_FAILS(wick_broadcast_to(m23, WICK_SHAPE(2, 4)), WICK_SHAPE,
                "broadcast_to: x [2,3] f32 on cpu: x does not broadcast to [2,4]");
    CHECK_FAILS(wick_expand(m23, WICK_SHAPE(-1)), WICK_SHAPE,
                "expand: x [2,3] f32 on cpu: x does not broadcast to [3]");
    CHECK_FAILS(wick_unfold(m23, 1, 4, 1), WICK_RANGE,
                "unfold: x [2,3] f32 on cpu: window 4 does not lie in dim 1 of size 3");
    CHECK_FAILS(wick_diagonal(m23, 0, 1, 1), WICK_INVALID,
                "diagonal: x [2,3] f32 on cpu: the diagonal of dim 1 with itself");
    CHECK_FAILS(wick_chunk(m23, 0, 0, parts), WICK_INVALID, "chunk: x [2,3] f32 on cpu: 0 parts");
    CHECK_FAILS(wick_split(m23, 2, (const int64_t[]){1, 3}, 1, parts), WICK_SHAPE,
                "split: x [2,3] f32 on cpu: parts of [1,3] do not add up to dim 1 of size 3");
    CHECK_FAILS(wick_cat(2, (struct wick_tensor *const[]){m23, m43}, 1), WICK_SHAPE,
                "cat: tensors[0] [2,3] f32, tensors[i] [4,3] f32 on cpu: i = 1: shapes differ in another dim");
    CHECK_FAILS(wick_cat(2, (struct wick_tensor *const[]){m23, i23}, 0), WICK_DTYPE,
                "cat: tensors[0] [2,3] f32, tensors[i] [2,3] i32 on cpu: dtypes differ, tensors[0] has f32 and "
                "tensors[i] has i32");
    CHECK_FAILS(wick_cat(0, NULL, 0), WICK_INVALID, "cat: 0 tensors at NULL");
    CHECK_FAILS(wick_stack(2, (struct wick_tensor *const[]){m23, m43}, 0), WICK_SHAPE,
                "stack: tensors[0] [2,3] f32, tensors[i] [4,3] f32 on cpu: i = 1: shapes differ");
    CHECK_FAILS(wick_flip(m23, 2, (const int[]){0, 0}), WICK_INVALID, "flip: x [2,3] f32 on cpu: dim 0 is named twice");
    CHECK_FAILS(wick_slice_set_inplace(m23, m43, 0, 0), WICK_RANGE,
                "slice_set_inplace: target [2,3] f32, source [4,3] f32 on cpu: 4 positions from 0 on do not lie in "
                "dim 0 of size 2");
    CHECK_FAILS(wick_tril(v3, 0), WICK_SHAPE, "tril: x [3] f32 on cpu: rank 1 is less than 2");
    CHECK_FAILS(wick_narrow(NULL, 0, 0, 1), WICK_INVALID, "narrow: x is NULL");
}

static void check_elementwise(void) {
    struct wick_tensor *m23 = F32(2, 3);
    struct wick_tensor *m43 = F32(4, 3);
    struct wick_tensor *i23 = I32(1, 2, 3);
    struct wick_tensor *z23 = I32(0, 2, 3);
    struct wick_tensor *theirs = tensor(other, WICK_F32, 1, WICK_SHAPE(2, 3));
    struct wick_tensor *broadcast = wick_broadcast_to(F32(1, 3), WICK_SHAPE(2, 3));
    double number = 0;
    CHECK_FAILS(wick_add(m23, m43), WICK_SHAPE,
                "add: lhs [2,3] f32, rhs [4,3] f32 on cpu: shapes do not broadcast: sizes must be equal, 1 or missing");
    CHECK_FAILS(wick_add(m23, i23), WICK_DTYPE,
                "add: lhs [2,3] f32, rhs [2,3] i32 on cpu: dtypes differ, lhs has f32 and rhs has i32");
    CHECK_FAILS(wick_add(m23, NULL), WICK_INVALID, "add: rhs is NULL");
    CHECK_FAILS(wick_add(NULL, m23), WICK_INVALID, "add: lhs is NULL");
    CHECK_FAILS(wick_add(m23, theirs), WICK_DEVICE,
                "add: lhs [2,3] f32 on cpu, rhs [2,3] f32 on cpu: operands must be on one device; these are on two "
                "handles, opened apart");
    CHECK_FAILS(wick_exp(i23), WICK_UNSUPPORTED, "exp: x [2,3] i32 on cpu: cpu has no exp for i32");
    CHECK_FAILS(wick_div(i23, z23), WICK_DIVIDE, "div: lhs [2,3] i32, rhs [2,3] i32 on cpu: integer division by zero");
    CHECK_FAILS(wick_remainder(i23, z23), WICK_DIVIDE,
                "remainder: lhs [2,3] i32, rhs [2,3] i32 on cpu: integer division by zero");
    CHECK_FAILS(wick_div_scalar(i23, WICK_INT(0)), WICK_DIVIDE,
                "div_scalar: x [2,3] i32 on cpu: integer division by zero: 0 is 0 as an integer");
    CHECK_FAILS(wick_bitwise_and(m23, m23), WICK_UNSUPPORTED,
                "bitwise_and: lhs [2,3] f32, rhs [2,3] f32 on cpu: cpu has no bitwise_and for f32");
    CHECK_FAILS(wick_where(m23, m23, m23), WICK_DTYPE,
                "where: a [2,3] f32, b [2,3] f32, condition [2,3] f32 on cpu: condition must be of u8, u32, "
                "i16, i32 or i64, not of f32");
    CHECK_FAILS(wick_cast(m23, (enum wick_dtype)99), WICK_DTYPE, "cast: x [2,3] f32 on cpu: dtype 99 is unknown");
    CHECK_FAILS(wick_cast(m23, WICK_DTYPE_f4), WICK_UNSUPPORTED, "cast: x [2,3] f32 on cpu: cpu has no cast to f4");
    CHECK_FAILS(wick_arange(cpu, WICK_F32, WICK_INT(0), WICK_INT(1), WICK_INT(0)), WICK_INVALID,
                "arange: from 0 below 1 by 0: all must be finite and the step not 0");
    CHECK_FAILS(wick_arange(cpu, WICK_F32, WICK_INT(0), WICK_REAL(NAN), WICK_INT(1)), WICK_INVALID,
                "arange: from 0 below nan by 1: all must be finite and the step not 0");
    CHECK_FAILS(wick_full(NULL, WICK_F32, WICK_SHAPE(1), WICK_INT(0)), WICK_INVALID, "full: device is NULL");
    CHECK_FAILS(wick_copy_inplace(m23, m43), WICK_SHAPE,
                "copy_inplace: source [4,3] f32 on cpu: does not broadcast to target [2,3] f32 on cpu");
    CHECK_FAILS(wick_copy_inplace(broadcast, m23), WICK_INVALID,
                "copy_inplace: source [2,3] f32 on cpu: target [2,3] f32 on cpu is broadcast or unfolded: its "
                "elements share addresses");
    CHECK_FAILS(wick_fill_inplace(broadcast, WICK_INT(1)), WICK_INVALID,
                "fill_inplace: x [2,3] f32 on cpu is broadcast or unfolded: its elements share addresses");
    CHECK_FAILS(wick_read_scalar(m23, &number), WICK_SHAPE, "read_scalar: x [2,3] f32 on cpu has not one element");
    CHECK_FAILS(wick_prelu(m23, m43), WICK_SHAPE,
                "prelu: x [2,3] f32, weight [4,3] f32 on cpu: weight has neither one element nor one for each of 3 "
                "channels");
    CHECK_FAILS(wick_swiglu(m23), WICK_SHAPE, "swiglu: x [2,3] f32 on cpu: the last dim has no two halves");
}

static void check_reduce(void) {
    struct wick_tensor *m23 = F32(2, 3);
    struct wick_tensor *i23 = I32(1, 2, 3);
    struct wick_tensor *empty = F32(2, 0);
    CHECK_FAILS(wick_sum(m23, 1, (const int[]){2}, false), WICK_RANGE,
                "sum: x [2,3] f32 on cpu: dim 2 is out of range for rank 2");
    CHECK_FAILS(wick_sum(m23, 2, (const int[]){0, 0}, false), WICK_INVALID,
                "sum: x [2,3] f32 on cpu: dim 0 is given twice");
    CHECK_FAILS(wick_mean(i23, WICK_ALL_DIMS, false), WICK_UNSUPPORTED,
                "mean: x [2,3] i32 on cpu: cpu has no mean for i32");
    CHECK_FAILS(wick_max(empty, WICK_ALL_DIMS, false), WICK_SHAPE,
                "max: x [2,0] f32 on cpu: a dim of size 0 has no such element");
    CHECK_FAILS(wick_argmax(empty, 1, (const int[]){1}, false), WICK_SHAPE,
                "argmax: x [2,0] f32 on cpu: a dim of size 0 has no such element");
    CHECK_FAILS(wick_sort(m23, 5, false, NULL), WICK_RANGE,
                "sort: x [2,3] f32 on cpu: dim 5 is out of range for rank 2");
    CHECK_FAILS(wick_topk(m23, 4, 1, true, NULL), WICK_RANGE, "topk: x [2,3] f32 on cpu: k 4 is not in 0..3");
    CHECK_FAILS(wick_cumsum(m23, -3), WICK_RANGE, "cumsum: x [2,3] f32 on cpu: dim -3 is out of range for rank 2");
}

static void check_linalg(void) {
    struct wick_tensor *m23 = F32(2, 3);
    struct wick_tensor *i23 = I32(1, 2, 3);
    struct wick_tensor *v3 = F32(3);
    struct wick_tensor *v2 = F32(2);
    struct wick_tensor *v5 = F32(5);
    struct wick_tensor *scalar = tensor(cpu, WICK_F32, 1, 0, NULL);
    CHECK_FAILS(wick_matmul(m23, m23), WICK_SHAPE, "matmul: lhs [2,3] f32, rhs [2,3] f32 on cpu: inner 3 != 2");
    CHECK_FAILS(wick_matmul(m23, i23), WICK_DTYPE,
                "matmul: lhs [2,3] f32, rhs [2,3] i32 on cpu: dtypes differ, lhs has f32 and rhs has i32");
    CHECK_FAILS(wick_matmul(m23, scalar), WICK_SHAPE,
                "matmul: lhs [2,3] f32, rhs [] f32 on cpu: rhs has rank 0, at least 1 is needed");
    CHECK_FAILS(wick_linear(m23, m23, v5, WICK_ACTIVATION_NONE), WICK_SHAPE,
                "linear: x [2,3] f32, weight [2,3] f32, bias [5] f32 on cpu: bias is not [2]");
    CHECK_FAILS(wick_dot(v3, m23), WICK_SHAPE, "dot: lhs [3] f32, rhs [2,3] f32 on cpu: rhs has rank 2, not 1");
    CHECK_FAILS(wick_mv(m23, v2), WICK_SHAPE, "mv: matrix [2,3] f32, vector [2] f32 on cpu: inner 3 != 2");
    CHECK_FAILS(wick_outer(m23, v3), WICK_SHAPE, "outer: lhs [2,3] f32, rhs [3] f32 on cpu: lhs has rank 2, not 1");
}

static void check_conv(void) {
    struct wick_tensor *m23 = F32(2, 3);
    struct wick_tensor *v5 = F32(5);
    struct wick_tensor *image = F32(1, 4, 5, 5);
    struct wick_tensor *kernel = F32(6, 4, 3, 3);
    struct wick_tensor *kernel3 = F32(6, 3, 3, 3);
    struct wick_tensor *bigkernel = F32(6, 4, 7, 3);
    CHECK_FAILS(wick_conv2d(m23, m23, NULL, NULL), WICK_SHAPE,
                "conv2d: x [2,3] f32, weight [2,3] f32 on cpu: x has rank 2, not 4");
    CHECK_FAILS(wick_conv2d(image, kernel3, NULL, NULL), WICK_SHAPE,
                "conv2d: x [1,4,5,5] f32, weight [6,3,3,3] f32 on cpu: weight is for 3 input channels, x has 4 in "
                "1 groups");
    CHECK_FAILS(wick_conv2d(image, kernel, v5, NULL), WICK_SHAPE,
                "conv2d: x [1,4,5,5] f32, weight [6,4,3,3] f32, bias [5] f32 on cpu: bias is not [6]");
    CHECK_FAILS(wick_conv2d(image, kernel, NULL, &(struct wick_conv_options){.groups = 3}), WICK_SHAPE,
                "conv2d: x [1,4,5,5] f32, weight [6,4,3,3] f32 on cpu: groups 3 does not divide 4 input channels");
    CHECK_FAILS(wick_conv2d(image, kernel, NULL, &(struct wick_conv_options){.padding = {-1}}), WICK_INVALID,
                "conv2d: x [1,4,5,5] f32, weight [6,4,3,3] f32 on cpu: padding -1 of spatial dim 0 is negative");
    CHECK_FAILS(wick_conv2d(image, bigkernel, NULL, NULL), WICK_SHAPE,
                "conv2d: x [1,4,5,5] f32, weight [6,4,7,3] f32 on cpu: the kernel reaches over 7 elements, spatial "
                "dim 0 has 5 with padding");
}

static void check_index(void) {
    struct wick_tensor *m23 = F32(2, 3);
    struct wick_tensor *m43 = F32(4, 3);
    struct wick_tensor *i23 = I32(1, 2, 3);
    struct wick_tensor *v3 = F32(3);
    struct wick_tensor *ids_bad = I64(7, 2);
    struct wick_tensor *ids_neg = I64(-1, 2);
    struct wick_tensor *ids_row = I64(0, 1, 3);
    struct wick_tensor *ids_row5 = I64(5, 1, 3);
    struct wick_tensor *row3 = F32(1, 3);
    CHECK_FAILS(wick_index_select(m23, 0, ids_bad), WICK_RANGE,
                "index_select: id 7 at position 0 of ids [2] i64 on cpu is out of range for size 2");
    CHECK_FAILS(wick_index_select(m23, 0, ids_neg), WICK_RANGE,
                "index_select: id -1 at position 0 of ids [2] i64 on cpu is out of range for size 2");
    CHECK_FAILS(wick_index_select(m23, 0, m23), WICK_DTYPE,
                "index_select: x [2,3] f32, ids [2,3] f32 on cpu: ids must be of u8, u32, i16, i32 or i64, not of f32");
    CHECK_FAILS(wick_index_select(m23, 0, v3), WICK_DTYPE,
                "index_select: x [2,3] f32, ids [3] f32 on cpu: ids must be of u8, u32, i16, i32 or i64, not of f32");
    CHECK_FAILS(wick_embedding(v3, ids_bad), WICK_SHAPE,
                "embedding: weight [3] f32, ids [2] i64 on cpu: weight has rank 1, not 2, or ids more than 7 dims");
    CHECK_FAILS(wick_gather(m23, 0, ids_bad), WICK_SHAPE,
                "gather: x [2,3] f32, ids [2] i64 on cpu: ids must have the rank of x and be no larger but along "
                "dim 0");
    CHECK_FAILS(wick_scatter(m23, 0, ids_row, i23), WICK_DTYPE,
                "scatter: x [2,3] f32, ids [1,3] i64, source [2,3] i32 on cpu: dtypes differ, x has f32 and source "
                "has i32");
    CHECK_FAILS(wick_scatter(m23, 0, ids_row, m43), WICK_SHAPE,
                "scatter: x [2,3] f32, ids [1,3] i64, source [4,3] f32 on cpu: source does not have the shape of ids");
    CHECK_FAILS(wick_scatter_add(m23, 0, ids_row5, row3), WICK_RANGE,
                "scatter_add: id 5 at position 0 of ids [1,3] i64 on cpu is out of range for size 2");
    CHECK_FAILS(wick_index_add(m23, 0, ids_bad, m23), WICK_RANGE,
                "index_add: id 7 at position 0 of ids [2] i64 on cpu is out of range for size 2");
    CHECK_FAILS(wick_index_add(m23, 0, ids_bad, m43), WICK_SHAPE,
                "index_add: x [2,3] f32, ids [2] i64, source [4,3] f32 on cpu: source must have the shape of x, "
                "with 2 along dim 0");
    CHECK_FAILS(wick_masked_fill(m23, m23, WICK_INT(0)), WICK_DTYPE,
                "masked_fill: x [2,3] f32, mask [2,3] f32 on cpu: mask must be of u8, not of f32");
    CHECK_FAILS(wick_one_hot(ids_bad, -1, WICK_I32), WICK_INVALID,
                "one_hot: ids [2] i64 on cpu: -1 classes, or more than 7 dims");
    CHECK_FAILS(wick_one_hot(ids_bad, 3, WICK_I32), WICK_RANGE,
                "one_hot: id 7 at position 0 of ids [2] i64 on cpu is out of range for size 3");
}

static void check_nn(void) {
    struct wick_tensor *m23 = F32(2, 3);
    struct wick_tensor *i23 = I32(1, 2, 3);
    struct wick_tensor *v2 = F32(2);
    CHECK_FAILS(wick_softmax(m23, 2), WICK_RANGE, "softmax: x [2,3] f32 on cpu: dim 2 is out of range for rank 2");
    CHECK_FAILS(wick_softmax(i23, 0), WICK_UNSUPPORTED, "softmax: x [2,3] i32 on cpu: cpu has no softmax for i32");
    CHECK_FAILS(wick_layer_norm(m23, 3, NULL, NULL, 1e-5), WICK_RANGE,
                "layer_norm: x [2,3] f32 on cpu: 3 axes are not in 1..2");
    CHECK_FAILS(wick_layer_norm(m23, 1, v2, NULL, 1e-5), WICK_SHAPE,
                "layer_norm: x [2,3] f32, weight [2] f32 on cpu: weight must be [3]");
    CHECK_FAILS(wick_group_norm(m23, 2, NULL, NULL, 1e-5), WICK_SHAPE,
                "group_norm: x [2,3] f32 on cpu: 2 groups do not divide 3 channels");
}

int main(void) {
    cpu = wick_device_open("cpu");
    other = wick_device_open("cpu");
    wick_scope_begin();
    check_shape();
    wick_scope_end(NULL);
    wick_scope_begin();
    check_elementwise();
    wick_scope_end(NULL);
    wick_scope_begin();
    check_reduce();
    wick_scope_end(NULL);
    wick_scope_begin();
    check_linalg();
    wick_scope_end(NULL);
    wick_scope_begin();
    check_conv();
    wick_scope_end(NULL);
    wick_scope_begin();
    check_index();
    wick_scope_end(NULL);
    wick_scope_begin();
    check_nn();
    wick_scope_end(NULL);
    wick_device_close(other);
    wick_device_close(cpu);
    return test_end();
}
