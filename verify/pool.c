/* Cases of the pool family. i: kernel or size [3], stride [3], padding [3], dilation [3], ceil_mode, exclude_padding,
 * divisor, whether indices are wanted. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

struct shape {
    int64_t n, c, in[3], kernel[3], stride[3], padding[3], dilation[3], ceil_mode, exclude, divisor;
};

static const struct shape windows[3][11] = {
    {{1, 1, {1}, {1}, {0}, {0}, {0}, 0, 0, 0},
     {2, 3, {17}, {3}, {2}, {1}, {1}, 0, 0, 0},
     {0, 3, {17}, {3}, {2}, {1}, {1}, 0, 0, 0},
     {2, 0, {5}, {2}, {0}, {0}, {0}, 0, 0, 0},
     {1, 2, {18}, {4}, {3}, {2}, {2}, 1, 1, 0},
     {1, 2, {70}, {5}, {1}, {2}, {3}, 0, 1, 0},
     {2, 1, {301}, {200}, {7}, {99}, {1}, 1, 0, 0},
     {1, 2, {9}, {2}, {3}, {1}, {1}, 1, 0, 3},
     {1, 1, {2}, {3}, {3}, {1}, {1}, 1, 0, 0},
     {1, 1, {1}, {2}, {1}, {2}, {3}, 0, 0, 7},
     {1, 600, {33}, {3}, {2}, {1}, {1}, 0, 0, 0}},
    {{1, 1, {1, 1}, {1, 1}, {0}, {0}, {0}, 0, 0, 0},
     {2, 3, {9, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 0, 0, 0},
     {2, 0, {9, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 0, 0, 0},
     {1, 2, {8, 7}, {2, 3}, {0}, {1, 0}, {1, 2}, 1, 0, 0},
     {1, 2, {13, 12}, {5, 4}, {3, 1}, {2, 2}, {2, 1}, 1, 1, 0},
     {2, 1, {6, 40}, {6, 3}, {1, 1}, {0, 1}, {1, 1}, 0, 1, 0},
     {1, 2, {10, 5}, {3, 2}, {2, 2}, {1, 1}, {1, 1}, 0, 0, 5},
     {3, 1, {7, 7}, {7, 7}, {0}, {0}, {0}, 0, 0, 0},
     {1, 1, {5, 90}, {3, 60}, {1, 2}, {1, 30}, {1, 1}, 1, 0, 0},
     {1, 8, {56, 57}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 0, 0, 0},
     {1, 2, {4, 3}, {4, 3}, {4, 3}, {2, 1}, {1, 1}, 1, 1, 0}},
    {{1, 1, {1, 1, 1}, {1, 1, 1}, {0}, {0}, {0}, 0, 0, 0},
     {2, 2, {5, 6, 7}, {3, 2, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, 0, 0, 0},
     {1, 2, {4, 5, 9}, {2, 3, 2}, {0}, {1, 0, 1}, {2, 1, 3}, 1, 0, 0},
     {1, 1, {4, 4, 4}, {4, 4, 4}, {1, 1, 1}, {2, 2, 2}, {1, 1, 1}, 0, 1, 0},
     {0, 2, {4, 4, 4}, {2, 2, 2}, {0}, {0}, {0}, 0, 0, 0},
     {1, 3, {3, 8, 5}, {3, 1, 2}, {1, 3, 2}, {1, 0, 1}, {1, 1, 1}, 1, 1, 0},
     {1, 1, {6, 3, 4}, {2, 3, 3}, {3, 1, 2}, {0, 1, 1}, {1, 1, 1}, 0, 0, 4},
     {1, 1, {2, 2, 40}, {2, 2, 2}, {2, 2, 2}, {0}, {0}, 0, 0, 0},
     {1, 2, {5, 5, 5}, {3, 3, 3}, {2, 3, 2}, {1, 1, 1}, {1, 1, 1}, 1, 0, 0},
     {1, 4, {6, 14, 15}, {2, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, 0, 0, 0},
     {2, 1, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 0, 1, 0}},
};

static const struct shape sizes[3][7] = {
    {{1, 1, {1}, {1}, {0}, {0}, {0}, 0, 0, 0},
     {2, 3, {17}, {5}, {0}, {0}, {0}, 0, 0, 0},
     {1, 2, {3}, {7}, {0}, {0}, {0}, 0, 0, 0},
     {1, 2, {1000}, {1}, {0}, {0}, {0}, 0, 0, 0},
     {1, 2, {4}, {0}, {0}, {0}, {0}, 0, 0, 0},
     {0, 2, {4}, {2}, {0}, {0}, {0}, 0, 0, 0},
     {1, 1, {70003}, {1}, {0}, {0}, {0}, 0, 0, 0}},
    {{1, 1, {1, 1}, {1, 1}, {0}, {0}, {0}, 0, 0, 0},
     {2, 3, {7, 7}, {1, 1}, {0}, {0}, {0}, 0, 0, 0},
     {1, 2, {10, 13}, {3, 5}, {0}, {0}, {0}, 0, 0, 0},
     {1, 2, {3, 2}, {5, 7}, {0}, {0}, {0}, 0, 0, 0},
     {2, 1, {33, 130}, {4, 1}, {0}, {0}, {0}, 0, 0, 0},
     {1, 2, {4, 4}, {2, 0}, {0}, {0}, {0}, 0, 0, 0},
     {1, 3, {21, 33}, {1, 1}, {0}, {0}, {0}, 0, 0, 0}},
    {{1, 1, {1, 1, 1}, {1, 1, 1}, {0}, {0}, {0}, 0, 0, 0},
     {2, 2, {3, 4, 5}, {1, 1, 1}, {0}, {0}, {0}, 0, 0, 0},
     {1, 2, {5, 7, 6}, {2, 3, 4}, {0}, {0}, {0}, 0, 0, 0},
     {1, 2, {2, 3, 2}, {3, 4, 5}, {0}, {0}, {0}, 0, 0, 0},
     {1, 2, {4, 4, 40}, {4, 2, 3}, {0}, {0}, {0}, 0, 0, 0},
     {0, 2, {4, 4, 4}, {2, 2, 2}, {0}, {0}, {0}, 0, 0, 0},
     {2, 1, {9, 5, 7}, {1, 1, 1}, {0}, {0}, {0}, 0, 0, 0}},
};

/* "max_pool2d" has 2 spatial dims. */
static int spatial_of(enum wick_op op) {
    const char *name = wick_op_name(op);
    return name[strlen(name) - 2] - '0';
}

static bool is_adaptive(enum wick_op op) { return strncmp(wick_op_name(op), "adaptive", 8) == 0; }
static bool is_max(enum wick_op op) { return strstr(wick_op_name(op), "max") != NULL; }

static int pool_cases(enum wick_op op) { return is_adaptive(op) ? 7 : 11; }

static void fill(enum wick_op op, const struct shape *shape, struct verify_case *c) {
    int spatial = spatial_of(op);
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2 + spatial, .low = -8, .high = 8};
    c->in[0].shape[0] = shape->n;
    c->in[0].shape[1] = shape->c;
    for (int s = 0; s < spatial; s++) {
        c->in[0].shape[2 + s] = shape->in[s];
        c->i[s] = shape->kernel[s];
        c->i[3 + s] = shape->stride[s];
        c->i[6 + s] = shape->padding[s];
        c->i[9 + s] = shape->dilation[s];
    }
    c->i[12] = shape->ceil_mode;
    c->i[13] = shape->exclude;
    c->i[14] = shape->divisor;
    /* Padding is bounded by the kernel's reach, which average pooling does not dilate. */
    for (int s = 0; s < spatial && !is_max(op); s++)
        if (c->i[6 + s] > c->i[s] / 2) c->i[6 + s] = c->i[s] / 2;
}

static void pool_make(enum wick_op op, int k, struct verify_case *c) {
    int s = spatial_of(op) - 1;
    fill(op, is_adaptive(op) ? &sizes[s][k] : &windows[s][k], c);
    c->i[15] = is_max(op) && !is_adaptive(op) && k % 2 == 1; /* with indices */
    c->n_out = 1 + (int)c->i[15];
}

/* Windows of 3 at every second element; adaptive pooling to 7. */
static bool pool_bench(enum wick_op op, struct verify_case *c) {
    static const struct shape large[3] = {
        {1, 64, {65536}, {3}, {2}, {1}, {1}, 0, 0, 0},
        {1, 64, {256, 256}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 0, 0, 0},
        {1, 64, {16, 64, 64}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, 0, 0, 0},
    };
    fill(op, &large[spatial_of(op) - 1], c);
    for (int s = 0; s < spatial_of(op) && is_adaptive(op); s++) c->i[s] = 7;
    return true;
}

static bool pool_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_pool_options o = {.ceil_mode = c->i[12] != 0, .exclude_padding = c->i[13] != 0, .divisor = c->i[14]};
    if (c->i[15]) o.indices = &out[1];
    memcpy(o.stride, c->i + 3, sizeof o.stride);
    memcpy(o.padding, c->i + 6, sizeof o.padding);
    memcpy(o.dilation, c->i + 9, sizeof o.dilation);
    switch (c->op) {
    case WICK_OP_max_pool1d: out[0] = wick_max_pool1d(in[0], 1, c->i, &o); break;
    case WICK_OP_max_pool2d: out[0] = wick_max_pool2d(in[0], 2, c->i, &o); break;
    case WICK_OP_max_pool3d: out[0] = wick_max_pool3d(in[0], 3, c->i, &o); break;
    case WICK_OP_avg_pool1d: out[0] = wick_avg_pool1d(in[0], 1, c->i, &o); break;
    case WICK_OP_avg_pool2d: out[0] = wick_avg_pool2d(in[0], 2, c->i, &o); break;
    case WICK_OP_avg_pool3d: out[0] = wick_avg_pool3d(in[0], 3, c->i, &o); break;
    case WICK_OP_adaptive_max_pool1d: out[0] = wick_adaptive_max_pool1d(in[0], 1, c->i); break;
    case WICK_OP_adaptive_max_pool2d: out[0] = wick_adaptive_max_pool2d(in[0], 2, c->i); break;
    case WICK_OP_adaptive_max_pool3d: out[0] = wick_adaptive_max_pool3d(in[0], 3, c->i); break;
    case WICK_OP_adaptive_avg_pool1d: out[0] = wick_adaptive_avg_pool1d(in[0], 1, c->i); break;
    case WICK_OP_adaptive_avg_pool2d: out[0] = wick_adaptive_avg_pool2d(in[0], 2, c->i); break;
    default: out[0] = wick_adaptive_avg_pool3d(in[0], 3, c->i); break;
    }
    return out[0] != NULL;
}

/* One dim of a window: taps first, first + step, ... below last; `counted` go into the divisor. */
struct taps {
    int64_t first, last, step, counted;
};

static int64_t pooled_size(const struct verify_case *c, int64_t in, int s) {
    if (is_adaptive(c->op)) return c->i[s];
    int64_t kernel = c->i[s], stride = c->i[3 + s] ? c->i[3 + s] : kernel, padding = c->i[6 + s];
    int64_t dilation = is_max(c->op) && c->i[9 + s] ? c->i[9 + s] : 1;
    double steps = (double)(in + 2 * padding - dilation * (kernel - 1) - 1) / (double)stride;
    int64_t out = (int64_t)(c->i[12] ? ceil(steps) : floor(steps)) + 1;
    return c->i[12] && (out - 1) * stride >= in + padding ? out - 1 : out;
}

static struct taps window_of(const struct verify_case *c, int64_t in, int64_t out, int64_t o, int s) {
    if (is_adaptive(c->op)) {
        int64_t first = o * in / out, last = ((o + 1) * in + out - 1) / out;
        return (struct taps){first, last, 1, last - first};
    }
    int64_t kernel = c->i[s], stride = c->i[3 + s] ? c->i[3 + s] : kernel, padding = c->i[6 + s];
    int64_t dilation = is_max(c->op) && c->i[9 + s] ? c->i[9 + s] : 1, first = o * stride - padding;
    int64_t last = first + dilation * (kernel - 1) + 1, full = (last < in + padding ? last : in + padding) - first;
    return (struct taps){first, last, dilation, full};
}

static double lowest_of(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_U8:
    case WICK_U32: return 0;
    case WICK_I16: return -32768;
    case WICK_I32: return -2147483648.0;
    case WICK_I64: return -0x1p63;
    case WICK_F8E4M3: return -448;
    default: return -INFINITY;
    }
}

static void pool_one(const struct verify_case *c, const double *plane, const int64_t in[3], const struct taps t[3],
                     double *result, double *scale) {
    long double sum = 0; /* a long sum in f64 would err more than what is under test */
    double magnitude = 0, largest = lowest_of(c->dtype);
    int64_t n = 0;
    for (int64_t d = t[0].first; d < t[0].last; d += t[0].step)
        for (int64_t h = t[1].first; h < t[1].last; h += t[1].step)
            for (int64_t w = t[2].first; w < t[2].last; w += t[2].step) {
                if (d < 0 || h < 0 || w < 0 || d >= in[0] || h >= in[1] || w >= in[2]) continue;
                double x = plane[(d * in[1] + h) * in[2] + w];
                largest = isnan(largest) || x < largest || x == largest ? largest : x;
                sum += x;
                magnitude += fabs(x);
                n++;
            }
    if (c->i[14] > 0 && !is_adaptive(c->op))
        n = c->i[14];
    else if (!c->i[13])
        n = t[0].counted * t[1].counted * t[2].counted;
    double mean = (double)(sum / (long double)n);
    *result = is_max(c->op) ? largest : wick_dtype_is_float(c->dtype) ? mean : trunc(mean);
    if (c->dtype == WICK_U8 && !is_max(c->op)) *result = fmod(*result, 256);
    *scale = is_max(c->op) ? 0 : verify_scale_window(magnitude / (double)n);
}

/* The position in its plane of the first of the largest elements, or of the last NaN. */
static double position_of(const double *plane, const int64_t in[3], const struct taps t[3]) {
    int64_t best = UINT32_MAX;
    for (int64_t d = t[0].first; d < t[0].last; d += t[0].step)
        for (int64_t h = t[1].first; h < t[1].last; h += t[1].step)
            for (int64_t w = t[2].first; w < t[2].last; w += t[2].step) {
                if (d < 0 || h < 0 || w < 0 || d >= in[0] || h >= in[1] || w >= in[2]) continue;
                int64_t at = (d * in[1] + h) * in[2] + w;
                if (best == UINT32_MAX || isnan(plane[at]) || plane[at] > plane[best]) best = at;
            }
    return (double)best;
}

static bool pool_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int spatial = in->rank - 2, missing = 3 - spatial;
    int64_t shape[WICK_MAX_RANK] = {in->shape[0], in->shape[1]}, from[3] = {1, 1, 1}, to[3] = {1, 1, 1};
    for (int s = 0; s < spatial; s++) {
        from[missing + s] = in->shape[2 + s];
        to[missing + s] = shape[2 + s] = pooled_size(c, in->shape[2 + s], s);
    }
    if (!verify_array_new(out, c->dtype, in->rank, shape, true)) return false;
    if (c->n_out > 1 && !verify_array_new(&out[1], WICK_U32, in->rank, shape, false)) return false;
    for (int64_t i = 0; i < out->count; i++) {
        struct taps t[3] = {{0, 1, 1, 1}, {0, 1, 1, 1}, {0, 1, 1, 1}};
        int64_t at[3] = {i / to[2] / to[1] % to[0], i / to[2] % to[1], i % to[2]};
        for (int s = 0; s < spatial; s++)
            t[missing + s] = window_of(c, from[missing + s], to[missing + s], at[missing + s], s);
        const double *plane = in->data + i / to[2] / to[1] / to[0] * (from[0] * from[1] * from[2]);
        pool_one(c, plane, from, t, &out->data[i], &out->scale[i]);
        if (c->n_out > 1) out[1].data[i] = position_of(plane, from, t);
    }
    return true;
}

/* In sums of the largest values and infinities the order tells. */
static bool pool_specials(enum wick_op op) { return is_max(op); }

const struct verify_family verify_pool = {
    .name = "pool",
    .cases = pool_cases,
    .make = pool_make,
    .bench = pool_bench,
    .call = pool_call,
    .reference = pool_reference,
    .specials = pool_specials,
};
