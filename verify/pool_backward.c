/* Cases of the pool_backward family. i: kernel [3], stride [3], padding [3], dilation [3], ceil_mode, exclude_padding,
 * divisor, size of x [3]. The positions of max pooling are made here: window o of a plane picks its element number
 * 7 o + 3, modulo how many it has in x, or 2^32 - 1 when it has none. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    int64_t n, c, in[3], kernel[3], stride[3], padding[3], dilation[3], ceil_mode, exclude, divisor;
};

static const struct shape shapes[3][9] = {
    {{1, 1, {1}, {1}, {0}, {0}, {0}, 0, 0, 0},
     {2, 3, {17}, {3}, {2}, {1}, {1}, 0, 0, 0},
     {0, 3, {17}, {3}, {2}, {1}, {1}, 0, 0, 0},
     {1, 2, {18}, {4}, {3}, {2}, {2}, 1, 1, 0},
     {1, 2, {9}, {2}, {3}, {1}, {1}, 1, 0, 3},
     {2, 1, {301}, {200}, {7}, {99}, {1}, 1, 0, 0},
     {1, 1, {1}, {2}, {1}, {2}, {3}, 0, 0, 7},
     {1, 600, {33}, {3}, {2}, {1}, {1}, 0, 0, 0},
     {1, 45, {301}, {3}, {4}, {1}, {1}, 0, 0, 0}},
    {{1, 1, {1, 1}, {1, 1}, {0}, {0}, {0}, 0, 0, 0},
     {2, 2, {5, 6}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 0, 0, 0},
     {2, 0, {9, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 0, 0, 0},
     {1, 2, {8, 7}, {2, 3}, {0}, {1, 0}, {1, 2}, 1, 0, 0},
     {1, 2, {7, 8}, {5, 4}, {3, 1}, {2, 2}, {2, 1}, 1, 1, 0},
     {1, 2, {10, 5}, {3, 2}, {2, 2}, {1, 1}, {1, 1}, 0, 0, 5},
     {1, 1, {5, 90}, {3, 60}, {1, 2}, {1, 30}, {1, 1}, 1, 0, 0},
     {1, 8, {56, 57}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 0, 0, 0},
     {1, 19, {23, 29}, {3, 3}, {0}, {1, 1}, {1, 1}, 1, 1, 0}},
    {{1, 1, {1, 1, 1}, {1, 1, 1}, {0}, {0}, {0}, 0, 0, 0},
     {1, 2, {3, 4, 5}, {3, 2, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, 0, 0, 0},
     {1, 1, {4, 4, 4}, {4, 4, 4}, {1, 1, 1}, {2, 2, 2}, {1, 1, 1}, 0, 1, 0},
     {0, 2, {4, 4, 4}, {2, 2, 2}, {0}, {0}, {0}, 0, 0, 0},
     {1, 2, {4, 5, 9}, {2, 3, 2}, {0}, {1, 0, 1}, {2, 1, 3}, 1, 0, 0},
     {1, 3, {3, 8, 5}, {3, 1, 2}, {1, 3, 2}, {1, 0, 1}, {1, 1, 1}, 1, 1, 0},
     {1, 1, {6, 3, 4}, {2, 3, 3}, {3, 1, 2}, {0, 1, 1}, {1, 1, 1}, 0, 0, 4},
     {1, 4, {6, 14, 15}, {2, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, 0, 0, 0},
     {1, 37, {5, 9, 13}, {2, 2, 2}, {0}, {0}, {1, 1, 1}, 0, 0, 0}},
};
enum { SIZE = 15 };

/* "max_pool2d_backward" has 2 spatial dims. */
static int spatial_of(enum wick_op op) { return strstr(wick_op_name(op), "pool")[4] - '0'; }
static bool is_max(enum wick_op op) { return strncmp(wick_op_name(op), "max", 3) == 0; }

/* One dim of the windows: padded elements stand in front of x. */
struct dim {
    int64_t in, out, kernel, stride, padding, step;
};

static struct dim dim_of(const struct verify_case *c, int s) {
    if (s < 0) return (struct dim){1, 1, 1, 1, 0, 1};
    struct dim d = {.in = c->i[SIZE + s], .kernel = c->i[s], .padding = c->i[6 + s]};
    d.stride = c->i[3 + s] ? c->i[3 + s] : d.kernel;
    d.step = is_max(c->op) && c->i[9 + s] ? c->i[9 + s] : 1;
    double steps = (double)(d.in + 2 * d.padding - d.step * (d.kernel - 1) - 1) / (double)d.stride;
    d.out = (int64_t)(c->i[12] ? ceil(steps) : floor(steps)) + 1;
    if (c->i[12] && (d.out - 1) * d.stride >= d.in + d.padding) d.out--;
    return d;
}

static void fill(enum wick_op op, const struct shape *shape, struct verify_case *c) {
    int spatial = spatial_of(op);
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2 + spatial, .low = -8, .high = 8};
    c->in[0].shape[0] = shape->n;
    c->in[0].shape[1] = shape->c;
    c->i[12] = shape->ceil_mode;
    c->i[13] = shape->exclude;
    c->i[14] = shape->divisor;
    for (int s = 0; s < spatial; s++) {
        c->i[s] = shape->kernel[s];
        c->i[3 + s] = shape->stride[s];
        c->i[6 + s] = shape->padding[s];
        c->i[9 + s] = shape->dilation[s];
        c->i[SIZE + s] = shape->in[s];
        /* Padding is bounded by the kernel's reach, which average pooling does not dilate. */
        if (!is_max(op) && c->i[6 + s] > c->i[s] / 2) c->i[6 + s] = c->i[s] / 2;
        c->in[0].shape[2 + s] = dim_of(c, s).out;
    }
}

static int pool_backward_cases(enum wick_op op) {
    (void)op;
    return sizeof *shapes / sizeof **shapes;
}

static void pool_backward_make(enum wick_op op, int k, struct verify_case *c) {
    c->op = op;
    fill(op, &shapes[spatial_of(op) - 1][k], c);
}

static bool pool_backward_bench(enum wick_op op, struct verify_case *c) {
    static const struct shape large[3] = {
        {1, 64, {65536}, {3}, {2}, {1}, {1}, 0, 0, 0},
        {1, 64, {256, 256}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 0, 0, 0},
        {1, 64, {16, 64, 64}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, 0, 0, 0},
    };
    fill(op, &large[spatial_of(op) - 1], c);
    return true;
}

/* The positions in their plane of the elements of x in window o, and how many there are. */
static int64_t taps_of(const struct dim d[3], int64_t o, int64_t *taps) {
    int64_t at[3] = {o / d[2].out / d[1].out, o / d[2].out % d[1].out, o % d[2].out}, n = 0;
    for (int64_t k = 0; k < d[0].kernel * d[1].kernel * d[2].kernel; k++) {
        int64_t tap[3] = {k / d[2].kernel / d[1].kernel, k / d[2].kernel % d[1].kernel, k % d[2].kernel};
        int64_t position = 0;
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            int64_t x = at[a] * d[a].stride + tap[a] * d[a].step - d[a].padding;
            inside = inside && x >= 0 && x < d[a].in;
            position = position * d[a].in + x;
        }
        if (inside) taps[n++] = position;
    }
    return n;
}

static int64_t pick(const int64_t *taps, int64_t n, int64_t o) { return n > 0 ? taps[(7 * o + 3) % n] : UINT32_MAX; }

/* Room for the elements of a window. */
static int64_t *taps_new(const struct dim d[3]) {
    return malloc(sizeof(int64_t) * (size_t)(d[0].kernel * d[1].kernel * d[2].kernel));
}

static void dims_of(const struct verify_case *c, struct dim d[3]) {
    for (int a = 0; a < 3; a++) d[a] = dim_of(c, a - 3 + spatial_of(c->op));
}

/* The positions, of the gradient's shape. NULL after a failure. */
static struct wick_tensor *positions_of(const struct verify_case *c, const struct wick_tensor *gradient) {
    struct dim d[3];
    dims_of(c, d);
    int64_t plane = d[0].out * d[1].out * d[2].out, count = wick_tensor_count(gradient), *taps = taps_new(d);
    uint32_t *index = malloc(sizeof *index * (size_t)(count + 1));
    struct wick_tensor *y = NULL;
    for (int64_t i = 0; taps && index && i < count; i++)
        index[i] = (uint32_t)pick(taps, taps_of(d, i % plane, taps), i % plane);
    if (taps && index)
        y = wick_from_data(wick_tensor_device(gradient), WICK_U32, wick_tensor_rank(gradient),
                           wick_tensor_shape(gradient), index, sizeof *index * (size_t)count);
    free(index);
    free(taps);
    return y;
}

static bool pool_backward_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_pool_options o = {.ceil_mode = c->i[12] != 0, .exclude_padding = c->i[13] != 0, .divisor = c->i[14]};
    struct wick_tensor *indices = is_max(c->op) ? positions_of(c, in[0]) : NULL;
    const int64_t *size = c->i + SIZE, *kernel = c->i;
    memcpy(o.stride, c->i + 3, sizeof o.stride);
    memcpy(o.padding, c->i + 6, sizeof o.padding);
    memcpy(o.dilation, c->i + 9, sizeof o.dilation);
    if (is_max(c->op) && !indices) return false;
    switch (c->op) {
    case WICK_OP_max_pool1d_backward: out[0] = wick_max_pool1d_backward(in[0], indices, 1, size, kernel, &o); break;
    case WICK_OP_max_pool2d_backward: out[0] = wick_max_pool2d_backward(in[0], indices, 2, size, kernel, &o); break;
    case WICK_OP_max_pool3d_backward: out[0] = wick_max_pool3d_backward(in[0], indices, 3, size, kernel, &o); break;
    case WICK_OP_avg_pool1d_backward: out[0] = wick_avg_pool1d_backward(in[0], 1, size, kernel, &o); break;
    case WICK_OP_avg_pool2d_backward: out[0] = wick_avg_pool2d_backward(in[0], 2, size, kernel, &o); break;
    default: out[0] = wick_avg_pool3d_backward(in[0], 3, size, kernel, &o); break;
    }
    if (indices) wick_release(indices);
    return out[0] != NULL;
}

/* What the mean of window o is divided by. */
static double divisor_of(const struct verify_case *c, const struct dim d[3], int64_t o, int64_t n) {
    int64_t at[3] = {o / d[2].out / d[1].out, o / d[2].out % d[1].out, o % d[2].out}, all = 1;
    if (c->i[14]) return (double)c->i[14];
    if (c->i[13]) return (double)n;
    for (int a = 0; a < 3; a++) {
        int64_t left = d[a].in + 2 * d[a].padding - at[a] * d[a].stride;
        all *= left < d[a].kernel ? left : d[a].kernel;
    }
    return (double)all;
}

/* Window by window: each gives its gradient to its elements. */
static bool pool_backward_reference(const struct verify_case *c, const struct verify_array *in,
                                    struct verify_array *out) {
    struct dim d[3];
    dims_of(c, d);
    int64_t shape[WICK_MAX_RANK] = {in->shape[0], in->shape[1]}, *taps = taps_new(d);
    int64_t windows = d[0].out * d[1].out * d[2].out, plane = d[0].in * d[1].in * d[2].in;
    memcpy(shape + 2, c->i + SIZE, sizeof *shape * (size_t)spatial_of(c->op));
    if (!taps || !verify_array_new(out, c->dtype, in->rank, shape, true)) {
        free(taps);
        return false;
    }
    memset(out->data, 0, sizeof *out->data * (size_t)out->count);
    memset(out->scale, 0, sizeof *out->scale * (size_t)out->count);
    for (int64_t i = 0; i < in->count; i++) {
        int64_t first = i / windows * plane, n = taps_of(d, i % windows, taps);
        double share = is_max(c->op) ? in->data[i] : in->data[i] / divisor_of(c, d, i % windows, n);
        if (is_max(c->op) && n > 0) taps[0] = pick(taps, n, i % windows);
        if (is_max(c->op) && n > 0) n = 1;
        for (int64_t k = 0; k < n; k++) {
            out->data[first + taps[k]] += share;
            out->scale[first + taps[k]] += verify_scale_window(fabs(share));
        }
    }
    free(taps);
    return true;
}

const struct verify_family verify_pool_backward = {
    .name = "pool_backward",
    .cases = pool_backward_cases,
    .make = pool_backward_make,
    .bench = pool_backward_bench,
    .call = pool_backward_call,
    .reference = pool_backward_reference,
};
