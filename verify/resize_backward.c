/* Cases of the resize_cubic and resize_backward families. i: sizes of x [3], align_corners, sizes of the result [3]; f:
 * scale [3]. The positions of adaptive max pooling are made here: window o of a plane picks its element number 7 o + 3,
 * modulo how many it has. */
#include "verify/elementwise.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100 }; /* elements that a result takes from a dim */

static const struct shape {
    int64_t n, c, in[3], out[3];
    double scale[3];
    int64_t align;
} shapes[] = {
    {1, 1, {1, 1, 1}, {1, 1, 1}, {0}, 0},
    {2, 3, {4, 5, 6}, {4, 5, 6}, {0}, 1},
    {1, 2, {3, 4, 5}, {6, 8, 10}, {0}, 0},
    {1, 2, {3, 4, 5}, {6, 8, 10}, {0}, 1},
    {1, 3, {7, 9, 8}, {3, 4, 2}, {0}, 0},
    {2, 1, {7, 9, 8}, {1, 1, 1}, {0}, 1},
    {1, 2, {1, 1, 1}, {3, 5, 4}, {0}, 0},
    {1, 2, {3, 4, 5}, {6, 6, 13}, {2, 1.5, 2.7}, 0},
    {0, 2, {3, 4, 5}, {6, 8, 10}, {0}, 0},
    {1, 2, {6, 17, 19}, {11, 30, 70}, {0}, 0},
    {1, 1, {30, 30, 30}, {5, 11, 22}, {0}, 0},
    {1, 2, {5, 9, 33}, {2, 4, 5}, {0.4, 0.5, 0.16}, 0},
    {1, 3, {3, 10, 32}, {3, 13, 47}, {0}, 0},
    {2, 2, {5, 7, 48}, {9, 3, 16}, {0}, 0},
    {1, 2, {2, 3, 24}, {7, 8, 90}, {0}, 1},
    {9, 7, {1, 1, 20}, {1, 1, 90}, {0, 0, 2}, 0},
    {3, 5, {1, 9, 20}, {1, 30, 33}, {0, 1.5, 2.7}, 0},
    {2, 3, {5, 6, 12}, {9, 3, 7}, {0}, 0},
};
enum { SIZE = 0, ALIGN = 3, OUT = 4 };

static bool named(enum wick_op op, const char *part) { return strstr(wick_op_name(op), part) != NULL; }

static int cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static void fill(struct verify_case *c, const struct shape *shape, int spatial, bool forward) {
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2 + spatial, .low = -8, .high = 8};
    c->in[0].shape[0] = shape->n;
    c->in[0].shape[1] = shape->c;
    memcpy(c->i + SIZE, shape->in + 3 - spatial, sizeof *shape->in * (size_t)spatial);
    memcpy(c->i + OUT, shape->out + 3 - spatial, sizeof *shape->out * (size_t)spatial);
    memcpy(c->f, shape->scale + 3 - spatial, sizeof *shape->scale * (size_t)spatial);
    memcpy(c->in[0].shape + 2, c->i + (forward ? SIZE : OUT), sizeof *c->i * (size_t)spatial);
    c->i[ALIGN] = shape->align;
}

static void cubic_make(enum wick_op op, int k, struct verify_case *c) {
    (void)op;
    fill(c, &shapes[k], 2, true);
}

static void backward_make(enum wick_op op, int k, struct verify_case *c) {
    fill(c, &shapes[k], named(op, "cubic") ? 2 : 1 + k % 3, false);
}

static const struct shape large = {1, 16, {8, 256, 256}, {16, 512, 512}, {0}, 0};

static bool cubic_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    fill(c, &large, 2, true);
    return true;
}

static bool backward_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    fill(c, &large, 2, false);
    return true;
}

/* ---- which elements a result takes, and how much of each ---- */

struct take {
    int n;
    int64_t at[MOST];
    double weight[MOST];
};

static void add(struct take *t, int64_t at, int64_t in, double weight) {
    t->at[t->n] = at < 0 ? 0 : at < in ? at : in - 1;
    t->weight[t->n++] = weight;
}

/* Keys' kernel, by distance. */
static double keys(long double x) {
    const long double a = -0.75L;
    x = fabsl(x);
    return (double)(x <= 1 ? (a + 2) * x * x * x - (a + 3) * x * x + 1 : a * (x * x * x - 5 * x * x + 8 * x - 4));
}

/* Where result o of spatial dim s lies: its floor, and the rest as a fraction. */
static int64_t locate(const struct verify_case *c, int s, int64_t o, double *part) {
    bool corners = named(c->op, "linear") || named(c->op, "cubic"), exact = named(c->op, "exact");
    int64_t in = c->i[SIZE + s], out = c->i[OUT + s];
    verify_wide above = (verify_wide)o * in, below = out;
    if (corners) above = (verify_wide)(2 * o + 1) * in - out, below = 2 * (verify_wide)out;
    if (exact) above = (verify_wide)(2 * o + 1) * in, below = 2 * (verify_wide)out;
    if (corners && c->i[ALIGN]) above = (verify_wide)o * (in - 1), below = out > 1 ? out - 1 : 1;
    if (c->f[s] > 0 && !(corners && c->i[ALIGN]) && in != out) {
        double x = corners ? ((double)o + 0.5) / c->f[s] - 0.5 : ((double)o + (exact ? 0.5 : 0)) / c->f[s];
        *part = x - floor(x);
        return (int64_t)floor(x);
    }
    int64_t low = (int64_t)(above / below) - (above % below < 0);
    *part = (double)(above - (verify_wide)low * below) / (double)below;
    return low;
}

static struct take take_of(const struct verify_case *c, int s, int64_t o) {
    int64_t in = c->i[SIZE + s], out = c->i[OUT + s];
    struct take t = {0};
    double part;
    if (named(c->op, "adaptive")) {
        int64_t begin = (int64_t)floor((double)(o * in) / (double)out);
        int64_t end = (int64_t)ceil((double)((o + 1) * in) / (double)out);
        for (int64_t i = begin; i < end; i++) add(&t, i, in, 1 / (double)(end - begin));
        return t;
    }
    int64_t low = locate(c, s, o, &part);
    if (named(c->op, "nearest"))
        add(&t, low, in, 1);
    else if (named(c->op, "cubic"))
        for (int k = -1; k < 3; k++) add(&t, low + k, in, keys((long double)part - k));
    else
        add(&t, low, in, 1 - part), add(&t, low + 1, in, part);
    return t;
}

/* The elements of a plane that result o of it takes, by dims that are missing at the front as one. */
static void take_all(const struct verify_case *c, int spatial, int64_t o, struct take take[3]) {
    for (int a = 2; a >= 0; a--) {
        int s = a - 3 + spatial;
        take[a] = (struct take){1, {0}, {1}};
        if (s < 0) continue;
        take[a] = take_of(c, s, o % c->i[OUT + s]);
        o /= c->i[OUT + s];
    }
}

/* Element k of those: its position in the plane, and its weight. */
static int64_t pick(const struct verify_case *c, int spatial, const struct take take[3], int64_t k, double *weight) {
    int64_t at[3], position = 0;
    *weight = 1;
    for (int a = 2; a >= 0; a--) {
        at[a] = take[a].at[k % take[a].n];
        *weight *= take[a].weight[k % take[a].n];
        k /= take[a].n;
    }
    for (int a = 3 - spatial; a < 3; a++) position = position * c->i[SIZE + a - 3 + spatial] + at[a];
    return position;
}

static int64_t product(const int64_t *sizes, int n) {
    int64_t all = 1;
    for (int s = 0; s < n; s++) all *= sizes[s];
    return all;
}

/* ---- calls ---- */

/* The positions, of the gradient's shape. NULL after a failure. */
static struct wick_tensor *positions_of(const struct verify_case *c, const struct wick_tensor *gradient) {
    int spatial = wick_tensor_rank(gradient) - 2;
    int64_t count = wick_tensor_count(gradient), plane = product(c->i + OUT, spatial);
    uint32_t *index = malloc(sizeof *index * (size_t)(count + 1));
    struct wick_tensor *y = NULL;
    for (int64_t i = 0; index && i < count; i++) {
        struct take take[3];
        double weight;
        int64_t o = i % plane;
        take_all(c, spatial, o, take);
        index[i] = (uint32_t)pick(c, spatial, take, (7 * o + 3) % (take[0].n * take[1].n * take[2].n), &weight);
    }
    if (index)
        y = wick_from_data(wick_tensor_device(gradient), WICK_U32, wick_tensor_rank(gradient),
                           wick_tensor_shape(gradient), index, sizeof *index * (size_t)count);
    free(index);
    return y;
}

static bool cubic_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_upsample_options o = {.align_corners = c->i[ALIGN] != 0};
    memcpy(o.scale, c->f, sizeof o.scale);
    out[0] = wick_upsample_bicubic2d(in[0], 2, c->i + OUT, &o);
    return out[0] != NULL;
}

static bool backward_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_upsample_options o = {.align_corners = c->i[ALIGN] != 0};
    int n = c->in[0].rank - 2;
    const int64_t *size = c->i + SIZE;
    memcpy(o.scale, c->f, sizeof o.scale);
    switch (c->op) {
    case WICK_OP_upsample_nearest_backward: out[0] = wick_upsample_nearest_backward(in[0], n, size, &o); break;
    case WICK_OP_upsample_nearest_exact_backward:
        out[0] = wick_upsample_nearest_exact_backward(in[0], n, size, &o);
        break;
    case WICK_OP_upsample_linear_backward: out[0] = wick_upsample_linear_backward(in[0], n, size, &o); break;
    case WICK_OP_upsample_bicubic2d_backward: out[0] = wick_upsample_bicubic2d_backward(in[0], n, size, &o); break;
    case WICK_OP_adaptive_avg_pool_backward: out[0] = wick_adaptive_avg_pool_backward(in[0], n, size); break;
    default: {
        struct wick_tensor *indices = positions_of(c, in[0]);
        out[0] = indices ? wick_adaptive_max_pool_backward(in[0], indices, n, size) : NULL;
        if (indices) wick_release(indices);
    }
    }
    return out[0] != NULL;
}

/* ---- references ---- */

static bool cubic_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t plane = c->i[SIZE] * c->i[SIZE + 1], results = c->i[OUT] * c->i[OUT + 1];
    if (!verify_array_new(out, c->dtype, 4, (const int64_t[]){in->shape[0], in->shape[1], c->i[OUT], c->i[OUT + 1]},
                          true))
        return false;
    for (int64_t o = 0; o < out->count; o++) {
        struct take take[3];
        double sum = 0, terms = 0, weight;
        take_all(c, 2, o % results, take);
        for (int64_t k = 0; k < take[1].n * take[2].n; k++) {
            double x = in->data[o / results * plane + pick(c, 2, take, k, &weight)];
            sum += weight * x;
            terms += fabs(weight * x);
        }
        out->data[o] = sum;
        out->scale[o] = verify_scale_window(terms);
    }
    return true;
}

/* Result by result: each gives its gradient to the elements that it takes. */
static bool backward_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int spatial = in->rank - 2;
    int64_t shape[WICK_MAX_RANK] = {in->shape[0], in->shape[1]};
    int64_t plane = product(c->i + SIZE, spatial), results = product(c->i + OUT, spatial);
    memcpy(shape + 2, c->i + SIZE, sizeof *shape * (size_t)spatial);
    if (!verify_array_new(out, c->dtype, in->rank, shape, true)) return false;
    memset(out->data, 0, sizeof *out->data * (size_t)out->count);
    memset(out->scale, 0, sizeof *out->scale * (size_t)out->count);
    for (int64_t o = 0; o < in->count; o++) {
        struct take take[3];
        take_all(c, spatial, o % results, take);
        int64_t n = take[0].n * take[1].n * take[2].n, chosen = (7 * (o % results) + 3) % n;
        bool largest = named(c->op, "max");
        for (int64_t k = largest ? chosen : 0; k < (largest ? chosen + 1 : n); k++) {
            double weight;
            int64_t at = o / results * plane + pick(c, spatial, take, k, &weight);
            double share = (largest ? 1 : weight) * in->data[o];
            out->data[at] += share;
            out->scale[at] += verify_scale_window(fabs(share));
        }
    }
    return true;
}

static bool backward_exact(enum wick_op op) { return named(op, "nearest") || named(op, "max"); }

const struct verify_family verify_resize_cubic = {
    .name = "resize_cubic",
    .cases = cases,
    .make = cubic_make,
    .bench = cubic_bench,
    .call = cubic_call,
    .reference = cubic_reference,
};

const struct verify_family verify_resize_backward = {
    .name = "resize_backward",
    .cases = cases,
    .make = backward_make,
    .bench = backward_bench,
    .call = backward_call,
    .reference = backward_reference,
    .exact = backward_exact,
};
