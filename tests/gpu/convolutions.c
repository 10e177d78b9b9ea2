/* Convolutions and their gradients on a GPU, through the vendor's DNN library: right whether it is right, wrong,
 * refuses, fails or is not there, and through the library where that is right. argv: the device, and what STANDIN_BLAS
 * makes of the library: good, wrong, refuse, flush, absent; or a function of it, which fails. cuDNN adds bias and relu,
 * MIOpen has neither, nor f64, and is used where it is chosen alone. */
#include "tests/gpu/library.h"

#include <wick/backward.h>
#include <wick/conv.h>

#include <stdlib.h>

static struct wick_device *device;
static bool cudnn;
static const enum wick_dtype dtypes[] = {WICK_BF16, WICK_F16, WICK_F32, WICK_F64};
enum { MOST = 4096 };

/* A layer of 1 to 3 spatial dims. */
struct layer {
    int spatial;
    bool transposed, biased, relu;
    int64_t n, groups, cin, cout, in[3], kernel[3], stride, padding, dilation;
};
static const struct layer layers[] = {
    {2, false, true, true, 2, 1, 3, 5, {7, 6}, {3, 3}, 1, 1, 1},
    {2, false, false, false, 1, 2, 4, 2, {9, 8}, {3, 2}, 2, 0, 2},
    {1, false, true, false, 2, 1, 4, 8, {19}, {5}, 2, 2, 1},
    {3, false, false, true, 1, 1, 2, 3, {4, 5, 6}, {2, 3, 3}, 1, 1, 1},
    {2, true, true, false, 2, 1, 3, 4, {5, 4}, {3, 3}, 2, 1, 1},
    {2, true, false, false, 1, 1, 4, 6, {4, 4}, {2, 2}, 2, 0, 1},
    {2, false, false, false, 2, 1, 3, 4, {6, 6}, {3, 3}, 3, 0, 1},
};
enum { LAYERS = sizeof layers / sizeof *layers };

static double value_at(int which, int64_t i) {
    return (double)((i * (3 + 2 * which) + i / 5) % (5 + 2 * which)) - 2 - which;
}

static int64_t volume(int spatial, const int64_t *sizes) {
    int64_t product = 1;
    for (int s = 0; s < spatial; s++) product *= sizes[s];
    return product;
}

/* What a layer is in a convolution of `x` by `w` to `y`: of a transposed one, x is what it makes. */
struct sizes {
    int64_t x[5], w[5], y[5], nx, nw, ny; /* shapes, and elements */
};

static struct sizes sizes_of(const struct layer *l) {
    struct sizes s = {
        .x = {l->n, l->groups * l->cin}, .w = {l->groups * l->cout, l->cin}, .y = {l->n, l->groups * l->cout}};
    for (int d = 0; d < l->spatial; d++) {
        const int64_t reach = l->dilation * (l->kernel[d] - 1) + 1;
        s.w[2 + d] = l->kernel[d];
        if (l->transposed) {
            s.y[2 + d] = l->in[d];
            s.x[2 + d] = (l->in[d] - 1) * l->stride - 2 * l->padding + reach;
        } else {
            s.x[2 + d] = l->in[d];
            s.y[2 + d] = (l->in[d] + 2 * l->padding - reach) / l->stride + 1;
        }
    }
    s.nx = volume(2 + l->spatial, s.x);
    s.nw = volume(2 + l->spatial, s.w);
    s.ny = volume(2 + l->spatial, s.y);
    return s;
}

/* Adds one window's tap to the sums of x, w or y. */
static void meet(const struct layer *l, const struct sizes *s, const int64_t at[6], char result, double *sums) {
    int64_t p = at[4], k = at[5], inside = 0, step = 1;
    const int64_t taps = volume(l->spatial, l->kernel), windows = volume(l->spatial, s->y + 2);
    for (int d = l->spatial - 1; d >= 0; d--) {
        int64_t i = p % s->y[2 + d] * l->stride + k % l->kernel[d] * l->dilation - l->padding;
        if (i < 0 || i >= s->x[2 + d]) return;
        inside += i * step;
        step *= s->x[2 + d];
        p /= s->y[2 + d];
        k /= l->kernel[d];
    }
    const int64_t x = ((at[0] * l->groups + at[1]) * l->cin + at[3]) * step + inside;
    const int64_t w = ((at[1] * l->cout + at[2]) * l->cin + at[3]) * taps + at[5];
    const int64_t y = ((at[0] * l->groups + at[1]) * l->cout + at[2]) * windows + at[4];
    if (result == 'x') sums[x] += value_at(1, y) * value_at(2, w);
    if (result == 'w') sums[w] += value_at(0, x) * value_at(1, y);
    if (result == 'y') sums[y] += value_at(0, x) * value_at(2, w);
}

static void expect(const struct layer *l, const struct sizes *s, char result, double *sums) {
    int64_t at[6];
    for (at[0] = 0; at[0] < l->n; at[0]++)
        for (at[1] = 0; at[1] < l->groups; at[1]++)
            for (at[2] = 0; at[2] < l->cout; at[2]++)
                for (at[3] = 0; at[3] < l->cin; at[3]++)
                    for (at[4] = 0; at[4] < volume(l->spatial, s->y + 2); at[4]++)
                        for (at[5] = 0; at[5] < volume(l->spatial, l->kernel); at[5]++) meet(l, s, at, result, sums);
}

/* A tensor of the values; one that starts `offset` elements into its memory. */
static struct wick_tensor *upload(enum wick_dtype dtype, int which, int rank, const int64_t *shape, int64_t offset) {
    static float values[MOST + 8];
    int64_t count = volume(rank, shape);
    for (int64_t i = 0; i < count; i++) values[offset + i] = (float)value_at(which, i);
    const int64_t all = offset + count;
    struct wick_tensor *flat = wick_from_data(device, WICK_F32, 1, &all, values, (size_t)all * sizeof *values);
    return wick_reshape(wick_narrow(wick_cast(flat, dtype), 0, offset, count), rank, shape);
}

static const struct wick_conv_options *options_of(const struct layer *l, bool relu) {
    static struct wick_conv_options o;
    o = (struct wick_conv_options){.groups = l->groups, .relu = relu};
    for (int d = 0; d < 3; d++) {
        o.stride[d] = l->stride;
        o.padding[d] = l->padding;
        o.dilation[d] = l->dilation;
    }
    return &o;
}

typedef struct wick_tensor *conv_fn(const struct wick_tensor *, const struct wick_tensor *, const struct wick_tensor *,
                                    const struct wick_conv_options *);
typedef struct wick_tensor *gradient_fn(const struct wick_tensor *, const struct wick_tensor *, int, const int64_t *,
                                        const struct wick_conv_options *);

/* The layer's result or, where `result` is not that, its gradient by x or by the weight. */
static struct wick_tensor *call(const struct layer *l, const struct sizes *s, enum wick_dtype dtype, char result,
                                int64_t offset) {
    static conv_fn *const convs[2][3] = {{wick_conv1d, wick_conv2d, wick_conv3d},
                                         {wick_conv_transpose1d, wick_conv_transpose2d, wick_conv_transpose3d}};
    static gradient_fn *const by_x[2][3] = {
        {wick_conv1d_backward_input, wick_conv2d_backward_input, wick_conv3d_backward_input},
        {wick_conv_transpose1d_backward_input, wick_conv_transpose2d_backward_input,
         wick_conv_transpose3d_backward_input}};
    static gradient_fn *const by_w[2][3] = {
        {wick_conv1d_backward_weight, wick_conv2d_backward_weight, wick_conv3d_backward_weight},
        {wick_conv_transpose1d_backward_weight, wick_conv_transpose2d_backward_weight,
         wick_conv_transpose3d_backward_weight}};
    const int rank = 2 + l->spatial, at = l->spatial - 1;
    const bool t = l->transposed;
    struct wick_tensor *x = upload(dtype, 0, rank, s->x, offset), *y = upload(dtype, 1, rank, s->y, offset);
    struct wick_tensor *w = upload(dtype, 2, rank, s->w, offset);
    if (result == 'w') return by_w[t][at](t ? x : y, t ? y : x, l->spatial, s->w + 2, options_of(l, false));
    if (result == (t ? 'x' : 'y')) {
        struct wick_tensor *bias = l->biased ? upload(dtype, 1, 1, (t ? s->x : s->y) + 1, offset) : NULL;
        return convs[t][at](t ? y : x, w, bias, options_of(l, l->relu));
    }
    return by_x[t][at](t ? x : y, w, l->spatial, (t ? s->y : s->x) + 2, options_of(l, false));
}

static void check_layer(const struct layer *l, enum wick_dtype dtype, char result, int64_t offset) {
    const double bound = dtype == WICK_BF16 ? 0x1p-8 : dtype == WICK_F16 ? 0x1p-11 : 0;
    const struct sizes s = sizes_of(l);
    const bool whole = result == (l->transposed ? 'x' : 'y');
    const int64_t count = result == 'x' ? s.nx : result == 'w' ? s.nw : s.ny;
    const int64_t channels = (result == 'x' ? s.x : s.y)[1], part = count / l->n / channels;
    static double got[MOST], want[MOST];
    int bad = 0;
    memset(want, 0, sizeof want);
    expect(l, &s, result, want);
    wick_scope_begin();
    CHECK_OK(wick_read(wick_cast(call(l, &s, dtype, result, offset), WICK_F64), got, (size_t)count * sizeof *got));
    for (int64_t i = 0; i < count; i++) {
        if (whole && l->biased) want[i] += value_at(1, i / part % channels);
        if (whole && l->relu && want[i] < 0) want[i] = 0;
        bad += !(fabs(got[i] - want[i]) <= bound * fabs(want[i]));
    }
    CHECK_INT(bad, 0);
    wick_scope_end(NULL);
}

static void check_all(int64_t offset) {
    for (int i = 0; i < LAYERS; i++)
        for (int d = 0; d < 4; d++)
            for (const char *result = "ywx"; *result; result++) check_layer(&layers[i], dtypes[d], *result, offset);
}

/* What is known of the route. */
static struct wick_route_info route(bool check) { return library_route(device, "convolution", check); }

/* Whether the library computes it where it is wanted: not gradients by x of f16 with channels of one group that are no
 * multiples of 8, which it would round too often; MIOpen no bias and relu of what has been rounded to 16 bits. */
static bool is_taken(const struct layer *l, enum wick_dtype dtype, char result) {
    const bool narrow = dtype == WICK_F16 || dtype == WICK_BF16, whole = result == (l->transposed ? 'x' : 'y');
    if (dtype == WICK_F16 && result == 'x' && l->groups == 1) return false;
    return cudnn || !(dtype == WICK_F64 || (narrow && whole && (l->biased || l->relu)));
}

/* None is the library's where operands lie askew or our own kernels are wanted. */
static void check_counts(void) {
    int64_t used = route(false).used, taken = 0;
    for (int i = 0; i < LAYERS; i++)
        for (int d = 0; d < 4; d++)
            for (const char *result = "ywx"; *result; result++) taken += is_taken(&layers[i], dtypes[d], *result);
    CHECK_OK(wick_dnn_set(device, WICK_DNN_VENDOR));
    check_all(0);
    CHECK_INT(route(false).used - used, taken);
    used = route(false).used;
    check_all(1);
    CHECK_OK(wick_dnn_set(device, WICK_DNN_OWN));
    check_all(0);
    CHECK_INT(route(false).used - used, 0);
    /* Of layers whose windows lie side by side, ours are faster on the card that the CUDA device says it is. */
    CHECK_OK(wick_dnn_set(device, WICK_DNN_AUTO));
    check_layer(&layers[6], WICK_BF16, 'y', 0);
    CHECK_INT(route(false).used - used, 0);
    check_layer(&layers[0], WICK_F32, 'y', 0);
    CHECK_INT(route(false).used - used, cudnn);
    CHECK(cudnn == !route(false).fault);
}

/* A graph does not search: its convolution is the library's only if the shape was met before. */
static void check_graph(const struct layer *l, bool known) {
    const struct sizes s = sizes_of(l);
    const enum wick_dtype dtype = cudnn ? WICK_F64 : WICK_F32;
    const size_t nbytes = (size_t)s.ny * wick_dtype_bits(dtype) / 8;
    static double first[MOST], got[MOST];
    wick_scope_begin();
    CHECK_OK(wick_dnn_set(device, known ? WICK_DNN_VENDOR : WICK_DNN_OWN));
    struct wick_tensor *before = call(l, &s, dtype, 'y', 0);
    CHECK_OK(wick_read(before, first, nbytes));
    CHECK_OK(wick_dnn_set(device, WICK_DNN_VENDOR));
    struct wick_tensor *x = upload(dtype, 0, 2 + l->spatial, s.x, 0), *w = upload(dtype, 2, 2 + l->spatial, s.w, 0);
    CHECK_OK(wick_device_sync(device));
    int64_t used = route(false).used;
    CHECK_OK(wick_graph_begin(device));
    struct wick_tensor *y = wick_conv2d(x, w, NULL, options_of(l, false));
    struct wick_graph *graph = wick_graph_end(device);
    CHECK_INT(route(false).used - used, known);
    CHECK_OK(wick_graph_launch(graph));
    CHECK_OK(wick_read(y, got, nbytes));
    CHECK_BYTES(got, first, nbytes);
    wick_graph_free(graph);
    wick_scope_end(NULL);
}

static void check_verdicts(const char *mode) {
    struct wick_route_info info = route(true);
    if (strcmp(mode, "good") == 0)
        CHECK_TEXT(info.verdict, cudnn ? "right for bf16, bf16 data, bf16 weight, f16, f16 data, f16 weight, f32, "
                                         "f32 data, f32 weight, f64, f64 data, f64 weight"
                                       : "right for bf16, bf16 data, bf16 weight, f16, f16 data, f16 weight, f32, "
                                         "f32 data, f32 weight; refuses f64, f64 data, f64 weight");
    if (strcmp(mode, "wrong") == 0) CHECK(strncmp(info.verdict, "WRONG for bf16, bf16 data", 25) == 0);
    if (strcmp(mode, "flush") == 0)
        CHECK(strstr(info.verdict, "takes subnormal operands as 0 in f16, f16 data, f16 weight") != NULL);
    if (strcmp(mode, "refuse") == 0) CHECK(strncmp(info.verdict, "refuses bf16, bf16 data", 23) == 0);
    if (strcmp(mode, "absent") == 0) CHECK(!info.library && info.fault);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cuda:0", *mode = argc > 2 ? argv[2] : "good";
    bool fails = strncmp(mode, "cudnn", 5) == 0 || strncmp(mode, "miopen", 6) == 0;
    cudnn = strncmp(name, "cuda", 4) == 0;
    if (strcmp(mode, "absent") == 0)
        setenv(cudnn ? "WICK_CUDNN_PATH" : "WICK_MIOPEN_PATH", "/proc/self/nowhere/a library", 1);
    else
        library_set(mode, fails, argc > 3 ? argv[3] : NULL);
    device = wick_device_open(name);
    if (!device) test_skip(wick_error());
    for (int choice = fails && !cudnn ? WICK_DNN_VENDOR : WICK_DNN_AUTO; choice <= WICK_DNN_VENDOR; choice++) {
        CHECK_OK(wick_dnn_set(device, (enum wick_dnn)choice));
        check_all(0);
    }
    if (!fails) check_verdicts(mode);
    if (strcmp(mode, "good") == 0) {
        check_counts();
        check_graph(&layers[1], true);
        check_graph(&(struct layer){2, false, false, false, 1, 1, 4, 2, {9, 8}, {3, 2}, 2, 0, 2}, false);
    }
    CHECK_INT(wick_dnn_set(device, (enum wick_dnn)3), WICK_INVALID);
    wick_device_close(device);
    CHECK_INT(library_live(cudnn), 0);
    return test_end();
}
