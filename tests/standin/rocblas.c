/* librocblas.so.4 over the stand-in driver. */
#include "blas.h"

#include <stdint.h>
#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
enum { SUCCESS, INVALID_HANDLE, NOT_IMPLEMENTED, INVALID_POINTER, INVALID_SIZE, MEMORY_ERROR, INTERNAL_ERROR };

#define ENTER(function)                                                                                                \
    STANDIN_ENTER(function, INTERNAL_ERROR, INTERNAL_ERROR, "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5")

API int rocblas_create_handle(struct standin_blas **handle) {
    ENTER(rocblas_create_handle);
    *handle = calloc(1, sizeof **handle);
    if (!*handle) return d->leave(MEMORY_ERROR);
    d->count(1);
    return d->leave(SUCCESS);
}
API int rocblas_destroy_handle(struct standin_blas *handle) {
    ENTER(rocblas_destroy_handle);
    if (!handle) return d->leave(INVALID_HANDLE);
    free(handle);
    d->count(-1);
    return d->leave(SUCCESS);
}
API int rocblas_set_stream(struct standin_blas *handle, void *stream) {
    ENTER(rocblas_set_stream);
    handle->stream = stream;
    return d->leave(SUCCESS);
}
API int rocblas_get_stream(struct standin_blas *handle, void **stream) {
    ENTER(rocblas_get_stream);
    *stream = handle->stream;
    return d->leave(SUCCESS);
}
API int rocblas_set_atomics_mode(struct standin_blas *handle, int mode) {
    (void)handle, (void)mode;
    ENTER(rocblas_set_atomics_mode);
    return d->leave(SUCCESS);
}
API int rocblas_set_pointer_mode(struct standin_blas *handle, int mode) {
    (void)handle;
    ENTER(rocblas_set_pointer_mode);
    return d->leave(mode == 0 ? SUCCESS : NOT_IMPLEMENTED);
}
API int rocblas_set_workspace(struct standin_blas *handle, void *memory, size_t size) {
    (void)handle, (void)memory, (void)size;
    ENTER(rocblas_set_workspace);
    return d->leave(SUCCESS);
}
API const char *rocblas_status_to_string(int status) {
    static const char *const names[] = {"rocblas_status_success",         "rocblas_status_invalid_handle",
                                        "rocblas_status_not_implemented", "rocblas_status_invalid_pointer",
                                        "rocblas_status_invalid_size",    "rocblas_status_memory_error",
                                        "rocblas_status_internal_error"};
    return status >= 0 && status < 7 ? names[status] : "rocblas_status_unknown";
}
API int rocblas_get_version_string(char *text, size_t size) {
    snprintf(text, size, "4.4.0.stand-in");
    return SUCCESS;
}
API int rocblas_get_version_string_size(size_t *size) {
    *size = sizeof "4.4.0.stand-in";
    return SUCCESS;
}
API void rocblas_initialize(void) {}

static enum standin_dtype dtype_of(int type) {
    return type == 150   ? STANDIN_F16
           : type == 151 ? STANDIN_F32
           : type == 152 ? STANDIN_F64
           : type == 168 ? STANDIN_BF16
                         : STANDIN_NO_DTYPE;
}

API int rocblas_gemm_strided_batched_ex(struct standin_blas *handle, int trans_a, int trans_b, int m, int n, int k,
                                        const void *alpha, const void *a, int a_type, int lda, int64_t stride_a,
                                        const void *b, int b_type, int ldb, int64_t stride_b, const void *beta,
                                        const void *c, int c_type, int ldc, int64_t stride_c, void *to, int to_type,
                                        int ldd, int64_t stride_d, int batch, int compute, int algo, int32_t solution,
                                        uint32_t flags) {
    (void)algo, (void)solution, (void)flags;
    ENTER(rocblas_gemm_strided_batched_ex);
    if (!handle) return d->leave(INVALID_HANDLE);
    enum standin_dtype dtype = dtype_of(a_type);
    enum standin_dtype c_dtype = dtype_of(c_type);
    bool narrow = dtype == STANDIN_F16 || dtype == STANDIN_BF16;
    if (a_type != b_type || c_type != to_type || !(a_type == c_type || (narrow && c_dtype == STANDIN_F32)) ||
        compute != (dtype == STANDIN_F64 ? 152 : 151))
        return d->leave(NOT_IMPLEMENTED);
    if (c != to || ldc != ldd || stride_c != stride_d) return d->leave(NOT_IMPLEMENTED);
    struct standin_gemm gemm = {
        .dtype = dtype, .c_dtype = c_dtype, .m = m, .n = n, .k = k, .batch = batch, .lda = lda, .ldb = ldb};
    gemm.ldc = ldd;
    gemm.stride_a = stride_a;
    gemm.stride_b = stride_b;
    gemm.stride_c = stride_d;
    gemm.transpose_a = trans_a != 111;
    gemm.transpose_b = trans_b != 111;
    gemm.alpha = compute == 152 ? *(const double *)alpha : *(const float *)alpha;
    gemm.beta = compute == 152 ? *(const double *)beta : *(const float *)beta;
    gemm.a = a;
    gemm.b = b;
    gemm.c = to;
    d->ran("blas");
    int code = d->gemm(&gemm, handle->stream);
    return d->leave(code == DRIVER_OK          ? SUCCESS
                    : code == DRIVER_NOT_FOUND ? NOT_IMPLEMENTED
                    : code == DRIVER_VALUE     ? INVALID_SIZE
                                               : INTERNAL_ERROR);
}
