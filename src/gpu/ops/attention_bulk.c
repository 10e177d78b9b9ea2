/* Attention of bf16 and f16 whose keys and values come to LDS by bulk tensor copies (kernels/attention_bulk.hip). */
#include "gpu/ops/attention.h"

#include "core/checked.h"
#include "gpu/ops/gemm.h"

#include <string.h>

bool wick__gpu_attention_has_map(const struct wick__attention_operand *x) {
    for (int d = 0; d < 3; d++) {
        if (x->size[d] > WICK__MAP_MOST) return false;
        if (x->size[d] > 1 && (x->stride[d] <= 0 || x->stride[d] >= WICK__MAP_STRIDE)) return false;
    }
    return true;
}

/* A dim of one has any stride that maps take. */
int wick__gpu_attention_map(struct wick__gpu *gpu, struct gpu_tensor_map *map, const struct wick__attention_operand *x,
                            int lines) {
    struct wick__tensor_map tensor = {.dtype = x->dtype, .from = x->data, .rank = 4, .box = {64, lines}};
    int64_t step = wick__round_up(x->size[3], 8);
    for (int d = 0; d < 4; d++) tensor.size[d] = x->size[3 - d];
    for (int d = 0; d < 3; d++) {
        if (tensor.size[d + 1] > 1) step = x->stride[2 - d];
        tensor.stride[d] = step;
    }
    return gpu->vendor->tensor_map(map, &tensor);
}

/* An operand [batches, heads, positions, length]. */
static struct wick__attention_operand operand(const void *data, enum wick_dtype dtype, const int64_t stride[4],
                                              const int64_t size[4]) {
    struct wick__attention_operand x = {.data = data, .dtype = dtype};
    memcpy(x.stride, stride, sizeof x.stride);
    memcpy(x.size, size, sizeof x.size);
    return x;
}

/* The rows of a mask that are there, of so many batches, heads and queries, of which what is the same for all is one.
 */
static int64_t mask_rows(const int64_t *stride, int64_t size[3]) {
    for (int d = 0; d < 3; d++)
        if (stride[d] == 0) size[d] = 1;
    return size[0] * size[1] * size[2];
}

bool wick__gpu_attention_bulk_takes(struct wick__gpu *gpu, const struct wick__call *call,
                                    const struct wick__attention_sizes *sizes, enum wick__gpu_module module) {
    const int64_t dim = wick__max(sizes->depth, sizes->width), key_heads = wick__gpu_attention_key_heads(call);
    const int64_t lines = sizes->batches * call->in[0]->layout.shape[1];
    struct wick__attention_operand x = {.size = {sizes->batches, key_heads, sizes->keys}};
    if (lines > WICK__MAP_MOST / (sizes->queries / 64 + sizes->sequences + 1))
        return false; /* the kernel divides in 32 bits */
    if (!gpu->properties.maps || wick__capability(gpu) != 90 || dim > 128 || sizes->width == 0) return false;
    if (!(call->p.attention.scale > 0)) return false;
    if (!sizes->packed && call->in[sizes->mask]) {
        int64_t size[3] = {sizes->batches, call->in[0]->layout.shape[1], sizes->queries};
        const int64_t rows = mask_rows(call->in[sizes->mask]->layout.stride, size);
        if (rows > UINT32_MAX / (sizes->keys / 32 + 4)) return false; /* it counts words of bits in 32 bits, too */
    }
    for (int i = 1; i <= 2; i++) { /* k, v */
        wick__gpu_attention_strides(x.stride, call->in[i], sizes->packed);
        if (!wick__gpu_attention_has_map(&x)) return false;
    }
    return wick__gpu_is_native(gpu, module);
}

enum wick_status wick__gpu_attention_bulk(struct wick__gpu *gpu, const struct wick__launch *launch,
                                          const struct gpu_attention *a, const struct gpu_attention_bits *bits,
                                          enum wick_dtype dtype, int64_t tile) {
    const int64_t rows = (int64_t)a->heads * a->queries, batches = rows > 0 ? a->total / rows : 1;
    const int64_t heads = a->heads, key_heads = heads / a->group;
    const struct wick__attention_operand q =
        operand(a->q, dtype, a->q_stride, (int64_t[]){batches, heads, a->queries, a->depth});
    const struct wick__attention_operand k =
        operand(a->k, dtype, a->k_stride, (int64_t[]){batches, key_heads, a->keys, a->depth});
    const struct wick__attention_operand v =
        operand(a->v, dtype, a->v_stride, (int64_t[]){batches, key_heads, a->keys, a->width});
    const int64_t row = a->width, head = a->queries * row;
    const struct wick__attention_operand out =
        operand(a->out, dtype, (int64_t[]){heads * head, head, row, 1}, (int64_t[]){batches, heads, a->queries, row});
    struct gpu_attention_bulk p = {.a = *a,
                                   .blocks = launch->grid[0],
                                   .tickets = gpu->tickets,
                                   .bits = *bits,
                                   .scale = (float)a->scale,
                                   .cap = (float)a->cap,
                                   .turn = a->cap > 0 ? (float)(2.8853900817779268 * a->scale / a->cap) : 0,
                                   .rows = (u32)tile,
                                   .boxed = !a->merged && wick__gpu_attention_has_map(&q),
                                   .late = a->q_starts ||
                                           (a->tiles > 1 && (a->left < a->queries + a->keys || a->right < a->keys))};
    p.put = p.boxed && !a->q_starts && a->splits == 1 && row % 8 == 0 && (uintptr_t)a->out % 16 == 0 &&
            wick__gpu_attention_has_map(&out);
    int code = wick__gpu_attention_map(gpu, &p.k, &k, GPU_ATTENTION_BULK_KEYS);
    if (!code) code = wick__gpu_attention_map(gpu, &p.v, &v, 64);
    if (!code && p.boxed) code = wick__gpu_attention_map(gpu, &p.q, &q, 64);
    if (!p.boxed) p.q = p.k; /* it is fetched, but not used */
    if (!code && p.put) code = wick__gpu_attention_map(gpu, &p.out, &out, 16);
    WICK__TRY(wick__gpu_check(gpu, code, "describe the operands of attention"));
    struct wick__launch all = *launch;
    const int64_t others = (int64_t)launch->grid[1] * launch->grid[2];
    all.grid[0] = (unsigned)wick__min(p.blocks, wick__max(1, wick__div_up(gpu->properties.units, others)));
    return wick__gpu_launch(gpu, &all, &p);
}

/* Whether rows of a mask of 16 bits begin at words and have whole ones, of so many batches, heads and queries. */
static bool has_words(const struct gpu_attention *a, const int64_t size[3]) {
    bool fits = a->mask_stride[3] == 1 && a->keys % 2 == 0 && (uintptr_t)a->mask % 4 == 0;
    for (int d = 0; d < 3; d++) fits = fits && (size[d] == 1 || a->mask_stride[d] % 2 == 0);
    return fits;
}

enum wick_status wick__gpu_attention_lay(struct wick__gpu *gpu, struct gpu_attention *a,
                                         struct gpu_attention_bits *bits, void **memory, size_t *nbytes) {
    const bool adds = a->masked == GPU_ATTENTION_ADD;
    int64_t size[3] = {wick__max(1, a->total / wick__max(1, a->heads * a->queries)), a->heads, a->queries};
    *memory = NULL;
    if (a->masked == GPU_ATTENTION_FREE || (adds && has_words(a, size))) return WICK_OK;
    const int64_t rows = mask_rows(a->mask_stride, size);
    struct gpu_attention_lay p = {.from = a->mask,
                                  .rows = rows,
                                  .heads = (u32)size[1],
                                  .queries = (u32)size[2],
                                  .keys = (u32)a->keys,
                                  .pitch = (u32)(adds ? wick__round_up(a->keys, 2) : wick__div_up(a->keys, 128) * 4)};
    memcpy(p.stride, a->mask_stride, sizeof p.stride);
    *nbytes = (size_t)(p.rows * p.pitch) * (adds ? 2 : 4);
    WICK__TRY(wick__gpu_scratch(gpu, *nbytes, memory));
    p.to = *memory;
    int64_t step = p.pitch, stride[3];
    for (int d = 2; d >= 0; step *= size[d--]) stride[d] = size[d] > 1 ? step : 0;
    if (adds) {
        a->mask = *memory;
        memcpy(a->mask_stride, stride, sizeof stride);
        a->mask_stride[3] = 1;
    } else {
        *bits = (struct gpu_attention_bits){*memory, {(u32)stride[0], (u32)stride[1], (u32)stride[2]}};
    }
    const struct wick__launch launch = {.kernel =
                                            adds ? WICK__GPU_K_attention_mask_lay : WICK__GPU_K_attention_mask_bits,
                                        .grid = {wick__gpu_blocks(gpu, p.rows * p.pitch, 1)}};
    enum wick_status status = wick__gpu_launch(gpu, &launch, &p);
    if (status != WICK_OK) wick__gpu_release(gpu, *memory, *nbytes);
    return status;
}
