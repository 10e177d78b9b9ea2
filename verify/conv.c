/* Cases of the conv family. i: stride [3], padding [3], dilation [3], output_padding [3], groups, relu.
 * Operands: x, weight, bias or none. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    int64_t n, in_channels, out_channels, groups, in[3], kernel[3];
    int64_t stride[3], padding[3], dilation[3], extra[3];
    bool bias, relu;
};

/* Written for 3 dims; fewer dims take the last ones. */
static const struct shape shapes[] = {
    {1, 1, 1, 1, {1, 1, 1}, {1, 1, 1}, {0}, {0}, {0}, {0}, false, false},
    {2, 3, 4, 1, {3, 5, 7}, {2, 3, 3}, {0}, {0}, {0}, {0}, true, false},
    {0, 3, 4, 1, {3, 5, 7}, {2, 3, 3}, {0}, {0}, {0}, {0}, true, false},
    {1, 2, 0, 1, {3, 5, 7}, {2, 3, 3}, {0}, {0}, {0}, {0}, true, false},
    {1, 0, 2, 1, {3, 5, 7}, {2, 3, 3}, {0}, {0}, {0}, {0}, true, false},
    {1, 5, 19, 1, {2, 9, 20}, {1, 1, 1}, {0}, {0}, {0}, {0}, true, true},
    {1, 3, 9, 1, {4, 9, 11}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {0}, {1, 1, 1}, false, false},
    {2, 2, 3, 1, {2, 8, 33}, {1, 7, 7}, {1, 2, 2}, {0, 3, 3}, {0}, {0, 0, 1}, true, false},
    {1, 4, 6, 2, {3, 8, 9}, {2, 3, 2}, {1, 2, 1}, {1, 0, 1}, {2, 1, 3}, {0, 1, 2}, true, false},
    {1, 6, 6, 6, {3, 10, 18}, {2, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0}, {0}, true, false},
    {2, 6, 12, 6, {2, 10, 18}, {2, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0}, {0}, false, true},
    {1, 2, 2, 1, {5, 13, 15}, {2, 3, 4}, {3, 2, 3}, {0, 2, 1}, {2, 3, 2}, {2, 2, 0}, true, false}, /* D2 */
    {1, 3, 2, 1, {2, 20, 3}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {0}, {0}, false, false},             /* short rows */
    {1, 2, 2, 1, {3, 4, 40}, {1, 2, 3}, {1, 1, 1}, {0, 1, 17}, {1, 3, 17}, {0}, true, false},
    {1, 4, 5, 1, {3, 6, 8}, {1, 1, 1}, {2, 2, 2}, {0}, {0}, {1, 1, 1}, false, false},
    {1, 5, 33, 1, {1, 9, 14}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {0}, {0}, true, true},
    {2, 34, 40, 2, {3, 7, 9}, {2, 3, 3}, {1, 2, 1}, {1, 1, 0}, {1, 1, 2}, {0}, true, true}, /* several channel runs */
    {2, 16, 24, 1, {2, 4, 6}, {1, 1, 1}, {0}, {0}, {0}, {0}, true, true},
    {1, 9, 130, 1, {1, 4, 37}, {1, 2, 3}, {1, 1, 1}, {0, 1, 2}, {0}, {0}, true, false},
    {2, 16, 24, 1, {2, 2, 2}, {1, 1, 1}, {2, 2, 2}, {0}, {0}, {0}, true, false}, /* one result of an image */
    {2, 16, 24, 1, {1, 1, 1}, {1, 1, 1}, {3, 3, 3}, {1, 1, 1}, {0}, {2, 2, 2}, true, false}, /* of its margin */
    {1, 16, 24, 1, {2, 6, 7}, {1, 3, 3}, {0}, {0, 1, 1}, {0}, {0}, false, false},            /* SUBNORMAL */
    {1, 16, 24, 1, {2, 6, 7}, {1, 3, 3}, {0}, {0, 1, 1}, {0}, {0}, true, false},             /* NANS */
    {2, 18, 7, 1, {2, 4, 9}, {1, 3, 2}, {1, 2, 2}, {0, 1, 0}, {0}, {0, 1, 0}, true, true},   /* few channels */
    {1, 16, 12, 1, {1, 3, 11}, {1, 3, 3}, {1, 3, 3}, {0}, {0}, {0, 1, 0}, true, false},      /* side by side */
    {2, 20, 70, 1, {2, 6, 9}, {2, 3, 3}, {2, 2, 2}, {1, 1, 1}, {0}, {1, 0, 1}, true, true},  /* phases */
    {1, 40, 34, 2, {2, 9, 11}, {2, 4, 5}, {1, 3, 2}, {0, 2, 1}, {1, 2, 3}, {0, 1, 0}, true, false},
    {1, 24, 16, 1, {3, 5, 8}, {1, 2, 1}, {2, 3, 4}, {0}, {0}, {1, 2, 3}, true, false}, /* phases without taps */
    {1, 72, 136, 1, {1, 9, 17}, {1, 3, 3}, {1, 1, 1}, {0, 2, 0}, {0}, {0}, true, false},
    {1, 2, 2, 2, {1, 40, 70}, {1, 5, 4}, {1, 1, 2}, {0, 3, 1}, {1, 1, 3}, {0}, true, true}, /* tiles of planes */
    {5, 7, 7, 7, {1, 6, 5}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {0}, {0}, true, false},        /* planes of a block */
    {2, 120, 40, 1, {1, 6, 6}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {0}, {0}, true, true},      /* parts of the sum */
    {1, 256, 256, 32, {1, 9, 20}, {1, 4, 4}, {1, 1, 1}, {0, 1, 1}, {0}, {0}, true, true},   /* merged groups */
    {1, 256, 256, 32, {1, 9, 20}, {1, 4, 4}, {1, 1, 1}, {0, 1, 1}, {0}, {0}, false, false}, /* MERGED_NANS */
    {2, 3, 3, 3, {1, 9, 12}, {1, 3, 3}, {0}, {0, 1, 1}, {0}, {0}, true, true},              /* patches of 4 x 4 */
    {2, 3, 3, 3, {1, 7, 14}, {1, 5, 5}, {0}, {0, 2, 2}, {0}, {0}, false, false},
    {1, 2, 2, 2, {1, 10, 16}, {1, 7, 7}, {0}, {0, 3, 3}, {0}, {0}, true, false},
    {1, 2, 2, 2, {1, 17, 21}, {1, 7, 7}, {0}, {0, 6, 4}, {1, 2, 2}, {0}, true, false},
    {2, 3, 6, 3, {1, 11, 20}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {0}, {0, 1, 1}, true, true},
    {2, 2, 2, 2, {1, 9, 18}, {1, 5, 5}, {1, 2, 2}, {0, 2, 2}, {0}, {0}, false, false},
    {1, 2, 2, 2, {1, 13, 24}, {1, 7, 7}, {1, 2, 2}, {0, 3, 3}, {0}, {0, 1, 0}, true, false},
    {1, 2, 2, 2, {1, 12, 15}, {1, 5, 5}, {1, 2, 2}, {0, 1, 0}, {0}, {0, 0, 1}, true, false},
    {1, 2, 2, 2, {1, 9, 11}, {1, 3, 3}, {0}, {0, 3, 4}, {0}, {0}, true, false},      /* more padding than taps */
    {1, 3, 3, 3, {1, 5, 3}, {1, 5, 5}, {0}, {0, 2, 9}, {1, 1, 5}, {0}, true, false}, /* taps beyond the plane */
    {1, 3, 3, 3, {1, 40, 70}, {1, 3, 3}, {0}, {0, 1, 1}, {0}, {0}, true, false},     /* several blocks */
    {5, 3, 3, 3, {1, 7, 7}, {1, 7, 7}, {0}, {0, 3, 3}, {0}, {0}, true, true},        /* small planes */
    {9, 8, 8, 8, {1, 5, 7}, {1, 3, 3}, {0}, {0, 1, 1}, {0}, {0}, true, false},       /* of several blocks */
    {1, 2, 2, 2, {1, 11, 24}, {1, 5, 5}, {0}, {0, 2, 2}, {0}, {0}, true, false},
    {1, 2, 2, 2, {1, 30, 41}, {1, 5, 5}, {0}, {0, 1, 3}, {0}, {0}, false, true},
    {2, 3, 3, 3, {1, 6, 9}, {1, 5, 5}, {0}, {0, 2, 1}, {0}, {0}, true, false},
    {2, 37, 37, 37, {3, 5, 11}, {2, 3, 3}, {1, 1, 2}, {1, 2, 1}, {1, 2, 1}, {0}, true, true}, /* blocks of channels */
    {1, 17, 17, 17, {1, 26, 70}, {1, 3, 2}, {0}, {0, 1, 1}, {0}, {0}, false, false},          /* and slabs of rows */
    {2, 24, 20, 1, {2, 6, 6}, {2, 5, 4}, {1, 1, 2}, {0, 1, 1}, {0}, {0, 0, 1}, true, true},   /* x is small */
    {2, 6, 8, 2, {1, 9, 12}, {1, 5, 5}, {0}, {0, 2, 2}, {0}, {0}, true, true},   /* few channels: loads of 4, */
    {2, 10, 4, 2, {3, 7, 14}, {3, 3, 3}, {0}, {1, 1, 1}, {0}, {0}, true, false}, /* of 2, planes of windows, */
    {1, 12, 6, 3, {1, 11, 15}, {1, 7, 7}, {0}, {0, 3, 2}, {0}, {0}, true, true}, /* and single ones */
    {1, 8, 12, 4, {1, 12, 16}, {1, 7, 7}, {0}, {0, 3, 3}, {0}, {0}, false, false},
    {1, 4, 6, 2, {4, 15, 13}, {2, 5, 5}, {3, 1, 1}, {1, 1, 3}, {2, 2, 2}, {1, 0, 0}, true, false},
    {2, 6, 4, 2, {3, 11, 14}, {2, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}, true, true},
    {1, 6, 8, 2, {1, 12, 20}, {1, 5, 5}, {1, 2, 2}, {0, 2, 2}, {0}, {0, 0, 1}, true, false},
    {1, 4, 6, 2, {1, 8, 18}, {1, 5, 5}, {0}, {0, 2, 2}, {0}, {0}, true, false},
    {1, 4, 4, 2, {1, 14, 19}, {1, 7, 7}, {1, 2, 2}, {0, 2, 3}, {0}, {0, 1, 1}, false, true},
    {2, 4, 16, 2, {1, 26, 40}, {1, 3, 3}, {0}, {0, 1, 1}, {0}, {0}, true, false}, /* pairs of channels */
    {4, 4, 6, 2, {4, 21, 23}, {2, 3, 3}, {0}, {1, 1, 1}, {0}, {0}, true, true},
    {4, 4, 6, 2, {4, 21, 22}, {2, 3, 3}, {0}, {1, 1, 1}, {0}, {0}, false, false},
    {1, 36, 8, 4, {2, 9, 10}, {1, 3, 3}, {0}, {0, 1, 1}, {0}, {0}, true, false},
    {2, 6, 10, 2, {2, 5, 13}, {1, 1, 1}, {2, 3, 2}, {0, 1, 1}, {0}, {1, 0, 0}, true, true}, /* 1x1 with strides */
    {1, 26, 22, 2, {2, 7, 20}, {1, 1, 1}, {1, 2, 2}, {0}, {0}, {0, 1, 1}, true, false},
    {1, 3, 5, 1, {3, 4, 70}, {1, 1, 1}, {3, 2, 5}, {1, 0, 2}, {0}, {0, 1, 3}, false, true},
    {2, 24, 5, 1, {2, 4, 9}, {2, 4, 4}, {2, 2, 2}, {1, 1, 1}, {0}, {0, 1, 1}, true, true}, /* y has strips */
    {4, 24, 9, 1, {1, 4, 7}, {1, 3, 5}, {1, 3, 2}, {0, 2, 3}, {1, 2, 3}, {0, 0, 1}, true, false},
    {2, 16, 24, 1, {1, 7, 9}, {1, 2, 2}, {0}, {0, 2, 3}, {0}, {0}, true, false}, /* x has more than windows reach */
};

/* Cases by number, which tools/simulate knows: x is subnormal in f16; some elements of x are NaN. */
enum { SUBNORMAL = 21, NANS = 22, MERGED_NANS = 33, SHAPES = sizeof shapes / sizeof *shapes };

static bool is_transposed(enum wick_op op) { return strstr(wick_op_name(op), "transpose") != NULL; }

static int spatial_of(enum wick_op op) {
    const char *name = wick_op_name(op);
    return name[strlen(name) - 2] - '0';
}

static int conv_cases(enum wick_op op) {
    (void)op;
    return SHAPES;
}

static void fill(enum wick_op op, const struct shape *shape, struct verify_case *c) {
    int spatial = spatial_of(op), skip = 3 - spatial;
    bool transposed = is_transposed(op);
    c->n_in = 3;
    c->n_out = 1;
    for (int i = 0; i < 3; i++) c->in[i] = (struct verify_operand){.role = VERIFY_VALUE, .low = -2, .high = 2};
    c->in[0].rank = c->in[1].rank = 2 + spatial;
    c->in[2].rank = 1;
    c->in[0].shape[0] = shape->n;
    c->in[0].shape[1] = shape->in_channels;
    c->in[1].shape[0] = transposed ? shape->in_channels : shape->out_channels;
    c->in[1].shape[1] = (transposed ? shape->out_channels : shape->in_channels) / shape->groups;
    c->in[2].shape[0] = shape->out_channels;
    if (!shape->bias) c->in[2].role = VERIFY_ABSENT;
    for (int s = 0; s < spatial; s++) {
        c->in[0].shape[2 + s] = shape->in[skip + s];
        c->in[1].shape[2 + s] = shape->kernel[skip + s];
        c->i[s] = shape->stride[skip + s];
        c->i[3 + s] = shape->padding[skip + s];
        c->i[6 + s] = shape->dilation[skip + s];
        c->i[9 + s] = transposed ? shape->extra[skip + s] : 0;
    }
    c->i[12] = shape->groups;
    c->i[13] = shape->relu;
}

static void conv_make(enum wick_op op, int k, struct verify_case *c) {
    fill(op, &shapes[k], c);
    if (k == SUBNORMAL) {
        c->in[0].low = -0x1p-14;
        c->in[0].high = 0x1p-14;
    }
    if (k == NANS) c->in[0].nan_every = 500;
    if (k == MERGED_NANS) c->in[0].nan_every = 5000;
}

static bool conv_bench(enum wick_op op, struct verify_case *c) {
    static const struct shape large[3] = {
        {1, 64, 64, 1, {1, 1, 16384}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0}, {0}, true, false},
        {1, 64, 64, 1, {1, 56, 56}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0}, {0}, true, false},
        {1, 32, 32, 1, {8, 28, 28}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0}, {0}, true, false},
    };
    fill(op, &large[spatial_of(op) - 1], c);
    return true;
}

static bool conv_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_conv_options o = {.groups = c->i[12], .relu = c->i[13] != 0};
    memcpy(o.stride, c->i, sizeof o.stride);
    memcpy(o.padding, c->i + 3, sizeof o.padding);
    memcpy(o.dilation, c->i + 6, sizeof o.dilation);
    memcpy(o.output_padding, c->i + 9, sizeof o.output_padding);
    switch (c->op) {
    case WICK_OP_conv1d: out[0] = wick_conv1d(in[0], in[1], in[2], &o); break;
    case WICK_OP_conv2d: out[0] = wick_conv2d(in[0], in[1], in[2], &o); break;
    case WICK_OP_conv3d: out[0] = wick_conv3d(in[0], in[1], in[2], &o); break;
    case WICK_OP_conv_transpose1d: out[0] = wick_conv_transpose1d(in[0], in[1], in[2], &o); break;
    case WICK_OP_conv_transpose2d: out[0] = wick_conv_transpose2d(in[0], in[1], in[2], &o); break;
    default: out[0] = wick_conv_transpose3d(in[0], in[1], in[2], &o); break;
    }
    return out[0] != NULL;
}

/* A value as it wraps to an integer dtype; the sums here stay far below 2^53. */
static double wrap(enum wick_dtype dtype, double x) {
    int bits = wick_dtype_bits(dtype);
    if (wick_dtype_is_float(dtype) || bits == 64) return x;
    double range = ldexp(1, bits), low = dtype == WICK_U8 || dtype == WICK_U32 ? 0 : -range / 2;
    return x - range * floor((x - low) / range);
}

/* Three-dim forms of the shapes and options, missing leading dims of size 1. */
struct form {
    bool transposed;
    int64_t in[3], kernel[3], out[3], stride[3], padding[3], dilation[3];
};

static void set_form(const struct verify_case *c, const struct verify_array *in, struct form *f) {
    int spatial = in[0].rank - 2;
    f->transposed = is_transposed(c->op);
    for (int a = 0; a < 3; a++) {
        int s = a - (3 - spatial);
        f->in[a] = f->kernel[a] = f->out[a] = f->stride[a] = f->dilation[a] = 1;
        f->padding[a] = 0;
        if (s < 0) continue;
        f->in[a] = in[0].shape[2 + s];
        f->kernel[a] = in[1].shape[2 + s];
        f->stride[a] = c->i[s] ? c->i[s] : 1;
        f->padding[a] = c->i[3 + s];
        f->dilation[a] = c->i[6 + s] ? c->i[6 + s] : 1;
        int64_t reach = f->dilation[a] * (f->kernel[a] - 1) + 1;
        f->out[a] = f->transposed ? (f->in[a] - 1) * f->stride[a] - 2 * f->padding[a] + reach + c->i[9 + s]
                                  : (f->in[a] + 2 * f->padding[a] - reach) / f->stride[a] + 1;
    }
}

/* The input index that kernel element k meets at result o of dim a, or -1. */
static int64_t meets(const struct form *f, int a, int64_t o, int64_t k) {
    int64_t at = o * f->stride[a] + k * f->dilation[a] - f->padding[a];
    if (f->transposed) {
        at = o + f->padding[a] - k * f->dilation[a];
        if (at % f->stride[a] != 0) return -1;
        at /= f->stride[a];
    }
    return at >= 0 && at < f->in[a] ? at : -1;
}

/* An element of a channel of the input and the element of its kernel that it meets. */
struct pair {
    int64_t x, kernel;
};

/* The pairs of the result's position `at`; how many. */
static int64_t pairs_at(const struct form *f, const int64_t at[3], struct pair *pairs) {
    int64_t n = 0;
    for (int64_t i = 0; i < f->kernel[0]; i++) {
        int64_t d = meets(f, 0, at[0], i);
        if (d < 0) continue;
        for (int64_t j = 0; j < f->kernel[1]; j++) {
            int64_t h = meets(f, 1, at[1], j);
            if (h < 0) continue;
            for (int64_t k = 0; k < f->kernel[2]; k++) {
                int64_t w = meets(f, 2, at[2], k);
                if (w < 0) continue;
                pairs[n++] =
                    (struct pair){(d * f->in[1] + h) * f->in[2] + w, (i * f->kernel[1] + j) * f->kernel[2] + k};
            }
        }
    }
    return n;
}

/* Adds the products of one channel of the input, x, and its kernel. */
static void add_channel(const struct pair *pairs, int64_t n, const double *x, const double *kernel, double sum[2]) {
    for (int64_t i = 0; i < n; i++) {
        double term = x[pairs[i].x] * kernel[pairs[i].kernel];
        sum[0] += term;
        sum[1] += fabs(term);
    }
}

static bool conv_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    struct form f;
    set_form(c, in, &f);
    int64_t groups = c->i[12], in_channels = in[0].shape[1] / groups;
    int64_t out_channels = f.transposed ? in[1].shape[1] : in[1].shape[0] / groups;
    int64_t shape[WICK_MAX_RANK] = {in[0].shape[0], out_channels * groups};
    int spatial = in[0].rank - 2;
    memcpy(shape + 2, f.out + 3 - spatial, sizeof(int64_t) * (size_t)spatial);
    if (!verify_array_new(out, c->dtype, in[0].rank, shape, true)) return false;
    int64_t plane = f.in[0] * f.in[1] * f.in[2], volume = f.kernel[0] * f.kernel[1] * f.kernel[2];
    struct pair *pairs = malloc(sizeof *pairs * (size_t)volume + 1);
    if (!pairs) return false;
    for (int64_t i = 0; i < out->count; i++) {
        int64_t at[3] = {i / f.out[2] / f.out[1] % f.out[0], i / f.out[2] % f.out[1], i % f.out[2]};
        int64_t channel = i / (f.out[0] * f.out[1] * f.out[2]) % shape[1], group = channel / out_channels;
        int64_t n = i / (f.out[0] * f.out[1] * f.out[2]) / shape[1];
        double sum[2] = {0, 0};
        if (in[2].data) sum[0] = in[2].data[channel], sum[1] = fabs(sum[0]);
        const int64_t n_pairs = pairs_at(&f, at, pairs);
        for (int64_t ci = 0; ci < in_channels; ci++) {
            int64_t pair = f.transposed ? (group * in_channels + ci) * out_channels + channel % out_channels
                                        : channel * in_channels + ci;
            add_channel(pairs, n_pairs, in[0].data + ((n * groups + group) * in_channels + ci) * plane,
                        in[1].data + pair * volume, sum);
        }
        out->data[i] = wrap(c->dtype, sum[0]);
        if (c->i[13] && out->data[i] < 0) out->data[i] = 0;
        out->scale[i] = verify_scale_convolution(sum[1]);
    }
    free(pairs);
    return true;
}

/* Only sums of products: small integers are exact. */
static bool always(enum wick_op op) {
    (void)op;
    return true;
}

const struct verify_family verify_conv = {
    .name = "conv",
    .cases = conv_cases,
    .make = conv_make,
    .bench = conv_bench,
    .call = conv_call,
    .reference = conv_reference,
    .exact = always,
};
