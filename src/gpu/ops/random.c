/* uniform, normal, bernoulli, randint, dropout; permutation, by sorting random keys. */
#include "gpu/ops/sort.h"
#include "kernels/random.h"

#include <math.h>

static u32 significand_of(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_DTYPE_bf16: return 8;
    case WICK_DTYPE_f16: return 11;
    case WICK_DTYPE_f8e4m3: return 4;
    default: return 24;
    }
}

/* The bits of 1. */
static uint64_t one_of(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_DTYPE_bf16: return 0x3f80;
    case WICK_DTYPE_f16: return 0x3c00;
    case WICK_DTYPE_f32: return 0x3f800000;
    case WICK_DTYPE_f64: return UINT64_C(0x3ff0000000000000);
    case WICK_DTYPE_f8e4m3: return 0x38;
    default: return 1;
    }
}

static enum gpu_random_kind kind_of(enum wick_op op) {
    switch (op) {
    case WICK_OP_uniform: return GPU_UNIFORM;
    case WICK_OP_normal: return GPU_NORMAL;
    case WICK_OP_dropout: return GPU_DROPOUT;
    case WICK_OP_bernoulli: return GPU_BERNOULLI;
    default: return GPU_RANDINT;
    }
}

/* Blocks of threads, each of which makes `per_thread` elements. */
static unsigned grid_of(int64_t count, int64_t per_thread) {
    int64_t per_block = per_thread * GPU_BLOCK;
    return (unsigned)((count + per_block - 1) / per_block);
}

wick__kernel_fn wick__gpu_random;
enum wick_status wick__gpu_random(const struct wick__call *call) {
    struct wick_tensor *y = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(y);
    enum gpu_random_kind kind = kind_of(call->op);
    bool bits = kind == GPU_BERNOULLI || kind == GPU_RANDINT;
    int64_t count = wick__count(y);
    struct gpu_random p = {.in = kind == GPU_DROPOUT ? wick__data(call->in[0]) : NULL,
                           .out = wick__data(y),
                           .mask = call->n_out > 1 ? wick__data(call->out[1]) : NULL,
                           .count = count,
                           .seed = call->p.random.seed,
                           .offset = call->p.random.offset,
                           .a = kind == GPU_DROPOUT ? 1 - call->p.random.a : call->p.random.a,
                           .b = call->p.random.b,
                           .low = (uint64_t)call->p.random.low,
                           .range = (uint64_t)call->p.random.high - (uint64_t)call->p.random.low,
                           .one = one_of(y->dtype),
                           .kind = kind,
                           .significand = significand_of(y->dtype)};
    if (count == 0) return WICK_OK;
    if (kind == GPU_DROPOUT || kind == GPU_BERNOULLI) p.threshold = (uint64_t)nearbyint(ldexp(call->p.random.a, 32));
    struct wick__launch launch = {
        .kernel = bits ? wick__gpu_of_size(WICK__GPU_K_random_bits_b1, wick__size(y->dtype))
                       : wick__gpu_of_floats(WICK__GPU_K_random_bf16, y->dtype),
        .grid = {grid_of(count, kind == GPU_RANDINT || (kind < GPU_DROPOUT && y->dtype == WICK_DTYPE_f64) ? 2 : 4)}};
    return wick__gpu_launch(gpu, &launch, &p);
}

/* Makes n keys, sorts them, and leaves their numbers in `indices`. */
static enum wick_status permute(struct wick__gpu *gpu, const struct wick__call *call, int64_t n, u32 *indices) {
    void *keys;
    WICK__TRY(wick__gpu_scratch(gpu, (size_t)n * 8, &keys));
    struct gpu_random p = {
        .out = keys, .count = n, .seed = call->p.random.seed, .offset = call->p.random.offset, .kind = GPU_RANDINT};
    struct gpu_sort sort = {
        .in = keys, .indices = indices, .lines = 1, .n = n, .inner = 1, .k = n, .passes = sizeof(uint64_t)};
    struct wick__launch launch = {.kernel = WICK__GPU_K_random_keys, .grid = {grid_of(n, 2)}};
    enum wick_status status = wick__gpu_launch(gpu, &launch, &p);
    if (status == WICK_OK) status = wick__gpu_sort_lines(gpu, &sort, 8);
    wick__gpu_release(gpu, keys, (size_t)n * 8);
    return status;
}

wick__kernel_fn wick__gpu_permutation;
enum wick_status wick__gpu_permutation(const struct wick__call *call) {
    struct wick_tensor *y = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(y);
    int64_t n = wick__count(y);
    u32 size = (u32)wick__size(y->dtype);
    void *memory;
    if (n == 0) return WICK_OK;
    if (n > UINT32_MAX)
        return wick__fail(WICK_MEMORY, "permutation: out of memory: %lld numbers to sort", (long long)n);
    if (size == 4) return permute(gpu, call, n, wick__data(y));
    WICK__TRY(wick__gpu_scratch(gpu, (size_t)n * 4, &memory));
    struct gpu_narrow_indices p = {.in = memory, .out = wick__data(y), .count = n, .size = size};
    struct wick__launch launch = {.kernel = WICK__GPU_K_narrow_indices, .grid = {wick__gpu_blocks(gpu, n, 4)}};
    enum wick_status status = permute(gpu, call, n, memory);
    if (status == WICK_OK) status = wick__gpu_launch(gpu, &launch, &p);
    wick__gpu_release(gpu, memory, (size_t)n * 4);
    return status;
}
