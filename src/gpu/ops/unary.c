/* Functions of one tensor, with numbers or without. */
#include "gpu/ops/elementwise.h"
#include "kernels/unary.h"

#include <math.h>

/* f, i: the numbers of ops that have any, and the same as integers. */
static enum wick_status run(const struct wick__call *call, u32 op, const double f[2], const int64_t i[2]) {
    const struct wick_tensor *x = call->in[0];
    int size = (int)wick__size(x->dtype);
    bool math = wick_dtype_is_float(x->dtype) && wick__gpu_kernels_of(call->op) == WICK__GPU_HEAVY;
    struct gpu_unary params = {.op = op, .f = {f[0], f[1]}, .i = {i[0], i[1]}};
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
    if (wick__gpu_kernels_of(call->op) == WICK__GPU_QUESTION) return wick__gpu_comparison(call);
    return run(call, (u32)call->op, f, i);
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
    bool by = call->op == WICK_OP_affine && !wick_dtype_is_float(dtype) && !whole;
    return run(call, by ? (u32)GPU_OP_affine_by : (u32)call->op, f, i);
}
