/* scatter, scatter_add and its kind, on a copy or in place: lines along the dim in LDS while they are not too long,
 * otherwise all at once, with the latest source of each element found first, or the sources sorted by where they go. */
#include "gpu/ops/scatter.h"
#include "gpu/ops/ids.h"
#include "gpu/ops/sort.h"

#include "core/checked.h"

enum { TILES = 16 }; /* more tiles a line than this would read its ids too often */

/* The dims of a layout but `dim`, with the sizes of `like`. */
static struct wick__layout other_dims(const struct wick__layout *layout, const struct wick__layout *like, int dim) {
    struct wick__layout others = {.rank = like->rank - 1};
    for (int d = 0, at = 0; d < like->rank; d++) {
        if (d == dim) continue;
        others.shape[at] = like->shape[d];
        others.stride[at++] = layout->stride[d];
    }
    return others;
}

/* A scatter that is about to be queued: `ids` has the shape of source, strides 0 included. */
struct scatter {
    struct wick__gpu *gpu;
    const struct wick_tensor *x, *source;
    struct wick_tensor *out;
    struct wick__layout ids_layout;
    struct gpu_ids ids;
    const u32 *bad;
    int dim;
    bool add; /* or multiply, or compare */
    u32 join;
    size_t size;
};

/* Lines of a block, and the tile. */
static void cut(struct gpu_scatter *p, const struct scatter *s) {
    int64_t most = s->add ? GPU_SCATTER_ADD_TILE : GPU_SCATTER_TILE, lines = p->shape.count;
    int64_t spread = wick__max(1, lines / (4 * wick__max(1, s->gpu->properties.units)));
    int64_t together = wick__min(wick__min(most / wick__max(1, p->n), GPU_SCATTER_LINES), wick__min(lines, spread));
    if (p->k > 65536) together = 1;
    p->together = (u32)wick__max(1, together);
    p->across = p->together > 1 && p->step[3] > p->layout[3].stride[0];
    p->tile = (u32)wick__min(p->n, most);
    p->tiles = (u32)((p->n + most - 1) / most);
    wick__gpu_divisor(&p->by_together, p->together);
    wick__gpu_divisor(&p->by_tile, p->tile);
    if (p->together > 1) wick__gpu_divisor(&p->by_k, (u32)p->k);
}

static enum wick_status run_lines(const struct scatter *s) {
    const struct wick__layout *from[4] = {&s->out->layout, &s->x->layout, &s->ids_layout, &s->source->layout};
    struct gpu_scatter p = {.out = wick__data(s->out),
                            .x = wick__data(s->x),
                            .source = wick__data(s->source),
                            .ids = s->ids,
                            .bad = s->bad,
                            .join = s->join,
                            .n = s->out->layout.shape[s->dim],
                            .k = s->ids_layout.shape[s->dim]};
    struct wick__layout layouts[4];
    for (int i = 0; i < 4; i++) {
        layouts[i] = other_dims(from[i], &s->ids_layout, s->dim);
        p.step[i] = from[i]->stride[s->dim];
    }
    wick__gpu_shape(layouts, 4, &p.shape, p.layout);
    cut(&p, s);
    int64_t blocks = (p.shape.count + p.together - 1) / p.together * p.tiles;
    struct wick__launch launch = {.kernel = s->add ? wick__gpu_of_all(WICK__GPU_K_scatter_add_lines_u8, s->out->dtype)
                                                   : wick__gpu_of_size(WICK__GPU_K_scatter_lines_b1, s->size),
                                  .grid = {(unsigned)blocks}};
    return wick__gpu_launch(s->gpu, &launch, &p);
}

/* ---- all at once ---- */

static struct gpu_scatter_all describe_all(const struct scatter *s) {
    int dim = s->dim, rank = s->ids_layout.rank;
    struct wick__layout layouts[5];
    struct gpu_scatter_all p = {.out = wick__data(s->out),
                                .source = wick__data(s->source),
                                .ids = s->ids,
                                .bad = s->bad,
                                .join = s->join,
                                .n = s->out->layout.shape[dim],
                                .step = s->out->layout.stride[dim]};
    for (int i = 0; i < 5; i++) layouts[i] = s->ids_layout;
    p.none = p.n;
    for (int d = rank - 1; d >= 0; d--) {
        layouts[0].stride[d] = d == dim ? 0 : s->out->layout.stride[d];
        layouts[1].stride[d] = d == dim ? 0 : p.none;
        layouts[3].stride[d] = s->source->layout.stride[d];
        layouts[4].stride[d] = d == dim;
        if (d != dim) p.none *= s->ids_layout.shape[d];
    }
    wick__gpu_shape(layouts, 5, &p.shape, p.layout);
    return p;
}

static enum wick_status launch_over(const struct scatter *s, enum wick__gpu_kernel kernel, struct gpu_scatter_all *p) {
    struct wick__launch launch = {.kernel = kernel, .grid = {wick__gpu_blocks(s->gpu, p->shape.count, 2)}};
    return wick__gpu_launch(s->gpu, &launch, p);
}

static enum wick_status place_all(const struct scatter *s, struct gpu_scatter_all *p) {
    size_t nbytes = ((size_t)p->none * sizeof *p->latest + 255) / 256 * 256;
    void *memory;
    WICK__TRY(wick__gpu_scratch(s->gpu, nbytes, &memory));
    p->latest = memory;
    enum wick_status status = wick__gpu_zero(s->gpu, memory, (int64_t)nbytes);
    if (status == WICK_OK) status = launch_over(s, WICK__GPU_K_scatter_latest, p);
    if (status == WICK_OK) status = launch_over(s, wick__gpu_of_size(WICK__GPU_K_scatter_all_b1, s->size), p);
    wick__gpu_release(s->gpu, memory, nbytes);
    return status;
}

static enum wick_status add_all(const struct scatter *s, struct gpu_scatter_all *p) {
    size_t width = p->none < UINT32_MAX ? 4 : 8, keys = (size_t)p->shape.count * width, at = (size_t)p->shape.count * 4;
    size_t nbytes = 2 * ((keys + 255) / 256 * 256) + at;
    char *memory;
    void *scratch;
    struct gpu_sort sort = {.lines = 1, .n = p->shape.count, .inner = 1, .k = p->shape.count};
    WICK__TRY(wick__gpu_scratch(s->gpu, nbytes, &scratch));
    memory = scratch;
    p->wide = width == 8;
    p->keys = memory;
    sort.in = memory;
    sort.values = memory + (keys + 255) / 256 * 256;
    sort.indices = (u32 *)(void *)(memory + 2 * ((keys + 255) / 256 * 256));
    for (uint64_t most = (uint64_t)p->none; most; most >>= 8) sort.passes++;
    enum wick_status status = launch_over(s, WICK__GPU_K_scatter_keys, p);
    if (status == WICK_OK) status = wick__gpu_sort_lines(s->gpu, &sort, width);
    p->keys = sort.values;
    p->at = sort.indices;
    if (status == WICK_OK) status = launch_over(s, wick__gpu_of_all(WICK__GPU_K_scatter_add_all_u8, s->out->dtype), p);
    wick__gpu_release(s->gpu, scratch, nbytes);
    return status;
}

/* Whether lines are short enough for LDS, or there is too much to take at once. */
static bool by_lines(const struct scatter *s) {
    int64_t n = s->out->layout.shape[s->dim], tile = s->add ? GPU_SCATTER_ADD_TILE : GPU_SCATTER_TILE;
    bool fits = s->ids_layout.shape[s->dim] < UINT32_MAX;
    if (s->add) fits = wick__layout_count(&s->ids_layout) < INT32_MAX;
    return n <= TILES * tile || !fits;
}

static enum wick_status run(const struct scatter *s) {
    if (by_lines(s)) return run_lines(s);
    struct gpu_scatter_all all = describe_all(s);
    return s->add ? add_all(s, &all) : place_all(s, &all);
}

static u32 join_of(enum wick_op op) {
    switch (op) {
    case WICK_OP_scatter_prod: return GPU_SCATTER_MULTIPLY;
    case WICK_OP_scatter_amax: return GPU_SCATTER_LARGEST;
    case WICK_OP_scatter_amin: return GPU_SCATTER_LEAST;
    default: return GPU_SCATTER_ADD;
    }
}

enum wick_status wick__gpu_scatter_run(const struct wick__call *call, bool shared) {
    const struct wick_tensor *x = call->in[0], *ids = call->in[1], *source = call->in[2];
    struct wick_tensor *y = call->out[0];
    int dim = call->p.along.dim;
    int64_t n = x->layout.shape[dim];
    struct scatter s = {.gpu = wick__gpu_of(y),
                        .x = x,
                        .source = source,
                        .out = y,
                        .ids_layout = wick__gpu_ids_layout(ids, &source->layout, dim, shared),
                        .dim = dim,
                        .add = call->op != WICK_OP_scatter && call->op != WICK_OP_scatter_inplace,
                        .join = join_of(call->op),
                        .size = wick__size(x->dtype)};
    bool inplace = x->storage == y->storage, whole = true;
    WICK__TRY(wick__gpu_ids(call, ids, n, &s.ids));
    if (wick__count(source) == 0 || wick__count(y) == 0) WICK__TRY(wick__gpu_check_ids(call, ids, n));
    for (int d = 0; d < x->layout.rank; d++) whole = whole && (d == dim || s.ids_layout.shape[d] == x->layout.shape[d]);
    if (!inplace && (!whole || !by_lines(&s) || wick__count(source) == 0)) {
        struct wick__call copy = {.op = WICK_OP_contiguous, .n_in = 1, .in = {x}, .n_out = 1, .out = {y}};
        WICK__TRY(wick__gpu_copy(&copy));
        s.x = y;
    }
    if (wick__count(source) == 0 || wick__count(y) == 0) return WICK_OK;
    if (inplace) { /* nothing may be written when an id is out of range */
        WICK__TRY(wick__gpu_check_ids(call, ids, n));
        s.bad = &s.ids.report.slot->taken;
    }
    return run(&s);
}

enum wick_status wick__gpu_scatter(const struct wick__call *call) { return wick__gpu_scatter_run(call, false); }
