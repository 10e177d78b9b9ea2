/* What the files of src/cuda/ share: the libraries' functions as they were found, and their types and constants. */
#ifndef WICK_CUDA_CUDA_H
#define WICK_CUDA_CUDA_H

#include "gpu/library.h"

#define WICK__TYPE(name, type) typedef type name;
#include "cuda/cuda.def"
#define WICK__TYPE(name, type) typedef type name;
#include "cuda/nvrtc.def"
#define WICK__TYPE(name, type) typedef type name;
#include "cuda/cublas.def"
#define WICK__TYPE(name, type) typedef type name;
#include "cuda/cublaslt.def"
#define WICK__TYPE(name, type) typedef type name;
#include "cuda/cudnn.def"

typedef struct {
    int id;
    char pad[4];
    union {
        char pad[64];
        int programmaticStreamSerializationAllowed;
    } value;
} CUlaunchAttribute;
typedef struct {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;
typedef struct {
    uint64_t data[16];
} __attribute__((aligned(64))) CUtensorMap;

/* What cuBLASLt fills in for its callers to keep; the same bytes in 11 to 13. */
typedef struct {
    uint64_t data[8];
} cublasLtMatmulAlgo_t;
typedef struct {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    cublasStatus_t state;
    float wavesCount;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;

enum {
#define WICK__CONSTANT(name, value) name = value,
#include "cuda/cuda.def"
#define WICK__CONSTANT(name, value) name = value,
#include "cuda/nvrtc.def"
#define WICK__CONSTANT(name, value) name = value,
#include "cuda/cublas.def"
#define WICK__CONSTANT(name, value) name = value,
#include "cuda/cublaslt.def"
#define WICK__CONSTANT(name, value) name = value,
#include "cuda/cudnn.def"
};

struct wick__cuda {
#define WICK__FN(need, result, name, parameters) result(*name) parameters;
#include "cuda/cuda.def"
};
struct wick__nvrtc {
#define WICK__FN(need, result, name, parameters) result(*name) parameters;
#include "cuda/nvrtc.def"
};
struct wick__cublas {
#define WICK__FN(need, result, name, parameters) result(*name) parameters;
#include "cuda/cublas.def"
};
struct wick__cublaslt {
#define WICK__FN(need, result, name, parameters) result(*name) parameters;
#include "cuda/cublaslt.def"
};
struct wick__cudnn {
#define WICK__FN(need, result, name, parameters) result(*name) parameters;
#include "cuda/cudnn.def"
};

extern struct wick__cuda wick__cuda;
extern struct wick__cudnn wick__cudnn;
extern struct wick__opener wick__cuda_opener, wick__nvrtc_opener, wick__cublas_opener, wick__cublaslt_opener,
    wick__cudnn_opener;

/* Where the CUDA toolkit is looked for, for openers. */
extern const char *const wick__cuda_roots[];

/* driver.c: opens the driver, once; what cuInit answered, and its version, 13000 for CUDA 13.0. */
void wick__cuda_open(void);
extern int wick__cuda_init_code, wick__cuda_version;
/* The CUDA version the driver knows, 11 and up; 0 when there is no driver. Opens it first. */
int wick__cuda_major(void);

/* Codes of other libraries are told from the driver's by these bits. */
enum { WICK__CUBLAS_CODE = 0x10000, WICK__CUDNN_CODE = 0x20000 };

/* compile.c */
void wick__nvrtc_open(void);
enum wick_status wick__nvrtc_compile(const struct wick__source_job *job, void **image, size_t *nbytes);
const char *wick__nvrtc_version(void);

/* blas.c */
void wick__cublas_open(void);
int wick__cublas_create(void **blas, void *stream);
int wick__cublas_destroy(void *blas);
int wick__cublas_set_stream(void *blas, void *stream);
int wick__cublas_gemm(void *blas, const struct wick__blas_product *gemm);
const char *wick__cublas_version(void);
const char *wick__cublas_missing(const char *target);
const char *wick__cublas_status_text(int status);

/* lt.c */
void wick__cublaslt_open(void);
int wick__cublaslt_create(void **lt, void *stream);
int wick__cublaslt_destroy(void *lt);
int wick__cublaslt_set_stream(void *lt, void *stream);
int wick__cublaslt_plan(void *lt, const struct wick__blas_product *product, struct wick__planned *planned);
int wick__cublaslt_run(void *plan, const struct wick__blas_product *product, void *workspace, size_t nbytes, void *lt);
void wick__cublaslt_forget(void *plan);
const char *wick__cublaslt_version(void);
const char *wick__cublaslt_missing(const char *target);

/* dnn.c */
void wick__cudnn_open(void);
int wick__cudnn_create(void **dnn, void *stream);
int wick__cudnn_destroy(void *dnn);
int wick__cudnn_set_stream(void *dnn, void *stream);
int wick__cudnn_plan(void *dnn, const struct wick__dnn_conv *conv, struct wick__planned *planned);
int wick__cudnn_run(void *dnn, void *plan, const struct wick__dnn_conv *conv, void *workspace);
const char *wick__cudnn_version(void);
const char *wick__cudnn_missing(const char *target);
const char *wick__cudnn_status_text(int status);
static inline int wick__cudnn_code(cudnnStatus_t status) {
    return status == CUDNN_STATUS_SUCCESS ? 0 : WICK__CUDNN_CODE | status;
}
cudnnDataType_t wick__cudnn_type(enum wick_dtype dtype);

/* attention.c */
int wick__cudnn_attention_plan(void *dnn, const struct wick__dnn_attention *attention, struct wick__planned *planned);
int wick__cudnn_attention_run(void *dnn, void *plan, const struct wick__dnn_attention *attention, void *workspace);

/* layers.c */
bool wick__cudnn_layer_has(enum wick__layer kind, enum wick_dtype dtype);
int wick__cudnn_layer_plan(const struct wick__dnn_layer *layer, void **plan, size_t *workspace);
int wick__cudnn_layer_run(void *dnn, void *plan, const struct wick__dnn_layer *layer, void *workspace);
void wick__cudnn_layer_forget(void *plan);

/* recurrent.c */
int wick__cudnn_recurrent_plan(void *dnn, const struct wick__dnn_recurrent *layer, struct wick__recurrent_plan *plan);
int wick__cudnn_recurrent_run(void *dnn, const struct wick__recurrent_plan *plan,
                              const struct wick__dnn_recurrent *layer, const void *space, void *workspace);
void wick__cudnn_recurrent_forget(void *made);

#endif
