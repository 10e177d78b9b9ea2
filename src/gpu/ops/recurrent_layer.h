/* A direction of a recurrent layer by one launch for all steps. */
#ifndef WICK_GPU_OPS_RECURRENT_LAYER_H
#define WICK_GPU_OPS_RECURRENT_LAYER_H

#include "gpu/runtime/gpu.h"
#include "recurrence.h"

/* The sizes of a call of recurrent or its gradient (recurrence.h). */
struct wick__steps {
    int mode; /* enum wick_recurrent_mode */
    enum wick_dtype dtype;
    int64_t steps, rows, size; /* T, N, H */
    bool backward;
};

/* Runs the call, of recurrent or its gradient. WICK_UNSUPPORTED, with nothing recorded, where steps of their own are to
 * be taken: they are faster, the device has no launch whose blocks all run at once, or a graph is recorded. */
enum wick_status wick__gpu_recurrent_layer(const struct wick__call *call, const struct wick__steps *sizes);

#endif
