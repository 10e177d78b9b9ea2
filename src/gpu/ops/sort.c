/* sort, argsort, topk: by comparison, in one block, or in passes over memory, as long as lines are. */
#include "gpu/ops/sort.h"

#include "core/checked.h"

static int64_t round_up(int64_t nbytes) { return (nbytes + 255) / 256 * 256; }

enum wick_status wick__gpu_zero(struct wick__gpu *gpu, void *memory, int64_t nbytes) {
    struct gpu_sort_zero params = {.memory = memory, .vectors = nbytes / 16};
    struct wick__launch launch = {.kernel = WICK__GPU_K_sort_zero, .grid = {wick__gpu_blocks(gpu, params.vectors, 2)}};
    return wick__gpu_launch(gpu, &launch, &params);
}

static unsigned grid_of(int64_t blocks) { return (unsigned)wick__min(blocks, INT32_MAX); }

/* Counts all digits, then runs a pass a digit, from one pair of buffers into the other. */
static enum wick_status run_passes(struct wick__gpu *gpu, struct gpu_sort_pass *pass, size_t size, char *buffer,
                                   int64_t tile) {
    const struct gpu_sort *s = &pass->sort;
    int64_t count = s->lines * s->n, keys = round_up(count * (int64_t)size), items = keys + round_up(count * 4);
    int64_t chunk = tile * GPU_SORT_COUNT_TILES, parts = (s->n + chunk - 1) / chunk;
    struct wick__launch counting = {.kernel = wick__gpu_of_size(WICK__GPU_K_sort_count_b1, size),
                                    .grid = {(unsigned)(parts * s->lines)}};
    struct wick__launch moving = {.kernel = wick__gpu_of_size(WICK__GPU_K_sort_pass_b1, size),
                                  .grid = {(unsigned)(pass->tiles * s->lines)}};
    WICK__TRY(wick__gpu_launch(gpu, &counting, pass));
    for (u32 i = 0; i < s->passes; i++) {
        char *to = buffer + (i % 2 ? items : 0);
        bool last = i + 1 == s->passes;
        pass->pass = i;
        pass->next_keys = last ? NULL : to;
        pass->next_at = last ? NULL : (u32 *)(void *)(to + keys);
        WICK__TRY(wick__gpu_launch(gpu, &moving, pass));
        pass->keys = pass->next_keys;
        pass->at = pass->next_at;
    }
    return WICK_OK;
}

static enum wick_status sort_long(struct wick__gpu *gpu, const struct gpu_sort *s, size_t size) {
    int64_t tile = GPU_BLOCK * (size == 8 ? GPU_SORT_ITEMS / 2 : GPU_SORT_ITEMS), tiles = (s->n + tile - 1) / tile;
    int64_t count = s->lines * s->n, pairs = wick__min((int64_t)s->passes - 1, 2), counts, status, buffers;
    if (tiles * s->lines > INT32_MAX || count > INT64_MAX / 64)
        return wick__fail(WICK_MEMORY, "out of memory: %lld lines of %lld elements to sort", (long long)s->lines,
                          (long long)s->n);
    counts = round_up(s->lines * s->passes * GPU_SORT_DIGITS * 4);
    status = round_up(s->lines * tiles * GPU_SORT_DIGITS * 8);
    buffers = pairs * (round_up(count * (int64_t)size) + round_up(count * 4));
    size_t nbytes = (size_t)(counts + status + 256 + buffers);
    void *memory;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &memory));
    char *at = memory;
    struct gpu_sort_pass pass = {.sort = *s,
                                 .status = memory,
                                 .counts = (u32 *)(void *)(at + status),
                                 .ticket = (u32 *)(void *)(at + status + counts),
                                 .tiles = (u32)tiles};
    enum wick_status result = wick__gpu_zero(gpu, memory, status + counts + 256);
    if (result == WICK_OK) result = run_passes(gpu, &pass, size, at + status + counts + 256, tile);
    wick__gpu_release(gpu, memory, nbytes);
    return result;
}

enum wick_status wick__gpu_sort_lines(struct wick__gpu *gpu, const struct gpu_sort *s, size_t size) {
    struct gpu_sort params = *s;
    struct wick__launch launch = {.grid = {grid_of(s->lines)}};
    if (s->n <= GPU_SORT_SHORT) {
        int64_t together = GPU_BLOCK / s->n;
        launch.grid[0] = grid_of((s->lines + together - 1) / together);
        launch.kernel = wick__gpu_of_size(WICK__GPU_K_sort_short_b1, size);
    } else if (s->n <= 4 * GPU_BLOCK) {
        launch.kernel = wick__gpu_of_size(WICK__GPU_K_sort_block4_b1, size);
    } else if (s->n <= 8 * GPU_BLOCK) {
        launch.kernel = wick__gpu_of_size(WICK__GPU_K_sort_block8_b1, size);
    } else if (s->n <= 16 * GPU_BLOCK && size < 8) {
        launch.kernel = wick__gpu_of_size(WICK__GPU_K_sort_block16_b1, size);
    } else {
        return sort_long(gpu, s, size);
    }
    return wick__gpu_launch(gpu, &launch, &params);
}

/* The bits of infinity, or of the largest value where there is none. */
static uint64_t most_of(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_DTYPE_bf16: return 0x7f80;
    case WICK_DTYPE_f16: return 0x7c00;
    case WICK_DTYPE_f32: return 0x7f800000;
    case WICK_DTYPE_f64: return UINT64_C(0x7ff0000000000000);
    default: return 0x7e;
    }
}

wick__kernel_fn wick__gpu_sort;
enum wick_status wick__gpu_sort(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick_tensor *y = call->out[0];
    int dim = call->p.along.dim;
    bool only_indices = call->op == WICK_OP_argsort, is_float = wick_dtype_is_float(x->dtype);
    bool is_signed = wick__has(WICK__SIGNED, x->dtype);
    size_t size = wick__size(x->dtype);
    if (wick__count(y) == 0) return WICK_OK;
    struct gpu_sort s = {.in = wick__data(x),
                         .values = only_indices ? NULL : wick__data(y),
                         .n = x->layout.shape[dim],
                         .inner = 1,
                         .k = y->layout.shape[dim],
                         .most = most_of(x->dtype),
                         .order = is_float    ? GPU_ORDER_FLOAT
                                  : is_signed ? GPU_ORDER_SIGNED
                                              : GPU_ORDER_UNSIGNED,
                         .descending = call->p.along.descending,
                         .passes = (u32)size};
    if (only_indices || call->n_out > 1) s.indices = wick__data(call->out[only_indices ? 0 : 1]);
    for (int d = dim + 1; d < x->layout.rank; d++) s.inner *= x->layout.shape[d];
    s.lines = wick__count(x) / s.n;
    return wick__gpu_sort_lines(wick__gpu_of(y), &s, size);
}
