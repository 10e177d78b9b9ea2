/* Attention of bf16 and f16 whose keys and values come to LDS by bulk tensor copies (kernels/attention_bulk.hip). */
#include "gpu/ops/attention.h"

#include "core/checked.h"
#include "gpu/ops/gemm.h"

/* Whether keys or values of these sizes have a map. */
static bool has_map(const int64_t stride[4], const int64_t size[3]) {
    for (int d = 0; d < 3; d++) /* batches, heads, positions */
        if (size[d] > WICK__MAP_MOST || (size[d] > 1 && (stride[d] <= 0 || stride[d] >= WICK__MAP_STRIDE)))
            return false;
    return true;
}

bool wick__gpu_attention_bulk_takes(struct wick__gpu *gpu, const struct wick__call *call,
                                    const struct wick__attention_sizes *sizes) {
    const int64_t dim = wick__max(sizes->depth, sizes->width);
    const int64_t size[3] = {sizes->batches, call->in[1]->layout.shape[1], sizes->keys};
    const int64_t lines = sizes->batches * call->in[0]->layout.shape[1];
    int64_t k[4], v[4];
    if (lines > WICK__MAP_MOST / (sizes->queries / 64 + sizes->sequences + 1))
        return false; /* the kernel divides in 32 bits */
    if (!gpu->properties.maps || wick__capability(gpu) != 90 || dim > 128 || sizes->width == 0) return false;
    if (call->in[call->n_in - 1] || (!sizes->packed && call->in[sizes->mask])) return false; /* slopes, mask */
    if (call->p.attention.soft_cap > 0 || !(call->p.attention.scale > 0)) return false;
    wick__gpu_attention_strides(k, call->in[1], sizes->packed);
    wick__gpu_attention_strides(v, call->in[2], sizes->packed);
    return has_map(k, size) && has_map(v, size) && wick__gpu_is_native(gpu, WICK__GPU_M_attention_bulk);
}

/* The map of keys or values. A dim of one has any stride that maps take. */
static int encode(struct wick__gpu *gpu, struct gpu_tensor_map *map, struct wick__tensor_map tensor,
                  const int64_t stride[4]) {
    int64_t step = wick__round_up(tensor.size[0], 8);
    tensor.rank = 4;
    for (int d = 0; d < 3; d++) {
        if (tensor.size[d + 1] > 1) step = stride[2 - d];
        tensor.stride[d] = step;
    }
    return gpu->vendor->tensor_map(map, &tensor);
}

enum wick_status wick__gpu_attention_bulk(struct wick__gpu *gpu, const struct wick__launch *launch,
                                          const struct gpu_attention *a, enum wick_dtype dtype) {
    const int64_t rows = (int64_t)a->heads * a->queries, batches = rows > 0 ? a->total / rows : 1;
    const int64_t lines[3] = {batches, a->heads, a->queries};
    struct gpu_attention_bulk p = {.a = *a,
                                   .blocks = launch->grid[0],
                                   .tickets = gpu->tickets,
                                   .boxed = !a->merged && has_map(a->q_stride, lines),
                                   .late = a->q_starts || a->left < a->queries + a->keys || a->right < a->keys};
    struct wick__tensor_map k = {.dtype = dtype, .from = a->k, .box = {64, GPU_ATTENTION_BULK_KEYS}}, v, q;
    k.size[0] = a->depth;
    k.size[1] = a->keys;
    k.size[2] = a->heads / a->group;
    k.size[3] = batches;
    q = v = k;
    q.box[1] = v.box[1] = 64;
    v.from = a->v;
    v.size[0] = a->width;
    q.from = a->q;
    q.size[1] = a->queries;
    q.size[2] = a->heads;
    int code = encode(gpu, &p.k, k, a->k_stride);
    if (!code) code = encode(gpu, &p.v, v, a->v_stride);
    if (!code && p.boxed) code = encode(gpu, &p.q, q, a->q_stride);
    WICK__TRY(wick__gpu_check(gpu, code, "describe the operands of attention"));
    struct wick__launch all = *launch;
    const int64_t others = (int64_t)launch->grid[1] * launch->grid[2];
    all.grid[0] = (unsigned)wick__min(p.blocks, wick__max(1, wick__div_up(gpu->properties.units, others)));
    return wick__gpu_launch(gpu, &all, &p);
}
