/* Softmax, batch norm, local response norm and pooling on a GPU through the vendor's DNN library, against the
 * same ops on the processor: right whether the library is right, wrong, refuses, fails or has none of them, and through
 * it where it is right and chosen; cuDNN is asked for batch norm in training alone. argv: the device, and what
 * STANDIN_BLAS makes of the library: good, wrong, refuse, flush, rough; `part` where it has no layers; or a function of
 * it, which fails, and when. */
#include "tests/gpu/library.h"

#include <wick/backward.h>
#include <wick/conv.h>
#include <wick/graph.h>
#include <wick/nn.h>

#include <math.h>
#include <stdlib.h>

enum { N = 2, C = 3, H = 7, W = 12, COUNT = N * C * H * W, KINDS = 17 };
static const int64_t shape[4] = {N, C, H, W}, channels = C, kernel[2] = {3, 2};
static const struct wick_pool_options pools[2] = {{.stride = {2, 2}, .padding = {1, 1}},
                                                  {.stride = {1, 2}, .padding = {1, 0}, .exclude_padding = true}};
static const struct wick_response_options response = {.size = 3, .alpha = 0.5, .beta = 0.75, .k = 1};
static const enum wick_dtype dtypes[] = {WICK_F16, WICK_F32, WICK_BF16}; /* the last is cuDNN's */
static bool cuda;
static const struct wick_pool_options line = {.stride = {2}, .padding = {1}};

/* Numbers from `low` on, of steps of 1/8; they start `offset` elements into their memory. */
static struct wick_tensor *make(struct wick_device *device, enum wick_dtype dtype, int rank, const int64_t *of,
                                int64_t offset, double low) {
    static float values[COUNT + 8];
    int64_t count = 1;
    for (int d = 0; d < rank; d++) count *= of[d];
    const int64_t all = offset + count;
    for (int64_t i = 0; i < count; i++) values[offset + i] = (float)(low + (double)((i * 29 + i / 5) % 31) / 8);
    struct wick_tensor *flat = wick_from_data(device, WICK_F32, 1, &all, values, (size_t)all * sizeof *values);
    return wick_reshape(wick_narrow(wick_cast(flat, dtype), 0, offset, count), rank, of);
}

static struct wick_tensor *norm(struct wick_device *device, int kind, const struct wick_tensor *x,
                                const struct wick_tensor *gradient, int64_t offset) {
    struct wick_tensor *mean = make(device, wick_tensor_dtype(x), 1, &channels, offset, -2);
    struct wick_tensor *other = make(device, wick_tensor_dtype(x), 1, &channels, offset, 0.5);
    struct wick_tensor *weight = make(device, wick_tensor_dtype(x), 1, &channels, offset, -1), *bias = mean, *parts[3];
    if (kind == 4)
        return wick_batch_norm(x, mean, other,
                               &(struct wick_batch_norm_options){.weight = weight, .bias = bias, .epsilon = 1e-5});
    if (kind == 5) {
        parts[0] = wick_batch_norm_train(
            x, &(struct wick_batch_norm_train_options){
                   .weight = weight, .bias = bias, .epsilon = 1e-5, .mean = &parts[1], .inverse_deviation = &parts[2]});
    } else {
        parts[0] =
            wick_batch_norm_backward(gradient, x, wick_cast(mean, WICK_F32), wick_cast(other, WICK_F32), true,
                                     &(struct wick_norm_backward_options){
                                         .weight = weight, .weight_gradient = &parts[1], .bias_gradient = &parts[2]});
    }
    if (!parts[0]) return NULL;
    const int64_t count = COUNT;
    parts[0] = wick_reshape(parts[0], 1, &count);
    for (int i = 0; i < 3; i++) parts[i] = wick_cast(parts[i], WICK_F32);
    return wick_cat(3, parts, 0);
}

/* Max pooling with the places, which are a result, or the gradient of its result. */
static struct wick_tensor *indexed(struct wick_device *device, struct wick_tensor *x, int64_t offset, bool backward) {
    const int64_t to[4] = {N, C, 4, 7}, size[2] = {H, W}, count = (int64_t)N * C * 4 * 7;
    struct wick_pool_options options = pools[0];
    struct wick_tensor *parts[2];
    options.indices = &parts[1];
    parts[0] = wick_max_pool2d(x, 2, kernel, &options);
    if (backward)
        return wick_max_pool2d_backward(make(device, wick_tensor_dtype(x), 4, to, offset, -2), parts[1], 2, size,
                                        kernel, &pools[0]);
    for (int i = 0; i < 2; i++) parts[i] = wick_cast(wick_reshape(parts[i], 1, &count), WICK_F32);
    return wick_cat(2, parts, 0);
}

/* A layer's result, or all its results, one after the other. */
static struct wick_tensor *call(struct wick_device *device, int kind, enum wick_dtype dtype, int64_t offset) {
    struct wick_tensor *x = make(device, dtype, 4, shape, offset, -2);
    struct wick_tensor *gradient = make(device, dtype, 4, shape, offset, -1),
                       *y = make(device, dtype, 4, shape, offset, 0);
    const int64_t rows[3] = {N * C, H, W}, size[2] = {H, W};
    switch (kind) {
    case 0: return wick_softmax(x, 1);
    case 1: return wick_log_softmax(x, -1);
    case 2: return wick_softmax_backward(gradient, y, 2);
    case 3: return wick_log_softmax_backward(gradient, wick_neg(y), 1);
    case 4:
    case 5:
    case 6: return norm(device, kind, x, gradient, offset);
    case 7:
    case 8: return wick_avg_pool2d(x, 2, kernel, &pools[kind - 7]);
    case 13: return wick_max_pool2d(x, 2, kernel, &pools[0]);
    case 14: return wick_max_pool1d(wick_reshape(x, 3, rows), 1, kernel, &line);
    case 15:
    case 16: return indexed(device, x, offset, kind == 16);
    case 11: return wick_local_response_norm(x, &response);
    case 12: return wick_local_response_norm_backward(gradient, x, &response);
    case 9: return wick_avg_pool1d(wick_reshape(x, 3, rows), 1, kernel, &line);
    default: {
        const int64_t to[4] = {N, C, 4, 7};
        return wick_avg_pool2d_backward(make(device, dtype, 4, to, offset, -2), 2, size, kernel, &pools[0]);
    }
    }
}

static void read_all(struct wick_tensor *y, double *to, int64_t *count) {
    *count = wick_tensor_count(y);
    CHECK_OK(wick_read(wick_cast(y, WICK_F64), to, (size_t)*count * sizeof *to));
}

/* A layer on the GPU as on the processor. */
static void check_layer(struct wick_device *cpu, struct wick_device *gpu, int kind, enum wick_dtype dtype,
                        int64_t offset) {
    static double want[2 * COUNT], got[2 * COUNT];
    const double bound = dtype == WICK_F16 ? 0x1p-9 : dtype == WICK_BF16 ? 0x1p-6 : 0x1p-18;
    int64_t count, counted;
    int bad = 0;
    wick_scope_begin();
    read_all(call(cpu, kind, dtype, offset), want, &count);
    read_all(call(gpu, kind, dtype, offset), got, &counted);
    CHECK_INT(counted, count);
    for (int64_t i = 0; i < count; i++) bad += !(fabs(got[i] - want[i]) <= bound * (1 + fabs(want[i])));
    if (bad) fprintf(stderr, "layer %d of %s, offset %d\n", kind, wick_dtype_name(dtype), (int)offset);
    CHECK_INT(bad, 0);
    wick_scope_end(NULL);
}

static void check_all(struct wick_device *cpu, struct wick_device *gpu, int64_t offset) {
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < (cuda ? 3 : 2); i++) check_layer(cpu, gpu, kind, dtypes[i], offset);
}

static struct wick_route_info route(struct wick_device *gpu, bool check) { return library_route(gpu, "layer", check); }

/* All, but not what is not chosen, or askew. */
static void check_counts(struct wick_device *cpu, struct wick_device *gpu) {
    int64_t used = route(gpu, false).used;
    check_all(cpu, gpu, 0);
    /* The gradient of max pooling has that before it; of batch norm there are two kinds. */
    CHECK_INT(route(gpu, false).used - used, cuda ? 3 * 2 : 2 * (KINDS + 1));
    used = route(gpu, false).used;
    check_all(cpu, gpu, 1);
    CHECK_INT(route(gpu, false).used - used, cuda ? 0 : 2 * 3); /* averages in local response norm and its gradient */
    used = route(gpu, false).used;
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_OWN));
    check_all(cpu, gpu, 0);
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_AUTO));
    check_all(cpu, gpu, 0);
    CHECK_INT(route(gpu, false).used - used, 0);
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_VENDOR));
}

/* MIOpen's sums of batch norm are wrong where planes are no multiples of four, so it gets none of these. */
static void check_odd(struct wick_device *gpu) {
    const int64_t odd[4] = {N, C, H, 9};
    wick_scope_begin();
    struct wick_tensor *x = make(gpu, WICK_F32, 4, odd, 0, -2), *weight = make(gpu, WICK_F32, 1, &channels, 0, -1);
    const int64_t used = route(gpu, false).used, refused = route(gpu, false).refused;
    CHECK(wick_batch_norm_train(x, &(struct wick_batch_norm_train_options){
                                       .weight = weight, .bias = weight, .epsilon = 1e-5, .mean = &weight}));
    CHECK_INT(route(gpu, false).used - used, 0);
    CHECK_INT(route(gpu, false).refused - refused, 1);
    wick_scope_end(NULL);
}

/* An even window reaches to the other side; it, one within channels and a dilated one aren't the library's, only the
 * averages of the first two are. */
static void check_windows(struct wick_device *gpu) {
    struct wick_response_options even = response, within = response;
    even.size = 4;
    within.within_channels = true;
    wick_scope_begin();
    struct wick_tensor *x = make(gpu, WICK_F32, 4, shape, 0, -2);
    const int64_t used = route(gpu, false).used;
    CHECK(wick_local_response_norm(x, &even) && wick_local_response_norm(x, &within));
    CHECK(wick_max_pool2d(x, 2, kernel, &(struct wick_pool_options){.stride = {1, 1}, .dilation = {2, 1}}));
    CHECK_INT(route(gpu, false).used - used, 2);
    CHECK_TEXT(wick_error(), "");
    wick_scope_end(NULL);
}

enum { ROWS = 6, ROW = 33 };

/* Rows by a layer that the device's library has. */
static struct wick_tensor *recorded(const struct wick_tensor *x, int64_t rows, const struct wick_tensor *by) {
    if (!cuda) return wick_softmax(x, 1);
    return wick_batch_norm_train(wick_reshape(x, 3, (const int64_t[]){rows, 1, ROW}),
                                 &(struct wick_batch_norm_train_options){.weight = by, .bias = by, .epsilon = 1e-5});
}

/* A recorded layer is the library's only if its shape was met before. */
static void check_graph(struct wick_device *gpu, bool known) {
    const int64_t size[2] = {known ? ROWS - 1 : ROWS, ROW}, one = 1;
    double first[ROWS * ROW], got[ROWS * ROW];
    wick_scope_begin();
    struct wick_tensor *x = make(gpu, WICK_F32, 2, size, 0, -2), *by = make(gpu, WICK_F32, 1, &one, 0, 0.5);
    CHECK_OK(wick_dnn_set(gpu, known ? WICK_DNN_VENDOR : WICK_DNN_OWN));
    const size_t nbytes = (size_t)(size[0] * size[1]) * sizeof *first;
    CHECK_OK(wick_read(wick_cast(recorded(x, size[0], by), WICK_F64), first, nbytes));
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_VENDOR));
    CHECK_OK(wick_device_sync(gpu));
    int64_t used = route(gpu, false).used;
    CHECK_OK(wick_graph_begin(gpu));
    struct wick_tensor *y = recorded(x, size[0], by);
    struct wick_graph *graph = wick_graph_end(gpu);
    CHECK_INT(route(gpu, false).used - used, known);
    CHECK_OK(wick_graph_launch(graph));
    CHECK_OK(wick_read(wick_cast(y, WICK_F64), got, nbytes));
    for (int64_t i = 0; i < size[0] * size[1]; i++) CHECK_NEAR(got[i], first[i], 1e-6);
    wick_graph_free(graph);
    wick_scope_end(NULL);
}

/* Whether the gradient of batch norm on an image of these sizes is the library's. */
static bool takes_gradient(struct wick_device *gpu, const int64_t size[4]) {
    wick_scope_begin();
    const int64_t used = route(gpu, false).used;
    struct wick_tensor *x = wick_zeros(gpu, WICK_F32, 4, size), *by = make(gpu, WICK_F32, 1, size + 1, 0, 0.5);
    struct wick_tensor *by_weight, *by_bias;
    const struct wick_norm_backward_options options = {
        .weight = by, .weight_gradient = &by_weight, .bias_gradient = &by_bias};
    CHECK(wick_batch_norm_backward(x, x, by, by, true, &options));
    const bool taken = route(gpu, false).used > used;
    wick_scope_end(NULL);
    return taken;
}

/* Sums of more elements than cuDNN's are exact for are ours; by rules it has those for which it was faster. */
static void check_sizes(struct wick_device *gpu) {
    static const int64_t longest[4] = {1, 1, 512, 1024}, longer[4] = {1, 1, 512, 1025}, fast[4] = {8, 16, 32, 32};
    CHECK(takes_gradient(gpu, longest) && takes_gradient(gpu, fast) && !takes_gradient(gpu, longer));
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_AUTO));
    CHECK(takes_gradient(gpu, fast) && !takes_gradient(gpu, longest));
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_VENDOR));
}

#define EACH(layer) "bf16 " layer ", f16 " layer ", f32 " layer
static void check_norm_verdicts(const char *verdict, const char *mode) {
    static const char *const words[][2] = {
        {"good", "right for " EACH("batch_norm_train") ", " EACH("batch_norm_backward")},
        {"wrong", "WRONG for " EACH("batch_norm_train") ", " EACH("batch_norm_backward")},
        {"refuse", "refuses " EACH("batch_norm_train") ", " EACH("batch_norm_backward")},
        {"part", "refuses " EACH("batch_norm_train") ", " EACH("batch_norm_backward")},
        {"flush", "right for bf16 batch_norm_train, f32 batch_norm_train, bf16 batch_norm_backward, f32 "
                  "batch_norm_backward; takes subnormal operands as 0 in f16 batch_norm_train, f16 "
                  "batch_norm_backward"},
        {"rough", "right for " EACH("batch_norm_backward") "; less exact than ours in " EACH("batch_norm_train")}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(mode, words[i][0]) == 0) CHECK_TEXT(verdict, words[i][1]);
}

static void check_verdicts(struct wick_device *gpu, const char *mode) {
    const char *verdict = route(gpu, true).verdict;
    if (cuda) {
        check_norm_verdicts(verdict, mode);
        return;
    }
    if (strcmp(mode, "good") == 0)
        CHECK_TEXT(
            verdict,
            "right for f16 softmax, f32 softmax, f16 log_softmax, f32 log_softmax, f16 softmax_backward, f32 "
            "softmax_backward, f16 log_softmax_backward, f32 log_softmax_backward, f16 batch_norm, f32 batch_norm, "
            "f16 batch_norm_train, f32 batch_norm_train, f16 batch_norm_backward, f32 batch_norm_backward, "
            "f16 local_response_norm, f32 local_response_norm, f16 local_response_norm_backward, "
            "f32 local_response_norm_backward, f16 avg_pool, f32 avg_pool, f16 avg_pool_backward, f32 "
            "avg_pool_backward, f16 max_pool, "
            "f32 max_pool, f16 max_pool with indices, f32 max_pool with indices, f16 max_pool_backward, "
            "f32 max_pool_backward");
    if (strcmp(mode, "wrong") == 0) CHECK(strncmp(verdict, "WRONG for f16 softmax, f32 softmax", 34) == 0);
    if (strcmp(mode, "wrong") == 0) CHECK(!strchr(verdict, ';'));
    if (strcmp(mode, "refuse") == 0 || strcmp(mode, "part") == 0)
        CHECK(strncmp(verdict, "refuses f16 softmax, f32 softmax", 32) == 0 && !strchr(verdict, ';'));
    if (strcmp(mode, "flush") == 0) CHECK(strstr(verdict, "takes subnormal operands as 0 in f16 softmax_backward"));
    if (strcmp(mode, "rough") == 0)
        CHECK(strstr(verdict, "less exact than ours in f16 batch_norm_train, f32 batch_norm_train"));
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "rocm:0", *mode = argc > 2 ? argv[2] : "good";
    const bool fails = strncmp(mode, "miopen", 6) == 0 || strncmp(mode, "cudnn", 5) == 0;
    cuda = strncmp(name, "cuda", 4) == 0;
    library_set(mode, fails, argc > 3 ? argv[3] : NULL);
    struct wick_device *cpu = wick_device_open("cpu"), *gpu = wick_device_open(name);
    if (!gpu) test_skip(wick_error());
    CHECK_OK(wick_dnn_set(gpu, WICK_DNN_VENDOR));
    check_all(cpu, gpu, 0);
    if (!fails) check_verdicts(gpu, mode);
    if (strcmp(mode, "good") == 0) {
        check_counts(cpu, gpu);
        if (!cuda) check_odd(gpu);
        if (!cuda) check_windows(gpu);
        if (cuda) check_sizes(gpu);
        check_graph(gpu, true);
        check_graph(gpu, false);
    }
    wick_device_close(gpu);
    wick_device_close(cpu);
    CHECK_INT(library_live(cuda), 0);
    return test_end();
}
