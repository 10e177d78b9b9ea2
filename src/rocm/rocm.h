/* What the files of src/rocm/ share: the libraries' functions as they were found, and their types and constants. */
#ifndef WICK_ROCM_ROCM_H
#define WICK_ROCM_ROCM_H

#include "gpu/library.h"

#define WICK__TYPE(name, type) typedef type name;
#include "rocm/hip.def"
#define WICK__TYPE(name, type) typedef type name;
#include "rocm/hiprtc.def"
#define WICK__TYPE(name, type) typedef type name;
#include "rocm/rocblas.def"
#define WICK__TYPE(name, type) typedef type name;
#include "rocm/hipblaslt.def"
#define WICK__TYPE(name, type) typedef type name;
#include "rocm/miopen.def"

/* What hipBLASLt fills in for its callers to keep. */
typedef struct {
    uint8_t data[16];
    size_t max_workspace_bytes;
} hipblasLtMatmulAlgo_t;
typedef struct {
    hipblasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    hipblasStatus_t state;
    float wavesCount;
    int reserved[4];
} hipblasLtMatmulHeuristicResult_t;

/* What MIOpen says of a way that it has for a convolution. */
typedef struct {
    float time;
    size_t workspace_size;
    uint64_t solution_id;
    miopenConvAlgorithm_t algorithm;
} miopenConvSolution_t;

enum {
#define WICK__CONSTANT(name, value) name = value,
#define WICK__OFFSET(generation, field, offset) WICK__##generation##_##field = offset,
#include "rocm/hip.def"
#define WICK__CONSTANT(name, value) name = value,
#include "rocm/hiprtc.def"
#define WICK__CONSTANT(name, value) name = value,
#include "rocm/rocblas.def"
#define WICK__CONSTANT(name, value) name = value,
#include "rocm/hipblaslt.def"
#define WICK__CONSTANT(name, value) name = value,
#include "rocm/miopen.def"
};

struct wick__hip {
#define WICK__FN(need, result, name, parameters) result(*name) parameters;
#include "rocm/hip.def"
};
struct wick__hiprtc {
#define WICK__FN(need, result, name, parameters) result(*name) parameters;
#include "rocm/hiprtc.def"
};
struct wick__rocblas {
#define WICK__FN(need, result, name, parameters) result(*name) parameters;
#include "rocm/rocblas.def"
};
struct wick__hipblaslt {
#define WICK__FN(need, result, name, parameters) result(*name) parameters;
#include "rocm/hipblaslt.def"
};

struct wick__miopen {
#define WICK__FN(need, result, name, parameters) result(*name) parameters;
#include "rocm/miopen.def"
};

extern struct wick__hip wick__hip;
extern struct wick__miopen wick__miopen;
extern struct wick__opener wick__hip_opener, wick__hiprtc_opener, wick__rocblas_opener, wick__hipblaslt_opener,
    wick__miopen_opener;

/* Where ROCm is looked for, for openers. */
extern const char *const wick__rocm_roots[];

/* driver.c: opens the runtime, once; what hipInit answered, and its version, 60000000 for HIP 6.0. */
void wick__rocm_load(void);
extern int wick__rocm_init_code, wick__rocm_version;
/* The HIP runtime's major version, 5 to 7; 0 when there is none. Opens it first. */
int wick__rocm_major(void);
/* A HIP call's code. The runtime's own record of it is cleared, so that other users of HIP on this thread don't meet
 * it. */
int wick__rocm_code(hipError_t error);
/* The name and features of the device that is current, "gfx90a:sramecc+:xnack-". */
int wick__rocm_target(int ordinal, char *name, size_t name_size, char *target, size_t target_size);

/* Codes of other libraries are told from HIP's by these bits. */
enum { WICK__ROCBLAS_CODE = 0x10000, WICK__HIPBLASLT_CODE = 0x20000, WICK__MIOPEN_CODE = 0x40000 };

/* beside.c */
/* Opens a library of the HIP runtime's own version, whose names end as `versions` says for HIP 5, 6 and 7; one that
 * brings another runtime is refused. Its mutex must be held, and it must not be tried yet. */
bool wick__rocm_open(struct wick__opener *opener, const char *const *const versions[3], void *functions);
/* Why an open library has no kernels for a target, or NULL: no file there names it, in the folder that the variable
 * names or else in one of `places` below the library's own; NULL ends these. */
const char *wick__rocm_lacks(const struct wick__opener *opener, const char *variable, const char *const *places,
                             const char *target);

/* compile.c */
void wick__hiprtc_open(void);
enum wick_status wick__hiprtc_compile(const struct wick__source_job *job, void **image, size_t *nbytes);
const char *wick__hiprtc_version(void);

/* blas.c */
void wick__rocblas_open(void);
int wick__rocblas_create(void **blas, void *stream);
int wick__rocblas_destroy(void *blas);
int wick__rocblas_set_stream(void *blas, void *stream);
int wick__rocblas_gemm(void *blas, const struct wick__blas_product *gemm);
const char *wick__rocblas_version(void);
const char *wick__rocblas_missing(const char *target);
const char *wick__rocblas_status_text(int status);

/* lt.c */
void wick__hipblaslt_open(void);
int wick__hipblaslt_create(void **lt, void *stream);
int wick__hipblaslt_destroy(void *lt);
int wick__hipblaslt_set_stream(void *lt, void *stream);
int wick__hipblaslt_plan(void *lt, const struct wick__blas_product *product, struct wick__planned *planned);
int wick__hipblaslt_run(void *plan, const struct wick__blas_product *product, void *workspace, size_t nbytes, void *lt);
void wick__hipblaslt_forget(void *plan);
const char *wick__hipblaslt_version(void);
const char *wick__hipblaslt_missing(const char *target);

/* dnn.c */
struct wick__miopen_handle {
    miopenHandle_t handle;
    bool has_blas; /* rocBLAS has kernels for the card */
};
static inline int wick__miopen_code(miopenStatus_t status) {
    return status == miopenStatusSuccess ? 0 : WICK__MIOPEN_CODE | status;
}
void wick__miopen_open(void);
int wick__miopen_create(void **dnn, void *stream);
int wick__miopen_destroy(void *dnn);
int wick__miopen_set_stream(void *dnn, void *stream);
int wick__miopen_plan(void *dnn, const struct wick__dnn_conv *conv, struct wick__planned *planned);
int wick__miopen_run(void *dnn, void *plan, const struct wick__dnn_conv *conv, void *workspace);
void wick__miopen_forget(void *plan);
const char *wick__miopen_version(void);
const char *wick__miopen_missing(const char *target);
const char *wick__miopen_beside(int number);
const char *wick__miopen_status_text(int status);

/* layers.c */
bool wick__miopen_layer_has(enum wick__layer kind, enum wick_dtype dtype);
int wick__miopen_layer_plan(const struct wick__dnn_layer *layer, void **plan, size_t *workspace);
int wick__miopen_layer_run(void *dnn, void *plan, const struct wick__dnn_layer *layer, void *workspace);
void wick__miopen_layer_forget(void *plan);

/* recurrent.c */
int wick__miopen_recurrent_plan(void *dnn, const struct wick__dnn_recurrent *layer, struct wick__recurrent_plan *plan);
int wick__miopen_recurrent_run(void *dnn, const struct wick__recurrent_plan *plan,
                               const struct wick__dnn_recurrent *layer, const void *space, void *workspace);
void wick__miopen_recurrent_forget(void *made);
int wick__miopen_recurrent_backward(void *dnn, const struct wick__recurrent_plan *plan,
                                    const struct wick__dnn_recurrent *layer, const void *space, void *slopes,
                                    void *workspace);

/* dnn_compiler.c */
/* Why an open MIOpen can't compile kernels for a target: "it compiles its kernels by ..., which is not there"; NULL
 * when nothing speaks against it. */
const char *wick__miopen_compiler_fault(const char *target);
/* The path of the compiler that it starts, if it starts one. */
const char *wick__miopen_compiler(void);

#endif
