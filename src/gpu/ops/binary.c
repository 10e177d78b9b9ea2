/* Functions and comparisons of two tensors, and choice between two. */
#include "gpu/ops/elementwise.h"
#include "core/number.h"
#include "gpu/runtime/slots.h"
#include "kernels/binary.h"

static enum wick_status run(const struct wick__call *call, enum wick__gpu_kernel kernel, struct gpu_binary *params,
                            bool math) {
    int size = (int)wick__size(call->in[0]->dtype);
    bool light = wick__gpu_kernels_of(call->op) == WICK__GPU_LIGHT;
    struct gpu_binary_turn turn = {.op = params->op};
    struct wick__elements e = {.kernel = kernel,
                               .params = params,
                               .walk = &params->walk,
                               .n_in = 2,
                               .in = {call->in[0], call->n_in > 1 ? call->in[1] : call->in[0]},
                               .out = call->out[0],
                               .any_steps = light && wick_dtype_is_float(call->in[0]->dtype) && GPU_BINARY_ANY(size),
                               .chunk = GPU_CHUNK(size),
                               .slots = math ? GPU_CHUNK(size) : GPU_SLOTS_OF_MANY(size),
                               .turning = WICK__GPU_K_binary_turn,
                               .turn_params = &turn,
                               .turned = &turn.second};
    if (light && wick__gpu_turn_dtype(call->in[0]->dtype, &turn.dtype)) e.turn = &turn.turn;
    return wick__gpu_elements(&e);
}

static enum wick_status suspect_division(const struct wick__call *call, struct gpu_report *report) {
    struct wick__suspect *suspect;
    WICK__TRY(wick__gpu_report(call, WICK__ZERO, &suspect, report));
    for (int i = 0; i < 2; i++) wick__suspect_operand(suspect, i, i, wick__as_made(call)->in[i], 0);
    return WICK_OK;
}

wick__kernel_fn wick__gpu_binary;
enum wick_status wick__gpu_binary(const struct wick__call *call) {
    enum wick_dtype dtype = call->in[0]->dtype;
    struct gpu_binary params = {.op = (u32)call->op};
    bool divides = call->op == WICK_OP_div || call->op == WICK_OP_remainder || call->op == WICK_OP_fmod ||
                   call->op == WICK_OP_floor_divide || call->op == WICK_OP_trunc_divide;
    if (wick__count(call->out[0]) == 0) return WICK_OK;
    if (!wick_dtype_is_float(dtype)) {
        if (divides) WICK__TRY(suspect_division(call, &params.report));
    } else if (wick__gpu_kernels_of(call->op) == WICK__GPU_HEAVY) {
        return run(call, wick__gpu_of_floats(WICK__GPU_K_binary_math_bf16, dtype), &params, true);
    }
    return run(call, wick__gpu_of_all(WICK__GPU_K_binary_u8, dtype), &params, false);
}

wick__kernel_fn wick__gpu_comparison;
enum wick_status wick__gpu_comparison(const struct wick__call *call) {
    struct gpu_binary params = {.op = (u32)call->op};
    return run(call, wick__gpu_of_all(WICK__GPU_K_compare_u8, call->in[0]->dtype), &params, false);
}

wick__kernel_fn wick__gpu_limit;
enum wick_status wick__gpu_limit(const struct wick__call *call) {
    enum wick_dtype dtype = call->in[0]->dtype;
    int size = (int)wick__size(dtype);
    struct wick__range range = wick__number_range(call->op, dtype, call->p.number[0]);
    struct gpu_limit params = {.f_low = range.f_low,
                               .f_high = range.f_high,
                               .i_low = range.i_low,
                               .i_high = range.i_high,
                               .others = range.others};
    struct wick__elements e = {.kernel = wick__gpu_of_all(WICK__GPU_K_limit_u8, dtype),
                               .params = &params,
                               .walk = &params.walk,
                               .n_in = 1,
                               .in = {call->in[0]},
                               .out = call->out[0],
                               .chunk = GPU_CHUNK(size),
                               .slots = GPU_SLOTS_OF_MANY(size)};
    return wick__gpu_elements(&e);
}

/* a where the condition is not 0, b elsewhere; a is NULL for one value. */
static enum wick_status choose(const struct wick_tensor *a, const struct wick_tensor *b,
                               const struct wick_tensor *condition, const struct wick_tensor *out,
                               struct wick_number value) {
    int size = (int)wick__size(b->dtype);
    struct gpu_where params = {.condition = (u32)wick__size(condition->dtype), .immediate = !a};
    if (!a) params.value = wick__gpu_element(b->dtype, value);
    struct wick__elements e = {.kernel = wick__gpu_of_size(WICK__GPU_K_where_b1, (size_t)size),
                               .params = &params,
                               .walk = &params.walk,
                               .n_in = 3,
                               .in = {a ? a : b, b, condition},
                               .out = out,
                               .chunk = GPU_CHUNK(size),
                               .slots = GPU_SLOTS_OF_MANY(size)};
    return wick__gpu_elements(&e);
}

wick__kernel_fn wick__gpu_where;
enum wick_status wick__gpu_where(const struct wick__call *call) {
    return choose(call->in[0], call->in[1], call->in[2], call->out[0], WICK_INT(0));
}

wick__kernel_fn wick__gpu_masked_fill;
enum wick_status wick__gpu_masked_fill(const struct wick__call *call) {
    return choose(NULL, call->in[0], call->in[1], call->out[0], call->p.number[0]);
}
