/* Batch norm in training, on planes where they lie: a block for a channel that is small, otherwise statistics of parts
 * and then the elements. The cuts depend on the shape alone. */
#include "gpu/ops/cast.h"
#include "gpu/ops/rows.h"

#include "core/checked.h"

#include "kernels/normalize_planes.h"

enum {
    EACH = 4,        /* vectors that a thread has in flight */
    LEAST = 64,      /* threads of a block: a wave of any device */
    PLENTY = 1 << 18 /* threads that fill a device; with four times as many an H200 took up to 1.7 times as long */
};

/* Threads along n elements. */
static uint32_t across(int64_t n, int64_t size, uint32_t threads) {
    return wick__gpu_power(wick__div_up(n * size, 16 * EACH), threads);
}

/* Whether a block takes a channel of so many vectors whole: what it reads a second time is in a cache then. Where there
 * are few channels, more blocks read sooner what would be one's. */
static bool is_whole(const struct gpu_normalize_planes *p, int64_t vectors) {
    enum { MANY = 256 };
    return vectors <= (p->channels < MANY ? 8 : 16) * GPU_NORMALIZE_WHOLE;
}

static void cut(struct gpu_normalize_planes *p, int64_t size, int64_t vectors) {
    enum { ALIGNED = 64 }; /* elements of a piece are a multiple, and so whole vectors */
    int64_t most = wick__max(1, vectors / (EACH * GPU_BLOCK));
    int64_t parts = wick__max(1, wick__min(PLENTY / wick__min(PLENTY, p->channels * GPU_BLOCK), most));
    p->rows = wick__div_up(p->outer, parts);
    p->pieces = parts > p->outer ? wick__div_up(parts, p->outer) : 1;
    p->length = wick__div_up(p->plane, p->pieces);
    if (p->pieces > 1) p->length = wick__div_up(p->length, ALIGNED) * ALIGNED;
    p->pieces = wick__div_up(p->plane, p->length);
    p->across = across(p->length, size, GPU_BLOCK);
    int64_t beside = GPU_BLOCK / p->across;
    p->rows = p->pieces > 1 ? 1 : wick__min(p->outer, wick__div_up(p->rows, beside) * beside);
    p->parts = wick__div_up(p->outer, p->rows) * p->pieces;
}

static enum wick_status launch(struct wick__gpu *gpu, enum wick__gpu_kernel kernel, uint32_t threads,
                               struct gpu_normalize_planes *p) {
    struct wick__launch launch = {.kernel = kernel, .threads = threads};
    wick__gpu_reduce_grid(&launch, p->parts * p->channels);
    return wick__gpu_launch(gpu, &launch, p);
}

/* By a vendor's library. */
static enum wick_status by_route(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_normalize_planes *p,
                                 bool *done) {
    const struct wick__dnn_layer layer = {.kind = WICK__LAYER_NORM_TRAIN,
                                          .dtype = dtype,
                                          .size = {p->outer, p->channels, 1, p->plane},
                                          .epsilon = p->epsilon,
                                          .in = {p->in, p->weight, p->bias},
                                          .out = {p->out, p->inverse, p->mean}};
    return wick__layer_run_narrow(gpu, &layer, 2 | 4, wick__gpu_convert, done); /* weight and bias */
}

enum wick_status wick__gpu_normalize_planes(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2];
    struct wick__gpu *gpu = wick__gpu_of(x);
    int64_t size = (int)wick__size(x->dtype), outer = x->layout.shape[0], channels = x->layout.shape[1];
    struct gpu_normalize_planes p = {.in = wick__data(x),
                                     .out = wick__data(call->out[0]),
                                     .inverse = call->n_out > 1 ? wick__data(call->out[1]) : NULL,
                                     .mean = call->n_out > 2 ? wick__data(call->out[2]) : NULL,
                                     .weight = weight ? wick__data(weight) : NULL,
                                     .bias = bias ? wick__data(bias) : NULL,
                                     .outer = outer,
                                     .channels = channels,
                                     .plane = wick__count(x) / (outer * channels),
                                     .rows = outer,
                                     .pieces = 1,
                                     .parts = 1,
                                     .epsilon = call->p.norm.epsilon};
    p.alike = (((uintptr_t)p.in ^ (uintptr_t)p.out) & 15) == 0;
    p.length = p.plane;
    bool done;
    WICK__TRY(by_route(gpu, x->dtype, &p, &done));
    if (done) return WICK_OK;
    int64_t vectors = outer * wick__div_up(p.plane * size, 16);
    if (is_whole(&p, vectors)) {
        uint32_t threads = wick__gpu_power(wick__max(LEAST, vectors / EACH), GPU_NORMALIZE_WHOLE);
        p.across = across(p.plane, size, threads);
        return launch(gpu, wick__gpu_of_floats(WICK__GPU_K_normalize_planes_whole_bf16, x->dtype), threads, &p);
    }
    cut(&p, size, vectors);
    size_t nbytes = sizeof *p.stats * 3 * (size_t)p.parts * (size_t)channels;
    void *stats;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &stats));
    p.stats = stats;
    enum wick_status status =
        launch(gpu, wick__gpu_of_floats(WICK__GPU_K_normalize_planes_stats_bf16, x->dtype), GPU_BLOCK, &p);
    if (status == WICK_OK)
        status = launch(gpu, wick__gpu_of_floats(WICK__GPU_K_normalize_planes_apply_bf16, x->dtype), GPU_BLOCK, &p);
    wick__gpu_release(gpu, stats, nbytes);
    return status;
}
