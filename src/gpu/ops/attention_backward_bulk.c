/* The gradients of attention of bf16 and f16 whose operands come to LDS by bulk tensor copies
 * (kernels/attention_backward_bulk.hip). */
#include "gpu/ops/attention.h"
#include "gpu/ops/gemm.h"

#include "core/checked.h"

#include <string.h>

/* What bulk copies are of: q, k and v, and the gradient of out. */
enum { Q, K, V, G, OPERANDS };

static void describe(const struct wick__call *call, const struct wick__attention_sizes *sizes,
                     struct wick__attention_operand x[OPERANDS]) {
    static const int number[OPERANDS] = {1, 2, 3, 0};
    for (int i = 0; i < OPERANDS; i++) {
        const struct wick_tensor *t = call->in[number[i]];
        bool of_keys = i == K || i == V;
        x[i] = (struct wick__attention_operand){.data = wick__data(t),
                                                .dtype = t->dtype,
                                                .size = {sizes->batches, t->layout.shape[1],
                                                         of_keys ? sizes->keys : sizes->queries,
                                                         i == Q || i == K ? sizes->depth : sizes->width}};
        wick__gpu_attention_strides(x[i].stride, t, sizes->packed);
    }
}

bool wick__gpu_attention_backward_bulk_takes(struct wick__gpu *gpu, const struct wick__call *call,
                                             const struct wick__attention_sizes *sizes) {
    struct wick__attention_operand x[OPERANDS];
    const int64_t lines = sizes->batches * call->in[1]->layout.shape[1];
    const int64_t most = wick__max(sizes->queries, sizes->keys);
    if (!gpu->properties.maps || wick__capability(gpu) != 90 || lines > WICK__MAP_MOST / (most + 64 * sizes->sequences))
        return false; /* the kernel divides in 32 bits */
    if (sizes->depth % 2 != 0 || sizes->width % 2 != 0) return false;
    if (call->in[call->n_in - 1] || (!sizes->packed && call->in[sizes->mask])) return false; /* slopes, mask */
    if (call->p.attention.soft_cap > 0 || !(call->p.attention.scale > 0)) return false;
    describe(call, sizes, x);
    for (int i = 0; i < OPERANDS; i++)
        if (!wick__gpu_attention_has_map(x + i)) return false;
    return wick__gpu_is_native(gpu, WICK__GPU_M_attention_backward_bulk);
}

/* Tiles of `rows` positions of each head, of q or of k. */
static void cut(const struct wick__attention_sizes *sizes, struct gpu_attention_backward_bulk *p,
                enum gpu_attention_of of, int64_t rows) {
    const bool of_q = of == GPU_ATTENTION_OF_Q;
    const int64_t positions = of_q ? sizes->queries : sizes->keys;
    p->all.of = of;
    p->all.a.tiles = (u32)(sizes->packed ? positions / rows + sizes->sequences : wick__div_up(positions, rows));
    p->blocks = (u32)(sizes->batches * (of_q ? p->all.a.heads : p->all.key_heads) * p->all.a.tiles);
}

/* Tiles and pairs, the gradients of k and v with the sums of that of q, and this gradient from its sums. */
static enum wick_status launch_all(struct wick__gpu *gpu, const struct wick__call *call,
                                   const struct wick__attention_sizes *sizes, struct gpu_attention_backward_bulk *p) {
    const int64_t dim = wick__max(sizes->depth, sizes->width);
    const int f16 = call->in[1]->dtype == WICK_F16, wide = dim > 64, widest = dim > 96; /* as the .def has kernels */
    p->all.out = wick__data(call->out[GPU_ATTENTION_OF_K]);
    p->all.out_v = wick__data(call->out[GPU_ATTENTION_OF_V]);
    if (!sizes->packed && p->all.a.tiles > 1)
        p->all.a.across = wick__gpu_attention_across(
            sizes->batches * p->all.key_heads, sizes->queries * p->all.a.group * (sizes->depth + sizes->width) * 2);
    const struct wick__launch fill = {.kernel = WICK__GPU_K_attention_pairs_bf16 + f16,
                                      .grid = {wick__gpu_blocks(gpu, wick__max(p->pairs_end, p->blocks), 1)}};
    const struct wick__launch keys = {.kernel = WICK__GPU_K_attention_backward_bulk_64_bf16 + (wide + widest) * 2 + f16,
                                      .grid = {(unsigned)wick__min(p->blocks, gpu->properties.units)},
                                      .threads = GPU_BACKWARD_BULK_THREADS,
                                      .shared = (unsigned)GPU_BACKWARD_BULK_SHARED(dim),
                                      .apart = true};
    WICK__TRY(wick__gpu_launch(gpu, &fill, p));
    WICK__TRY(wick__gpu_launch(gpu, &keys, p));
    cut(sizes, p, GPU_ATTENTION_OF_Q, GPU_BACKWARD_BULK_STEP);
    p->all.out = wick__data(call->out[GPU_ATTENTION_OF_Q]);
    p->all.a.across = 1;
    const struct wick__launch queries = {
        .kernel = WICK__GPU_K_attention_backward_bulk_q_64_bf16 + wide * 2 + f16, .grid = {p->blocks}, .threads = 128};
    return wick__gpu_launch(gpu, &queries, p);
}

enum wick_status wick__gpu_attention_backward_bulk(struct wick__gpu *gpu, const struct wick__call *call,
                                                   const struct wick__attention_sizes *sizes,
                                                   const struct gpu_attention_backward *all) {
    struct gpu_attention_backward_bulk p = {.all = *all, .tickets = gpu->tickets};
    struct gpu_tensor_map *maps[OPERANDS] = {&p.q, &p.k, &p.v, &p.gradient};
    struct wick__attention_operand x[OPERANDS];
    describe(call, sizes, x);
    int code = 0;
    for (int i = 0; i < OPERANDS && !code; i++)
        code = wick__gpu_attention_map(gpu, maps[i], x + i, GPU_BACKWARD_BULK_STEP);
    WICK__TRY(wick__gpu_check(gpu, code, "describe the operands of attention's gradients"));
    cut(sizes, &p, GPU_ATTENTION_OF_K, GPU_BACKWARD_BULK_ROWS);
    p.all.a.across = 1;
    p.pair_rows = (u32)(wick__round_up(sizes->queries, 64) + (sizes->packed ? 64 * sizes->sequences : 0));
    p.pairs_end = (u32)sizes->batches * p.all.a.heads * p.pair_rows;
    const size_t steps = p.pairs_end / GPU_BACKWARD_BULK_STEP, tiles = (size_t)p.blocks * GPU_BACKWARD_BULK_TILE;
    const size_t sums = steps * GPU_BACKWARD_BULK_SUMS(wick__max(sizes->depth, sizes->width)) * 4;
    const size_t pairs = (size_t)p.pairs_end * 8, nbytes = sums + pairs + tiles + steps * sizeof *p.notes;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &p.sums));
    p.pairs = (char *)p.sums + sums;
    p.tiles = (char *)p.pairs + pairs;
    p.notes = (u32 *)(void *)((char *)p.tiles + tiles);
    enum wick_status status = launch_all(gpu, call, sizes, &p);
    wick__gpu_release(gpu, p.sums, nbytes);
    return status;
}
