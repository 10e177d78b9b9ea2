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

bool wick__gpu_attention_bulk_takes(struct wick__gpu *gpu, const struct wick__call *call,
                                    const struct wick__attention_sizes *sizes) {
    const int64_t dim = wick__max(sizes->depth, sizes->width), key_heads = call->in[1]->layout.shape[1];
    const int64_t lines = sizes->batches * call->in[0]->layout.shape[1];
    struct wick__attention_operand x = {.size = {sizes->batches, key_heads, sizes->keys}};
    if (lines > WICK__MAP_MOST / (sizes->queries / 64 + sizes->sequences + 1))
        return false; /* the kernel divides in 32 bits */
    if (!gpu->properties.maps || wick__capability(gpu) != 90 || dim > 128 || sizes->width == 0) return false;
    if (call->in[call->n_in - 1] || (!sizes->packed && call->in[sizes->mask])) return false; /* slopes, mask */
    if (call->p.attention.soft_cap > 0 || !(call->p.attention.scale > 0)) return false;
    for (int i = 1; i <= 2; i++) { /* k, v */
        wick__gpu_attention_strides(x.stride, call->in[i], sizes->packed);
        if (!wick__gpu_attention_has_map(&x)) return false;
    }
    return wick__gpu_is_native(gpu, WICK__GPU_M_attention_bulk);
}

enum wick_status wick__gpu_attention_bulk(struct wick__gpu *gpu, const struct wick__launch *launch,
                                          const struct gpu_attention *a, enum wick_dtype dtype) {
    const int64_t rows = (int64_t)a->heads * a->queries, batches = rows > 0 ? a->total / rows : 1;
    const int64_t heads = a->heads, key_heads = heads / a->group;
    const struct wick__attention_operand q =
        operand(a->q, dtype, a->q_stride, (int64_t[]){batches, heads, a->queries, a->depth});
    const struct wick__attention_operand k =
        operand(a->k, dtype, a->k_stride, (int64_t[]){batches, key_heads, a->keys, a->depth});
    const struct wick__attention_operand v =
        operand(a->v, dtype, a->v_stride, (int64_t[]){batches, key_heads, a->keys, a->width});
    struct gpu_attention_bulk p = {.a = *a,
                                   .blocks = launch->grid[0],
                                   .tickets = gpu->tickets,
                                   .boxed = !a->merged && wick__gpu_attention_has_map(&q),
                                   .late = a->q_starts || a->left < a->queries + a->keys || a->right < a->keys};
    int code = wick__gpu_attention_map(gpu, &p.k, &k, GPU_ATTENTION_BULK_KEYS);
    if (!code) code = wick__gpu_attention_map(gpu, &p.v, &v, 64);
    if (!code && p.boxed) code = wick__gpu_attention_map(gpu, &p.q, &q, 64);
    WICK__TRY(wick__gpu_check(gpu, code, "describe the operands of attention"));
    struct wick__launch all = *launch;
    const int64_t others = (int64_t)launch->grid[1] * launch->grid[2];
    all.grid[0] = (unsigned)wick__min(p.blocks, wick__max(1, wick__div_up(gpu->properties.units, others)));
    return wick__gpu_launch(gpu, &all, &p);
}
