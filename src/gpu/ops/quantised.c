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
               p->row_nbytes % 16 == 0;
    default: return false;
    }
}

/* Whether blocks round one row of activations for themselves. */
static bool is_vector(const struct gpu_linear_quantised *p) { return p->m == 1 && p->k <= GPU_QUANTISED_VECTOR; }

enum { RESIDENT = 2 }; /* blocks of a unit; those of a later turn would round the activations again */

/* One row of activations. */
static enum wick_status multiply_vector(struct wick__gpu *gpu, const struct gpu_linear_quantised *p,
                                        enum wick_dtype dtype) {
    struct gpu_linear_quantised copy = *p;
    int64_t waves = GPU_BLOCK / gpu->properties.wave, units = wick__max(1, gpu->properties.units);
    struct wick__launch launch = {.kernel = of_plain(WICK__GPU_K_vector_8_bit_bf16, dtype),
                                  .grid = {(unsigned)wick__min((p->n + waves - 1) / waves, units * RESIDENT)}};
    return wick__gpu_launch(gpu, &launch, &copy);
}

/* What a wave of `blocks` blocks reads at most. */
static int64_t most_read(const struct gpu_stream_part *part, int64_t blocks, int64_t waves) {
    return wick__div_up(part->n, blocks * waves) * part->row_nbytes;
}

/* Deals the blocks that run at once to the parts, so that waves of both read as little as possible. */
static void deal_blocks(const struct wick__gpu *gpu, struct gpu_stream *stream) {
    struct gpu_stream_part *part = stream->part;
    int64_t waves = GPU_BLOCK / gpu->properties.wave, all = wick__max(1, gpu->properties.units) * RESIDENT;
    int64_t wanted[2] = {wick__div_up(part[0].n, waves), wick__div_up(part[1].n, waves)}, least = INT64_MAX;
    part[0].blocks = (u32)wick__min(wanted[0], all);
    part[1].blocks = (u32)wick__min(wanted[1], all);
    if (wanted[0] == 0 || wanted[1] == 0 || wanted[0] + wanted[1] <= all) return;
    for (int64_t blocks = 1; blocks < all; blocks++) {
        int64_t most = wick__max(most_read(&part[0], all - blocks, waves), most_read(&part[1], blocks, waves));
        if (most >= least) continue;
        least = most;
        part[0].blocks = (u32)(all - blocks);
        part[1].blocks = (u32)blocks;
    }
}

/* Whether no kernel writes an operand, or there is none. */
static bool is_constant(const struct wick_tensor *x) { return !x || x->storage->constant; }

/* Makes swiglu of a row and rounds it to 8 bits. */
static enum wick_status round_swiglu(struct wick__gpu *gpu, const struct gpu_linear_quantised *part,
                                     struct gpu_stream_image *to) {
    enum { THREADS = 64 }; /* few, so that more units read and blocks begin early */
    struct gpu_stream_swiglu p = {.x = part->x, .to = to, .k = (u32)part->k, .type = part->type};
    struct wick__launch launch = {.kernel = WICK__GPU_K_stream_swiglu,
                                  .grid = {(unsigned)wick__div_up(part->k, 16 * THREADS)},
                                  .threads = THREADS};
    return wick__gpu_launch(gpu, &launch, &p);
}

/* Whether a part without rows, or of a usual type. */
static bool is_usual(const struct gpu_stream_part *part) {
    switch (part->type) {
#define TAKES(name) case (uint32_t)WICK_DTYPE_##name - (uint32_t)WICK_DTYPE_q4_0:
        GPU_QUANTISED_USUAL_TYPES(TAKES)
#undef TAKES
        return true;
    default: return part->n == 0;
    }
}
static enum wick__gpu_kernel stream_kernel(const struct gpu_stream *stream, enum wick_dtype dtype) {
    bool usual = dtype == WICK_F32 && is_usual(&stream->part[0]) && is_usual(&stream->part[1]);
    return usual ? WICK__GPU_K_stream_usual : of_plain(WICK__GPU_K_stream_8_bit_bf16, dtype);
}

/* One row of activations, by one or two weights (n of the second is 0 else). */
static enum wick_status multiply_stream(struct wick__gpu *gpu, const struct wick__call *call,
                                        const struct gpu_linear_quantised parts[2]) {
    const struct wick_tensor *x = call->in[0], *norm = call->in[3];
    struct gpu_stream stream = {.x = wick__data(x),
                                .norm = norm ? wick__data(norm) : NULL,
                                .epsilon = call->p.linear.epsilon,
                                .k = (u32)parts->k,
                                .activation = parts->activation,
                                .early = is_constant(call->in[1]) && is_constant(norm) && is_constant(call->in[4])};
    for (int i = 0; i < 2; i++)
        stream.part[i] = (struct gpu_stream_part){.weight = parts[i].weight,
                                                  .bias = parts[i].bias,
                                                  .out = parts[i].out,
                                                  .n = (u32)parts[i].n,
                                                  .row_nbytes = (u32)parts[i].row_nbytes,
                                                  .type = parts[i].type};
    deal_blocks(gpu, &stream);
    struct wick__launch launch = {.kernel = stream_kernel(&stream, x->dtype),
                                  .grid = {stream.part[0].blocks + stream.part[1].blocks}};
    if (!call->p.linear.swiglu) return wick__gpu_launch(gpu, &launch, &stream);
    void *rounded;
    WICK__TRY(wick__gpu_scratch(gpu, sizeof(struct gpu_stream_image), &rounded));
    enum wick_status status = round_swiglu(gpu, parts, rounded);
    stream.rounded = rounded;
    if (status == WICK_OK) status = wick__gpu_launch(gpu, &launch, &stream);
    wick__gpu_release(gpu, rounded, sizeof(struct gpu_stream_image));
    return status;
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

/* The same for a single row after a norm, which blocks make for themselves. */
static bool is_normed_wide(const struct wick__call *call) {
    const struct wick_tensor *weight = call->in[1];
    int64_t k = weight->layout.shape[1], n = weight->layout.shape[0];
    uintptr_t at =
        (uintptr_t)wick__data(call->in[0]) | (uintptr_t)wick__data(weight) | (uintptr_t)wick__data(call->in[3]);
    return k > 0 && k % 8 == 0 && k <= GPU_NORMED && n <= INT32_MAX && at % 16 == 0;
}
static enum wick_status multiply_normed_wide(struct wick__gpu *gpu, const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2], *norm = call->in[3];
    int64_t n = weight->layout.shape[0], waves = GPU_BLOCK / gpu->properties.wave;
    struct gpu_gemv_normed p = {.rows = (u32)n,
                                .k = (u32)weight->layout.shape[1],
                                .early = is_constant(weight) && is_constant(norm),
                                .matrix = wick__data(weight),
                                .vector = wick__data(x),
                                .norm = wick__data(norm),
                                .epsilon = call->p.linear.epsilon,
                                .out = {.to = wick__data(call->out[0]),
                                        .bias = bias ? wick__data(bias) : NULL,
                                        .bias_step = 1,
                                        .columns = n,
                                        .activation = (u32)call->p.linear.activation}};
    int64_t blocks = wick__div_up(wick__div_up(n, GPU_WIDE_ROWS), waves);
    struct wick__launch launch = {
        .kernel = weight->dtype == WICK_BF16 ? WICK__GPU_K_gemv_normed_bf16 : WICK__GPU_K_gemv_normed_f16,
        .grid = {(unsigned)wick__min(blocks, wick__max(1, gpu->properties.units) * RESIDENT)}};
    return wick__gpu_launch(gpu, &launch, &p);
}

/* Exact products of 16-bit activations are those of f32 weights, for which there is no matrix product. */
static bool is_converted(const struct wick__gpu *gpu, const struct wick__call *call, int64_t m, int64_t k) {
    enum { MANY = 64, MANY_ROUNDED = 9 }; /* two passes over the weights by columns take less */
    if (call->p.linear.products == WICK_PRODUCTS_8_BIT)
        return m >= MANY_ROUNDED && wick__has_mma(gpu) && k > 0 && k < INT32_MAX;
    return m >= MANY && call->in[0]->dtype == WICK_F32;
}

wick__kernel_fn wick__gpu_linear_quantised, wick__gpu_normalize, wick__gpu_binary;

/* The same call by y, a row of k, in place of what becomes it. */
static enum wick_status multiply_behind(const struct wick__call *call, struct wick_tensor *y, wick__kernel_fn *make,
                                        const struct wick__call *made) {
    struct wick__call linear = *call;
    linear.in[0] = y;
    linear.in[3] = NULL;
    linear.p.linear.swiglu = false;
    enum wick_status status = make(made);
    return status == WICK_OK ? wick__gpu_linear_quantised(&linear) : status;
}

/* What comes ahead of the weights by an op of its own: a norm, or swiglu of the halves of a row. */
static enum wick_status multiply_in_steps(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    int64_t k = call->in[1]->layout.shape[1];
    struct wick_tensor *y = wick__tensor_new("linear_quantised", wick__device(x), x->dtype, 2, (const int64_t[]){1, k});
    if (!y) return wick__latest();
    struct wick__call made = {.op = WICK_OP_rms_norm,
                              .n_in = 2,
                              .in = {x, call->in[3]},
                              .n_out = 1,
                              .out = {y},
                              .p.norm = {.epsilon = call->p.linear.epsilon, .axes = 1}};
    enum wick_status status;
    if (call->p.linear.swiglu) {
        struct wick_tensor *gate = wick__tensor_view(x, &y->layout), *up = wick__tensor_view(x, &y->layout);
        if (gate && up) {
            gate->layout.offset = x->layout.offset;
            up->layout.offset = x->layout.offset + k;
            made = (struct wick__call){.op = WICK_OP_swiglu, .n_in = 2, .in = {gate, up}, .n_out = 1, .out = {y}};
        }
        status = gate && up ? multiply_behind(call, y, wick__gpu_binary, &made) : wick__latest();
        wick_release(gate);
        wick_release(up);
    } else {
        status = multiply_behind(call, y, wick__gpu_normalize, &made);
    }
    wick_release(y);
    return status;
}

/* The product with one of two weights, whose results and biases begin at column `first`. */
static struct gpu_linear_quantised part_of(const struct wick__call *call, const struct wick_tensor *weight,
                                           int64_t first) {
    const struct wick_tensor *x = call->in[0], *bias = call->in[2], *y = call->out[0];
    const struct wick__traits *traits = &wick__traits[weight->dtype];
    int64_t k = weight->layout.shape[1], at = first * (int64_t)wick__size(x->dtype);
    struct gpu_linear_quantised p = {.x = wick__data(x),
                                     .weight = wick__data(weight),
                                     .bias = bias ? (char *)wick__data(bias) + at : NULL,
                                     .out = (char *)wick__data(y) + at,
                                     .m = wick__count(y) / y->layout.shape[y->layout.rank - 1],
                                     .n = weight->layout.shape[0],
                                     .k = k,
                                     .row_nbytes = k / traits->elements * traits->nbytes,
                                     .type = type_of(weight->dtype),
                                     .nbytes = (uint32_t)traits->nbytes,
                                     .per_block_log2 = (uint32_t)__builtin_ctz((unsigned)traits->elements / 16),
                                     .activation = (uint32_t)call->p.linear.activation};
    p.aligned = is_aligned(p.weight, p.nbytes);
    return p;
}

/* With products of 8 bits, or exact ones. */
static enum wick_status multiply_part(struct wick__gpu *gpu, struct gpu_linear_quantised *p, bool rounded,
                                      enum wick_dtype dtype) {
    if (!rounded || p->k == 0)
        return multiply(gpu, p, of_plain(WICK__GPU_K_linear_quantised_bf16, dtype), GPU_QUANTISED_COLUMNS);
    return is_vector(p) && has_words(p) ? multiply_vector(gpu, p, dtype) : multiply_8_bit(gpu, p, dtype);
}

enum wick_status wick__gpu_linear_quantised(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[1], *norm = call->in[3];
    const struct wick_tensor *more = call->in[4], *y = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(y);
    int64_t k = weight->layout.shape[1];
    bool rounded = call->p.linear.products == WICK_PRODUCTS_8_BIT;
    if (wick__count(y) == 0) return WICK_OK;
    if (!wick__has(WICK__BLOCKS, weight->dtype)) {
        if (!norm) return multiply_wide(gpu, call);
        return is_normed_wide(call) ? multiply_normed_wide(gpu, call) : multiply_in_steps(call);
    }
    struct gpu_linear_quantised parts[2] = {part_of(call, weight, 0)};
    if (more) parts[1] = part_of(call, more, weight->layout.shape[0]); /* x is a single row */
    if (rounded && !more && wick__tiles_take(gpu, call)) return wick__tiles_multiply(gpu, call);
    if (is_converted(gpu, call, parts[0].m, k)) return multiply_converted(gpu, call);
    bool stream = rounded && k > 0 && is_vector(&parts[0]) && has_stream(&parts[0]) && (!more || has_stream(&parts[1]));
    if (call->p.linear.swiglu && (!stream || more)) return multiply_in_steps(call);
    if (norm && !(stream && k <= GPU_QUANTISED_NORMED && (uintptr_t)wick__data(norm) % 16 == 0))
        return multiply_in_steps(call);
    if (stream) return multiply_stream(gpu, call, parts);
    WICK__TRY(multiply_part(gpu, &parts[0], rounded, x->dtype));
    return more ? multiply_part(gpu, &parts[1], rounded, x->dtype) : WICK_OK;
}
