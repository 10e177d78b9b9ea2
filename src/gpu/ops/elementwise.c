/* Plans of elementwise launches: which operands can be read in chunks, and where elements are otherwise. */
#include "gpu/ops/elementwise.h"

#include "core/checked.h"
#include "gpu/ops/copy.h"
#include "gpu/ops/turn.h"

static const unsigned char kinds[WICK_OP_COUNT] = {
#define WICK__UNARY(number, name, dtypes, cost, ...) [number] = WICK__GPU_##cost,
#define WICK__SCALAR1(number, name, dtypes, cost, ...) [number] = WICK__GPU_##cost,
#define WICK__SCALAR2(number, name, dtypes, cost, ...) [number] = WICK__GPU_##cost,
#define WICK__BINARY(number, name, dtypes, cost, ...) [number] = WICK__GPU_##cost,
#define WICK__PAIR(number, name, dtypes, cost, ...) [number] = WICK__GPU_##cost,
#define WICK__QUESTION(number, ...) [number] = WICK__GPU_QUESTION,
#define WICK__COMPARISON(number, ...) [number] = WICK__GPU_QUESTION,
#define WICK__LIMIT(number, ...) [number] = WICK__GPU_QUESTION,
#include "kernels/elementwise_ops.h"
};

enum wick__gpu_kernels_kind wick__gpu_kernels_of(enum wick_op op) { return (enum wick__gpu_kernels_kind)kinds[op]; }

/* Drivers limit the threads in x to 32 bits. */
enum { TILES_X = 1 << 22 };

struct wick__launch wick__gpu_tiles(enum wick__gpu_kernel kernel, int64_t tiles) {
    int64_t x = tiles < TILES_X ? tiles : TILES_X;
    return (struct wick__launch){.kernel = kernel, .grid = {(unsigned)x, (unsigned)((tiles + x - 1) / x)}};
}

/* Whether chunks of operand k can be moved at once, were they in order. */
static bool aligned(const struct wick__elements *e, const void *data, const struct wick_tensor *x) {
    size_t nbytes = (size_t)e->chunk * wick__size(x->dtype);
    return (uintptr_t)data % (nbytes > 16 ? 16 : nbytes) == 0;
}

/* Layouts (inputs, then the result) were collapsed: true when rows can be read in chunks. */
static bool has_rows(const struct wick__elements *e, const struct wick__layout *layouts) {
    int last = layouts[0].rank - 1;
    if (layouts[0].shape[last] % e->chunk != 0 && last > 0) return false;
    for (int k = 0; k < e->n_in; k++) {
        if (layouts[k].stride[last] == 0 && !e->no_splat) continue;
        if (layouts[k].stride[last] != 1 || !aligned(e, e->walk->in[k], e->in[k])) return false;
        for (int d = 0; d < last; d++)
            if (layouts[k].stride[d] % e->chunk != 0) return false;
    }
    return aligned(e, e->walk->out, e->out);
}

/* Whether x is contiguous in a collapsed layout, or one element. */
static bool is_flat(const struct wick__layout *x, bool *one) {
    int64_t step = 1;
    *one = true;
    for (int d = 0; d < x->rank; d++) *one &= x->stride[d] == 0;
    for (int d = x->rank - 1; d >= 0; step *= x->shape[d--])
        if (!*one && x->stride[d] != step) return false;
    return true;
}

/* Whether operands are flat, but for those that repeat elements or skip some, which are read one by one; the first is
 * one of these only where the kernel can do that. */
static bool find_steps(const struct wick__elements *e, const struct wick__layout *layouts) {
    struct gpu_walk *walk = e->walk;
    bool one, fits = !e->no_splat && e->n_in > 1 && layouts[0].rank <= 3 && wick__layout_count(&layouts[0]) < INT32_MAX;
    walk->steps = walk->splat = 0;
    for (int k = 0; fits && k < e->n_in; k++) {
        bool flat = is_flat(&layouts[k], &one);
        if (flat && one) walk->splat |= 1u << k;
        if (!flat || !(one || aligned(e, walk->in[k], e->in[k]))) walk->steps |= 1u << k;
    }
    return fits && (e->any_steps || !(walk->steps & 1)) && aligned(e, walk->out, e->out);
}

static enum wick_status launch(const struct wick__elements *e, const struct wick__layout *layouts) {
    struct gpu_walk *walk = e->walk;
    struct wick__layout own[3];
    int last = layouts[0].rank - 1;
    bool rows = has_rows(e, layouts);
    walk->count = wick__layout_count(&layouts[e->n_in]);
    walk->tiles = (walk->count + GPU_BLOCK * e->slots - 1) / (GPU_BLOCK * e->slots);
    walk->mode = rows                     ? last == 0 ? GPU_WALK_FLAT : GPU_WALK_ROWS
                 : find_steps(e, layouts) ? GPU_WALK_STEPS
                                          : GPU_WALK_ELEMENTS;
    if (walk->mode != GPU_WALK_STEPS) walk->splat = 0;
    for (int k = 0; k < e->n_in; k++) {
        own[k] = layouts[k];
        if (walk->mode != GPU_WALK_STEPS && own[k].stride[last] == 0) walk->splat |= 1u << k;
        if (walk->mode != GPU_WALK_ROWS) continue;
        own[k].shape[last] /= e->chunk;
        own[k].stride[last] *= e->chunk;
    }
    if (walk->mode != GPU_WALK_FLAT) wick__gpu_shape(own, e->n_in, &walk->shape, walk->layout);
    enum { BUSY = 2048 }; /* blocks that keep a device busy */
    int64_t blocks = walk->tiles;
    if (e->repeat > 1) blocks = wick__min(blocks, wick__max(BUSY, (blocks + e->repeat - 1) / e->repeat));
    struct wick__launch tiles = wick__gpu_tiles(e->kernel, blocks);
    return wick__gpu_launch(wick__gpu_of(e->out), &tiles, e->params);
}

/* Halves the work until positions fit. Layouts are collapsed; walk->in and walk->out are set. */
static enum wick_status halve(const struct wick__elements *e, struct wick__layout *layouts) {
    int64_t count = wick__layout_count(&layouts[0]);
    wick__layout_collapse(layouts, e->n_in + 1);
    bool fits = has_rows(e, layouts) && (layouts[0].rank == 1 || count / e->chunk < INT32_MAX);
    if (fits || count < INT32_MAX) return launch(e, layouts);
    struct gpu_walk saved = *e->walk;
    struct wick__layout half[4];
    int64_t size = layouts[0].shape[0], first = size / 2;
    if (layouts[0].rank == 1) first -= first % (GPU_BLOCK * e->slots);
    for (int part = 0; part < 2; part++) {
        for (int k = 0; k <= e->n_in; k++) {
            half[k] = layouts[k];
            half[k].shape[0] = part ? size - first : first;
            size_t skip = part ? (size_t)(first * layouts[k].stride[0]) : 0;
            if (k < e->n_in)
                e->walk->in[k] = (const char *)saved.in[k] + skip * wick__size(e->in[k]->dtype);
            else
                e->walk->out = (char *)saved.out + skip * wick__size(e->out->dtype);
        }
        WICK__TRY(halve(e, half));
    }
    return WICK_OK;
}

/* From this many bytes on, an operand whose neighbours lie along another dim than the result's is turned: read where it
 * lies, it would fetch a sector of memory for each element. By a kernel that does so as it reads, where there is one;
 * else the copy kernels turn it first. */
enum { TURN_FROM = 256 * 1024 };

static bool is_large(const struct wick_tensor *x) {
    return wick__count(x) * (int64_t)wick__size(x->dtype) >= TURN_FROM;
}

static bool is_turned(const struct wick_tensor *x) {
    struct wick__layout layout = x->layout;
    if (!is_large(x)) return false;
    wick__layout_collapse(&layout, 1);
    int last = layout.rank - 1;
    if (layout.stride[last] <= 1 || layout.shape[last] < 16) return false;
    for (int d = 0; d < last; d++)
        if (layout.stride[d] == 1 && layout.shape[d] >= 16) return true;
    return false;
}

/* A packed copy of x in memory of the pool. */
static enum wick_status pack(struct wick__gpu *gpu, const struct wick_tensor *x, const struct wick__layout *layout,
                             void **copy) {
    size_t size = wick__size(x->dtype);
    WICK__TRY(wick__gpu_scratch(gpu, (size_t)wick__count(x) * size, copy));
    struct wick__gpu_move move = {.from = x->layout, .to = *layout, .in = wick__data(x), .out = *copy, .size = size};
    return wick__gpu_move(gpu, &move);
}

/* Operand k, packed if it is turned and `packs`: its layout, seen with the result's shape, into layouts[k]. */
static enum wick_status place(const struct wick__elements *e, int k, bool packs, struct wick__layout *layouts,
                              void *copies[3]) {
    const struct wick__layout *out = &e->out->layout;
    struct wick__layout own = e->in[k]->layout;
    e->walk->in[k] = wick__data(e->in[k]);
    if (packs && is_turned(e->in[k])) {
        WICK__TRY(wick__layout_new(&own, "copy", own.rank, own.shape));
        WICK__TRY(pack(wick__gpu_of(e->out), e->in[k], &own, &copies[k]));
        e->walk->in[k] = copies[k];
    }
    wick__layout_expand(&own, out->rank, out->shape, &layouts[k]);
    return WICK_OK;
}

/* The operand to be turned as it is read, -1 for none. */
static int find_turned(const struct wick__elements *e) {
    for (int k = e->n_in - 1; e->turn && k >= 0; k--)
        if (is_large(e->in[k]) && wick__gpu_turns(&e->in[k]->layout, &e->out->layout)) return k;
    return -1;
}

enum wick_status wick__gpu_elements(const struct wick__elements *e) {
    struct wick__layout layouts[4];
    void *copies[3] = {NULL};
    enum wick_status status = WICK_OK;
    if (wick__count(e->out) == 0) return WICK_OK;
    int turned = find_turned(e);
    layouts[e->n_in] = e->out->layout;
    e->walk->out = wick__data(e->out);
    for (int k = 0; k < e->n_in && status == WICK_OK; k++) status = place(e, k, k != turned, layouts, copies);
    bool turns = status == WICK_OK && turned >= 0 && wick__gpu_turn_plan(e, layouts, turned);
    if (status == WICK_OK && turned >= 0 && !turns) status = place(e, turned, true, layouts, copies);
    if (status == WICK_OK) status = turns ? wick__gpu_turn(e) : halve(e, layouts);
    for (int k = 0; k < e->n_in; k++)
        if (copies[k])
            wick__gpu_release(wick__gpu_of(e->out), copies[k],
                              (size_t)wick__count(e->in[k]) * wick__size(e->in[k]->dtype));
    return status;
}
