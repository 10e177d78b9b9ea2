/* cuBLASLt: products in f16, bf16 and f32 with bias and activation, which sum in f32, with no TF32, and round once. */
#include "cuda/cuda.h"

#include "core/memory.h"

#include <stdio.h>

static struct wick__cublaslt lt;

static const struct wick__symbol symbols[] = {
#define WICK__FN(need, result, name, parameters) WICK__SYMBOL(need, struct wick__cublaslt, name),
#include "cuda/cublaslt.def"
};

static const char *const versions_new[] = {".so.13", ".so.12", NULL};
static const char *const versions_12[] = {".so.12", ".so.13", NULL};

struct wick__opener wick__cublaslt_opener =
    WICK__OPENER("libcublasLt", "WICK_CUBLASLT_PATH", versions_new, wick__cuda_roots, symbols);

static char version_text[32];

struct handle {
    cublasLtHandle_t handle;
    void *stream;
};

struct plan {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulAlgo_t algo;
};

/* cuBLAS first: it brings the one that belongs to it. */
void wick__cublaslt_open(void) {
    struct wick__opener *opener = &wick__cublaslt_opener;
    wick__cublas_open();
    pthread_mutex_lock(&opener->mutex);
    if (!opener->tried) {
        opener->versions = wick__cuda_major() == 12 ? versions_12 : versions_new;
        if (wick__library_open(opener, &lt)) {
            int version = (int)lt.cublasLtGetVersion();
            snprintf(version_text, sizeof version_text, "cuBLASLt %d.%d.%d", version / 10000, version / 100 % 100,
                     version % 100);
        }
    }
    pthread_mutex_unlock(&opener->mutex);
}

const char *wick__cublaslt_version(void) {
    wick__cublaslt_open();
    return version_text;
}

const char *wick__cublaslt_missing(const char *target) {
    (void)target;
    wick__cublaslt_open();
    return wick__cublaslt_opener.handle ? NULL : wick__cublaslt_opener.fault;
}

static int code_of(cublasStatus_t status) { return status == CUBLAS_STATUS_SUCCESS ? 0 : WICK__CUBLAS_CODE | status; }

/* ---- handles ---- */

int wick__cublaslt_create(void **out, void *stream) {
    *out = NULL;
    wick__cublaslt_open();
    if (!wick__cublaslt_opener.handle) return 0;
    struct handle *handle = wick__alloc_quiet(sizeof *handle);
    if (!handle) return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = (struct handle){.stream = stream};
    int code = code_of(lt.cublasLtCreate(&handle->handle));
    if (code)
        wick__free(handle, sizeof *handle);
    else
        *out = handle;
    return code;
}

int wick__cublaslt_destroy(void *handle) {
    int code = code_of(lt.cublasLtDestroy(((struct handle *)handle)->handle));
    wick__free(handle, sizeof(struct handle));
    return code;
}

int wick__cublaslt_set_stream(void *handle, void *stream) {
    ((struct handle *)handle)->stream = stream;
    return 0;
}

/* ---- plans ---- */

static int type_of(enum wick_dtype dtype) {
    return dtype == WICK_F16 ? CUDA_R_16F : dtype == WICK_BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

static int set(cublasLtMatmulDesc_t desc, int attribute, const void *value, size_t nbytes) {
    return code_of(lt.cublasLtMatmulDescSetAttribute(desc, attribute, value, nbytes));
}

static int prefer(cublasLtMatmulPreference_t preference, int attribute, uint32_t value) {
    return code_of(lt.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value));
}

/* What it does, and to which matrices: it is column-major, so C^T = B^T A^T is what it is asked for. */
static int describe(const struct wick__blas_product *g, struct plan *plan) {
    const int32_t a_transposed = g->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int32_t b_transposed = g->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const uint64_t m = (uint64_t)g->m, n = (uint64_t)g->n, k = (uint64_t)g->k;
    uint32_t epilogue = g->activation == WICK_ACTIVATION_RELU        ? CUBLASLT_EPILOGUE_RELU
                        : g->activation == WICK_ACTIVATION_GELU_TANH ? CUBLASLT_EPILOGUE_GELU
                                                                     : 0;
    if (g->bias) epilogue |= CUBLASLT_EPILOGUE_BIAS;
    if (!epilogue) epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    const int type = type_of(g->dtype), c_type = type_of(g->c_dtype);
    int code = code_of(lt.cublasLtMatmulDescCreate(&plan->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    if (!code) code = set(plan->desc, CUBLASLT_MATMUL_DESC_TRANSA, &a_transposed, sizeof a_transposed);
    if (!code) code = set(plan->desc, CUBLASLT_MATMUL_DESC_TRANSB, &b_transposed, sizeof b_transposed);
    if (!code) code = set(plan->desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    if (!code && g->bias) code = set(plan->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &g->bias, sizeof g->bias);
    if (!code)
        code = code_of(
            lt.cublasLtMatrixLayoutCreate(&plan->a, type, g->transpose_b ? k : n, g->transpose_b ? n : k, g->ldb));
    if (!code)
        code = code_of(
            lt.cublasLtMatrixLayoutCreate(&plan->b, type, g->transpose_a ? m : k, g->transpose_a ? k : m, g->lda));
    if (!code) code = code_of(lt.cublasLtMatrixLayoutCreate(&plan->c, c_type, n, m, g->ldc));
    return code;
}

static uint32_t alignment(const void *memory) {
    uint32_t align = 16;
    while ((uintptr_t)memory % align != 0) align /= 2;
    return align;
}

/* The first way that the library proposes, of those that add up parts of sums in f32, in a fixed order. Sums of
 * products with results of 16 bits are not split: 13.1 rounds those that it split to 16 bits before it adds the bias,
 * even where it is asked to add up in f32. */
static int search(const struct handle *handle, const struct wick__blas_product *g, size_t most, struct plan *plan,
                  size_t *workspace) {
    cublasLtMatmulPreference_t preference = NULL;
    cublasLtMatmulHeuristicResult_t result = {0};
    const uint64_t bytes = most;
    const uint32_t schemes =
        g->c_dtype == WICK_F32 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE;
    int found = 0, code = code_of(lt.cublasLtMatmulPreferenceCreate(&preference));
    if (code) return code;
    code = code_of(lt.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                                           sizeof bytes));
    const struct {
        int attribute;
        uint32_t value;
    } wanted[] = {{CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes},
                  {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(g->b)},
                  {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(g->a)},
                  {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(g->c)},
                  {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(g->c)}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && !code; i++)
        code = prefer(preference, wanted[i].attribute, wanted[i].value);
    if (!code)
        code = code_of(lt.cublasLtMatmulAlgoGetHeuristic(handle->handle, plan->desc, plan->a, plan->b, plan->c, plan->c,
                                                         preference, 1, &result, &found));
    lt.cublasLtMatmulPreferenceDestroy(preference);
    if (!code) code = found < 1 ? WICK__CUBLAS_CODE | CUBLAS_STATUS_NOT_SUPPORTED : code_of(result.state);
    if (!code && result.workspaceSize > most) code = WICK__CUBLAS_CODE | CUBLAS_STATUS_NOT_SUPPORTED;
    plan->algo = result.algo;
    *workspace = result.workspaceSize;
    return code;
}

void wick__cublaslt_forget(void *memory) {
    struct plan *plan = memory;
    if (plan->a) lt.cublasLtMatrixLayoutDestroy(plan->a);
    if (plan->b) lt.cublasLtMatrixLayoutDestroy(plan->b);
    if (plan->c) lt.cublasLtMatrixLayoutDestroy(plan->c);
    if (plan->desc) lt.cublasLtMatmulDescDestroy(plan->desc);
    wick__free(plan, sizeof *plan);
}

int wick__cublaslt_plan(void *handle, const struct wick__blas_product *g, size_t most, void **out, size_t *workspace) {
    struct plan *plan = wick__alloc_quiet(sizeof *plan);
    *out = NULL;
    if (!plan) return CUDA_ERROR_OUT_OF_MEMORY;
    *plan = (struct plan){0};
    int code = describe(g, plan);
    if (!code) code = search(handle, g, most, plan, workspace);
    if (code)
        wick__cublaslt_forget(plan);
    else
        *out = plan;
    return code;
}

int wick__cublaslt_run(void *memory, const struct wick__blas_product *g, void *workspace, size_t nbytes, void *handle) {
    const struct plan *plan = memory;
    const struct handle *on = handle;
    const float one = 1, zero = 0;
    int code = g->bias ? set(plan->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &g->bias, sizeof g->bias) : 0;
    if (code) return code;
    return code_of(lt.cublasLtMatmul(on->handle, plan->desc, &one, g->b, plan->a, g->a, plan->b, &zero, g->c, plan->c,
                                     g->c, plan->c, &plan->algo, workspace, nbytes, on->stream));
}
