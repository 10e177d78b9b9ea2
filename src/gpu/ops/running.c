/* cummax, cummin, logcumsumexp: a thread takes a segment of a line, after all segments have been looked at. */
#include "gpu/runtime/gpu.h"
#include "kernels/scan.h"

#include "core/checked.h"

#include <math.h>

enum { THREADS = 128 * 1024, LEAST = 32 }; /* that keep a device busy; elements of a segment */

/* How many segments lines have: no more than would take longer to join than to run through. */
static int64_t segments_of(int64_t n, int64_t lines) {
    int64_t most = wick__min((int64_t)sqrt((double)n), n / LEAST);
    return wick__max(1, wick__min(most, THREADS / lines));
}

wick__kernel_fn wick__gpu_running;
enum wick_status wick__gpu_running(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick__gpu *gpu = wick__gpu_of(x);
    int64_t count = wick__count(x);
    int dim = call->p.along.dim;
    bool logs = call->op == WICK_OP_logcumsumexp;
    if (count == 0) return WICK_OK;
    void *out = wick__data(call->out[0]), *totals;
    struct gpu_running p = {.in = wick__data(x),
                            .out = out,
                            .index = call->n_out > 1 ? wick__data(call->out[1]) : NULL,
                            .n = x->layout.shape[dim],
                            .inner = 1,
                            .least = call->op == WICK_OP_cummin};
    for (int d = dim + 1; d < x->layout.rank; d++) p.inner *= x->layout.shape[d];
    p.outer = count / (p.n * p.inner);
    int64_t segments = segments_of(p.n, p.outer * p.inner);
    p.length = (p.n + segments - 1) / segments;
    p.segments = (p.n + p.length - 1) / p.length;
    int64_t items = p.outer * p.segments * p.inner;
    struct wick__launch launch = {.kernel = logs ? wick__gpu_of_floats(WICK__GPU_K_running_logs_bf16, x->dtype)
                                                 : wick__gpu_of_all(WICK__GPU_K_running_u8, x->dtype),
                                  .grid = {wick__gpu_blocks(gpu, items, 1)}};
    if (p.segments == 1) return wick__gpu_launch(gpu, &launch, &p);
    size_t nbytes = (size_t)items * sizeof *p.totals;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &totals));
    p.totals = totals;
    p.out = NULL;
    enum wick_status status = wick__gpu_launch(gpu, &launch, &p);
    p.out = out;
    if (status == WICK_OK) status = wick__gpu_launch(gpu, &launch, &p);
    wick__gpu_release(gpu, totals, nbytes);
    return status;
}
