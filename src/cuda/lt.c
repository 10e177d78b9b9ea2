/* cuBLASLt: products in f16, bf16 and f32 with bias and activation, which sum in f32, with no TF32, and round once. */
#include "cuda/cuda.h"

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

#define LT(name) cublasLt##name
#define LT_(name) CUBLASLT_##name
#define LT_CODE WICK__CUBLAS_CODE
#define LT_NO CUBLAS_OP_N
#define LT_TRANSPOSED CUBLAS_OP_T
#define LT_SUMS CUBLAS_COMPUTE_32F
#define LT_F32 CUDA_R_32F
#define LT_TYPE(dtype) ((dtype) == WICK_F16 ? CUDA_R_16F : (dtype) == WICK_BF16 ? CUDA_R_16BF : CUDA_R_32F)
#define LT_NOT_SUPPORTED CUBLAS_STATUS_NOT_SUPPORTED
#define LT_NO_MEMORY CUDA_ERROR_OUT_OF_MEMORY
#define LT_WORDS 8
#include "gpu/lt.h"

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

int wick__cublaslt_create(void **out, void *stream) {
    *out = NULL;
    wick__cublaslt_open();
    return wick__cublaslt_opener.handle ? handle_create(out, stream) : 0;
}

int wick__cublaslt_destroy(void *handle) { return handle_destroy(handle); }

int wick__cublaslt_set_stream(void *handle, void *stream) { return handle_set_stream(handle, stream); }

static uint32_t alignment(const void *memory) {
    uint32_t align = 16;
    while ((uintptr_t)memory % align != 0) align /= 2;
    return align;
}

/* Ways alone that add up parts of sums in f32, in a fixed order. Sums of products with results of 16 bits are not
 * split: 13.1 rounds those that it split to 16 bits before it adds the bias, even where it is asked to add up in f32.
 */
static uint32_t schemes_of(const struct wick__blas_product *g) {
    return g->c_dtype == WICK_F32 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE;
}

/* Alignments, and how sums are added up. */
static int lt_wish(cublasLtMatmulPreference_t preference, const struct wick__blas_product *g) {
    const uint32_t schemes = schemes_of(g);
    const struct {
        int attribute;
        uint32_t value;
    } wanted[] = {{CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes},
                  {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(g->b)},
                  {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(g->a)},
                  {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(g->c)},
                  {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(g->c)}};
    int code = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && !code; i++)
        code = code_of(lt.cublasLtMatmulPreferenceSetAttribute(preference, wanted[i].attribute, &wanted[i].value,
                                                               sizeof wanted[i].value));
    return code;
}

/* The library looks whether the algorithm fits descriptors and device, and tells its workspace; what it was asked for
 * besides is looked up here. */
static int lt_check(void *handle, const struct wick__blas_product *g, struct plan *plan, size_t *workspace) {
    const struct {
        int capability;
        const void *memory;
    } operands[] = {{CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, g->b},
                    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES, g->a},
                    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES, g->c},
                    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES, g->c}};
    cublasLtMatmulHeuristicResult_t result = {.state = 0};
    uint32_t scheme = 0, bytes = 0;
    size_t size = 0;
    const cublasLtMatmulAlgo_t *algo = &plan->algo;
    int code =
        code_of(lt.cublasLtMatmulAlgoCheck(handle, plan->desc, plan->a, plan->b, plan->c, plan->c, algo, &result));
    if (!code) code = code_of(result.state);
    if (!code)
        code = code_of(lt.cublasLtMatmulAlgoConfigGetAttribute(algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme,
                                                               sizeof scheme, &size));
    if (!code && (scheme & ~schemes_of(g))) code = LT_CODE | LT_NOT_SUPPORTED;
    for (size_t i = 0; i < sizeof operands / sizeof *operands && !code; i++) {
        code = code_of(lt.cublasLtMatmulAlgoCapGetAttribute(algo, operands[i].capability, &bytes, sizeof bytes, &size));
        if (!code && bytes > alignment(operands[i].memory)) code = LT_CODE | LT_NOT_SUPPORTED;
    }
    *workspace = result.workspaceSize;
    return code;
}

void wick__cublaslt_forget(void *plan) { plan_forget(plan); }

int wick__cublaslt_plan(void *handle, const struct wick__blas_product *g, struct wick__planned *planned) {
    return plan_make(handle, g, planned);
}

int wick__cublaslt_run(void *plan, const struct wick__blas_product *g, void *workspace, size_t nbytes, void *handle) {
    return plan_run(plan, g, workspace, nbytes, handle);
}
