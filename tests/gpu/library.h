/* What tests of a vendor's library on the stand-ins share. */
#ifndef WICK_TESTS_GPU_LIBRARY_H
#define WICK_TESTS_GPU_LIBRARY_H

#include "tests/test.h"

#include <dlfcn.h>

/* The device's route for an op, in the words of a user. */
static inline struct wick_route_info library_route(struct wick_device *gpu, const char *op, bool check) {
    struct wick_route_info info = {.verdict = ""};
    for (int i = 0; i < wick_route_count(gpu); i++) {
        CHECK_OK(wick_route_describe(gpu, i, check, &info));
        if (strcmp(info.op, op) == 0) return info;
    }
    CHECK(!"such a route");
    return info;
}

/* Handles and memory that the driver of CUDA, or else HIP, still has. */
static inline long library_live(bool cuda) {
    long (*count)(void) = NULL;
    void *driver = dlopen(getenv(cuda ? "WICK_CUDA_PATH" : "WICK_HIP_PATH"), RTLD_NOW | RTLD_NOLOAD);
    if (driver) *(void **)&count = dlsym(driver, "standin_live");
    return count ? count() : -1;
}

/* Sets what the library is like: a mode of STANDIN_BLAS; or if it `fails`, which function of it, and when. */
static inline void library_set(const char *mode, bool fails, const char *when) {
    char fault[128];
    snprintf(fault, sizeof fault, "%s:%s", mode, when ? when : "1+=1");
    setenv(fails ? "STANDIN_FAIL" : "STANDIN_BLAS", fails ? fault : mode, 1);
}

#endif
