/* libMIOpen.so.1 over the stand-in driver: convolutions in immediate mode, dense and without bias. Of the solutions
 * that it offers, most must not be taken: those fail when they are compiled or run. With COMPILER, the path of one is
 * in the library, as in those that start it. Unless it is told to be quiet before its first use, it talks. */
#include "miopen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#ifdef COMPILER
API const char standin_compiler[] = COMPILER;
#else
API const char standin_compiler[] = "libhiprtc.so"; /* in the process */
#endif
enum { GEMM, DIRECT, FFT, WINOGRAD, IMPLICIT = 5 };
enum { WORKSPACE = 4096, FIRST = 85 };

struct windows {
    int spatial, groups;
    bool deterministic, exact_f16;
    long padding[3], stride[3], dilation[3];
};
struct solution {
    float time;
    size_t workspace;
    uint64_t id;
    int algorithm;
};

API int miopenGetVersion(size_t *major, size_t *minor, size_t *patch) {
    *major = 3;
    *minor = 4;
    *patch = 0;
    return SUCCESS;
}
API const char *miopenGetErrorString(int status) {
    return status == SUCCESS ? "miopenStatusSuccess" : "miopenStatusOfAStandIn";
}

API int miopenCreateWithStream(struct handle **handle, void *stream) {
    const char *level = getenv("MIOPEN_LOG_LEVEL");
    ENTER(miopenCreateWithStream);
    if (!level || strcmp(level, "1") != 0) fputs("MIOpen(HIP): Warning: a stand-in talks\n", stderr);
    *handle = calloc(1, sizeof **handle);
    if (!*handle) return d->leave(NO_MEMORY);
    (*handle)->blas.stream = stream;
    d->count(1);
    return d->leave(SUCCESS);
}
API int miopenDestroy(struct handle *handle) { DESTROY(miopenDestroy, handle); }
API int miopenSetStream(struct handle *handle, void *stream) {
    ENTER(miopenSetStream);
    handle->blas.stream = stream;
    return d->leave(SUCCESS);
}

/* ---- descriptors ---- */

API int miopenCreateTensorDescriptor(struct tensor **tensor) { MAKE(miopenCreateTensorDescriptor, tensor); }
API int miopenDestroyTensorDescriptor(struct tensor *tensor) { DESTROY(miopenDestroyTensorDescriptor, tensor); }
API int miopenSetTensorDescriptor(struct tensor *tensor, int type, int dims, const int *sizes, const int *strides) {
    ENTER(miopenSetTensorDescriptor);
    if (dims < 2 || dims > 5 || strides) return d->leave(BAD_PARAM);
    tensor->dtype = type == 0 ? STANDIN_F16 : type == 1 ? STANDIN_F32 : type == 5 ? STANDIN_BF16 : STANDIN_NO_DTYPE;
    tensor->dims = dims;
    for (int i = 0; i < dims; i++) tensor->size[i] = sizes[i];
    return d->leave(SUCCESS);
}

API int miopenCreateConvolutionDescriptor(struct windows **w) { MAKE(miopenCreateConvolutionDescriptor, w); }
API int miopenDestroyConvolutionDescriptor(struct windows *w) { DESTROY(miopenDestroyConvolutionDescriptor, w); }
API int miopenInitConvolutionNdDescriptor(struct windows *w, int spatial, const int *padding, const int *stride,
                                          const int *dilation, int mode) {
    ENTER(miopenInitConvolutionNdDescriptor);
    if (spatial < 2 || spatial > 3 || mode != 0) return d->leave(BAD_PARAM);
    w->spatial = spatial;
    w->groups = 1;
    for (int s = 0; s < spatial; s++) {
        w->padding[s] = padding[s];
        w->stride[s] = stride[s];
        w->dilation[s] = dilation[s];
    }
    return d->leave(SUCCESS);
}
API int miopenSetConvolutionGroupCount(struct windows *w, int groups) {
    ENTER(miopenSetConvolutionGroupCount);
    w->groups = groups;
    return d->leave(SUCCESS);
}
API int miopenSetConvolutionAttribute(struct windows *w, int attribute, int value) {
    ENTER(miopenSetConvolutionAttribute);
    if (attribute == 0) w->exact_f16 = value == 0;
    if (attribute == 1) w->deterministic = value == 1;
    return d->leave(attribute > 1 ? BAD_PARAM : SUCCESS);
}

/* ---- solutions ---- */

/* The convolution that descriptors are of; false where they don't fit together. */
static bool read(const struct tensor *x, const struct tensor *w, const struct tensor *y, const struct windows *windows,
                 char result, struct standin_conv *c) {
    *c = (struct standin_conv){.dtype = x->dtype,
                               .result = result,
                               .spatial = windows->spatial,
                               .n = x->size[0],
                               .groups = windows->groups,
                               .cin = w->size[1],
                               .cout = w->size[0] / windows->groups};
    if (x->dtype == STANDIN_NO_DTYPE || w->dtype != x->dtype || y->dtype != x->dtype || !windows->deterministic ||
        !windows->exact_f16 || x->dims != 2 + c->spatial || w->dims != x->dims || y->dims != x->dims)
        return false;
    for (int s = 0; s < c->spatial; s++) {
        c->in[s] = x->size[2 + s];
        c->kernel[s] = w->size[2 + s];
        c->out[s] = y->size[2 + s];
        c->padding[s] = windows->padding[s];
        c->stride[s] = windows->stride[s];
        c->dilation[s] = windows->dilation[s];
        if ((c->in[s] + 2 * c->padding[s] - c->dilation[s] * (c->kernel[s] - 1) - 1) / c->stride[s] + 1 != c->out[s])
            return false;
    }
    return y->size[0] == c->n && y->size[1] == c->groups * c->cout && x->size[1] == c->groups * c->cin;
}

/* By transforms; by products, which round too often in gradients of 16 bits; with too large a workspace; one that can't
 * be compiled; and two that are right. */
static const struct solution offered[SOLUTIONS] = {
    {1, WORKSPACE, FIRST, WINOGRAD},           {2, WORKSPACE, FIRST + 1, FFT},    {3, WORKSPACE, FIRST + 2, GEMM},
    {4, (size_t)1 << 40, FIRST + 3, IMPLICIT}, {5, WORKSPACE, FIRST + 4, DIRECT}, {6, WORKSPACE, FIRST + 5, DIRECT}};

static bool is_right(const struct standin_conv *c, uint64_t id) {
    return id == FIRST + 5 || (id == FIRST + 2 && (c->result == 'y' || c->dtype == STANDIN_F32));
}

static const char *way_of(uint64_t id) { return id == FIRST + 2 ? "dnn-1" : "dnn-2"; }

static int solve(const struct standin_blas_driver *d, size_t most, size_t *count, struct solution *solutions) {
    *count = 0;
    for (int i = 0; i < SOLUTIONS && *count < most; i++)
        if (d->has(way_of(offered[i].id))) solutions[(*count)++] = offered[i];
    return SUCCESS;
}

static int compile(struct handle *handle, uint64_t id) {
    if (id < FIRST || id >= FIRST + SOLUTIONS) return BAD_PARAM;
    if (id == FIRST + 4) return UNKNOWN;
    handle->compiled[id - FIRST] = true;
    return SUCCESS;
}

static int run(const struct standin_blas_driver *d, const struct handle *handle, const struct standin_conv *c,
               void *workspace, size_t nbytes, uint64_t id) {
    if (id == FIRST + 2 && getenv("ROCBLAS_TENSILE_LIBPATH"))
        abort(); /* as rocBLAS does without kernels for the card */
    if (!is_right(c, id) || !handle->compiled[id - FIRST] || nbytes != WORKSPACE || !d->is_memory(workspace, nbytes))
        return BAD_PARAM;
    d->ran(way_of(id));
    int code = d->convolve(c, handle->blas.stream);
    return code == DRIVER_OK          ? SUCCESS
           : code == DRIVER_NOT_FOUND ? NOT_IMPLEMENTED
           : code == DRIVER_VALUE     ? BAD_PARAM
                                      : INTERNAL;
}

/* A direction: operands a and b, and the result. */
#define DIRECTION(name, result, a, b, to)                                                                              \
    API int miopenConvolution##name##GetSolution(struct handle *handle, struct tensor *a, struct tensor *b,            \
                                                 struct windows *windows, struct tensor *to, size_t most,              \
                                                 size_t *count, struct solution *solutions) {                          \
        struct standin_conv c;                                                                                         \
        ENTER(miopenConvolution##name##GetSolution);                                                                   \
        (void)handle;                                                                                                  \
        if (!read(x, w, y, windows, result, &c)) return d->leave(BAD_PARAM);                                           \
        return d->leave(solve(d, most, count, solutions));                                                             \
    }                                                                                                                  \
    API int miopenConvolution##name##CompileSolution(struct handle *handle, struct tensor *a, struct tensor *b,        \
                                                     struct windows *windows, struct tensor *to, uint64_t id) {        \
        struct standin_conv c;                                                                                         \
        ENTER(miopenConvolution##name##CompileSolution);                                                               \
        if (!read(x, w, y, windows, result, &c)) return d->leave(BAD_PARAM);                                           \
        return d->leave(compile(handle, id));                                                                          \
    }                                                                                                                  \
    API int miopenConvolution##name##Immediate(                                                                        \
        struct handle *handle, struct tensor *a, void *a##_at, struct tensor *b, void *b##_at,                         \
        struct windows *windows, struct tensor *to, void *to##_at, void *workspace, size_t nbytes, uint64_t id) {      \
        struct standin_conv c;                                                                                         \
        ENTER(miopenConvolution##name##Immediate);                                                                     \
        if (!read(x, w, y, windows, result, &c)) return d->leave(BAD_PARAM);                                           \
        c.x = x_at;                                                                                                    \
        c.w = w_at;                                                                                                    \
        c.y = y_at;                                                                                                    \
        return d->leave(run(d, handle, &c, workspace, nbytes, id));                                                    \
    }
DIRECTION(Forward, 'y', w, x, y)
DIRECTION(BackwardData, 'x', y, w, x)
DIRECTION(BackwardWeights, 'w', y, x, w)
