/* Recurrent layers that a GPU does by one launch, or by one a step, or, where words can't be read whole, by a product
 * and a cell a step, larger than the table's cases, against the same layers by cells alone, which sequences of given
 * lengths go by. On the device named in argv[1]; the
 * stand-in may refuse launches whose blocks all run at once, which a layer must not notice. */
#define _GNU_SOURCE
#include "tests/test.h"

#include <dlfcn.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct wick_device *gpu;

enum { WEIGHTS = 4, STEPS = 3 };

/* The largest difference of two tensors. */
static double difference(const struct wick_tensor *a, const struct wick_tensor *b) {
    double most = NAN;
    wick_scope_begin();
    struct wick_tensor *d = wick_abs(wick_sub(wick_cast(a, WICK_F64), wick_cast(b, WICK_F64)));
    struct wick_tensor *largest = wick_max(wick_reshape(d, 1, (int64_t[]){-1}), 1, (const int[]){0}, false);
    CHECK_OK(wick_read(largest, &most, sizeof most));
    wick_scope_end(NULL);
    return most;
}

static struct wick_tensor *values(enum wick_dtype dtype, double most, int rank, const int64_t *shape) {
    return wick_cast(wick_uniform(gpu, WICK_F32, rank, shape, -most, most), dtype);
}

/* What a layer gives: its states, the gradient of x, and those of the weights. */
struct results {
    struct wick_tensor *y, *of_x, *weights[WEIGHTS];
};

static struct results run(struct wick_recurrent_options *o, const struct wick_tensor *x, const struct wick_tensor *g,
                          struct wick_tensor *const *weights) {
    struct wick_tensor *reserve[3] = {NULL};
    struct results r = {.y = NULL};
    o->reserve = reserve;
    struct wick_tensor *y = wick_recurrent(x, WEIGHTS, weights, o);
    r.y = wick_cat(1, &y, 0);
    CHECK_OK(wick_fill_inplace(y, WICK_REAL(NAN))); /* the caller's own: the gradient has the reserve */
    r.of_x = wick_recurrent_backward(x, g, WEIGHTS, weights, o,
                                     &(struct wick_recurrent_backward_options){.weights = r.weights});
    CHECK(r.y && r.of_x);
    return r;
}

static void check(enum wick_recurrent_mode mode, enum wick_dtype dtype, int64_t batch, int64_t hidden, double bound) {
    const int64_t gates = mode == WICK_LSTM ? 4 : mode == WICK_GRU ? 3 : 1, inputs = 5;
    const int64_t lengths[20] = {STEPS, STEPS, STEPS, STEPS, STEPS, STEPS, STEPS, STEPS, STEPS, STEPS,
                                 STEPS, STEPS, STEPS, STEPS, STEPS, STEPS, STEPS, STEPS, STEPS, STEPS};
    const double most = 2 / sqrt((double)hidden);
    wick_scope_begin();
    struct wick_recurrent_options whole = {.mode = mode, .hidden = hidden}, cells;
    struct wick_tensor *weights[WEIGHTS] = {values(dtype, most, 2, (int64_t[]){gates * hidden, inputs}),
                                            values(dtype, most, 2, (int64_t[]){gates * hidden, hidden}),
                                            values(dtype, most, 1, (int64_t[]){gates * hidden}),
                                            values(dtype, most, 1, (int64_t[]){gates * hidden})};
    struct wick_tensor *x = values(dtype, 1, 3, (int64_t[]){STEPS, batch, inputs});
    struct wick_tensor *g = values(dtype, 1, 3, (int64_t[]){STEPS, batch, hidden});
    whole.h = values(dtype, 1, 3, (int64_t[]){1, batch, hidden});
    cells = whole;
    cells.lengths = lengths;
    cells.n_lengths = batch;
    struct results a = run(&whole, x, g, weights), b = run(&cells, x, g, weights);
    CHECK(difference(a.y, b.y) <= bound);
    CHECK(difference(a.of_x, b.of_x) <= 4 * bound);
    for (int i = 0; i < WEIGHTS; i++) CHECK(difference(a.weights[i], b.weights[i]) <= 16 * bound);
    wick_scope_end(NULL);
}

/* The calls of a function of the driver's. */
static long calls_of(bool cuda) {
    const char *path = getenv(cuda ? "WICK_CUDA_PATH" : "WICK_HIP_PATH");
    void *driver = dlopen(path ? path : "", RTLD_NOW);
    long (*calls)(const char *) = NULL;
    if (driver) *(void **)&calls = dlsym(driver, "standin_calls");
    return calls ? calls(cuda ? "cuLaunchCooperativeKernel" : "hipModuleLaunchCooperativeKernel") : 1;
}

int main(int argc, char **argv) {
    static const struct {
        enum wick_dtype dtype;
        double bound; /* 16 units in the last place of 1 */
    } dtypes[] = {{WICK_F32, 0x1p-19}, {WICK_F64, 0x1p-48}, {WICK_F16, 0x1p-6}, {WICK_BF16, 0x1p-3}};
    static const int64_t sizes[][2] = {{1, 130}, {9, 36}, {19, 300}, {6, 35}};
    gpu = wick_device_open(argc > 1 ? argv[1] : "cuda:0");
    if (!gpu) test_skip(wick_error());
    CHECK_OK(wick_seed_set(gpu, 12));
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int mode = WICK_RNN_TANH; mode <= WICK_GRU; mode++)
                check((enum wick_recurrent_mode)mode, dtypes[d].dtype, sizes[s][0], sizes[s][1], dtypes[d].bound);
    CHECK(calls_of(argc <= 1 || strncmp(argv[1], "cuda", 4) == 0) > 0);
    wick_device_close(gpu);
    return test_end();
}
