/* scaled_dot_product_attention_backward, attention_packed_backward. */
#include "gpu/ops/attention.h"
#include "gpu/runtime/slots.h"

#include "core/checked.h"

#include "kernels/attention_backward.h"

#include <string.h>

enum { ROWS = 64 /* of a tile */ };

static int64_t divide_up(int64_t x, int64_t by) { return x / by + (x % by != 0); }

static struct gpu_attention_backward describe(const struct wick__call *call,
                                              const struct wick__attention_sizes *sizes) {
    const struct wick_tensor *log_sums = call->in[5];
    const int64_t *stride = log_sums->layout.stride;
    struct gpu_attention_backward p = {.a = wick__gpu_attention_describe(call, sizes),
                                       .gradient = wick__data(call->in[0]),
                                       .result = wick__data(call->in[4]),
                                       .log_sums = wick__data(log_sums),
                                       .key_heads = (u32)call->in[2]->layout.shape[1]};
    wick__gpu_attention_strides(p.gradient_stride, call->in[0], sizes->packed);
    wick__gpu_attention_strides(p.result_stride, call->in[4], sizes->packed);
    if (sizes->packed)
        memcpy(p.sums_stride, (i64[]){0, stride[1], stride[0], 0}, sizeof p.sums_stride);
    else
        memcpy(p.sums_stride, stride, 3 * sizeof *stride);
    p.a.group = p.key_heads > 0 ? p.a.heads / p.key_heads : 1;
    p.a.total = sizes->batches * p.a.heads * sizes->queries;
    return p;
}

/* The gradient of operand `of`, in as many launches as the number of blocks asks for. */
static enum wick_status launch(struct wick__gpu *gpu, const struct wick__call *call,
                               const struct wick__attention_sizes *sizes, struct gpu_attention_backward p,
                               enum gpu_attention_of of) {
    enum wick_dtype dtype = call->in[1]->dtype;
    int64_t positions = of == GPU_ATTENTION_OF_Q ? sizes->queries : sizes->keys, columns = dtype == WICK_F64 ? 64 : 128;
    int64_t length = of == GPU_ATTENTION_OF_V ? sizes->width : sizes->depth;
    int64_t heads = of == GPU_ATTENTION_OF_Q ? p.a.heads : p.key_heads;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_attention_backward_bf16, dtype),
                                  .grid = {0, 1, (unsigned)divide_up(length, columns)}};
    p.of = of;
    p.out = wick__data(call->out[of]);
    p.a.tiles = (u32)(sizes->packed ? positions / ROWS + sizes->sequences : divide_up(positions, ROWS));
    if (wick__count(call->out[of]) == 0) return WICK_OK;
    int64_t blocks = sizes->batches * heads * p.a.tiles;
    for (int64_t first = 0; first < blocks; first += WICK__ATTENTION_BLOCKS) {
        launch.grid[0] = (unsigned)wick__min(WICK__ATTENTION_BLOCKS, blocks - first);
        p.a.first = (u64)first;
        WICK__TRY(wick__gpu_launch(gpu, &launch, &p));
    }
    return WICK_OK;
}

/* sum(gradient result), then the three gradients. */
static enum wick_status launch_all(struct wick__gpu *gpu, const struct wick__call *call,
                                   const struct wick__attention_sizes *sizes, struct gpu_attention_backward *p) {
    const struct wick__launch delta = {.kernel =
                                           wick__gpu_of_floats(WICK__GPU_K_attention_delta_bf16, call->in[1]->dtype),
                                       .grid = {wick__gpu_blocks(gpu, p->a.total * 16, 1)}};
    if (p->a.total > 0) WICK__TRY(wick__gpu_launch(gpu, &delta, p));
    for (int of = GPU_ATTENTION_OF_Q; of <= GPU_ATTENTION_OF_V; of++)
        WICK__TRY(launch(gpu, call, sizes, *p, (enum gpu_attention_of)of));
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
    if (p.a.total == 0) return launch_all(gpu, call, &sizes, &p);
    size_t nbytes = (size_t)p.a.total * (call->in[1]->dtype == WICK_F64 ? 8 : 4);
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &p.delta));
    enum wick_status status = launch_all(gpu, call, &sizes, &p);
    wick__gpu_release(gpu, p.delta, nbytes);
    return status;
}
