/* scaled_dot_product_attention. */
#include "gpu/ops/gemm.h"

#include "core/checked.h"
#include "kernels/attention.h"

#include <string.h>

/* The most blocks in x of one launch: the product with GPU_BLOCK must stay below 2^32. */
enum { BLOCKS_MAX = 1 << 23 };

static int64_t divide_up(int64_t x, int64_t by) { return x / by + (x % by != 0); }

static void set_strides(i64 to[4], const struct wick_tensor *x) { memcpy(to, x->layout.stride, 4 * sizeof *to); }

/* A kernel, the queries and columns of a block of it, and how it is launched. */
struct way {
    enum wick__gpu_kernel kernel;
    int64_t rows, columns;
    unsigned threads, shared;
};

/* Elements side by side, all else at multiples of 16 bytes. */
static bool is_aligned(const struct wick_tensor *x) {
    const struct wick__layout *layout = &x->layout;
    if (!wick__aligned16(wick__data(x)) || (layout->shape[3] > 1 && layout->stride[3] != 1)) return false;
    for (int d = 0; d < 3; d++)
        if (layout->shape[d] > 1 && layout->stride[d] % 8 != 0) return false;
    return true;
}

static struct way way_of(const struct wick__gpu *gpu, const struct wick__call *call) {
    const struct wick_tensor *q = call->in[0], *k = call->in[1], *v = call->in[2];
    int64_t dim = wick__max(q->layout.shape[3], v->layout.shape[3]);
    enum wick_dtype dtype = q->dtype;
    bool bf16 = dtype == WICK_BF16;
    if ((bf16 || dtype == WICK_F16) && wick__has_mma(gpu) && wick__mma_shared(gpu) > 0 && dim <= 256 &&
        q->layout.shape[3] > 0 && k->layout.shape[2] > 0 && k->layout.shape[2] < INT32_MAX && is_aligned(q) &&
        is_aligned(k) && is_aligned(v)) {
        /* LDS has the queries, and 64 or 32 keys and values. */
        if (dim <= 64)
            return (struct way){bf16 ? WICK__GPU_K_attention_mma_64_bf16 : WICK__GPU_K_attention_mma_64_f16, 128, 64,
                                128, (128 + 2 * 64) * 64 * 2};
        if (dim <= 128)
            return (struct way){bf16 ? WICK__GPU_K_attention_mma_128_bf16 : WICK__GPU_K_attention_mma_128_f16, 128, 128,
                                128, (128 + 2 * 32) * 128 * 2};
        return (struct way){bf16 ? WICK__GPU_K_attention_mma_256_bf16 : WICK__GPU_K_attention_mma_256_f16, 64, 256, 128,
                            (64 + 2 * 64) * 256 * 2};
    }
    return (struct way){wick__gpu_of_floats(WICK__GPU_K_attention_bf16, dtype), 64, dtype == WICK_F64 ? 64 : 128, 0, 0};
}

/* Shapes, strides and options; how rows are put into tiles. */
static struct gpu_attention describe(const struct wick__call *call, const struct way *way) {
    const struct wick_tensor *q = call->in[0], *k = call->in[1], *v = call->in[2], *mask = call->in[3];
    struct gpu_attention p = {
        .q = wick__data(q), .k = wick__data(k), .v = wick__data(v), .out = wick__data(call->out[0])};
    int64_t key_heads = k->layout.shape[1];
    set_strides(p.q_stride, q);
    set_strides(p.k_stride, k);
    set_strides(p.v_stride, v);
    if (mask) {
        p.mask = wick__data(mask);
        p.masked = mask->dtype == WICK_U8 ? GPU_ATTENTION_KEEP : GPU_ATTENTION_ADD;
        set_strides(p.mask_stride, mask);
    }
    p.heads = (u32)q->layout.shape[1];
    p.queries = q->layout.shape[2];
    p.depth = q->layout.shape[3];
    p.keys = k->layout.shape[2];
    p.width = v->layout.shape[3];
    p.group = key_heads > 0 ? (u32)(p.heads / key_heads) : 1;
    /* The heads that share keys go into one tile where one alone would not fill it. */
    p.merged = p.group > 1 && p.queries < way->rows;
    p.units = p.merged ? (u32)key_heads : p.heads;
    p.rows = p.merged ? p.group * p.queries : p.queries;
    p.tiles = (u32)divide_up(p.rows, way->rows);
    p.causal = call->p.attention.causal;
    p.scale = call->p.attention.scale;
    p.cap = call->p.attention.soft_cap;
    p.total = wick__count(call->out[0]) / p.width;
    return p;
}

/* Launches over all batches, a launch for as many as fit. */
static enum wick_status launch_batches(struct wick__gpu *gpu, const struct wick__call *call, struct wick__launch launch,
                                       struct gpu_attention p) {
    int64_t batches = call->in[0]->layout.shape[0], per_batch = (int64_t)p.tiles * p.units;
    int64_t step = wick__max(1, BLOCKS_MAX / per_batch), size = (int)wick__size(call->in[0]->dtype);
    int64_t mask_size = p.masked == GPU_ATTENTION_KEEP ? 1 : size;
    for (int64_t first = 0; first < batches; first += step) {
        launch.grid[0] = (unsigned)(wick__min(step, batches - first) * per_batch);
        WICK__TRY(wick__gpu_launch(gpu, &launch, &p));
        p.q = (const char *)p.q + step * p.q_stride[0] * size;
        p.k = (const char *)p.k + step * p.k_stride[0] * size;
        p.v = (const char *)p.v + step * p.v_stride[0] * size;
        if (p.mask) p.mask = (const char *)p.mask + step * p.mask_stride[0] * mask_size;
        p.out = (char *)p.out + step * p.heads * p.queries * p.width * size;
    }
    return WICK_OK;
}

/* Launches with the keys split into parts, which are joined after. */
static enum wick_status launch_splits(struct wick__gpu *gpu, const struct wick__call *call, struct wick__launch launch,
                                      struct gpu_attention p) {
    size_t sum = call->in[0]->dtype == WICK_F64 ? 8 : 4, stats = 2 * p.splits * (size_t)p.total * sum;
    size_t nbytes = stats + p.splits * (size_t)(p.total * p.width) * sum;
    struct wick__launch join = {.kernel = wick__gpu_of_floats(WICK__GPU_K_attention_join_bf16, call->in[0]->dtype),
                                .grid = {wick__gpu_blocks(gpu, p.total * p.width, 1)}};
    void *memory;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &memory));
    p.stats = memory;
    p.partial = (char *)memory + stats;
    enum wick_status status = launch_batches(gpu, call, launch, p);
    if (status == WICK_OK) status = wick__gpu_launch(gpu, &join, &p);
    wick__gpu_release(gpu, memory, nbytes);
    return status;
}

wick__kernel_fn wick__gpu_attention;
enum wick_status wick__gpu_attention(const struct wick__call *call) {
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    if (wick__count(call->out[0]) == 0) return WICK_OK;
    struct way way = way_of(gpu, call);
    struct gpu_attention p = describe(call, &way);
    int64_t chunks = divide_up(p.width, way.columns);
    int64_t blocks = call->in[0]->layout.shape[0] * p.units * p.tiles * chunks, units = gpu->properties.units;
    int64_t splits = blocks < units ? wick__min(2 * units / blocks, p.keys / 256) : 1;
    p.split = splits > 1 ? divide_up(divide_up(p.keys, splits), 64) * 64 : wick__max(1, p.keys);
    p.splits = (u32)wick__max(1, divide_up(p.keys, p.split));
    struct wick__launch launch = {
        .kernel = way.kernel, .grid = {0, p.splits, (unsigned)chunks}, .threads = way.threads, .shared = way.shared};
    return p.splits > 1 ? launch_splits(gpu, call, launch, p) : launch_batches(gpu, call, launch, p);
}
