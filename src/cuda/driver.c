/* libcuda, opened: what the other files of this folder stand on. */
#include "cuda/cuda.h"

struct wick__cuda wick__cuda;

static const struct wick__symbol symbols[] = {
#define WICK__FN(need, result, name, parameters) WICK__SYMBOL(need, struct wick__cuda, name),
#include "cuda/cuda.def"
};

static const char *const versions[] = {".so.1", ".so", NULL};
static const char *const driver_roots[] = {"/usr/lib/wsl/lib", "/run/opengl-driver/lib", NULL};
const char *const wick__cuda_roots[] = {
    "CUDA_PATH", "CUDA_HOME", "/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64", "/opt/cuda/lib64", NULL};

struct wick__opener wick__cuda_opener = WICK__OPENER("libcuda", "WICK_CUDA_PATH", versions, driver_roots, symbols);

int wick__cuda_init_code, wick__cuda_version;

void wick__cuda_open(void) {
    struct wick__opener *opener = &wick__cuda_opener;
    pthread_mutex_lock(&opener->mutex);
    if (!opener->tried && wick__library_open(opener, &wick__cuda)) {
        wick__cuda_init_code = wick__cuda.cuInit(0);
        if (wick__cuda.cuDriverGetVersion(&wick__cuda_version) != CUDA_SUCCESS) wick__cuda_version = 0;
    }
    pthread_mutex_unlock(&opener->mutex);
}

int wick__cuda_major(void) {
    wick__cuda_open();
    return wick__cuda_opener.handle ? wick__cuda_version / 1000 : 0;
}
