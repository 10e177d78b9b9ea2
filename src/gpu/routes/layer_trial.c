/* Layers with known results: operands, what comes of them in f64 by the definition (layer_known.c), and the comparison.
 */
#include "gpu/routes/layer_known.h"

#include "core/convert.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

static const struct trial {
    enum wick__layer first, last; /* the kinds of layers that it is for */
    enum wick__layer_values values;
    int64_t size[4], kernel[2], stride[2], padding[2];
    bool counts_padding;
    double response[3];
} trials[] = {
#define SIZES(kinds, values, ...)                                                                                      \
    {                                                                                                                  \
        kinds, WICK__LAYER_##values, {__VA_ARGS__}, {0}, {0}, {0}, false, { 0 }                                        \
    }
#define SOFTMAX WICK__LAYER_SOFTMAX, WICK__LAYER_LOG_SOFTMAX_BACKWARD
#define FORWARD WICK__LAYER_SOFTMAX, WICK__LAYER_LOG_SOFTMAX
    SIZES(SOFTMAX, PLAIN, 3, 33, 5, 1),
    SIZES(SOFTMAX, PLAIN, 2, 2100, 1, 1),
    SIZES(FORWARD, LEVEL, 4, 33, 5, 1),
    SIZES(FORWARD, MASKED, 3, 33, 5, 1),
    SIZES(FORWARD, GONE, 3, 33, 5, 1),
    SIZES(SOFTMAX, SUBNORMAL, 3, 33, 5, 1),
#define INFERENCE WICK__LAYER_NORM, WICK__LAYER_NORM
#define NORM WICK__LAYER_NORM, WICK__LAYER_NORM_BACKWARD
#define TRAINING WICK__LAYER_NORM_TRAIN, WICK__LAYER_NORM_TRAIN
#define SUMS WICK__LAYER_NORM_TRAIN, WICK__LAYER_NORM_BACKWARD
    SIZES(INFERENCE, PLAIN, 5, 7, 9, 11),
    SIZES(NORM, PLAIN, 2, 3, 6, 6),
    SIZES(NORM, PLAIN, 5, 7, 10, 10),
    SIZES(NORM, PLAIN, 16, 2, 22, 22),
    SIZES(NORM, PLAIN, 3, 2, 1, 700),
    SIZES(NORM, PLAIN, 2, 2, 1, 1028),
    SIZES(NORM, PLAIN, 2, 2, 1, 4100),
    SIZES(NORM, LEVEL, 2, 3, 6, 6),
    SIZES(NORM, SUBNORMAL, 2, 3, 6, 6),
    SIZES(NORM, FAR, 2, 3, 6, 6),
    SIZES(NORM, FAR, 2, 2, 1, 4100),
    SIZES(TRAINING, FAR, 8, 2, 1, 12544),
    SIZES(SUMS, NEAR, 16, 2, 1, 4100),
#define RESPONSE WICK__LAYER_RESPONSE, WICK__LAYER_RESPONSE_BACKWARD
    {RESPONSE, WICK__LAYER_PLAIN, {2, 9, 3, 5}, {3}, {0}, {0}, false, {0.5, 0.75, 1}},
    {RESPONSE, WICK__LAYER_PLAIN, {3, 4, 1, 64}, {5}, {0}, {0}, false, {1, 1, 2}},
    {RESPONSE, WICK__LAYER_PLAIN, {1, 33, 1, 7}, {7}, {0}, {0}, false, {1e-4, 0.75, 1}},
    {RESPONSE, WICK__LAYER_PLAIN, {2, 2, 1, 34}, {9}, {0}, {0}, false, {0.25, 0.5, 1}},
    {RESPONSE, WICK__LAYER_PLAIN, {2, 6, 1, 130}, {1}, {0}, {0}, false, {0.25, 0.75, 1}},
    {RESPONSE, WICK__LAYER_SUBNORMAL, {2, 9, 3, 5}, {3}, {0}, {0}, false, {0.5, 0.75, 1}},
    {RESPONSE, WICK__LAYER_FAR, {2, 9, 3, 5}, {3}, {0}, {0}, false, {0.5, 0.75, 1}},
#define POOL WICK__LAYER_AVERAGE_POOL, WICK__LAYER_MAX_POOL_BACKWARD
#define MAX_POOL WICK__LAYER_MAX_POOL, WICK__LAYER_MAX_POOL_INDICES
#define MAX_POOLS WICK__LAYER_MAX_POOL, WICK__LAYER_MAX_POOL_BACKWARD
    {POOL, WICK__LAYER_PLAIN, {2, 3, 9, 11}, {3, 3}, {2, 2}, {1, 1}, true, {0}},
    {POOL, WICK__LAYER_PLAIN, {2, 3, 9, 11}, {3, 2}, {1, 2}, {1, 0}, false, {0}},
    {POOL, WICK__LAYER_PLAIN, {2, 3, 8, 8}, {2, 2}, {2, 2}, {0, 0}, true, {0}},
    {POOL, WICK__LAYER_MASKED, {2, 3, 9, 11}, {3, 3}, {2, 2}, {1, 1}, false, {0}},
    {POOL, WICK__LAYER_SUBNORMAL, {2, 3, 9, 11}, {3, 3}, {2, 2}, {1, 1}, false, {0}},
    {MAX_POOL, WICK__LAYER_GONE, {2, 3, 9, 11}, {3, 3}, {2, 2}, {1, 1}, false, {0}},
    {MAX_POOL, WICK__LAYER_NAN, {2, 3, 9, 11}, {3, 3}, {2, 2}, {1, 1}, false, {0}},
    {MAX_POOLS, WICK__LAYER_LEVEL, {2, 3, 9, 11}, {5, 4}, {1, 1}, {2, 1}, false, {0}},
};

static struct wick__dnn_layer describe(const struct trial *t, enum wick__layer kind, enum wick_dtype dtype) {
    struct wick__dnn_layer l = {
        .kind = kind, .dtype = dtype, .counts_padding = t->counts_padding, .epsilon = WICK__LAYER_EPSILON};
    memcpy(l.size, t->size, sizeof l.size);
    memcpy(l.response, t->response, sizeof l.response);
    l.kernel[0] = t->kernel[0];
    for (int s = 0; s < 2 && t->stride[s] > 0; s++) {
        l.kernel[s] = t->kernel[s];
        l.stride[s] = t->stride[s];
        l.padding[s] = t->padding[s];
        l.to[s] = (t->size[2 + s] + 2 * t->padding[s] - t->kernel[s]) / t->stride[s] + 1;
    }
    return l;
}

/* An operand as it lies in memory, on the host and there. */
struct place {
    enum wick_dtype dtype;
    int64_t count;
    size_t at, nbytes;
};

struct run {
    struct wick__dnn_layer l;
    struct wick__layer_known known;
    enum wick__layer_values values;
    struct place places[WICK__LAYER_OPERANDS];
    int n_in, n;
    size_t nbytes;
    char *host;
};

static double sentinel(enum wick_dtype dtype) { return dtype == WICK_U32 ? 12345678 : -5; }

/* Its last elements, one at least, are a sentinel. */
static void lay_out(struct run *r) {
    const char *operands = wick__layer_operands(r->l.kind, &r->n_in);
    for (r->n = 0; operands[r->n]; r->n++) {
        struct place *p = &r->places[r->n];
        p->dtype = operands[r->n] == 'c' ? WICK_F32 : operands[r->n] == 'i' ? WICK_U32 : r->l.dtype;
        p->count = wick__layer_count(&r->l, operands[r->n]);
        p->nbytes = ((size_t)(p->count + 1) * wick__size(p->dtype) + 255) / 256 * 256;
        p->at = r->nbytes;
        r->nbytes += p->nbytes;
    }
}

/* Fills the memory, and takes what is read of it as it has been rounded. */
static void fill(struct run *r) {
    for (int i = 0; i < r->n; i++) {
        const struct place *p = &r->places[i];
        const size_t size = wick__size(p->dtype), total = p->nbytes / size;
        char *at = r->host + p->at;
        for (size_t k = 0; k < total; k++) {
            const bool is_read = i < r->n_in && k < (size_t)p->count;
            const double value = is_read ? wick__layer_value(&r->l, r->values, i, (int64_t)k) : sentinel(p->dtype);
            wick__store_f64(p->dtype, value, at + k * size);
            if (is_read) r->known.in[i][k] = wick__load_f64(p->dtype, at + k * size);
        }
    }
}

static enum wick__verdict go(struct wick__gpu *gpu, struct wick__held *held, struct run *r, wick__layer_fn *run) {
    char *device = NULL;
    enum wick__verdict verdict = WICK__UNCHECKED;
    if (wick__gpu_scratch(gpu, r->nbytes, (void **)&device) != WICK_OK) return verdict;
    for (int i = 0; i < r->n; i++) {
        if (i < r->n_in)
            r->l.in[i] = device + r->places[i].at;
        else
            r->l.out[i - r->n_in] = device + r->places[i].at;
    }
    if (wick__gpu_upload(gpu, device, r->host, r->nbytes) == WICK_OK && wick__gpu_use(gpu) == WICK_OK) {
        if (run(gpu, held, &r->l) != WICK__RAN)
            verdict = WICK__ABSENT;
        else if (wick__gpu_download(gpu, r->host, device, r->nbytes) == WICK_OK)
            verdict = WICK__GOOD;
    }
    wick__gpu_release(gpu, device, r->nbytes);
    return verdict;
}

/* GOOD within the bounds of wick verify (numerics.md): half a spacing for the one rounding, and the op's units of its
 * scale. ROUGH where a result is off by a few roundings to its dtype. */
static enum wick__verdict judge(const struct run *r, enum wick_dtype dtype, double got, double want, double scale) {
    if (dtype == WICK_U32) return got == want ? WICK__GOOD : WICK__WRONG;
    const double half = dtype == WICK_BF16 ? 0x1p-8 : dtype == WICK_F16 ? 0x1p-11 : 0x1p-24;
    const double least = dtype == WICK_BF16 ? 0x1p-134 : dtype == WICK_F16 ? 0x1p-25 : 0x1p-149;
    if (isnan(want) || isinf(want)) return (isnan(want) ? isnan(got) : got == want) ? WICK__GOOD : WICK__WRONG;
    const double bound = half * fabs(want) + r->known.units * 0x1p-23 * fmax(fabs(want), scale) + least;
    const double rough = 32 * half * fmax(fabs(want), scale) + bound;
    const double off = fabs(got - want);
    return off <= bound ? WICK__GOOD : off <= rough ? WICK__ROUGH : WICK__WRONG;
}

static enum wick__verdict compare(const struct run *r) {
    enum wick__verdict worst = WICK__GOOD;
    for (int i = 0; i < r->n; i++) {
        const struct place *p = &r->places[i];
        const char *at = r->host + p->at;
        const int64_t size = (int64_t)wick__size(p->dtype);
        for (int64_t k = 0; i >= r->n_in && k < p->count; k++) {
            const double got = wick__load_f64(p->dtype, at + k * size), want = r->known.want[i - r->n_in][k];
            enum wick__verdict here = judge(r, p->dtype, got, want, r->known.scale[i - r->n_in][k]);
            if (here == WICK__GOOD || here == worst || worst == WICK__WRONG) continue;
            worst = here;
            wick__log(WICK_LOG_DEBUG, "element %lld of result %d of a layer is %.9g, and should be %.9g", (long long)k,
                      i - r->n_in, got, want);
        }
        if (wick__load_f64(p->dtype, at + p->count * size) != sentinel(p->dtype)) return WICK__WRONG;
    }
    return worst;
}

/* Memory for all numbers in f64: of what is read once, of results their scale, too. */
static double *give_numbers(struct run *r, size_t *nbytes) {
    int64_t count = 0;
    for (int i = 0; i < r->n; i++) count += r->places[i].count * (i < r->n_in ? 1 : 2);
    *nbytes = (size_t)count * sizeof(double);
    double *numbers = wick__calloc((size_t)count, sizeof *numbers), *at = numbers;
    for (int i = 0; numbers && i < r->n; i++) {
        if (i < r->n_in) {
            r->known.in[i] = at;
        } else {
            r->known.want[i - r->n_in] = at;
            r->known.scale[i - r->n_in] = at += r->places[i].count;
        }
        at += r->places[i].count;
    }
    return numbers;
}

static enum wick__verdict try(struct wick__gpu *gpu, struct wick__held *held, struct run *r, wick__layer_fn *run) {
    enum wick__verdict verdict = WICK__UNCHECKED;
    size_t numbered;
    lay_out(r);
    double *numbers = give_numbers(r, &numbered);
    r->host = wick__alloc(r->nbytes);
    if (numbers && r->host) {
        fill(r);
        verdict = go(gpu, held, r, run);
        if (verdict == WICK__GOOD) {
            wick__layer_expect(&r->l, &r->known);
            verdict = compare(r);
        }
    }
    if (r->host) wick__free(r->host, r->nbytes);
    if (numbers) wick__free(numbers, numbered);
    return verdict;
}

enum wick__verdict wick__layer_trials(struct wick__gpu *gpu, struct wick__held *held, enum wick__layer kind,
                                      enum wick_dtype dtype, wick__layer_fn *run) {
    enum wick__verdict all = WICK__GOOD;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        const struct trial *t = &trials[i];
        if (kind < t->first || kind > t->last) continue;
        struct run r = {.l = describe(t, kind, dtype), .values = t->values};
        enum wick__verdict here = try(gpu, held, &r, run);
        if (here == WICK__WRONG && t->values == WICK__LAYER_SUBNORMAL) here = WICK__FLUSHES;
        if (here == WICK__WRONG && (t->values == WICK__LAYER_FAR || t->values == WICK__LAYER_NEAR)) here = WICK__ROUGH;
        if (here == WICK__GOOD) continue;
        wick__log(WICK_LOG_DEBUG, "%s: check %d of layers of %s, kind %d: %s", gpu->device->name, (int)i,
                  wick_dtype_name(dtype), (int)kind, wick__verdict_text(here));
        if (here != WICK__FLUSHES) return here;
        all = here;
    }
    return all;
}
