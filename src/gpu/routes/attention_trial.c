/* Attention with known results: operands, what comes of them in f64 by the definition, and the comparison. */
#include "gpu/routes/attention.h"

#include "core/convert.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

/* What the operands are: numbers about 0; scores of some hundreds, of which one key has nearly all the weight; many
 * equal weights, whose small terms stand beside large ones that cancel; q or v whose elements are subnormal; one NaN in
 * a key of the first head, an infinity in a v of the last. */
enum kind { PLAIN, LARGE, EQUAL, SUBNORMAL_Q, SUBNORMAL_V, ODD };

/* `apart`: positions come before heads in memory, with room between rows. */
struct trial {
    enum kind kind;
    bool apart, log_sums;
    int64_t batches, heads, key_heads, queries, keys, depth, width;
};
static const struct trial trials[] = {
    {PLAIN, false, false, 2, 2, 2, 130, 77, 64, 64},       {PLAIN, true, true, 1, 4, 2, 33, 200, 128, 128},
    {PLAIN, false, true, 2, 3, 1, 1, 40, 72, 72},          {LARGE, true, false, 1, 4, 4, 50, 300, 40, 40},
    {EQUAL, false, true, 1, 1, 1, 16, 2048, 64, 64},       {ODD, false, true, 1, 3, 3, 40, 150, 64, 64},
    {SUBNORMAL_Q, false, false, 1, 2, 2, 20, 100, 64, 64}, {PLAIN, false, false, 1, 1, 1, 128, 256, 112, 112},
    {SUBNORMAL_V, false, false, 1, 2, 2, 20, 100, 64, 64},
};

enum { Q, K, V, OUT, SUMS, OPERANDS };
struct operand {
    int64_t heads, positions, elements, stride[3], count; /* of all that is between its rows, too */
    size_t at, nbytes;
};
struct run {
    const struct trial *t;
    enum wick_dtype dtype;
    struct operand operand[OPERANDS];
    char *host;
    size_t nbytes;
};

static double least(enum wick_dtype dtype) { return dtype == WICK_F16 ? 0x1p-24 : 0x1p-133; }

static enum wick_dtype dtype_of(const struct run *r, int which) { return which == SUMS ? WICK_F32 : r->dtype; }

static void lay_out(struct run *r) {
    const struct trial *t = r->t;
    const int64_t heads[OPERANDS] = {t->heads, t->key_heads, t->key_heads, t->heads, t->heads};
    const int64_t elements[OPERANDS] = {t->depth, t->depth, t->width, t->width, 1};
    for (int i = 0; i < OPERANDS; i++) {
        struct operand *o = &r->operand[i];
        const bool apart = t->apart && i < OUT;
        o->heads = heads[i];
        o->positions = i == K || i == V ? t->keys : t->queries;
        o->elements = elements[i];
        const int64_t row = o->elements + (apart ? 8 : 0);
        o->stride[1] = apart ? row : o->positions * row;
        o->stride[2] = apart ? o->heads * row : row;
        o->stride[0] = o->heads * o->positions * row;
        o->count = t->batches * o->stride[0];
        o->at = r->nbytes;
        o->nbytes = ((size_t)(o->count + 1) * wick__size(dtype_of(r, i)) + 255) / 256 * 256;
        r->nbytes += o->nbytes;
    }
}

static int64_t place(const struct operand *o, int64_t b, int64_t h, int64_t p, int64_t e) {
    return b * o->stride[0] + h * o->stride[1] + p * o->stride[2] + e;
}

static double get(const struct run *r, int which, int64_t i) {
    const enum wick_dtype dtype = dtype_of(r, which);
    return wick__load_f64(dtype, r->host + r->operand[which].at + i * (int64_t)wick__size(dtype));
}
static void put(struct run *r, int which, int64_t i, double value) {
    const enum wick_dtype dtype = dtype_of(r, which);
    wick__store_f64(dtype, value, r->host + r->operand[which].at + i * (int64_t)wick__size(dtype));
}

static double small(int64_t i, int which) { return (double)((i * 37 + i / 11 * 5 + which * 13) % 61 - 30) / 16; }

/* Element `i` in memory of q, k or v, of key or query p and element e. */
static double value_of(const struct run *r, int which, int64_t i, int64_t h, int64_t p, int64_t e) {
    switch (r->t->kind) {
    case LARGE: return which == V ? small(i, which) : 8 * small(i, which);
    case EQUAL: return which != V ? 0 : (p % 2 ? -64 : 64) + (e % 8 == 0 ? 0.5 : 0);
    case SUBNORMAL_Q:
        if (which == Q) return (double)(i % 7 - 3) * 32 * least(r->dtype);
        return which == K ? small(i, which) * (r->dtype == WICK_F16 ? 0x1p12 : 0x1p120) : small(i, which);
    case SUBNORMAL_V: return which == V ? (double)(p % 2 + 1) * 32 * least(r->dtype) : small(i, which);
    case ODD:
        if (which == K && h == 0 && p == 7 && e == 3) return NAN;
        if (which == V && h == r->t->key_heads - 1 && p == 100 && e == 5) return INFINITY;
        return small(i, which);
    default: return small(i, which);
    }
}

/* What nobody is to read is NaN, where results go and behind them a number. */
static void fill(struct run *r) {
    for (int which = 0; which < OPERANDS; which++) {
        const struct operand *o = &r->operand[which];
        for (int64_t i = 0; i <= o->count; i++) put(r, which, i, which < OUT ? NAN : -5);
        for (int64_t n = 0; n < o->count && which < OUT; n++) {
            const int64_t e = n % o->elements, p = n / o->elements % o->positions;
            const int64_t h = n / o->elements / o->positions % o->heads, b = n / o->elements / o->positions / o->heads;
            if (b >= r->t->batches) break;
            const int64_t i = place(o, b, h, p, e);
            put(r, which, i, value_of(r, which, i, h, p, e));
        }
    }
}

/* ---- results ---- */

/* The scale of scores: large ones stay apart, those of subnormal q come to some ones. */
static float scale_of(const struct run *r) {
    return r->t->kind == SUBNORMAL_Q && r->dtype == WICK_BF16 ? 0x1p3f : 1 / sqrtf((float)r->t->depth);
}

static bool same(double got, double want, double bound) {
    if (isnan(want)) return isnan(got);
    if (isinf(want)) return got == want;
    return fabs(got - want) <= bound;
}

/* A query of a head: whether its results are right. Weights and results are rounded to the dtype, each by up to half a
 * unit in the last place, but equal weights are exact; scores and sums have f32. `weight` has room for the keys. */
static bool is_right(const struct run *r, int64_t b, int64_t h, int64_t p, double *weight) {
    const struct trial *t = r->t;
    const struct operand *o = r->operand;
    const int64_t kh = h / (t->heads / t->key_heads);
    const double half = r->dtype == WICK_BF16 ? 0x1p-8 : 0x1p-11, f32 = 0x1p-20;
    double most = -INFINITY, total = 0, largest = 0;
    for (int64_t j = 0; j < t->keys; j++) {
        double score = 0, size = 0;
        for (int64_t e = 0; e < t->depth; e++) {
            const double term = get(r, Q, place(&o[Q], b, h, p, e)) * get(r, K, place(&o[K], b, kh, j, e));
            score += term;
            size += fabs(term);
        }
        weight[j] = score * (double)scale_of(r);
        largest = fmax(largest, size * (double)scale_of(r));
        most = isnan(weight[j]) || isnan(most) ? (double)NAN : fmax(most, weight[j]);
    }
    for (int64_t j = 0; j < t->keys; j++) total += weight[j] = exp(weight[j] - most);
    for (int64_t e = 0; e < t->width; e++) {
        double sum = 0, terms = 0;
        for (int64_t j = 0; j < t->keys; j++) {
            const double term = weight[j] / total * get(r, V, place(&o[V], b, kh, j, e));
            sum += term;
            terms += fabs(term);
        }
        const double bound = t->kind == EQUAL ? half * fabs(sum) + f32 * terms
                                              : (3 * half + (4 + largest) * f32) * terms + least(r->dtype);
        if (!same(get(r, OUT, place(&o[OUT], b, h, p, e)), sum, bound)) return false;
    }
    return !t->log_sums ||
           same(get(r, SUMS, place(&o[SUMS], b, h, p, 0)), most + log(total), f32 * (1 + fabs(most) + largest));
}

static enum wick__verdict compare(const struct run *r, double *weight) {
    for (int64_t b = 0; b < r->t->batches; b++)
        for (int64_t h = 0; h < r->t->heads; h++)
            for (int64_t p = 0; p < r->t->queries; p++)
                if (!is_right(r, b, h, p, weight)) return WICK__WRONG;
    const bool kept = get(r, OUT, r->operand[OUT].count) == -5 && get(r, SUMS, r->operand[SUMS].count) == -5;
    return kept ? WICK__GOOD : WICK__WRONG;
}

/* ---- the library's ---- */

static enum wick__verdict go(struct wick__gpu *gpu, struct wick__held *held, const struct run *r,
                             wick__attend_fn *attend) {
    const struct trial *t = r->t;
    const struct operand *o = r->operand;
    char *device = NULL;
    enum wick__verdict verdict = WICK__UNCHECKED;
    struct wick__dnn_attention a = {.dtype = r->dtype,
                                    .batches = t->batches,
                                    .heads = t->heads,
                                    .key_heads = t->key_heads,
                                    .queries = t->queries,
                                    .keys = t->keys,
                                    .depth = t->depth,
                                    .width = t->width,
                                    .scale = scale_of(r)};
    if (wick__gpu_scratch(gpu, r->nbytes, (void **)&device) != WICK_OK) return verdict;
    memcpy(a.q_stride, o[Q].stride, sizeof a.q_stride);
    memcpy(a.k_stride, o[K].stride, sizeof a.k_stride);
    memcpy(a.v_stride, o[V].stride, sizeof a.v_stride);
    a.q = device + o[Q].at;
    a.k = device + o[K].at;
    a.v = device + o[V].at;
    a.out = device + o[OUT].at;
    a.log_sums = t->log_sums ? device + o[SUMS].at : NULL;
    if (wick__gpu_upload(gpu, device, r->host, r->nbytes) == WICK_OK && wick__gpu_use(gpu) == WICK_OK) {
        if (attend(gpu, held, &a) != WICK__RAN)
            verdict = WICK__ABSENT;
        else if (wick__gpu_download(gpu, r->host, device, r->nbytes) == WICK_OK)
            verdict = WICK__GOOD;
    }
    wick__gpu_release(gpu, device, r->nbytes);
    return verdict;
}

static enum wick__verdict try(struct wick__gpu *gpu, struct wick__held *held, struct run *r, wick__attend_fn *attend) {
    enum wick__verdict verdict = WICK__UNCHECKED;
    lay_out(r);
    const size_t weights = (size_t)r->t->keys * sizeof(double);
    double *weight = wick__alloc(weights);
    r->host = wick__alloc(r->nbytes);
    if (weight && r->host) {
        memset(r->host, 0, r->nbytes);
        fill(r);
        verdict = go(gpu, held, r, attend);
        if (verdict == WICK__GOOD) verdict = compare(r, weight);
    }
    if (r->host) wick__free(r->host, r->nbytes);
    if (weight) wick__free(weight, weights);
    return verdict;
}

enum wick__verdict wick__attention_trials(struct wick__gpu *gpu, struct wick__held *held, enum wick_dtype dtype,
                                          wick__attend_fn *attend) {
    enum wick__verdict all = WICK__GOOD;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        struct run r = {.t = &trials[i], .dtype = dtype};
        enum wick__verdict here = try(gpu, held, &r, attend);
        const bool tiny = r.t->kind == SUBNORMAL_Q || r.t->kind == SUBNORMAL_V;
        if (here == WICK__WRONG && tiny) here = WICK__FLUSHES;
        if (here == WICK__GOOD) continue;
        wick__log(WICK_LOG_DEBUG, "%s: check %d of attention of %s: %s", gpu->device->name, (int)i,
                  wick_dtype_name(dtype), wick__verdict_text(here));
        if (here != WICK__FLUSHES) return here;
        all = here;
    }
    return all;
}
