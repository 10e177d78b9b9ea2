/* What recurrent layers are by their definition, in f64, for checks of libraries. */
#include "gpu/routes/recurrent.h"

#include "core/checked.h"

#include <math.h>
#include <string.h>

/* One direction of a layer over one sequence; the lines of a sequence, before and after it, are `wide` apart. */
struct way {
    const struct wick__dnn_recurrent *l;
    struct wick__recurrent_known *known;
    const double *weights[WICK__RECURRENT_PARTS]; /* Wi, Wh, bi, bh, Wr */
    int64_t inputs, wide;
    double *from, *to, *h, *c, *a, *b, *next; /* a and b: the products with x and with h, [gH] */
    double *kept;                             /* what its steps leave, each KEPT H elements */
};

/* What a step leaves for the gradient, each some times H elements: the state and c behind it, the gates i f g o, or r z
 * n and the state's part of n; then the gradients of the products a and b. */
enum { KEPT_H, KEPT_C, KEPT_GATES, KEPT_A = KEPT_GATES + 4, KEPT_B = KEPT_A + 4, KEPT = KEPT_B + 4 };

static int64_t width(const struct wick__dnn_recurrent *l) { return wick__max(l->inputs, l->directions * l->state); }

/* Before what is kept: two lines of a sequence, products and a state. */
static int64_t passing(const struct wick__dnn_recurrent *l) {
    return 2 * l->steps * width(l) + 2 * WICK__RECURRENT_GATES * l->hidden + l->hidden;
}

int64_t wick__recurrent_room(const struct wick__dnn_recurrent *l) {
    return passing(l) + l->layers * l->directions * l->batch * l->steps * KEPT * l->hidden;
}

static double *kept_of(const struct wick__dnn_recurrent *l, const struct wick__recurrent_known *known, int ld,
                       int64_t b, int64_t t) {
    return known->room + passing(l) + ((ld * l->batch + b) * l->steps + t) * KEPT * l->hidden;
}

void wick__recurrent_weight_size(const struct wick__dnn_recurrent *l, int i, int64_t *rows, int64_t *columns) {
    const int per = wick__recurrent_per(l), ld = i / per, which = i % per;
    *rows = wick__recurrent_gates(l->mode) * l->hidden;
    *columns = which == 1 ? l->state : ld < l->directions ? l->inputs : l->directions * l->state;
    if (which < 2) return;
    *columns = 1;
    if (l->state == l->hidden || which < per - 1) return;
    *rows = l->state;
    *columns = l->hidden;
}

/* The row of step t of sequence b. */
static int64_t row(const struct wick__dnn_recurrent *l, int64_t t, int64_t b) {
    return l->batch_first ? b * l->steps + t : t * l->batch + b;
}

static double dot(struct way *w, const double *weight, const double *bias, const double *x, int64_t i, int64_t n) {
    double sum = bias ? bias[i] : 0, size = fabs(sum);
    for (int64_t k = 0; k < n; k++) {
        sum += weight[i * n + k] * x[k];
        size += fabs(weight[i * n + k] * x[k]);
    }
    if (size > w->known->most) w->known->most = size;
    return sum;
}

static double gate(double a) { return 1 / (1 + exp(-a)); }

/* Element j of the state, before a projection; its gates are `n` apart. */
static double cell(const struct way *w, int64_t j, double *gates) {
    const int64_t n = w->l->hidden;
    const double *a = w->a, *b = w->b, first = a[j] + b[j];
    if (w->l->mode == WICK_RNN_TANH) return tanh(first);
    if (w->l->mode == WICK_RNN_RELU) return first > 0 || isnan(first) ? first : 0;
    gates[0] = gate(first);
    gates[n] = gate(a[n + j] + b[n + j]);
    if (w->l->mode == WICK_LSTM) {
        gates[2 * n] = tanh(a[2 * n + j] + b[2 * n + j]);
        gates[3 * n] = gate(a[3 * n + j] + b[3 * n + j]);
        w->c[j] = gates[n] * w->c[j] + gates[0] * gates[2 * n];
        return gates[3 * n] * tanh(w->c[j]);
    }
    gates[2 * n] = tanh(a[2 * n + j] + gates[0] * b[2 * n + j]);
    gates[3 * n] = b[2 * n + j];
    return (1 - gates[n]) * gates[2 * n] + gates[n] * w->h[j];
}

static void step(struct way *w, int64_t t) {
    const struct wick__dnn_recurrent *l = w->l;
    const int64_t rows = wick__recurrent_gates(l->mode) * l->hidden;
    for (int64_t i = 0; i < rows; i++) {
        w->a[i] = dot(w, w->weights[0], w->weights[2], w->from + t * w->wide, i, w->inputs);
        w->b[i] = dot(w, w->weights[1], w->weights[3], w->h, i, l->state);
    }
    double *kept = w->kept + t * KEPT * l->hidden;
    for (int64_t j = 0; j < l->hidden; j++) w->next[j] = cell(w, j, kept + KEPT_GATES * l->hidden + j);
    for (int64_t j = 0; j < l->state; j++)
        w->h[j] = w->weights[4] ? dot(w, w->weights[4], NULL, w->next, j, l->hidden) : w->next[j];
    memcpy(kept + KEPT_H * l->hidden, w->h, (size_t)l->state * sizeof *kept);
    memcpy(kept + KEPT_C * l->hidden, w->c, (size_t)l->hidden * sizeof *kept);
}

static void direction(struct way *w, int64_t b, int ld) {
    const struct wick__dnn_recurrent *l = w->l;
    const int per = wick__recurrent_per(l), d = ld % l->directions;
    const int64_t length = l->lengths ? l->lengths[b] : l->steps, at = ld * l->batch + b;
    const double *const *weights = w->known->weights + ld * per;
    w->weights[0] = weights[0];
    w->weights[1] = weights[1];
    w->weights[2] = l->biased ? weights[2] : NULL;
    w->weights[3] = l->biased ? weights[3] : NULL;
    w->weights[4] = l->state != l->hidden ? weights[per - 1] : NULL;
    w->inputs = ld < l->directions ? l->inputs : l->directions * l->state;
    w->h = w->known->last_h + at * l->state;
    w->c = w->known->last_c + at * l->hidden;
    w->kept = kept_of(l, w->known, ld, b, 0);
    for (int64_t j = 0; j < l->state; j++) w->h[j] = w->known->h ? w->known->h[at * l->state + j] : 0;
    for (int64_t j = 0; j < l->hidden; j++) w->c[j] = w->known->c ? w->known->c[at * l->hidden + j] : 0;
    for (int64_t i = 0; i < length; i++) {
        const int64_t t = d ? length - 1 - i : i;
        step(w, t);
        memcpy(w->to + t * w->wide + d * l->state, w->h, (size_t)l->state * sizeof *w->h);
    }
}

void wick__recurrent_expect(const struct wick__dnn_recurrent *l, struct wick__recurrent_known *known) {
    const int64_t wide = width(l), columns = l->directions * l->state, gates = WICK__RECURRENT_GATES * l->hidden;
    struct way w = {.l = l, .known = known, .wide = wide, .from = known->room};
    w.to = w.from + l->steps * wide;
    w.a = w.to + l->steps * wide;
    w.b = w.a + gates;
    w.next = w.b + gates;
    for (int64_t b = 0; b < l->batch; b++) {
        const int64_t length = l->lengths ? l->lengths[b] : l->steps;
        for (int64_t t = 0; t < length; t++)
            memcpy(w.from + t * wide, known->x + row(l, t, b) * l->inputs, (size_t)l->inputs * sizeof(double));
        for (int ld = 0; ld < l->layers * l->directions; ld++) {
            direction(&w, b, ld);
            if (ld % l->directions == l->directions - 1) memcpy(w.from, w.to, (size_t)(length * wide) * sizeof(double));
        }
        for (int64_t t = 0; t < length; t++)
            memcpy(known->y + row(l, t, b) * columns, w.from + t * wide, (size_t)columns * sizeof(double));
    }
}

/* ---- gradients ---- */

/* A step of a direction on its way back; `weight` is that of the state. */
struct back {
    const struct wick__dnn_recurrent *l;
    struct wick__recurrent_known *known;
    const double *weight;
    int ld;
    int64_t b;
    double *kept;
    const double *h, *c; /* before the step */
};

/* A sum of products that came to `sum`, of magnitudes `size`. */
static double summed(struct wick__recurrent_known *known, double sum, double size) {
    if (size > known->most) known->most = size;
    return sum;
}

/* Column k of a weight, by the gradients of its product. */
static double turned(struct wick__recurrent_known *known, const double *weight, const double *slopes, int64_t rows,
                     int64_t columns, int64_t k) {
    double sum = 0, size = 0;
    for (int64_t i = 0; i < rows; i++) {
        sum += weight[i * columns + k] * slopes[i];
        size += fabs(weight[i * columns + k] * slopes[i]);
    }
    return summed(known, sum, size);
}

/* The gradient of element k of a layer's input, by those of all directions' products. */
static double of_input(const struct wick__dnn_recurrent *l, struct wick__recurrent_known *known, int layer, int64_t b,
                       int64_t t, int64_t k) {
    const int64_t rows = wick__recurrent_gates(l->mode) * l->hidden;
    const int64_t columns = layer ? l->directions * l->state : l->inputs;
    double sum = 0;
    for (int d = 0; d < l->directions; d++) {
        const int ld = layer * l->directions + d;
        const double *weight = known->weights[ld * wick__recurrent_per(l)];
        sum += turned(known, weight, kept_of(l, known, ld, b, t) + KEPT_A * l->hidden, rows, columns, k);
    }
    return sum;
}

/* Element k of a layer's input. */
static double input_of(const struct wick__dnn_recurrent *l, const struct wick__recurrent_known *known, int layer,
                       int64_t b, int64_t t, int64_t k) {
    if (layer == 0) return known->x[row(l, t, b) * l->inputs + k];
    const int ld = (layer - 1) * l->directions + (int)(k / l->state);
    return kept_of(l, known, ld, b, t)[KEPT_H * l->hidden + k % l->state];
}

/* The gradients of the products for element j, by `slope`, that of h', and *carry, that of c'; *carry becomes that of
 * c, or what goes to h beside the product. */
static void cell_back(const struct back *w, int64_t j, double slope, double *carry) {
    const int64_t n = w->l->hidden;
    const double *gates = w->kept + KEPT_GATES * n + j, h = w->kept[KEPT_H * n + j], tc = tanh(w->kept[KEPT_C * n + j]);
    double *a = w->kept + KEPT_A * n + j, *b = w->kept + KEPT_B * n + j;
    if (w->l->mode == WICK_RNN_TANH) a[0] = slope * (1 - h * h);
    if (w->l->mode == WICK_RNN_RELU) a[0] = h > 0 ? slope : 0;
    if (w->l->mode == WICK_LSTM) {
        const double i = gates[0], f = gates[n], g = gates[2 * n], o = gates[3 * n];
        const double of_c = *carry + slope * o * (1 - tc * tc);
        a[0] = of_c * g * i * (1 - i);
        a[n] = of_c * w->c[j] * f * (1 - f);
        a[2 * n] = of_c * i * (1 - g * g);
        a[3 * n] = slope * tc * o * (1 - o);
        *carry = of_c * f;
    }
    if (w->l->mode == WICK_GRU) {
        const double r = gates[0], z = gates[n], g = gates[2 * n], part = gates[3 * n];
        a[2 * n] = slope * (1 - z) * (1 - g * g);
        a[n] = slope * (w->h[j] - g) * z * (1 - z);
        a[0] = a[2 * n] * part * r * (1 - r);
        *carry = slope * z;
    }
    for (int gate = 0; gate < wick__recurrent_gates(w->l->mode); gate++) b[gate * n] = a[gate * n];
    if (w->l->mode == WICK_GRU) b[2 * n] *= gates[0];
}

/* All steps of a direction of a sequence, from its last. `slope` and `carry` are the gradients of h' and c' that come
 * from the step behind it, and in the end those of h and c. */
static void direction_back(struct back *w, double *slope, double *carry, const double *zeros) {
    const struct wick__dnn_recurrent *l = w->l;
    const struct wick__recurrent_known *known = w->known;
    const int64_t n = l->hidden, rows = wick__recurrent_gates(l->mode) * n, at = (w->ld * l->batch + w->b) * n;
    const int layer = w->ld / l->directions, d = w->ld % l->directions;
    const bool lstm = l->mode == WICK_LSTM;
    for (int64_t j = 0; j < n; j++) {
        slope[j] = known->slopes.last_h ? known->slopes.last_h[at + j] : 0;
        carry[j] = lstm && known->slopes.last_c ? known->slopes.last_c[at + j] : 0;
    }
    for (int64_t i = l->steps - 1; i >= 0; i--) {
        const int64_t t = d ? l->steps - 1 - i : i, before = d ? t + 1 : t - 1;
        const double *kept_before = i ? kept_of(l, known, w->ld, w->b, before) : NULL;
        w->kept = kept_of(l, known, w->ld, w->b, t);
        w->h = i ? kept_before + KEPT_H * n : known->h ? known->h + at : zeros;
        w->c = i ? kept_before + KEPT_C * n : known->c ? known->c + at : zeros;
        for (int64_t j = 0; j < n; j++) {
            const double of_y = layer == l->layers - 1 ? known->slopes.y[(row(l, t, w->b) * l->directions + d) * n + j]
                                                       : of_input(l, w->known, layer + 1, w->b, t, d * n + j);
            cell_back(w, j, slope[j] + of_y, &carry[j]);
        }
        for (int64_t k = 0; k < n; k++)
            slope[k] = turned(w->known, w->weight, w->kept + KEPT_B * n, rows, n, k) + (lstm ? 0 : carry[k]);
        if (!lstm) memset(carry, 0, (size_t)n * sizeof *carry);
    }
}

/* Element k of row i of weight `which` of a direction, a sum over all steps and sequences. */
static double of_weight(const struct wick__dnn_recurrent *l, struct wick__recurrent_known *known, int ld, int which,
                        int64_t i, int64_t k) {
    const int64_t n = l->hidden, at = which % 2 ? KEPT_B : KEPT_A;
    const int d = ld % l->directions;
    double sum = 0, size = 0;
    for (int64_t b = 0; b < l->batch; b++)
        for (int64_t t = 0; t < l->steps; t++) {
            const int64_t before = d ? t + 1 : t - 1;
            double by = 1; /* of a bias */
            if (which == 0) by = input_of(l, known, ld / l->directions, b, t, k);
            if (which == 1 && before >= 0 && before < l->steps)
                by = kept_of(l, known, ld, b, before)[KEPT_H * n + k];
            else if (which == 1)
                by = known->h ? known->h[(ld * l->batch + b) * n + k] : 0;
            const double term = kept_of(l, known, ld, b, t)[at * n + i] * by;
            sum += term;
            size += fabs(term);
        }
    return summed(known, sum, size);
}

void wick__recurrent_expect_backward(const struct wick__dnn_recurrent *l, struct wick__recurrent_known *known) {
    const int64_t n = l->hidden;
    const int per = wick__recurrent_per(l);
    double *slope = known->room, *carry = slope + n, *zeros = carry + n; /* h and c are kept */
    memset(zeros, 0, (size_t)n * sizeof *zeros);
    for (int ld = l->layers * l->directions - 1; ld >= 0; ld--)
        for (int64_t b = 0; b < l->batch; b++) {
            struct back w = {.l = l, .known = known, .weight = known->weights[ld * per + 1], .ld = ld, .b = b};
            direction_back(&w, slope, carry, zeros);
            memcpy(known->slopes.h + (ld * l->batch + b) * n, slope, (size_t)n * sizeof *slope);
            if (known->slopes.c) memcpy(known->slopes.c + (ld * l->batch + b) * n, carry, (size_t)n * sizeof *carry);
        }
    for (int64_t b = 0; b < l->batch; b++)
        for (int64_t t = 0; t < l->steps; t++)
            for (int64_t k = 0; k < l->inputs; k++)
                known->slopes.x[row(l, t, b) * l->inputs + k] = of_input(l, known, 0, b, t, k);
    for (int w = 0; w < l->layers * l->directions * per; w++) {
        int64_t rows, columns;
        wick__recurrent_weight_size(l, w, &rows, &columns);
        for (int64_t i = 0; i < rows * columns; i++)
            known->slopes.weights[w][i] = of_weight(l, known, w / per, w % per, i / columns, i % columns);
    }
}
