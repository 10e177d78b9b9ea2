/* layer_norm, rms_norm, group_norm, batch_norm: rows in registers, or first their statistics and then the rows. Those
 * of a batch lie in pieces (normalize_planes.c). */
#include "gpu/ops/cast.h"
#include "gpu/ops/rows.h"

#include "core/checked.h"
#include "kernels/normalize.h"

enum { LONG = 1024 }; /* elements of a channel that are worth a row of their own */

struct normalize {
    struct wick__gpu *gpu;
    const struct wick__call *call;
    enum wick_dtype dtype;
    int64_t size;
    struct gpu_normalize p;
};

static const void *operand(const struct wick__call *call, int i) {
    return i < call->n_in && call->in[i] ? wick__data(call->in[i]) : NULL;
}

/* Pieces of rows, and the threads for each. */
static enum wick_status apply(struct normalize *s) {
    struct gpu_normalize *p = &s->p;
    int64_t vectors = wick__max(1, p->n * s->size / 16);
    p->length = wick__min(p->n, 16 * 1024 / s->size);
    p->pieces = (p->n + p->length - 1) / p->length;
    p->group = p->pieces > 1 ? GPU_BLOCK : wick__gpu_power(vectors / 2, GPU_BLOCK);
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_normalize_apply_bf16, s->dtype)};
    int64_t per_block = GPU_BLOCK / p->group;
    wick__gpu_reduce_grid(&launch, (p->rows * p->pieces + per_block - 1) / per_block);
    return wick__gpu_launch(s->gpu, &launch, p);
}

/* Mean and variance of each row, then the rows. */
static enum wick_status in_two_steps(struct normalize *s) {
    struct gpu_normalize *p = &s->p;
    void *stats;
    bool moments = p->centered || s->dtype == WICK_F64;
    size_t nbytes = (size_t)p->rows * (moments ? 3 : 1) * sizeof(u64);
    WICK__TRY(wick__gpu_scratch(s->gpu, nbytes, &stats));
    /* x as rows. */
    const struct wick_tensor *in = s->call->in[0];
    struct wick_tensor x = {.dtype = in->dtype, .storage = in->storage, .layout = in->layout};
    x.layout.rank = 2;
    x.layout.shape[0] = p->rows;
    x.layout.shape[1] = x.layout.stride[0] = p->n;
    x.layout.stride[1] = 1;
    struct wick__gpu_reduction reduction = {.x = &x, .dims = 2};
    reduction.end = (struct gpu_reduce_end){.kind = moments ? GPU_REDUCE_MOMENTS : GPU_REDUCE_SQUARES,
                                            .finish = GPU_FINISH_PART,
                                            .out = stats,
                                            .parts = p->rows,
                                            .mask = UINT64_MAX};
    enum wick_status status = wick__gpu_reduce_lines(s->gpu, &reduction);
    p->stats = stats;
    p->lines = p->rows;
    p->terms = p->n;
    p->share = 1;
    if (p->by == GPU_NORMALIZE_CHANNEL && p->n / p->per_group >= LONG) {
        p->share = p->per_group;
        p->rows *= p->share;
        p->n /= p->share;
        p->groups *= p->share;
        p->per_group = 1;
    }
    if (status == WICK_OK) status = apply(s);
    wick__gpu_release(s->gpu, stats, nbytes);
    return status;
}

/* Fills in what the op normalises together. */
static void set_rows(struct normalize *s, int64_t count) {
    const struct wick__layout *layout = &s->call->in[0]->layout;
    struct gpu_normalize *p = &s->p;
    p->n = 1;
    if (s->call->op == WICK_OP_layer_norm || s->call->op == WICK_OP_rms_norm) {
        for (int d = layout->rank - s->call->p.norm.axes; d < layout->rank; d++) p->n *= layout->shape[d];
    } else {
        int64_t channels = layout->shape[1], plane = count / (layout->shape[0] * channels);
        bool batch = s->call->op == WICK_OP_batch_norm;
        p->groups = batch ? channels : s->call->p.norm.groups;
        p->per_group = channels / p->groups;
        p->n = plane * p->per_group;
        p->by = GPU_NORMALIZE_CHANNEL;
        if (batch && plane == 1) {
            p->by = GPU_NORMALIZE_ELEMENT;
            p->n = channels;
        }
        if (plane < INT32_MAX) wick__gpu_divisor(&p->plane, (uint32_t)plane);
    }
    p->rows = count / p->n;
}

/* Batch norm by a vendor's library. */
static enum wick_status by_route(const struct normalize *s, int64_t count, bool *done) {
    const struct gpu_normalize *p = &s->p;
    const int64_t *shape = s->call->in[0]->layout.shape;
    const struct wick__dnn_layer layer = {.kind = WICK__LAYER_NORM,
                                          .dtype = s->dtype,
                                          .size = {shape[0], shape[1], 1, count / (shape[0] * shape[1])},
                                          .epsilon = p->epsilon,
                                          .in = {p->in, p->mean, p->variance, p->weight, p->bias},
                                          .out = {p->out}};
    return wick__layer_run_narrow(s->gpu, &layer, 2 | 4 | 8 | 16, wick__gpu_convert, done); /* all but x and y */
}

wick__kernel_fn wick__gpu_normalize;
enum wick_status wick__gpu_normalize(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    int64_t count = wick__count(x);
    if (count == 0) return WICK_OK;
    if (call->p.norm.batch) return wick__gpu_normalize_planes(call);
    bool batch = call->op == WICK_OP_batch_norm;
    struct normalize s = {.gpu = wick__gpu_of(x),
                          .call = call,
                          .dtype = x->dtype,
                          .size = (int)wick__size(x->dtype),
                          .p = {.in = wick__data(x),
                                .out = wick__data(call->out[0]),
                                .inverse = call->n_out > 1 ? wick__data(call->out[1]) : NULL,
                                .mean_out = call->n_out > 2 ? wick__data(call->out[2]) : NULL,
                                .weight = operand(call, batch ? 3 : 1),
                                .bias = operand(call, batch ? 4 : 2),
                                .mean = batch ? operand(call, 1) : NULL,
                                .variance = batch ? operand(call, 2) : NULL,
                                .epsilon = call->p.norm.epsilon,
                                .centered = call->op != WICK_OP_rms_norm}};
    struct gpu_normalize *p = &s.p;
    set_rows(&s, count);
    p->aligned = (((uintptr_t)p->in ^ (uintptr_t)p->out) & 15) == 0;
    p->vectors = p->by == GPU_NORMALIZE_ELEMENT && wick__aligned16(p->in) && p->n * s.size % 16 == 0 &&
                 wick__aligned16(p->weight) && wick__aligned16(p->bias);
    if (batch) {
        bool done;
        WICK__TRY(by_route(&s, count, &done));
        return done ? WICK_OK : apply(&s);
    }
    p->group = wick__gpu_row_group(s.dtype, p->in, p->n, GPU_NORMALIZE_KEPT(s.size), GPU_NORMALIZE_THREADS(s.size));
    if (p->group == 0) return in_two_steps(&s);
    /* Where rows are few, units stand idle: threads of more waves take less of a row each. */
    if (p->rows * p->group < (int64_t)s.gpu->properties.units * GPU_BLOCK / 2)
        while (p->group < GPU_NORMALIZE_THREADS(s.size) && p->group * (16 / s.size) < p->n) p->group *= 2;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_normalize_rows_bf16, s.dtype)};
    wick__gpu_row_launch(s.gpu, &launch, p->rows, p->group);
    return wick__gpu_launch(s.gpu, &launch, p);
}
