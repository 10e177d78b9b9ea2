/* softmax, log_softmax: rows in registers, or first the statistics of each line and then the lines. */
#include "gpu/ops/rows.h"

#include "core/checked.h"
#include "gpu/routes/layer.h"
#include "kernels/softmax.h"
#include "kernels/softmax_planes.h"

struct softmax {
    struct wick__gpu *gpu;
    const struct wick__call *call;
    enum wick_dtype dtype;
    const void *in;
    void *out;
    int64_t size, n, inner, lines;
    int64_t pieces, length; /* of a long row, and elements of a piece; 0: lines are reduced as others are */
};

/* Cuts long rows into pieces of one size, whole vectors that a block keeps in registers, if it can add up as many. */
static void cut(struct softmax *s) {
    int64_t most = GPU_BLOCK * GPU_SOFTMAX_KEPT((int)s->size), per_vector = 16 / s->size,
            pieces = wick__div_up(s->n, most);
    if (pieces > GPU_BLOCK) return;
    s->length = wick__div_up(wick__div_up(s->n, pieces), per_vector) * per_vector;
    s->pieces = wick__div_up(s->n, s->length);
}

/* The threads for a row, of which each keeps as many elements. */
static uint32_t group_of(const struct softmax *s, int kept) {
    return wick__gpu_row_group(s->dtype, s->in, s->n, kept, GPU_SOFTMAX_THREADS);
}

/* Whether rows that are no whole vectors, whose ends want threads of their own, go by threads that keep one vector
 * each. All threads of a row compute what they can keep, whether it is there or not; and few rows leave a device idle.
 */
static bool by_vectors(const struct softmax *s, uint32_t group) {
    enum { BUSY = 1 << 16 };
    int kept = GPU_SOFTMAX_KEPT((int)s->size), one = 16 / (int)s->size;
    uint32_t more = group_of(s, one);
    if (s->n * s->size % 16 == 0 || more == 0) return false;
    return more * (one + 1) <= group * (kept + 1) || s->lines * group < BUSY;
}

static enum wick_status kept_rows(const struct softmax *s, uint32_t group) {
    enum wick__gpu_kernel kernel = WICK__GPU_K_softmax_rows_bf16;
    if (by_vectors(s, group)) {
        kernel = WICK__GPU_K_softmax_vectors_bf16;
        group = group_of(s, 16 / (int)s->size);
    }
    struct gpu_softmax_rows p = {.in = s->in,
                                 .out = s->out,
                                 .rows = s->lines,
                                 .n = s->n,
                                 .group = group,
                                 .log = s->call->op == WICK_OP_log_softmax,
                                 .aligned = (((uintptr_t)s->in ^ (uintptr_t)s->out) & 15) == 0};
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(kernel, s->dtype)};
    wick__gpu_row_launch(s->gpu, &launch, s->lines, group);
    return wick__gpu_launch(s->gpu, &launch, &p);
}

/* Whether lines are of a few elements: those across memory, and rows that have next to no vectors. */
static bool is_short(const struct softmax *s) {
    if (s->n > GPU_SOFTMAX_SHORT(s->size) * GPU_SOFTMAX_DOWN(s->size)) return false;
    return s->inner > 1 || s->n * s->size % 16 != 0;
}

/* Those. Where they are few, more threads take each. */
static enum wick_status short_lines(const struct softmax *s) {
    struct gpu_softmax_short p = {
        .in = s->in, .out = s->out, .n = s->n, .inner = s->inner, .log = s->call->op == WICK_OP_log_softmax};
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_short_bf16, s->dtype)};
    p.vectors = wick__aligned16(s->in) && wick__aligned16(s->out) && s->inner * s->size % 16 == 0;
    p.width = p.vectors ? s->inner * s->size / 16 : s->inner;
    if (!p.vectors && s->size == 2 && s->inner % 2 == 0 && ((uintptr_t)s->in | (uintptr_t)s->out) % 4 == 0) {
        p.width = s->inner / 2;
        launch.kernel = s->dtype == WICK_BF16 ? WICK__GPU_K_softmax_pairs_bf16 : WICK__GPU_K_softmax_pairs_f16;
    }
    p.items = s->lines / s->inner * p.width;
    p.down = wick__gpu_short_down(s->n, p.items, GPU_SOFTMAX_SHORT(s->size), GPU_SOFTMAX_DOWN(s->size));
    wick__gpu_reduce_grid(&launch, wick__div_up(p.items, GPU_BLOCK / p.down));
    return wick__gpu_launch(s->gpu, &launch, &p);
}

/* Whether lines across memory are few, and the planes of them enough for a block each, which reads its plane from a
 * cache again. */
static bool is_planes(const struct softmax *s) {
    enum { PLANES = 64, LEAST_BYTES = 4 << 10, MOST_BYTES = 256 << 10 };
    int64_t bytes = s->n * s->inner * s->size;
    if (s->inner == 1 || s->inner > GPU_SOFTMAX_PLANES_WIDTH || s->lines / s->inner < PLANES) return false;
    if (s->size != 2 && s->size != 4) return false;
    return bytes >= LEAST_BYTES && bytes <= MOST_BYTES && (((uintptr_t)s->in ^ (uintptr_t)s->out) & 15) == 0;
}

static enum wick_status planes(const struct softmax *s) {
    struct gpu_softmax_planes p = {.in = s->in,
                                   .out = s->out,
                                   .planes = s->lines / s->inner,
                                   .n = (u32)(s->n * s->inner),
                                   .width = (u32)s->inner,
                                   .log = s->call->op == WICK_OP_log_softmax};
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_planes_bf16, s->dtype)};
    uint32_t per_vector = (uint32_t)(16 / s->size), whole = 1; /* threads whose vectors are whole rows */
    while (whole * per_vector % p.width != 0) whole++;
    launch.threads = p.n / per_vector > 4 * GPU_BLOCK ? GPU_SOFTMAX_THREADS : GPU_BLOCK;
    p.step = launch.threads / whole * whole;
    wick__gpu_reduce_grid(&launch, p.planes);
    return wick__gpu_launch(s->gpu, &launch, &p);
}

static enum wick_status apply(const struct softmax *s, const void *stats) {
    struct gpu_softmax_apply p = {.in = s->in,
                                  .out = s->out,
                                  .stats = stats,
                                  .lines = s->lines,
                                  .n = s->n,
                                  .inner = s->inner,
                                  .log = s->call->op == WICK_OP_log_softmax};
    struct wick__launch launch = {.kernel = 0};
    if (s->inner == 1) {
        p.length = s->pieces ? s->length : 16 * 1024 / s->size;
        p.pieces = wick__div_up(s->n, p.length);
        p.aligned = (((uintptr_t)s->in ^ (uintptr_t)s->out) & 15) == 0;
        launch.kernel = wick__gpu_of_floats(
            s->pieces ? WICK__GPU_K_softmax_apply_pieces_bf16 : WICK__GPU_K_softmax_apply_bf16, s->dtype);
        wick__gpu_reduce_grid(&launch, s->lines * p.pieces);
        return wick__gpu_launch(s->gpu, &launch, &p);
    }
    p.aligned = wick__aligned16(s->in) && wick__aligned16(s->out) && s->inner * s->size % 16 == 0;
    int64_t width = p.aligned ? s->inner * s->size / 16 : s->inner;
    p.across = wick__gpu_power(width, 64);
    p.tiles = wick__div_up(width, p.across);
    int64_t all = s->lines / s->inner * p.tiles, rows = GPU_BLOCK / p.across * 8;
    int64_t pieces = wick__max(1, wick__min(wick__div_up(4096, all), s->n / rows));
    p.length = wick__div_up(s->n, pieces);
    p.pieces = wick__div_up(s->n, p.length);
    launch.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_across_bf16, s->dtype);
    wick__gpu_reduce_grid(&launch, all * p.pieces);
    return wick__gpu_launch(s->gpu, &launch, &p);
}

static enum wick_status reduce_pieces(const struct softmax *s, void *stats) {
    struct gpu_softmax_pieces p = {
        .in = s->in, .stats = stats, .lines = s->lines, .n = s->n, .pieces = s->pieces, .length = s->length};
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_pieces_bf16, s->dtype)};
    wick__gpu_reduce_grid(&launch, s->lines * s->pieces);
    return wick__gpu_launch(s->gpu, &launch, &p);
}

static enum wick_status reduce_lines(const struct softmax *s, void *stats) {
    struct wick__gpu_reduction reduction = {.x = s->call->in[0], .dims = 1u << s->call->p.along.dim};
    reduction.end = (struct gpu_reduce_end){
        .kind = GPU_REDUCE_EXPS, .finish = GPU_FINISH_PART, .out = stats, .parts = s->lines, .mask = UINT64_MAX};
    return wick__gpu_reduce_lines(s->gpu, &reduction);
}

/* By a vendor's library. */
static enum wick_status by_route(const struct softmax *s, bool *done) {
    const struct wick__dnn_layer layer = {.kind = s->call->op == WICK_OP_softmax ? WICK__LAYER_SOFTMAX
                                                                                 : WICK__LAYER_LOG_SOFTMAX,
                                          .dtype = s->dtype,
                                          .size = {s->lines / s->inner, s->n, s->inner, 1},
                                          .in = {s->in},
                                          .out = {s->out}};
    return wick__layer_run(s->gpu, &layer, done);
}

wick__kernel_fn wick__gpu_softmax;
enum wick_status wick__gpu_softmax(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    int64_t count = wick__count(x);
    int dim = call->p.along.dim;
    if (count == 0) return WICK_OK;
    struct softmax s = {.gpu = wick__gpu_of(x),
                        .call = call,
                        .dtype = x->dtype,
                        .in = wick__data(x),
                        .out = wick__data(call->out[0]),
                        .size = (int)wick__size(x->dtype),
                        .n = x->layout.shape[dim],
                        .inner = 1};
    for (int d = dim + 1; d < x->layout.rank; d++) s.inner *= x->layout.shape[d];
    s.lines = count / s.n;
    bool done;
    WICK__TRY(by_route(&s, &done));
    if (done) return WICK_OK;
    if (is_short(&s)) return short_lines(&s);
    if (is_planes(&s)) return planes(&s);
    uint32_t group = group_of(&s, GPU_SOFTMAX_KEPT((int)s.size));
    if (s.inner == 1 && group > 0) return kept_rows(&s, group);
    if (s.inner == 1) cut(&s);
    void *stats;
    size_t nbytes = (size_t)s.lines * (size_t)wick__max(s.pieces, 1) * 2 * sizeof(u64);
    WICK__TRY(wick__gpu_scratch(s.gpu, nbytes, &stats));
    enum wick_status status = s.pieces ? reduce_pieces(&s, stats) : reduce_lines(&s, stats);
    if (status == WICK_OK) status = apply(&s, stats);
    wick__gpu_release(s.gpu, stats, nbytes);
    return status;
}
