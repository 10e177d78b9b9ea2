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
};

static int64_t width(const struct wick__dnn_recurrent *l) { return wick__max(l->inputs, l->directions * l->state); }

int64_t wick__recurrent_room(const struct wick__dnn_recurrent *l) {
    return 2 * l->steps * width(l) + 2 * WICK__RECURRENT_GATES * l->hidden + l->hidden;
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

/* Element j of the state, before a projection. */
static double cell(const struct way *w, int64_t j) {
    const int64_t n = w->l->hidden;
    const double *a = w->a, *b = w->b, first = a[j] + b[j];
    if (w->l->mode == WICK_RNN_TANH) return tanh(first);
    if (w->l->mode == WICK_RNN_RELU) return first > 0 || isnan(first) ? first : 0;
    if (w->l->mode == WICK_LSTM) {
        w->c[j] = gate(a[n + j] + b[n + j]) * w->c[j] + gate(first) * tanh(a[2 * n + j] + b[2 * n + j]);
        return gate(a[3 * n + j] + b[3 * n + j]) * tanh(w->c[j]);
    }
    const double z = gate(a[n + j] + b[n + j]);
    return (1 - z) * tanh(a[2 * n + j] + gate(first) * b[2 * n + j]) + z * w->h[j];
}

static void step(struct way *w, int64_t t) {
    const struct wick__dnn_recurrent *l = w->l;
    const int64_t rows = wick__recurrent_gates(l->mode) * l->hidden;
    for (int64_t i = 0; i < rows; i++) {
        w->a[i] = dot(w, w->weights[0], w->weights[2], w->from + t * w->wide, i, w->inputs);
        w->b[i] = dot(w, w->weights[1], w->weights[3], w->h, i, l->state);
    }
    for (int64_t j = 0; j < l->hidden; j++) w->next[j] = cell(w, j);
    for (int64_t j = 0; j < l->state; j++)
        w->h[j] = w->weights[4] ? dot(w, w->weights[4], NULL, w->next, j, l->hidden) : w->next[j];
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
