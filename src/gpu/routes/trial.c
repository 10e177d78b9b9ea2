/* Products with known results: operands, what comes of them, and the comparison. The expected values are sums in f64 of
 * the formulas that the operands are made of. */
#include "gpu/routes/trial.h"

#include "core/convert.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

/* Element i, which holds the check's small values exactly; in f16 they may be subnormal. */
static void put(enum wick_dtype dtype, void *to, int64_t i, double value) {
    wick__store_f64(dtype, value, (char *)to + i * (int64_t)wick__size(dtype));
}

static double get(enum wick_dtype dtype, const void *from, int64_t i) {
    return wick__load_f64(dtype, (const char *)from + i * (int64_t)wick__size(dtype));
}

/* A product: small integers, whose sums are exact, or a long one whose terms and sums need the whole precision that
 * they are to be computed in. `pad` elements between rows belong to nobody. In the last, A's integers are so many times
 * a power of two that they are subnormal. */
struct trial {
    int64_t m, n, k, batch, pad;
    bool transpose_a, transpose_b, long_one, subnormal;
};
static const struct trial trials[] = {
    {33, 17, 29, 1, 3, false, false, false, false}, {17, 33, 40, 1, 3, true, false, false, false},
    {16, 48, 31, 2, 3, false, true, false, false},  {40, 24, 64, 1, 3, true, true, false, false},
    {64, 64, 64, 1, 3, false, false, false, false}, {1, 19, 70, 3, 3, false, true, false, false},
    {8, 8, 4096, 1, 3, false, true, true, false},   {24, 16, 2048, 1, 3, true, false, true, false},
    {72, 136, 64, 1, 8, false, true, false, false}, {16, 16, 4096, 1, 8, false, true, true, false},
    {33, 65, 19, 1, 0, false, true, false, false},  {24, 72, 1024, 1, 0, false, true, true, false}};
static const struct trial subnormal_trial = {32, 32, 64, 1, 3, false, false, false, true};

/* One trial of a kind. */
struct run {
    const struct trial *t;
    const struct wick__trial_kind *kind;
    bool biased;
};

/* Half a unit in the last place of 1: what a long sum's terms carry beyond 1 must survive. */
static double unit_of(enum wick_dtype dtype) {
    return dtype == WICK_BF16 ? 0x1p-7 : dtype == WICK_F16 ? 0x1p-10 : dtype == WICK_F32 ? 0x1p-12 : 0x1p-30;
}

/* What the integers are times. GELU gets sums around 1, where it is neither 0 nor its operand. */
static double scale_of(const struct run *r, bool is_b) {
    bool narrow = r->kind->dtype == WICK_F16;
    if (r->t->subnormal) return is_b ? (narrow ? 1 : 0x1p20) : narrow ? 0x1p-20 : 0x1p-131;
    return r->kind->activation == WICK_ACTIVATION_GELU_TANH && !is_b ? 0x1p-5 : 1;
}

static double term(const struct run *r, bool is_b, int64_t batch, int64_t i, int64_t k) {
    if (r->t->long_one) return is_b ? 1 : 1 + unit_of(r->kind->dtype) * (double)((i + k) % 2);
    return (double)((batch * 5 + i * (is_b ? 3 : 5) + k * (is_b ? 5 : 2) + (i * k) % 3) % 7 - 3) * scale_of(r, is_b);
}

/* Of a long sum the bias leaves what only a sum that was not rounded before has. */
static double bias(const struct run *r, int64_t j) {
    if (!r->biased) return 0;
    return r->t->long_one ? -(double)r->t->k : (double)(j * 3 % 7 - 3) / 2;
}

/* The sum before the activation. */
static double summed(const struct run *r, int64_t batch, int64_t i, int64_t j) {
    double sum = bias(r, j);
    for (int64_t k = 0; k < r->t->k; k++) sum += term(r, false, batch, i, k) * term(r, true, batch, j, k);
    return sum;
}

static double activated(enum wick_activation activation, double x) {
    if (activation == WICK_ACTIVATION_RELU) return x > 0 ? x : 0;
    if (activation == WICK_ACTIVATION_GELU_TANH)
        return x / 2 * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    return x;
}

/* From row to row. */
static int64_t apart(const struct run *r, int64_t columns) {
    return r->kind->aligned ? (columns + 7) / 8 * 8 + 8 : columns + r->t->pad;
}

/* The trial's operands and sentinels in `host`, which may be NULL: A, then B, C, each a matrix a batch, and the bias.
 */
static struct wick__blas_product lay_out(const struct run *r, char *host, size_t *nbytes) {
    const struct trial *t = r->t;
    struct wick__blas_product g = {.dtype = r->kind->dtype, .c_dtype = r->kind->c_dtype, .m = t->m, .n = t->n};
    int64_t size = (int)wick__size(g.dtype), c_size = (int)wick__size(g.c_dtype);
    g.k = t->k;
    g.batch = t->batch;
    g.transpose_a = t->transpose_a;
    g.transpose_b = t->transpose_b;
    g.lda = apart(r, t->transpose_a ? t->m : t->k);
    g.ldb = apart(r, t->transpose_b ? t->k : t->n);
    g.ldc = apart(r, t->n);
    g.stride_a = (t->transpose_a ? t->k : t->m) * g.lda;
    g.stride_b = (t->transpose_b ? t->n : t->k) * g.ldb;
    g.stride_c = t->m * g.ldc;
    g.activation = r->kind->activation;
    size_t b_at = (size_t)(t->batch * g.stride_a * size + 255) / 256 * 256;
    size_t c_at = b_at + (size_t)(t->batch * g.stride_b * size + 255) / 256 * 256;
    size_t bias_at = c_at + (size_t)(t->batch * g.stride_c * c_size + 255) / 256 * 256;
    *nbytes = bias_at + (size_t)(t->n * c_size);
    if (!host) return g; /* only the size is asked for */
    g.a = host;
    g.b = host + b_at;
    g.c = host + c_at;
    if (r->biased) g.bias = host + bias_at;
    return g;
}

static void fill(const struct run *r, const struct wick__blas_product *g) {
    const struct trial *t = r->t;
    for (int64_t p = 0; p < t->batch; p++)
        for (int64_t k = 0; k < t->k; k++) {
            for (int64_t i = 0; i < t->m; i++)
                put(g->dtype, (void *)(uintptr_t)g->a,
                    p * g->stride_a + (t->transpose_a ? k * g->lda + i : i * g->lda + k), term(r, false, p, i, k));
            for (int64_t j = 0; j < t->n; j++)
                put(g->dtype, (void *)(uintptr_t)g->b,
                    p * g->stride_b + (t->transpose_b ? j * g->ldb + k : k * g->ldb + j), term(r, true, p, j, k));
        }
    for (int64_t i = 0; i < t->batch * g->stride_c; i++) put(g->c_dtype, g->c, i, -5);
    for (int64_t j = 0; j < t->n && g->bias; j++) put(g->c_dtype, (void *)(uintptr_t)g->bias, j, bias(r, j));
}

/* How an element is: rounded once; long sums of f32 and f64 round on the way, by far less than what a term carries, and
 * what a bias leaves of them keeps that error. GELU has some units of f32 of its own. */
static enum wick__verdict judge(const struct run *r, double got, double sum) {
    enum wick_dtype c = r->kind->c_dtype;
    bool gelu = r->kind->activation == WICK_ACTIVATION_GELU_TANH;
    double want = activated(r->kind->activation, sum), error = fabs(got - want), size = fabs(sum) + 1;
    double bound = c == WICK_BF16 ? 0x1p-8 : c == WICK_F16 ? 0x1p-11 : 0, floor = 0;
    if (r->t->long_one && bound == 0) bound = unit_of(c) / 16;
    if (r->t->long_one && r->biased && c == WICK_F32) floor = 0x1p-10;
    if (gelu) floor += r->t->subnormal ? (c == WICK_F16 ? 0x1p-24 : 0) : (c == WICK_F16 ? 0x1p-24 : 0) + size * 0x1p-20;
    if (gelu && r->t->subnormal && bound == 0) bound = 0x1p-20;
    if (error <= bound * fabs(want) + floor) return WICK__GOOD;
    return gelu && !r->t->subnormal && error <= size * 0x1p-7 ? WICK__ROUGH : WICK__WRONG;
}

static enum wick__verdict compare(const struct run *r, const struct wick__blas_product *g) {
    enum wick__verdict verdict = WICK__GOOD;
    for (int64_t p = 0; p < r->t->batch; p++)
        for (int64_t i = 0; i < r->t->m; i++)
            for (int64_t j = 0; j < g->ldc; j++) {
                double got = get(g->c_dtype, g->c, p * g->stride_c + i * g->ldc + j);
                enum wick__verdict here = j < r->t->n   ? judge(r, got, summed(r, p, i, j))
                                          : got == -5.0 ? WICK__GOOD
                                                        : WICK__WRONG;
                if (here == WICK__WRONG) return here;
                if (here == WICK__ROUGH) verdict = here;
            }
    return verdict;
}

/* Runs a trial; UNCHECKED when there was no memory for it, so that nothing is known. */
static enum wick__verdict try(struct wick__gpu *gpu, struct wick__held *held, const struct run *r,
                              wick__multiply_fn *multiply) {
    size_t nbytes;
    void *device = NULL;
    enum wick__verdict verdict = WICK__UNCHECKED;
    lay_out(r, NULL, &nbytes);
    char *host = wick__alloc(nbytes);
    if (!host) return verdict;
    memset(host, 0, nbytes);
    struct wick__blas_product here = lay_out(r, host, &nbytes), there = here;
    fill(r, &here);
    if (wick__gpu_scratch(gpu, nbytes, &device) == WICK_OK) {
        there.a = device;
        there.b = (char *)device + ((const char *)here.b - host);
        there.c = (char *)device + ((char *)here.c - host);
        if (here.bias) there.bias = (char *)device + ((const char *)here.bias - host);
        if (wick__gpu_upload(gpu, device, host, nbytes) == WICK_OK && wick__gpu_use(gpu) == WICK_OK) {
            if (multiply(gpu, held, &there) != WICK__RAN)
                verdict = WICK__ABSENT;
            else if (wick__gpu_download(gpu, host, device, nbytes) == WICK_OK)
                verdict = compare(r, &here);
        }
        wick__gpu_release(gpu, device, nbytes);
    }
    wick__free(host, nbytes);
    return verdict;
}

enum wick__verdict wick__trials(struct wick__gpu *gpu, struct wick__held *held, const struct wick__trial_kind *kind,
                                wick__multiply_fn *multiply) {
    enum wick__verdict verdict = WICK__GOOD;
    size_t count = sizeof trials / sizeof *trials;
    for (size_t i = 0; i < count * (kind->fused ? 2 : 1); i++) {
        /* First all with a bias, then all without. */
        const struct run r = {&trials[i % count], kind, kind->fused && i < count};
        if (kind->fused && r.t->batch > 1) continue;
        if (kind->fused && !r.biased && kind->activation == WICK_ACTIVATION_NONE) break;
        enum wick__verdict here = try(gpu, held, &r, multiply);
        if (here != WICK__GOOD)
            wick__log(WICK_LOG_DEBUG, "%s: check of products of %s, %lld x %lld x %lld, rows %lld apart, %s%s: %s",
                      gpu->device->name, wick_dtype_name(kind->dtype), (long long)r.t->m, (long long)r.t->n,
                      (long long)r.t->k, (long long)apart(&r, r.t->n), r.biased ? "bias" : "no bias",
                      kind->activation != WICK_ACTIVATION_NONE ? " and activation" : "",
                      here == WICK__ROUGH   ? "not exact"
                      : here == WICK__WRONG ? "wrong"
                                            : "not made");
        if (here == WICK__ROUGH)
            verdict = here;
        else if (here != WICK__GOOD)
            return here;
    }
    if (verdict == WICK__GOOD && (kind->dtype == WICK_F16 || kind->fused)) {
        const struct run r = {&subnormal_trial, kind, false};
        verdict = try(gpu, held, &r, multiply);
        if (verdict == WICK__WRONG) verdict = WICK__FLUSHES;
    }
    return verdict;
}
