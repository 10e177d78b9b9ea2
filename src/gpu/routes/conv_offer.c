/* A convolution as libraries take it, offered to the routes. */
#include "gpu/routes/conv.h"

#include "core/checked.h"

/* The tensors of a call by the part that they have in a convolution of x by w to y. */
struct parts {
    enum wick__conv_way way;
    const struct wick_tensor *x, *w, *y;
};

static struct parts parts_of(const struct wick__call *call) {
    const struct wick_tensor *const *in = call->in, *out = call->out[0];
    switch (call->op) {
    case WICK_OP_conv1d:
    case WICK_OP_conv2d:
    case WICK_OP_conv3d: return (struct parts){WICK__CONV_FORWARD, in[0], in[1], out};
    case WICK_OP_conv_transpose1d:
    case WICK_OP_conv_transpose2d:
    case WICK_OP_conv_transpose3d: return (struct parts){WICK__CONV_DATA, out, in[1], in[0]};
    case WICK_OP_conv1d_backward_weight:
    case WICK_OP_conv2d_backward_weight:
    case WICK_OP_conv3d_backward_weight: return (struct parts){WICK__CONV_WEIGHT, in[1], out, in[0]};
    default: return (struct parts){WICK__CONV_WEIGHT, in[0], out, in[1]}; /* of a transposed one */
    }
}

/* The call as libraries take it: of one spatial dim as of two, the first of one element. */
static struct wick__dnn_conv describe(const struct wick__call *call) {
    const struct parts p = parts_of(call);
    const int64_t groups = call->p.window.groups, *w = p.w->layout.shape;
    const int from = call->p.window.spatial == 1 ? 1 : 0;
    struct wick__dnn_conv c = {.way = p.way,
                               .dtype = call->out[0]->dtype,
                               .spatial = call->p.window.spatial + from,
                               .n = p.x->layout.shape[0],
                               .groups = groups,
                               .cin = w[1],
                               .cout = w[0] / groups,
                               .in = {1},
                               .out = {1},
                               .kernel = {1},
                               .stride = {1},
                               .dilation = {1}};
    for (int s = 0; s < call->p.window.spatial; s++) {
        c.in[s + from] = p.x->layout.shape[2 + s];
        c.out[s + from] = p.y->layout.shape[2 + s];
        c.kernel[s + from] = w[2 + s];
        /* A stride past the end of x leaves one window, however large it is, and the dilation of a single tap means
         * nothing. */
        c.padding[s + from] = call->p.window.padding[s];
        c.stride[s + from] =
            wick__min(call->p.window.stride[s], wick__max(1, c.in[s + from] + 2 * c.padding[s + from]));
        c.dilation[s + from] = w[2 + s] == 1 ? 1 : call->p.window.dilation[s];
    }
    return c;
}

static enum wick_status again(struct wick__gpu *gpu, const struct wick__offer *offer) {
    const struct wick__conv_offer *o = (const struct wick__conv_offer *)offer;
    (void)gpu;
    return o->whole(o->call);
}

enum wick_status wick__conv_run(const struct wick__call *call, wick__kernel_fn *whole, wick__pack_fn *pack, bool *done,
                                bool *rest) {
    const struct parts p = parts_of(call);
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    struct wick__conv_offer o = {
        .offer = {.dtype = call->out[0]->dtype, .again = again}, .call = call, .whole = whole, .pack = pack};
    *done = *rest = false;
    if (!gpu->vendor->dnn.create) return WICK_OK;
    o.c = describe(call);
    if (wick__count(p.x) > 0 && wick__count(p.w) > 0 && wick__count(p.y) > 0) {
        o.c.x = wick__data(p.x);
        o.c.w = wick__data(p.w);
        o.c.y = wick__data(p.y);
        if (p.way != WICK__CONV_WEIGHT && call->in[2]) o.c.bias = wick__data(call->in[2]);
        o.c.relu = p.way != WICK__CONV_WEIGHT && call->p.window.relu;
    }
    if (!wick__layout_is_contiguous(&p.x->layout)) o.images[0] = p.x;
    if (!wick__layout_is_contiguous(&p.y->layout)) o.images[1] = p.y;
    o.c.last = o.images[0] || o.images[1];
    enum wick_status status = wick__routes_run(gpu, WICK__CONV_ROUTE, WICK__CONV_ROUTE, &o.offer, done);
    *rest = o.rest;
    return status;
}
