/* scaled_dot_product_attention, attention_packed. */
#include "gpu/ops/attention.h"
#include "gpu/ops/gemm.h"
#include "gpu/runtime/slots.h"

#include "core/checked.h"

#include <math.h>
#include <string.h>

struct wick__attention_sizes wick__gpu_attention_sizes(const struct wick__call *call, bool packed, int first,
                                                       int mask) {
    const struct wick_tensor *const *in = call->in + first;
    const int64_t *q = in[0]->layout.shape, *k = in[1]->layout.shape, *v = in[2]->layout.shape;
    int positions = packed ? 0 : 2, last = packed ? 2 : 3;
    return (struct wick__attention_sizes){.packed = packed,
                                          .first = first,
                                          .mask = mask,
                                          .batches = packed ? 1 : q[0],
                                          .sequences = packed ? call->in[mask]->layout.shape[0] - 1 : q[0],
                                          .queries = q[positions],
                                          .keys = k[positions],
                                          .depth = q[last],
                                          .width = v[last]};
}

void wick__gpu_attention_strides(int64_t to[4], const struct wick_tensor *x, bool packed) {
    const int64_t *stride = x->layout.stride;
    if (packed)
        memcpy(to, (i64[]){0, stride[1], stride[0], stride[2]}, 4 * sizeof *to);
    else
        memcpy(to, stride, 4 * sizeof *to);
}

int64_t wick__gpu_attention_key_heads(const struct wick__call *call) {
    const struct wick__layout *k = &call->in[1]->layout, *v = &call->in[2]->layout;
    return k->shape[1] > 1 && k->stride[1] == 0 && v->stride[1] == 0 ? 1 : k->shape[1];
}

enum { CACHED = 32 << 20 }; /* bytes of keys and values that a GPU's last cache keeps while blocks look at them */

/* A kernel, the queries and columns of a block of it, and how it is launched. */
struct way {
    enum wick__gpu_kernel kernel;
    int64_t rows, columns;
    unsigned threads, shared;
};

bool wick__gpu_attention_aligned(const struct wick_tensor *x) {
    const struct wick__layout *layout = &x->layout;
    int last = layout->rank - 1, piece = 16 / (int)wick__size(x->dtype);
    if (!wick__aligned16(wick__data(x)) || (layout->shape[last] > 1 && layout->stride[last] != 1)) return false;
    for (int d = 0; d < last; d++)
        if (layout->shape[d] > 1 && layout->stride[d] % piece != 0) return false;
    return true;
}

/* Whether a tile of one unit's queries would be mostly empty: up to four blocks of attention_few. */
static bool is_few(const struct wick__call *call, const struct wick__attention_sizes *sizes, int64_t dim) {
    int64_t key_heads = call->in[1]->layout.shape[1], wide = GPU_ATTENTION_FEW_WIDE;
    if (sizes->packed || sizes->keys == 0 || key_heads == 0 || sizes->queries > 4 * GPU_ATTENTION_FEW) return false;
    int64_t group = call->in[0]->layout.shape[1] / key_heads;
    return group * sizes->queries <= 4 * GPU_ATTENTION_FEW && dim <= (call->in[0]->dtype == WICK_F64 ? wide / 2 : wide);
}

/* Whether rows of q, k and v begin at whole vectors. */
static bool are_aligned(const struct wick__call *call) {
    for (int i = 0; i < 3; i++)
        if (!wick__gpu_attention_aligned(call->in[i])) return false;
    return true;
}

/* The kernel of few queries: by pieces of 16 bytes, or where rows are not whole pieces element by element.
 * plan_of_pieces says how many threads the matrix kernels have. */
static struct way way_of_few(const struct wick__gpu *gpu, const struct wick__call *call,
                             const struct wick__attention_sizes *sizes, int64_t dim) {
    enum wick_dtype dtype = call->in[0]->dtype;
    int64_t piece = 16 / (int64_t)wick__size(dtype);
    enum wick__gpu_kernel kernel = wick__gpu_of_floats(WICK__GPU_K_attention_few_bf16, dtype);
    if (dtype != WICK_F8E4M3 && sizes->depth > 0 && sizes->width > 0 && sizes->keys < 1 << 30 &&
        sizes->depth % piece == 0 && sizes->width % piece == 0 && are_aligned(call)) {
        bool bf16 = dtype == WICK_BF16;
        if ((bf16 || dtype == WICK_F16) && wick__mma_shared(gpu) > 0 && dim <= 64)
            return (struct way){bf16 ? WICK__GPU_K_attention_pieces_mma_64_bf16
                                     : WICK__GPU_K_attention_pieces_mma_64_f16,
                                GPU_ATTENTION_FEW_MMA, 64, 0, 0};
        if ((bf16 || dtype == WICK_F16) && wick__mma_shared(gpu) > 0 && dim <= 128)
            return (struct way){bf16 ? WICK__GPU_K_attention_pieces_mma_128_bf16
                                     : WICK__GPU_K_attention_pieces_mma_128_f16,
                                GPU_ATTENTION_FEW_MMA, 128, 0, 0};
        enum wick__gpu_kernel narrow = dtype == WICK_BF16  ? WICK__GPU_K_attention_pieces_64_bf16
                                       : dtype == WICK_F16 ? WICK__GPU_K_attention_pieces_64_f16
                                       : dtype == WICK_F32 ? WICK__GPU_K_attention_pieces_64_f32
                                                           : WICK__GPU_K_attention_pieces_64_f64;
        kernel = narrow + (dim <= 64 ? 0 : dim <= 128 ? 1 : 2);
    }
    return (struct way){.kernel = kernel, .rows = GPU_ATTENTION_FEW, .columns = GPU_ATTENTION_FEW_WIDE};
}

/* The matrix kernel for rows of up to 256 elements where tiles pass through registers. */
static struct way way_of_registers(const struct wick__gpu *gpu, bool bf16, int64_t dim) {
    bool wide = gpu->properties.wave == 64;
    if (dim <= 64)
        return (struct way){bf16 ? WICK__GPU_K_attention_mma_64_bf16 : WICK__GPU_K_attention_mma_64_f16, 128, 64, 256,
                            0};
    if (dim <= 128)
        return (struct way){bf16 ? WICK__GPU_K_attention_mma_128_bf16 : WICK__GPU_K_attention_mma_128_f16, 128, 128,
                            256, 0};
    return (struct way){bf16 ? WICK__GPU_K_attention_mma_256_bf16 : WICK__GPU_K_attention_mma_256_f16, wide ? 128 : 64,
                        256, wide ? 512 : 128, 0};
}

/* That where copies are asynchronous. */
static struct way way_of_tiles(bool bf16, int64_t dim) {
    if (dim <= 64)
        return (struct way){bf16 ? WICK__GPU_K_attention_mma_64_bf16 : WICK__GPU_K_attention_mma_64_f16, 128, 64, 128,
                            (128 + 2 * 64) * 64 * 2};
    if (dim <= 128)
        return (struct way){bf16 ? WICK__GPU_K_attention_mma_128_bf16 : WICK__GPU_K_attention_mma_128_f16, 128, 128,
                            128, (128 + 2 * 32) * 128 * 2};
    return (struct way){bf16 ? WICK__GPU_K_attention_mma_256_bf16 : WICK__GPU_K_attention_mma_256_f16, 64, 256, 128,
                        (64 + 2 * 64) * 256 * 2};
}

/* How many tiles of so many rows a call has. */
static int64_t tiles_of(const struct wick__call *call, const struct wick__attention_sizes *sizes, int64_t rows) {
    struct gpu_attention p = {.heads = (u32)call->in[0]->layout.shape[1], .queries = sizes->queries};
    wick__gpu_attention_share(&p, sizes, wick__gpu_attention_key_heads(call), rows);
    return sizes->batches * p.units * p.tiles;
}

/* Into how many parts the keys of attention_bulk go where units have room for `most`. Parts are joined by a second
 * kernel: on an H200, bf16, four parts of 1x4x1024x64 take 14.9 us instead of 16.3, but two of 1x12x512x64 15.6 instead
 * of 10.9. */
static int64_t plan_of_bulk(int64_t most, int64_t keys) {
    const int64_t parts = wick__min(most, keys / 256);
    return parts >= 4 ? parts : wick__min(parts, keys / 1024);
}

/* That whose keys and values come by bulk copies. Of short rows a tile of 192 queries takes 7/6 of the time of one of
 * 128, and the tiles of a unit follow each other. One of 64 is faster than one of 128 where units have room for all. */
static struct way way_of_bulk(const struct wick__gpu *gpu, const struct wick__call *call,
                              const struct wick__attention_sizes *sizes, int64_t dim) {
    const int64_t units = gpu->properties.units;
    const bool bf16 = call->in[0]->dtype == WICK_BF16;
    const int64_t tiles = tiles_of(call, sizes, 128);
    const int64_t keys = sizes->keys / (sizes->packed ? sizes->sequences : 1);
    const bool lone = tiles_of(call, sizes, 64) <= units && plan_of_bulk(units / wick__max(1, tiles), keys) < 2;
    const bool narrow = lone || 6 * wick__div_up(tiles, units) < 7 * wick__div_up(tiles_of(call, sizes, 192), units);
#define BULK(dim, groups)                                                                                              \
    (struct way) {                                                                                                     \
        bf16 ? WICK__GPU_K_attention_bulk_##dim##_##groups##_bf16 : WICK__GPU_K_attention_bulk_##dim##_##groups##_f16, \
            lone ? 64 : 64 * groups, dim, GPU_ATTENTION_BULK_THREADS(groups), GPU_ATTENTION_BULK_SHARED(dim, groups)   \
    }
    return dim <= 64 ? narrow ? BULK(64, 2) : BULK(64, 3) : dim <= 96 ? BULK(96, 2) : BULK(128, 2);
#undef BULK
}

/* The same where scores have more than a scale to them. */
static struct way way_of_bulk_mask(const struct wick__call *call, int64_t dim) {
    const bool bf16 = call->in[0]->dtype == WICK_BF16;
#define BULK(dim)                                                                                                      \
    (struct way) {                                                                                                     \
        bf16 ? WICK__GPU_K_attention_bulk_mask_##dim##_bf16 : WICK__GPU_K_attention_bulk_mask_##dim##_f16, 128, dim,   \
            GPU_ATTENTION_BULK_THREADS(2), GPU_ATTENTION_BULK_SHARED(dim, 2)                                           \
    }
    return dim <= 64 ? BULK(64) : BULK(128);
#undef BULK
}

static bool is_bulk_mask(enum wick__gpu_kernel kernel) {
    return kernel >= WICK__GPU_K_attention_bulk_mask_64_bf16 && kernel <= WICK__GPU_K_attention_bulk_mask_128_f16;
}

static bool is_bulk(enum wick__gpu_kernel kernel) {
    return (kernel >= WICK__GPU_K_attention_bulk_64_2_bf16 && kernel <= WICK__GPU_K_attention_bulk_128_2_f16) ||
           is_bulk_mask(kernel);
}

/* Whether scores have nothing but their scale and keys that a row may not see. */
static bool is_bare(const struct wick__call *call, const struct wick__attention_sizes *sizes, bool masked) {
    return !masked && !call->in[call->n_in - 1] && (sizes->packed || !call->in[sizes->mask]) &&
           !(call->p.attention.soft_cap > 0);
}

/* Whether the matrix kernels take the call: they count positions in 32 bits, and one kind elements of a step of keys.
 */
static bool takes_mma(const struct wick__gpu *gpu, const struct wick__call *call,
                      const struct wick__attention_sizes *sizes, int64_t dim) {
    const struct wick_tensor *const *in = call->in;
    if ((in[0]->dtype != WICK_BF16 && in[0]->dtype != WICK_F16) || !wick__has_mma(gpu) || dim > 256 ||
        sizes->depth == 0 || sizes->keys == 0 || sizes->queries >= 1 << 29 || sizes->keys >= 1 << 29 ||
        !are_aligned(call))
        return false;
    int positions = sizes->packed ? 0 : 2;
    return wick__mma_shared(gpu) > 0 || (in[1]->layout.stride[positions] < GPU_ATTENTION_STRIDE &&
                                         in[2]->layout.stride[positions] < GPU_ATTENTION_STRIDE);
}

/* The kernel of f32 by tiles in registers: the most rows a block with which every unit still has blocks. */
static struct way way_of_plain(const struct wick__gpu *gpu, const struct wick__call *call,
                               const struct wick__attention_sizes *sizes, int64_t dim) {
    static const enum wick__gpu_kernel low[] = {WICK__GPU_K_attention_plain_32_32, WICK__GPU_K_attention_plain_32_64,
                                                WICK__GPU_K_attention_plain_32_96, WICK__GPU_K_attention_plain_32_128};
    static const enum wick__gpu_kernel middle[] = {WICK__GPU_K_attention_plain_64_32, WICK__GPU_K_attention_plain_64_64,
                                                   WICK__GPU_K_attention_plain_64_96,
                                                   WICK__GPU_K_attention_plain_64_128};
    int64_t chunk = (dim - 1) / 32, lines = sizes->batches * call->in[0]->layout.shape[1];
    if (lines * wick__div_up(sizes->queries, 64) >= gpu->properties.units)
        return (struct way){middle[chunk], 64, 128, 128, 0};
    return (struct way){low[chunk], 32, 128, 128, 0};
}

static bool takes_plain(const struct wick__call *call, const struct wick__attention_sizes *sizes, int64_t dim) {
    return call->in[0]->dtype == WICK_F32 && dim <= 128 && sizes->depth > 0 && sizes->width > 0 &&
           sizes->depth % 4 == 0 && sizes->width % 4 == 0 && are_aligned(call) &&
           wick__aligned16(wick__data(call->out[0]));
}

/* The kernel of f32 by matrix instructions. */
static struct way way_of_tf32(int64_t dim) {
    unsigned pitch = dim <= 64 ? GPU_ATTENTION_TF32_PITCH(64) : GPU_ATTENTION_TF32_PITCH(128);
    return (struct way){dim <= 64 ? WICK__GPU_K_attention_tf32_64 : WICK__GPU_K_attention_tf32_128,
                        GPU_ATTENTION_TF32_ROWS, 128, GPU_ATTENTION_TF32_THREADS,
                        (GPU_ATTENTION_TF32_ROWS + 2 * GPU_ATTENTION_TF32_KEYS) * pitch * 4};
}

/* Whether it takes the call: it counts positions in 32 bits. */
static bool takes_tf32(const struct wick__gpu *gpu, const struct wick__call *call,
                       const struct wick__attention_sizes *sizes, int64_t dim) {
    return call->in[0]->dtype == WICK_F32 && wick__has_tf32(gpu) && dim <= 128 && sizes->depth > 0 &&
           sizes->width > 0 && sizes->keys > 0 && sizes->queries < 1 << 29 && sizes->keys < 1 << 29 &&
           are_aligned(call) && wick__aligned16(wick__data(call->out[0]));
}

static struct way way_of(struct wick__gpu *gpu, const struct wick__call *call,
                         const struct wick__attention_sizes *sizes, bool masked) {
    const struct wick_tensor *q = call->in[0];
    int64_t dim = wick__max(sizes->depth, sizes->width);
    enum wick_dtype dtype = q->dtype;
    if (is_few(call, sizes, dim)) return way_of_few(gpu, call, sizes, dim);
    if (takes_mma(gpu, call, sizes, dim)) {
        const bool bare = is_bare(call, sizes, masked);
        if (wick__gpu_attention_bulk_takes(gpu, call, sizes,
                                           bare ? WICK__GPU_M_attention_bulk : WICK__GPU_M_attention_bulk_mask))
            return bare ? way_of_bulk(gpu, call, sizes, dim) : way_of_bulk_mask(call, dim);
        return wick__mma_shared(gpu) > 0 ? way_of_tiles(dtype == WICK_BF16, dim)
                                         : way_of_registers(gpu, dtype == WICK_BF16, dim);
    }
    if (takes_tf32(gpu, call, sizes, dim)) return way_of_tf32(dim);
    if (takes_plain(call, sizes, dim)) return way_of_plain(gpu, call, sizes, dim);
    return (struct way){wick__gpu_of_floats(WICK__GPU_K_attention_bf16, dtype), 64, dtype == WICK_F64 ? 64 : 128, 0, 0};
}

struct gpu_attention wick__gpu_attention_describe(const struct wick__call *call,
                                                  const struct wick__attention_sizes *sizes) {
    const struct wick_tensor *const *in = call->in + sizes->first, *const *starts = call->in + sizes->mask;
    const struct wick_tensor *slopes = call->in[call->n_in - 1], *mask = sizes->packed ? NULL : starts[0];
    const union wick__params *params = &call->p;
    int64_t far = sizes->queries + sizes->keys; /* no query is farther from a key */
    struct gpu_attention p = {.q = wick__data(in[0]),
                              .k = wick__data(in[1]),
                              .v = wick__data(in[2]),
                              .queries = sizes->queries,
                              .keys = sizes->keys,
                              .depth = sizes->depth,
                              .width = sizes->width,
                              .left = wick__min(params->attention.left, far),
                              .right = wick__min(params->attention.right, far),
                              .align_last = params->attention.align_last,
                              .scale = params->attention.scale,
                              .cap = params->attention.soft_cap,
                              .heads = (u32)in[0]->layout.shape[1],
                              .sequences = (u32)sizes->sequences};
    wick__gpu_attention_strides(p.q_stride, in[0], sizes->packed);
    wick__gpu_attention_strides(p.k_stride, in[1], sizes->packed);
    wick__gpu_attention_strides(p.v_stride, in[2], sizes->packed);
    if (mask) {
        p.mask = wick__data(mask);
        p.masked = mask->dtype == WICK_U8 ? GPU_ATTENTION_KEEP : GPU_ATTENTION_ADD;
        wick__gpu_attention_strides(p.mask_stride, mask, false);
    }
    if (slopes) {
        p.slopes = wick__data(slopes);
        memcpy(p.slope_stride, slopes->layout.stride, sizeof p.slope_stride);
    }
    if (sizes->packed) {
        p.q_starts = wick__data(starts[0]);
        p.k_starts = wick__data(starts[1]);
        p.start_stride[0] = starts[0]->layout.stride[0];
        p.start_stride[1] = starts[1]->layout.stride[0];
    }
    return p;
}

enum wick_status wick__gpu_attention_suspect(const struct wick__call *call, const struct wick__attention_sizes *sizes,
                                             struct gpu_report *report) {
    struct wick__suspect *suspect;
    WICK__TRY(wick__gpu_report(call, WICK__BAD_START, &suspect, report));
    wick__suspect_operand(suspect, 0, sizes->mask, call->in[sizes->mask], sizes->queries);
    wick__suspect_operand(suspect, 1, sizes->mask + 1, call->in[sizes->mask + 1], sizes->keys);
    return WICK_OK;
}

void wick__gpu_attention_share(struct gpu_attention *p, const struct wick__attention_sizes *sizes, int64_t key_heads,
                               int64_t tile_rows) {
    p->group = key_heads > 0 ? (u32)(p->heads / key_heads) : 1;
    /* The heads that share keys go into one tile where one alone would not fill it. */
    p->merged = p->group > 1 && p->queries / (sizes->packed ? sizes->sequences : 1) < tile_rows;
    p->units = p->merged ? (u32)key_heads : p->heads;
    int64_t rows = p->merged ? p->group * p->queries : p->queries;
    p->tiles = (u32)(sizes->packed ? rows / tile_rows + sizes->sequences : wick__div_up(rows, tile_rows));
    p->across = 1;
    p->total = sizes->batches * p->heads * p->queries;
}

uint32_t wick__gpu_attention_across(int64_t all, int64_t nbytes) {
    int64_t most = wick__min(wick__min(all, 1024), CACHED / wick__max(1, nbytes));
    while (most > 1 && all % most != 0) most--;
    return (uint32_t)wick__max(1, most);
}

static u32 across(const struct wick__call *call, const struct wick__attention_sizes *sizes,
                  const struct gpu_attention *p) {
    const int64_t nbytes = sizes->keys * (sizes->depth + sizes->width) * (int64_t)wick__size(call->in[0]->dtype);
    if (sizes->packed || p->tiles < 2 || p->right >= p->keys) return 1;
    return wick__gpu_attention_across(sizes->batches * p->units, nbytes);
}

/* What kernels are told. */
struct told {
    struct gpu_attention_pieces pieces;
    struct gpu_attention_bits bits;
    int64_t rows; /* of a tile */
};

/* In as many launches as the number of blocks asks for. */
static enum wick_status launch_all(struct wick__gpu *gpu, struct wick__launch launch, struct told p, int64_t blocks,
                                   enum wick_dtype dtype) {
    for (int64_t first = 0; first < blocks; first += WICK__ATTENTION_BLOCKS) {
        launch.grid[0] = (unsigned)wick__min(WICK__ATTENTION_BLOCKS, blocks - first);
        p.pieces.all.first = (u64)first;
        WICK__TRY(is_bulk(launch.kernel) ? wick__gpu_attention_bulk(gpu, &launch, &p.pieces.all, &p.bits, dtype, p.rows)
                                         : wick__gpu_launch(gpu, &launch, &p.pieces));
    }
    return WICK_OK;
}

/* Launches with the keys split into parts, which are joined after; `meets`: by the blocks that make them. */
static enum wick_status launch_splits(struct wick__gpu *gpu, enum wick_dtype dtype, struct wick__launch launch,
                                      struct told all, int64_t blocks, bool meets) {
    struct gpu_attention *p = &all.pieces.all;
    size_t sum = dtype == WICK_F64 ? 8 : 4, stats = 2 * p->splits * (size_t)p->total * sum;
    stats = (stats + 15) / 16 * 16; /* the sums are stored by 16 bytes */
    size_t nbytes = stats + p->splits * (size_t)(p->total * p->width) * sum;
    struct wick__launch join = {.kernel = wick__gpu_of_floats(WICK__GPU_K_attention_join_bf16, dtype),
                                .grid = {wick__gpu_blocks(gpu, p->total * p->width, 1)}};
    void *memory;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &memory));
    p->stats = memory;
    p->partial = (char *)memory + stats;
    if (meets) all.pieces.tickets = gpu->tickets;
    enum wick_status status = launch_all(gpu, launch, all, blocks, dtype);
    if (status == WICK_OK && !meets) status = wick__gpu_launch(gpu, &join, p);
    wick__gpu_release(gpu, memory, nbytes);
    return status;
}

/* Into how many parts the keys of attention_pieces_mma go, and how many threads its blocks have, so that blocks nearly
 * fill one to three to a unit: as few as come within a twentieth of what is best. A part is at least two steps of a
 * block. */
static int64_t plan_of_pieces(const struct gpu_attention *p, int64_t blocks, int64_t units, unsigned *threads) {
    enum { MOST = GPU_ATTENTION_PIECES_PARTS };
    const int64_t least = wick__max(p->depth, p->width) > 64 ? 256 : 512;
    const int64_t most =
        blocks > wick__min(units, WICK__GPU_TICKETS) ? 1 : wick__max(1, wick__min(MOST, p->keys / least));
    double best = 0, full[MOST + 1];
    for (int64_t n = 1; n <= most; n++) {
        int64_t slots = wick__min(3, wick__div_up(blocks * n, units)) * units;
        full[n] = (double)(blocks * n) / (double)(wick__div_up(blocks * n, slots) * slots);
        best = fmax(best, full[n]);
    }
    int64_t n = 1;
    while (full[n] < 0.95 * best) n++;
    const int64_t share = GPU_ATTENTION_FEW_RESIDENT / wick__min(3, wick__div_up(blocks * n, units));
    *threads = (unsigned)wick__min(GPU_ATTENTION_FEW_THREADS, share);
    return n;
}

enum wick_status wick__gpu_attention_masked(const struct wick__call *call, const void *keep) {
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    if (wick__count(call->out[0]) == 0 && (call->n_out < 2 || wick__count(call->out[1]) == 0)) return WICK_OK;
    struct wick__attention_sizes sizes = wick__gpu_attention_sizes(call, call->op == WICK_OP_attention_packed, 0, 3);
    if (!sizes.packed && is_bare(call, &sizes, keep != NULL)) {
        bool done;
        WICK__TRY(wick__gpu_attention_library(call, &sizes, &done));
        if (done) return WICK_OK;
    }
    struct way way = way_of(gpu, call, &sizes, keep != NULL);
    struct gpu_attention p = wick__gpu_attention_describe(call, &sizes);
    p.out = wick__data(call->out[0]);
    if (keep) {
        p.mask = keep;
        p.masked = GPU_ATTENTION_KEEP;
        p.mask_stride[3] = 1;
    }
    if (call->n_out > 1) p.log_sums = wick__data(call->out[1]);
    if (sizes.packed) WICK__TRY(wick__gpu_attention_suspect(call, &sizes, &p.report));
    wick__gpu_attention_share(&p, &sizes, wick__gpu_attention_key_heads(call), way.rows);
    p.across = across(call, &sizes, &p);
    int64_t chunks = wick__max(1, wick__div_up(p.width, way.columns)), units = gpu->properties.units;
    int64_t blocks = sizes.batches * p.units * p.tiles, length = p.keys / (sizes.packed ? sizes.sequences : 1);
    /* Keys that are worth a block. */
    int64_t least = way.rows <= GPU_ATTENTION_FEW_MMA ? 64 : call->in[0]->dtype == WICK_F32 ? 128 : 256;
    int64_t splits = 1;
    bool meets = way.rows == GPU_ATTENTION_FEW_MMA;
    struct wick__launch launch = {.kernel = way.kernel,
                                  .threads = way.threads,
                                  .shared = way.shared,
                                  .apart = way.rows > GPU_ATTENTION_FEW_MMA && !is_bulk(way.kernel)};
    if (meets)
        splits = plan_of_pieces(&p, blocks, units, &launch.threads);
    else if (is_bulk(way.kernel))
        splits = plan_of_bulk(units / wick__max(1, blocks), length);
    else if (blocks * chunks < units && p.width > 0)
        splits = wick__min(2 * units / (blocks * chunks), length / least);
    if (splits > 1 && !sizes.packed) {
        int64_t step = meets ? 16 : is_bulk_mask(way.kernel) ? GPU_ATTENTION_BULK_KEYS : 64;
        p.split = wick__div_up(wick__div_up(p.keys, splits), step) * step;
        splits = wick__div_up(p.keys, p.split);
    }
    p.splits = (u32)wick__max(1, splits);
    if (p.splits == 1) p.split = wick__max(1, p.keys);
    launch.grid[1] = p.splits;
    launch.grid[2] = (unsigned)chunks;
    struct told all = {.pieces = {.all = p}, .rows = way.rows};
    void *memory = NULL;
    size_t nbytes = 0;
    if (is_bulk_mask(way.kernel)) WICK__TRY(wick__gpu_attention_lay(gpu, &all.pieces.all, &all.bits, &memory, &nbytes));
    enum wick_status status = p.splits > 1 ? launch_splits(gpu, call->in[0]->dtype, launch, all, blocks, meets)
                                           : launch_all(gpu, launch, all, blocks, call->in[0]->dtype);
    if (memory) wick__gpu_release(gpu, memory, nbytes);
    return status;
}

wick__kernel_fn wick__gpu_attention;
enum wick_status wick__gpu_attention(const struct wick__call *call) { return wick__gpu_attention_masked(call, NULL); }
