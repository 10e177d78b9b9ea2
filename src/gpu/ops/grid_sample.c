/* grid_sample and its gradients. That of x sorts the taps of all points by the elements that they take. */
#include "gpu/ops/sort.h"
#include "kernels/grid_sample.h"

#include <wick/conv.h>

_Static_assert((int)GPU_GRID_BILINEAR == (int)WICK_GRID_BILINEAR && (int)GPU_GRID_NEAREST == (int)WICK_GRID_NEAREST &&
                   (int)GPU_GRID_BICUBIC == (int)WICK_GRID_BICUBIC && (int)GPU_GRID_ZEROS == (int)WICK_GRID_ZEROS &&
                   (int)GPU_GRID_BORDER == (int)WICK_GRID_BORDER &&
                   (int)GPU_GRID_REFLECTION == (int)WICK_GRID_REFLECTION,
               "modes of grid_sample");

static enum wick_status launch(struct wick__gpu *gpu, enum wick__gpu_kernel first, enum wick_dtype dtype,
                               struct gpu_grid *p, int64_t count) {
    p->count = count;
    struct wick__launch l = {.kernel = wick__gpu_of_floats(first, dtype), .grid = {wick__gpu_blocks(gpu, count, 1)}};
    return wick__gpu_launch(gpu, &l, p);
}

/* Sorts what the taps of each image take, and sums. */
static enum wick_status by_x(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_grid *p, int64_t images) {
    int64_t line = p->points * p->taps, count = images * line;
    size_t each = ((size_t)count * sizeof *p->keys + 255) / 256 * 256;
    void *memory;
    WICK__TRY(wick__gpu_scratch(gpu, 3 * each, &memory));
    char *parts = memory;
    struct gpu_sort sort = {.lines = images, .n = line, .inner = 1, .k = line};
    p->keys = memory;
    sort.in = parts;
    sort.values = parts + each;
    sort.indices = (u32 *)(void *)(parts + 2 * each);
    for (uint64_t most = (uint64_t)p->plane; most; most >>= 8) sort.passes++;
    enum wick_status status = launch(gpu, WICK__GPU_K_grid_keys_bf16, dtype, p, count);
    if (status == WICK_OK) status = wick__gpu_sort_lines(gpu, &sort, sizeof *p->keys);
    p->keys = (u32 *)(void *)(parts + each);
    p->order = sort.indices;
    if (status == WICK_OK) status = launch(gpu, WICK__GPU_K_grid_by_x_bf16, dtype, p, images * p->chunks * p->plane);
    wick__gpu_release(gpu, memory, 3 * each);
    return status;
}

wick__kernel_fn wick__gpu_grid_sample;
enum wick_status wick__gpu_grid_sample(const struct wick__call *call) {
    bool input = call->op == WICK_OP_grid_sample_backward_input, back = call->op == WICK_OP_grid_sample_backward_grid;
    const struct wick_tensor *x = input ? call->out[0] : call->in[back], *grid = call->in[input ? 1 : 1 + back];
    struct wick_tensor *out = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(out);
    int64_t images = x->layout.shape[0];
    struct gpu_grid p = {.x = input ? NULL : wick__data(x),
                         .grid = wick__data(grid),
                         .gradient = input || back ? wick__data(call->in[0]) : NULL,
                         .out = wick__data(out),
                         .channels = x->layout.shape[1],
                         .dims = (u32)(x->layout.rank - 2),
                         .mode = (u32)call->p.grid.mode,
                         .padding = (u32)call->p.grid.padding,
                         .corners = call->p.grid.align_corners};
    if (wick__count(out) == 0) return WICK_OK;
    p.plane = p.points = p.taps = 1;
    for (u32 d = 0; d < 3; d++) {
        bool there = d + p.dims >= 3;
        p.size[d] = there ? x->layout.shape[d + p.dims - 1] : 1;
        p.plane *= p.size[d];
        if (there) p.points *= grid->layout.shape[d + p.dims - 2];
        if (there) p.taps *= p.mode == GPU_GRID_NEAREST ? 1 : p.mode == GPU_GRID_BICUBIC ? 4 : 2;
    }
    p.chunks = (p.channels + GPU_GRID_CHANNELS - 1) / GPU_GRID_CHANNELS;
    if (back) return launch(gpu, WICK__GPU_K_grid_by_grid_bf16, x->dtype, &p, images * p.points);
    if (!input) return launch(gpu, WICK__GPU_K_grid_sample_bf16, x->dtype, &p, images * p.chunks * p.points);
    if (p.points == 0) return launch(gpu, WICK__GPU_K_grid_by_x_bf16, x->dtype, &p, images * p.chunks * p.plane);
    return by_x(gpu, x->dtype, &p, images);
}
