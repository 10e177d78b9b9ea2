/* libcublasLt.so.13 over the stand-in driver: products of one batch, with bias and activation. */
#include "blas.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
enum { SUCCESS, NOT_INITIALIZED, ALLOC_FAILED = 3, INVALID_VALUE = 7, INTERNAL_ERROR = 14, NOT_SUPPORTED = 15 };
enum { WORKSPACE = 4096 }; /* what every product asks for, and writes to */

struct desc {
    int32_t trans_a, trans_b;
    uint32_t epilogue;
    const void *bias;
    int compute, scale;
};
struct layout {
    int type;
    uint64_t rows, columns;
    int64_t ld;
};
struct preference {
    uint64_t most;
    uint32_t schemes, align[4];
};
struct algo {
    uint64_t data[8];
};
struct result {
    struct algo algo;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

#define ENTER(function) STANDIN_ENTER(function, NOT_INITIALIZED, INTERNAL_ERROR, "libcuda.so.1")

/* Everything that is made is counted as a handle, so that what is never destroyed shows. */
#define MAKE(function, type, to, ...)                                                                                  \
    ENTER(function);                                                                                                   \
    type *made_ = malloc(sizeof *made_);                                                                               \
    if (!made_) return d->leave(ALLOC_FAILED);                                                                         \
    *made_ = (type){__VA_ARGS__};                                                                                      \
    *(to) = made_;                                                                                                     \
    d->count(1);                                                                                                       \
    return d->leave(SUCCESS)
/* A fault in giving back loses nothing here. */
#define DESTROY(function, what)                                                                                        \
    STANDIN_FIND(function, NOT_INITIALIZED, "libcuda.so.1");                                                           \
    int fault_ = d->enter(&entry_);                                                                                    \
    free(what);                                                                                                        \
    d->count(-1);                                                                                                      \
    return d->leave(fault_ ? INTERNAL_ERROR : SUCCESS)

API size_t cublasLtGetVersion(void) { return 130000; }
API int cublasLtCreate(struct standin_blas **handle) { MAKE(cublasLtCreate, struct standin_blas, handle, .stream = 0); }
API int cublasLtDestroy(struct standin_blas *handle) { DESTROY(cublasLtDestroy, handle); }

API int cublasLtMatmulDescCreate(struct desc **desc, int compute, int scale) {
    MAKE(cublasLtMatmulDescCreate, struct desc, desc, .epilogue = 1, .compute = compute, .scale = scale);
}
API int cublasLtMatmulDescDestroy(struct desc *desc) { DESTROY(cublasLtMatmulDescDestroy, desc); }

API int cublasLtMatmulDescSetAttribute(struct desc *desc, int attribute, const void *value, size_t nbytes) {
    ENTER(cublasLtMatmulDescSetAttribute);
    void *to = attribute == 3   ? (void *)&desc->trans_a
               : attribute == 4 ? (void *)&desc->trans_b
               : attribute == 7 ? (void *)&desc->epilogue
               : attribute == 8 ? (void *)&desc->bias
                                : NULL;
    if (!to || nbytes != (attribute == 8 ? 8 : 4)) return d->leave(INVALID_VALUE);
    memcpy(to, value, nbytes);
    return d->leave(SUCCESS);
}

API int cublasLtMatrixLayoutCreate(struct layout **layout, int type, uint64_t rows, uint64_t columns, int64_t ld) {
    MAKE(cublasLtMatrixLayoutCreate, struct layout, layout, .type = type, .rows = rows, .columns = columns, .ld = ld);
}
API int cublasLtMatrixLayoutDestroy(struct layout *layout) { DESTROY(cublasLtMatrixLayoutDestroy, layout); }

API int cublasLtMatmulPreferenceCreate(struct preference **preference) {
    MAKE(cublasLtMatmulPreferenceCreate, struct preference, preference, .schemes = 7, .align = {256, 256, 256, 256});
}
API int cublasLtMatmulPreferenceDestroy(struct preference *preference) {
    DESTROY(cublasLtMatmulPreferenceDestroy, preference);
}
API int cublasLtMatmulPreferenceSetAttribute(struct preference *preference, int attribute, const void *value,
                                             size_t nbytes) {
    ENTER(cublasLtMatmulPreferenceSetAttribute);
    void *to = attribute == 1                     ? (void *)&preference->most
               : attribute == 3                   ? (void *)&preference->schemes
               : attribute >= 5 && attribute <= 8 ? (void *)&preference->align[attribute - 5]
                                                  : NULL;
    if (!to || nbytes != (attribute == 1 ? 8 : 4)) return d->leave(INVALID_VALUE);
    memcpy(to, value, nbytes);
    return d->leave(SUCCESS);
}

static enum standin_dtype dtype_of(int type) {
    return type == 2 ? STANDIN_F16 : type == 0 ? STANDIN_F32 : type == 14 ? STANDIN_BF16 : STANDIN_NO_DTYPE;
}

/* Whether a product is one: op(A) is m x k, op(B) k x n, D m x n. */
static bool fits(const struct desc *desc, const struct layout *a, const struct layout *b, const struct layout *to) {
    uint64_t k = desc->trans_a ? a->rows : a->columns;
    return (desc->trans_a ? a->columns : a->rows) == to->rows && (desc->trans_b ? b->columns : b->rows) == k &&
           (desc->trans_b ? b->rows : b->columns) == to->columns && a->type == b->type && a->type == to->type &&
           desc->compute == 68 && desc->scale == 0 && dtype_of(a->type) != STANDIN_NO_DTYPE;
}

/* Sums that are split in 16 bits, or added up in any order, are not what is wanted of it. */
API int cublasLtMatmulAlgoGetHeuristic(struct standin_blas *handle, struct desc *desc, struct layout *a,
                                       struct layout *b, struct layout *c, struct layout *to,
                                       struct preference *preference, int wanted, struct result *results, int *found) {
    ENTER(cublasLtMatmulAlgoGetHeuristic);
    *found = 0;
    if (!handle || wanted < 1 || c != to || !fits(desc, a, b, to)) return d->leave(INVALID_VALUE);
    if (preference->most < WORKSPACE || preference->schemes != (to->type == 0 ? 2 : 0)) return d->leave(NOT_SUPPORTED);
    results[0] = (struct result){.algo = {{1}}, .workspace = WORKSPACE};
    for (int i = 0; i < 4; i++) results[0].algo.data[1 + i] = preference->align[i];
    *found = 1;
    return d->leave(SUCCESS);
}

static bool aligned(const void *p, uint64_t align) { return (uintptr_t)p % align == 0; }

API int cublasLtMatmul(struct standin_blas *handle, struct desc *desc, const void *alpha, const void *a,
                       struct layout *a_layout, const void *b, struct layout *b_layout, const void *beta, const void *c,
                       struct layout *c_layout, void *to, struct layout *to_layout, const struct algo *algo,
                       void *workspace, size_t nbytes, void *stream) {
    ENTER(cublasLtMatmul);
    if (!handle || c != to || c_layout != to_layout || !fits(desc, a_layout, b_layout, to_layout) ||
        algo->data[0] != 1 || nbytes < WORKSPACE || !d->is_memory(workspace, nbytes) || !aligned(workspace, 256) ||
        !aligned(a, algo->data[1]) || !aligned(b, algo->data[2]) || !aligned(to, algo->data[4]))
        return d->leave(INVALID_VALUE);
    struct standin_gemm gemm = {.dtype = dtype_of(a_layout->type), .c_dtype = dtype_of(to_layout->type), .batch = 1};
    gemm.m = (long)to_layout->rows;
    gemm.n = (long)to_layout->columns;
    gemm.k = (long)(desc->trans_a ? a_layout->rows : a_layout->columns);
    gemm.lda = (long)a_layout->ld;
    gemm.ldb = (long)b_layout->ld;
    gemm.ldc = (long)to_layout->ld;
    gemm.transpose_a = desc->trans_a != 0;
    gemm.transpose_b = desc->trans_b != 0;
    gemm.alpha = *(const float *)alpha;
    gemm.beta = *(const float *)beta;
    gemm.a = a;
    gemm.b = b;
    gemm.c = to;
    gemm.bias = desc->epilogue & 4 ? desc->bias : NULL;
    gemm.activation = desc->epilogue & 2 ? STANDIN_RELU : desc->epilogue & 32 ? STANDIN_GELU : STANDIN_NONE;
    int code = d->gemm(&gemm, stream);
    return d->leave(code == DRIVER_OK          ? SUCCESS
                    : code == DRIVER_NOT_FOUND ? NOT_SUPPORTED
                    : code == DRIVER_VALUE     ? INVALID_VALUE
                                               : INTERNAL_ERROR);
}
