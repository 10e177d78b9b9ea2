/* How a stand-in BLAS library finds the stand-in driver that the process uses. */
#include "blas.h"

#include <dlfcn.h>

const struct standin_blas_driver *standin_blas_find(const char *const *names) {
    for (; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_NOLOAD);
        const struct standin_blas_driver *(*driver)(void) = NULL;
        if (library) *(void **)&driver = dlsym(library, "standin_blas_driver");
        if (driver) return driver();
    }
    return NULL;
}
