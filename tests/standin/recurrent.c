/* Recurrent layers on the stand-in's memory, for its cuDNN and MIOpen: plain loops, a sequence and a direction after
 * the other, all in f64. A library that is wrong forgets the last term of each sum, one that is rough keeps an LSTM's c
 * in 16 bits, or f32. */
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
static double kept(const struct standin_recurrent *r, double c) {
    double unit;
    int exponent;
    if (!is("rough") || r->dtype == STANDIN_F64 || c == 0 || !isfinite(c)) return c;
    frexp(c, &exponent);
    unit = ldexp(1, exponent - (r->dtype == STANDIN_BF16 ? 8 : 11));
    return nearbyint(c / unit) * unit;
}

static void step(const struct standin_recurrent *r, int ld, const double *x, double *h, double *c, double *next) {
    double a[4], b[4];
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
            c[j] = kept(r, sigmoid(a[1] + b[1]) * c[j] + sigmoid(a[0] + b[0]) * tanh(a[2] + b[2]));
            next[j] = sigmoid(a[3] + b[3]) * tanh(c[j]);
        } else { /* r z n */
            const double z = sigmoid(a[1] + b[1]), n = tanh(a[2] + sigmoid(a[0] + b[0]) * b[2]);
            next[j] = (1 - z) * n + z * h[j];
        }
    }
    for (long j = 0; j < r->state; j++) h[j] = r->state == r->hidden ? next[j] : dot(r, ld, 2 * r->gates, j, next);
}

/* ---- sequences ---- */

static long row(const struct standin_recurrent *r, long t, long b) {
    return r->batch_first ? b * r->steps + t : t * r->batch + b;
}

static void sequence(const struct standin_recurrent *r, long b, double *lines[2], double *room) {
    const long wide = r->inputs > r->directions * r->state ? r->inputs : r->directions * r->state;
    const long length = r->lengths[b];
    double *h = room, *c = h + r->hidden, *next = c + r->hidden;
    for (long t = 0; t < length; t++)
        for (long k = 0; k < r->inputs; k++) lines[0][t * wide + k] = get(r, r->x, row(r, t, b) * r->inputs + k);
    for (int ld = 0; ld < r->layers * r->directions; ld++) {
        const int back = ld % r->directions;
        const long at = ld * r->batch + b;
        for (long j = 0; j < r->state; j++) h[j] = get(r, r->h, at * r->state + j);
        for (long j = 0; j < r->hidden; j++) c[j] = get(r, r->c, at * r->hidden + j);
        for (long i = 0; i < length; i++) {
            const long t = back ? length - 1 - i : i;
            step(r, ld, lines[0] + t * wide, h, c, next);
            memcpy(lines[1] + t * wide + back * r->state, h, (size_t)r->state * sizeof *h);
        }
        for (long j = 0; j < r->state; j++) put(r, r->last_h, at * r->state + j, h[j]);
        for (long j = 0; j < r->hidden; j++) put(r, r->last_c, at * r->hidden + j, c[j]);
        if (back == r->directions - 1) memcpy(lines[0], lines[1], (size_t)(length * wide) * sizeof *h);
    }
    for (long t = 0; t < r->steps; t++)
        for (long k = 0; k < r->directions * r->state; k++)
            put(r, r->y, row(r, t, b) * r->directions * r->state + k, t < length ? lines[0][t * wide + k] : 0);
}

static int run(const void *arguments) {
    struct standin_recurrent r;
    memcpy(&r, arguments, sizeof r);
    const long wide = r.inputs > r.directions * r.state ? r.inputs : r.directions * r.state;
    double *lines = calloc((size_t)(2 * r.steps * wide + 3 * r.hidden), sizeof *lines);
    double *two[2] = {lines, lines + r.steps * wide};
    for (long b = 0; lines && b < r.batch; b++) sequence(&r, b, two, lines + 2 * r.steps * wide);
    free(lines);
    return lines ? DRIVER_OK : DRIVER_MEMORY;
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
    return lies(r, r->x, all * r->inputs) && lies(r, r->y, all * r->directions * r->state) &&
           lies(r, r->weights, standin_recurrent_space(r)) && (!r->h || lies(r, r->h, h)) &&
           (!r->last_h || lies(r, r->last_h, h)) && (!r->c || lies(r, r->c, c)) &&
           (!r->last_c || lies(r, r->last_c, c));
}

int standin_recur(const struct standin_recurrent *r, void *stream) {
    struct driver_stream *on = stream ? stream : driver_stream_of(&driver_devices[0], NULL);
    if (!driver_stream_of(on->device, on)) return DRIVER_HANDLE;
    if (is("refuse") || r->dtype == STANDIN_NO_DTYPE) return DRIVER_NOT_FOUND;
    return all_lie(r) ? driver_call(on, run, r, sizeof *r) : DRIVER_VALUE;
}
