/* Cases of the grid_sample family. i: mode, padding, align_corners, sizes of x [3]. Operands are the op's. */
#include "verify/scales.h"
#include "verify/verify.h"

#include <math.h>
#include <string.h>

enum { MOST = 40 }; /* elements of a dim of x */

static const struct shape {
    int spatial;
    int64_t n, c, in[3], out[3], mode, padding, corners;
} shapes[] = {
    {2, 2, 3, {5, 6}, {4, 7}, 0, 0, 0},       {2, 1, 5, {5, 6}, {4, 7}, 0, 1, 1},
    {2, 1, 2, {4, 7}, {3, 5}, 0, 2, 0},       {2, 1, 2, {4, 7}, {3, 5}, 0, 2, 1},
    {2, 2, 3, {5, 6}, {4, 7}, 1, 0, 0},       {2, 1, 2, {5, 6}, {4, 7}, 1, 2, 1},
    {2, 2, 3, {5, 6}, {4, 7}, 2, 0, 0},       {2, 1, 2, {5, 6}, {4, 7}, 2, 1, 1},
    {2, 1, 2, {5, 4}, {4, 7}, 2, 2, 0},       {3, 2, 2, {3, 4, 5}, {2, 3, 4}, 0, 0, 0},
    {3, 1, 5, {3, 4, 5}, {2, 3, 4}, 0, 2, 1}, {3, 1, 2, {3, 4, 5}, {2, 3, 4}, 1, 1, 0},
    {2, 1, 1, {1, 1}, {3, 2}, 0, 2, 1},       {2, 0, 2, {5, 6}, {4, 7}, 0, 0, 0},
    {2, 1, 2, {5, 6}, {0, 7}, 0, 0, 0},       {2, 1, 2, {33, 17}, {29, 31}, 0, 1, 0},
};
enum { SIZE = 3 };

static int cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static void fill(enum wick_op op, const struct shape *s, struct verify_case *c) {
    int n = s->spatial;
    struct verify_operand x = {.role = VERIFY_VALUE, .rank = n + 2, .low = -4, .high = 4}, gradient = x, grid = x;
    x.shape[0] = gradient.shape[0] = grid.shape[0] = s->n;
    x.shape[1] = gradient.shape[1] = s->c;
    memcpy(x.shape + 2, s->in, sizeof *s->in * (size_t)n);
    memcpy(gradient.shape + 2, s->out, sizeof *s->out * (size_t)n);
    memcpy(grid.shape + 1, s->out, sizeof *s->out * (size_t)n);
    grid.shape[n + 1] = n;
    grid.low = -1.75;
    grid.high = 1.75;
    c->i[0] = s->mode;
    c->i[1] = s->padding;
    c->i[2] = s->corners;
    memcpy(c->i + SIZE, s->in, sizeof s->in);
    c->n_out = 1;
    c->n_in = 2;
    c->in[0] = op == WICK_OP_grid_sample ? x : gradient;
    c->in[1] = grid;
    if (op != WICK_OP_grid_sample_backward_grid) return;
    c->n_in = 3;
    c->in[1] = x;
    c->in[2] = grid;
}

static void grid_make(enum wick_op op, int k, struct verify_case *c) { fill(op, &shapes[k], c); }

static bool grid_bench(enum wick_op op, struct verify_case *c) {
    static const struct shape large = {2, 1, 16, {256, 256}, {256, 256}, 0, 0, 0};
    fill(op, &large, c);
    return true;
}

static bool grid_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_grid_sample_options o = {.mode = (enum wick_grid_mode)c->i[0],
                                         .padding = (enum wick_grid_padding)c->i[1],
                                         .align_corners = c->i[2] != 0};
    if (c->op == WICK_OP_grid_sample)
        out[0] = wick_grid_sample(in[0], in[1], &o);
    else if (c->op == WICK_OP_grid_sample_backward_input)
        out[0] = wick_grid_sample_backward_input(in[0], in[1], c->in[0].rank - 2, c->i + SIZE, &o);
    else
        out[0] = wick_grid_sample_backward_grid(in[0], in[1], in[2], &o);
    return out[0] != NULL;
}

/* How much a point takes of each element of one dim, and the slope of that by the grid's number. */
struct shares {
    int64_t n;
    double weight[MOST], slope[MOST];
    double heavy[MOST], steep[MOST], all; /* sums of magnitudes of weights, of slopes, and of all slopes */
};

/* x mirrored at the ends until it lies between them. */
static double mirrored(double x, double low, double high, double *slope) {
    if (low == high) return *slope = 0;
    while (x < low || x > high) {
        x = x < low ? 2 * low - x : 2 * high - x;
        *slope = -*slope;
    }
    return x;
}

static double bounded(const struct verify_case *c, double x, int64_t n, double *slope) {
    if (c->i[1] == WICK_GRID_REFLECTION)
        x = c->i[2] ? mirrored(x, 0, (double)(n - 1), slope) : mirrored(x, -0.5, (double)n - 0.5, slope);
    if (c->i[1] == WICK_GRID_ZEROS) return x;
    if (x <= 0 || x >= (double)(n - 1)) *slope = 0;
    return fmin(fmax(x, 0), (double)(n - 1));
}

static void add(struct shares *s, double at, double weight, double slope) {
    if (at < 0 || at >= (double)s->n) return;
    s->weight[(int64_t)at] += weight;
    s->slope[(int64_t)at] += slope;
    s->heavy[(int64_t)at] += fabs(weight);
    s->steep[(int64_t)at] += fabs(slope);
    s->all += fabs(slope);
}

/* Keys' cubic at a distance, and its slope. */
static double keys(long double x, double *slope) {
    const long double a = -0.75L;
    long double d = fabsl(x), inner = (a + 2) * d * d * d - (a + 3) * d * d + 1;
    long double outer = a * (d * d * d - 5 * d * d + 8 * d - 4), sign = x < 0 ? -1 : 1;
    *slope = (double)(sign * (d <= 1 ? 3 * (a + 2) * d * d - 2 * (a + 3) * d : a * (3 * d * d - 10 * d + 8)));
    return (double)(d <= 1 ? inner : outer);
}

static struct shares shares_of(const struct verify_case *c, double at, int64_t n) {
    struct shares s = {.n = n};
    double slope = (double)(c->i[2] ? n - 1 : n) / 2, none = 1;
    double x = c->i[2] ? (at + 1) / 2 * (double)(n - 1) : ((at + 1) * (double)n - 1) / 2;
    if (c->i[0] == WICK_GRID_BICUBIC) {
        for (int k = -1; k <= 2; k++) {
            double by, weight = keys((long double)x - (floor(x) + k), &by);
            add(&s, bounded(c, floor(x) + k, n, &none), weight, by * slope);
        }
        return s;
    }
    x = bounded(c, x, n, &slope);
    if (c->i[0] == WICK_GRID_NEAREST) {
        add(&s, nearbyint(x), 1, 0);
    } else {
        add(&s, floor(x), floor(x) + 1 - x, -slope);
        add(&s, floor(x) + 1, x - floor(x), slope);
    }
    return s;
}

/* The shares of point `point` of all images' points, missing leading dims taking all of one element. */
static void point_shares(const struct verify_case *c, const struct verify_array *grid, int64_t point,
                         struct shares s[3]) {
    int n = grid->rank - 2;
    for (int a = 0; a < 3; a++) {
        int d = a - 3 + n;
        s[a] = (struct shares){.n = 1, .weight = {1}, .heavy = {1}};
        if (d >= 0) s[a] = shares_of(c, grid->data[point * n + n - 1 - d], c->i[SIZE + d]);
    }
}

/* The weight, or with `by` in 0 .. 2 its slope along that dim, of element i of a plane; and its magnitude, of its terms
 * one by one. */
static double share(const struct shares s[3], int64_t i, int by, double *magnitude) {
    int64_t at[3] = {i / s[2].n / s[1].n, i / s[2].n % s[1].n, i % s[2].n};
    double product = 1;
    *magnitude = 1;
    for (int a = 0; a < 3; a++) {
        product *= a == by ? s[a].slope[at[a]] : s[a].weight[at[a]];
        *magnitude *= a == by ? s[a].steep[at[a]] : s[a].heavy[at[a]];
    }
    return product;
}

/* What the rounding of places in f64 can move a weight by, in f64's units. */
static double moved(const struct verify_case *c, const struct shares s[3]) {
    return c->dtype == WICK_F64 ? (1 + s[0].all) * (1 + s[1].all) * (1 + s[2].all) : 0;
}

static bool grid_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    bool input = c->op == WICK_OP_grid_sample_backward_input, back = c->op == WICK_OP_grid_sample_backward_grid;
    const struct verify_array *grid = &in[back ? 2 : 1], *x = &in[back];
    int n = grid->rank - 2;
    int64_t shape[WICK_MAX_RANK] = {in[0].shape[0], in[0].shape[1]}, plane = 1, points = 1, channels = in[0].shape[1];
    for (int s = 0; s < n; s++) {
        plane *= c->i[SIZE + s];
        points *= grid->shape[1 + s];
        shape[2 + s] = input ? c->i[SIZE + s] : grid->shape[1 + s];
    }
    if (!verify_array_new(out, c->dtype, n + 2, back ? grid->shape : shape, true)) return false;
    memset(out->data, 0, sizeof *out->data * (size_t)out->count);
    memset(out->scale, 0, sizeof *out->scale * (size_t)out->count);
    /* Over points, channels and all elements of their planes. */
    for (int64_t point = 0; point < grid->shape[0] * points; point++) {
        struct shares s[3];
        point_shares(c, grid, point, s);
        for (int64_t line = point / points * channels; line < (point / points + 1) * channels; line++)
            for (int64_t i = 0; i < plane; i++) {
                int64_t result = line * points + point % points, element = line * plane + i;
                for (int by = back ? 3 - n : 3; by < (back ? 3 : 4); by++) {
                    double value = back ? in[0].data[result] * x->data[element] : in[0].data[input ? result : element];
                    double magnitude, term = share(s, i, by, &magnitude) * value;
                    int64_t to = back ? point * n + 2 - by : input ? element : result;
                    out->data[to] += term;
                    out->scale[to] += verify_scale_sampled(magnitude * fabs(value), moved(c, s) * fabs(value));
                }
            }
    }
    return true;
}

const struct verify_family verify_grid_sample = {
    .name = "grid_sample",
    .cases = cases,
    .make = grid_make,
    .bench = grid_bench,
    .call = grid_call,
    .reference = grid_reference,
};
