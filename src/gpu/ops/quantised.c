/* Tensors of blocks: dequantise; layers with such weights, and with weights of 16 bits by f32. */
#include "gpu/ops/quantised.h"

#include "gpu/ops/gemm.h"

#include "core/checked.h"
#include "kernels/quantised.h"

#include <wick/linalg.h>

enum { MOST_BLOCKS_Y = 32768, QUANTUM = 32 };

static uint32_t type_of(enum wick_dtype dtype) { return (uint32_t)dtype - (uint32_t)WICK_DTYPE_q4_0; }

/* The kernel for a plain float, of three that begin with that for bf16. */
static enum wick__gpu_kernel of_plain(enum wick__gpu_kernel bf16, enum wick_dtype dtype) {
    return (enum wick__gpu_kernel)((int)bf16 + (int)dtype - (int)WICK_DTYPE_bf16);
}

/* Whether blocks of so many bytes can be read by words. */
static bool is_aligned(const void *blocks, uint32_t nbytes) {
    return (uintptr_t)blocks % (nbytes % 4 == 0 ? 4 : 2) == 0;
}

wick__kernel_fn wick__gpu_cast, wick__gpu_dequantise;
enum wick_status wick__gpu_dequantise(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *y = call->out[0];
    const struct wick__traits *traits = &wick__traits[x->dtype];
    struct wick__gpu *gpu = wick__gpu_of(y);
    struct gpu_dequantise p = {.x = wick__data(x),
                               .out = wick__data(y),
                               .groups = wick__count(y) / 16,
                               .type = type_of(x->dtype),
                               .to = (uint32_t)y->dtype - (uint32_t)WICK_DTYPE_bf16,
                               .nbytes = (uint32_t)traits->nbytes,
                               .per_block_log2 = (uint32_t)__builtin_ctz((unsigned)traits->elements / 16)};
    p.aligned = is_aligned(p.x, p.nbytes);
    if (p.groups == 0) return WICK_OK;
    struct wick__launch launch = {.kernel = WICK__GPU_K_dequantise, .grid = {wick__gpu_blocks(gpu, p.groups, 1)}};
    return wick__gpu_launch(gpu, &launch, &p);
}

/* So many rows of activations at once. */
static enum wick_status multiply(struct wick__gpu *gpu, const struct gpu_linear_quantised *p,
                                 enum wick__gpu_kernel kernel, int64_t at_once) {
    struct gpu_linear_quantised copy = *p;
    int64_t waves = GPU_BLOCK / gpu->properties.wave, columns = (p->m + at_once - 1) / at_once;
    struct wick__launch launch = {
        .kernel = kernel,
        .grid = {(unsigned)((p->n + waves - 1) / waves), (unsigned)wick__min(columns, MOST_BLOCKS_Y)}};
    return wick__gpu_launch(gpu, &launch, &copy);
}

/* Whether rows of weights are read by words. */
static bool has_words(const struct gpu_linear_quantised *p) {
    switch (p->type) {
#define TAKES(name) case (uint32_t)WICK_DTYPE_##name - (uint32_t)WICK_DTYPE_q4_0:
        GPU_QUANTISED_WORD_TYPES(TAKES)
#undef TAKES
        return p->aligned;
    default: return false;
    }
}

/* Whether rows of weights and the activations can be had by loads of 16 bytes. */
static bool has_stream(const struct gpu_linear_quantised *p) {
    switch (p->type) {
#define TAKES(name) case (uint32_t)WICK_DTYPE_##name - (uint32_t)WICK_DTYPE_q4_0:
        GPU_QUANTISED_STREAM_TYPES(TAKES)
#undef TAKES
        return p->n <= INT32_MAX && (uintptr_t)p->x % 16 == 0 && (uintptr_t)p->weight % 16 == 0 &&
               p->row_nbytes % 16 == 0 && (uintptr_t)p->norm % 16 == 0;
    default: return false;
    }
}

/* Whether blocks round one row of activations for themselves. */
static bool is_vector(const struct gpu_linear_quantised *p) {
    return p->m == 1 && p->k <= GPU_QUANTISED_VECTOR && (has_stream(p) || has_words(p));
}

/* One row of activations. Blocks of a later turn would round them again. */
static enum wick_status multiply_vector(struct wick__gpu *gpu, const struct gpu_linear_quantised *p,
                                        enum wick_dtype dtype) {
    enum { RESIDENT = 2 }; /* blocks of a unit */
    struct gpu_linear_quantised copy = *p;
    int64_t waves = GPU_BLOCK / gpu->properties.wave, units = wick__max(1, gpu->properties.units);
    enum wick__gpu_kernel bf16 = has_stream(p) ? WICK__GPU_K_stream_8_bit_bf16 : WICK__GPU_K_vector_8_bit_bf16;
    struct wick__launch launch = {.kernel = of_plain(bf16, dtype),
                                  .grid = {(unsigned)wick__min((p->n + waves - 1) / waves, units * RESIDENT)}};
    return wick__gpu_launch(gpu, &launch, &copy);
}

/* Rounds the activations first, into scratch memory. */
static enum wick_status multiply_8_bit(struct wick__gpu *gpu, struct gpu_linear_quantised *p, enum wick_dtype dtype) {
    int64_t scales = p->m * (p->k / QUANTUM);
    size_t nbytes = (size_t)scales * (QUANTUM + sizeof(float));
    void *scratch;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &scratch));
    struct gpu_activations rounded = {
        .x = p->x, .q = scratch, .scale = (float *)((char *)scratch + scales * QUANTUM), .count = scales};
    struct wick__launch launch = {.kernel = of_plain(WICK__GPU_K_activations_8_bit_bf16, dtype),
                                  .grid = {wick__gpu_blocks(gpu, scales * QUANTUM, 4)}};
    enum wick_status status = wick__gpu_launch(gpu, &launch, &rounded);
    p->q = rounded.q;
    p->scale = rounded.scale;
    if (status == WICK_OK && p->m == 1) status = multiply(gpu, p, of_plain(WICK__GPU_K_row_8_bit_bf16, dtype), 1);
    if (status == WICK_OK && p->m > 1)
        status = multiply(gpu, p, of_plain(WICK__GPU_K_linear_8_bit_bf16, dtype), GPU_QUANTISED_COLUMNS);
    wick__gpu_release(gpu, scratch, nbytes);
    return status;
}

/* What weights and many rows of activations both become. Products of 8 bits by blocks take bf16, which errs less than
 * rounding activations to 8 bits, has the range of f32, and has matrix instructions. */
static enum wick_dtype common_dtype(const struct wick__call *call) {
    if (call->p.linear.products != WICK_PRODUCTS_8_BIT) return call->in[0]->dtype;
    return wick__has(WICK__BLOCKS, call->in[1]->dtype) ? WICK_BF16 : call->in[1]->dtype;
}

/* x in another dtype. NULL after a failure. */
static struct wick_tensor *convert(const struct wick_tensor *x, enum wick_dtype dtype) {
    if (x->dtype == dtype) return wick_retain(x);
    struct wick_tensor *y =
        wick__tensor_new("linear_quantised", wick__device(x), dtype, x->layout.rank, x->layout.shape);
    bool blocks = wick__has(WICK__BLOCKS, x->dtype);
    struct wick__call call = {
        .op = blocks ? WICK_OP_dequantise : WICK_OP_cast, .n_in = 1, .in = {x}, .n_out = 1, .out = {y}};
    if (!y || (blocks ? wick__gpu_dequantise : wick__gpu_cast)(&call) == WICK_OK) return y;
    wick_release(y);
    return NULL;
}

/* For many rows of activations: both operands become floats of one dtype, and a matrix product follows. */
static enum wick_status multiply_converted(struct wick__gpu *gpu, const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[1];
    enum wick_dtype dtype = common_dtype(call);
    struct wick_tensor *plain = convert(weight, dtype), *rows = plain ? convert(x, dtype) : NULL;
    enum wick_status status = rows ? WICK_OK : wick__latest();
    if (status == WICK_OK) {
        struct wick__call linear = *call;
        linear.op = WICK_OP_linear;
        linear.in[0] = rows;
        linear.in[1] = plain;
        struct wick__product g = wick__product_of(&linear);
        g.other_c = dtype != x->dtype;
        g.c_dtype = x->dtype;
        bool rounded = call->p.linear.products == WICK_PRODUCTS_8_BIT;
        status = rounded ? wick__gemm_own(gpu, &g) : wick__gemm_run(gpu, &g);
    }
    wick_release(plain);
    wick_release(rows);
    return status;
}

/* Weights of 16 bits by activations of f32. */
static enum wick_status multiply_wide(struct wick__gpu *gpu, const struct wick__call *call) {
    struct wick__call linear = *call;
    linear.op = WICK_OP_linear;
    struct wick__product g = wick__product_of(&linear);
    g.dtype = call->in[1]->dtype;
    g.constant_b = call->in[1]->storage->constant;
    return wick__gemm_wide_takes(&g) ? wick__gemm_wide(gpu, &g) : multiply_converted(gpu, call);
}

/* Exact products of 16-bit activations are those of f32 weights, for which there is no matrix product. */
static bool is_converted(const struct wick__gpu *gpu, const struct wick__call *call, int64_t m, int64_t k) {
    enum { MANY = 64, MANY_ROUNDED = 9 }; /* two passes over the weights by columns take less */
    if (call->p.linear.products == WICK_PRODUCTS_8_BIT)
        return m >= MANY_ROUNDED && wick__has_mma(gpu) && k > 0 && k < INT32_MAX;
    return m >= MANY && call->in[0]->dtype == WICK_F32;
}

wick__kernel_fn wick__gpu_linear_quantised, wick__gpu_normalize;

/* With a norm ahead that is an op of its own. */
static enum wick_status multiply_of_norm(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick_tensor *y =
        wick__tensor_new("linear_quantised", wick__device(x), x->dtype, x->layout.rank, x->layout.shape);
    struct wick__call norm = {.op = WICK_OP_rms_norm,
                              .n_in = 2,
                              .in = {x, call->in[3]},
                              .n_out = 1,
                              .out = {y},
                              .p.norm = {.epsilon = call->p.linear.epsilon, .axes = 1}};
    struct wick__call linear = *call;
    linear.in[0] = y;
    linear.in[3] = NULL;
    if (!y) return wick__latest();
    enum wick_status status = wick__gpu_normalize(&norm);
    if (status == WICK_OK) status = wick__gpu_linear_quantised(&linear);
    wick_release(y);
    return status;
}

enum wick_status wick__gpu_linear_quantised(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2], *y = call->out[0];
    const struct wick__traits *traits = &wick__traits[weight->dtype];
    struct wick__gpu *gpu = wick__gpu_of(y);
    int64_t count = wick__count(y), k = weight->layout.shape[1], n = weight->layout.shape[0];
    if (count == 0) return WICK_OK;
    if (!wick__has(WICK__BLOCKS, weight->dtype)) return multiply_wide(gpu, call);
    if (call->p.linear.products == WICK_PRODUCTS_8_BIT && wick__tiles_take(gpu, call))
        return wick__tiles_multiply(gpu, call);
    if (is_converted(gpu, call, count / n, k)) return multiply_converted(gpu, call);
    struct gpu_linear_quantised p = {.x = wick__data(x),
                                     .weight = wick__data(weight),
                                     .bias = bias ? wick__data(bias) : NULL,
                                     .out = wick__data(y),
                                     .m = count / n,
                                     .n = n,
                                     .k = k,
                                     .row_nbytes = k / traits->elements * traits->nbytes,
                                     .type = type_of(weight->dtype),
                                     .nbytes = (uint32_t)traits->nbytes,
                                     .per_block_log2 = (uint32_t)__builtin_ctz((unsigned)traits->elements / 16),
                                     .activation = (uint32_t)call->p.linear.activation,
                                     .early =
                                         weight->storage->constant && (!call->in[3] || call->in[3]->storage->constant),
                                     .norm = call->in[3] ? wick__data(call->in[3]) : NULL,
                                     .epsilon = call->p.linear.epsilon};
    p.aligned = is_aligned(p.weight, p.nbytes);
    bool rounded = call->p.linear.products == WICK_PRODUCTS_8_BIT && k > 0;
    if (p.norm && !(k <= GPU_QUANTISED_NORMED && has_stream(&p))) return multiply_of_norm(call);
    if (rounded && is_vector(&p)) return multiply_vector(gpu, &p, x->dtype);
    if (rounded) return multiply_8_bit(gpu, &p, x->dtype);
    return multiply(gpu, &p, of_plain(WICK__GPU_K_linear_quantised_bf16, x->dtype), GPU_QUANTISED_COLUMNS);
}
