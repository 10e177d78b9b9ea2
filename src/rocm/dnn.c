/* MIOpen: convolutions in f16, bf16 and f32, without bias and relu, in immediate mode: it names the solutions that it
 * has for a shape, one is chosen here, and MIOpen compiles it, unless the user's cache has it. It never measures. */
#define _GNU_SOURCE /* setenv */
#include "rocm/rocm.h"

#include "core/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wick__miopen wick__miopen;

static const struct wick__symbol symbols[] = {
#define WICK__FN(need, result, name, parameters) WICK__SYMBOL(need, struct wick__miopen, name),
#include "rocm/miopen.def"
};

static const char *const names[] = {".so.1", NULL}; /* of any HIP */

struct wick__opener wick__miopen_opener =
    WICK__OPENER("libMIOpen", "WICK_MIOPEN_PATH", names, wick__rocm_roots, symbols);

static char version_text[48];

/* ---- the library ---- */

/* What it prints is for its developers. It reads the variable when it is first used. */
static void be_quiet(void) { setenv("MIOPEN_LOG_LEVEL", "1", 0); }

void wick__miopen_open(void) {
    static const char *const *const versions[] = {names, names, names};
    struct wick__opener *opener = &wick__miopen_opener;
    size_t major = 0, minor = 0, patch = 0;
    wick__rocblas_open(); /* first, so that both use the same */
    pthread_mutex_lock(&opener->mutex);
    if (!opener->tried) be_quiet();
    if (!opener->tried && wick__rocm_open(opener, versions, &wick__miopen)) {
        if (wick__miopen.miopenGetVersion(&major, &minor, &patch) == miopenStatusSuccess)
            snprintf(version_text, sizeof version_text, "MIOpen %zu.%zu.%zu", major, minor, patch);
        else
            snprintf(version_text, sizeof version_text, "MIOpen");
    }
    pthread_mutex_unlock(&opener->mutex);
}

const char *wick__miopen_version(void) {
    wick__miopen_open();
    return version_text;
}

const char *wick__miopen_missing(const char *target) {
    wick__miopen_open();
    return wick__miopen_opener.handle ? wick__miopen_compiler_fault(target) : wick__miopen_opener.fault;
}

/* Its results are those of the compiler that it starts, and of rocBLAS. */
const char *wick__miopen_beside(int number) {
    const char *const files[] = {wick__miopen_compiler(), wick__rocblas_opener.path};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] && number-- == 0) return files[i];
    return NULL;
}

const char *wick__miopen_status_text(int status) {
    return wick__miopen_opener.handle ? wick__miopen.miopenGetErrorString(status) : "MIOpen status";
}

/* ---- handles ---- */

int wick__miopen_create(void **out, void *stream) {
    int ordinal = 0;
    char name[8], target[64];
    *out = NULL;
    wick__miopen_open();
    if (!wick__miopen_opener.handle) return 0;
    int code = wick__rocm_code(wick__hip.hipGetDevice(&ordinal));
    if (!code) code = wick__rocm_target(ordinal, name, sizeof name, target, sizeof target);
    if (code || wick__miopen_compiler_fault(target)) return code;
    struct wick__miopen_handle *dnn = wick__alloc_quiet(sizeof *dnn);
    if (!dnn) return hipErrorOutOfMemory;
    *dnn = (struct wick__miopen_handle){.has_blas = !wick__rocblas_missing(target)};
    code = wick__miopen_code(wick__miopen.miopenCreateWithStream(&dnn->handle, stream));
    if (code)
        wick__free(dnn, sizeof *dnn);
    else
        *out = dnn;
    return code;
}

int wick__miopen_destroy(void *handle) {
    struct wick__miopen_handle *dnn = handle;
    int code = wick__miopen_code(wick__miopen.miopenDestroy(dnn->handle));
    wick__free(dnn, sizeof *dnn);
    return code;
}

int wick__miopen_set_stream(void *handle, void *stream) {
    return wick__miopen_code(wick__miopen.miopenSetStream(((struct wick__miopen_handle *)handle)->handle, stream));
}

/* ---- plans ---- */

/* The functions of a direction, which take two operands and a result: w x y, y w x, or y x w. */
struct way {
    miopenStatus_t (*solve)(miopenHandle_t handle, miopenTensorDescriptor_t a, miopenTensorDescriptor_t b,
                            miopenConvolutionDescriptor_t conv, miopenTensorDescriptor_t c, size_t most, size_t *count,
                            miopenConvSolution_t *solutions);
    miopenStatus_t (*compile)(miopenHandle_t handle, miopenTensorDescriptor_t a, miopenTensorDescriptor_t b,
                              miopenConvolutionDescriptor_t conv, miopenTensorDescriptor_t c, uint64_t solution);
    miopenStatus_t (*run)(miopenHandle_t handle, miopenTensorDescriptor_t a_is, const void *a,
                          miopenTensorDescriptor_t b_is, const void *b, miopenConvolutionDescriptor_t conv,
                          miopenTensorDescriptor_t c_is, void *c, void *workspace, size_t nbytes, uint64_t solution);
};

static struct way way_of(enum wick__conv_way way) {
    switch (way) {
    case WICK__CONV_FORWARD:
        return (struct way){wick__miopen.miopenConvolutionForwardGetSolution,
                            wick__miopen.miopenConvolutionForwardCompileSolution,
                            wick__miopen.miopenConvolutionForwardImmediate};
    case WICK__CONV_DATA:
        return (struct way){wick__miopen.miopenConvolutionBackwardDataGetSolution,
                            wick__miopen.miopenConvolutionBackwardDataCompileSolution,
                            wick__miopen.miopenConvolutionBackwardDataImmediate};
    default:
        return (struct way){wick__miopen.miopenConvolutionBackwardWeightsGetSolution,
                            wick__miopen.miopenConvolutionBackwardWeightsCompileSolution,
                            wick__miopen.miopenConvolutionBackwardWeightsImmediate};
    }
}

struct plan {
    struct way way;
    miopenTensorDescriptor_t x, w, y;
    miopenTensorDescriptor_t a, b, c; /* the same in the order of the direction */
    miopenConvolutionDescriptor_t conv;
    uint64_t solution;
    size_t workspace;
};

/* Whether the sizes fit in, written as ints. */
static bool narrow(int *to, const int64_t *from, int count) {
    for (int i = 0; i < count; i++) {
        if (from[i] > INT_MAX) return false;
        to[i] = (int)from[i];
    }
    return true;
}

static int tensor(miopenTensorDescriptor_t *out, miopenDataType_t type, int64_t a, int64_t b, const int64_t *sizes,
                  int spatial) {
    int64_t all[5] = {a, b};
    int dims[5];
    memcpy(all + 2, sizes, sizeof *sizes * (size_t)spatial);
    if (!narrow(dims, all, 2 + spatial)) return WICK__MIOPEN_CODE | miopenStatusNotImplemented;
    int code = wick__miopen_code(wick__miopen.miopenCreateTensorDescriptor(out));
    return code ? code : wick__miopen_code(wick__miopen.miopenSetTensorDescriptor(*out, type, 2 + spatial, dims, NULL));
}

/* With the same bits each time; and on gfx90a not by bf16's matrix instructions for f16, which drop bits. */
static int windows(const struct wick__dnn_conv *c, miopenConvolutionDescriptor_t *out) {
    int padding[3], stride[3], dilation[3], groups[1];
    if (!narrow(padding, c->padding, c->spatial) || !narrow(stride, c->stride, c->spatial) ||
        !narrow(dilation, c->dilation, c->spatial) || !narrow(groups, &c->groups, 1))
        return WICK__MIOPEN_CODE | miopenStatusNotImplemented;
    int code = wick__miopen_code(wick__miopen.miopenCreateConvolutionDescriptor(out));
    if (!code)
        code = wick__miopen_code(wick__miopen.miopenInitConvolutionNdDescriptor(*out, c->spatial, padding, stride,
                                                                                dilation, miopenConvolution));
    if (!code) code = wick__miopen_code(wick__miopen.miopenSetConvolutionGroupCount(*out, *groups));
    if (!code)
        code = wick__miopen_code(
            wick__miopen.miopenSetConvolutionAttribute(*out, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, 1));
    if (!code)
        code = wick__miopen_code(
            wick__miopen.miopenSetConvolutionAttribute(*out, MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL, 0));
    return code;
}

static int describe(const struct wick__dnn_conv *c, struct plan *plan) {
    const miopenDataType_t type = c->dtype == WICK_F32   ? miopenFloat
                                  : c->dtype == WICK_F16 ? miopenHalf
                                                         : miopenBFloat16;
    int code = tensor(&plan->x, type, c->n, c->groups * c->cin, c->in, c->spatial);
    if (!code) code = tensor(&plan->w, type, c->groups * c->cout, c->cin, c->kernel, c->spatial);
    if (!code) code = tensor(&plan->y, type, c->n, c->groups * c->cout, c->out, c->spatial);
    if (!code) code = windows(c, &plan->conv);
    plan->way = way_of(c->way);
    plan->a = c->way == WICK__CONV_FORWARD ? plan->w : plan->y;
    plan->b = c->way == WICK__CONV_DATA ? plan->w : plan->x;
    plan->c = c->way == WICK__CONV_FORWARD ? plan->y : c->way == WICK__CONV_DATA ? plan->x : plan->w;
    return code;
}

/* Whether a solution keeps to what numerics.md promises, and runs at all. Transforms carry errors from one element to
 * the next. Products in 16 bits keep parts of a gradient's sums in 16 bits. They end the process on a card that rocBLAS
 * has no kernels for. */
static bool takes(const struct wick__miopen_handle *dnn, const struct wick__dnn_conv *c,
                  const miopenConvSolution_t *solution, size_t most) {
    const int algorithm = solution->algorithm;
    bool exact = c->dtype == WICK_F32 || c->way == WICK__CONV_FORWARD;
    return solution->workspace_size <= most &&
           ((algorithm == miopenConvolutionAlgoGEMM && dnn->has_blas && exact) ||
            algorithm == miopenConvolutionAlgoDirect || algorithm == miopenConvolutionAlgoImplicitGEMM);
}

/* The solution that is wanted, of those that will do and can be compiled, the fastest by its own account first. A
 * solution's number is its name. */
static int choose(const struct wick__miopen_handle *dnn, const struct wick__dnn_conv *c, struct wick__way *wanted,
                  struct plan *plan, size_t most) {
    miopenConvSolution_t solutions[16];
    size_t count = 0;
    int64_t place = 0;
    const struct way *way = &plan->way;
    int code = wick__miopen_code(way->solve(dnn->handle, plan->a, plan->b, plan->conv, plan->c,
                                            sizeof solutions / sizeof *solutions, &count, solutions));
    if (code) return code;
    code = WICK__MIOPEN_CODE | miopenStatusNotImplemented;
    for (size_t i = 0; i < count && code; i++) {
        if (!takes(dnn, c, &solutions[i], most)) continue;
        if (wanted->name && wanted->name != solutions[i].solution_id) continue;
        plan->solution = solutions[i].solution_id;
        plan->workspace = solutions[i].workspace_size;
        code = wick__miopen_code(way->compile(dnn->handle, plan->a, plan->b, plan->conv, plan->c, plan->solution));
        if (!code && !wanted->name && ++place < wanted->place) code = WICK__MIOPEN_CODE | miopenStatusNotImplemented;
    }
    if (!code && wanted->place) wanted->name = plan->solution;
    return code;
}

void wick__miopen_forget(void *memory) {
    struct plan *plan = memory;
    if (plan->conv) wick__miopen.miopenDestroyConvolutionDescriptor(plan->conv);
    if (plan->y) wick__miopen.miopenDestroyTensorDescriptor(plan->y);
    if (plan->w) wick__miopen.miopenDestroyTensorDescriptor(plan->w);
    if (plan->x) wick__miopen.miopenDestroyTensorDescriptor(plan->x);
    wick__free(plan, sizeof *plan);
}

/* Its solutions have no recipes: a number alone does not tell the algorithm, by which they are chosen. */
int wick__miopen_plan(void *handle, const struct wick__dnn_conv *c, struct wick__planned *planned) {
    planned->plan = NULL;
    planned->recipe.count = 0;
    if (c->bias || c->relu || c->dtype == WICK_F64) return WICK__MIOPEN_CODE | miopenStatusNotImplemented;
    struct plan *plan = wick__alloc_quiet(sizeof *plan);
    if (!plan) return hipErrorOutOfMemory;
    *plan = (struct plan){.x = NULL};
    int code = describe(c, plan);
    if (!code) code = choose(handle, c, &planned->way, plan, planned->most);
    planned->workspace = plan->workspace;
    if (code)
        wick__miopen_forget(plan);
    else
        planned->plan = plan;
    return code;
}

int wick__miopen_run(void *handle, void *memory, const struct wick__dnn_conv *c, void *workspace) {
    const struct wick__miopen_handle *dnn = handle;
    const struct plan *plan = memory;
    const void *a = c->way == WICK__CONV_FORWARD ? c->w : c->y, *b = c->way == WICK__CONV_DATA ? c->w : c->x;
    void *result = c->way == WICK__CONV_FORWARD ? c->y : c->way == WICK__CONV_DATA ? c->x : c->w;
    return wick__miopen_code(plan->way.run(dnn->handle, plan->a, a, plan->b, b, plan->conv, plan->c, result, workspace,
                                           plan->workspace, plan->solution));
}
