/* cuBLAS: products in f16, bf16, f32 and f64, that accumulate in f32 (f64), with no TF32. */
#include "cuda/cuda.h"

#include "core/memory.h"

#include <stdio.h>

static struct wick__cublas cublas;

static const struct wick__symbol symbols[] = {
#define WICK__FN(need, result, name, parameters) WICK__SYMBOL(need, struct wick__cublas, name),
#include "cuda/cublas.def"
};

static const char *const versions_new[] = {".so.13", ".so.12", ".so.11", ".so", NULL};
static const char *const versions_12[] = {".so.12", ".so.13", ".so.11", ".so", NULL};
static const char *const versions_11[] = {".so.11", ".so.12", ".so.13", ".so", NULL};

struct wick__opener wick__cublas_opener =
    WICK__OPENER("libcublas", "WICK_CUBLAS_PATH", versions_new, wick__cuda_roots, symbols);

static char version_text[32];

enum { WORKSPACE = 32 << 20 };

struct blas {
    cublasHandle_t handle;
    CUdeviceptr workspace;
};

void wick__cublas_open(void) {
    struct wick__opener *opener = &wick__cublas_opener;
    int cuda = wick__cuda_major();
    pthread_mutex_lock(&opener->mutex);
    if (!opener->tried) {
        opener->versions = cuda == 12 ? versions_12 : cuda == 11 ? versions_11 : versions_new;
        int version = 0;
        if (wick__library_open(opener, &cublas)) {
            snprintf(version_text, sizeof version_text, "cuBLAS");
            if (cublas.cublasGetVersion_v2(NULL, &version) == CUBLAS_STATUS_SUCCESS)
                snprintf(version_text, sizeof version_text, "cuBLAS %d.%d.%d", version / 10000, version / 100 % 100,
                         version % 100);
        }
    }
    pthread_mutex_unlock(&opener->mutex);
}

const char *wick__cublas_version(void) {
    wick__cublas_open();
    return version_text;
}

const char *wick__cublas_missing(const char *target) {
    (void)target;
    wick__cublas_open();
    return wick__cublas_opener.handle ? NULL : wick__cublas_opener.fault;
}

const char *wick__cublas_status_text(int status) {
    const char *text = NULL;
    if (wick__cublas_opener.handle && cublas.cublasGetStatusName) text = cublas.cublasGetStatusName(status);
    return text ? text : "cuBLAS status";
}

static int code_of(cublasStatus_t status) { return status == CUBLAS_STATUS_SUCCESS ? 0 : WICK__CUBLAS_CODE | status; }

/* The stream is set before the workspace, because setting it takes the workspace away. */
static int set_stream(struct blas *blas, void *stream) {
    int code = code_of(cublas.cublasSetStream_v2(blas->handle, stream));
    if (code) return code;
    union {
        CUdeviceptr address;
        void *pointer;
    } workspace = {.address = blas->workspace};
    return code_of(cublas.cublasSetWorkspace_v2(blas->handle, workspace.pointer, WORKSPACE));
}

static int prepare(struct blas *blas, void *stream) {
    int code = wick__cuda.cuMemAlloc_v2(&blas->workspace, WORKSPACE);
    if (code) return code;
    code = code_of(cublas.cublasCreate_v2(&blas->handle));
    if (!code) {
        code = set_stream(blas, stream);
        if (!code)
            code = code_of(cublas.cublasSetMathMode(
                blas->handle, CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
        if (code) cublas.cublasDestroy_v2(blas->handle);
    }
    if (code) wick__cuda.cuMemFree_v2(blas->workspace);
    return code;
}

int wick__cublas_create(void **out, void *stream) {
    *out = NULL;
    wick__cublas_open();
    if (!wick__cublas_opener.handle) return 0;
    struct blas *blas = wick__alloc_quiet(sizeof *blas);
    if (!blas) return CUDA_ERROR_OUT_OF_MEMORY;
    *blas = (struct blas){0};
    int code = prepare(blas, stream);
    if (code)
        wick__free(blas, sizeof *blas);
    else
        *out = blas;
    return code;
}

int wick__cublas_destroy(void *handle) {
    struct blas *blas = handle;
    int code = code_of(cublas.cublasDestroy_v2(blas->handle)), freed = wick__cuda.cuMemFree_v2(blas->workspace);
    wick__free(blas, sizeof *blas);
    return code ? code : freed;
}

int wick__cublas_set_stream(void *handle, void *stream) { return set_stream(handle, stream); }

static int type_of(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_DTYPE_f16: return CUDA_R_16F;
    case WICK_DTYPE_bf16: return CUDA_R_16BF;
    case WICK_DTYPE_f32: return CUDA_R_32F;
    case WICK_DTYPE_f64: return CUDA_R_64F;
    default: return -1;
    }
}

/* cuBLAS is column-major, so C^T = B^T A^T is what it is asked for. */
int wick__cublas_gemm(void *handle, const struct wick__blas_product *g) {
    struct blas *blas = handle;
    const int type = type_of(g->dtype), c_type = type_of(g->c_dtype);
    const int64_t sizes[] = {g->m, g->n, g->k, g->batch, g->lda, g->ldb, g->ldc};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] > INT32_MAX) return WICK__CUBLAS_CODE | CUBLAS_STATUS_NOT_SUPPORTED;
    if (type < 0 || c_type < 0) return WICK__CUBLAS_CODE | CUBLAS_STATUS_NOT_SUPPORTED;
    const float one = 1, zero = 0;
    const double one64 = 1, zero64 = 0;
    const bool wide = g->dtype == WICK_DTYPE_f64;
    return code_of(cublas.cublasGemmStridedBatchedEx(
        blas->handle, g->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, g->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, (int)g->n,
        (int)g->m, (int)g->k, wide ? (const void *)&one64 : &one, g->b, type, (int)g->ldb, g->stride_b, g->a, type,
        (int)g->lda, g->stride_a, wide ? (const void *)&zero64 : &zero, g->c, c_type, (int)g->ldc, g->stride_c,
        (int)g->batch, wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}
