/* The stand-in: a GPU made of the processor, for tests. The driver is gfxsim's (gfxsim/driver), under the two ABIs of
 * HIP and of cuda.c; this is the engine below it. It runs kernel modules that were compiled for the processor
 * (kernels/host.h), one thread of a block at a time, and surrounds memory by guards. See README.md. */
#ifndef STANDIN_H
#define STANDIN_H

#include "gfxsim/driver/driver.h"
#include "kernels/host.h"

struct standin_settings {
    bool protect, page;
    unsigned long seed;
    long idle;                  /* kernels that run before all others do nothing; 0: all run */
    const char *blas;           /* "", "wrong", "refuse", ...: README.md */
    const char *slow, *without; /* lists of libraries' ways */
};
extern struct standin_settings standin_settings;

/* What the driver knows as a module's code: a library, and copies of it for blocks that run at once. */
enum { STANDIN_TOGETHER = 16 };
struct standin_copy {
    struct gpu_host *host;
    void *library;
    int file;
};
struct standin_code {
    struct gpu_host *host;
    void *library;
    int file;
    size_t size; /* of the file */
    struct standin_copy copies[STANDIN_TOGETHER];
};
const struct standin_copy *standin_copy(struct standin_code *code, unsigned number);
/* A kernel of a library; NULL. */
const struct gpu_host_kernel *standin_kernel(void *library, const char *name);
/* Takes a while, if the settings say that this way, or "own", is slow. */
void standin_dawdle(const char *way);
/* Runs a kernel over a grid; DRIVER_LAUNCH when threads of a block wait for ever. */
int standin_run(const struct driver_function *function, const struct driver_shape *shape, const void *params);

#endif
