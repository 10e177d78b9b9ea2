/* Some rows of activations by weights of blocks: which tiles, and how k is split. */
#include "gpu/ops/gemm.h"
#include "gpu/ops/quantised.h"

#include "core/checked.h"
#include "kernels/quantised.h"

enum { SIZES = 4 }; /* 8, 16, 32 and 64 columns */
enum { AMD_LDS = 64 << 10 };

/* What there is for a type. */
struct kind {
    unsigned pitch, pair;
    enum wick__gpu_kernel kernels[SIZES];
};

static const struct kind *kind_of(enum wick_dtype dtype) {
#define KERNEL(name, columns) WICK__GPU_K_tiles_##name##_##columns,
#define CASE(name)                                                                                                     \
    case WICK_DTYPE_##name: {                                                                                          \
        static const struct kind kind = {                                                                              \
            GPU_TILE_PITCH_##name, GPU_TILE_PAIR_##name, {GPU_QUANTISED_TILES(KERNEL, name)}};                         \
        return &kind;                                                                                                  \
    }
    switch (dtype) {
        GPU_QUANTISED_TILE_TYPES(CASE)
    default: return NULL;
    }
#undef CASE
#undef KERNEL
}

/* A tile's columns, the stages of k that LDS holds, and the blocks that run on a unit at once. */
struct shape {
    int size;
    int64_t columns, stages, resident;
    unsigned stage; /* bytes */
};

static void set_size(struct shape *s, const struct kind *kind, int size) {
    s->size = size;
    s->columns = 8 << size;
    s->stage = GPU_TILE_ROWS * kind->pitch + (unsigned)wick__div_up(s->columns, GPU_TILE_GROUP) * GPU_TILE_X;
}

static struct shape shape_of(const struct wick__gpu *gpu, const struct kind *kind, int64_t columns) {
    int64_t shared = wick__mma_shared(gpu), half = (shared + 1024) / 2 - 1024; /* a block takes 1 KiB more */
    int size = SIZES - 1, least = shared > 0 ? 0 : 1;
    struct shape s;
    while (size > least && 4 << size >= columns) size--;
    set_size(&s, kind, size);
    if (shared == 0) { /* AMD: one stage, whose LDS the kernels say, and the next in registers; 16 columns or more */
        s.resident = wick__max(1, (int64_t)AMD_LDS / s.stage);
        s.stages = 0;
        return s;
    }
    while (s.size > 0 && 2 * s.stage > shared) set_size(&s, kind, s.size - 1);
    s.resident = s.columns <= kind->pair && 2 * s.stage <= half ? 2 : 1;
    s.stages = wick__max(2, wick__min(GPU_TILE_STAGES, (s.resident == 2 ? half : shared) / s.stage));
    return s;
}

/* The split of k that should take the least time, counted in steps of a block. A block's beginning and end take two,
 * the launch that adds up splits one, and what it moves so much a number (estimates from an H100's rate of reading). */
static struct wick__split split_of(const struct wick__gpu *gpu, const struct shape *s, int64_t m, int64_t n,
                                   int64_t steps) {
    const double ends = 2, launch = 1, number = 6e-7;
    int64_t tiles = wick__div_up(n, GPU_TILE_ROWS) * wick__div_up(m, s->columns);
    int64_t slots = wick__max(1, gpu->properties.units) * s->resident, best = steps;
    double least = 0;
    for (int64_t count = 1; count <= wick__min(steps, 64); count++) {
        int64_t each = wick__div_up(steps, count);
        if (wick__div_up(steps, each) != count) continue;
        double time = (double)wick__div_up(tiles * count, slots) * ((double)each + ends);
        if (count > 1) time += launch + (double)(count * m * n) * number;
        if (count > 1 && time >= least) continue;
        least = time;
        best = each;
    }
    return (struct wick__split){.count = (u32)wick__div_up(steps, best), .terms = best};
}

bool wick__tiles_take(const struct wick__gpu *gpu, const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[1];
    /* Beyond them it is slower on an H200. Of types whose runs have two sums each, q6_k alone was timed. */
    bool parts =
        weight->dtype == WICK_DTYPE_q6_k || weight->dtype == WICK_DTYPE_q3_k || weight->dtype == WICK_DTYPE_q2_k;
    int64_t most = parts ? 64 : 128;
    int64_t n = weight->layout.shape[0], k = weight->layout.shape[1], m = wick__count(call->out[0]) / n;
    return wick__has_mma(gpu) && kind_of(weight->dtype) && m > 1 && m <= most && k > 0 && k < INT32_MAX &&
           k % GPU_TILE_STEP == 0 && (uintptr_t)wick__data(weight) % 16 == 0 && (uintptr_t)wick__data(x) % 16 == 0;
}

static enum wick_status multiply(struct wick__gpu *gpu, const struct wick__product *g, const struct kind *kind,
                                 const struct shape *shape, struct gpu_linear_tiles *p) {
    struct wick__split split = split_of(gpu, shape, g->m, g->n, p->steps);
    p->split = (u32)split.terms;
    WICK__TRY(wick__split_begin(gpu, g, &split, &p->out));
    struct wick__launch launch = {.kernel = kind->kernels[shape->size],
                                  .grid = {(unsigned)wick__div_up(g->n, GPU_TILE_ROWS), split.count,
                                           (unsigned)wick__div_up(g->m, shape->columns)},
                                  .shared = (unsigned)shape->stages * shape->stage};
    return wick__split_end(gpu, g, &split, wick__gpu_launch(gpu, &launch, p));
}

enum wick_status wick__tiles_multiply(struct wick__gpu *gpu, const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2], *y = call->out[0];
    const struct wick__traits *traits = &wick__traits[weight->dtype];
    const struct kind *kind = kind_of(weight->dtype);
    int64_t n = weight->layout.shape[0], k = weight->layout.shape[1], m = wick__count(y) / n;
    struct wick__product g = {.dtype = x->dtype,
                              .m = m,
                              .n = n,
                              .k = k,
                              .c = wick__data(y),
                              .c_row = n,
                              .bias = bias ? wick__data(bias) : NULL,
                              .bias_step = 1,
                              .activation = call->p.linear.activation};
    struct shape shape = shape_of(gpu, kind, m);
    int64_t groups = wick__div_up(wick__div_up(m, shape.columns) * shape.columns, GPU_TILE_GROUP),
            steps = k / GPU_TILE_STEP;
    size_t nbytes = (size_t)(groups * steps) * GPU_TILE_X;
    void *rounded;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &rounded));
    struct gpu_round_tiles round = {.x = wick__data(x), .to = rounded, .columns = m, .k = k, .groups = (u32)groups};
    struct wick__launch launch = {
        .kernel = (enum wick__gpu_kernel)((int)WICK__GPU_K_round_tiles_bf16 + (int)x->dtype - (int)WICK_DTYPE_bf16),
        .grid = {wick__gpu_blocks(gpu, groups * GPU_TILE_GROUP * k / 4, 1)}};
    enum wick_status status = wick__gpu_launch(gpu, &launch, &round);
    struct gpu_linear_tiles p = {.weight = wick__data(weight),
                                 .x = rounded,
                                 .rows = n,
                                 .columns = m,
                                 .row_nbytes = k / traits->elements * traits->nbytes,
                                 .steps = (u32)steps,
                                 .groups = (u32)groups,
                                 .stages = (u32)shape.stages,
                                 .dtype = (u32)x->dtype - (u32)WICK_DTYPE_bf16};
    p.end = p.weight + n * p.row_nbytes;
    if (status == WICK_OK) status = multiply(gpu, &g, kind, &shape, &p);
    wick__gpu_release(gpu, rounded, nbytes);
    return status;
}
