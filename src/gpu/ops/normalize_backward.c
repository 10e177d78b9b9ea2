/* Gradients of layer, RMS and group norm: the rows of x, then sums in parts for weight and bias, which are joined. Of
 * planes that begin anywhere, and of batch norm, first the sums. */
#include "gpu/ops/cast.h"
#include "gpu/ops/rows.h"

#include "core/checked.h"

#include "kernels/normalize_backward.h"

struct normalize_backward {
    struct wick__gpu *gpu;
    const struct wick__call *call;
    enum wick_dtype dtype;
    int64_t size, outer, channels;
    struct gpu_normalize_backward p;
};

/* The sizes of what was normalised together. */
static void set_sizes(struct normalize_backward *s, int64_t count) {
    const struct wick__call *call = s->call;
    const struct wick__layout *layout = &call->in[1]->layout;
    struct gpu_normalize_backward *p = &s->p;
    s->channels = p->plane = p->groups = 1;
    if (call->op == WICK_OP_group_norm_backward) {
        s->channels = layout->shape[1];
        p->plane = count / (layout->shape[0] * s->channels);
        p->groups = call->p.norm.groups;
    } else {
        for (int d = layout->rank - call->p.norm.axes; d < layout->rank; d++) s->channels *= layout->shape[d];
    }
    p->per = s->channels / p->groups;
    p->n = p->per * p->plane;
    p->rows = count / p->n;
    s->outer = count / (s->channels * p->plane);
    p->narrow = p->n < INT32_MAX;
    if (p->narrow) wick__gpu_divisor(&p->by_plane, (uint32_t)p->plane);
}

static void set_vectors(struct normalize_backward *s) {
    struct gpu_normalize_backward *p = &s->p;
    p->vectors = wick__aligned16(p->gradient) && wick__aligned16(p->x) && wick__aligned16(p->out) &&
                 (p->plane > 1 || wick__aligned16(p->weight)) && p->n * s->size % 16 == 0;
}

static enum wick_status rows(struct normalize_backward *s) {
    struct gpu_normalize_backward *p = &s->p;
    int64_t items = p->vectors ? p->n * s->size / 16 : p->n;
    p->group = wick__gpu_power((items + 1) / 2, GPU_BLOCK);
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_normalize_backward_rows_bf16, s->dtype)};
    wick__gpu_row_launch(s->gpu, &launch, p->rows, p->group);
    return wick__gpu_launch(s->gpu, &launch, p);
}

static enum wick_status pieces(const struct normalize_backward *s, const double *sums) {
    struct gpu_normalize_backward_pieces p = {.of = s->p, .sums = sums, .length = 32 * GPU_BLOCK * 16 / s->size};
    p.pieces = (s->p.n + p.length - 1) / p.length;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_normalize_backward_pieces_bf16, s->dtype)};
    wick__gpu_reduce_grid(&launch, s->p.rows * p.pieces);
    return wick__gpu_launch(s->gpu, &launch, &p);
}

static enum wick_status join(const struct normalize_backward *s, const double *sums, int64_t parts) {
    const struct wick__call *call = s->call;
    struct gpu_normalize_backward_join p = {.sums = sums,
                                            .weight = wick__data(call->out[1]),
                                            .bias = call->n_out > 2 ? wick__data(call->out[2]) : NULL,
                                            .channels = s->channels,
                                            .parts = parts};
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_normalize_backward_join_bf16, s->dtype)};
    launch.grid[0] = (unsigned)((s->channels + GPU_NORMALIZE_JOIN - 1) / GPU_NORMALIZE_JOIN);
    return wick__gpu_launch(s->gpu, &launch, &p);
}

/* Few long rows of many channels leave a device idle: they go in pieces, once each channel's sums are there. */
static bool by_channels(const struct normalize_backward *s) {
    enum { FEW = 512, LONG = 1 << 13, CHANNELS = 4 };
    return s->p.plane > 1 && s->p.rows < FEW && s->p.n >= LONG && s->p.per >= CHANNELS;
}

/* The sums: of each of outer where rows wait for them, otherwise in enough parts to fill a device, with some work for
 * each thread. */
static void cut(const struct normalize_backward *s, struct gpu_normalize_backward_sums *p) {
    const struct gpu_normalize_backward *row = &s->p;
    *p = (struct gpu_normalize_backward_sums){.gradient = row->gradient,
                                              .x = row->x,
                                              .mean = row->mean,
                                              .inverse = row->inverse,
                                              .outer = s->outer,
                                              .channels = s->channels,
                                              .plane = row->plane,
                                              .groups = row->groups,
                                              .per = row->per};
    bool points = row->plane == 1;
    p->lanes = points ? wick__gpu_power(s->channels, 32) : wick__gpu_power(row->plane, GPU_BLOCK);
    p->tiles = points ? (s->channels + p->lanes - 1) / p->lanes : s->channels;
    int64_t turn = GPU_BLOCK / p->lanes * 8, parts = wick__min((s->outer + turn - 1) / turn, 2048 / p->tiles);
    p->rows = by_channels(s) ? 1 : (s->outer + wick__max(1, parts) - 1) / wick__max(1, parts);
    p->parts = (s->outer + p->rows - 1) / p->rows;
}

static enum wick_status sum(const struct normalize_backward *s, struct gpu_normalize_backward_sums *p) {
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_normalize_backward_sums_bf16, s->dtype)};
    wick__gpu_reduce_grid(&launch, p->parts * p->tiles);
    return wick__gpu_launch(s->gpu, &launch, p);
}

/* ---- planes that begin anywhere ---- */

/* Whether the planes go by themselves: those of batch norm, and those that are no whole vectors, where they are worth
 * cutting and their sums are needed in any case. */
static bool by_planes(const struct normalize_backward *s) {
    enum { WORTH_VECTORS = 256 }; /* bytes */
    const struct gpu_normalize_backward *p = &s->p;
    int64_t bytes = p->plane * s->size;
    if (s->call->p.norm.batch) return true;
    if (p->plane == 1 || bytes % 16 == 0 || bytes < WORTH_VECTORS) return false;
    return by_channels(s) || (!p->vectors && s->call->n_out > 1);
}

/* Cuts planes into parts that fill a device, with some vectors for each thread. */
static void cut_planes(const struct normalize_backward *s, struct gpu_normalize_backward_planes *p) {
    enum { EACH = 4, BUSY = 1 << 18, PLENTY = 1 << 20, WHOLE = 64 };
    int64_t planes = s->outer * s->channels, vectors = (p->plane * s->size + 15) / 16;
    p->group = wick__gpu_power(vectors / EACH, GPU_BLOCK);
    while (p->group < GPU_BLOCK && p->group < vectors && planes * p->group < BUSY) p->group *= 2;
    int64_t most = wick__max(1, vectors / (EACH * GPU_BLOCK));
    p->pieces = wick__max(1, wick__min(BUSY / wick__min(BUSY, planes * p->group), most));
    p->length = (p->plane + p->pieces - 1) / p->pieces;
    if (p->pieces > 1) p->length = (p->length + WHOLE - 1) / WHOLE * WHOLE;
    p->pieces = (p->plane + p->length - 1) / p->length;
    p->rows = p->batch && p->pieces == 1 ? wick__max(1, planes / wick__max(1, PLENTY / p->group)) : 1;
    p->parts = (s->outer + p->rows - 1) / p->rows * p->pieces;
    p->joined = p->batch ? p->parts : p->pieces;
}

static enum wick_status launch_planes(const struct normalize_backward *s, enum wick__gpu_kernel kernel,
                                      struct gpu_normalize_backward_planes *p) {
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(kernel, s->dtype)};
    wick__gpu_row_launch(s->gpu, &launch, p->parts * s->channels, p->group);
    return wick__gpu_launch(s->gpu, &launch, p);
}

/* By a vendor's library. */
static enum wick_status by_route(const struct normalize_backward *s, const struct gpu_normalize_backward_planes *p,
                                 bool *done) {
    const struct wick__dnn_layer layer = {.kind = WICK__LAYER_NORM_BACKWARD,
                                          .dtype = s->dtype,
                                          .size = {p->outer, p->channels, 1, p->plane},
                                          .in = {p->gradient, p->x, p->mean, p->inverse, p->weight},
                                          .out = {p->out, p->weight_out, p->bias_out}};
    return wick__layer_run_narrow(s->gpu, &layer, 16 | 64 | 128, wick__gpu_convert, done); /* weight, gradients */
}

static enum wick_status planes(const struct normalize_backward *s) {
    const struct gpu_normalize_backward *row = &s->p;
    const struct wick__call *call = s->call;
    uintptr_t x = (uintptr_t)row->x, gradient = (uintptr_t)row->gradient, out = (uintptr_t)row->out;
    struct gpu_normalize_backward_planes p = {.gradient = row->gradient,
                                              .x = row->x,
                                              .out = row->out,
                                              .mean = row->mean,
                                              .inverse = row->inverse,
                                              .weight = row->weight,
                                              .outer = s->outer,
                                              .channels = s->channels,
                                              .plane = row->plane,
                                              .per = row->per,
                                              .groups = row->groups,
                                              .batch = call->p.norm.batch,
                                              .alike = (((x ^ out) | (gradient ^ out)) & 15) == 0};
    p.n = row->n * (p.batch ? s->outer : 1);
    if (p.batch && call->n_out > 1) p.weight_out = wick__data(call->out[1]);
    if (p.batch && call->n_out > 2) p.bias_out = wick__data(call->out[2]);
    if (p.batch) {
        bool done;
        WICK__TRY(by_route(s, &p, &done));
        if (done) return WICK_OK;
    }
    cut_planes(s, &p);
    size_t nbytes = sizeof(double) * 2 * (size_t)p.parts * (size_t)s->channels;
    void *sums;
    WICK__TRY(wick__gpu_scratch(s->gpu, nbytes, &sums));
    p.sums = sums;
    enum wick_status status = launch_planes(s, WICK__GPU_K_normalize_backward_plane_sums_bf16, &p);
    if (status == WICK_OK) status = launch_planes(s, WICK__GPU_K_normalize_backward_planes_bf16, &p);
    if (status == WICK_OK && !p.batch && call->n_out > 1) status = join(s, sums, p.parts);
    wick__gpu_release(s->gpu, sums, nbytes);
    return status;
}

static enum wick_status run(struct normalize_backward *s) {
    struct gpu_normalize_backward_sums p;
    bool first = by_channels(s), parameters = s->call->n_out > 1;
    if (!first) WICK__TRY(rows(s));
    if (!first && !parameters) return WICK_OK;
    cut(s, &p);
    size_t nbytes = sizeof(double) * 2 * (size_t)p.parts * (size_t)s->channels;
    void *sums;
    WICK__TRY(wick__gpu_scratch(s->gpu, nbytes, &sums));
    p.sums = sums;
    enum wick_status status = sum(s, &p);
    if (status == WICK_OK && first) status = pieces(s, sums);
    if (status == WICK_OK && parameters) status = join(s, sums, p.parts);
    wick__gpu_release(s->gpu, sums, nbytes);
    return status;
}

wick__kernel_fn wick__gpu_normalize_backward;
enum wick_status wick__gpu_normalize_backward(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[1];
    int first = call->op == WICK_OP_rms_norm_backward ? 2 : 3; /* the inverse deviation */
    const struct wick_tensor *weight = call->in[first + 1];
    int64_t count = wick__count(x);
    if (count == 0) return WICK_OK;
    struct normalize_backward s = {.gpu = wick__gpu_of(x),
                                   .call = call,
                                   .dtype = x->dtype,
                                   .size = (int)wick__size(x->dtype),
                                   .p = {.gradient = wick__data(call->in[0]),
                                         .x = wick__data(x),
                                         .out = wick__data(call->out[0]),
                                         .mean = first == 3 ? wick__data(call->in[2]) : NULL,
                                         .inverse = wick__data(call->in[first]),
                                         .weight = weight ? wick__data(weight) : NULL}};
    set_sizes(&s, count);
    set_vectors(&s);
    return by_planes(&s) ? planes(&s) : run(&s);
}
