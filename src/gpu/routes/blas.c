/* cuBLAS and rocBLAS: opened when first wanted, trusted for a dtype once they have passed a check on this device, and
 * passed over where they refuse. */
#include "gpu/routes/blas.h"

#include "core/convert.h"
#include "core/memory.h"
#include "core/setting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DTYPES = 4 };
static const enum wick_dtype dtypes[DTYPES] = {WICK_BF16, WICK_F16, WICK_F32, WICK_F64};

struct wick__gpu_blas {
    pthread_mutex_t mutex; /* of all below: a handle serves one thread at a time */
    enum wick_blas choice;
    bool tried;
    void *handle, *stream;
    enum wick_blas_verdict verdict[DTYPES];
    int64_t used, refused;
};

static int index_of(enum wick_dtype dtype) {
    for (int i = 0; i < DTYPES; i++)
        if (dtypes[i] == dtype) return i;
    return -1;
}

static enum wick_blas choice_from_environment(void) {
    static const char *const words[] = {
        [WICK_BLAS_AUTO] = "auto", [WICK_BLAS_OWN] = "own", [WICK_BLAS_VENDOR] = "vendor", NULL};
    return (enum wick_blas)wick__setting_word("WICK_BLAS", words, WICK_BLAS_AUTO);
}

/* The device's state, made when first asked for, locked. NULL when out of memory. */
static struct wick__gpu_blas *blas_lock(struct wick__gpu *gpu) {
    pthread_mutex_lock(&gpu->mutex);
    if (!gpu->blas) {
        struct wick__gpu_blas *blas = wick__alloc(sizeof *blas);
        if (blas) {
            *blas = (struct wick__gpu_blas){.choice = choice_from_environment()};
            pthread_mutex_init(&blas->mutex, NULL);
            gpu->blas = blas;
        }
    }
    struct wick__gpu_blas *blas = gpu->blas;
    pthread_mutex_unlock(&gpu->mutex);
    if (blas) pthread_mutex_lock(&blas->mutex);
    return blas;
}

void wick__blas_close(struct wick__gpu *gpu) {
    struct wick__gpu_blas *blas = gpu->blas;
    if (!blas) return;
    if (blas->handle) gpu->vendor->blas_destroy(blas->handle);
    pthread_mutex_destroy(&blas->mutex);
    wick__free(blas, sizeof *blas);
    gpu->blas = NULL;
}

/* Makes the handle, once, and keeps it on the device's stream. */
static bool have_handle(struct wick__gpu *gpu, struct wick__gpu_blas *blas) {
    const struct wick__vendor *vendor = gpu->vendor;
    char reason[256];
    if (!blas->tried) {
        if (!vendor->blas_create || wick__gpu_use(gpu) != WICK_OK) return false;
        blas->tried = true;
        int code = vendor->blas_create(&blas->handle, gpu->stream);
        blas->stream = gpu->stream;
        if (code != 0) {
            blas->handle = NULL;
            vendor->error_text(code, reason, sizeof reason);
            wick__log(WICK_LOG_WARNING, "%s: no BLAS handle: %s", gpu->device->name, reason);
        }
    }
    if (!blas->handle) return false;
    if (blas->stream != gpu->stream) {
        if (wick__gpu_use(gpu) != WICK_OK || vendor->blas_set_stream(blas->handle, gpu->stream) != 0) return false;
        blas->stream = gpu->stream;
    }
    return true;
}

/* ---- the check ---- */

/* Element i, which holds the check's small values exactly; in f16 they may be subnormal. */
static void put(enum wick_dtype dtype, void *to, int64_t i, double value) {
    wick__store_f64(dtype, value, (char *)to + i * (int64_t)wick__size(dtype));
}

static double get(enum wick_dtype dtype, const void *from, int64_t i) {
    return wick__load_f64(dtype, (const char *)from + i * (int64_t)wick__size(dtype));
}

/* A product of the check: small integers, whose sums are exact, or a long one whose terms and sums need the whole
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
static struct wick__blas_product lay_out(const struct trial *t, enum wick_dtype dtype, char *host, size_t *nbytes) {
    struct wick__blas_product g = {.dtype = dtype, .m = t->m, .n = t->n, .k = t->k, .batch = t->batch};
    int64_t size = (int)wick__size(dtype);
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
    *nbytes = c_at + (size_t)(t->batch * g.stride_c * size);
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
    for (int64_t i = 0; i < t->batch * g->stride_c; i++) put(g->dtype, g->c, i, -5);
}

static bool is_right(const struct trial *t, const struct wick__blas_product *g) {
    /* Rounded once; long sums of f32 and f64 round on the way, by far less than what a term carries. */
    double bound = g->dtype == WICK_BF16 ? 0x1p-8 : g->dtype == WICK_F16 ? 0x1p-11 : 0;
    if (t->long_one && bound == 0) bound = unit_of(g->dtype) / 16;
    for (int64_t p = 0; p < t->batch; p++)
        for (int64_t i = 0; i < t->m; i++)
            for (int64_t j = 0; j < g->ldc; j++) {
                double want = j < t->n ? expected(t, g->dtype, p, i, j) : -5;
                double error = fabs(get(g->dtype, g->c, p * g->stride_c + i * g->ldc + j) - want);
                if (!(error <= bound * fabs(want))) return false;
            }
    return true;
}

/* Runs a trial; UNCHECKED when there was no memory for it, so that nothing is known. */
static enum wick_blas_verdict try(struct wick__gpu *gpu, struct wick__gpu_blas *blas, const struct trial *t,
                                  enum wick_dtype dtype) {
    size_t nbytes;
    void *device = NULL;
    enum wick_blas_verdict verdict = WICK_BLAS_UNCHECKED;
    lay_out(t, dtype, NULL, &nbytes);
    char *host = wick__alloc(nbytes);
    if (!host) return verdict;
    memset(host, 0, nbytes);
    struct wick__blas_product here = lay_out(t, dtype, host, &nbytes), there = here;
    fill(t, &here);
    if (wick__gpu_scratch(gpu, nbytes, &device) == WICK_OK) {
        there.a = device;
        there.b = (char *)device + ((const char *)here.b - host);
        there.c = (char *)device + ((char *)here.c - host);
        if (wick__gpu_upload(gpu, device, host, nbytes) == WICK_OK && wick__gpu_use(gpu) == WICK_OK) {
            if (gpu->vendor->blas_gemm(blas->handle, &there) != 0)
                verdict = WICK_BLAS_ABSENT;
            else if (wick__gpu_download(gpu, host, device, nbytes) == WICK_OK)
                verdict = is_right(t, &here) ? WICK_BLAS_GOOD : WICK_BLAS_WRONG;
        }
        wick__gpu_release(gpu, device, nbytes);
    }
    wick__free(host, nbytes);
    return verdict;
}

static enum wick_blas_verdict check(struct wick__gpu *gpu, struct wick__gpu_blas *blas, int dtype) {
    struct wick__error quiet = {0};
    if (blas->verdict[dtype] != WICK_BLAS_UNCHECKED || gpu->capturing) return blas->verdict[dtype];
    wick__error_swap(&quiet); /* a check that fails is not a failure of the op */
    enum wick_blas_verdict verdict = WICK_BLAS_GOOD;
    for (size_t i = 0; i < sizeof trials / sizeof *trials && verdict == WICK_BLAS_GOOD; i++)
        verdict = try(gpu, blas, &trials[i], dtypes[dtype]);
    if (verdict == WICK_BLAS_GOOD && dtypes[dtype] == WICK_F16) {
        verdict = try(gpu, blas, &subnormal_trial, WICK_F16);
        if (verdict == WICK_BLAS_WRONG) verdict = WICK_BLAS_FLUSHES;
    }
    wick__error_swap(&quiet);
    blas->verdict[dtype] = verdict;
    if (verdict == WICK_BLAS_WRONG)
        wick__log(WICK_LOG_ERROR, "%s: %s gave a wrong product of %s and is not used for it", gpu->device->name,
                  gpu->vendor->blas_version(), wick_dtype_name(dtypes[dtype]));
    return verdict;
}

/* ---- products ---- */

/* One operand as BLAS takes it: rows of neighbours, `stored` of them apart. False when it has no such layout. */
static bool lead(int64_t rows, int64_t columns, int64_t row, int64_t column, bool *transposed, int64_t *ld) {
    *transposed = false;
    *ld = rows == 1 ? columns : row;
    if ((columns == 1 || column == 1) && *ld >= columns) return true;
    *transposed = true;
    *ld = columns == 1 ? rows : column;
    return (rows == 1 || row == 1) && *ld >= rows;
}

/* The product as BLAS takes it; false when it can't without copies. */
static bool describe(const struct wick__product *g, struct wick__blas_product *b) {
    struct wick__layout batch[2];
    wick__product_layouts(g, batch);
    wick__layout_collapse(batch, 2);
    if (batch[0].rank != 1) return false;
    *b = (struct wick__blas_product){.dtype = g->dtype, .m = g->m, .n = g->n, .k = g->k, .batch = batch[0].shape[0]};
    b->a = g->a;
    b->b = g->b;
    b->c = g->c;
    b->ldc = g->n;
    b->stride_a = batch[0].stride[0];
    b->stride_b = batch[1].stride[0];
    b->stride_c = g->m * g->n;
    return lead(g->m, g->k, g->a_row, g->a_k, &b->transpose_a, &b->lda) &&
           lead(g->k, g->n, g->b_k, g->b_column, &b->transpose_b, &b->ldb);
}

/* Whether the product is of a vector and a matrix whose terms don't lie side by side: ours sums parts of that in a
 * second launch. */
static bool is_across(const struct wick__product *g) {
    return (g->m == 1 && g->n > 1 && g->b_k != 1) || (g->n == 1 && g->m > 1 && g->a_k != 1);
}

/* Whether it is chosen for the product. Bias and activation come in a second pass, before which 16 bits are too few. */
static bool is_chosen(enum wick_blas choice, const struct wick__product *g) {
    bool plain = !g->bias && g->activation == WICK_ACTIVATION_NONE;
    if (choice == WICK_BLAS_OWN || g->k == 0 || (!plain && wick_dtype_bits(g->dtype) == 16)) return false;
    if (choice == WICK_BLAS_VENDOR) return true;
    double work = (double)g->m * (double)g->n * (double)g->k * (double)wick__product_batches(g);
    bool large = g->m >= 16 && g->n >= 16 && g->k >= 16;
    return work >= 2e6 && (large || is_across(g));
}

enum wick_status wick__blas_run(struct wick__gpu *gpu, const struct wick__product *g, bool *done) {
    int dtype = index_of(g->dtype);
    struct wick__blas_product b;
    if (dtype < 0 || !gpu->vendor->blas_create || !describe(g, &b)) return WICK_OK;
    struct wick__gpu_blas *blas = blas_lock(gpu);
    if (!blas) return WICK_MEMORY;
    /* A library can't be opened or checked while a graph is recorded. */
    if (is_chosen(blas->choice, g) && (blas->tried || !gpu->capturing) && have_handle(gpu, blas)) {
        enum wick_blas_verdict verdict = check(gpu, blas, dtype);
        bool trusted = verdict == WICK_BLAS_GOOD || (verdict == WICK_BLAS_FLUSHES && blas->choice == WICK_BLAS_VENDOR);
        *done = trusted && wick__gpu_use(gpu) == WICK_OK && gpu->vendor->blas_gemm(blas->handle, &b) == 0;
        if (*done)
            blas->used++;
        else if (trusted || verdict == WICK_BLAS_ABSENT)
            blas->refused++;
    }
    pthread_mutex_unlock(&blas->mutex);
    return WICK_OK;
}

/* ---- what is asked from outside ---- */

enum wick_status wick__blas_set(struct wick__gpu *gpu, enum wick_blas choice) {
    struct wick__gpu_blas *blas = blas_lock(gpu);
    if (!blas) return WICK_MEMORY;
    blas->choice = choice;
    pthread_mutex_unlock(&blas->mutex);
    return WICK_OK;
}

enum wick_status wick__blas_describe(struct wick__gpu *gpu, bool check_all, struct wick_blas_info *info) {
    struct wick__gpu_blas *blas = blas_lock(gpu);
    if (!blas) return WICK_MEMORY;
    bool there = gpu->vendor->blas_create && (gpu->capturing ? blas->handle != NULL : have_handle(gpu, blas));
    for (int i = 0; i < DTYPES && there && check_all; i++) check(gpu, blas, i);
    *info = (struct wick_blas_info){.blas = blas->choice,
                                    .library = there ? gpu->vendor->blas_version() : NULL,
                                    .bf16 = blas->verdict[0],
                                    .f16 = blas->verdict[1],
                                    .f32 = blas->verdict[2],
                                    .f64 = blas->verdict[3],
                                    .used = blas->used,
                                    .refused = blas->refused};
    if (!there) {
        info->fault = gpu->vendor->blas_create ? gpu->vendor->blas_missing(gpu->properties.target) : "not supported";
        if (!info->fault) info->fault = "it gave no handle";
    }
    pthread_mutex_unlock(&blas->mutex);
    return WICK_OK;
}
