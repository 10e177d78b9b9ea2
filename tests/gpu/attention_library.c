/* Attention on a GPU through cuDNN, against the same on the processor: right whether the library is right, wrong,
 * refuses, fails or has none, and through it where it is right and chosen. argv: the device, and what STANDIN_BLAS
 * makes of the library: good, wrong, refuse, flush; `old` where it has no attention; or a function of it, which fails,
 * and when. */
#include "tests/gpu/library.h"

#include <wick/graph.h>

enum { ROOM = 8192 };

/* A call: q, k and v, heads before positions in memory or after them, from element `offset` of it on. */
static const struct shape {
    int64_t batches, heads, key_heads, queries, keys, depth, width;
    bool apart, log_sums, causal, masked;
    double scale, soft_cap;
    int64_t offset;
    bool taken; /* by cuDNN, in 16 bits */
} shapes[] = {
    {2, 3, 3, 5, 7, 16, 16, false, false, false, false, 0, 0, 0, true},
    {1, 4, 2, 9, 17, 24, 8, true, true, false, false, 0.3, 0, 0, true},
    {2, 4, 1, 1, 30, 128, 128, false, true, false, false, 0, 0, 0, true},
    {1, 2, 2, 8, 8, 16, 16, false, false, true, false, 0, 0, 0, false},
    {1, 2, 2, 8, 8, 16, 16, false, false, false, true, 0, 0, 0, false},
    {1, 2, 2, 8, 8, 16, 16, false, false, false, false, 0, 2, 0, false},
    {1, 2, 2, 8, 8, 16, 16, false, false, false, false, -0.5, 0, 0, false},
    {1, 2, 2, 8, 8, 16, 16, true, false, false, false, 0, 0, 1, false},
    {1, 2, 2, 8, 8, 12, 12, false, false, false, false, 0, 0, 0, false},
    {1, 1, 1, 4, 8, 136, 136, false, false, false, false, 0, 0, 0, false},
    {1, 2, 2, 8, 0, 16, 16, false, false, false, false, 0, 0, 0, false},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, TAKEN = 3 };

/* Numbers of steps of 1/8 about 0. */
static struct wick_tensor *make(struct wick_device *device, const struct shape *s, enum wick_dtype dtype, int which) {
    static float values[ROOM];
    const int64_t heads = which ? s->key_heads : s->heads, positions = which ? s->keys : s->queries;
    const int64_t width = which == 2 ? s->width : s->depth, count = s->batches * heads * positions * width;
    const int64_t of[4] = {s->batches, s->apart ? positions : heads, s->apart ? heads : positions, width};
    const int64_t all = s->offset + count;
    for (int64_t i = 0; i < count; i++) values[s->offset + i] = (float)((i * 29 + i / 5 + 7 * which) % 31 - 15) / 8;
    struct wick_tensor *flat = wick_from_data(device, WICK_F32, 1, &all, values, (size_t)all * sizeof *values);
    struct wick_tensor *x = wick_reshape(wick_narrow(wick_cast(flat, dtype), 0, s->offset, count), 4, of);
    return s->apart ? wick_transpose(x, 1, 2) : x;
}

/* The result, and log_sums behind it. */
static int64_t call(struct wick_device *device, const struct shape *s, enum wick_dtype dtype, double *to) {
    static const unsigned char keep[8] = {1, 1, 0, 1, 1, 1, 0, 1};
    struct wick_tensor *sums = NULL, *mask = NULL;
    struct wick_attention_options o = {
        .scale = s->scale, .soft_cap = s->soft_cap, .causal = s->causal, .log_sums = s->log_sums ? &sums : NULL};
    if (s->masked) mask = wick_from_data(device, WICK_U8, 1, &s->keys, keep, sizeof keep);
    struct wick_tensor *y = wick_scaled_dot_product_attention(make(device, s, dtype, 0), make(device, s, dtype, 1),
                                                              make(device, s, dtype, 2), mask, &o);
    const int64_t count = s->batches * s->heads * s->queries * s->width, rows = s->batches * s->heads * s->queries;
    CHECK(y);
    CHECK(count + rows <= ROOM);
    CHECK_OK(wick_read(wick_cast(y, WICK_F64), to, (size_t)count * sizeof *to));
    if (!s->log_sums) return count;
    CHECK_OK(wick_read(wick_cast(sums, WICK_F64), to + count, (size_t)rows * sizeof *to));
    wick_release(sums);
    return count + rows;
}

static void check_shape(struct wick_device *cpu, struct wick_device *gpu, int which, enum wick_dtype dtype) {
    static double want[ROOM], got[ROOM];
    const double bound = dtype == WICK_F16 ? 0x1p-8 : dtype == WICK_BF16 ? 0x1p-5 : 0x1p-16;
    int bad = 0;
    wick_scope_begin();
    const int64_t count = call(cpu, &shapes[which], dtype, want);
    CHECK_INT(call(gpu, &shapes[which], dtype, got), count);
    for (int64_t i = 0; i < count; i++) bad += !(fabs(got[i] - want[i]) <= bound * (1 + fabs(want[i])));
    if (bad) fprintf(stderr, "call %d of %s\n", which, wick_dtype_name(dtype));
    CHECK_INT(bad, 0);
    CHECK_TEXT(wick_error(), "");
    wick_scope_end(NULL);
}

static const enum wick_dtype dtypes[] = {WICK_F16, WICK_BF16, WICK_F32};

static void check_all(struct wick_device *cpu, struct wick_device *gpu) {
    for (int which = 0; which < SHAPES; which++)
        for (int i = 0; i < 3; i++) check_shape(cpu, gpu, which, dtypes[i]);
}

static struct wick_route_info route(struct wick_device *gpu, bool check) {
    return library_route(gpu, "attention call", check);
}

/* All that it can take where it is chosen, and none elsewhere. */
static void check_counts(struct wick_device *cpu, struct wick_device *gpu) {
    static const enum wick_dnn others[] = {WICK_DNN_OWN, WICK_DNN_AUTO};
    int64_t used = route(gpu, false).used;
    for (int which = 0; which < SHAPES; which++)
        for (int i = 0; i < 3; i++) {
            check_shape(cpu, gpu, which, dtypes[i]);
            used += shapes[which].taken && dtypes[i] != WICK_F32;
            CHECK_INT(route(gpu, false).used, used);
        }
    for (int i = 0; i < 2; i++) {
        CHECK_OK(wick_dnn_set(gpu, others[i]));
        check_all(cpu, gpu);
        CHECK_INT(route(gpu, false).used, used);
    }
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_VENDOR));
}

/* Where ways are measured, it is one of them, though rules leave it out. */
static void check_tune(struct wick_device *cpu, struct wick_device *gpu) {
    struct wick_tune_info info;
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_AUTO));
    CHECK_OK(wick_tune_set(gpu, WICK_TUNE_ALL));
    check_shape(cpu, gpu, 0, WICK_F16);
    CHECK_OK(wick_tune_set(gpu, WICK_TUNE_OFF));
    CHECK_INT(wick_tune_count(gpu), 2);
    CHECK_OK(wick_tune_describe(gpu, 0, &info));
    CHECK_TEXT(info.op, "attention call");
    CHECK_TEXT(info.sizes, "q [2,3,5,16], k [2,3,7,16], v of 16");
    CHECK_TEXT(info.route, "DNN");
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_VENDOR));
}

/* A recorded call is the library's only if its shape was met before. */
static void check_graph(struct wick_device *gpu, bool known) {
    static double first[ROOM], got[ROOM];
    struct shape s = shapes[0];
    s.queries += known ? 0 : 1;
    wick_scope_begin();
    CHECK_OK(wick_dnn_set(gpu, known ? WICK_DNN_VENDOR : WICK_DNN_OWN));
    const int64_t count = call(gpu, &s, WICK_F16, first), used = route(gpu, false).used;
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_VENDOR));
    struct wick_tensor *q = make(gpu, &s, WICK_F16, 0), *k = make(gpu, &s, WICK_F16, 1);
    struct wick_tensor *v = make(gpu, &s, WICK_F16, 2);
    CHECK_OK(wick_device_sync(gpu));
    CHECK_OK(wick_graph_begin(gpu));
    struct wick_tensor *y = wick_scaled_dot_product_attention(q, k, v, NULL, NULL);
    struct wick_graph *graph = wick_graph_end(gpu);
    CHECK_INT(route(gpu, false).used - used, known);
    CHECK_OK(wick_graph_launch(graph));
    CHECK_OK(wick_read(wick_cast(y, WICK_F64), got, (size_t)count * sizeof *got));
    for (int64_t i = 0; i < count; i++) CHECK_NEAR(got[i], first[i], 0x1p-8);
    wick_graph_free(graph);
    wick_scope_end(NULL);
}

static void check_verdicts(struct wick_device *gpu, const char *mode) {
    static const char *const words[][2] = {
        {"good", "right for bf16 attention, f16 attention"},
        {"wrong", "WRONG for bf16 attention, f16 attention"},
        {"refuse", "refuses bf16 attention, f16 attention"},
        {"old", "refuses bf16 attention, f16 attention"},
        {"flush", "right for bf16 attention; takes subnormal operands as 0 in f16 attention"}};
    const char *verdict = route(gpu, true).verdict;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(mode, words[i][0]) == 0) CHECK_TEXT(verdict, words[i][1]);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cuda:0", *mode = argc > 2 ? argv[2] : "good";
    const bool fails = strncmp(mode, "cudnn", 5) == 0;
    library_set(mode, fails, argc > 3 ? argv[3] : NULL);
    struct wick_device *cpu = wick_device_open("cpu"), *gpu = wick_device_open(name);
    if (!gpu) test_skip(wick_error());
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_VENDOR));
    check_all(cpu, gpu);
    if (!fails) check_verdicts(gpu, mode);
    if (strcmp(mode, "good") == 0) {
        check_counts(cpu, gpu);
        check_graph(gpu, true);
        check_graph(gpu, false);
        check_tune(cpu, gpu);
    }
    wick_device_close(gpu);
    wick_device_close(cpu);
    CHECK_INT(library_live(true), 0);
    return test_end();
}
