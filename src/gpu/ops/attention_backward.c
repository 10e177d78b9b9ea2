/* scaled_dot_product_attention_backward, attention_packed_backward. */
#include "gpu/ops/attention.h"
#include "gpu/ops/gemm.h"
#include "gpu/runtime/slots.h"

#include "core/checked.h"

#include "kernels/attention_backward.h"

#include <string.h>

/* How the gradients of q, and of k or of both k and v, are launched: kernels, the rows and columns of a block, its
 * threads and LDS. */
struct way {
    enum wick__gpu_kernel kernel;
    int64_t rows, columns;
    unsigned threads, shared;
};
enum kind { PLAIN, TILES, MMA, BULK };

static struct gpu_attention_backward describe(const struct wick__call *call,
                                              const struct wick__attention_sizes *sizes) {
    const struct wick_tensor *log_sums = call->in[5];
    const int64_t *stride = log_sums->layout.stride;
    struct gpu_attention_backward p = {.a = wick__gpu_attention_describe(call, sizes),
                                       .gradient = wick__data(call->in[0]),
                                       .result = wick__data(call->in[4]),
                                       .log_sums = wick__data(log_sums),
                                       .key_heads = (u32)call->in[2]->layout.shape[1],
                                       .whole = wick__gpu_attention_aligned(call->in[0]) &&
                                                wick__gpu_attention_aligned(call->in[4]) &&
                                                sizes->width * wick__size(call->in[0]->dtype) % 16 == 0};
    wick__gpu_attention_strides(p.gradient_stride, call->in[0], sizes->packed);
    wick__gpu_attention_strides(p.result_stride, call->in[4], sizes->packed);
    if (sizes->packed)
        memcpy(p.sums_stride, (i64[]){0, stride[1], stride[0], 0}, sizeof p.sums_stride);
    else
        memcpy(p.sums_stride, stride, 3 * sizeof *stride);
    p.a.group = p.key_heads > 0 ? p.a.heads / p.key_heads : 1;
    p.a.across = 1;
    p.a.total = sizes->batches * p.a.heads * sizes->queries;
    return p;
}

/* ---- ways ---- */

static struct way plain_way(enum wick_dtype dtype) {
    return (struct way){wick__gpu_of_floats(WICK__GPU_K_attention_backward_bf16, dtype), 64,
                        dtype == WICK_F64 ? 64 : 128, 0, 0};
}

/* Whether the kernels of f32 by tiles in registers take the call. */
static bool takes_tiles(const struct wick__call *call, const struct wick__attention_sizes *sizes) {
    if (call->in[1]->dtype != WICK_F32 || sizes->depth > 128 || sizes->width > 128 || sizes->depth % 4 != 0 ||
        sizes->width % 4 != 0)
        return false;
    for (int i = 0; i < 4; i++)
        if (wick__count(call->in[i]) == 0 || !wick__gpu_attention_aligned(call->in[i])) return false;
    for (int i = 0; i < 3; i++)
        if (!wick__aligned16(wick__data(call->out[i]))) return false;
    return true;
}

/* Those, of 64 rows where every unit then has a block, else of 32, as are wide keys on AMD, which lacks registers for
 * more. *together: that of k makes the gradient of v too. */
static struct way way_of_tiles(const struct wick__gpu *gpu, const struct wick__attention_sizes *sizes,
                               const struct gpu_attention_backward *p, enum gpu_attention_of of, bool *together) {
    static const enum wick__gpu_kernel kernels[][4] = {
        {WICK__GPU_K_attention_backward_plain_q_32_32, WICK__GPU_K_attention_backward_plain_q_32_64,
         WICK__GPU_K_attention_backward_plain_q_32_96, WICK__GPU_K_attention_backward_plain_q_32_128},
        {WICK__GPU_K_attention_backward_plain_kv_32_32, WICK__GPU_K_attention_backward_plain_kv_32_64,
         WICK__GPU_K_attention_backward_plain_kv_32_96, WICK__GPU_K_attention_backward_plain_kv_32_128},
        {WICK__GPU_K_attention_backward_plain_q_64_32, WICK__GPU_K_attention_backward_plain_q_64_64,
         WICK__GPU_K_attention_backward_plain_q_64_96, WICK__GPU_K_attention_backward_plain_q_64_128},
        {WICK__GPU_K_attention_backward_plain_kv_64_32, WICK__GPU_K_attention_backward_plain_kv_64_64,
         WICK__GPU_K_attention_backward_plain_k_64_96, WICK__GPU_K_attention_backward_plain_k_64_128},
        {WICK__GPU_K_attention_backward_plain_kv_64_32, WICK__GPU_K_attention_backward_plain_kv_64_64,
         WICK__GPU_K_attention_backward_plain_v_64_96, WICK__GPU_K_attention_backward_plain_v_64_128}};
    bool of_q = of == GPU_ATTENTION_OF_Q;
    int64_t lines = sizes->batches * (of_q ? p->a.heads : p->key_heads), chunk = wick__max(sizes->depth, sizes->width);
    bool high = lines * wick__div_up(of_q ? sizes->queries : sizes->keys, 64) >= gpu->properties.units;
    chunk = (chunk - 1) / 32;
    if (!of_q && chunk > 0 && wick__capability(gpu) == 0) high = false;
    *together = !(high && chunk > 1);
    return (struct way){
        .kernel = kernels[high ? 2 + (int)of : !of_q][chunk], .rows = high ? 64 : 32, .columns = 128, .threads = 128};
}

/* Whether the matrix kernels take the call: they count positions in 32 bits. */
static bool takes_mma(const struct wick__gpu *gpu, const struct wick__call *call,
                      const struct wick__attention_sizes *sizes) {
    enum wick_dtype dtype = call->in[1]->dtype;
    if ((dtype != WICK_BF16 && dtype != WICK_F16) || !wick__has_mma(gpu) || sizes->queries >= 1 << 29 ||
        sizes->keys >= 1 << 29 || sizes->depth > 128 || sizes->width > 128)
        return false;
    for (int i = 0; i < 4; i++)
        if (wick__count(call->in[i]) == 0 || !wick__gpu_attention_aligned(call->in[i])) return false;
    return true;
}

/* Those of groups of waves of 64 lines; bytes of LDS are for the lines, and three steps of 64 others. */
static struct way way_of_groups(bool of_q, bool bf16, bool small) {
    static const enum wick__gpu_kernel kernels[2][2][2] = {
        {{WICK__GPU_K_attention_backward_group_kv_128_f16, WICK__GPU_K_attention_backward_group_kv_128_bf16},
         {WICK__GPU_K_attention_backward_group_kv_64_f16, WICK__GPU_K_attention_backward_group_kv_64_bf16}},
        {{WICK__GPU_K_attention_backward_group_q_128_f16, WICK__GPU_K_attention_backward_group_q_128_bf16},
         {WICK__GPU_K_attention_backward_group_q_64_f16, WICK__GPU_K_attention_backward_group_q_64_bf16}}};
    const unsigned dim = small ? 64 : 128, groups = small ? 3 : 2;
    return (struct way){kernels[of_q][small][bf16], groups * 64, dim, groups * 128,
                        (2 * 64 * groups + 3 * 2 * 64) * dim * 2};
}

/* Whether the driver has kernels for takes_mma: machine code for sm_90 those of groups of waves alone, PTX, which is of
 * an older capability, the others. */
static bool has_mma(struct wick__gpu *gpu) {
    return wick__capability(gpu) != 90 || wick__gpu_is_native(gpu, WICK__GPU_M_attention_backward_group) ||
           !wick__gpu_is_native(gpu, WICK__GPU_M_attention_backward_mma);
}

/* The matrix kernels; bytes of LDS are for lines, and for two steps of others, where copies are asynchronous. */
static struct way way_of(struct wick__gpu *gpu, const struct wick__call *call,
                         const struct wick__attention_sizes *sizes, enum gpu_attention_of of) {
    bool bf16 = call->in[1]->dtype == WICK_BF16, small = wick__max(sizes->depth, sizes->width) <= 64;
    if (wick__capability(gpu) == 90 && wick__gpu_is_native(gpu, WICK__GPU_M_attention_backward_group))
        return way_of_groups(of == GPU_ATTENTION_OF_Q, bf16, small);
    bool tiles = wick__mma_shared(gpu) > 0, wide = gpu->properties.wave == 64;
    unsigned threads = wide ? 256 : 128;
    if (of == GPU_ATTENTION_OF_Q && small)
        return (struct way){bf16 ? WICK__GPU_K_attention_backward_q_64_bf16 : WICK__GPU_K_attention_backward_q_64_f16,
                            tiles || wide ? 128 : 64, 64, threads, tiles ? (2 * 128 + 4 * 64) * 64 * 2 : 0};
    if (of == GPU_ATTENTION_OF_Q)
        return (struct way){bf16 ? WICK__GPU_K_attention_backward_q_128_bf16 : WICK__GPU_K_attention_backward_q_128_f16,
                            tiles || wide ? 128 : 64, 128, threads, tiles ? (2 * 128 + 4 * 32) * 128 * 2 : 0};
    if (small)
        return (struct way){bf16 ? WICK__GPU_K_attention_backward_kv_64_bf16 : WICK__GPU_K_attention_backward_kv_64_f16,
                            tiles || wide ? 128 : 64, 64, threads, tiles ? (2 * 128 + 4 * 32) * 64 * 2 : 0};
    return (struct way){bf16 ? WICK__GPU_K_attention_backward_kv_128_bf16 : WICK__GPU_K_attention_backward_kv_128_f16,
                        64, 128, threads, tiles ? (2 * 64 + 4 * 32) * 128 * 2 : 0};
}

/* ---- launches ---- */

/* The gradient of operand `of`, in as many launches as the number of blocks asks for. */
static enum wick_status launch(struct wick__gpu *gpu, const struct wick__call *call,
                               const struct wick__attention_sizes *sizes, struct gpu_attention_backward p,
                               enum gpu_attention_of of, struct way way) {
    int64_t positions = of == GPU_ATTENTION_OF_Q ? sizes->queries : sizes->keys;
    int64_t length = of == GPU_ATTENTION_OF_V ? sizes->width : sizes->depth;
    int64_t heads = of == GPU_ATTENTION_OF_Q ? p.a.heads : p.key_heads;
    struct wick__launch launch = {.kernel = way.kernel,
                                  .grid = {0, 1, (unsigned)wick__div_up(length, way.columns)},
                                  .threads = way.threads,
                                  .shared = way.shared,
                                  .apart = true};
    p.of = of;
    p.out = wick__data(call->out[of]);
    p.out_v = wick__data(call->out[GPU_ATTENTION_OF_V]);
    p.a.tiles = (u32)(sizes->packed ? positions / way.rows + sizes->sequences : wick__div_up(positions, way.rows));
    if (wick__count(call->out[of]) == 0) return WICK_OK;
    int64_t blocks = sizes->batches * heads * p.a.tiles;
    for (int64_t first = 0; first < blocks; first += WICK__ATTENTION_BLOCKS) {
        launch.grid[0] = (unsigned)wick__min(WICK__ATTENTION_BLOCKS, blocks - first);
        p.a.first = (u64)first;
        WICK__TRY(wick__gpu_launch(gpu, &launch, &p));
    }
    return WICK_OK;
}

/* sum(gradient result), then the gradients: of k and v together where there is a kernel for that, else one by one. */
static enum wick_status launch_all(struct wick__gpu *gpu, const struct wick__call *call,
                                   const struct wick__attention_sizes *sizes, struct gpu_attention_backward *p,
                                   enum kind kind) {
    enum wick_dtype dtype = call->in[1]->dtype;
    const struct wick__launch delta = {.kernel = wick__gpu_of_floats(WICK__GPU_K_attention_delta_bf16, dtype),
                                       .grid = {wick__gpu_blocks(gpu, p->a.total * 16, 1)}};
    const struct wick__launch power = {.kernel = WICK__GPU_K_attention_power_f16,
                                       .grid = {(unsigned)(sizes->batches * p->key_heads)}};
    if (p->a.total > 0) WICK__TRY(wick__gpu_launch(gpu, &delta, p));
    if (p->tops) WICK__TRY(wick__gpu_launch(gpu, &power, p));
    if (kind == BULK) return wick__gpu_attention_backward_bulk(gpu, call, sizes, p);
    bool together = kind == MMA;
    for (int i = GPU_ATTENTION_OF_Q; i <= GPU_ATTENTION_OF_V; i++) {
        enum gpu_attention_of of = (enum gpu_attention_of)i;
        struct way way = kind == MMA     ? way_of(gpu, call, sizes, of)
                         : kind == TILES ? way_of_tiles(gpu, sizes, p, of, &together)
                                         : plain_way(dtype);
        WICK__TRY(launch(gpu, call, sizes, *p, of, way));
        if (of == GPU_ATTENTION_OF_K && together) break;
    }
    return WICK_OK;
}

wick__kernel_fn wick__gpu_attention_backward;
enum wick_status wick__gpu_attention_backward(const struct wick__call *call) {
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    bool packed = call->op == WICK_OP_attention_packed_backward;
    struct wick__attention_sizes sizes = wick__gpu_attention_sizes(call, packed, 1, 6);
    struct gpu_attention_backward p = describe(call, &sizes);
    if (wick__count(call->out[0]) == 0 && wick__count(call->out[1]) == 0 && wick__count(call->out[2]) == 0)
        return WICK_OK;
    if (packed) WICK__TRY(wick__gpu_attention_suspect(call, &sizes, &p.a.report));
    if (p.a.total == 0) return launch_all(gpu, call, &sizes, &p, PLAIN);
    enum kind kind = takes_tiles(call, &sizes) ? TILES : PLAIN;
    if (takes_mma(gpu, call, &sizes) && has_mma(gpu))
        kind = wick__gpu_attention_backward_bulk_takes(gpu, call, &sizes) ? BULK : MMA;
    bool scaled = kind >= MMA && call->in[1]->dtype == WICK_F16;
    size_t total = (size_t)p.a.total, powers = (size_t)sizes.batches * p.key_heads;
    size_t nbytes = total * (call->in[1]->dtype == WICK_F64 ? 8 : 4) + (scaled ? (total + powers) * 4 : 0);
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &p.delta));
    if (scaled) {
        p.tops = (char *)p.delta + total * 4;
        p.powers = (char *)p.tops + total * 4;
    }
    enum wick_status status = launch_all(gpu, call, &sizes, &p, kind);
    wick__gpu_release(gpu, p.delta, nbytes);
    return status;
}
