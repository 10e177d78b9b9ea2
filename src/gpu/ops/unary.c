/* Functions of one tensor, with numbers or without. */
#include "gpu/ops/elementwise.h"
#include "core/number.h"
#include "kernels/unary.h"

/* f, i: the numbers of ops that have any, and the same as integers. */
static enum wick_status run(const struct wick__call *call, u32 op, const double f[2], const int64_t i[2]) {
    const struct wick_tensor *x = call->in[0];
    int size = (int)wick__size(x->dtype);
    bool math = wick_dtype_is_float(x->dtype) && wick__gpu_kernels_of(call->op) == WICK__GPU_HEAVY;
    struct gpu_unary params = {.op = op, .f = {f[0], f[1]}, .i = {i[0], i[1]}};
    struct gpu_unary_turn turn = {.op = op, .f = {f[0], f[1]}};
    struct wick__elements e = {.kernel = math ? wick__gpu_of_floats(WICK__GPU_K_math_bf16, x->dtype)
                                              : wick__gpu_of_all(WICK__GPU_K_unary_u8, x->dtype),
                               .params = &params,
                               .walk = &params.walk,
                               .n_in = 1,
                               .in = {x},
                               .out = call->out[0],
                               .chunk = GPU_CHUNK(size),
                               .slots = math ? GPU_SLOTS_OF_MATH(size) : GPU_SLOTS(size),
                               .repeat = math && size > 1 ? 4 : 0,
                               .turning = math ? WICK__GPU_K_math_turn : WICK__GPU_K_unary_turn,
                               .turn_params = &turn};
    if (wick__gpu_turn_dtype(x->dtype, &turn.dtype)) e.turn = &turn.turn;
    return wick__gpu_elements(&e);
}

/* Kernels that take one element a thread. */
static enum wick_status run_special(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct gpu_unary params = {.op = (u32)call->op};
    struct wick__elements e = {.kernel = wick__gpu_of_floats(WICK__GPU_K_special_bf16, x->dtype),
                               .params = &params,
                               .walk = &params.walk,
                               .n_in = 1,
                               .in = {x},
                               .out = call->out[0],
                               .chunk = 1,
                               .slots = 1};
    return wick__gpu_elements(&e);
}

wick__kernel_fn wick__gpu_unary;
wick__kernel_fn wick__gpu_comparison;
enum wick_status wick__gpu_unary(const struct wick__call *call) {
    static const double f[2];
    static const int64_t i[2];
    if (wick__gpu_kernels_of(call->op) == WICK__GPU_QUESTION) return wick__gpu_comparison(call);
    if (wick__gpu_kernels_of(call->op) == WICK__GPU_RARE) return run_special(call);
    return run(call, (u32)call->op, f, i);
}

wick__kernel_fn wick__gpu_scalar;
enum wick_status wick__gpu_scalar(const struct wick__call *call) {
    const struct wick_number *given = call->p.number;
    enum wick_dtype dtype = call->in[0]->dtype;
    const double f[2] = {wick__number_f64(dtype, given[0]), wick__number_f64(dtype, given[1])};
    int64_t i[2] = {wick__number_i64(given[0]), wick__number_i64(given[1])};
    bool by = false;
    if (!wick_dtype_is_float(dtype)) {
        by = call->op == WICK_OP_affine && !wick__numbers_whole(given, i);
        if (call->op == WICK_OP_clamp) wick__number_bounds(dtype, given, i);
    }
    return run(call, by ? (u32)GPU_OP_affine_by : (u32)call->op, f, i);
}
