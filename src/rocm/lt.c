/* hipBLASLt: products in f16, bf16 and f32 with bias and activation, which sum in f32. It has been compiled, and tried
 * on a stand-in; it has run on no AMD GPU. */
#include "rocm/rocm.h"

#include <stdio.h>

static struct wick__hipblaslt lt;

static const struct wick__symbol symbols[] = {
#define WICK__FN(need, result, name, parameters) WICK__SYMBOL(need, struct wick__hipblaslt, name),
#include "rocm/hipblaslt.def"
};

static const char *const versions_7[] = {".so.1", ".so.0", NULL};
static const char *const versions_6[] = {".so.0", NULL};
static const char *const versions_5[] = {NULL};

struct wick__opener wick__hipblaslt_opener =
    WICK__OPENER("libhipblaslt", "WICK_HIPBLASLT_PATH", versions_6, wick__rocm_roots, symbols);

static char version_text[32];

#define LT(name) hipblasLt##name
#define LT_(name) HIPBLASLT_##name
#define LT_CODE WICK__HIPBLASLT_CODE
#define LT_NO HIPBLAS_OP_N
#define LT_TRANSPOSED HIPBLAS_OP_T
#define LT_SUMS HIPBLAS_COMPUTE_32F
#define LT_F32 HIP_R_32F
#define LT_TYPE(dtype) ((dtype) == WICK_F16 ? HIP_R_16F : (dtype) == WICK_BF16 ? HIP_R_16BF : HIP_R_32F)
#define LT_NOT_SUPPORTED HIPBLAS_STATUS_NOT_SUPPORTED
#define LT_NO_MEMORY hipErrorOutOfMemory
#define LT_WORDS 0 /* nothing in its C interface checks an algorithm */
#include "gpu/lt.h"

/* It has no further wishes to be told. */
static int lt_wish(hipblasLtMatmulPreference_t preference, const struct wick__blas_product *g) {
    (void)preference, (void)g;
    return 0;
}

static int lt_check(void *handle, const struct wick__blas_product *g, struct plan *plan, size_t *workspace) {
    (void)handle, (void)g, (void)plan, (void)workspace;
    return LT_CODE | LT_NOT_SUPPORTED;
}

void wick__hipblaslt_open(void) {
    static const char *const *const versions[] = {versions_5, versions_6, versions_7};
    struct wick__opener *opener = &wick__hipblaslt_opener;
    pthread_mutex_lock(&opener->mutex);
    if (!opener->tried && wick__rocm_open(opener, versions, &lt))
        snprintf(version_text, sizeof version_text, "hipBLASLt");
    pthread_mutex_unlock(&opener->mutex);
}

const char *wick__hipblaslt_version(void) {
    wick__hipblaslt_open();
    return version_text;
}

const char *wick__hipblaslt_missing(const char *target) {
    static const char *const places[] = {"/hipblaslt/library", "/hipblaslt/*", NULL};
    wick__hipblaslt_open();
    if (!wick__hipblaslt_opener.handle) return wick__hipblaslt_opener.fault;
    return wick__rocm_lacks(&wick__hipblaslt_opener, "HIPBLASLT_TENSILE_LIBPATH", places, target);
}

/* Its version is only told by a handle. */
static void note_version(const struct handle *handle) {
    int version = 0;
    pthread_mutex_lock(&wick__hipblaslt_opener.mutex);
    if (lt.hipblasLtGetVersion(handle->handle, &version) == HIPBLAS_STATUS_SUCCESS && version > 0)
        snprintf(version_text, sizeof version_text, "hipBLASLt %d.%d.%d", version / 100000, version / 100 % 1000,
                 version % 100);
    pthread_mutex_unlock(&wick__hipblaslt_opener.mutex);
}

int wick__hipblaslt_create(void **out, void *stream) {
    int ordinal = 0;
    char name[8], target[64];
    *out = NULL;
    wick__hipblaslt_open();
    if (!wick__hipblaslt_opener.handle) return 0;
    int code = wick__rocm_code(wick__hip.hipGetDevice(&ordinal));
    if (!code) code = wick__rocm_target(ordinal, name, sizeof name, target, sizeof target);
    if (code) return code;
    if (wick__hipblaslt_missing(target)) return 0;
    code = handle_create(out, stream);
    if (!code) note_version(*out);
    return code;
}

int wick__hipblaslt_destroy(void *handle) { return handle_destroy(handle); }

int wick__hipblaslt_set_stream(void *handle, void *stream) { return handle_set_stream(handle, stream); }

void wick__hipblaslt_forget(void *plan) { plan_forget(plan); }

int wick__hipblaslt_plan(void *handle, const struct wick__blas_product *g, struct wick__planned *planned) {
    return plan_make(handle, g, planned);
}

int wick__hipblaslt_run(void *plan, const struct wick__blas_product *g, void *workspace, size_t nbytes, void *handle) {
    return plan_run(plan, g, workspace, nbytes, handle);
}
