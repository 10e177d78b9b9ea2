/* Attention offered to the routes. */
#include "gpu/ops/attention.h"

#include "gpu/routes/attention.h"

/* Batches, heads and positions of an operand, a size of 1 as if dense. Whether elements are side by side, and no stride
 * of 0 repeats what it steps over. */
static bool put_strides(int64_t to[3], const struct wick_tensor *x, int64_t heads) {
    const int64_t *shape = x->layout.shape, *stride = x->layout.stride;
    const int64_t sizes[3] = {shape[0], heads, shape[2]};
    bool whole = shape[3] == 1 || stride[3] == 1;
    for (int64_t d = 2, dense = shape[3]; d >= 0; dense *= sizes[d--]) {
        to[d] = sizes[d] == 1 ? dense : stride[d];
        whole = whole && to[d] > 0;
    }
    return whole;
}

static enum wick_status again(struct wick__gpu *gpu, const struct wick__offer *offer) {
    (void)gpu;
    return wick__gpu_attention_masked(((const struct wick__attention_offer *)offer)->call, NULL);
}

enum wick_status wick__gpu_attention_library(const struct wick__call *call, const struct wick__attention_sizes *sizes,
                                             bool *done) {
    const struct wick_tensor *const *in = call->in;
    const int64_t far = sizes->queries + sizes->keys, key_heads = wick__gpu_attention_key_heads(call);
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    *done = false;
    if (!gpu->vendor->attention_plan || call->p.attention.left < far || call->p.attention.right < far || key_heads == 0)
        return WICK_OK;
    struct wick__attention_offer o = {.offer = {.dtype = in[0]->dtype, .again = again}, .call = call, .whole = true};
    o.a = (struct wick__dnn_attention){.dtype = in[0]->dtype,
                                       .batches = sizes->batches,
                                       .heads = in[0]->layout.shape[1],
                                       .key_heads = key_heads,
                                       .queries = sizes->queries,
                                       .keys = sizes->keys,
                                       .depth = sizes->depth,
                                       .width = sizes->width,
                                       .scale = (float)call->p.attention.scale};
    const bool q = put_strides(o.a.q_stride, in[0], o.a.heads), k = put_strides(o.a.k_stride, in[1], key_heads);
    o.whole = put_strides(o.a.v_stride, in[2], key_heads) && q && k;
    if (wick__count(in[0]) > 0 && wick__count(in[1]) > 0 && wick__count(in[2]) > 0) {
        o.a.q = wick__data(in[0]);
        o.a.k = wick__data(in[1]);
        o.a.v = wick__data(in[2]);
        o.a.out = wick__data(call->out[0]);
        if (call->n_out > 1) o.a.log_sums = wick__data(call->out[1]);
    }
    return wick__routes_run(gpu, WICK__ATTENTION_ROUTE, WICK__ATTENTION_ROUTE, &o.offer, done);
}
