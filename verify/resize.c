/* Cases of the resize family. i: size [3], scale given, align_corners; f: scale [3]. */
#include "verify/elementwise.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

struct shape {
    int64_t n, c, in[3], size[3]; /* no size: from the scale */
    double scale[3];
    int64_t align;
};

static const struct shape shapes[] = {
    {1, 1, {1, 1, 1}, {1, 1, 1}, {0}, 0},
    {2, 3, {4, 5, 6}, {4, 5, 6}, {0}, 0}, /* unchanged size: still a copy, of any layout */
    {2, 3, {4, 5, 6}, {4, 5, 6}, {0}, 1},
    {1, 2, {3, 4, 5}, {6, 8, 10}, {0}, 0},
    {1, 2, {3, 4, 5}, {6, 8, 10}, {0}, 1},
    {1, 2, {7, 9, 8}, {3, 4, 2}, {0}, 0},
    {2, 1, {7, 9, 8}, {1, 1, 1}, {0}, 1},
    {1, 2, {1, 1, 1}, {3, 5, 4}, {0}, 0},
    {1, 2, {3, 4, 5}, {0}, {2, 1.5, 2.7}, 0},
    {1, 2, {3, 4, 5}, {6, 7, 13}, {2, 1.7, 2.7}, 0},
    {0, 2, {3, 4, 5}, {6, 8, 10}, {0}, 0},
    {2, 0, {3, 4, 5}, {6, 8, 10}, {0}, 1},
    {1, 3, {6, 17, 19}, {11, 40, 70}, {0}, 0},
    {1, 2, {10, 12, 13}, {0}, {1.05, 1.08, 1.07}, 0}, /* a scale that keeps the size copies */
    {1, 2, {3, 4, 12}, {5, 6, 32}, {0}, 0},           /* rows of whole vectors */
    {2, 1, {4, 3, 37}, {3, 7, 48}, {0}, 1},
    /* Nearest alone: PyTorch's own linear positions are rounded too much here to judge by. */
    {1, 1, {30, 30, 30}, {22, 11, 22}, {0}, 0}, /* 11 of 22 is 15 of 30, not a bit less */
    {1, 1, {6, 1, 30}, {4, 49, 44}, {0}, 0},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, NEAREST_ALONE = 2 };

static bool is_centred(enum wick_op op) { return op == WICK_OP_upsample_nearest_exact; }

/* The op's spatial dims; 0: any. */
static int spatial_of(enum wick_op op) {
    const char *name = wick_op_name(op);
    return is_centred(op) ? 0 : name[strlen(name) - 2] - '0';
}

static bool is_linear(enum wick_op op) { return strstr(wick_op_name(op), "linear") != NULL; }

static int resize_cases(enum wick_op op) { return SHAPES - (is_linear(op) ? NEAREST_ALONE : 0); }

static void resize_make(enum wick_op op, int k, struct verify_case *c) {
    int spatial = spatial_of(op) ? spatial_of(op) : 1 + k % 3;
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2 + spatial, .low = -8, .high = 8};
    c->in[0].shape[0] = shapes[k].n;
    c->in[0].shape[1] = shapes[k].c;
    memcpy(c->in[0].shape + 2, shapes[k].in + 3 - spatial, sizeof(int64_t) * (size_t)spatial);
    memcpy(c->i, shapes[k].size + 3 - spatial, sizeof(int64_t) * (size_t)spatial);
    memcpy(c->f, shapes[k].scale + 3 - spatial, sizeof(double) * (size_t)spatial);
    c->i[3] = shapes[k].size[0] > 0;
    c->i[4] = shapes[k].align;
}

/* Twice as large, to 4 Mi elements. */
static bool resize_bench(enum wick_op op, struct verify_case *c) {
    static const int64_t large[3][5] = {{1, 64, 32768}, {1, 64, 128, 128}, {1, 64, 8, 32, 32}};
    int spatial = spatial_of(op) ? spatial_of(op) : 2;
    resize_make(op, 3, c);
    verify_operand_resize(&c->in[0], 2 + spatial, large[spatial - 1]);
    for (int s = 0; s < spatial; s++) c->i[s] = 2 * c->in[0].shape[2 + s];
    return true;
}

static bool resize_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_upsample_options o = {.align_corners = c->i[4] != 0};
    const int64_t *size = c->i[3] ? c->i : NULL;
    memcpy(o.scale, c->f, sizeof o.scale);
    int n = size ? c->in[0].rank - 2 : 0;
    switch (c->op) {
    case WICK_OP_upsample_nearest_exact: out[0] = wick_upsample_nearest_exact(in[0], n, size, &o); break;
    case WICK_OP_upsample_nearest1d: out[0] = wick_upsample_nearest1d(in[0], size ? 1 : 0, size, &o); break;
    case WICK_OP_upsample_nearest2d: out[0] = wick_upsample_nearest2d(in[0], size ? 2 : 0, size, &o); break;
    case WICK_OP_upsample_nearest3d: out[0] = wick_upsample_nearest3d(in[0], size ? 3 : 0, size, &o); break;
    case WICK_OP_upsample_linear1d: out[0] = wick_upsample_linear1d(in[0], size ? 1 : 0, size, &o); break;
    case WICK_OP_upsample_bilinear2d: out[0] = wick_upsample_bilinear2d(in[0], size ? 2 : 0, size, &o); break;
    default: out[0] = wick_upsample_trilinear3d(in[0], size ? 3 : 0, size, &o); break;
    }
    return out[0] != NULL;
}

/* Where element o of spatial dim s comes from, and the weight of the second place: a fraction above / below of
 * integers, unless a scale is given. */
static double locate(const struct verify_case *c, int64_t in, int64_t out, int64_t o, int s, int64_t at[2]) {
    bool linear = is_linear(c->op), corners = linear && c->i[4];
    verify_wide above = (verify_wide)o * in, below = out;
    if (is_centred(c->op)) above = (verify_wide)(2 * o + 1) * in, below = 2 * (verify_wide)out;
    if (linear) above = (verify_wide)(2 * o + 1) * in - out, below = 2 * (verify_wide)out;
    if (corners) above = out > 1 ? (verify_wide)o * (in - 1) : 0, below = out > 1 ? out - 1 : 1;
    if (above < 0) above = 0;
    int64_t low = (int64_t)(above / below);
    double part = (double)(above % below) / (double)below;
    if (c->f[s] > 0 && !corners && in != out) {
        double shift = is_centred(c->op) ? 0.5 : 0;
        double x = linear ? fmax(0, ((double)o + 0.5) / c->f[s] - 0.5) : ((double)o + shift) / c->f[s];
        low = (int64_t)x;
        part = x - (double)low;
    }
    at[0] = low < in - 1 ? low : in - 1;
    at[1] = at[0] < in - 1 ? at[0] + 1 : in - 1;
    return linear && at[1] > at[0] ? part : 0;
}

static bool resize_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int spatial = in->rank - 2;
    int64_t shape[WICK_MAX_RANK] = {in->shape[0], in->shape[1]};
    for (int s = 0; s < spatial; s++)
        shape[2 + s] = c->i[3] ? c->i[s] : (int64_t)floor((double)in->shape[2 + s] * c->f[s]);
    if (!verify_array_new(out, c->dtype, in->rank, shape, true)) return false;
    for (int64_t i = 0; i < out->count; i++) {
        int64_t at[3][2], rest = i;
        double weight[3], side[2] = {0, 0}, magnitude = 0;
        for (int s = spatial - 1; s >= 0; s--) {
            weight[s] = locate(c, in->shape[2 + s], shape[2 + s], rest % shape[2 + s], s, at[s]);
            rest /= shape[2 + s];
        }
        /* The outer dims first, then the last: integers are rounded, so the order tells where a mean is a half. */
        for (int corner = 0; corner < 1 << spatial; corner++) {
            int64_t from = rest;
            double w = 1;
            for (int s = 0; s < spatial; s++) {
                int high = corner >> (spatial - 1 - s) & 1;
                from = from * in->shape[2 + s] + at[s][high];
                if (s < spatial - 1) w *= high ? weight[s] : 1 - weight[s];
            }
            double last = weight[spatial - 1], along = corner & 1 ? last : 1 - last;
            if (w == 0 || along == 0) continue;
            side[corner & 1] += w * in->data[from];
            magnitude += fabs(w * along * in->data[from]);
        }
        double last = weight[spatial - 1], sum = last > 0 ? (1 - last) * side[0] + last * side[1] : side[0];
        out->data[i] = is_linear(c->op) && !wick_dtype_is_float(c->dtype) ? rint(sum) : sum;
        out->scale[i] = verify_scale_window(magnitude);
    }
    return true;
}

/* Infinities survive a nearest copy; in sums of them the order may tell. */
static bool resize_specials(enum wick_op op) { return !is_linear(op); }

const struct verify_family verify_resize = {
    .name = "resize",
    .cases = resize_cases,
    .make = resize_make,
    .bench = resize_bench,
    .call = resize_call,
    .reference = resize_reference,
    .specials = resize_specials,
};
