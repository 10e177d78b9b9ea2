/* Cases of the conv_backward family. i: stride [3], padding [3], dilation [3], sizes of x or of the kernel [3], groups,
 * output_padding [3]. Operands: gradient, and weight or x. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    int64_t n, in_channels, out_channels, groups, in[3], kernel[3];
    int64_t stride[3], padding[3], dilation[3], extra[3];
};

/* Of the convolution, written for 3 dims; fewer dims take the last ones. */
static const struct shape shapes[] = {
    {1, 1, 1, 1, {1, 1, 1}, {1, 1, 1}, {0}, {0}, {0}, {0}},
    {2, 3, 4, 1, {3, 5, 7}, {2, 3, 3}, {0}, {0}, {0}, {0}},
    {0, 3, 4, 1, {3, 5, 7}, {2, 3, 3}, {0}, {0}, {0}, {0}},
    {1, 2, 0, 1, {3, 5, 7}, {2, 3, 3}, {0}, {0}, {0}, {0}},
    {1, 0, 2, 1, {3, 5, 7}, {2, 3, 3}, {0}, {0}, {0}, {0}},
    {3, 5, 19, 1, {2, 9, 20}, {1, 1, 1}, {0}, {0}, {0}, {0}},
    {1, 3, 9, 1, {4, 9, 11}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {0}, {1, 1, 1}},
    {2, 2, 3, 1, {2, 8, 34}, {1, 7, 7}, {1, 2, 2}, {0, 3, 3}, {0}, {0, 0, 1}},
    {1, 4, 6, 2, {3, 8, 9}, {2, 3, 2}, {1, 2, 1}, {1, 0, 1}, {2, 1, 3}, {0, 1, 2}},
    {2, 6, 12, 6, {2, 10, 18}, {2, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0}, {0}},
    {1, 2, 2, 1, {5, 13, 15}, {2, 3, 4}, {3, 2, 3}, {0, 2, 1}, {2, 3, 2}, {2, 2, 0}},
    {1, 2, 2, 1, {3, 4, 40}, {1, 2, 3}, {1, 1, 1}, {0, 1, 17}, {1, 3, 17}, {0}},
    {2, 34, 20, 2, {2, 3, 5}, {2, 2, 3}, {1, 2, 1}, {1, 1, 0}, {1, 1, 2}, {0}},
    {2, 3, 70, 1, {1, 3, 5}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {0}, {0}},   /* more than a tile of rows */
    {2, 16, 24, 1, {2, 2, 2}, {1, 1, 1}, {2, 2, 2}, {0}, {0}, {0}},        /* one window an image */
    {1, 3, 4, 1, {2, 3, 4}, {2, 3, 4}, {1000, 1000, 1000}, {0}, {0}, {0}}, /* one window, of any stride */
    {3, 2, 5, 1, {1, 40, 60}, {1, 2, 2}, {1, 1, 1}, {0}, {0}, {0}},        /* several parts of terms */
    {2, 20, 72, 1, {2, 7, 10}, {2, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0}, {0}}, /* tiles of matrix instructions */
    {1, 40, 48, 2, {2, 8, 13}, {2, 3, 2}, {1, 3, 2}, {0, 2, 1}, {1, 2, 3}, {0, 1, 0}},
    {3, 24, 136, 1, {1, 9, 14}, {1, 2, 3}, {1, 2, 2}, {0, 1, 2}, {0}, {0}},
    {2, 132, 24, 1, {2, 5, 7}, {1, 2, 1}, {2, 3, 4}, {0}, {0}, {1, 1, 1}}, /* taps that nothing meets */
    {1, 3, 3, 3, {1, 45, 38}, {1, 3, 5}, {1, 2, 1}, {0, 1, 2}, {0}, {0}},  /* several tiles of a plane */
    {3, 4, 8, 4, {1, 23, 40}, {1, 5, 5}, {0}, {0, 2, 3}, {1, 1, 2}, {0}},  /* several parts of lines */
    {2, 3, 3, 3, {1, 20, 30}, {1, 7, 7}, {0}, {0, 3, 2}, {1, 1, 2}, {0}},  /* blocks of some rows of taps */
    {2, 48, 40, 2, {1, 20, 32}, {1, 1, 1}, {0}, {0}, {0}, {0}},            /* products of pieces of planes */
    {1, 24, 5, 1, {1, 8, 14}, {1, 3, 3}, {0}, {0, 1, 1}, {0}, {0}},        /* few rows of a tile */
    {2, 32, 64, 4, {1, 6, 9}, {1, 3, 3}, {0}, {0, 1, 1}, {0}, {0}},        /* merged groups */
    {2, 3, 3, 3, {1, 9, 12}, {1, 3, 3}, {0}, {0, 1, 1}, {0}, {0}},         /* patches of 4 x 4 */
    {3, 2, 4, 2, {1, 7, 14}, {1, 5, 5}, {0}, {0, 2, 2}, {0}, {0}},
    {2, 2, 2, 2, {1, 10, 16}, {1, 7, 7}, {0}, {0, 3, 3}, {0}, {0}},
    {2, 3, 3, 3, {1, 11, 16}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {0}, {0, 1, 1}},
    {2, 2, 2, 2, {1, 9, 12}, {1, 5, 5}, {1, 2, 2}, {0, 2, 2}, {0}, {0}},
    {1, 2, 2, 2, {1, 13, 15}, {1, 7, 7}, {1, 2, 2}, {0, 2, 0}, {0}, {0, 1, 0}},
    {7, 1, 1, 1, {1, 40, 68}, {1, 3, 3}, {0}, {0, 1, 1}, {0}, {0}},       /* several parts */
    {1, 2, 2, 2, {1, 11, 13}, {1, 3, 3}, {1, 3, 3}, {0, 1, 1}, {0}, {0}}, /* no patches: a stride of 3 */
    {1, 2, 2, 2, {1, 12, 10}, {1, 5, 5}, {1, 3, 3}, {0, 2, 1}, {0}, {0}},
    {1, 2, 2, 2, {1, 14, 15}, {1, 7, 7}, {1, 3, 3}, {0, 3, 2}, {0}, {0}},
    {3, 5, 10, 5, {2, 9, 7}, {1, 1, 1}, {0}, {0}, {0}, {0}},       /* products of planes, by single elements, */
    {2, 4, 4, 4, {2, 6, 20}, {1, 1, 1}, {0}, {0}, {0}, {0}},       /* and by four */
    {5, 2, 2, 2, {1, 40, 68}, {1, 1, 1}, {0}, {0}, {0}, {0}},      /* in parts */
    {2, 6, 8, 2, {1, 9, 12}, {1, 5, 5}, {0}, {0, 2, 2}, {0}, {0}}, /* few channels a group */
    {2, 6, 4, 2, {3, 11, 14}, {2, 3, 3}, {2, 2, 2}, {1, 1, 1}, {0}, {1, 0, 1}},
    {2, 3, 6, 3, {5, 9, 12}, {3, 3, 3}, {0}, {1, 1, 1}, {0}, {0}}, /* patches of planes that meet planes */
    {1, 2, 2, 2, {8, 11, 13}, {2, 5, 5}, {2, 2, 2}, {1, 2, 2}, {3, 1, 1}, {0}},
};

enum { SIZE = 9, GROUPS = 12, EXTRA = 13 };

static bool is_transposed(enum wick_op op) { return strstr(wick_op_name(op), "transpose") != NULL; }
static bool is_weight(enum wick_op op) { return strstr(wick_op_name(op), "weight") != NULL; }
static bool is_bias(enum wick_op op) { return op == WICK_OP_conv_backward_bias; }

/* "conv2d_backward_input" has 2 spatial dims. */
static int spatial_of(enum wick_op op) { return is_bias(op) ? 2 : strstr(wick_op_name(op), "d_backward")[-1] - '0'; }

static int64_t or_one(int64_t n) { return n ? n : 1; }

static int64_t out_size(const struct shape *s, int a, bool transposed) {
    int64_t stride = or_one(s->stride[a]), reach = or_one(s->dilation[a]) * (s->kernel[a] - 1) + 1;
    if (transposed) return (s->in[a] - 1) * stride - 2 * s->padding[a] + reach + s->extra[a];
    return (s->in[a] + 2 * s->padding[a] - reach) / stride + 1;
}

static void fill(enum wick_op op, const struct shape *shape, struct verify_case *c) {
    int spatial = spatial_of(op), skip = 3 - spatial;
    bool transposed = is_transposed(op);
    struct shape s = *shape;
    if (transposed && s.stride[0] >= 1000) memset(s.stride, 0, sizeof s.stride);
    c->n_in = is_bias(op) ? 1 : 2;
    c->n_out = 1;
    for (int i = 0; i < c->n_in; i++)
        c->in[i] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2 + spatial, .low = -2, .high = 2};
    c->in[0].shape[0] = c->in[1].shape[0] = s.n;
    c->in[0].shape[1] = s.out_channels;
    c->in[1].shape[1] = s.in_channels;
    if (!is_weight(op)) {
        c->in[1].shape[0] = transposed ? s.in_channels : s.out_channels;
        c->in[1].shape[1] = (transposed ? s.out_channels : s.in_channels) / s.groups;
    }
    for (int d = 0; d < spatial; d++) {
        int a = skip + d;
        c->in[0].shape[2 + d] = out_size(&s, a, transposed);
        c->in[1].shape[2 + d] = is_weight(op) ? s.in[a] : s.kernel[a];
        c->i[SIZE + d] = is_weight(op) ? s.kernel[a] : s.in[a];
        c->i[d] = s.stride[a];
        c->i[3 + d] = s.padding[a];
        c->i[6 + d] = s.dilation[a];
        c->i[EXTRA + d] = transposed ? s.extra[a] : 0;
    }
    c->i[GROUPS] = s.groups;
}

static int conv_backward_cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static void conv_backward_make(enum wick_op op, int k, struct verify_case *c) {
    c->op = op;
    fill(op, &shapes[k], c);
}

static bool conv_backward_bench(enum wick_op op, struct verify_case *c) {
    static const struct shape large[3] = {
        {1, 64, 64, 1, {1, 1, 16384}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0}, {0}},
        {1, 64, 64, 1, {1, 56, 56}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0}, {0}},
        {1, 32, 32, 1, {8, 28, 28}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0}, {0}},
    };
    fill(op, &large[spatial_of(op) - 1], c);
    return true;
}

#define EACH(X)                                                                                                        \
    X(conv1d, 1) X(conv2d, 2) X(conv3d, 3) X(conv_transpose1d, 1) X(conv_transpose2d, 2) X(conv_transpose3d, 3)

static bool conv_backward_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_conv_options o = {.groups = c->i[GROUPS]};
    const int64_t *size = c->i + SIZE;
    memcpy(o.stride, c->i, sizeof o.stride);
    memcpy(o.padding, c->i + 3, sizeof o.padding);
    memcpy(o.dilation, c->i + 6, sizeof o.dilation);
    memcpy(o.output_padding, c->i + EXTRA, sizeof o.output_padding);
    switch (c->op) {
#define CASES(name, n)                                                                                                 \
    case WICK_OP_##name##_backward_input: out[0] = wick_##name##_backward_input(in[0], in[1], n, size, &o); break;     \
    case WICK_OP_##name##_backward_weight: out[0] = wick_##name##_backward_weight(in[0], in[1], n, size, &o); break;
        EACH(CASES)
    default: out[0] = wick_conv_backward_bias(in[0]); break;
    }
    return out[0] != NULL;
}

/* One side of the product: values, or sums with the sums of magnitudes. */
struct side {
    const double *data;
    struct verify_array *sums;
    int64_t channels, size[3], plane;
};

static struct side side_of(const struct verify_array *a, bool sums, int spatial) {
    struct side s = {.data = a->data, .channels = a->shape[1], .plane = 1};
    for (int d = 0; d < 3; d++) {
        s.size[d] = d < 3 - spatial ? 1 : a->shape[2 + d - (3 - spatial)];
        s.plane *= s.size[d];
    }
    if (sums) s.sums = (struct verify_array *)(uintptr_t)a;
    return s;
}

/* Meets of a window's position and a tap: of the three elements two are multiplied, and the third gets the product. */
static void meet(const struct side *a, int64_t i, const struct side *b, int64_t j, const struct side *to, int64_t k) {
    double term = a->data[i] * b->data[j];
    to->sums->data[k] += term;
    to->sums->scale[k] += verify_scale_convolution(fabs(term));
}

/* Where tap k of the window at `position` is on the large side, or -1. */
static int64_t tap_place(const struct verify_case *c, const struct side *small, const struct side *large,
                         const struct side *weight, int64_t position, int64_t k) {
    int spatial = spatial_of(c->op);
    int64_t place = 0, windows = small->plane, taps = weight->plane;
    for (int a = 0; a < 3; a++) {
        int d = a - (3 - spatial);
        windows /= small->size[a];
        taps /= weight->size[a];
        int64_t i = position / windows % small->size[a], tap = k / taps % weight->size[a];
        int64_t at = d < 0 ? 0 : i * or_one(c->i[d]) + tap * or_one(c->i[6 + d]) - c->i[3 + d];
        if (at < 0 || at >= large->size[a]) return -1;
        place = place * large->size[a] + at;
    }
    return place;
}

/* Window by window: y = sum of weight x, so each product of two of y, weight and x belongs to the gradient by the
 * third. */
static void scatter(const struct verify_case *c, int64_t images, const struct side *small, const struct side *large,
                    const struct side *weight) {
    int64_t groups = c->i[GROUPS], rows = small->channels / groups, columns = large->channels / groups;
    for (int64_t position = 0; position < small->plane; position++)
        for (int64_t k = 0; k < weight->plane; k++) {
            int64_t place = tap_place(c, small, large, weight, position, k);
            for (int64_t row = 0; place >= 0 && row < images * small->channels; row++) {
                int64_t n = row / small->channels, m = row % small->channels;
                int64_t s = row * small->plane + position, w = m * columns * weight->plane + k;
                int64_t l = (n * large->channels + m / rows * columns) * large->plane + place;
                for (int64_t i = 0; i < columns; i++, w += weight->plane, l += large->plane) {
                    if (weight->sums) meet(small, s, large, l, weight, w);
                    if (small->sums) meet(large, l, weight, w, small, s);
                    if (large->sums) meet(small, s, weight, w, large, l);
                }
            }
        }
}

static bool bias_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t channels = in->shape[1], plane = 1;
    for (int d = 2; d < in->rank; d++) plane *= in->shape[d];
    if (!verify_array_new(out, c->dtype, 1, &channels, true)) return false;
    memset(out->scale, 0, sizeof *out->scale * (size_t)channels);
    for (int64_t o = 0; o < channels; o++) {
        long double sum = 0;
        for (int64_t n = in->shape[0] - 1; n >= 0; n--)
            for (int64_t i = 0; i < plane; i++) {
                double x = in->data[(n * channels + o) * plane + i];
                sum += x;
                out->scale[o] += verify_scale_convolution(fabs(x));
            }
        out->data[o] = (double)sum;
    }
    return true;
}

static bool conv_backward_reference(const struct verify_case *c, const struct verify_array *in,
                                    struct verify_array *out) {
    if (is_bias(c->op)) return bias_reference(c, in, out);
    int spatial = spatial_of(c->op);
    bool transposed = is_transposed(c->op), by_weight = is_weight(c->op);
    const struct verify_array *other = &in[1];
    int64_t groups = c->i[GROUPS], shape[WICK_MAX_RANK] = {in[0].shape[0]};
    if (by_weight) {
        shape[0] = transposed ? other->shape[1] : in[0].shape[1];
        shape[1] = (transposed ? in[0].shape[1] : other->shape[1]) / groups;
    } else {
        shape[1] = transposed ? other->shape[0] : other->shape[1] * groups;
    }
    memcpy(shape + 2, c->i + SIZE, sizeof *shape * (size_t)spatial);
    if (!verify_array_new(out, c->dtype, 2 + spatial, shape, true)) return false;
    memset(out->data, 0, sizeof *out->data * (size_t)out->count);
    memset(out->scale, 0, sizeof *out->scale * (size_t)out->count);
    struct side gradient = side_of(&in[0], false, spatial), made = side_of(out, true, spatial);
    struct side given = side_of(other, false, spatial);
    const struct side *x = by_weight ? &given : &made, *weight = by_weight ? &made : &given;
    scatter(c, in[0].shape[0], transposed ? x : &gradient, transposed ? &gradient : x, weight);
    return true;
}

/* Only sums of products: small integers are exact. */
static bool always(enum wick_op op) {
    (void)op;
    return true;
}

const struct verify_family verify_conv_backward = {
    .name = "conv_backward",
    .cases = conv_backward_cases,
    .make = conv_backward_make,
    .bench = conv_backward_bench,
    .call = conv_backward_call,
    .reference = conv_backward_reference,
    .exact = always,
};
