/* Timing of ops for `wick bench`: operands of benchmark size, the median of many runs, and the error that verify_run
 * sees in the op's cases.
 *
 * Values are drawn for the first 64 Ki elements of an operand and repeated after that, as drawing takes longer than
 * most ops. Caches are warm, as far as the operands fit into them. */
#include "verify/driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DRAWN = 65536, MOST_RUNS = 400 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds, int n) {
    qsort(seconds, (size_t)n, sizeof *seconds, by_size);
    return n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
}

static int64_t count_of(int rank, const int64_t *shape) {
    int64_t count = 1;
    for (int d = 0; d < rank; d++) count *= shape[d];
    return count;
}

static double bytes_of(const struct wick_tensor *x) {
    return x ? (double)wick_tensor_count(x) * wick_dtype_bits(wick_tensor_dtype(x)) / 8 : 0;
}

static bool is_in_place(enum wick_op op) { return strstr(wick_op_name(op), "_inplace") != NULL; }

/* ---- operands ---- */

static enum verify_outcome operand_of(struct wick_device *device, const struct verify_operand *operand,
                                      enum wick_dtype dtype, struct verify_random *random, struct wick_tensor **x) {
    struct verify_operand drawn = *operand;
    struct verify_array array = {.data = NULL};
    struct verify_placing placing = {VERIFY_CONTIGUOUS, 0};
    int64_t count = count_of(operand->rank, operand->shape), some = count < DRAWN ? count : DRAWN;
    size_t size = (size_t)wick_dtype_block_bytes(dtype);
    verify_operand_resize(&drawn, 1, &some);
    unsigned char *bytes = malloc((size_t)count * size + 1);
    enum verify_outcome outcome =
        bytes ? verify_values(&drawn, dtype, VERIFY_CONTIGUOUS, placing, random, &array) : VERIFY_BAD;
    if (outcome == VERIFY_GOOD) {
        for (int64_t i = 0; i < some; i++) verify_encode(dtype, array.data[i], bytes + (size_t)i * size);
        for (int64_t i = some; i < count; i += some)
            memcpy(bytes + (size_t)i * size, bytes, (size_t)(count - i < some ? count - i : some) * size);
        *x = wick_from_data(device, dtype, operand->rank, operand->shape, bytes, (size_t)count * size);
        if (!*x) outcome = VERIFY_BAD;
    }
    free(array.data);
    free(bytes);
    return outcome;
}

/* VERIFY_SKIPPED when the dtype has no such values. contiguous gets a transposed operand: of a contiguous
 * one it gives a view. */
static enum verify_outcome make_operands(struct wick_device *device, const struct verify_case *c,
                                         struct wick_tensor **in) {
    struct verify_random random = {1};
    for (int i = 0; i < c->n_in; i++) {
        enum wick_dtype dtype = c->dtype;
        if (c->in[i].role == VERIFY_ABSENT) continue;
        if (c->in[i].role == VERIFY_INDEX) dtype = WICK_I64;
        if (c->in[i].role == VERIFY_CONDITION) dtype = WICK_U8;
        if (c->in[i].role == VERIFY_F32) dtype = WICK_F32;
        if (c->in[i].role == VERIFY_STATISTIC && dtype != WICK_F64) dtype = WICK_F32;
        enum verify_outcome outcome = operand_of(device, &c->in[i], dtype, &random, &in[i]);
        if (outcome != VERIFY_GOOD) return outcome;
        if (c->op == WICK_OP_contiguous) {
            struct wick_tensor *turned = wick_t(in[i]);
            wick_release(in[i]);
            in[i] = turned;
        }
        if (!in[i]) return VERIFY_BAD;
    }
    return VERIFY_GOOD;
}

static void release_all(struct wick_tensor **tensors, int n) {
    for (int i = 0; i < n; i++) {
        wick_release(tensors[i]);
        tensors[i] = NULL;
    }
}

/* ---- one op ---- */

/* Each weight meets each position of the side that has one for each window. */
static double conv_backward_flops(const struct verify_case *c, struct wick_tensor *const *in,
                                  const struct wick_tensor *out) {
    const char *name = wick_op_name(c->op);
    bool transposed = strstr(name, "transpose") != NULL, by_weight = strstr(name, "weight") != NULL;
    if (c->op == WICK_OP_conv_backward_bias) return 0;
    const struct wick_tensor *weight = by_weight ? out : in[1];
    const struct wick_tensor *side = !transposed ? in[0] : by_weight ? in[1] : out;
    return 2.0 * (double)wick_tensor_count(weight) * (double)wick_tensor_count(side) /
           (double)wick_tensor_shape(side)[1];
}

static double flops_of(const struct verify_case *c, struct wick_tensor *const *in, const struct wick_tensor *out) {
    const char *family = wick_op_family(c->op);
    const struct verify_operand *x = &c->in[0], *weight = &c->in[1];
    if (strcmp(family, "matmul") == 0) return 2.0 * (double)wick_tensor_count(out) * (double)x->shape[x->rank - 1];
    if (c->op == WICK_OP_scaled_dot_product_attention)
        return 2.0 * (double)(x->shape[0] * x->shape[1] * x->shape[2] * weight->shape[2]) *
               (double)(x->shape[3] + c->in[2].shape[3]);
    if (strcmp(family, "conv_backward") == 0) return conv_backward_flops(c, in, out);
    if (strcmp(family, "conv") != 0) return 0;
    /* Each weight of a channel meets each result; of transposed convolutions, each operand. */
    bool transposed = strstr(wick_op_name(c->op), "transpose") != NULL;
    return 2.0 * (double)wick_tensor_count(transposed ? in[0] : out) *
           (double)(wick_tensor_count(in[1]) / weight->shape[0]);
}

/* What the runs of an op found out about its size. */
static void measure_size(struct verify_timing *t, struct wick_tensor *const *in, struct wick_tensor *const *out) {
    t->bytes = 0;
    for (int i = 0; i < t->c.n_in; i++) t->bytes += bytes_of(in[i]);
    for (int i = 0; i < t->c.n_out && !is_in_place(t->c.op); i++) t->bytes += bytes_of(out[i]);
    t->flops = flops_of(&t->c, in, out[0]);
    t->out_rank = wick_tensor_rank(out[0]);
    memcpy(t->out_shape, wick_tensor_shape(out[0]), sizeof *t->out_shape * (size_t)t->out_rank);
}

/* The first run, which warms up, is not counted. */
static bool run_all(struct wick_device *device, const struct verify_family *family, struct wick_tensor *const *in,
                    const struct verify_effort *effort, struct verify_timing *t) {
    double took[MOST_RUNS], begin = now(), seconds = effort->seconds;
    int n = -1, least = effort->least, most = least * 4 < MOST_RUNS ? least * 4 : MOST_RUNS;
    while (n < most && (n < least || now() - begin < seconds)) {
        struct wick_tensor *out[VERIFY_MAX_OUTPUTS] = {NULL};
        bool watched = n >= 0 && effort->watch;
        if (watched) effort->watch(effort->context, true);
        double start = now();
        bool good = family->call(&t->c, in, out) && wick_device_sync(device) == WICK_OK;
        double end = now();
        if (watched) effort->watch(effort->context, false);
        if (good && n < 0) {
            measure_size(t, in, out);
            begin = end;
        }
        if (n >= 0) took[n] = end - start;
        n++;
        release_all(out, VERIFY_MAX_OUTPUTS);
        if (!good) return false;
        if (n >= 5 && now() - begin > 4 * seconds) break; /* an op too slow for as many runs as were asked for */
    }
    t->us = 1e6 * median(took, n);
    t->runs = n;
    return true;
}

static void bench_case(const struct verify_family *family, enum wick_op op, enum wick_dtype dtype,
                       struct verify_case *c) {
    int64_t most = -1;
    int best = 0, cases = family->cases(op);
    *c = (struct verify_case){.op = op, .dtype = dtype};
    if (family->bench && family->bench(op, c)) return;
    for (int k = 0; k < cases; k++) {
        int64_t count = 0;
        verify_case_make(family, op, dtype, k, c);
        for (int i = 0; i < c->n_in; i++) count += count_of(c->in[i].rank, c->in[i].shape);
        if (count <= most) continue;
        most = count;
        best = k;
    }
    verify_case_make(family, op, dtype, best, c);
}

static void on_cell(void *context, const struct verify_cell *cell) {
    struct verify_timing *timing = context;
    timing->worst = cell->worst;
    timing->good = cell->bad == 0;
}

static bool find_error(struct wick_device *device, struct verify_timing *timing) {
    struct verify_totals totals;
    struct verify_options options = {.device = wick_device_name(device),
                                     .pattern = wick_op_name(timing->c.op),
                                     .dtype = wick_dtype_name(timing->dtype),
                                     .layout = "contiguous",
                                     .seed = 1,
                                     .cell = on_cell,
                                     .context = timing};
    return verify_run(&options, &totals) == WICK_OK;
}

enum verify_timed verify_time(struct wick_device *device, enum wick_op op, enum wick_dtype dtype,
                              const struct verify_effort *effort, struct verify_timing *timing) {
    const struct verify_family *family = verify_family(op);
    struct wick_tensor *in[VERIFY_MAX_INPUTS] = {NULL};
    bool is_view = strcmp(wick_op_family(op), "view") == 0;
    if (is_view || !family || family->cases(op) <= 0 || !wick_supports(device, op, dtype)) return VERIFY_NOT_TIMED;
    *timing = (struct verify_timing){.dtype = dtype};
    wick_error_clear();
    bench_case(family, op, dtype, &timing->c);
    verify_device_set(device);
    verify_targets_reuse(true);
    enum verify_outcome outcome = make_operands(device, &timing->c, in);
    bool good = outcome == VERIFY_GOOD && run_all(device, family, in, effort, timing);
    release_all(in, VERIFY_MAX_INPUTS);
    verify_targets_reuse(false);
    verify_device_set(NULL);
    if (outcome == VERIFY_SKIPPED) return VERIFY_NOT_TIMED;
    return good && find_error(device, timing) ? VERIFY_TIMED : VERIFY_FAILED;
}

/* ---- what the machine can do ---- */

enum { PEAK_RUNS = 9, PEAK_BYTES = 64 << 20, PEAK_SIDE = 1024 };

static bool best_of(struct wick_device *device, bool product, struct wick_tensor *x, const struct wick_tensor *y,
                    double *best) {
    *best = 1e9;
    for (int i = 0; i < PEAK_RUNS; i++) {
        double start = now();
        struct wick_tensor *out = product ? wick_matmul(x, y) : NULL;
        bool good = product ? out != NULL : wick_copy_inplace(x, y) == WICK_OK;
        good = good && wick_device_sync(device) == WICK_OK;
        double took = now() - start;
        wick_release(out);
        if (!good) return false;
        if (took < *best) *best = took;
    }
    return true;
}

bool verify_peaks(struct wick_device *device, double *bytes, double *flops) {
    const int64_t side[2] = {PEAK_SIDE, PEAK_SIDE}, length = PEAK_BYTES / 4;
    struct wick_tensor *x[4] = {wick_ones(device, WICK_F32, 1, &length), wick_ones(device, WICK_F32, 1, &length),
                                wick_ones(device, WICK_F32, 2, side), wick_ones(device, WICK_F32, 2, side)};
    double copy, product;
    bool good = x[0] && x[1] && x[2] && x[3] && best_of(device, false, x[0], x[1], &copy) &&
                best_of(device, true, x[2], x[3], &product);
    if (good) {
        *bytes = 2.0 * PEAK_BYTES / copy;
        *flops = 2.0 * PEAK_SIDE * PEAK_SIDE * PEAK_SIDE / product;
    }
    release_all(x, 4);
    return good;
}
