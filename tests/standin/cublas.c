/* libcublas.so.13 over the stand-in driver. */
#include "blas.h"

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
enum { SUCCESS, NOT_INITIALIZED, ALLOC_FAILED = 3, INVALID_VALUE = 7, INTERNAL_ERROR = 14, NOT_SUPPORTED = 15 };

#define ENTER(function) STANDIN_ENTER(function, NOT_INITIALIZED, INTERNAL_ERROR, "libcuda.so.1")

API int cublasCreate_v2(struct standin_blas **handle) {
    ENTER(cublasCreate_v2);
    *handle = calloc(1, sizeof **handle);
    if (!*handle) return d->leave(ALLOC_FAILED);
    d->count(1);
    return d->leave(SUCCESS);
}
API int cublasDestroy_v2(struct standin_blas *handle) {
    ENTER(cublasDestroy_v2);
    if (!handle) return d->leave(NOT_INITIALIZED);
    free(handle);
    d->count(-1);
    return d->leave(SUCCESS);
}
API int cublasSetStream_v2(struct standin_blas *handle, void *stream) {
    ENTER(cublasSetStream_v2);
    handle->stream = stream;
    return d->leave(SUCCESS);
}
API int cublasSetWorkspace_v2(struct standin_blas *handle, void *memory, size_t size) {
    (void)handle, (void)memory, (void)size;
    ENTER(cublasSetWorkspace_v2);
    return d->leave(SUCCESS);
}
API int cublasSetMathMode(struct standin_blas *handle, int mode) {
    (void)handle, (void)mode;
    ENTER(cublasSetMathMode);
    return d->leave(SUCCESS);
}
API int cublasSetAtomicsMode(struct standin_blas *handle, int mode) {
    (void)handle, (void)mode;
    ENTER(cublasSetAtomicsMode);
    return d->leave(SUCCESS);
}
API int cublasSetPointerMode_v2(struct standin_blas *handle, int mode) {
    (void)handle;
    ENTER(cublasSetPointerMode_v2);
    return d->leave(mode == 0 ? SUCCESS : NOT_SUPPORTED);
}
API int cublasGetVersion_v2(struct standin_blas *handle, int *version) {
    (void)handle;
    *version = 130000;
    return SUCCESS;
}
API int cublasGetProperty(int which, int *value) {
    *value = which == 0 ? 13 : 0;
    return SUCCESS;
}
API size_t cublasGetCudartVersion(void) { return 13000; }
API const char *cublasGetStatusName(int status) {
    return status == SUCCESS         ? "CUBLAS_STATUS_SUCCESS"
           : status == NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                     : "CUBLAS_STATUS_INTERNAL_ERROR";
}
API const char *cublasGetStatusString(int status) { return cublasGetStatusName(status); }

static enum standin_dtype dtype_of(int type) {
    return type == 2    ? STANDIN_F16
           : type == 0  ? STANDIN_F32
           : type == 1  ? STANDIN_F64
           : type == 14 ? STANDIN_BF16
                        : STANDIN_NO_DTYPE;
}

API int cublasGemmStridedBatchedEx(struct standin_blas *handle, int trans_a, int trans_b, int m, int n, int k,
                                   const void *alpha, const void *a, int a_type, int lda, long long stride_a,
                                   const void *b, int b_type, int ldb, long long stride_b, const void *beta, void *c,
                                   int c_type, int ldc, long long stride_c, int batch, int compute, int algo) {
    (void)algo;
    ENTER(cublasGemmStridedBatchedEx);
    if (!handle) return d->leave(NOT_INITIALIZED);
    enum standin_dtype dtype = dtype_of(a_type);
    bool wide = dtype == STANDIN_F64; /* computes in f64: 70 or 71; f32: 68 or 69 and the faster ones */
    enum standin_dtype c_dtype = dtype_of(c_type);
    bool narrow = dtype == STANDIN_F16 || dtype == STANDIN_BF16;
    if (a_type != b_type || !(a_type == c_type || (narrow && c_dtype == STANDIN_F32)) ||
        wide != (compute == 70 || compute == 71) || compute < 68)
        return d->leave(NOT_SUPPORTED);
    struct standin_gemm gemm = {
        .dtype = dtype, .c_dtype = c_dtype, .m = m, .n = n, .k = k, .batch = batch, .lda = lda, .ldb = ldb};
    gemm.ldc = ldc;
    gemm.stride_a = (long)stride_a;
    gemm.stride_b = (long)stride_b;
    gemm.stride_c = (long)stride_c;
    gemm.transpose_a = trans_a != 0;
    gemm.transpose_b = trans_b != 0;
    gemm.alpha = wide ? *(const double *)alpha : *(const float *)alpha;
    gemm.beta = wide ? *(const double *)beta : *(const float *)beta;
    gemm.a = a;
    gemm.b = b;
    gemm.c = c;
    d->ran("blas");
    int code = d->gemm(&gemm, handle->stream);
    return d->leave(code == DRIVER_OK          ? SUCCESS
                    : code == DRIVER_NOT_FOUND ? NOT_SUPPORTED
                    : code == DRIVER_VALUE     ? INVALID_VALUE
                                               : INTERNAL_ERROR);
}
API int cublasGemmEx(struct standin_blas *handle, int trans_a, int trans_b, int m, int n, int k, const void *alpha,
                     const void *a, int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, void *c,
                     int c_type, int ldc, int compute, int algo) {
    return cublasGemmStridedBatchedEx(handle, trans_a, trans_b, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb, 0,
                                      beta, c, c_type, ldc, 0, 1, compute, algo);
}
