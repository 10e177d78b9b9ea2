/* Recurrent layers and their gradients on the stand-in's memory, for its cuDNN and MIOpen: plain loops, a sequence and
 * a direction after the other, all in f64. A library that is wrong forgets the last term of each sum, one that is rough
 * keeps an LSTM's c in 16 bits, or f32. */
#include "blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is(const char *mode) { return strcmp(standin_settings.blas, mode) == 0; }

static double flushed(const struct standin_recurrent *r, double value) {
    return r->dtype == STANDIN_F16 && is("flush") && fabs(value) < 0x1p-14 ? 0 : value;
}
static double get(const struct standin_recurrent *r, const void *p, long i) {
    return p ? flushed(r, standin_get(r->dtype, p, i)) : 0;
}
static void put(const struct standin_recurrent *r, void *p, long i, double value) {
    if (p) standin_put(r->dtype, p, i, flushed(r, value));
}

static long rows_of(const struct standin_recurrent *r, int part) { return part == 2 * r->gates ? r->state : r->hidden; }
static long columns_of(const struct standin_recurrent *r, int ld, int part) {
    if (part == 2 * r->gates) return r->hidden;
    return part >= r->gates ? r->state : ld < r->directions ? r->inputs : r->directions * r->state;
}

/* Where matrix or bias `part` of a direction begins in the space, in elements; -1 for one there is not. All matrices
 * come first, each after a gap. */
long standin_recurrent_at(const struct standin_recurrent *r, int ld, int part, bool bias) {
    const int parts = 2 * r->gates + (r->state != r->hidden);
    long at = r->gap;
    if (part < 0 || part >= parts || (bias && (!r->biased || part >= 2 * r->gates))) return -1;
    for (int kind = 0; kind < 2; kind++)
        for (int l = 0; l < r->layers * r->directions; l++)
            for (int p = 0; p < parts; p++) {
                if (kind == bias && l == ld && p == part) return at;
                if (kind == 0) at += rows_of(r, p) * columns_of(r, l, p) + r->gap;
                if (kind == 1 && r->biased && p < 2 * r->gates) at += r->hidden + r->gap;
            }
    return at; /* not come to */
}

/* Elements of the space. */
long standin_recurrent_space(const struct standin_recurrent *r) {
    const int last = r->layers * r->directions - 1, parts = 2 * r->gates + (r->state != r->hidden);
    if (r->biased) return standin_recurrent_at(r, last, 2 * r->gates - 1, true) + r->hidden + r->gap;
    return standin_recurrent_at(r, last, parts - 1, false) + rows_of(r, parts - 1) * columns_of(r, last, parts - 1) +
           r->gap;
}

/* ---- a step ---- */

static double dot(const struct standin_recurrent *r, int ld, int part, long row, const double *x) {
    const long n = columns_of(r, ld, part), at = standin_recurrent_at(r, ld, part, false);
    const long bias = standin_recurrent_at(r, ld, part, true);
    double sum = bias >= 0 ? get(r, r->weights, bias + row) : 0;
    for (long k = 0; k < n - is("wrong"); k++) sum += get(r, r->weights, at + row * n + k) * x[k];
    return sum;
}

static double sigmoid(double a) { return 1 / (1 + exp(-a)); }

/* A c in fewer bits. */
static double rounded(const struct standin_recurrent *r, double c) {
    double unit;
    int exponent;
    if (!is("rough") || r->dtype == STANDIN_F64 || c == 0 || !isfinite(c)) return c;
    frexp(c, &exponent);
    unit = ldexp(1, exponent - (r->dtype == STANDIN_BF16 ? 8 : 11));
    return nearbyint(c / unit) * unit;
}

/* What a step leaves for the gradient, each some times `hidden` elements: the state, c, the gates i f g o, or r z n and
 * the state's part of n; and then the gradients of its products with x and with h. */
enum { KEPT_H, KEPT_C, KEPT_GATES, KEPT_A = KEPT_GATES + 4, KEPT_B = KEPT_A + 4, KEPT = KEPT_B + 4 };
static double *kept_of(const struct standin_recurrent *r, double *kept, int ld, long t) {
    return kept + (ld * r->steps + t) * KEPT * r->hidden;
}

/* `state` is h, c and room for the next h. */
static void step(const struct standin_recurrent *r, int ld, const double *x, double *state, double *left) {
    const long n = r->hidden;
    double *h = state, *c = h + n, *next = c + n;
    double a[4], b[4], *gates = left + KEPT_GATES * n;
    for (long j = 0; j < r->hidden; j++) {
        for (int gate = 0; gate < r->gates; gate++) {
            const int g = r->order[gate]; /* of the library's parts */
            a[gate] = dot(r, ld, g, j, x);
            b[gate] = dot(r, ld, r->gates + g, j, h);
        }
        if (r->gates == 1) {
            next[j] = a[0] + b[0];
            next[j] = !r->relu ? tanh(next[j]) : next[j] < 0 ? 0 : next[j];
        } else if (r->gates == 4) { /* i f g o */
            for (int g = 0; g < 4; g++) gates[g * n + j] = g == 2 ? tanh(a[g] + b[g]) : sigmoid(a[g] + b[g]);
            c[j] = rounded(r, gates[n + j] * c[j] + gates[j] * gates[2 * n + j]);
            next[j] = gates[3 * n + j] * tanh(c[j]);
        } else { /* r z n */
            for (int g = 0; g < 2; g++) gates[g * n + j] = sigmoid(a[g] + b[g]);
            gates[2 * n + j] = tanh(a[2] + gates[j] * b[2]);
            gates[3 * n + j] = b[2];
            next[j] = (1 - gates[n + j]) * gates[2 * n + j] + gates[n + j] * h[j];
        }
    }
    for (long j = 0; j < r->state; j++) h[j] = r->state == r->hidden ? next[j] : dot(r, ld, 2 * r->gates, j, next);
    memcpy(left + KEPT_H * n, h, (size_t)r->state * sizeof *h);
    memcpy(left + KEPT_C * n, c, (size_t)n * sizeof *c);
}

/* ---- sequences ---- */

static long row(const struct standin_recurrent *r, long t, long b) {
    return r->batch_first ? b * r->steps + t : t * r->batch + b;
}

/* The lines of a sequence, before and after a layer, are in `room`, as are h, c and what comes next. */
static void sequence(const struct standin_recurrent *r, long b, double *room, double *kept) {
    const long wide = r->inputs > r->directions * r->state ? r->inputs : r->directions * r->state;
    const long length = r->lengths[b];
    double *lines[2] = {room, room + r->steps * wide};
    double *h = lines[1] + r->steps * wide, *c = h + r->hidden; /* and room for the next h */
    for (long t = 0; t < length; t++)
        for (long k = 0; k < r->inputs; k++) lines[0][t * wide + k] = get(r, r->x, row(r, t, b) * r->inputs + k);
    for (int ld = 0; ld < r->layers * r->directions; ld++) {
        const int back = ld % r->directions;
        const long at = ld * r->batch + b;
        for (long j = 0; j < r->state; j++) h[j] = get(r, r->h, at * r->state + j);
        for (long j = 0; j < r->hidden; j++) c[j] = get(r, r->c, at * r->hidden + j);
        for (long i = 0; i < length; i++) {
            const long t = back ? length - 1 - i : i;
            step(r, ld, lines[0] + t * wide, h, kept_of(r, kept, ld, t));
            memcpy(lines[1] + t * wide + back * r->state, h, (size_t)r->state * sizeof *h);
        }
        if (r->result == 'y') {
            for (long j = 0; j < r->state; j++) put(r, r->last_h, at * r->state + j, h[j]);
            for (long j = 0; j < r->hidden; j++) put(r, r->last_c, at * r->hidden + j, c[j]);
        }
        if (back == r->directions - 1) memcpy(lines[0], lines[1], (size_t)(length * wide) * sizeof *h);
    }
    for (long t = 0; t < r->steps && r->result == 'y'; t++)
        for (long k = 0; k < r->directions * r->state; k++)
            put(r, r->y, row(r, t, b) * r->directions * r->state + k, t < length ? lines[0][t * wide + k] : 0);
}

/* ---- gradients ---- */

/* Those of column k of a direction's matrices, of the input or the state, by those of their products. */
static double turned(const struct standin_recurrent *r, int ld, bool of_state, const double *slopes, long k) {
    double sum = 0;
    for (int gate = 0; gate < r->gates; gate++) {
        const int part = r->order[gate] + (of_state ? r->gates : 0);
        const long at = standin_recurrent_at(r, ld, part, false), columns = columns_of(r, ld, part);
        for (long j = 0; j < r->hidden; j++)
            sum += get(r, r->weights, at + j * columns + k) * slopes[gate * r->hidden + j];
    }
    return sum;
}

/* That of element k of a layer's input. */
static double of_input(const struct standin_recurrent *r, double *kept, int layer, long t, long k) {
    double sum = 0;
    for (int ld = layer * r->directions; ld < (layer + 1) * r->directions; ld++)
        sum += turned(r, ld, false, kept_of(r, kept, ld, t) + KEPT_A * r->hidden, k);
    return sum;
}

/* Those of the products for element j, by d, that of h'; h and c are before the step, *carry that of c' and then of c,
 * or what goes to h beside the product. */
static void cell_back(const struct standin_recurrent *r, double *left, double h, double c, double d, double *carry) {
    const long n = r->hidden;
    const double *g = left + KEPT_GATES * n, now = left[KEPT_H * n], t = tanh(left[KEPT_C * n]);
    double *a = left + KEPT_A * n, *b = left + KEPT_B * n;
    if (r->gates == 1) a[0] = r->relu ? (now > 0 ? d : 0) : d * (1 - now * now);
    if (r->gates == 4) {
        const double of_c = *carry + d * g[3 * n] * (1 - t * t);
        a[0] = of_c * g[2 * n] * g[0] * (1 - g[0]);
        a[n] = of_c * c * g[n] * (1 - g[n]);
        a[2 * n] = of_c * g[0] * (1 - g[2 * n] * g[2 * n]);
        a[3 * n] = d * t * g[3 * n] * (1 - g[3 * n]);
        *carry = of_c * g[n];
    }
    if (r->gates == 3) {
        a[2 * n] = d * (1 - g[n]) * (1 - g[2 * n] * g[2 * n]);
        a[n] = d * (h - g[2 * n]) * g[n] * (1 - g[n]);
        a[0] = a[2 * n] * g[3 * n] * g[0] * (1 - g[0]);
        *carry = d * g[n];
    }
    for (int gate = 0; gate < r->gates; gate++) b[gate * n] = a[gate * n] * (r->gates == 3 && gate == 2 ? g[0] : 1);
}

/* A step of a sequence. */
struct place {
    int ld;
    long t, b;
};

/* Adds a step's part of the gradients of a direction's weights; h is before the step. */
static void add_weights(const struct standin_recurrent *r, struct place at_step, double *kept, const double *h,
                        double *weights) {
    const int ld = at_step.ld;
    const long t = at_step.t, b = at_step.b;
    const double *left = kept_of(r, kept, ld, t);
    const int layer = ld / r->directions;
    for (int part = 0; part < 2 * r->gates; part++) {
        const bool of_state = part >= r->gates;
        int gate = 0;
        while (r->order[gate] != part % r->gates) gate++;
        const double *slopes = left + ((of_state ? KEPT_B : KEPT_A) + gate) * r->hidden;
        const long at = standin_recurrent_at(r, ld, part, false), bias = standin_recurrent_at(r, ld, part, true);
        const long columns = columns_of(r, ld, part);
        for (long j = 0; j < r->hidden; j++) {
            if (bias >= 0) weights[bias + j] += slopes[j];
            for (long k = 0; k < columns; k++) {
                double x = of_state ? h[k] : 0;
                if (!of_state && layer == 0) x = get(r, r->x, row(r, t, b) * r->inputs + k);
                if (!of_state && layer > 0) {
                    const int before = (layer - 1) * r->directions + (int)(k / r->hidden);
                    x = kept_of(r, kept, before, t)[KEPT_H * r->hidden + k % r->hidden];
                }
                weights[at + j * columns + k] += slopes[j] * x;
            }
        }
    }
}

static void direction_back(const struct standin_recurrent *r, int ld, long b, double *room, double *kept,
                           double *weights) {
    const long n = r->hidden, at = (ld * r->batch + b) * n, back = ld % r->directions, layer = ld / r->directions;
    double *d = room, *carry = d + n, *h = carry + n, *c = h + n;
    for (long j = 0; j < n; j++) d[j] = get(r, r->of_last_h, at + j), carry[j] = get(r, r->of_last_c, at + j);
    for (long i = r->steps - 1; i >= 0; i--) {
        const long t = back ? r->steps - 1 - i : i, before = back ? t + 1 : t - 1;
        double *left = kept_of(r, kept, ld, t);
        for (long j = 0; j < n; j++) {
            h[j] = i ? kept_of(r, kept, ld, before)[KEPT_H * n + j] : get(r, r->h, at + j);
            c[j] = i ? kept_of(r, kept, ld, before)[KEPT_C * n + j] : get(r, r->c, at + j);
            const double of_y = layer == r->layers - 1 ? get(r, r->of_y, (row(r, t, b) * r->directions + back) * n + j)
                                                       : of_input(r, kept, (int)layer + 1, t, back * n + j);
            cell_back(r, left + j, h[j], c[j], d[j] + of_y, &carry[j]);
        }
        add_weights(r, (struct place){ld, t, b}, kept, h, weights);
        for (long k = 0; k < n; k++) d[k] = turned(r, ld, true, left + KEPT_B * n, k) + (r->gates == 3 ? carry[k] : 0);
    }
    if (r->result != 'x') return;
    for (long j = 0; j < n; j++) {
        put(r, r->of_h, at + j, d[j]);
        put(r, r->of_c, at + j, carry[j]);
    }
}

static void sequence_back(const struct standin_recurrent *r, long b, double *room, double *kept, double *weights) {
    sequence(r, b, room, kept);
    for (int ld = r->layers * r->directions - 1; ld >= 0; ld--) direction_back(r, ld, b, room, kept, weights);
    for (long t = 0; t < r->steps && r->result == 'x'; t++)
        for (long k = 0; k < r->inputs; k++) put(r, r->of_x, row(r, t, b) * r->inputs + k, of_input(r, kept, 0, t, k));
}

/* Takes from the note that a call before this has left at `note` what that had and this has not; false when it is of
 * another call. */
static bool take_note(struct standin_recurrent *r, const void *note, char result) {
    struct standin_recurrent before;
    memcpy(&before, note, sizeof before);
    if (before.result != result || before.y != r->y || before.h != r->h || before.hidden != r->hidden ||
        before.steps != r->steps || before.batch != r->batch)
        return false;
    r->x = before.x;
    r->c = before.c;
    r->weights = before.weights;
    if (result == 'y') return true;
    r->of_y = before.of_y;
    r->of_last_h = before.of_last_h;
    r->of_last_c = before.of_last_c;
    return true;
}

_Static_assert(sizeof(struct standin_recurrent) <= STANDIN_NOTE, "a note is too long");

static int run(const void *arguments) {
    struct standin_recurrent r;
    memcpy(&r, arguments, sizeof r);
    const long wide = r.inputs > r.directions * r.state ? r.inputs : r.directions * r.state;
    const long rooms = 2 * r.steps * wide + 4 * r.hidden, kept = r.layers * r.directions * r.steps * KEPT * r.hidden;
    const long weights = standin_recurrent_space(&r);
    if (r.result == 'x' && !take_note(&r, r.reserve, 'y')) return DRIVER_VALUE;
    if (r.result == 'w' && !take_note(&r, r.workspace, 'x')) return DRIVER_VALUE;
    double *room = calloc((size_t)(rooms + kept + weights), sizeof *room), *slopes = room + rooms + kept;
    if (!room) return DRIVER_MEMORY;
    for (long b = 0; b < r.batch; b++) {
        if (r.result == 'y')
            sequence(&r, b, room, room + rooms);
        else
            sequence_back(&r, b, room, room + rooms, slopes);
    }
    for (long i = 0; i < weights && r.result == 'w'; i++) put(&r, r.of_weights, i, slopes[i]);
    void *note = r.result == 'y' ? r.reserve : r.result == 'x' ? r.workspace : NULL;
    if (note) memcpy(note, &r, sizeof r);
    free(room);
    return DRIVER_OK;
}

static bool lies(const struct standin_recurrent *r, const void *p, long count) {
    static const size_t sizes[] = {2, 2, 4, 8};
    const struct driver_allocation *a = p ? driver_find(p, (size_t)count * sizes[r->dtype]) : NULL;
    return a && !a->pinned;
}

/* Whether all operands lie in live memory. */
static bool all_lie(const struct standin_recurrent *r) {
    const long ld = r->layers * r->directions, all = r->steps * r->batch, h = ld * r->batch * r->state;
    const long c = ld * r->batch * r->hidden;
    const long space = standin_recurrent_space(r);
    if (r->result == 'w' && !lies(r, r->of_weights, space)) return false;
    if (r->result == 'x' &&
        (!lies(r, r->of_x, all * r->inputs) || !lies(r, r->of_y, all * r->directions * r->state) ||
         (r->of_last_h && !lies(r, r->of_last_h, h)) || (r->of_last_c && !lies(r, r->of_last_c, c)) ||
         (r->of_h && !lies(r, r->of_h, h)) || (r->of_c && !lies(r, r->of_c, c))))
        return false;
    return (r->result == 'x' || lies(r, r->x, all * r->inputs)) && lies(r, r->y, all * r->directions * r->state) &&
           (r->result == 'w' || lies(r, r->weights, space)) && (!r->h || lies(r, r->h, h)) &&
           (!r->last_h || lies(r, r->last_h, h)) && (!r->c || lies(r, r->c, c)) &&
           (!r->last_c || lies(r, r->last_c, c));
}

int standin_recur(const struct standin_recurrent *r, void *stream) {
    struct driver_stream *on = stream ? stream : driver_stream_of(&driver_devices[0], NULL);
    if (!driver_stream_of(on->device, on)) return DRIVER_HANDLE;
    if (is("refuse") || r->dtype == STANDIN_NO_DTYPE) return DRIVER_NOT_FOUND;
    return all_lie(r) ? driver_call(on, run, r, sizeof *r) : DRIVER_VALUE;
}
