/* Recurrent layers and their gradients on a GPU through the vendor's DNN library, against the same on the processor:
 * right whether the library is right, wrong, refuses, fails or has none of them, and through it where it is right and
 * chosen. argv: the device, and what STANDIN_BLAS makes of the library: good, wrong, refuse, flush, rough; `part` where
 * it has no such layers; or a function of it, which fails, and when. */
#include "tests/gpu/library.h"

#include <wick/graph.h>

#include <math.h>
#include <stdlib.h>

enum { T = 4, N = 3, I = 5, H = 6, MOST = 2 * 2 * 5, ROOM = 4096 };
static const int64_t lengths[N] = {2, 4, 1}, empty[N] = {2, 0, 4};

/* A layer, and what comes of it on the processor and the GPU. */
static const struct layer {
    enum wick_recurrent_mode mode;
    int layers;
    bool two_ways, batch_first, no_bias, starts, lasts, last_c;
    int64_t projection;
    const int64_t *lengths;
} kinds[] = {
    {WICK_RNN_TANH, 1, false, false, false, true, true, false, 0, NULL},
    {WICK_RNN_RELU, 2, true, true, true, false, false, false, 0, NULL},
    {WICK_LSTM, 1, false, false, false, false, true, false, 0, NULL},
    {WICK_LSTM, 2, true, false, false, true, true, true, 0, NULL},
    {WICK_GRU, 2, true, true, false, true, true, false, 0, NULL},
    {WICK_GRU, 1, false, false, true, false, false, false, 0, NULL},
    {WICK_GRU, 1, true, false, false, true, true, false, 0, lengths},
    {WICK_LSTM, 1, true, true, false, false, true, false, 3, NULL},
    {WICK_GRU, 1, true, false, false, true, true, false, 0, empty},
};
enum { KINDS = sizeof kinds / sizeof *kinds, BY_LENGTHS = 6, PROJECTED = 7, OUTSIDE = 8 };

/* Numbers of steps of 1/16 about 0; they start `offset` elements into their memory. */
static struct wick_tensor *make(struct wick_device *device, enum wick_dtype dtype, int rank, const int64_t *of,
                                int64_t offset, int which) {
    float values[1024] = {0};
    int64_t count = 1;
    for (int d = 0; d < rank; d++) count *= of[d];
    const int64_t all = offset + count;
    for (int64_t i = 0; i < count; i++) values[offset + i] = (float)((i * 29 + i / 5 + 7 * which) % 31 - 15) / 16;
    struct wick_tensor *flat = wick_from_data(device, WICK_F32, 1, &all, values, (size_t)all * sizeof *values);
    return wick_reshape(wick_narrow(wick_cast(flat, dtype), 0, offset, count), rank, of);
}

static int make_weights(struct wick_device *device, const struct layer *l, enum wick_dtype dtype,
                        struct wick_tensor **weights) {
    const int64_t rows = (l->mode == WICK_LSTM ? 4 : l->mode == WICK_GRU ? 3 : 1) * H;
    const int64_t state = l->projection ? l->projection : H;
    int n = 0;
    for (int ld = 0; ld < l->layers * (1 + l->two_ways); ld++) {
        const int64_t inputs = ld < 1 + l->two_ways ? I : (1 + l->two_ways) * state;
        const int64_t shapes[4][2] = {{rows, inputs}, {rows, state}, {rows, 1}, {state, H}};
        for (int i = 0; i < 4; i++) {
            if ((i == 2 && l->no_bias) || (i == 3 && !l->projection)) continue;
            for (int k = 0; k < (i == 2 ? 2 : 1); k++, n++)
                weights[n] = make(device, dtype, i == 2 ? 1 : 2, shapes[i], 0, n);
        }
    }
    return n;
}

/* Appends a tensor's elements, and releases it where it is held. */
static void append(struct wick_tensor *x, bool held, double *to, int64_t *count) {
    if (!x) return;
    const int64_t each = wick_tensor_count(x);
    CHECK(*count + each <= ROOM);
    CHECK_OK(wick_read(wick_cast(x, WICK_F64), to + *count, (size_t)each * sizeof *to));
    *count += each;
    if (held) wick_release(x);
}

static struct wick_recurrent_options options_of(struct wick_device *device, const struct layer *l,
                                                enum wick_dtype dtype, int64_t offset) {
    const int64_t ld = l->layers * (1 + l->two_ways), state = l->projection ? l->projection : H;
    const int64_t h[3] = {ld, N, state}, c[3] = {ld, N, H};
    struct wick_recurrent_options o = {.mode = l->mode,
                                       .hidden = H,
                                       .projection = l->projection,
                                       .layers = l->layers,
                                       .bidirectional = l->two_ways,
                                       .batch_first = l->batch_first,
                                       .no_bias = l->no_bias,
                                       .lengths = l->lengths,
                                       .n_lengths = l->lengths ? N : 0};
    if (l->starts) o.h = make(device, dtype, 3, h, offset, 5);
    if (l->starts && l->mode == WICK_LSTM) o.c = make(device, dtype == WICK_F64 ? WICK_F64 : WICK_F32, 3, c, offset, 3);
    return o;
}

/* All results of a layer, one after the other. */
static void call(struct wick_device *device, int kind, enum wick_dtype dtype, int64_t offset, double *to,
                 int64_t *count) {
    const struct layer *l = &kinds[kind];
    const int64_t x[3] = {l->batch_first ? N : T, l->batch_first ? T : N, I};
    struct wick_tensor *weights[MOST], *parts[3] = {NULL};
    struct wick_recurrent_options o = options_of(device, l, dtype, offset);
    if (l->lasts) o.last_h = &parts[1];
    if (l->last_c) o.last_c = &parts[2];
    const int n = make_weights(device, l, dtype, weights);
    parts[0] = wick_recurrent(make(device, dtype, 3, x, offset, 1), n, weights, &o);
    CHECK(parts[0]);
    *count = 0;
    for (int i = 0; i < 3; i++) append(parts[i], i > 0, to, count);
}

/* The same of its gradients. */
static void call_backward(struct wick_device *device, int kind, enum wick_dtype dtype, int64_t offset, double *to,
                          int64_t *count) {
    const struct layer *l = &kinds[kind];
    const int64_t ld = l->layers * (1 + l->two_ways), state = l->projection ? l->projection : H;
    const int64_t x[3] = {l->batch_first ? N : T, l->batch_first ? T : N, I};
    const int64_t y[3] = {x[0], x[1], (1 + l->two_ways) * state}, h[3] = {ld, N, state}, c[3] = {ld, N, H};
    const enum wick_dtype wide = dtype == WICK_F64 ? WICK_F64 : WICK_F32;
    struct wick_tensor *weights[MOST], *slopes[MOST] = {NULL}, *reserve[3] = {NULL}, *parts[3] = {NULL};
    struct wick_recurrent_options o = options_of(device, l, dtype, offset);
    struct wick_recurrent_backward_options places = {.weights = l->no_bias ? NULL : slopes};
    const int n = make_weights(device, l, dtype, weights);
    struct wick_tensor *input = make(device, dtype, 3, x, offset, 1);
    o.reserve = reserve;
    CHECK(wick_recurrent(input, n, weights, &o));
    if (l->starts) places.h = &parts[1];
    if (l->last_c) places.c = &parts[2];
    if (l->lasts) places.last_h = make(device, dtype, 3, h, offset, 2);
    if (l->last_c) places.last_c = make(device, wide, 3, c, offset, 4);
    parts[0] = wick_recurrent_backward(input, make(device, dtype, 3, y, offset, 6), n, weights, &o, &places);
    CHECK(parts[0]);
    *count = 0;
    for (int i = 0; i < 3; i++) append(parts[i], i > 0, to, count);
    for (int i = 0; i < n; i++) append(slopes[i], true, to, count);
    for (int i = 0; i < 3; i++) wick_release(reserve[i]);
}

static const enum wick_dtype dtypes[] = {WICK_F16, WICK_BF16, WICK_F32, WICK_F64};

typedef void call_fn(struct wick_device *device, int kind, enum wick_dtype dtype, int64_t offset, double *to,
                     int64_t *count);

static void check_layer(struct wick_device *cpu, struct wick_device *gpu, int kind, enum wick_dtype dtype,
                        int64_t offset, call_fn *run) {
    static double want[ROOM], got[ROOM];
    const double bound = dtype == WICK_F16    ? 0x1p-6
                         : dtype == WICK_BF16 ? 0x1p-3
                         : dtype == WICK_F32  ? 0x1p-18
                                              : 0x1p-46;
    int64_t count, counted;
    int bad = 0;
    wick_scope_begin();
    run(cpu, kind, dtype, offset, want, &count);
    run(gpu, kind, dtype, offset, got, &counted);
    CHECK_INT(counted, count);
    for (int64_t i = 0; i < count; i++) bad += !(fabs(got[i] - want[i]) <= bound * (1 + fabs(want[i])));
    if (bad) fprintf(stderr, "layer %d of %s, offset %d\n", kind, wick_dtype_name(dtype), (int)offset);
    CHECK_INT(bad, 0);
    CHECK_TEXT(wick_error(), "");
    wick_scope_end(NULL);
}

static void check_all(struct wick_device *cpu, struct wick_device *gpu, int64_t offset, call_fn *run) {
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 4; i++) check_layer(cpu, gpu, kind, dtypes[i], offset, run);
}

/* The route of layers, or of gradients. */
static const char layers[] = "recurrent layer", gradients[] = "recurrent gradient";
static struct wick_route_info route(struct wick_device *gpu, bool check) { return library_route(gpu, layers, check); }

/* Those that cuDNN takes of the above: not an empty sequence, nor c of 16 bits; MIOpen neither lengths, projections,
 * bf16 nor f64. */
static int64_t taken(bool cuda) { return cuda ? 8 * 4 - 2 : 6 * 2 - 1; }

/* All that it can take, but not what is not chosen, or askew, or of training, or recorded. */
static void check_counts(struct wick_device *cpu, struct wick_device *gpu, bool cuda) {
    int64_t used = route(gpu, false).used;
    check_all(cpu, gpu, 0, call);
    CHECK_INT(route(gpu, false).used - used, taken(cuda));
    used = route(gpu, false).used;
    check_all(cpu, gpu, 1, call);
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_OWN));
    check_all(cpu, gpu, 0, call);
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_AUTO));
    check_all(cpu, gpu, 0, call);
    CHECK_INT(route(gpu, false).used - used, 0);
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_VENDOR));
}

/* MIOpen takes the gradients of what it takes; cuDNN has none. */
static void check_gradients(struct wick_device *cpu, struct wick_device *gpu, bool cuda) {
    if (cuda) {
        check_all(cpu, gpu, 0, call_backward);
        for (int i = 0; i < wick_route_count(gpu); i++) {
            struct wick_route_info info;
            CHECK_OK(wick_route_describe(gpu, i, false, &info));
            CHECK(strcmp(info.op, gradients) != 0);
        }
        return;
    }
    int64_t used = library_route(gpu, gradients, false).used;
    check_all(cpu, gpu, 0, call_backward);
    CHECK_INT(library_route(gpu, gradients, false).used - used, taken(false));
    used = library_route(gpu, gradients, false).used;
    check_all(cpu, gpu, 1, call_backward);
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_OWN));
    check_all(cpu, gpu, 0, call_backward);
    CHECK_INT(library_route(gpu, gradients, false).used - used, 0);
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_VENDOR));
}

static void check_training(struct wick_device *gpu) {
    struct wick_tensor *weights[MOST], *reserve[3] = {NULL};
    const int64_t x[3] = {T, N, I}, used = route(gpu, false).used;
    wick_scope_begin();
    const int n = make_weights(gpu, &kinds[5], WICK_F32, weights);
    struct wick_recurrent_options o = {.mode = WICK_GRU, .hidden = H, .no_bias = true, .reserve = reserve};
    CHECK(wick_recurrent(make(gpu, WICK_F32, 3, x, 0, 1), n, weights, &o));
    CHECK(reserve[0] && reserve[1]);
    for (int i = 0; i < 3; i++) wick_release(reserve[i]);
    CHECK_INT(route(gpu, false).used - used, 0);
    wick_scope_end(NULL);
}

/* A recorded layer is the library's only if its shape was met before. */
static void check_graph(struct wick_device *gpu, bool known) {
    struct wick_tensor *weights[MOST];
    const int64_t x[3] = {T, known ? N : N + 1, I}, count = x[0] * x[1] * H;
    const struct wick_recurrent_options o = {.mode = WICK_GRU, .hidden = H, .no_bias = true};
    double first[T * (N + 1) * H], got[T * (N + 1) * H];
    wick_scope_begin();
    const int n = make_weights(gpu, &kinds[5], WICK_F32, weights);
    struct wick_tensor *input = make(gpu, WICK_F32, 3, x, 0, 1);
    CHECK_OK(wick_dnn_set(gpu, known ? WICK_DNN_VENDOR : WICK_DNN_OWN));
    CHECK_OK(
        wick_read(wick_cast(wick_recurrent(input, n, weights, &o), WICK_F64), first, (size_t)count * sizeof *first));
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_VENDOR));
    CHECK_OK(wick_device_sync(gpu));
    const int64_t used = route(gpu, false).used;
    CHECK_OK(wick_graph_begin(gpu));
    struct wick_tensor *y = wick_recurrent(input, n, weights, &o);
    struct wick_graph *graph = wick_graph_end(gpu);
    CHECK_INT(route(gpu, false).used - used, known);
    CHECK_OK(wick_graph_launch(graph));
    CHECK_OK(wick_read(wick_cast(y, WICK_F64), got, (size_t)count * sizeof *got));
    for (int64_t i = 0; i < count; i++) CHECK_NEAR(got[i], first[i], 1e-6);
    wick_graph_free(graph);
    wick_scope_end(NULL);
}

static void check_verdicts(struct wick_device *gpu, const char *op, const char *mode, bool cuda) {
    static const char *const all[] = {"bf16 rnn", "f16 rnn",  "f32 rnn",  "f64 rnn", "bf16 lstm", "f16 lstm",
                                      "f32 lstm", "f64 lstm", "bf16 gru", "f16 gru", "f32 gru",   "f64 gru"};
    static const char *const few[] = {"f16 rnn", "f32 rnn", "f16 lstm", "f32 lstm", "f16 gru", "f32 gru"};
    const char *const words[][2] = {
        {"good", "right for "}, {"wrong", "WRONG for "}, {"refuse", "refuses "}, {"part", "refuses "}};
    const char *verdict = library_route(gpu, op, true).verdict;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const bool every = cuda || i > 1;
        const char *const *names = every ? all : few;
        char text[512];
        if (strcmp(mode, words[i][0]) != 0) continue;
        snprintf(text, sizeof text, "%s", words[i][1]);
        for (int k = 0; k < (every ? 12 : 6); k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", k ? ", " : "", names[k]);
        if (!every) strcat(text, "; refuses bf16 rnn, f64 rnn, bf16 lstm, f64 lstm, bf16 gru, f64 gru");
        CHECK_TEXT(verdict, text);
    }
    if (strcmp(mode, "flush") == 0)
        CHECK(strstr(verdict, "takes subnormal operands as 0 in f16 rnn, f16 lstm, f16 gru"));
    if (strcmp(mode, "rough") == 0)
        CHECK(
            strstr(verdict, cuda ? "less exact than ours in bf16 lstm, f16 lstm" : "less exact than ours in f16 lstm"));
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cuda:0", *mode = argc > 2 ? argv[2] : "good";
    const bool cuda = name[0] == 'c', fails = strncmp(mode, "cudnn", 5) == 0 || strncmp(mode, "miopen", 6) == 0;
    library_set(mode, fails, argc > 3 ? argv[3] : NULL);
    struct wick_device *cpu = wick_device_open("cpu"), *gpu = wick_device_open(name);
    if (!gpu) test_skip(wick_error());
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_VENDOR));
    check_all(cpu, gpu, 0, call);
    check_all(cpu, gpu, 0, call_backward);
    if (!fails) check_verdicts(gpu, layers, mode, cuda);
    if (!fails && !cuda) check_verdicts(gpu, gradients, mode, false);
    if (strcmp(mode, "good") == 0) {
        check_counts(cpu, gpu, cuda);
        check_gradients(cpu, gpu, cuda);
        check_training(gpu);
        check_graph(gpu, true);
        check_graph(gpu, false);
    }
    wick_device_close(gpu);
    wick_device_close(cpu);
    CHECK_INT(library_live(cuda), 0);
    return test_end();
}
