/* rope, rope_thd: pairs by pairs, or by vectors where everything is aligned. */
#include "gpu/runtime/gpu.h"
#include "kernels/rope.h"

/* The layout of a table over x's dims but the last, which counts items of `step` of its elements. */
static struct wick__layout table_layout(const struct wick_tensor *table, const struct wick__layout *x, int time_dim,
                                        int64_t items, int64_t step) {
    const struct wick__layout *t = &table->layout;
    struct wick__layout layout = *x;
    layout.stride[0] = t->rank == 3 ? t->stride[0] : 0;
    layout.stride[1] = layout.stride[2] = 0;
    layout.stride[time_dim] = t->stride[t->rank - 2];
    layout.shape[3] = items;
    layout.stride[3] = step;
    return layout;
}

/* Whether an operand is at a multiple of 16 bytes wherever its rows begin. */
static bool aligned(const struct wick_tensor *x, int64_t per_vector) {
    bool all = wick__aligned16(wick__data(x));
    for (int d = 0; d < x->layout.rank - 1; d++) all = all && x->layout.stride[d] % per_vector == 0;
    return all;
}

wick__kernel_fn wick__gpu_rope;
enum wick_status wick__gpu_rope(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *cosine = call->in[1], *sine = call->in[2];
    struct wick_tensor *out = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(out);
    int64_t width = x->layout.shape[3], half = width / 2, per_vector = 16 / (int)wick__size(x->dtype);
    int time_dim = call->op == WICK_OP_rope ? 2 : 1;
    bool interleaved = call->p.rope.interleaved;
    struct gpu_rope p = {.x = wick__data(x),
                         .cosine = wick__data(cosine),
                         .sine = wick__data(sine),
                         .out = wick__data(out),
                         .apart = half,
                         .interleaved = interleaved};
    if (wick__count(out) == 0) return WICK_OK;
    p.vectors = aligned(x, per_vector) && aligned(out, per_vector) && (interleaved ? width : half) % per_vector == 0 &&
                (interleaved || (aligned(cosine, per_vector) && aligned(sine, per_vector)));
    int64_t pairs = !p.vectors ? 1 : interleaved ? per_vector / 2 : per_vector;
    int64_t items = half / pairs;
    struct wick__layout layouts[4] = {x->layout, out->layout, table_layout(cosine, &x->layout, time_dim, items, pairs),
                                      table_layout(sine, &x->layout, time_dim, items, pairs)};
    for (int i = 0; i < 2; i++) {
        layouts[i].shape[3] = items;
        layouts[i].stride[3] = interleaved ? 2 * pairs : pairs;
    }
    wick__gpu_shape(layouts, 4, &p.shape, p.layout);
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_rope_bf16, x->dtype),
                                  .grid = {wick__gpu_blocks(gpu, p.shape.count, 2)}};
    return wick__gpu_launch(gpu, &launch, &p);
}
