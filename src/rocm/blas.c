/* rocBLAS: products in f16, bf16, f32 and f64, that accumulate in f32 (f64). */
#include "rocm/rocm.h"

#include "core/memory.h"

#include <stdio.h>

static struct wick__rocblas rocblas;

static const struct wick__symbol symbols[] = {
#define WICK__FN(need, result, name, parameters) WICK__SYMBOL(need, struct wick__rocblas, name),
#include "rocm/rocblas.def"
};

/* Another runtime's rocBLAS would bring that runtime into the process. */
static const char *const versions_7[] = {".so.5", NULL};
static const char *const versions_6[] = {".so.4", NULL};
static const char *const versions_5[] = {".so.3", ".so.2", ".so.0", NULL};

struct wick__opener wick__rocblas_opener =
    WICK__OPENER("librocblas", "WICK_ROCBLAS_PATH", versions_6, wick__rocm_roots, symbols);

static char version_text[64];

enum { WORKSPACE = 32 << 20 };

struct blas {
    rocblas_handle handle;
    void *workspace; /* NULL: rocBLAS keeps its own */
};

void wick__rocblas_open(void) {
    static const char *const *const versions[] = {versions_5, versions_6, versions_7};
    struct wick__opener *opener = &wick__rocblas_opener;
    char version[48] = "";
    pthread_mutex_lock(&opener->mutex);
    if (!opener->tried && wick__rocm_open(opener, versions, &rocblas)) {
        if (rocblas.rocblas_get_version_string(version, sizeof version) == rocblas_status_success)
            snprintf(version_text, sizeof version_text, "rocBLAS %s", version);
        else
            snprintf(version_text, sizeof version_text, "rocBLAS");
    }
    pthread_mutex_unlock(&opener->mutex);
}

const char *wick__rocblas_version(void) {
    wick__rocblas_open();
    return version_text;
}

const char *wick__rocblas_status_text(int status) {
    return wick__rocblas_opener.handle ? rocblas.rocblas_status_to_string(status) : "rocBLAS status";
}

/* rocBLAS ends the process when it meets a GPU it has no kernel files for, so their presence is looked up first. */
const char *wick__rocblas_missing(const char *target) {
    static const char *const places[] = {"/rocblas/library",        "/rocblas/*/library", "/rocblas/*",
                                         "/../rocblas/lib/library", "/library",           NULL};
    wick__rocblas_open();
    if (!wick__rocblas_opener.handle) return wick__rocblas_opener.fault;
    return wick__rocm_lacks(&wick__rocblas_opener, "ROCBLAS_TENSILE_LIBPATH", places, target);
}

static int code_of(rocblas_status status) { return status == rocblas_status_success ? 0 : WICK__ROCBLAS_CODE | status; }

/* The workspace is only fixed where memory for it can be had; rocBLAS otherwise sees to its own. */
static int prepare(struct blas *blas, void *stream) {
    int code = code_of(rocblas.rocblas_create_handle(&blas->handle));
    if (code) return code;
    code = code_of(rocblas.rocblas_set_stream(blas->handle, stream));
    if (!code && rocblas.rocblas_set_atomics_mode)
        code = code_of(rocblas.rocblas_set_atomics_mode(blas->handle, rocblas_atomics_not_allowed));
    if (!code && rocblas.rocblas_set_workspace &&
        wick__rocm_code(wick__hip.hipMalloc(&blas->workspace, WORKSPACE)) == 0)
        code = code_of(rocblas.rocblas_set_workspace(blas->handle, blas->workspace, WORKSPACE));
    if (!code) return 0;
    rocblas.rocblas_destroy_handle(blas->handle);
    if (blas->workspace) wick__hip.hipFree(blas->workspace);
    return code;
}

int wick__rocblas_create(void **out, void *stream) {
    *out = NULL;
    int ordinal = 0;
    char name[8], target[64];
    wick__rocblas_open();
    if (!wick__rocblas_opener.handle) return 0;
    int code = wick__rocm_code(wick__hip.hipGetDevice(&ordinal));
    if (!code) code = wick__rocm_target(ordinal, name, sizeof name, target, sizeof target);
    if (code) return code;
    if (wick__rocblas_missing(target)) return 0;
    struct blas *blas = wick__alloc_quiet(sizeof *blas);
    if (!blas) return hipErrorOutOfMemory;
    *blas = (struct blas){0};
    code = prepare(blas, stream);
    if (code)
        wick__free(blas, sizeof *blas);
    else
        *out = blas;
    return code;
}

int wick__rocblas_destroy(void *handle) {
    struct blas *blas = handle;
    int code = code_of(rocblas.rocblas_destroy_handle(blas->handle));
    if (blas->workspace) {
        int freed = wick__rocm_code(wick__hip.hipFree(blas->workspace));
        if (!code) code = freed;
    }
    wick__free(blas, sizeof *blas);
    return code;
}

int wick__rocblas_set_stream(void *handle, void *stream) {
    struct blas *blas = handle;
    return code_of(rocblas.rocblas_set_stream(blas->handle, stream));
}

static int type_of(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_DTYPE_f16: return rocblas_datatype_f16_r;
    case WICK_DTYPE_bf16: return rocblas_datatype_bf16_r;
    case WICK_DTYPE_f32: return rocblas_datatype_f32_r;
    case WICK_DTYPE_f64: return rocblas_datatype_f64_r;
    default: return -1;
    }
}

/* rocBLAS is column-major, so C^T = B^T A^T is what it is asked for. */
int wick__rocblas_gemm(void *handle, const struct wick__blas_product *g) {
    struct blas *blas = handle;
    const int type = type_of(g->dtype), c_type = type_of(g->c_dtype);
    const int64_t sizes[] = {g->m, g->n, g->k, g->batch, g->lda, g->ldb, g->ldc};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] > INT32_MAX) return WICK__ROCBLAS_CODE | rocblas_status_not_implemented;
    if (type < 0 || c_type < 0) return WICK__ROCBLAS_CODE | rocblas_status_not_implemented;
    const float one = 1, zero = 0;
    const double one64 = 1, zero64 = 0;
    const bool wide = g->dtype == WICK_DTYPE_f64;
    return code_of(rocblas.rocblas_gemm_strided_batched_ex(
        blas->handle, g->transpose_b ? rocblas_operation_transpose : rocblas_operation_none,
        g->transpose_a ? rocblas_operation_transpose : rocblas_operation_none, (int32_t)g->n, (int32_t)g->m,
        (int32_t)g->k, wide ? (const void *)&one64 : &one, g->b, type, (int32_t)g->ldb, g->stride_b, g->a, type,
        (int32_t)g->lda, g->stride_a, wide ? (const void *)&zero64 : &zero, g->c, c_type, (int32_t)g->ldc, g->stride_c,
        g->c, c_type, (int32_t)g->ldc, g->stride_c, (int32_t)g->batch,
        wide ? rocblas_datatype_f64_r : rocblas_datatype_f32_r, rocblas_gemm_algo_standard, 0,
        rocblas_gemm_flags_none));
}
