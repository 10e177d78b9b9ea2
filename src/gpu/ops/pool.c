/* Pooling: a thread an element, or several where windows are large and elements few. */
#include "gpu/ops/copy.h"
#include "gpu/ops/pool.h"
#include "gpu/ops/reduce.h"
#include "kernels/pool.h"

#include "core/checked.h"

enum {
    MOST = 1 << 20, /* elements of a window are counted up to here */
    LARGE = 256,    /* from so many elements on, a window is a block's work */
    MIDDLE = 32,    /* from so many on, it may be that of as many threads, */
    FEW = 400,      /* while there are at most so many windows for each element of one */
    ALONE = 1024,   /* or a block's, while there are no more windows than this */
    BLOCKS = 128,   /* that leave a device idle, where planes are whole windows, */
    SPREAD = 512,   /* and pieces that keep it busy, */
    PIECE = 32768,  /* of so many bytes at least */
    MANY = 1 << 23, /* planes that are more blocks than a launch may have */
    SHORT = 16,     /* elements of such a plane that lanes are worth */
    AHEAD = 4       /* those of a row of a window that a thread has in flight */
};

static bool is_max(enum wick_op op) {
    return (op >= WICK_OP_max_pool1d && op <= WICK_OP_max_pool3d) ||
           (op >= WICK_OP_adaptive_max_pool1d && op <= WICK_OP_adaptive_max_pool3d);
}

/* How many threads an element gets, 0 for a kernel that gives each of its threads elements of its own. */
static uint32_t group_of(const struct gpu_pool *p, int64_t taps) {
    enum { EACH = 16, LEAST = 4, BUSY = 1 << 16 };
    uint32_t group = 1;
    if (!p->narrow || (taps < MIDDLE && !p->adaptive)) return 0;
    if (p->count <= ALONE && taps >= MIDDLE) return GPU_BLOCK;
    if (!p->adaptive) return taps >= LARGE ? GPU_BLOCK : p->count <= FEW * taps ? MIDDLE : 0;
    while (group < MIDDLE && (taps > EACH * group || (taps > LEAST * group && p->count * group < BUSY))) group *= 2;
    return group;
}

static enum wick_status run_wide(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_pool *p) {
    int64_t row = p->adaptive ? (p->from[2] + p->to[2] - 1) / p->to[2] : p->kernel[2];
    int64_t along = wick__min(row, p->from[2]);
    p->across = wick__gpu_power(p->adaptive ? wick__div_up(along, AHEAD) : along, p->group);
    int64_t per_block = GPU_BLOCK / p->group;
    struct wick__launch launch = {.kernel = wick__gpu_of_all(WICK__GPU_K_pool_wide_u8, dtype),
                                  .grid = {(unsigned)((p->count + per_block - 1) / per_block)}};
    return wick__gpu_launch(gpu, &launch, p);
}

/* Whether each window is a whole plane; sets its size. */
static bool is_whole(struct gpu_pool *p) {
    p->whole = 1;
    for (int d = 0; d < 3; d++) {
        bool all = p->adaptive
                       ? p->to[d] == 1
                       : p->padding[d] == 0 && p->kernel[d] == p->from[d] && (p->step[d] == 1 || p->kernel[d] == 1);
        if (!all) return false;
        p->whole *= p->from[d]; /* which x holds */
    }
    return p->count < MANY && p->whole >= SHORT;
}

/* Lanes for each of the planes, or 0 where those are worth a block: where they are long, and less so where a wave for
 * each fills a device. */
static uint32_t lanes_of(const struct wick__gpu *gpu, const struct gpu_pool *p, int64_t size) {
    enum { EACH = 4, FULL = 32, BUSY = 1 << 17 };
    uint32_t wave = (uint32_t)gpu->properties.wave;
    int64_t vectors = p->whole * size / 16;
    if (vectors > (p->count * wave >= BUSY ? FULL : EACH) * wave) return 0;
    uint32_t lanes = wick__gpu_power(vectors / EACH, wave);
    while (lanes < wave && lanes < vectors && p->count * lanes < BUSY) lanes *= 2;
    return lanes;
}

/* Lanes or a block a plane, or where there are few planes one for each piece of them and one that joins the pieces. */
static enum wick_status run_whole(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_pool *p) {
    p->group = lanes_of(gpu, p, (int)wick__size(dtype));
    if (p->group > 0) {
        struct wick__launch lines = {.kernel = wick__gpu_of_all(WICK__GPU_K_pool_lines_u8, dtype),
                                     .grid = {(unsigned)wick__div_up(p->count, GPU_BLOCK / p->group)}};
        return wick__gpu_launch(gpu, &lines, p);
    }
    int64_t bytes = p->whole * (int)wick__size(dtype), per_vector = 16 / (int)wick__size(dtype);
    p->pieces = p->count < BLOCKS ? wick__max(1, wick__min((SPREAD + p->count - 1) / p->count, bytes / PIECE)) : 1;
    p->length = ((p->whole + p->pieces - 1) / p->pieces + per_vector - 1) / per_vector * per_vector;
    p->pieces = (p->whole + p->length - 1) / p->length;
    struct wick__launch whole = {.kernel = wick__gpu_of_all(WICK__GPU_K_pool_whole_u8, dtype),
                                 .grid = {(unsigned)(p->count * p->pieces)}};
    if (p->pieces == 1) return wick__gpu_launch(gpu, &whole, p);
    struct wick__launch join = {.kernel = wick__gpu_of_all(WICK__GPU_K_pool_parts_u8, dtype),
                                .grid = {(unsigned)p->count}};
    size_t nbytes = (size_t)(p->count * p->pieces) * 16;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &p->parts));
    enum wick_status status = wick__gpu_launch(gpu, &whole, p);
    if (status == WICK_OK) status = wick__gpu_launch(gpu, &join, p);
    wick__gpu_release(gpu, p->parts, nbytes);
    return status;
}

/* Whether windows are found without a division, so that there is no need to make them ahead. Of many results that takes
 * longer than a launch. */
static bool is_plain(const struct gpu_pool *p) {
    enum { AHEAD_FROM = 1 << 20 };
    return p->count < AHEAD_FROM && p->narrow && !p->adaptive && p->step[0] == 1 && p->step[1] == 1 && p->step[2] == 1;
}

static enum wick_status run_plain(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_pool *p) {
    struct wick__launch launch = {.kernel = wick__gpu_of_all(WICK__GPU_K_pool_plain_u8, dtype),
                                  .grid = {(unsigned)((p->count + GPU_BLOCK - 1) / GPU_BLOCK)}};
    return wick__gpu_launch(gpu, &launch, p);
}

/* Makes the windows, then the result unless that is there, and where its elements come from. */
static enum wick_status run(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_pool *p, bool there) {
    int64_t most = wick__max(p->to[0], wick__max(p->to[1], p->to[2]));
    size_t nbytes = (size_t)(p->to[0] + p->to[1] + p->to[2]) * sizeof(struct gpu_window);
    struct wick__launch windows = {.kernel = WICK__GPU_K_pool_windows, .grid = {wick__gpu_blocks(gpu, most, 1), 3}};
    void *memory;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &memory));
    p->windows[0] = memory;
    p->windows[1] = p->windows[0] + p->to[0];
    p->windows[2] = p->windows[1] + p->to[1];
    enum wick_status status = wick__gpu_launch(gpu, &windows, p);
    struct wick__launch each = {.kernel = wick__gpu_of_all(WICK__GPU_K_pool_each_u8, dtype),
                                .grid = {wick__gpu_blocks(gpu, p->count, 1)}};
    if (status == WICK_OK && !there) status = wick__gpu_launch(gpu, &each, p);
    struct wick__launch index = {.kernel = wick__gpu_of_all(WICK__GPU_K_pool_index_u8, dtype), .grid = {each.grid[0]}};
    if (status == WICK_OK && p->indices) status = wick__gpu_launch(gpu, &index, p);
    wick__gpu_release(gpu, memory, nbytes);
    return status;
}

enum wick_status wick__gpu_pool_route(const struct wick__call *call, enum wick__layer kind, bool *done) {
    const struct wick_tensor *in = call->in[0], *out = call->out[0];
    const bool backward = kind == WICK__LAYER_AVERAGE_POOL_BACKWARD || kind == WICK__LAYER_MAX_POOL_BACKWARD;
    const int64_t *x = (backward ? out : in)->layout.shape, *y = (backward ? in : out)->layout.shape;
    const int spatial = call->p.window.spatial, from = spatial == 1 ? 1 : 0;
    struct wick__dnn_layer layer = {.kind = kind,
                                    .dtype = in->dtype,
                                    .size = {x[0], x[1], 1, 1},
                                    .to = {1, 1},
                                    .kernel = {1, 1},
                                    .stride = {1, 1},
                                    .counts_padding = call->p.window.count_include_pad,
                                    .in = {wick__data(in)},
                                    .out = {wick__data(out)}};
    *done = false;
    if (spatial > 2 || call->p.window.divisor > 0) return WICK_OK;
    if (call->n_in > 1) layer.in[1] = wick__data(call->in[1]);
    if (call->n_out > 1) layer.out[1] = wick__data(call->out[1]);
    for (int s = 0; s < spatial; s++) {
        if (call->p.window.dilation[s] != 1) return WICK_OK;
        layer.size[2 + from + s] = x[2 + s];
        layer.to[from + s] = y[2 + s];
        layer.kernel[from + s] = call->p.window.kernel[s];
        layer.stride[from + s] = call->p.window.stride[s];
        layer.padding[from + s] = call->p.window.padding[s];
    }
    return wick__layer_run(wick__gpu_of(out), &layer, done);
}

wick__kernel_fn wick__gpu_pool;

enum wick_status wick__gpu_pool(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick_tensor *y = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(y);
    int missing = 3 - call->p.window.spatial;
    struct gpu_pool p = {.in = wick__data(x),
                         .out = wick__data(y),
                         .indices = call->n_out > 1 ? wick__data(call->out[1]) : NULL,
                         .count = wick__count(y),
                         .divisor = call->p.window.divisor,
                         .max = is_max(call->op),
                         .adaptive = call->op >= WICK_OP_adaptive_max_pool1d && call->op <= WICK_OP_adaptive_avg_pool3d,
                         .count_padding = call->p.window.count_include_pad,
                         .narrow = wick__count(y) < INT32_MAX};
    int64_t taps = 1;
    bool done = false;
    if (p.count == 0) return WICK_OK;
    if (!wick__layout_is_contiguous(&x->layout)) {
        WICK__TRY(wick__gpu_pool_last(call, &done));
        return done ? WICK_OK : wick__gpu_run_packed(call, wick__gpu_pool);
    }
    for (int d = 0; d < 3; d++) {
        int s = d - missing;
        p.from[d] = s < 0 ? 1 : x->layout.shape[2 + s];
        p.to[d] = s < 0 ? 1 : y->layout.shape[2 + s];
        p.kernel[d] = s < 0 ? 1 : call->p.window.kernel[s];
        p.stride[d] = s < 0 ? 1 : call->p.window.stride[s];
        p.padding[d] = s < 0 ? 0 : call->p.window.padding[s];
        p.step[d] = s < 0 || p.adaptive ? 1 : call->p.window.dilation[s];
        taps *= wick__max(1, wick__min(p.from[d], p.adaptive ? p.from[d] / p.to[d] : p.kernel[d]));
        taps = wick__min(taps, MOST);
        if (p.adaptive && p.from[d] >= INT32_MAX / (p.to[d] + 1)) p.narrow = false;
        if (p.narrow) wick__gpu_divisor(&p.by[d], (u32)p.to[d]);
    }
    const enum wick__layer kind = !p.max      ? WICK__LAYER_AVERAGE_POOL
                                  : p.indices ? WICK__LAYER_MAX_POOL_INDICES
                                              : WICK__LAYER_MAX_POOL;
    if (!p.adaptive) WICK__TRY(wick__gpu_pool_route(call, kind, &done));
    if (done) return WICK_OK;
    p.group = group_of(&p, taps);
    bool there = true;
    if (is_whole(&p))
        WICK__TRY(run_whole(gpu, x->dtype, &p));
    else if (p.group > 0)
        WICK__TRY(run_wide(gpu, x->dtype, &p));
    else if (is_plain(&p))
        WICK__TRY(run_plain(gpu, x->dtype, &p));
    else
        there = false;
    return !there || p.indices ? run(gpu, x->dtype, &p, there) : WICK_OK;
}
