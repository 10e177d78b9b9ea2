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

/* The gradient of q, or those of k and v. */
static enum wick_status launch(struct wick__gpu *gpu, const struct wick__call *call,
                               const struct wick__attention_sizes *sizes, struct gpu_attention_backward_bulk *p,
                               enum gpu_attention_of of) {
    const bool of_keys = of != GPU_ATTENTION_OF_Q, f16 = call->in[1]->dtype == WICK_F16;
    const int64_t dim = wick__max(sizes->depth, sizes->width), rows = GPU_BACKWARD_BULK_ROWS;
    const int64_t positions = of_keys ? sizes->keys : sizes->queries;
    const int64_t heads = of_keys ? p->all.key_heads : p->all.a.heads;
    p->all.of = of;
    p->all.out = wick__data(call->out[of]);
    p->all.out_v = wick__data(call->out[GPU_ATTENTION_OF_V]);
    p->all.a.tiles = (u32)(sizes->packed ? positions / rows + sizes->sequences : wick__div_up(positions, rows));
    p->blocks = (u32)(sizes->batches * heads * p->all.a.tiles);
    /* Heads of q that share keys look at the same ones; a head of keys looks at the queries of all that share it. */
    const int64_t others = of_keys ? sizes->queries * p->all.a.group : wick__div_up(sizes->keys, p->all.a.group);
    p->all.a.across = 1;
    if (!sizes->packed && p->all.a.tiles > 1 && p->all.a.right < sizes->keys)
        p->all.a.across =
            wick__gpu_attention_across(sizes->batches * heads, others * (sizes->depth + sizes->width) * 2);
    const int way = of_keys * 3 + (dim > 64) + (dim > 96); /* as attention_backward_bulk.def has them */
    const struct wick__launch launch = {.kernel = WICK__GPU_K_attention_backward_bulk_q_64_bf16 + way * 2 + f16,
                                        .grid = {(unsigned)wick__min(p->blocks, gpu->properties.units)},
                                        .threads = GPU_BACKWARD_BULK_THREADS,
                                        .shared = (unsigned)GPU_BACKWARD_BULK_SHARED(dim),
                                        .apart = true};
    return wick__gpu_launch(gpu, &launch, p);
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
    p.pair_rows = (u32)(wick__round_up(sizes->queries, 64) + (sizes->packed ? 64 * sizes->sequences : 0));
    p.pairs_end = (u32)sizes->batches * p.all.a.heads * p.pair_rows;
    const size_t nbytes = (size_t)p.pairs_end * 8;
    const struct wick__launch fill = {.kernel = call->in[1]->dtype == WICK_BF16 ? WICK__GPU_K_attention_pairs_bf16
                                                                                : WICK__GPU_K_attention_pairs_f16,
                                      .grid = {wick__gpu_blocks(gpu, p.pairs_end, 1)}};
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &p.pairs));
    p.all.of = GPU_ATTENTION_OF_Q;
    enum wick_status status = wick__gpu_launch(gpu, &fill, &p);
    if (status == WICK_OK) status = launch(gpu, call, sizes, &p, GPU_ATTENTION_OF_Q);
    if (status == WICK_OK) status = launch(gpu, call, sizes, &p, GPU_ATTENTION_OF_K);
    wick__gpu_release(gpu, p.pairs, nbytes);
    return status;
}
