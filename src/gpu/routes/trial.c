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

/* A product: small integers, whose sums are exact, or a long one whose terms and sums need the whole
 * precision that they are to be computed in. The last is for f16: A's integers are as many times 2^-20, subnormal. */
struct trial {
    int64_t m, n, k, batch;
    bool transpose_a, transpose_b, long_one, subnormal;
};
static const struct trial trials[] = {
    {33, 17, 29, 1, false, false, false, false}, {17, 33, 40, 1, true, false, false, false},
    {16, 48, 31, 2, false, true, false, false},  {40, 24, 64, 1, true, true, false, false},
    {64, 64, 64, 1, false, false, false, false}, {1, 19, 70, 3, false, true, false, false},
    {8, 8, 4096, 1, false, true, true, false},   {24, 16, 2048, 1, true, false, true, false}};
static const struct trial subnormal_trial = {32, 32, 64, 1, false, false, false, true};
enum { PAD = 3 }; /* elements between rows that belong to nobody */

/* Half a unit in the last place of 1: what a long sum's terms carry beyond 1 must survive. */
static double unit_of(enum wick_dtype dtype) {
    return dtype == WICK_BF16 ? 0x1p-7 : dtype == WICK_F16 ? 0x1p-10 : dtype == WICK_F32 ? 0x1p-12 : 0x1p-30;
}

static double term(const struct trial *t, enum wick_dtype dtype, bool is_b, int64_t batch, int64_t i, int64_t k) {
    if (t->long_one) return is_b ? 1 : 1 + unit_of(dtype) * (double)((i + k) % 2);
    return (double)((batch * 5 + i * (is_b ? 3 : 5) + k * (is_b ? 5 : 2) + (i * k) % 3) % 7 - 3) *
           (t->subnormal && !is_b ? 0x1p-20 : 1);
}

static double expected(const struct trial *t, enum wick_dtype dtype, int64_t batch, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < t->k; k++) sum += term(t, dtype, false, batch, i, k) * term(t, dtype, true, batch, j, k);
    return sum;
}

/* The trial's operands and sentinels in `host`, which may be NULL: A, then B, then C, each a matrix a batch. */
static struct wick__blas_product lay_out(const struct trial *t, const enum wick_dtype dtypes[2], char *host,
                                         size_t *nbytes) {
    struct wick__blas_product g = {
        .dtype = dtypes[0], .c_dtype = dtypes[1], .m = t->m, .n = t->n, .k = t->k, .batch = t->batch};
    int64_t size = (int)wick__size(g.dtype);
    g.transpose_a = t->transpose_a;
    g.transpose_b = t->transpose_b;
    g.lda = (t->transpose_a ? t->m : t->k) + PAD;
    g.ldb = (t->transpose_b ? t->k : t->n) + PAD;
    g.ldc = t->n + PAD;
    g.stride_a = (t->transpose_a ? t->k : t->m) * g.lda;
    g.stride_b = (t->transpose_b ? t->n : t->k) * g.ldb;
    g.stride_c = t->m * g.ldc;
    size_t b_at = (size_t)(t->batch * g.stride_a * size + 255) / 256 * 256;
    size_t c_at = b_at + (size_t)(t->batch * g.stride_b * size + 255) / 256 * 256;
    *nbytes = c_at + (size_t)(t->batch * g.stride_c * (int)wick__size(g.c_dtype));
    if (!host) return g; /* only the size is asked for */
    g.a = host;
    g.b = host + b_at;
    g.c = host + c_at;
    return g;
}

static void fill(const struct trial *t, const struct wick__blas_product *g) {
    for (int64_t p = 0; p < t->batch; p++)
        for (int64_t k = 0; k < t->k; k++) {
            for (int64_t i = 0; i < t->m; i++)
                put(g->dtype, (void *)(uintptr_t)g->a,
                    p * g->stride_a + (t->transpose_a ? k * g->lda + i : i * g->lda + k),
                    term(t, g->dtype, false, p, i, k));
            for (int64_t j = 0; j < t->n; j++)
                put(g->dtype, (void *)(uintptr_t)g->b,
                    p * g->stride_b + (t->transpose_b ? j * g->ldb + k : k * g->ldb + j),
                    term(t, g->dtype, true, p, j, k));
        }
    for (int64_t i = 0; i < t->batch * g->stride_c; i++) put(g->c_dtype, g->c, i, -5);
}

static bool is_right(const struct trial *t, const struct wick__blas_product *g) {
    /* Rounded once; long sums of f32 and f64 round on the way, by far less than what a term carries. */
    double bound = g->c_dtype == WICK_BF16 ? 0x1p-8 : g->c_dtype == WICK_F16 ? 0x1p-11 : 0;
    if (t->long_one && bound == 0) bound = unit_of(g->c_dtype) / 16;
    for (int64_t p = 0; p < t->batch; p++)
        for (int64_t i = 0; i < t->m; i++)
            for (int64_t j = 0; j < g->ldc; j++) {
                double want = j < t->n ? expected(t, g->dtype, p, i, j) : -5;
                double error = fabs(get(g->c_dtype, g->c, p * g->stride_c + i * g->ldc + j) - want);
                if (!(error <= bound * fabs(want))) return false;
            }
    return true;
}

/* Runs a trial; UNCHECKED when there was no memory for it, so that nothing is known. */
static enum wick_blas_verdict try(struct wick__gpu *gpu, void *handle, const struct trial *t,
                                  const enum wick_dtype dtypes[2], wick__multiply_fn *multiply) {
    size_t nbytes;
    void *device = NULL;
    enum wick_blas_verdict verdict = WICK_BLAS_UNCHECKED;
    lay_out(t, dtypes, NULL, &nbytes);
    char *host = wick__alloc(nbytes);
    if (!host) return verdict;
    memset(host, 0, nbytes);
    struct wick__blas_product here = lay_out(t, dtypes, host, &nbytes), there = here;
    fill(t, &here);
    if (wick__gpu_scratch(gpu, nbytes, &device) == WICK_OK) {
        there.a = device;
        there.b = (char *)device + ((const char *)here.b - host);
        there.c = (char *)device + ((char *)here.c - host);
        if (wick__gpu_upload(gpu, device, host, nbytes) == WICK_OK && wick__gpu_use(gpu) == WICK_OK) {
            if (multiply(gpu, handle, &there) != 0)
                verdict = WICK_BLAS_ABSENT;
            else if (wick__gpu_download(gpu, host, device, nbytes) == WICK_OK)
                verdict = is_right(t, &here) ? WICK_BLAS_GOOD : WICK_BLAS_WRONG;
        }
        wick__gpu_release(gpu, device, nbytes);
    }
    wick__free(host, nbytes);
    return verdict;
}

enum wick_blas_verdict wick__trials(struct wick__gpu *gpu, void *handle, enum wick_dtype dtype, enum wick_dtype c_dtype,
                                    wick__multiply_fn *multiply) {
    const enum wick_dtype dtypes[2] = {dtype, c_dtype};
    enum wick_blas_verdict verdict = WICK_BLAS_GOOD;
    for (size_t i = 0; i < sizeof trials / sizeof *trials && verdict == WICK_BLAS_GOOD; i++)
        verdict = try(gpu, handle, &trials[i], dtypes, multiply);
    if (verdict == WICK_BLAS_GOOD && dtype == WICK_F16) {
        verdict = try(gpu, handle, &subnormal_trial, dtypes, multiply);
        if (verdict == WICK_BLAS_WRONG) verdict = WICK_BLAS_FLUSHES;
    }
    return verdict;
}
