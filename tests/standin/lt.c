/* libcublasLt.so.13 or, with HIPBLASLT, libhipblaslt.so.0 over the stand-in driver: products of one batch, with bias
 * and activation. */
#include "blas.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#ifdef HIPBLASLT
#define LT(name) hipblasLt##name
#define DRIVERS "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"
enum { SUCCESS, NOT_INITIALIZED, ALLOC_FAILED, INVALID_VALUE, INTERNAL_ERROR = 6, NOT_SUPPORTED = 7 };
enum { TRANS_A, TRANS_B, EPILOGUE, BIAS_POINTER, TRANSPOSED = 112, SUMS = 2, ALGO = 2 };
#else
#define LT(name) cublasLt##name
#define DRIVERS "libcuda.so.1"
enum { SUCCESS, NOT_INITIALIZED, ALLOC_FAILED = 3, INVALID_VALUE = 7, INTERNAL_ERROR = 14, NOT_SUPPORTED = 15 };
enum { TRANS_A = 3, TRANS_B, EPILOGUE = 7, BIAS_POINTER, TRANSPOSED = 1, SUMS = 68, ALGO = 8, SCHEME = 5 };
#endif
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
    uint64_t data[ALGO];
#ifdef HIPBLASLT
    size_t most;
#endif
};
struct result {
    struct algo algo;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

#define ENTER(function) STANDIN_ENTER(function, NOT_INITIALIZED, INTERNAL_ERROR, DRIVERS)

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
    STANDIN_FIND(function, NOT_INITIALIZED, DRIVERS);                                                                  \
    int fault_ = d->enter(&entry_);                                                                                    \
    free(what);                                                                                                        \
    d->count(-1);                                                                                                      \
    return d->leave(fault_ ? INTERNAL_ERROR : SUCCESS)

#ifdef HIPBLASLT
API int LT(GetVersion)(struct standin_blas *handle, int *version) {
    ENTER(LT(GetVersion));
    if (!handle) return d->leave(INVALID_VALUE);
    *version = 1201; /* 0.12.1 */
    return d->leave(SUCCESS);
}
#else
API size_t LT(GetVersion)(void) { return 130000; }
#endif
API int LT(Create)(struct standin_blas **handle) { MAKE(LT(Create), struct standin_blas, handle, .stream = 0); }
API int LT(Destroy)(struct standin_blas *handle) { DESTROY(LT(Destroy), handle); }

API int LT(MatmulDescCreate)(struct desc **desc, int compute, int scale) {
    MAKE(LT(MatmulDescCreate), struct desc, desc, .epilogue = 1, .compute = compute, .scale = scale);
}
API int LT(MatmulDescDestroy)(struct desc *desc) { DESTROY(LT(MatmulDescDestroy), desc); }

API int LT(MatmulDescSetAttribute)(struct desc *desc, int attribute, const void *value, size_t nbytes) {
    ENTER(LT(MatmulDescSetAttribute));
    void *to = attribute == TRANS_A        ? (void *)&desc->trans_a
               : attribute == TRANS_B      ? (void *)&desc->trans_b
               : attribute == EPILOGUE     ? (void *)&desc->epilogue
               : attribute == BIAS_POINTER ? (void *)&desc->bias
                                           : NULL;
    if (!to || nbytes != (attribute == BIAS_POINTER ? 8 : 4)) return d->leave(INVALID_VALUE);
    memcpy(to, value, nbytes);
    if (to == &desc->trans_a || to == &desc->trans_b) *(int32_t *)to = *(int32_t *)to == TRANSPOSED;
    return d->leave(SUCCESS);
}

API int LT(MatrixLayoutCreate)(struct layout **layout, int type, uint64_t rows, uint64_t columns, int64_t ld) {
    MAKE(LT(MatrixLayoutCreate), struct layout, layout, .type = type, .rows = rows, .columns = columns, .ld = ld);
}
API int LT(MatrixLayoutDestroy)(struct layout *layout) { DESTROY(LT(MatrixLayoutDestroy), layout); }

API int LT(MatmulPreferenceCreate)(struct preference **preference) {
    MAKE(LT(MatmulPreferenceCreate), struct preference, preference, .schemes = 7, .align = {256, 256, 256, 256});
}
API int LT(MatmulPreferenceDestroy)(struct preference *preference) { DESTROY(LT(MatmulPreferenceDestroy), preference); }
API int LT(MatmulPreferenceSetAttribute)(struct preference *preference, int attribute, const void *value,
                                         size_t nbytes) {
    ENTER(LT(MatmulPreferenceSetAttribute));
    void *to = attribute == 1 ? (void *)&preference->most : NULL;
#ifndef HIPBLASLT
    if (attribute == 3) to = &preference->schemes;
    if (attribute >= 5 && attribute <= 8) to = &preference->align[attribute - 5];
#endif
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
           desc->compute == SUMS && desc->scale == 0 && dtype_of(a->type) != STANDIN_NO_DTYPE;
}

static const char *const ways[] = {"lt-1", "lt-2"};

/* Sums that are split in 16 bits, or added up in any order, are not what is wanted of it. */
API int LT(MatmulAlgoGetHeuristic)(struct standin_blas *handle, struct desc *desc, struct layout *a, struct layout *b,
                                   struct layout *c, struct layout *to, struct preference *preference, int wanted,
                                   struct result *results, int *found) {
    ENTER(LT(MatmulAlgoGetHeuristic));
    *found = 0;
    if (!handle || wanted < 1 || c != to || !fits(desc, a, b, to)) return d->leave(INVALID_VALUE);
    if (preference->most < WORKSPACE) return d->leave(NOT_SUPPORTED);
    for (uint64_t i = 0; i < 2 && *found < wanted; i++)
        if (d->has(ways[i])) results[(*found)++] = (struct result){.algo = {.data = {i}}, .workspace = WORKSPACE};
#ifndef HIPBLASLT
    if (preference->schemes != (to->type == 0 ? 2 : 0)) return d->leave(NOT_SUPPORTED);
    for (int i = 0; i < 4 * *found; i++) results[i / 4].algo.data[1 + i % 4] = preference->align[i % 4];
    for (int i = 0; i < *found; i++) results[i].algo.data[SCHEME] = preference->schemes;
#endif
    return d->leave(SUCCESS);
}

#ifndef HIPBLASLT
API int cublasLtMatmulAlgoCheck(struct standin_blas *handle, struct desc *desc, struct layout *a, struct layout *b,
                                struct layout *c, struct layout *to, const struct algo *algo, struct result *result) {
    ENTER(cublasLtMatmulAlgoCheck);
    if (!handle || c != to || !fits(desc, a, b, to) || algo->data[0] > 1 || !d->has(ways[algo->data[0]]))
        return d->leave(INVALID_VALUE);
    *result = (struct result){.algo = *algo, .workspace = WORKSPACE};
    return d->leave(SUCCESS);
}

static int tell(uint64_t value, void *to, size_t nbytes, size_t *written) {
    const uint32_t number = (uint32_t)value;
    if (nbytes != sizeof number) return INVALID_VALUE;
    memcpy(to, &number, sizeof number);
    *written = sizeof number;
    return SUCCESS;
}

API int cublasLtMatmulAlgoCapGetAttribute(const struct algo *algo, int capability, void *to, size_t nbytes,
                                          size_t *written) {
    ENTER(cublasLtMatmulAlgoCapGetAttribute);
    if (capability < 16 || capability > 19) return d->leave(INVALID_VALUE);
    return d->leave(tell(algo->data[1 + capability - 16], to, nbytes, written));
}

API int cublasLtMatmulAlgoConfigGetAttribute(const struct algo *algo, int attribute, void *to, size_t nbytes,
                                             size_t *written) {
    ENTER(cublasLtMatmulAlgoConfigGetAttribute);
    return d->leave(attribute == 3 ? tell(algo->data[SCHEME], to, nbytes, written) : INVALID_VALUE);
}
#endif

static bool aligned(const void *p, uint64_t align) { return (uintptr_t)p % align == 0; }

API int LT(Matmul)(struct standin_blas *handle, struct desc *desc, const void *alpha, const void *a,
                   struct layout *a_layout, const void *b, struct layout *b_layout, const void *beta, const void *c,
                   struct layout *c_layout, void *to, struct layout *to_layout, const struct algo *algo,
                   void *workspace, size_t nbytes, void *stream) {
    ENTER(LT(Matmul));
    if (!handle || c != to || c_layout != to_layout || !fits(desc, a_layout, b_layout, to_layout) ||
        algo->data[0] > 1 || nbytes < WORKSPACE || !d->is_memory(workspace, nbytes) || !aligned(workspace, 256))
        return d->leave(INVALID_VALUE);
#ifndef HIPBLASLT
    if (!aligned(a, algo->data[1]) || !aligned(b, algo->data[2]) || !aligned(to, algo->data[4]))
        return d->leave(INVALID_VALUE);
#endif
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
    d->ran(ways[algo->data[0]]);
    int code = d->gemm(&gemm, stream);
    return d->leave(code == DRIVER_OK          ? SUCCESS
                    : code == DRIVER_NOT_FOUND ? NOT_SUPPORTED
                    : code == DRIVER_VALUE     ? INVALID_VALUE
                                               : INTERNAL_ERROR);
}
