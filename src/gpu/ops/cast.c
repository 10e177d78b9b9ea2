/* Conversion to another dtype; filling with one value, and with evenly spaced values. */
#include "core/number.h"
#include "gpu/ops/cast.h"
#include "gpu/ops/copy.h"
#include "gpu/ops/elementwise.h"
#include "kernels/cast.h"

#include <string.h>

#define SAME(name) _Static_assert((int)GPU_DTYPE_##name == (int)WICK_DTYPE_##name, #name);
GPU_DTYPES(SAME)
#undef SAME

static bool is_long(enum wick_dtype dtype) { return dtype == WICK_DTYPE_i64 || dtype == WICK_DTYPE_u64; }

/* Through a type that holds all values of `from`, and in which the result is rounded once. */
static enum wick__gpu_kernel cast_kernel(enum wick_dtype from, enum wick_dtype to, int chunk, bool *sticky) {
    bool from_float = wick_dtype_is_float(from), to_float = wick_dtype_is_float(to);
    enum wick__gpu_kernel f32 = chunk == 2   ? WICK__GPU_K_cast_f32_2
                                : chunk == 4 ? WICK__GPU_K_cast_f32_4
                                             : WICK__GPU_K_cast_f32_8;
    enum wick__gpu_kernel f64 = chunk == 2 ? WICK__GPU_K_cast_f64_2 : WICK__GPU_K_cast_f64_4;
    enum wick__gpu_kernel whole = chunk == 2   ? WICK__GPU_K_cast_i64_2
                                  : chunk == 4 ? WICK__GPU_K_cast_i64_4
                                               : WICK__GPU_K_cast_i32_8;
    *sticky = false;
    if (from == WICK_DTYPE_f32 || to == WICK_DTYPE_f32) return f32;
    if (!from_float && !to_float) return whole;
    if (from == WICK_DTYPE_f64 || to == WICK_DTYPE_f64) return f64;
    if (from_float || wick__size(from) <= 2) return f32;
    *sticky = is_long(from);
    return f64;
}

/* The kernel for operands that are contiguous; WICK__GPU_KERNELS where there is none. */
static enum wick__gpu_kernel straight_kernel(enum wick_dtype from, enum wick_dtype to) {
    if (from == WICK_DTYPE_f32 && to == WICK_DTYPE_bf16) return WICK__GPU_K_cast_round_bf16;
    if (from == WICK_DTYPE_f32 && to == WICK_DTYPE_f16) return WICK__GPU_K_cast_round_f16;
    if (from == WICK_DTYPE_u8 && to == WICK_DTYPE_f32) return WICK__GPU_K_cast_widen_u8;
    if (from == WICK_DTYPE_bf16 && to == WICK_DTYPE_f32) return WICK__GPU_K_cast_widen_bf16;
    if (from == WICK_DTYPE_f16 && to == WICK_DTYPE_f32) return WICK__GPU_K_cast_widen_f16;
    return WICK__GPU_KERNELS;
}

wick__kernel_fn wick__gpu_cast;
enum wick_status wick__gpu_cast(const struct wick__call *call) {
    enum wick_dtype from = call->in[0]->dtype, to = call->out[0]->dtype;
    size_t size = wick__size(from) > wick__size(to) ? wick__size(from) : wick__size(to);
    struct gpu_cast params = {.from = (u32)from, .to = (u32)to};
    struct gpu_cast_turn turn = {.from = (u32)from, .to = (u32)to};
    bool sticky;
    struct wick__elements e = {.kernel = cast_kernel(from, to, GPU_CAST_CHUNK(size), &sticky),
                               .params = &params,
                               .walk = &params.walk,
                               .n_in = 1,
                               .in = {call->in[0]},
                               .out = call->out[0],
                               .chunk = GPU_CAST_CHUNK(size),
                               .slots = GPU_CAST_SLOTS,
                               .turning = WICK__GPU_K_cast_turn,
                               .turn_params = &turn};
    params.sticky = sticky;
    if (e.kernel == WICK__GPU_K_cast_f32_4 || e.kernel == WICK__GPU_K_cast_f32_8) e.turn = &turn.turn;
    enum wick__gpu_kernel straight = straight_kernel(from, to);
    if (straight != WICK__GPU_KERNELS && wick__layout_is_contiguous(&call->in[0]->layout) &&
        wick__aligned16(wick__data(call->in[0]))) {
        e.kernel = straight;
        e.slots = GPU_CAST_STRAIGHT_SLOTS;
    }
    return wick__gpu_elements(&e);
}

enum wick_status wick__gpu_convert(struct wick__gpu *gpu, enum wick_dtype from, const void *x, enum wick_dtype to,
                                   void *y, int64_t n) {
    struct wick__storage memory[2] = {{.device = gpu->device}, {.device = gpu->device, .data = y}};
    struct wick_tensor in = {.dtype = from, .storage = &memory[0]}, out = {.dtype = to, .storage = &memory[1]};
    memcpy(&memory[0].data, &x, sizeof x); /* which is read alone */
    in.layout.rank = 1;
    in.layout.shape[0] = n;
    in.layout.stride[0] = 1;
    out.layout = in.layout;
    const struct wick__call call = {.op = WICK_OP_cast, .n_in = 1, .in = {&in}, .n_out = 1, .out = {&out}};
    return wick__gpu_cast(&call);
}

static enum wick_status arange(const struct wick__call *call) {
    enum wick_dtype dtype = call->out[0]->dtype;
    const struct wick_number *n = call->p.number;
    struct gpu_cast params = {.to = (u32)dtype,
                              .numbers = 1,
                              .start = wick__number_f64(WICK_F64, n[0]),
                              .step = wick__number_f64(WICK_F64, n[1]),
                              .first = n[0].integer,
                              .by = n[1].integer};
    bool wide = wick__size(dtype) == 8, whole = !n[0].is_real && !n[1].is_real && !wick_dtype_is_float(dtype);
    enum wick__gpu_kernel by_integers = wide ? WICK__GPU_K_cast_i64_2 : WICK__GPU_K_cast_i64_4;
    enum wick__gpu_kernel by_floats = wide ? WICK__GPU_K_cast_f64_2 : WICK__GPU_K_cast_f64_4;
    struct wick__elements e = {.kernel = whole ? by_integers : by_floats,
                               .params = &params,
                               .walk = &params.walk,
                               .out = call->out[0],
                               .chunk = wide ? 2 : 4,
                               .slots = GPU_CAST_SLOTS};
    return wick__gpu_elements(&e);
}

wick__kernel_fn wick__gpu_fill;
enum wick_status wick__gpu_fill(const struct wick__call *call) {
    struct wick_tensor *y = call->out[0];
    if (wick__count(y) == 0) return WICK_OK;
    if (call->op == WICK_OP_arange) return arange(call);
    struct wick__gpu_move move = {.from = y->layout,
                                  .to = y->layout,
                                  .out = wick__data(y),
                                  .size = wick__size(y->dtype),
                                  .value = {wick__gpu_element(y->dtype, call->p.number[0])}};
    return wick__gpu_move(wick__gpu_of(y), &move);
}
