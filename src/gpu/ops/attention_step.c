/* attention_step: one launch is all of a step where rows are of f32 and caches of whole vectors, and else one turns
 * queries and keys and puts keys and values of many sequences into their caches, and another one is attention. */
#include "gpu/ops/attention.h"
#include "gpu/ops/gemm.h"

#include "core/checked.h"
#include "kernels/attention_step.h"
#include "step.h"

#include <string.h>

_Static_assert(WICK__STEP_WIDE == GPU_ATTENTION_FEW_WIDE, "rows that kernels of steps take");

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

/* The kernel that puts what q and kv are into caches; f32 goes into those of 16 bits too. */
static enum wick__gpu_kernel put_kernel(enum wick_dtype from, enum wick_dtype to) {
    if (from == to) return wick__gpu_of_floats(WICK__GPU_K_attention_put_bf16, from);
    return to == WICK_BF16 ? WICK__GPU_K_attention_put_f32_bf16 : WICK__GPU_K_attention_put_f32_f16;
}

/* Heads of x from the first one and sequence on, as operand number `i` of a put. */
static void put_from(struct gpu_attention_put *p, int i, const struct wick_tensor *x, int64_t sequence, int64_t head) {
    const int64_t *stride = x->layout.stride;
    p->from[i] =
        (const char *)wick__data(x) + (sequence * stride[0] + head * stride[1]) * (int64_t)wick__size(x->dtype);
    memcpy(p->stride[i], (i64[]){stride[0], stride[1], stride[3]}, sizeof p->stride[i]);
}

/* `turned`: where q goes; NULL: it may stay where it is. */
static enum wick_status put(struct wick__gpu *gpu, const struct wick__call *call, int first, int n, void *turned) {
    const struct wick_tensor *q = call->in[WICK__STEP_Q], *kv = call->in[WICK__STEP_KV], *v = call->in[WICK__STEP_V];
    const struct wick_tensor *cosine = call->in[WICK__STEP_COSINE], *sine = call->in[WICK__STEP_SINE];
    const int64_t heads = wick__step_cache(call, 0)->layout.shape[1], size = (int64_t)wick__size(kv->dtype);
    struct gpu_attention_put p = {.turned = turned,
                                  .q_heads = turned ? q->layout.shape[1] : 0,
                                  .heads = heads,
                                  .depth = kv->layout.shape[3],
                                  .lengths = length_of(call, first),
                                  .length_stride = length_stride(call),
                                  .interleaved = call->p.attention.interleaved};
    p.count = n * (p.q_heads + p.heads) * p.depth;
    if (p.count == 0) return WICK_OK;
    put_from(&p, 0, q, first, 0);
    put_from(&p, 1, kv, first, 0);
    put_from(&p, 2, v ? v : kv, first, v ? 0 : heads / 2);
    if (cosine) {
        p.cosine = (const char *)wick__data(cosine) + first * cosine->layout.stride[0] * size;
        p.sine = (const char *)wick__data(sine) + first * sine->layout.stride[0] * size;
        memcpy(p.cosine_stride, cosine->layout.stride, sizeof p.cosine_stride);
        memcpy(p.sine_stride, sine->layout.stride, sizeof p.sine_stride);
        p.pairs = cosine->layout.shape[1];
    }
    find_caches(call, first, n, p.cache);
    struct wick__launch launch = {.kernel = put_kernel(kv->dtype, wick__step_cache(call, 0)->dtype),
                                  .grid = {wick__gpu_blocks(gpu, p.count, 1)}};
    return wick__gpu_launch(gpu, &launch, &p);
}

/* ---- parts of the keys, where there are few blocks ---- */

enum { PART = 64 }; /* keys that are worth a block */

/* Into how many parts a step of so many blocks goes whose longest sequence has so many keys. */
static int64_t parts_of(const struct wick__gpu *gpu, int64_t blocks, int64_t longest) {
    int64_t units = wick__max(1, gpu->properties.units);
    return wick__max(1, blocks < units ? wick__min(2 * units / blocks, longest / PART) : 1);
}

struct parts {
    void *memory;
    size_t nbytes;
};

/* Room for what becomes of each part; none where there is one. Sums are of `size` bytes. */
static enum wick_status parts_begin(struct wick__gpu *gpu, struct gpu_attention *all, size_t size,
                                    struct parts *parts) {
    size_t stats = (2 * all->splits * (size_t)all->total * size + 15) / 16 * 16;
    *parts = (struct parts){.memory = NULL};
    if (all->splits <= 1) return WICK_OK;
    parts->nbytes = stats + all->splits * (size_t)(all->total * all->width) * size;
    WICK__TRY(wick__gpu_scratch(gpu, parts->nbytes, &parts->memory));
    all->stats = parts->memory;
    all->partial = (char *)parts->memory + stats;
    return WICK_OK;
}

/* Joins them to results of a dtype, and frees the room. `status` is that of the launch that made them. */
static enum wick_status parts_end(struct wick__gpu *gpu, struct gpu_attention *all, enum wick_dtype dtype,
                                  struct parts *parts, enum wick_status status) {
    struct wick__launch join = {.kernel = wick__gpu_of_floats(WICK__GPU_K_attention_join_bf16, dtype),
                                .grid = {wick__gpu_blocks(gpu, all->total * all->width, 1)}};
    if (!parts->memory) return status;
    if (status == WICK_OK) status = wick__gpu_launch(gpu, &join, all);
    wick__gpu_release(gpu, parts->memory, parts->nbytes);
    return status;
}

/* ---- all in one launch ---- */

/* Whether rows and caches are as attention_token takes them. */
static bool is_token(const struct wick__call *call, int first, int n) {
    const struct wick_tensor *q = call->in[WICK__STEP_Q], *kv = call->in[WICK__STEP_KV], *v = call->in[WICK__STEP_V];
    const enum wick_dtype dtype = wick__step_cache(call, 0)->dtype;
    const int64_t depth = q->layout.shape[3], vector = 16 / (int64_t)wick__size(dtype);
    bool good = q->dtype == WICK_F32 && (dtype == WICK_F32 || dtype == WICK_F16 || dtype == WICK_BF16) && depth > 0 &&
                depth <= GPU_ATTENTION_TOKEN_WIDE && depth % vector == 0 && wick__count(q) > 0;
    good = good && q->layout.stride[3] == 1 && kv->layout.stride[3] == 1 && (!v || v->layout.stride[3] == 1);
    for (int i = first; i < first + n && good; i++) good = wick__gpu_attention_aligned(wick__step_cache(call, i));
    return good;
}

static enum wick_status token(struct wick__gpu *gpu, const struct wick__call *call, int first, int n) {
    const struct wick_tensor *in[3] = {call->in[WICK__STEP_Q], call->in[WICK__STEP_KV], call->in[WICK__STEP_V]};
    const struct wick_tensor *tables[2] = {call->in[WICK__STEP_COSINE], call->in[WICK__STEP_SINE]};
    /* Only a text's step has such lengths (lm_step.c). They are uploaded behind all kernels of the steps before. */
    const struct wick_tensor *lengths = call->in[WICK__STEP_LENGTHS];
    const int64_t heads = in[0]->layout.shape[1], key_heads = wick__step_cache(call, 0)->layout.shape[1] / 2;
    struct gpu_attention_token p = {.out = (float *)wick__data(call->out[0]) + first * call->out[0]->layout.stride[0],
                                    .total = n * heads,
                                    .lengths = length_of(call, first),
                                    .length_stride = length_stride(call),
                                    .heads = (u32)heads,
                                    .group = (u32)(heads / key_heads),
                                    .depth = (u32)in[0]->layout.shape[3],
                                    .interleaved = call->p.attention.interleaved,
                                    .early = lengths && lengths->storage->constant,
                                    .scale = (float)call->p.attention.scale,
                                    .cap = (float)call->p.attention.soft_cap};
    for (int i = 0; i < 3; i++) {
        const struct wick_tensor *x = in[i] ? in[i] : in[1];
        const int64_t *stride = x->layout.stride, head = i == 2 && !in[2] ? key_heads : 0;
        p.from[i] = (const float *)wick__data(x) + first * stride[0] + head * stride[1];
        memcpy(p.stride[i], stride, sizeof p.stride[i]);
    }
    if (tables[0]) {
        p.cosine = (const float *)wick__data(tables[0]) + first * tables[0]->layout.stride[0];
        p.sine = (const float *)wick__data(tables[1]) + first * tables[1]->layout.stride[0];
        memcpy(p.cosine_stride, tables[0]->layout.stride, sizeof p.cosine_stride);
        memcpy(p.sine_stride, tables[1]->layout.stride, sizeof p.sine_stride);
        p.pairs = (u32)tables[0]->layout.shape[1];
    }
    find_caches(call, first, n, p.cache);
    int64_t longest = 0;
    for (int i = 0; i < n; i++) longest = wick__max(longest, p.cache[i].keys);
    p.left = wick__min(call->p.attention.left, longest);
    p.tiles = (u32)wick__div_up(p.group, GPU_ATTENTION_FEW);
    int64_t blocks = n * key_heads * p.tiles;
    p.splits = (u32)parts_of(gpu, blocks, wick__min(longest, p.left + 1));
    struct gpu_attention all = {.out = p.out, .splits = p.splits, .total = p.total, .width = p.depth};
    struct parts parts;
    WICK__TRY(parts_begin(gpu, &all, sizeof(float), &parts));
    p.partial = all.partial;
    p.stats = all.stats;
    bool meets = p.splits > 1 && p.splits <= GPU_ATTENTION_TOKEN_PIECES && blocks <= WICK__GPU_TICKETS;
    if (meets) p.tickets = gpu->tickets;
    const enum wick_dtype dtype = wick__step_cache(call, 0)->dtype;
    struct wick__launch launch = {.kernel = dtype == WICK_BF16  ? WICK__GPU_K_attention_token_bf16
                                            : dtype == WICK_F16 ? WICK__GPU_K_attention_token_f16
                                                                : WICK__GPU_K_attention_token_f32,
                                  .grid = {(unsigned)blocks, p.splits}};
    enum wick_status status = wick__gpu_launch(gpu, &launch, &p);
    if (!meets) return parts_end(gpu, &all, WICK_F32, &parts, status);
    wick__gpu_release(gpu, parts.memory, parts.nbytes);
    return status;
}

/* ---- one launch after another ---- */

/* Into parts of the keys where there are few blocks, and as they are else. `dtype` is that of caches. */
static enum wick_status launch(struct wick__gpu *gpu, enum wick_dtype dtype, enum wick_dtype result,
                               struct gpu_attention_step_at *p) {
    struct gpu_attention *all = &p->step.all;
    struct parts parts;
    WICK__TRY(parts_begin(gpu, all, dtype == WICK_F64 ? sizeof(double) : sizeof(float), &parts));
    const enum wick__gpu_kernel kernel =
        p->lengths ? WICK__GPU_K_attention_step_at_bf16 : WICK__GPU_K_attention_step_bf16;
    struct wick__launch step = {.kernel = wick__gpu_of_floats(kernel, dtype),
                                .grid = {all->sequences * all->units * all->tiles, all->splits}};
    return parts_end(gpu, all, result, &parts,
                     p->lengths ? wick__gpu_launch(gpu, &step, p) : wick__gpu_launch(gpu, &step, &p->step));
}

/* `turned`: queries without gaps, of the caches' dtype; NULL: they are where the call has them. */
static enum wick_status attend(struct wick__gpu *gpu, const struct wick__call *call, int first, int n,
                               const void *turned) {
    const struct wick_tensor *out = call->out[0];
    const enum wick_dtype dtype = wick__step_cache(call, 0)->dtype;
    int64_t size = (int64_t)wick__size(out->dtype), longest = 0;
    struct wick__step parts;
    struct wick__call one = wick__step_call(call, first, &parts);
    struct wick__attention_sizes sizes = wick__gpu_attention_sizes(&one, false, 0, 3);
    struct gpu_attention_step p = {.all = wick__gpu_attention_describe(&one, &sizes)};
    p.all.wide = out->dtype != dtype;
    if (turned) {
        p.all.q = turned;
        memcpy(p.all.q_stride, (i64[]){p.all.heads * p.all.depth, p.all.depth, p.all.depth, 1}, sizeof p.all.q_stride);
    }
    find_caches(call, first, n, p.cache);
    for (int i = 0; i < n; i++) longest = wick__max(longest, p.cache[i].keys);
    sizes.batches = n;
    p.all.out = (char *)wick__data(out) + first * out->layout.stride[0] * size;
    p.all.sequences = (u32)n;
    p.all.left = wick__min(call->p.attention.left, longest + 1);
    p.all.right = longest + 1;
    wick__gpu_attention_share(&p.all, &sizes, parts.k.layout.shape[1], GPU_ATTENTION_FEW);
    int64_t splits = parts_of(gpu, n * (int64_t)p.all.units * p.all.tiles, longest);
    if (n == 1 && splits > 1 && !call->in[WICK__STEP_LENGTHS]) { /* as kernels do that read lengths */
        p.all.split = wick__div_up(wick__div_up(longest, splits), PART) * PART;
        splits = wick__div_up(longest, p.all.split);
    }
    p.all.splits = (u32)splits;
    struct gpu_attention_step_at at = {
        .step = p, .lengths = length_of(call, first), .length_stride = length_stride(call)};
    return launch(gpu, dtype, out->dtype, &at);
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

/* Some sequences: turns and puts what is new, then attends. */
static enum wick_status step(struct wick__gpu *gpu, const struct wick__call *call, int first, int n) {
    const struct wick_tensor *q = call->in[WICK__STEP_Q];
    const enum wick_dtype dtype = wick__step_cache(call, 0)->dtype;
    if (is_token(call, first, n)) return token(gpu, call, first, n);
    bool some = wick__count(q) > 0, moves = some && (call->in[WICK__STEP_COSINE] || dtype != q->dtype);
    size_t nbytes = (size_t)(n * q->layout.shape[1] * q->layout.shape[3]) * wick__size(dtype);
    void *turned = NULL;
    if (moves) WICK__TRY(wick__gpu_scratch(gpu, nbytes, &turned));
    enum wick_status status = put(gpu, call, first, n, turned);
    if (status == WICK_OK && some && q->layout.shape[3] <= wick__step_wide(q->dtype))
        status = attend(gpu, call, first, n, turned);
    else
        for (int i = first; i < first + n && some && status == WICK_OK; i++) status = attend_wide(gpu, call, i);
    if (turned) wick__gpu_release(gpu, turned, nbytes);
    return status;
}

wick__kernel_fn wick__gpu_attention_step;
enum wick_status wick__gpu_attention_step(const struct wick__call *call) {
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    for (int first = 0, total = wick__step_sequences(call); first < total; first += GPU_ATTENTION_CACHES)
        WICK__TRY(step(gpu, call, first, (int)wick__min(GPU_ATTENTION_CACHES, total - first)));
    return WICK_OK;
}
