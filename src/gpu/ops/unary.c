/* Functions of one tensor, with numbers or without. */
#include "gpu/ops/elementwise.h"
#include "kernels/unary.h"

#include <math.h>

static int kernel_op(enum wick_op op, bool is_float, bool whole) {
    switch (op) {
#define CASE(name)                                                                                                     \
    case WICK_OP_##name: return GPU_UNARY_##name;
    case WICK_OP_affine: return is_float || whole ? GPU_UNARY_affine : GPU_UNARY_affine_by;
    case WICK_OP_floor: return is_float ? GPU_UNARY_floor : GPU_UNARY_same;
    case WICK_OP_ceil: return is_float ? GPU_UNARY_ceil : GPU_UNARY_same;
    case WICK_OP_round: return is_float ? GPU_UNARY_round : GPU_UNARY_same;
    case WICK_OP_trunc:
        return is_float ? GPU_UNARY_trunc : GPU_UNARY_same;
        CASE(abs)
        CASE(neg)
        CASE(sqr)
        CASE(sign)
        CASE(relu)
        CASE(add_scalar)
        CASE(sub_scalar)
        CASE(mul_scalar)
        CASE(div_scalar)
        CASE(clamp)
        CASE(sqrt)
        CASE(rsqrt)
        CASE(recip)
        CASE(relu2)
        CASE(relu6)
        CASE(hard_sigmoid)
        CASE(hard_swish)
        CASE(leaky_relu)
        CASE(bitwise_not)
        GPU_UNARY_MATH(CASE)
#undef CASE
    default: return -1;
    }
}

/* f, i: the numbers of ops that have any, and the same as integers. */
static enum wick_status run(const struct wick__call *call, int op, const double f[2], const int64_t i[2]) {
    const struct wick_tensor *x = call->in[0];
    int size = (int)wick__size(x->dtype);
    bool math = op >= GPU_UNARY_exp && op <= GPU_UNARY_powf;
    struct gpu_unary params = {.op = (u32)op, .f = {f[0], f[1]}, .i = {i[0], i[1]}};
    struct wick__elements e = {.kernel = math ? wick__gpu_of_floats(WICK__GPU_K_math_bf16, x->dtype)
                                              : wick__gpu_of_all(WICK__GPU_K_unary_u8, x->dtype),
                               .params = &params,
                               .walk = &params.walk,
                               .n_in = 1,
                               .in = {x},
                               .out = call->out[0],
                               .chunk = GPU_CHUNK(size),
                               .slots = math ? GPU_SLOTS_OF_MATH(size) : GPU_SLOTS(size),
                               .repeat = math && size > 1 ? 4 : 0};
    return wick__gpu_elements(&e);
}

wick__kernel_fn wick__gpu_unary;
wick__kernel_fn wick__gpu_comparison;
enum wick_status wick__gpu_unary(const struct wick__call *call) {
    static const double f[2];
    static const int64_t i[2];
    int op = kernel_op(call->op, wick_dtype_is_float(call->in[0]->dtype), true);
    if (op < 0) return wick__gpu_comparison(call); /* logical_not, isnan, isinf, isfinite */
    return run(call, op, f, i);
}

static int64_t within(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

/* Bounds of clamp as integers of the dtype. */
static void int_bounds(enum wick_dtype dtype, const double f[2], int64_t i[2]) {
    int64_t low, high;
    wick__gpu_int_range(dtype, &low, &high);
    i[0] = within(wick__gpu_int(ceil(f[0])), low, high);
    i[1] = within(wick__gpu_int(floor(f[1])), low, high);
}

wick__kernel_fn wick__gpu_scalar;
enum wick_status wick__gpu_scalar(const struct wick__call *call) {
    const double *f = call->p.scalar;
    enum wick_dtype dtype = call->in[0]->dtype;
    int64_t i[2] = {wick__gpu_int(f[0]), wick__gpu_int(f[1])};
    bool whole = (double)i[0] == f[0] && (double)i[1] == f[1];
    if (call->op == WICK_OP_clamp && !wick_dtype_is_float(dtype)) int_bounds(dtype, f, i);
    return run(call, kernel_op(call->op, wick_dtype_is_float(dtype), whole), f, i);
}
