/* Cases of the composed_recurrent family. i: mode, layers, two directions, batch_first, projection, no_bias, hidden,
 * whether there are lengths, then the lengths from i[8] on. i[20] of a gradient: whether c is looked at instead of h.
 *
 * Operands: x, all weights one after the other, h, c; of the gradient x, the weights, the result's gradient, h, c, and
 * the gradient of the last h, or c. Results: the states, last_h, last_c; of the gradient those of x, of the weights,
 * and of h, or c.
 *
 * The reference goes through each sequence by itself. It computes gradients forward, with numbers that carry their
 * derivative by one operand's element (dual numbers, Clifford 1873), an element after the other. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODE, LAYERS, TWO_WAYS, BATCH_FIRST, PROJECTION, NO_BIAS, HIDDEN, RAGGED, LENGTHS, OF_C = 20 };

struct shape {
    enum wick_recurrent_mode mode;
    int layers;
    bool two_ways, batch_first;
    int projection;
    bool no_bias;
    int64_t hidden, steps, batch, inputs;
    const int64_t *lengths;
    bool starts, of_c; /* h and c are given; the gradient looks at c */
};
#define THESE(...) ((const int64_t[]){__VA_ARGS__})

static const struct shape shapes[] = {
    {WICK_LSTM, 1, true, false, 1, false, 2, 3, 2, 1, THESE(2, 3), true, false},
    {WICK_GRU, 2, false, true, 0, false, 2, 3, 2, 2, NULL, true, false},
    {WICK_RNN_TANH, 1, true, true, 0, false, 2, 3, 3, 2, THESE(1, 3, 2), false, false},
    {WICK_RNN_RELU, 2, true, false, 0, true, 2, 2, 2, 2, NULL, true, false},
    {WICK_LSTM, 1, false, true, 0, false, 2, 3, 2, 2, THESE(3, 1), true, true},
    {WICK_GRU, 1, true, false, 0, false, 2, 4, 5, 3, THESE(0, 4, 1, 1, 3), true, false},
    {WICK_LSTM, 2, true, true, 3, false, 5, 4, 3, 4, NULL, false, true},
    {WICK_LSTM, 2, true, false, 0, true, 4, 3, 4, 3, THESE(2, 0, 3, 2), true, true},
    {WICK_LSTM, 1, true, false, 0, false, 2, 0, 2, 2, NULL, true, false},
    {WICK_GRU, 1, true, false, 0, false, 2, 3, 0, 2, NULL, true, false},
    {WICK_GRU, 1, true, true, 0, false, 3, 2, 2, 2, THESE(0, 0), true, false},
    {WICK_LSTM, 1, false, false, 0, false, 9, 4, 3, 5, NULL, true, false},
    {WICK_RNN_TANH, 3, false, true, 0, false, 7, 2, 3, 1, THESE(1, 2, 1), true, false},
    {WICK_LSTM, 1, true, false, 0, false, 4, 2, 9, 2, NULL, true, true},
    {WICK_GRU, 1, false, false, 0, true, 8, 2, 9, 3, NULL, true, false},
    {WICK_RNN_TANH, 1, true, true, 0, false, 8, 2, 9, 2, NULL, true, false},
    {WICK_LSTM, 1, false, false, 0, false, 8, 1, 9, 2, NULL, true, false},
    {WICK_GRU, 1, false, true, 0, false, 8, 1, 9, 2, NULL, true, false},
    {WICK_RNN_RELU, 1, false, false, 0, true, 8, 1, 9, 2, NULL, true, false},
    {WICK_LSTM, 1, false, false, 0, false, 8, 3, 1, 2, NULL, true, false},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int recurrent_cases(enum wick_op op) {
    (void)op;
    return SHAPES;
}

/* ---- sizes ---- */

struct sizes {
    int64_t gates, directions, ld, state, hidden, steps, batch, inputs;
};

static struct sizes sizes_of(const struct verify_case *c) {
    const struct verify_operand *x = &c->in[0];
    struct sizes s = {.gates = c->i[MODE] == WICK_LSTM ? 4 : c->i[MODE] == WICK_GRU ? 3 : 1};
    s.directions = 1 + c->i[TWO_WAYS];
    s.ld = c->i[LAYERS] * s.directions;
    s.hidden = c->i[HIDDEN];
    s.state = c->i[PROJECTION] ? c->i[PROJECTION] : s.hidden;
    s.steps = x->shape[c->i[BATCH_FIRST]];
    s.batch = x->shape[!c->i[BATCH_FIRST]];
    s.inputs = x->shape[2];
    return s;
}

/* The shape of weight `which` (Wi, Wh, bi, bh, Wr) of a layer, and its elements; 0 where there is none. */
static int64_t weight_of(const struct verify_case *c, const struct sizes *s, int64_t layer, int which, int64_t *shape) {
    int64_t columns = layer == 0 ? s->inputs : s->directions * s->state;
    shape[0] = which == 4 ? s->state : s->gates * s->hidden;
    shape[1] = which == 0 ? columns : which == 1 ? s->state : which == 4 ? s->hidden : 1;
    if ((which == 4 && !c->i[PROJECTION]) || ((which == 2 || which == 3) && c->i[NO_BIAS])) return 0;
    return shape[0] * shape[1];
}

/* All weights' elements before direction ld. */
static int64_t weights_before(const struct verify_case *c, const struct sizes *s, int64_t ld) {
    int64_t total = 0, shape[2];
    for (int64_t i = 0; i < ld; i++)
        for (int which = 0; which < 5; which++) total += weight_of(c, s, i / s->directions, which, shape);
    return total;
}

static void recurrent_make(enum wick_op op, int k, struct verify_case *c) {
    const struct shape *s = &shapes[k];
    const bool backward = op == WICK_OP_recurrent_backward, lstm = s->mode == WICK_LSTM;
    const int64_t values[] = {s->mode, s->layers, s->two_ways, s->batch_first, s->projection, s->no_bias, s->hidden};
    memcpy(c->i, values, sizeof values);
    c->i[RAGGED] = s->lengths != NULL;
    if (s->lengths) memcpy(c->i + LENGTHS, s->lengths, sizeof *s->lengths * (size_t)s->batch);
    c->i[OF_C] = s->of_c;
    c->n_in = backward ? 6 : 4;
    c->n_out = backward || lstm ? 3 : 2;
    int64_t first = s->batch_first ? s->batch : s->steps, second = s->batch_first ? s->steps : s->batch;
    c->in[0] = (struct verify_operand){VERIFY_VALUE, 3, {first, second, s->inputs}, .low = -1, .high = 1};
    struct sizes sizes = sizes_of(c);
    c->in[1] = (struct verify_operand){VERIFY_VALUE, 1, {weights_before(c, &sizes, sizes.ld)}, .low = -1, .high = 1};
    int h = backward ? 3 : 2;
    enum verify_role role = s->starts ? VERIFY_VALUE : VERIFY_ABSENT;
    c->in[h] = (struct verify_operand){role, 3, {sizes.ld, s->batch, sizes.state}, .low = -1, .high = 1};
    c->in[h + 1] = c->in[h];
    c->in[h + 1].shape[2] = s->hidden;
    c->in[h + 1].role = s->starts && lstm ? VERIFY_STATISTIC : VERIFY_ABSENT;
    if (!backward) return;
    c->in[2] = c->in[0];
    c->in[2].shape[2] = sizes.directions * sizes.state;
    c->in[5] = c->in[s->of_c ? 4 : 3];
    c->in[5].role = s->of_c ? VERIFY_STATISTIC : VERIFY_VALUE;
}

static bool recurrent_bench(enum wick_op op, struct verify_case *c) {
    recurrent_make(op, 11, c);
    struct sizes s = {.hidden = 128, .state = 128};
    const int64_t x[3] = {50, 32, 128}, state[3] = {1, 32, 128};
    c->i[HIDDEN] = s.hidden;
    verify_operand_resize(&c->in[0], 3, x);
    s = sizes_of(c);
    verify_operand_resize(&c->in[1], 1, (const int64_t[]){weights_before(c, &s, 1)});
    for (int i = 2; i < c->n_in; i++) verify_operand_resize(&c->in[i], 3, i == 2 && c->n_in == 6 ? x : state);
    return true;
}

/* ---- the call ---- */

enum { MOST_WEIGHTS = 30 };

/* Takes the weights apart. Their number. */
static int cut(const struct verify_case *c, const struct sizes *s, const struct wick_tensor *all,
               struct wick_tensor **weights) {
    int n = 0;
    int64_t at = 0, shape[2];
    for (int64_t ld = 0; ld < s->ld; ld++)
        for (int which = 0; which < 5; which++) {
            int64_t count = weight_of(c, s, ld / s->directions, which, shape);
            if (count == 0) continue;
            weights[n++] = wick_reshape(wick_narrow(all, 0, at, count), which == 2 || which == 3 ? 1 : 2, shape);
            at += count;
        }
    return n;
}

static bool call_backward(const struct verify_case *c, struct wick_recurrent_options *options, int n,
                          struct wick_tensor **weights, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_tensor *reserve[3] = {NULL}, *parts[MOST_WEIGHTS] = {NULL}, *third = NULL;
    struct wick_recurrent_backward_options places = {.weights = parts};
    options->reserve = reserve;
    *(c->i[OF_C] ? &places.last_c : &places.last_h) = in[5];
    *(c->i[OF_C] ? &places.c : &places.h) = &third;
    if (!wick_recurrent(in[0], n, weights, options)) {
        if (wick_error_status() == WICK_MEMORY) return false;
        wick_error_clear(); /* of what both refuse the gradient has to say why itself */
    }
    out[0] = wick_recurrent_backward(in[0], in[2], n, weights, options, &places);
    for (int i = 0; out[0] && i < n; i++) parts[i] = wick_reshape(parts[i], 1, (const int64_t[]){-1});
    out[1] = out[0] ? wick_cat(n, parts, 0) : NULL;
    if (out[1]) out[2] = wick_keep(third);
    return out[1] != NULL;
}

static bool recurrent_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    const bool backward = c->op == WICK_OP_recurrent_backward;
    struct sizes s = sizes_of(c);
    struct wick_tensor *weights[MOST_WEIGHTS] = {NULL};
    struct wick_recurrent_options options = {.mode = (enum wick_recurrent_mode)c->i[MODE],
                                             .hidden = s.hidden,
                                             .projection = c->i[PROJECTION],
                                             .layers = (int)c->i[LAYERS],
                                             .bidirectional = c->i[TWO_WAYS],
                                             .batch_first = c->i[BATCH_FIRST],
                                             .no_bias = c->i[NO_BIAS],
                                             .lengths = c->i[RAGGED] ? c->i + LENGTHS : NULL,
                                             .n_lengths = c->i[RAGGED] ? s.batch : 0,
                                             .h = in[backward ? 3 : 2],
                                             .c = in[backward ? 4 : 3]};
    wick_scope_begin();
    int n = cut(c, &s, in[1], weights);
    bool good;
    if (backward) {
        good = call_backward(c, &options, n, weights, in, out);
        if (good) wick_keep(out[1]);
    } else {
        options.last_h = &out[1];
        if (c->i[MODE] == WICK_LSTM) options.last_c = &out[2];
        out[0] = wick_recurrent(in[0], n, weights, &options);
        good = out[0] != NULL;
        for (int i = 1; good && i < c->n_out; i++) wick_keep(out[i]);
    }
    wick_scope_end(good ? out[0] : NULL);
    if (!good) memset(out, 0, sizeof *out * VERIFY_MAX_OUTPUTS);
    return good;
}

/* ---- the reference ---- */

struct dual {
    long double v, d;
};

static struct dual sum(struct dual a, struct dual b) { return (struct dual){a.v + b.v, a.d + b.d}; }
static struct dual product(struct dual a, struct dual b) { return (struct dual){a.v * b.v, a.d * b.v + a.v * b.d}; }
static struct dual rest(struct dual a) { return (struct dual){1 - a.v, -a.d}; }

enum { MOST_CURVES = 5 }; /* of an element in a step: those of an LSTM */

/* The network with all its numbers. */
struct net {
    const struct verify_case *c;
    struct sizes s;
    struct dual *x, *w, *h, *c0;        /* operands; h and c0 are 0 where they are left out */
    struct dual *y, *last_h, *last_c;   /* results */
    struct dual *seq[2], *state, *cell; /* room: a sequence, twice, [T, max(I, DP)]; [H] of each */
    struct dual *gates;                 /* [g,H], twice: of the input and of the state */
    long double most;                   /* the largest sum of magnitudes */
    /* Values and slopes of the curves in the order in which a run takes them. The first run keeps them; the others
     * differ in the derivative of their numbers alone, and have the same. NULL when there is one run. */
    struct dual *curve;
    int64_t taken, kept;
};

/* The next curve's value and slope: tanh, or the logistic function where `half`. */
static struct dual curve(struct net *n, long double a, bool half) {
    int64_t at = n->taken++;
    if (n->curve && at < n->kept) return n->curve[at];
    long double c = coshl(half ? a / 2 : a);
    struct dual y = half ? (struct dual){1 / (1 + expl(-a)), 0.25L / c / c} : (struct dual){tanhl(a), 1 / c / c};
    if (n->curve) n->curve[at] = y, n->kept = at + 1;
    return y;
}
static struct dual along(struct dual curve, long double d) { return (struct dual){curve.v, curve.d * d}; }
static struct dual bent(struct net *n, struct dual a) { return along(curve(n, a.v, false), a.d); }
static struct dual gate(struct net *n, struct dual a) { return along(curve(n, a.v, true), a.d); }

/* bias + sum of row `row` of a weight with x. */
static struct dual dot(struct net *n, const struct dual *weight, const struct dual *bias, const struct dual *x,
                       int64_t row, int64_t columns) {
    struct dual a = bias ? bias[row] : (struct dual){0, 0};
    long double size = fabsl(a.v);
    for (int64_t k = 0; k < columns; k++) {
        struct dual p = product(weight[row * columns + k], x[k]);
        a = sum(a, p);
        size += fabsl(p.v);
    }
    if (size > n->most) n->most = size;
    return a;
}

/* Element j of the new state, before a projection; of the cell in n->cell. */
static struct dual cell(struct net *n, int64_t j, const struct dual *h) {
    const int64_t hidden = n->s.hidden;
    const struct dual *input = n->gates, *state = n->gates + n->s.gates * hidden;
    struct dual a[4], reset;
    for (int64_t k = 0; k < n->s.gates; k++) a[k] = sum(input[k * hidden + j], state[k * hidden + j]);
    switch ((int)n->c->i[MODE]) {
    case WICK_RNN_TANH: return bent(n, a[0]);
    case WICK_RNN_RELU: return a[0].v > 0 ? a[0] : (struct dual){0, 0};
    case WICK_LSTM:
        for (int k = 0; k < 4; k++) a[k] = k == 2 ? bent(n, a[k]) : gate(n, a[k]);
        n->cell[j] = sum(product(a[1], n->cell[j]), product(a[0], a[2]));
        return product(a[3], bent(n, n->cell[j]));
    default:
        reset = gate(n, a[0]), a[1] = gate(n, a[1]);
        a[2] = bent(n, sum(input[2 * hidden + j], product(reset, state[2 * hidden + j])));
        return sum(product(rest(a[1]), a[2]), product(a[1], h[j]));
    }
}

/* One step of a direction: n->state becomes the next. */
static void step(struct net *n, int64_t ld, const struct dual *x, int64_t columns, struct dual *next) {
    const struct sizes *s = &n->s;
    const struct dual *w[5], *at = n->w + weights_before(n->c, s, ld);
    int64_t shape[2], rows = s->gates * s->hidden;
    for (int which = 0; which < 5; which++) {
        int64_t count = weight_of(n->c, s, ld / s->directions, which, shape);
        w[which] = count ? at : NULL;
        at += count;
    }
    for (int64_t i = 0; i < rows; i++) n->gates[i] = dot(n, w[0], w[2], x, i, columns);
    for (int64_t i = 0; i < rows; i++) n->gates[rows + i] = dot(n, w[1], w[3], n->state, i, s->state);
    for (int64_t j = 0; j < s->hidden; j++) next[j] = cell(n, j, n->state);
    for (int64_t j = 0; j < s->state; j++) n->state[j] = w[4] ? dot(n, w[4], NULL, next, j, s->hidden) : next[j];
}

/* A direction of a layer over sequence b, from seq[0] to seq[1]. */
static void direction(struct net *n, int64_t b, int64_t ld, int64_t length, struct dual *next) {
    const struct sizes *s = &n->s;
    const int64_t d = ld % s->directions, columns = ld < s->directions ? s->inputs : s->directions * s->state;
    const int64_t at = ld * s->batch + b;
    memcpy(n->state, n->h + at * s->state, sizeof *n->state * (size_t)s->state);
    memcpy(n->cell, n->c0 + at * s->hidden, sizeof *n->cell * (size_t)s->hidden);
    for (int64_t i = 0; i < length; i++) {
        int64_t t = d ? length - 1 - i : i;
        step(n, ld, n->seq[0] + t * columns, columns, next);
        memcpy(n->seq[1] + (t * s->directions + d) * s->state, n->state, sizeof *n->state * (size_t)s->state);
    }
    memcpy(n->last_h + at * s->state, n->state, sizeof *n->state * (size_t)s->state);
    memcpy(n->last_c + at * s->hidden, n->cell, sizeof *n->cell * (size_t)s->hidden);
}

static int64_t row_of(const struct net *n, int64_t t, int64_t b) {
    return n->c->i[BATCH_FIRST] ? b * n->s.steps + t : t * n->s.batch + b;
}

static void run(struct net *n, struct dual *next) {
    const struct sizes *s = &n->s;
    const int64_t columns = s->directions * s->state;
    n->taken = 0;
    for (int64_t b = 0; b < s->batch; b++) {
        int64_t length = n->c->i[RAGGED] ? n->c->i[LENGTHS + b] : s->steps;
        for (int64_t t = 0; t < length; t++)
            memcpy(n->seq[0] + t * s->inputs, n->x + row_of(n, t, b) * s->inputs, sizeof *n->x * (size_t)s->inputs);
        for (int64_t ld = 0; ld < s->ld; ld++) {
            direction(n, b, ld, length, next);
            if (ld % s->directions == s->directions - 1)
                memcpy(n->seq[0], n->seq[1], sizeof *n->x * (size_t)(length * columns));
        }
        for (int64_t t = 0; t < length; t++)
            memcpy(n->y + row_of(n, t, b) * columns, n->seq[1] + t * columns, sizeof *n->y * (size_t)columns);
    }
}

static struct dual *copied(struct dual **room, const struct verify_array *from, int64_t count) {
    struct dual *to = *room;
    *room += count;
    for (int64_t i = 0; i < count; i++) to[i] = (struct dual){from && from->data ? from->data[i] : 0, 0};
    return to;
}

/* Puts all operands and results into one block, which is returned. */
static struct dual *net_new(struct net *n, const struct verify_case *c, const struct verify_array *in) {
    const bool backward = c->op == WICK_OP_recurrent_backward;
    *n = (struct net){.c = c, .s = sizes_of(c)};
    const struct sizes *s = &n->s;
    int64_t columns = s->directions * s->state, wide = columns > s->inputs ? columns : s->inputs;
    int64_t h = s->ld * s->batch * s->state, cells = s->ld * s->batch * s->hidden, y = s->steps * s->batch * columns;
    int64_t curves = backward ? MOST_CURVES * s->steps * cells : 0;
    int64_t total = in[0].count + in[1].count + 2 * h + 2 * cells + y + 2 * s->steps * wide +
                    (3 + 2 * s->gates) * s->hidden + curves;
    struct dual *block = calloc((size_t)total + 1, sizeof *block), *room = block;
    if (!block) return NULL;
    n->x = copied(&room, &in[0], in[0].count);
    n->w = copied(&room, &in[1], in[1].count);
    n->h = copied(&room, &in[backward ? 3 : 2], h);
    n->c0 = copied(&room, &in[backward ? 4 : 3], cells);
    n->y = copied(&room, NULL, y);
    n->last_h = copied(&room, NULL, h);
    n->last_c = copied(&room, NULL, cells);
    for (int i = 0; i < 2; i++) n->seq[i] = copied(&room, NULL, s->steps * wide);
    n->state = copied(&room, NULL, s->hidden);
    n->cell = copied(&room, NULL, s->hidden);
    n->gates = copied(&room, NULL, 2 * s->gates * s->hidden);
    n->curve = backward ? room : NULL;
    return block;
}

static void set_scale(struct verify_array *out, const struct verify_case *c, double most, double sums) {
    double ratio = c->dtype == WICK_F16 ? 0x1p13 : c->dtype == WICK_BF16 ? 0x1p16 : 0x1p20;
    double wide = out->dtype == c->dtype ? 1 : ratio;
    for (int64_t i = 0; i < out->count; i++) out->scale[i] = verify_scale_recurrent(most, sums, wide);
}

static bool result(const struct net *n, struct verify_array *out, int i, const int64_t *shape,
                   const struct dual *from) {
    const struct verify_case *c = n->c;
    bool wide = i == 2 && c->dtype != WICK_F64;
    if (!verify_array_new(&out[i], wide ? WICK_F32 : c->dtype, 3, shape, true)) return false;
    for (int64_t k = 0; k < out[i].count; k++) out[i].data[k] = (double)from[k].v;
    set_scale(&out[i], c, 1, (double)n->most);
    return true;
}

static bool forward(struct net *n, struct dual *next, struct verify_array *out) {
    const struct sizes *s = &n->s;
    const int64_t *x = n->c->in[0].shape, y[3] = {x[0], x[1], s->directions * s->state};
    const int64_t h[3] = {s->ld, s->batch, s->state}, cells[3] = {s->ld, s->batch, s->hidden};
    run(n, next);
    return result(n, out, 0, y, n->y) && result(n, out, 1, h, n->last_h) &&
           (n->c->n_out < 3 || result(n, out, 2, cells, n->last_c));
}

/* Of the sum of the results times their gradients, by the number at `by`. */
static double slope(struct net *n, const struct verify_array *in, struct dual *by, struct dual *next) {
    const struct dual *last = n->c->i[OF_C] ? n->last_c : n->last_h;
    long double total = 0;
    by->d = 1;
    run(n, next);
    by->d = 0;
    for (int64_t i = 0; i < in[2].count; i++) total += in[2].data[i] * n->y[i].d;
    for (int64_t i = 0; i < in[5].count; i++) total += in[5].data[i] * last[i].d;
    return (double)total;
}

static bool backward(struct net *n, struct dual *next, const struct verify_array *in, struct verify_array *out) {
    const struct verify_case *c = n->c;
    const bool wide = c->i[OF_C] && c->dtype != WICK_F64;
    const struct verify_operand *of[3] = {&c->in[0], &c->in[1], &c->in[5]};
    struct dual *by[3] = {n->x, n->w, c->i[OF_C] ? n->c0 : n->h};
    for (int k = 0; k < 3; k++) {
        double most = 0;
        if (!verify_array_new(&out[k], k == 2 && wide ? WICK_F32 : c->dtype, of[k]->rank, of[k]->shape, true))
            return false;
        for (int64_t i = 0; i < out[k].count; i++) {
            out[k].data[i] = slope(n, in, by[k] + i, next);
            most = fmax(most, fabs(out[k].data[i]));
        }
        set_scale(&out[k], c, most, (double)n->most);
    }
    return true;
}

static bool recurrent_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    struct net n;
    struct dual *block = net_new(&n, c, in), *next = calloc((size_t)c->i[HIDDEN] + 1, sizeof *next);
    bool good = block && next && (c->op == WICK_OP_recurrent ? forward(&n, next, out) : backward(&n, next, in, out));
    free(block);
    free(next);
    return good;
}

const struct verify_family verify_composed_recurrent = {.name = "composed_recurrent",
                                                        .cases = recurrent_cases,
                                                        .make = recurrent_make,
                                                        .bench = recurrent_bench,
                                                        .call = recurrent_call,
                                                        .reference = recurrent_reference};
