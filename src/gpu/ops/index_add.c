/* index_add: the sources of each row are listed by sorting the ids, and a row is made in one go and written once. */
#include "gpu/ops/ids.h"
#include "gpu/ops/scatter.h"
#include "gpu/ops/sort.h"

#include "core/checked.h"

static size_t round_up(size_t nbytes) { return (nbytes + 255) / 256 * 256; }

/* Whether rows of x, source and out can be taken in units of 16 bytes. */
static bool in_vectors(const struct gpu_index_add *p, int64_t ratio) {
    bool fit = (p->one || (p->layout[0].stride[0] == 1 && wick__aligned16(p->x))) && p->layout[1].stride[0] == 1 &&
               p->layout[2].stride[0] == 0 && p->shape.size[0] % ratio == 0 && p->step % ratio == 0 &&
               wick__aligned16(p->source) && wick__aligned16(p->out);
    for (u32 d = 1; fit && d < p->shape.rank; d++)
        fit = p->layout[0].stride[d] % ratio == 0 && p->layout[1].stride[d] % ratio == 0;
    return fit;
}

/* Whether rows are to be taken in such units all the same, as most elements have no source and x is one element or
 * dense. */
static u32 runs_of(const struct gpu_index_add *p) {
    enum { APART = 32 };                /* columns for each that has a source: most units have none */
    const int64_t most = INT32_MAX / 2; /* elements, that no number of threads passes 2^32 */
    const int64_t *stride = p->layout[0].stride, *place = p->layout[2].stride;
    if (p->vectors || p->shape.rank != 2 || p->shape.count >= most || !wick__aligned16(p->out)) return 0;
    if (!p->one && (stride[0] != 1 || stride[1] != p->shape.size[0] || !wick__aligned16(p->x))) return 0;
    if (place[0] == 0 && place[1] == 1) return p->k < p->n / 4 && p->layout[1].stride[0] == 1 ? GPU_INDEX_ROWS : 0;
    return place[0] == 1 && place[1] == 0 && p->k < p->n / APART ? GPU_INDEX_COLUMNS : 0;
}

static enum wick_status launch_over(struct wick__gpu *gpu, enum wick__gpu_kernel kernel, int64_t items,
                                    struct gpu_index_add *p) {
    struct wick__launch launch = {.kernel = kernel, .grid = {wick__gpu_blocks(gpu, items, 1)}};
    return wick__gpu_launch(gpu, &launch, p);
}

/* Lists the sources of each row. `memory` has room for the keys, for them sorted, their places, and the beginnings of
 * rows. */
static enum wick_status list(struct wick__gpu *gpu, struct gpu_index_add *p, char *memory) {
    size_t size = round_up((size_t)p->k * 4);
    p->passes = 0;
    for (uint64_t most = (uint64_t)p->n; most; most >>= 8) p->passes++;
    p->keys = (u32 *)(void *)memory;
    p->places = (u32 *)(void *)(memory + 2 * size);
    p->first = (u32 *)(void *)(memory + 3 * size);
    if (p->k <= GPU_INDEX_LIST) {
        enum { EACH = 4 * GPU_BLOCK }; /* rows of a block */
        bool whole = p->n <= 4 * GPU_INDEX_LIST;
        struct wick__launch launch = {.kernel =
                                          p->k <= 4 * GPU_BLOCK ? WICK__GPU_K_index_list4 : WICK__GPU_K_index_list16,
                                      .grid = {whole ? (unsigned)wick__div_up(p->n + 1, EACH) : 1}};
        if (whole) p->keys = NULL;
        WICK__TRY(wick__gpu_launch(gpu, &launch, p));
        return whole ? WICK_OK : launch_over(gpu, WICK__GPU_K_index_first, p->n + 1, p);
    }
    struct gpu_sort sort = {.in = memory,
                            .values = memory + size,
                            .indices = p->places,
                            .lines = 1,
                            .n = p->k,
                            .inner = 1,
                            .k = p->k,
                            .passes = p->passes};
    WICK__TRY(launch_over(gpu, WICK__GPU_K_index_keys, p->k, p));
    WICK__TRY(wick__gpu_sort_lines(gpu, &sort, 4));
    p->keys = sort.values;
    return launch_over(gpu, WICK__GPU_K_index_first, p->n + 1, p);
}

static enum wick_status run(struct wick__gpu *gpu, struct gpu_index_add *p, char *memory, enum wick_dtype dtype) {
    size_t size = wick__size(dtype);
    WICK__TRY(list(gpu, p, memory));
    return launch_over(gpu, wick__gpu_of_all(WICK__GPU_K_index_add_u8, dtype),
                       p->runs      ? wick__div_up(p->shape.count, (int64_t)(16 / size))
                       : p->vectors ? p->shape.count / (int64_t)(16 / size)
                                    : p->shape.count,
                       p);
}

wick__kernel_fn wick__gpu_index_add;
enum wick_status wick__gpu_index_add(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *ids = call->in[1], *source = call->in[2];
    struct wick_tensor *y = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(y);
    int dim = call->p.along.dim;
    int64_t n = x->layout.shape[dim], k = ids->layout.shape[0];
    if (wick__count(y) == 0 || wick__count(source) == 0 || n >= INT32_MAX || k >= INT32_MAX)
        return wick__gpu_scatter_run(call, true);
    struct gpu_index_add p = {.out = wick__data(y),
                              .x = wick__data(x),
                              .source = wick__data(source),
                              .ids_step = ids->layout.stride[0],
                              .k = k,
                              .n = n,
                              .step = source->layout.stride[dim]};
    struct wick__layout layouts[4] = {x->layout, y->layout, y->layout, y->layout};
    struct gpu_layout strides[4];
    for (int d = 0; d < x->layout.rank; d++) {
        layouts[1].stride[d] = d == dim ? 0 : source->layout.stride[d];
        layouts[2].stride[d] = d == dim;
    }
    wick__gpu_shape(layouts, 4, &p.shape, strides);
    for (int i = 0; i < 3; i++) p.layout[i] = strides[i];
    p.one = 1;
    for (u32 d = 0; d < p.shape.rank; d++) p.one &= p.layout[0].stride[d] == 0;
    WICK__TRY(wick__gpu_ids(call, ids, n, &p.ids));
    p.vectors = in_vectors(&p, 128 / wick_dtype_bits(x->dtype));
    p.runs = runs_of(&p);
    size_t nbytes = 3 * round_up((size_t)k * 4) + (size_t)(n + 1) * 4;
    void *memory;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &memory));
    enum wick_status status = run(gpu, &p, memory, x->dtype);
    wick__gpu_release(gpu, memory, nbytes);
    return status;
}
