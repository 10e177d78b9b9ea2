/* gather, index_select, embedding: picking elements, or rows of them in units of up to 16 bytes. */
#include "gpu/ops/ids.h"

enum wick_status wick__gpu_check_ids(const struct wick__call *call, const struct wick_tensor *ids, int64_t n) {
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    struct gpu_check_ids check = {0};
    struct wick__layout layout = ids->layout;
    if (wick__count(ids) == 0) return WICK_OK;
    WICK__TRY(wick__gpu_ids(call, ids, n, &check.ids));
    wick__gpu_shape(&layout, 1, &check.shape, check.layout);
    struct wick__launch launch = {.kernel = WICK__GPU_K_check_ids,
                                  .grid = {wick__gpu_blocks(gpu, check.shape.count, 4)}};
    return wick__gpu_launch(gpu, &launch, &check);
}

/* Whether the rows of x and out can be taken in units of `ratio` elements: all that is added to the address of x must
 * be a multiple of the unit. */
static bool fits(const struct gpu_gather *g, int64_t ratio, size_t size) {
    int64_t bytes = ratio * (int64_t)size;
    bool fit = g->shape.size[0] % ratio == 0 && g->step % ratio == 0 && (uintptr_t)g->x % (uintptr_t)bytes == 0 &&
               (uintptr_t)g->out % (uintptr_t)bytes == 0;
    for (u32 d = 1; fit && d < g->shape.rank; d++) fit = g->layout[1].stride[d] % ratio == 0;
    return fit;
}

/* Takes runs of elements that one id moves together in the largest units that fit; returns the unit's size. */
static size_t widen(struct gpu_gather *g, size_t size) {
    if (g->layout[0].stride[0] != 0 || g->layout[1].stride[0] != 1) return size;
    int64_t ratio = 16 / (int64_t)size;
    while (ratio > 1 && !fits(g, ratio, size)) ratio /= 2;
    g->shape.count /= ratio;
    g->shape.size[0] /= ratio;
    g->step /= ratio;
    for (u32 d = 1; d < g->shape.rank; d++) g->layout[1].stride[d] /= ratio;
    g->shape.narrow = g->shape.count < INT32_MAX;
    for (u32 d = 0; d < GPU_RANK && g->shape.narrow; d++)
        wick__gpu_divisor(&g->shape.divisor[d], (uint32_t)g->shape.size[d]);
    return size * (size_t)ratio;
}

/* Whether four neighbours can be taken at once. */
static bool fourfold(const struct gpu_gather *g, size_t size) {
    size_t out = size * 4 < 16 ? size * 4 : 16, ids = g->ids.width * 4 < 16 ? g->ids.width * 4 : 16;
    bool four = size < 16 && g->shape.size[0] % 4 == 0 && g->layout[0].stride[0] == 1 && (uintptr_t)g->out % out == 0 &&
                (uintptr_t)g->ids.data % ids == 0;
    for (u32 d = 1; four && d < g->shape.rank; d++) four = g->layout[0].stride[d] % 4 == 0;
    return four;
}

static enum wick_status gather(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *ids = call->in[1];
    struct wick_tensor *y = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(y);
    int dim = call->p.along.dim;
    int64_t n = x->layout.shape[dim];
    size_t size = wick__size(x->dtype);
    struct gpu_gather g = {.x = wick__data(x), .out = wick__data(y), .step = x->layout.stride[dim]};
    if (wick__count(y) == 0) return wick__gpu_check_ids(call, ids, n);
    WICK__TRY(wick__gpu_ids(call, ids, n, &g.ids));
    struct wick__layout layouts[3] = {wick__gpu_ids_layout(ids, &y->layout, dim, call->op != WICK_OP_gather), y->layout,
                                      y->layout};
    for (int d = 0; d < y->layout.rank; d++) layouts[1].stride[d] = d == dim ? 0 : x->layout.stride[d];
    struct gpu_layout strides[3];
    wick__gpu_shape(layouts, 3, &g.shape, strides);
    g.layout[0] = strides[0];
    g.layout[1] = strides[1];
    size = widen(&g, size);
    g.fourfold = fourfold(&g, size);
    struct wick__launch launch = {.kernel = size == 16 ? WICK__GPU_K_gather_b16
                                                       : wick__gpu_of_size(WICK__GPU_K_gather_b1, size),
                                  .grid = {wick__gpu_blocks(gpu, g.shape.count, g.fourfold ? 8 : 4)}};
    return wick__gpu_launch(gpu, &launch, &g);
}

wick__kernel_fn wick__gpu_gather;
enum wick_status wick__gpu_gather(const struct wick__call *call) {
    if (wick__is_plain(call->in[0]->dtype)) return gather(call);
    struct wick_tensor x = wick__as_bytes(call->in[0]), out = wick__as_bytes(call->out[0]);
    struct wick__call bytes = *call;
    bytes.in[0] = &x;
    bytes.out[0] = &out;
    return gather(&bytes);
}
