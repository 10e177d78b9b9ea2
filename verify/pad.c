/* Cases of the pad and pad_backward families. i: mode, before [8], after [8]; f: value. And of composed_conv: i:
 * factor. */
#include "verify/scales.h"
#include "verify/verify.h"

#include <math.h>
#include <string.h>

static const struct {
    int rank;
    int64_t shape[5], before[5], after[5];
} shapes[] = {
    {0, {0}, {0}, {0}},
    {1, {1}, {0}, {0}},
    {1, {7}, {3}, {2}},
    {1, {0}, {0}, {0}},
    {2, {3, 5}, {0, 2}, {1, 0}},
    {2, {5, 3}, {2, 0}, {4, 0}},
    {3, {2, 0, 3}, {1, 0, 2}, {0, 0, 1}},
    {4, {2, 3, 5, 7}, {0, 0, 2, 3}, {0, 0, 4, 1}},
    {4, {2, 3, 5, 7}, {1, 2, 0, 0}, {0, 1, 3, 0}},
    {5, {2, 2, 3, 4, 5}, {1, 0, 2, 3, 4}, {0, 1, 1, 2, 4}},
    {2, {300, 70}, {3, 17}, {20, 33}},
    {2, {6, 64}, {1, 32}, {0, 16}},
    /* Less than there is, and more than once around. */
    {1, {7}, {-2}, {3}},
    {1, {4}, {-2}, {2}},
    {2, {6, 8}, {-2, -4}, {2, 0}},
    {3, {3, 5, 4}, {-1, 2, 0}, {-2, -4, 0}},
};

enum { SHAPES = 12, LESS = 4, MODES = 4 };
_Static_assert(sizeof shapes / sizeof *shapes == SHAPES + LESS, "shapes");

static int pad_cases(enum wick_op op) {
    (void)op;
    return (SHAPES + LESS) * MODES;
}

static void pad_make(enum wick_op op, int k, struct verify_case *c) {
    bool less = k >= SHAPES * MODES;
    int s = less ? SHAPES + (k - SHAPES * MODES) % LESS : k % SHAPES;
    (void)op;
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[s].rank, .low = -8, .high = 8};
    memcpy(c->in[0].shape, shapes[s].shape, sizeof shapes[s].shape);
    c->i[0] = less ? (k - SHAPES * MODES) / LESS : k / SHAPES;
    memcpy(c->i + 1, shapes[s].before, sizeof shapes[s].before);
    memcpy(c->i + 9, shapes[s].after, sizeof shapes[s].after);
    c->f[0] = 3;
}

static bool pad_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    return verify_make_large(pad_make, 4, c);
}

static bool pad_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    out[0] = wick_pad(in[0], c->in[0].rank, c->i + 1, c->i + 9, (enum wick_pad_mode)c->i[0], verify_number(c->f[0]));
    return out[0] != NULL;
}

/* The element of a dim of size n that lies at `at`, with 0 its first; -1 for none. By steps, not by formulas. */
static int64_t shown(int64_t mode, int64_t at, int64_t n) {
    while (at < 0 || at >= n) {
        if (mode == WICK_PAD_CONSTANT) return -1;
        if (mode == WICK_PAD_REPLICATE) at += at < 0 ? 1 : -1;
        if (mode == WICK_PAD_REFLECT) at = at < 0 ? -at : 2 * n - 2 - at;
        if (mode == WICK_PAD_CIRCULAR) at += at < 0 ? n : -n;
    }
    return at;
}

/* The element of x that element i of a padded x of `shape` shows; -1 for none. */
static int64_t source(const struct verify_case *c, int rank, const int64_t *shape, int64_t i) {
    int64_t from = 0, step = 1;
    for (int d = rank - 1; d >= 0; d--) {
        int64_t n = shape[d] - c->i[1 + d] - c->i[9 + d], at = shown(c->i[0], i % shape[d] - c->i[1 + d], n);
        i /= shape[d];
        if (at < 0) return -1;
        from += at * step;
        step *= n;
    }
    return from;
}

static bool pad_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t shape[WICK_MAX_RANK];
    for (int d = 0; d < in->rank; d++) shape[d] = in->shape[d] + c->i[1 + d] + c->i[9 + d];
    if (!verify_array_new(out, c->dtype, in->rank, shape, false)) return false;
    for (int64_t i = 0; i < out->count; i++) {
        int64_t from = source(c, in->rank, shape, i);
        out->data[i] = from < 0 ? c->f[0] : in->data[from];
    }
    return true;
}

static bool always(enum wick_op op) {
    (void)op;
    return true;
}

const struct verify_family verify_pad = {
    .name = "pad",
    .cases = pad_cases,
    .make = pad_make,
    .bench = pad_bench,
    .call = pad_call,
    .reference = pad_reference,
    .specials = always,
};

/* ---- the gradient: the same cases, with the padded shape as operand ---- */

static void pad_backward_make(enum wick_op op, int k, struct verify_case *c) {
    pad_make(op, k, c);
    for (int d = 0; d < c->in[0].rank; d++) c->in[0].shape[d] += c->i[1 + d] + c->i[9 + d];
}

static bool pad_backward_bench(enum wick_op op, struct verify_case *c) {
    const int64_t shape[2] = {VERIFY_ROWS + 1, VERIFY_COLUMNS + 2};
    pad_backward_make(op, 4, c);
    verify_operand_resize(&c->in[0], 2, shape);
    return true;
}

static bool pad_backward_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    out[0] = wick_pad_backward(in[0], c->in[0].rank, c->i + 1, c->i + 9, (enum wick_pad_mode)c->i[0]);
    return out[0] != NULL;
}

static bool pad_backward_reference(const struct verify_case *c, const struct verify_array *in,
                                   struct verify_array *out) {
    int64_t shape[WICK_MAX_RANK];
    for (int d = 0; d < in->rank; d++) shape[d] = in->shape[d] - c->i[1 + d] - c->i[9 + d];
    if (!verify_array_new(out, c->dtype, in->rank, shape, true)) return false;
    memset(out->data, 0, sizeof *out->data * (size_t)out->count);
    memset(out->scale, 0, sizeof *out->scale * (size_t)out->count);
    for (int64_t i = 0; i < in->count; i++) {
        int64_t to = source(c, in->rank, in->shape, i);
        if (to < 0) continue;
        out->data[to] += in->data[i];
        out->scale[to] += verify_scale_window(fabs(in->data[i]));
    }
    return true;
}

const struct verify_family verify_pad_backward = {
    .name = "pad_backward",
    .cases = pad_cases,
    .make = pad_backward_make,
    .bench = pad_backward_bench,
    .call = pad_backward_call,
    .reference = pad_backward_reference,
    .exact = always,
};

/* Shapes of the shuffled side, [...,C,H r,W r], and r. */
static const struct {
    int rank;
    int64_t shape[5], r;
} pixels[] = {
    {3, {1, 1, 1}, 1}, {3, {2, 6, 4}, 2},      {4, {2, 3, 6, 9}, 3}, {4, {0, 3, 4, 4}, 2}, {5, {2, 2, 1, 4, 10}, 2},
    {3, {2, 0, 4}, 2}, {4, {1, 5, 34, 66}, 2}, {3, {1, 6, 24}, 3},   {3, {2, 8, 36}, 4},   {3, {1, 10, 45}, 5},
};

static int pixel_cases(enum wick_op op) {
    (void)op;
    return sizeof pixels / sizeof *pixels;
}

static void pixel_make(enum wick_op op, int k, struct verify_case *c) {
    int rank = pixels[k].rank;
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = rank, .low = -300, .high = 300};
    memcpy(c->in[0].shape, pixels[k].shape, sizeof pixels[k].shape);
    c->i[0] = pixels[k].r;
    if (op == WICK_OP_pixel_unshuffle) return;
    c->in[0].shape[rank - 3] *= c->i[0] * c->i[0];
    c->in[0].shape[rank - 2] /= c->i[0];
    c->in[0].shape[rank - 1] /= c->i[0];
}

static bool pixel_bench(enum wick_op op, struct verify_case *c) {
    pixel_make(op, 1, c);
    bool shuffle = op == WICK_OP_pixel_shuffle;
    verify_operand_resize(&c->in[0], 3, shuffle ? (const int64_t[]){64, 256, 256} : (const int64_t[]){16, 512, 512});
    return true;
}

static bool pixel_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    out[0] = c->op == WICK_OP_pixel_shuffle ? wick_pixel_shuffle(in[0], c->i[0]) : wick_pixel_unshuffle(in[0], c->i[0]);
    return out[0] != NULL;
}

static bool pixel_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t shape[WICK_MAX_RANK], r = c->i[0];
    bool shuffle = c->op == WICK_OP_pixel_shuffle;
    int rank = in->rank;
    memcpy(shape, in->shape, sizeof shape);
    shape[rank - 3] = shuffle ? shape[rank - 3] / (r * r) : shape[rank - 3] * r * r;
    shape[rank - 2] = shuffle ? shape[rank - 2] * r : shape[rank - 2] / r;
    shape[rank - 1] = shuffle ? shape[rank - 1] * r : shape[rank - 1] / r;
    if (!verify_array_new(out, c->dtype, rank, shape, false)) return false;
    /* Runs over the shuffled side; `packed` is the same element on the other. */
    const int64_t *wide = shuffle ? shape : in->shape;
    int64_t channels = wide[rank - 3], height = wide[rank - 2], width = wide[rank - 1];
    for (int64_t i = 0; i < out->count; i++) {
        int64_t w = i % width, h = i / width % height, ch = i / width / height % channels,
                n = i / width / height / channels;
        int64_t plane = ((n * channels + ch) * r + h % r) * r + w % r;
        int64_t packed = (plane * (height / r) + h / r) * (width / r) + w / r;
        out->data[shuffle ? i : packed] = in->data[shuffle ? packed : i];
    }
    return true;
}

const struct verify_family verify_composed_conv = {
    .name = "composed_conv",
    .cases = pixel_cases,
    .make = pixel_make,
    .bench = pixel_bench,
    .call = pixel_call,
    .reference = pixel_reference,
    .specials = always,
};
