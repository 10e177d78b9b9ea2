/* Pooling, resizing and their gradients, and convolutions by single elements, on images of random sizes, contiguous and
 * with channels last. Expected values come from loops over windows and positions; whole numbers make sums exact. On the
 * device named in argv[1] pooling with channels last alone. */
#include "tests/test.h"

enum { ROUNDS = 160, FEW_ROUNDS = 60, MOST = 150000 };

static struct wick_device *device;

/* x [images,channels,size..], and windows over it. */
struct image {
    int64_t shape[5], out[3], kernel[3], stride[3], padding[3];
    int64_t planes, plane, windows; /* elements of a plane of x, and of results */
    double *x;
};

static int64_t pick(const int64_t *sizes, int n) { return sizes[test_below(n)]; }

static struct image draw(void) {
    static const int64_t size[] = {1, 1, 2, 5, 8, 17, 33, 70, 90, 600, 2100}, batch[] = {1, 1, 2, 3};
    static const int64_t channels[] = {1, 3, 8, 15, 16, 17, 40};
    struct image m = {.windows = 1};
    do {
        m.shape[0] = pick(batch, 4);
        m.shape[1] = pick(channels, 7);
        m.plane = 1;
        for (int d = 2; d < 5; d++) m.plane *= m.shape[d] = pick(size, 11);
        m.planes = m.shape[0] * m.shape[1];
    } while (m.planes * m.plane > MOST);
    for (int d = 0; d < 3; d++) {
        int64_t in = m.shape[2 + d];
        m.kernel[d] = 1 + test_below(in < 4 ? in : 4);
        m.stride[d] = 1 + test_below(3);
        m.padding[d] = test_below(m.kernel[d] / 2 + 1);
        m.out[d] = (in + 2 * m.padding[d] - m.kernel[d]) / m.stride[d] + 1;
        m.windows *= m.out[d];
    }
    m.x = malloc(sizeof *m.x * (size_t)(m.planes * m.plane));
    for (int64_t i = 0; i < m.planes * m.plane; i++) m.x[i] = (double)(test_below(60) - 30);
    return m;
}

/* Values [planes,size..] of images as a tensor of the dtype, with channels last if asked for. */
static struct wick_tensor *tensor(const double *values, const int64_t *shape, enum wick_dtype dtype, bool last) {
    int64_t count = shape[0] * shape[1] * shape[2] * shape[3] * shape[4];
    struct wick_tensor *x = wick_from_data(device, WICK_F64, 5, shape, values, sizeof *values * (size_t)count);
    if (last) x = wick_contiguous(wick_permute(x, 5, (const int[]){0, 2, 3, 4, 1}));
    x = wick_cast(x, dtype);
    return last ? wick_permute(x, 5, (const int[]){0, 4, 1, 2, 3}) : x;
}

static void compare(struct wick_tensor *got, const double *want, int64_t count, double unit, const char *name) {
    double *values = malloc(sizeof *values * (size_t)count), worst = 0;
    CHECK_OK(wick_read(wick_cast(got, WICK_F64), values, sizeof *values * (size_t)count));
    for (int64_t i = 0; i < count; i++) worst = fmax(worst, fabs(values[i] - want[i]) / (fabs(want[i]) + 1));
    TEST_CHECK_(worst <= unit, "%s is off by %g", name, worst);
    free(values);
}

/* Calls visit for each window and element that it covers. */
typedef void visitor(void *context, int64_t window, int64_t element);
static void each(const struct image *m, visitor *visit, void *context) {
    int64_t o[3], k[3], at[3];
    const int64_t *in = m->shape + 2, *n = m->kernel;
    for (int64_t w = 0; w < m->windows; w++) {
        o[0] = w / m->out[2] / m->out[1], o[1] = w / m->out[2] % m->out[1], o[2] = w % m->out[2];
        for (int64_t e = 0; e < n[0] * n[1] * n[2]; e++) {
            bool inside = true;
            k[0] = e / n[2] / n[1], k[1] = e / n[2] % n[1], k[2] = e % n[2];
            for (int d = 0; d < 3; d++) {
                at[d] = o[d] * m->stride[d] - m->padding[d] + k[d];
                inside = inside && at[d] >= 0 && at[d] < in[d];
            }
            if (inside) visit(context, w, (at[0] * in[1] + at[1]) * in[2] + at[2]);
        }
    }
}

/* One plane: of x, of results, of the gradients of both. */
struct plane {
    const double *x, *g;
    double *most, *average, *to_most, *to_average;
    int64_t *from;
    double divisor;
};

static void forward(void *context, int64_t w, int64_t e) {
    struct plane *p = context;
    if (p->from[w] < 0 || p->x[e] > p->most[w]) p->most[w] = p->x[e], p->from[w] = e;
    p->average[w] += p->x[e] / p->divisor;
}

static void backward(void *context, int64_t w, int64_t e) {
    struct plane *p = context;
    if (p->from[w] == e) p->to_most[e] += p->g[w];
    p->to_average[e] += p->g[w] / p->divisor;
}

static void pools(const struct image *m, enum wick_dtype dtype, bool last) {
    int64_t results = m->planes * m->windows, count = m->planes * m->plane;
    int64_t shape[5] = {m->shape[0], m->shape[1], m->out[0], m->out[1], m->out[2]};
    double *g = malloc(sizeof *g * (size_t)results), *most = calloc((size_t)results, sizeof *most);
    double *average = calloc((size_t)results, sizeof *average), *to_most = calloc((size_t)count, sizeof *to_most);
    double *to_average = calloc((size_t)count, sizeof *to_average), unit = dtype == WICK_F32 ? 0x1p-21 : 0x1p-7;
    int64_t *from = malloc(sizeof *from * (size_t)results);
    struct wick_tensor *indices = NULL;
    struct wick_pool_options options = {.indices = NULL};
    for (int d = 0; d < 3; d++) options.stride[d] = m->stride[d], options.padding[d] = m->padding[d];
    for (int64_t i = 0; i < results; i++) g[i] = (double)(test_below(9) - 4), from[i] = -1;
    for (int64_t p = 0; p < m->planes; p++) {
        struct plane plane = {m->x + p * m->plane,    g + p * m->windows,
                              most + p * m->windows,  average + p * m->windows,
                              to_most + p * m->plane, to_average + p * m->plane,
                              from + p * m->windows,  (double)(m->kernel[0] * m->kernel[1] * m->kernel[2])};
        each(m, forward, &plane);
        each(m, backward, &plane);
    }
    struct wick_tensor *x = tensor(m->x, m->shape, dtype, last), *slope = tensor(g, shape, dtype, last);
    compare(wick_avg_pool3d(x, 3, m->kernel, &options), average, results, unit, "avg_pool3d");
    compare(wick_avg_pool3d_backward(slope, 3, m->shape + 2, m->kernel, &options), to_average, count, unit,
            "avg_pool3d_backward");
    compare(wick_max_pool3d(x, 3, m->kernel, &options), most, results, 0, "max_pool3d");
    options.indices = &indices;
    compare(wick_max_pool3d(x, 3, m->kernel, &options), most, results, 0, "max_pool3d with indices");
    options.indices = NULL;
    compare(wick_max_pool3d_backward(slope, indices, 3, m->shape + 2, m->kernel, &options), to_most, count, unit,
            "max_pool3d_backward");
    free(g), free(most), free(average), free(to_most), free(to_average), free(from);
}

/* The weight of element i of `in` in result o of `out`, by distance from where its centre lies. */
static double weight(int64_t o, int64_t out, int64_t i, int64_t in, bool linear) {
    if (!linear) return o * in / out == i;
    double at = fmin(fmax(((double)o + 0.5) * (double)in / (double)out - 0.5, 0), (double)(in - 1));
    return fmax(0, 1 - fabs(at - (double)i));
}

static void resizes(const struct image *m, enum wick_dtype dtype, bool last, bool linear) {
    int64_t shape[5] = {m->shape[0], m->shape[1]}, plane = 1;
    const int64_t *in = m->shape + 2, *out = shape + 2;
    for (int d = 0; d < 3; d++) plane *= shape[2 + d] = 1 + test_below(in[d] < 30 ? 2 * in[d] : in[d]);
    if (plane * m->plane * m->planes > 4000000) return;
    int64_t results = plane * m->planes, count = m->planes * m->plane;
    double *y = calloc((size_t)results, sizeof *y), *g = malloc(sizeof *g * (size_t)results);
    double *to = calloc((size_t)count, sizeof *to), unit = dtype == WICK_F32 ? 0x1p-17 : 0x1p-4;
    for (int64_t i = 0; i < results; i++) g[i] = (double)(test_below(9) - 4);
    for (int64_t o = 0; o < plane; o++)
        for (int64_t i = 0; i < m->plane; i++) {
            double w = weight(o / out[2] / out[1], out[0], i / in[2] / in[1], in[0], linear) *
                       weight(o / out[2] % out[1], out[1], i / in[2] % in[1], in[1], linear) *
                       weight(o % out[2], out[2], i % in[2], in[2], linear);
            for (int64_t p = 0; w > 0 && p < m->planes; p++) {
                y[p * plane + o] += w * m->x[p * m->plane + i];
                to[p * m->plane + i] += w * g[p * plane + o];
            }
        }
    struct wick_tensor *x = tensor(m->x, m->shape, dtype, last), *slope = tensor(g, shape, dtype, last);
    compare(linear ? wick_upsample_trilinear3d(x, 3, out, NULL) : wick_upsample_nearest3d(x, 3, out, NULL), y, results,
            unit, "upsample");
    compare(linear ? wick_upsample_linear_backward(slope, 3, in, NULL)
                   : wick_upsample_nearest_backward(slope, 3, in, NULL),
            to, count, unit, "upsample_backward");
    free(y), free(g), free(to);
}

/* Convolutions whose windows are single elements: of every one, and, transposed, with a stride between them. */
static void points(const struct image *m, enum wick_dtype dtype, bool last) {
    enum { OUT = 5 };
    int64_t channels = m->shape[1], n = m->plane, wide[3], results = m->shape[0] * OUT * n, spread = m->shape[0] * OUT;
    const struct wick_conv_options relu = {.relu = true}, apart = {.stride = {2, 3, 2}};
    double weight[OUT * 40], bias[OUT], *y = calloc((size_t)results, sizeof *y), *far;
    for (int64_t i = 0; i < OUT * channels; i++) weight[i] = (double)(test_below(5) - 2);
    for (int d = 0; d < 3; d++) spread *= wide[d] = (m->shape[2 + d] - 1) * apart.stride[d] + 1;
    far = malloc(sizeof *far * (size_t)spread);
    for (int o = 0; o < OUT; o++) bias[o] = (double)(test_below(9) - 4);
    for (int64_t i = 0; i < spread; i++) far[i] = bias[i / (spread / m->shape[0] / OUT) % OUT];
    for (int64_t i = 0; i < results; i++) {
        int64_t o = i / n % OUT, image = i / n / OUT, at = i % n;
        const double *x = m->x + image * channels * n + at;
        for (int64_t c = 0; c < channels; c++) y[i] += weight[o * channels + c] * x[c * n];
        int64_t d = at / m->shape[4] / m->shape[3] * 2, h = at / m->shape[4] % m->shape[3] * 3,
                w = at % m->shape[4] * 2;
        far[((i / n * wide[0] + d) * wide[1] + h) * wide[2] + w] += y[i];
        y[i] = fmax(0, y[i] + bias[o]);
    }
    const int64_t shape[5] = {OUT, channels, 1, 1, 1}, first[5] = {OUT, 1, 1, 1, 1};
    double unit = dtype == WICK_F32 ? 0 : 0x1p-7;
    struct wick_tensor *x = tensor(m->x, m->shape, dtype, last), *by = tensor(weight, shape, dtype, false);
    struct wick_tensor *add = wick_reshape(tensor(bias, first, dtype, false), 1, first);
    compare(wick_conv3d(x, by, add, &relu), y, results, unit, "conv3d");
    by = wick_transpose(by, 0, 1);
    compare(wick_conv_transpose3d(x, by, add, &relu), y, results, unit, "conv_transpose3d");
    compare(wick_conv_transpose3d(x, by, add, &apart), far, spread, unit, "conv_transpose3d with a stride");
    free(y), free(far);
}

int main(int argc, char **argv) {
    static const enum wick_dtype dtypes[] = {WICK_BF16, WICK_F32, WICK_F16};
    const bool alone = argc > 1; /* pooling alone */
    device = wick_device_open(alone ? argv[1] : "cpu");
    CHECK(device != NULL);
    if (!device) return test_end();
    for (int i = 0; i < (alone ? FEW_ROUNDS : ROUNDS); i++) {
        struct image m = draw();
        enum wick_dtype dtype = alone ? dtypes[i % 3] : i % 3 ? WICK_F32 : WICK_BF16;
        wick_scope_begin();
        pools(&m, dtype, alone || i % 2);
        if (!alone) {
            resizes(&m, dtype, i % 2, i % 4 < 2);
            points(&m, dtype, i % 2);
        }
        wick_scope_end(NULL);
        free(m.x);
    }
    wick_device_close(device);
    return test_end();
}
