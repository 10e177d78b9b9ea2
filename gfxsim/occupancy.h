/* How many waves of a kernel fit on a card at a time. */
#ifndef GFXSIM_OCCUPANCY_H
#define GFXSIM_OCCUPANCY_H

#include "gfxsim/gfxsim.h"

struct sim_occupancy {
    unsigned waves, most; /* of a SIMD, and that it could have */
    unsigned blocks;      /* of a unit: what HIP calls a multiprocessor */
    const char *limit;    /* "waves", "VGPRs", "SGPRs", "LDS" */
};
/* For blocks of so many threads that have `shared` bytes of LDS besides the kernel's own. */
struct sim_occupancy sim_occupancy(const struct sim_kernel *kernel, unsigned threads, size_t shared);

#endif
