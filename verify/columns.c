/* Cases of the fold and composed_columns families. i: kernel [3], stride [3], padding [3], dilation [3], sizes of the
 * image [3]. */
#include "verify/scales.h"
#include "verify/verify.h"

#include <math.h>
#include <string.h>

static const struct shape {
    int spatial;
    int64_t n, c, in[3], kernel[3], stride[3], padding[3], dilation[3];
} shapes[] = {
    {2, 1, 1, {1, 1}, {1, 1}, {1, 1}, {0}, {1, 1}},
    {2, 2, 3, {5, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 2, {9, 8}, {2, 3}, {2, 3}, {0, 2}, {3, 1}},
    {2, 0, 3, {5, 6}, {3, 2}, {1, 1}, {0}, {1, 1}},
    {2, 2, 2, {7, 5}, {1, 1}, {2, 1}, {0}, {1, 1}},
    {2, 1, 2, {4, 33}, {4, 2}, {5, 7}, {0, 1}, {1, 2}},
    {1, 2, 3, {17}, {3}, {2}, {1}, {2}},
    {1, 1, 700, {5}, {2}, {1}, {3}, {1}},
    {3, 1, 2, {3, 4, 5}, {2, 3, 2}, {1, 2, 1}, {1, 0, 1}, {1, 1, 2}},
};
enum { SIZE = 12 };

static int cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static int64_t windows_of(const struct verify_case *c, int s) {
    int64_t last = c->i[SIZE + s] + 2 * c->i[6 + s] - c->i[9 + s] * (c->i[s] - 1) - 1, n = 0;
    for (int64_t at = 0; at <= last; at += c->i[3 + s]) n++;
    return n;
}

static void make(enum wick_op op, const struct shape *shape, struct verify_case *c) {
    int n = shape->spatial;
    memcpy(c->i, shape->kernel, sizeof shape->kernel);
    memcpy(c->i + 3, shape->stride, sizeof shape->stride);
    memcpy(c->i + 6, shape->padding, sizeof shape->padding);
    memcpy(c->i + 9, shape->dilation, sizeof shape->dilation);
    memcpy(c->i + SIZE, shape->in, sizeof shape->in);
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2 + n, .low = -8, .high = 8};
    c->in[0].shape[0] = shape->n;
    c->in[0].shape[1] = shape->c;
    memcpy(c->in[0].shape + 2, shape->in, sizeof *shape->in * (size_t)n);
    if (op == WICK_OP_im2col) return;
    c->in[0].rank = 3;
    c->in[0].shape[2] = 1;
    for (int s = 0; s < n; s++) {
        c->in[0].shape[1] *= c->i[s];
        c->in[0].shape[2] *= windows_of(c, s);
    }
}

static void columns_make(enum wick_op op, int k, struct verify_case *c) { make(op, &shapes[k], c); }

static bool columns_bench(enum wick_op op, struct verify_case *c) {
    static const struct shape large = {2, 1, 64, {128, 128}, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
    make(op, &large, c);
    return true;
}

static int spatial_of(const struct verify_case *c) { return c->i[1] == 0 ? 1 : c->i[2] == 0 ? 2 : 3; }

static bool columns_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_conv_options o = {0};
    int n = spatial_of(c);
    memcpy(o.stride, c->i + 3, sizeof o.stride);
    memcpy(o.padding, c->i + 6, sizeof o.padding);
    memcpy(o.dilation, c->i + 9, sizeof o.dilation);
    out[0] = c->op == WICK_OP_im2col ? wick_im2col(in[0], n, c->i, &o) : wick_col2im(in[0], n, c->i + SIZE, c->i, &o);
    return out[0] != NULL;
}

/* The position in the image of element k of window o, -1 in the padding. */
static int64_t position(const struct verify_case *c, int n, int64_t k, int64_t o) {
    int64_t place = 0, step = 1;
    for (int s = n - 1; s >= 0; s--) {
        int64_t at = o % windows_of(c, s) * c->i[3 + s] + k % c->i[s] * c->i[9 + s] - c->i[6 + s];
        if (at < 0 || at >= c->i[SIZE + s]) return -1;
        place += at * step;
        step *= c->i[SIZE + s];
        o /= windows_of(c, s);
        k /= c->i[s];
    }
    return place;
}

static bool columns_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int n = spatial_of(c), rank = c->op == WICK_OP_im2col ? 3 : 2 + n;
    int64_t elements = 1, windows = 1, plane = 1, shape[WICK_MAX_RANK] = {in->shape[0]};
    for (int s = 0; s < n; s++) {
        elements *= c->i[s];
        windows *= windows_of(c, s);
        plane *= c->i[SIZE + s];
    }
    bool fold = c->op == WICK_OP_col2im;
    shape[1] = fold ? in->shape[1] / elements : in->shape[1] * elements;
    shape[2] = windows;
    if (fold) memcpy(shape + 2, c->i + SIZE, sizeof *shape * (size_t)n);
    if (!verify_array_new(out, c->dtype, rank, shape, fold)) return false;
    memset(out->data, 0, sizeof *out->data * (size_t)out->count);
    if (fold) memset(out->scale, 0, sizeof *out->scale * (size_t)out->count);
    /* Over the columns, whichever side they are. */
    for (int64_t i = 0; i < (fold ? in : out)->count; i++) {
        int64_t at = position(c, n, i / windows % elements, i % windows), to = i / windows / elements * plane + at;
        if (at < 0) continue;
        if (!fold) {
            out->data[i] = in->data[to];
            continue;
        }
        out->data[to] += in->data[i];
        out->scale[to] += verify_scale_window(fabs(in->data[i]));
    }
    return true;
}

static bool always(enum wick_op op) {
    (void)op;
    return true;
}

const struct verify_family verify_fold = {
    .name = "fold",
    .cases = cases,
    .make = columns_make,
    .bench = columns_bench,
    .call = columns_call,
    .reference = columns_reference,
    .exact = always,
};

const struct verify_family verify_composed_columns = {
    .name = "composed_columns",
    .cases = cases,
    .make = columns_make,
    .bench = columns_bench,
    .call = columns_call,
    .reference = columns_reference,
    .specials = always,
};
