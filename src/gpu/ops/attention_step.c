/* attention_step: new keys and values of many sequences into their caches by one launch, attention by another. */
#include "gpu/ops/attention.h"
#include "gpu/ops/gemm.h"

#include "core/checked.h"
#include "kernels/attention_step.h"
#include "step.h"

#include <string.h>

/* Where the caches of sequences first .. first + n - 1 lie. */
static void find_caches(const struct wick__call *call, int first, int n,
                        struct gpu_attention_cache cache[GPU_ATTENTION_CACHES]) {
    for (int i = 0; i < n; i++) {
        const struct wick_tensor *x = wick__step_cache(call, first + i);
        cache[i] = (struct gpu_attention_cache){.at = wick__data(x), .keys = x->layout.shape[2]};
        memcpy(cache[i].stride, x->layout.stride + 1, sizeof cache[i].stride);
    }
}

/* Where the lengths lie, if the device knows them. */
static int64_t length_stride(const struct wick__call *call) {
    const struct wick_tensor *lengths = call->in[WICK__STEP_LENGTHS];
    return lengths ? lengths->layout.stride[0] : 0;
}
static const i32 *length_of(const struct wick__call *call, int sequence) {
    const struct wick_tensor *lengths = call->in[WICK__STEP_LENGTHS];
    return lengths ? (const i32 *)wick__data(lengths) + sequence * length_stride(call) : NULL;
}

static enum wick_status put(struct wick__gpu *gpu, const struct wick__call *call, int first, int n) {
    const struct wick_tensor *kv = call->in[1];
    const struct wick__layout *layout = &kv->layout;
    struct gpu_attention_put p = {.size = (u32)wick__size(kv->dtype),
                                  .heads = layout->shape[1],
                                  .depth = layout->shape[3],
                                  .stride = {layout->stride[0], layout->stride[1], layout->stride[3]}};
    p.count = n * p.heads * p.depth;
    if (p.count == 0) return WICK_OK;
    p.from = (const char *)wick__data(kv) + first * p.stride[0] * (i64)p.size;
    find_caches(call, first, n, p.cache);
    struct wick__launch launch = {.kernel = WICK__GPU_K_attention_put, .grid = {wick__gpu_blocks(gpu, p.count, 1)}};
    if (!call->in[WICK__STEP_LENGTHS]) return wick__gpu_launch(gpu, &launch, &p);
    struct gpu_attention_put_at at = {
        .put = p, .lengths = length_of(call, first), .length_stride = length_stride(call)};
    launch.kernel = WICK__GPU_K_attention_put_at;
    return wick__gpu_launch(gpu, &launch, &at);
}

/* Into parts of the keys where there are few blocks, and as they are else. */
static enum wick_status launch(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_attention_step_at *p) {
    struct gpu_attention *all = &p->step.all;
    size_t sum = dtype == WICK_F64 ? 8 : 4, stats = 0, nbytes = 0;
    void *memory = NULL;
    if (all->splits > 1) {
        stats = (2 * all->splits * (size_t)all->total * sum + 15) / 16 * 16;
        nbytes = stats + all->splits * (size_t)(all->total * all->width) * sum;
        WICK__TRY(wick__gpu_scratch(gpu, nbytes, &memory));
        all->stats = memory;
        all->partial = (char *)memory + stats;
    }
    const enum wick__gpu_kernel kernel =
        p->lengths ? WICK__GPU_K_attention_step_at_bf16 : WICK__GPU_K_attention_step_bf16;
    struct wick__launch step = {.kernel = wick__gpu_of_floats(kernel, dtype),
                                .grid = {all->sequences * all->units * all->tiles, all->splits}};
    struct wick__launch join = {.kernel = wick__gpu_of_floats(WICK__GPU_K_attention_join_bf16, dtype),
                                .grid = {wick__gpu_blocks(gpu, all->total * all->width, 1)}};
    enum wick_status status = p->lengths ? wick__gpu_launch(gpu, &step, p) : wick__gpu_launch(gpu, &step, &p->step);
    if (status == WICK_OK && memory) status = wick__gpu_launch(gpu, &join, all);
    if (memory) wick__gpu_release(gpu, memory, nbytes);
    return status;
}

static enum wick_status attend(struct wick__gpu *gpu, const struct wick__call *call, int first, int n) {
    enum { LEAST = 64 }; /* keys that are worth a block */
    const struct wick_tensor *q = call->in[0], *out = call->out[0];
    int64_t size = (int64_t)wick__size(q->dtype), longest = 0, units = wick__max(1, gpu->properties.units);
    struct wick__step parts;
    struct wick__call one = wick__step_call(call, first, &parts);
    struct wick__attention_sizes sizes = wick__gpu_attention_sizes(&one, false, 0, 3);
    struct gpu_attention_step p = {.all = wick__gpu_attention_describe(&one, &sizes)};
    find_caches(call, first, n, p.cache);
    for (int i = 0; i < n; i++) longest = wick__max(longest, p.cache[i].keys);
    sizes.batches = n;
    p.all.out = (char *)wick__data(out) + first * out->layout.stride[0] * size;
    p.all.sequences = (u32)n;
    p.all.left = wick__min(call->p.attention.left, longest + 1);
    p.all.right = longest + 1;
    wick__gpu_attention_share(&p.all, &sizes, parts.k.layout.shape[1], GPU_ATTENTION_FEW);
    int64_t blocks = n * (int64_t)p.all.units * p.all.tiles;
    int64_t splits = blocks < units ? wick__min(2 * units / blocks, longest / LEAST) : 1;
    p.all.splits = (u32)wick__max(1, splits);
    struct gpu_attention_step_at at = {
        .step = p, .lengths = length_of(call, first), .length_stride = length_stride(call)};
    return launch(gpu, q->dtype, &at);
}

/* Long rows, one sequence after another. */
static enum wick_status attend_wide(struct wick__gpu *gpu, const struct wick__call *call, int sequence) {
    struct wick__step parts;
    struct wick__call one = wick__step_call(call, sequence, &parts);
    int64_t keys = parts.k.layout.shape[2];
    void *keep;
    if (!call->in[WICK__STEP_LENGTHS]) return wick__gpu_attention_masked(&one, NULL);
    struct gpu_attention_keep p = {.length = length_of(call, sequence), .keys = keys, .left = call->p.attention.left};
    struct wick__launch launch = {.kernel = WICK__GPU_K_attention_keep, .grid = {wick__gpu_blocks(gpu, keys, 1)}};
    WICK__TRY(wick__gpu_scratch(gpu, (size_t)keys, &keep));
    p.keep = keep;
    one.p.attention.left = one.p.attention.right = WICK__FAR;
    enum wick_status status = wick__gpu_launch(gpu, &launch, &p);
    if (status == WICK_OK) status = wick__gpu_attention_masked(&one, keep);
    wick__gpu_release(gpu, keep, (size_t)keys);
    return status;
}

wick__kernel_fn wick__gpu_attention_step;
enum wick_status wick__gpu_attention_step(const struct wick__call *call) {
    const struct wick_tensor *q = call->in[0];
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    int64_t widest = q->dtype == WICK_F64 ? GPU_ATTENTION_FEW_WIDE / 2 : GPU_ATTENTION_FEW_WIDE;
    for (int first = 0, total = wick__step_sequences(call); first < total; first += GPU_ATTENTION_CACHES) {
        int n = (int)wick__min(GPU_ATTENTION_CACHES, total - first);
        WICK__TRY(put(gpu, call, first, n));
        if (wick__count(q) == 0) continue;
        if (q->layout.shape[3] <= widest) {
            WICK__TRY(attend(gpu, call, first, n));
            continue;
        }
        for (int i = first; i < first + n; i++) WICK__TRY(attend_wide(gpu, call, i));
    }
    return WICK_OK;
}
