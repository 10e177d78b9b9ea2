/* Cases of the batch_norm family. Operands are the op's, in its order. batch_norm_train: i[0] whether mean and inverse
 * deviation are wanted; f[0] is epsilon. batch_norm_backward: i[0] whether the statistics are those of x, i[1] whether
 * the gradients of weight and bias are wanted. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int rank;
    int64_t shape[5];
    int left_out; /* bit 0: no weight, bit 1: no bias */
} shapes[] = {
    {2, {5, 6}, 0},
    {3, {2, 4, 33}, 1},
    {4, {2, 6, 5, 7}, 0},
    {4, {1, 3, 13, 17}, 2},
    {4, {3, 2, 1, 1}, 3},
    {4, {2, 3, 0, 4}, 0},
    {3, {0, 4, 3}, 0},
    {3, {2, 0, 3}, 0},
    {5, {2, 3, 2, 3, 4}, 0},
    {2, {300, 3}, 1},
    {3, {3, 1, 700}, 0},
    {4, {4, 20, 3, 3}, 3},
    /* planes of odd lengths, in the place where they are */
    {4, {5, 7, 9, 11}, 0},
    {3, {1, 2, 4099}, 1},
    {3, {70, 3, 33}, 0},
    /* planes of whole vectors, which MIOpen gets */
    {4, {3, 2, 6, 8}, 0},
    {4, {2, 5, 10, 10}, 0},
    {4, {5, 3, 8, 9}, 0},
    /* of training alone, whose reference does not take n^2 steps: channels in parts, and planes in pieces */
    {3, {9, 1, 7399}, 0},
    {4, {160, 2, 21, 23}, 0},
};
enum { LONG = 2 }; /* the last of them */

static bool is_train(enum wick_op op) { return op == WICK_OP_batch_norm_train; }

static int batch_norm_cases(enum wick_op op) {
    int n = sizeof shapes / sizeof *shapes;
    return is_train(op) ? n : n - LONG;
}

static void batch_norm_make(enum wick_op op, int k, struct verify_case *c) {
    int first = is_train(op) ? 1 : 4;
    c->n_in = is_train(op) ? 3 : 5;
    c->i[0] = k % 3 != 1;
    c->i[1] = k % 4 != 3;
    c->f[0] = 0.5;
    c->n_out = (is_train(op) ? c->i[0] : c->i[1]) ? 3 : 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -8, .high = 8};
    memcpy(c->in[0].shape, shapes[k].shape, sizeof shapes[k].shape);
    for (int i = 1; i < c->n_in; i++) {
        bool absent = i >= first && (shapes[k].left_out >> (i - first) & 1);
        c->in[i] = (struct verify_operand){.role = absent ? VERIFY_ABSENT : VERIFY_VALUE, .rank = 1, .low = -2};
        c->in[i].high = 2;
        c->in[i].shape[0] = shapes[k].shape[1];
    }
    if (is_train(op)) return;
    c->in[1] = c->in[0];
    c->in[2].role = c->in[3].role = VERIFY_STATISTIC;
    c->in[3].low = 0.25;
}

static bool batch_norm_bench(enum wick_op op, struct verify_case *c) {
    const int64_t image[4] = {16, 64, 64, 64};
    batch_norm_make(op, 2, c);
    verify_operand_resize(&c->in[0], 4, image);
    for (int i = 1; i < c->n_in; i++) verify_operand_resize(&c->in[i], 1, image + 1);
    if (!is_train(op)) verify_operand_resize(&c->in[1], 4, image);
    return true;
}

static bool batch_norm_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    if (is_train(c->op)) {
        struct wick_batch_norm_train_options options = {.weight = in[1], .bias = in[2], .epsilon = c->f[0]};
        if (c->n_out > 1) options.inverse_deviation = &out[1], options.mean = &out[2];
        out[0] = wick_batch_norm_train(in[0], &options);
    } else {
        struct wick_norm_backward_options options = {.weight = in[4]};
        if (c->n_out > 1) options.weight_gradient = &out[1], options.bias_gradient = &out[2];
        out[0] = wick_batch_norm_backward(in[0], in[1], in[2], in[3], c->i[0] != 0, &options);
    }
    return out[0] != NULL;
}

/* How the elements of a channel lie: n of them, number i at (i / plane) step + i % plane, from `first` on. */
struct channel {
    int64_t n, plane, step, first;
};

static struct channel channel_of(const struct verify_array *x, int64_t c) {
    struct channel s = {.plane = 1};
    for (int d = 2; d < x->rank; d++) s.plane *= x->shape[d];
    s.n = x->shape[0] * s.plane;
    s.step = x->shape[1] * s.plane;
    s.first = c * s.plane;
    return s;
}

static int64_t place(const struct channel *s, int64_t i) { return s->first + i / s->plane * s->step + i % s->plane; }

static bool outputs(const struct verify_case *c, const struct verify_array *x, enum wick_dtype other,
                    struct verify_array *out) {
    if (!verify_array_new(out, c->dtype, x->rank, x->shape, true)) return false;
    for (int i = 1; i < c->n_out; i++)
        if (!verify_array_new(&out[i], other, 1, x->shape + 1, true)) return false;
    return true;
}

/* The mean in two passes; what is squared are differences. */
static void train_channel(const struct verify_case *c, const struct verify_array *in, int64_t channel,
                          struct verify_array *out) {
    struct channel s = channel_of(&in[0], channel);
    const double *x = in[0].data;
    long double sum = 0, rest = 0, square = 0;
    double size = 0;
    for (int64_t i = s.n - 1; i >= 0; i--) sum += x[place(&s, i)];
    long double mean = sum / s.n;
    for (int64_t i = 0; i < s.n; i++) rest += x[place(&s, i)] - mean;
    mean += rest / s.n;
    for (int64_t i = 0; i < s.n; i++) {
        long double apart = x[place(&s, i)] - mean;
        square += apart * apart;
        size += fabs(x[place(&s, i)]);
    }
    long double inverse = 1 / sqrtl(square / s.n + c->f[0]);
    double weight = in[1].data ? in[1].data[channel] : 1, bias = in[2].data ? in[2].data[channel] : 0;
    for (int64_t i = 0; i < s.n; i++) {
        long double y = (x[place(&s, i)] - mean) * inverse * weight;
        out[0].data[place(&s, i)] = (double)(y + bias);
        long double around = c->dtype == WICK_F64 ? size / s.n : fabsl(mean);
        out[0].scale[place(&s, i)] =
            verify_scale_normalised(fabs(x[place(&s, i)]), around, inverse * fabs(weight), fabs(bias));
    }
    if (c->n_out == 1) return;
    out[1].data[channel] = s.n ? (double)inverse : (double)NAN;
    out[1].scale[channel] = 0;
    out[2].data[channel] = (double)mean;
    out[2].scale[channel] = s.n ? verify_scale_mean(size, 1, (double)s.n) : 0;
}

/* The derivative of element j of what was normalised by element i of x, as it comes from the formula. */
static long double slope(long double n, long double yi, long double yj, bool same) { return same - (1 + yi * yj) / n; }

static void backward_channel(const struct verify_case *c, const struct verify_array *in, int64_t channel,
                             struct verify_array *out) {
    struct channel s = channel_of(&in[0], channel);
    const double *g = in[0].data, *x = in[1].data;
    long double mean = in[2].data[channel], inverse = in[3].data[channel], sums[2] = {0, 0};
    double sizes[2] = {0, 0}, weight = in[4].data ? in[4].data[channel] : 1;
    for (int64_t i = 0; i < s.n; i++) {
        int64_t at = place(&s, i);
        long double yi = (x[at] - mean) * inverse, sum = 0, size = 0;
        sums[0] += g[at] * yi;
        sums[1] += g[at];
        sizes[0] += (double)(fabs(g[at]) * inverse * (fabs(x[at]) + fabsl(mean)));
        sizes[1] += fabs(g[at]);
        for (int64_t j = 0; j < s.n && c->i[0]; j++) {
            long double yj = (x[place(&s, j)] - mean) * inverse, factor = g[place(&s, j)] * weight * inverse;
            sum += factor * slope(s.n, yi, yj, i == j);
            size += fabsl(factor) * ((i == j) + (1 + fabsl(yi * yj) + fabsl(mean * inverse * yj)) / s.n);
        }
        if (!c->i[0]) {
            sum = g[at] * weight * inverse;
            size = fabsl(sum);
        }
        out[0].data[at] = (double)sum;
        out[0].scale[at] = verify_scale_norm_gradient((double)size);
    }
    for (int i = 1; i < c->n_out; i++) {
        out[i].data[channel] = (double)sums[i - 1];
        out[i].scale[channel] = verify_scale_norm_gradient(sizes[i - 1]);
    }
}

static bool batch_norm_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    enum wick_dtype other = !is_train(c->op) || c->dtype == WICK_F64 ? c->dtype : WICK_F32;
    if (!outputs(c, &in[0], other, out)) return false;
    for (int64_t k = 0; k < in[0].shape[1]; k++) (is_train(c->op) ? train_channel : backward_channel)(c, in, k, out);
    return true;
}

const struct verify_family verify_batch_norm = {
    .name = "batch_norm",
    .cases = batch_norm_cases,
    .make = batch_norm_make,
    .bench = batch_norm_bench,
    .call = batch_norm_call,
    .reference = batch_norm_reference,
};
