/* CTC loss (Graves et al., ICML 2006) and its gradient: a sequence a task, and a way for the gradient. Sums are f64, in
 * logarithms. */
#include "core/convert.h"
#include "cpu/kernels/ids.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "core/memory.h"
#include "backend.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

static const double NONE = -(double)INFINITY;

/* log_probs are [steps,n,classes], paths [ways,n,kept,states]; a sequence with S labels has 2 S + 1 states. */
struct ctc {
    const struct wick__call *call;
    enum wick_dtype dtype;
    int64_t steps, n, classes, states, kept;
    const char *x;
    int64_t size; /* of an element of x, in bytes */
    const int64_t *lengths;
    double *paths;
    /* For each worker, by states: the class; its log_prob; 0 where a way may jump over a blank to here, else -infinity.
     * Of gradients: the share; and by classes the sum of shares. */
    int64_t *class;
    double *own, *jump, *sums;
    atomic_bool bad;
};

/* A sequence as a worker sees it. */
struct sequence {
    int64_t number, steps, labels;
    int64_t *class;
    double *own, *jump, *sums;
};

/* Reads the classes of the states of a sequence; -1 for a label that is no class. */
static struct sequence open(struct ctc *c, int worker, int64_t number, bool back) {
    const struct wick_tensor *targets = c->call->in[1];
    struct sequence s = {.number = number,
                         .steps = c->lengths[number],
                         .labels = c->lengths[c->n + number],
                         .class = c->class + worker * c->states,
                         .own = c->own + worker * c->states,
                         .jump = c->jump + worker * c->states,
                         .sums = c->sums + worker * c->classes};
    const char *data = wick__data(targets);
    int64_t size = (int64_t)wick__size(targets->dtype), last = 2 * s.labels, buffer = -1;
    for (int64_t j = 0; j <= last; j++) {
        int64_t state = back ? last - j : j, place = c->lengths[2 * c->n + number] + state / 2;
        s.class[j] = c->call->p.ctc.blank;
        if (state % 2 == 0) continue;
        struct wick__ids got = wick__ids_read(targets->dtype, data + place * size, 1, 1, c->classes, &buffer);
        if (got.bad) atomic_store_explicit(&c->bad, true, memory_order_relaxed);
        s.class[j] = got.id[0];
    }
    for (int64_t j = 0; j <= last; j++) s.jump[j] = j % 2 == 1 && j > 1 && s.class[j] != s.class[j - 2] ? 0 : NONE;
    return s;
}

static const char *row_of(const struct ctc *c, const struct sequence *s, int64_t step) {
    return c->x + (step * c->n + s->number) * c->classes * c->size;
}

static double log_prob(const struct ctc *c, const struct sequence *s, int64_t step, int64_t class) {
    return class < 0 ? NONE : wick__load_f64(c->dtype, row_of(c, s, step) + class * c->size);
}

/* log(e^a + e^b + e^c). */
static double add(double a, double b, double c) {
    double most = a > b ? a : b;
    most = c > most ? c : most;
    return most == NONE ? a + b + c : most + log(exp(a - most) + exp(b - most) + exp(c - most));
}

/* A step of the states from the third on: `before` is the step before it. */
static void step_far(const struct sequence *s, const double *before, double *now) {
    const wick__vd none = wick__vd_all(-1.7e308), zero = wick__vd_all(0);
    int64_t states = 2 * s->labels + 1, j = 2;
    for (; j + WICK__VD <= states; j += WICK__VD) {
        wick__vd a = wick__vd_load(before + j), b = wick__vd_load(before + j - 1);
        wick__vd c = wick__vd_load(before + j - 2) + wick__vd_load(s->jump + j);
        wick__vd most = wick__vd_max(a, wick__vd_max(b, c)), less = wick__vd_below(most, none, zero, most);
        wick__vd sum = WICK__VD_FN(exp, u10)(a - less) + WICK__VD_FN(exp, u10)(b - less);
        sum = WICK__VD_FN(log, u10)(sum + WICK__VD_FN(exp, u10)(c - less)) + less;
        wick__vd_store(now + j, sum + wick__vd_load(s->own + j));
    }
    for (; j < states; j++) now[j] = add(before[j], before[j - 1], before[j - 2] + s->jump[j]) + s->own[j];
}

/* All steps of a sequence one way; returns the last. */
static const double *go(const struct ctc *c, const struct sequence *s, double *paths, bool back) {
    int64_t states = 2 * s->labels + 1;
    double *now = NULL;
    for (int64_t k = 0; k < s->steps; k++) {
        const double *before = now;
        now = paths + (c->kept == 2 ? k & 1 : k) * c->states;
        for (int64_t j = 0; j < states; j++) s->own[j] = log_prob(c, s, back ? s->steps - 1 - k : k, s->class[j]);
        for (int64_t j = 0; j < states && !before; j++) now[j] = j < 2 ? s->own[j] : NONE;
        if (!before) continue;
        now[0] = before[0] + s->own[0];
        if (states > 1) now[1] = add(before[1], before[0], NONE) + s->own[1];
        step_far(s, before, now);
    }
    return now;
}

/* Minus the logarithm of the probability of all paths that end with the last label or the blank behind it. */
static double total_of(const struct sequence *s, const double *last) {
    int64_t end = 2 * s->labels;
    if (!last) return s->labels == 0 ? 0 : -NONE;
    return -add(last[end], end > 0 ? last[end - 1] : NONE, NONE);
}

static void ways(void *context, int worker, int64_t begin, int64_t end) {
    struct ctc *c = context;
    struct wick_tensor *out = c->call->out[0];
    for (int64_t i = begin; i < end; i++) {
        bool back = i >= c->n;
        struct sequence s = open(c, worker, back ? i - c->n : i, back);
        double *paths = c->paths ? c->paths + i * c->kept * c->states : NULL; /* NULL: there are no steps */
        double y = total_of(&s, go(c, &s, paths, back));
        if (back) continue;
        if (c->call->p.ctc.zero_infinity && y == -NONE) y = 0;
        if (c->call->p.ctc.by_length && s.labels > 1) y /= (double)s.labels;
        wick__store_f64(out->dtype, y, (char *)wick__data(out) + s.number * (int64_t)wick__size(out->dtype));
    }
}

/* ---- gradient ---- */

/* The share of all alignments that pass through a state at a step. */
static double share(const struct ctc *c, const struct sequence *s, int64_t step, int64_t state, double total) {
    const double *there = c->paths + (s->number * c->kept + step) * c->states;
    const double *back = c->paths + ((c->n + s->number) * c->kept + s->steps - 1 - step) * c->states;
    double both = there[state] + back[2 * s->labels - state];
    return both == NONE ? 0 : exp(both + total - log_prob(c, s, step, s->class[state]));
}

/* A step of a sequence; its sums are 0 before and after it. */
static void slopes(const struct ctc *c, const struct sequence *s, int64_t step, double total, double g) {
    const char *x = row_of(c, s, step);
    struct wick_tensor *y = c->call->out[0];
    char *out = (char *)wick__data(y) + (x - c->x);
    bool infinite = total == -NONE, none = step >= s->steps || (infinite && c->call->p.ctc.zero_infinity);
    for (int64_t j = 0; j <= 2 * s->labels && !none && !infinite; j++)
        if (s->class[j] >= 0) s->sums[s->class[j]] += share(c, s, step, j, total);
    for (int64_t i = 0; i < c->classes; i++) {
        double slope = 0;
        if (!none) slope = infinite ? total - total : exp(wick__load_f64(c->dtype, x + i * c->size)) - s->sums[i];
        wick__store_f64(c->dtype, none ? 0 : slope * g, out + i * c->size);
        s->sums[i] = 0;
    }
}

static void gradients(void *context, int worker, int64_t begin, int64_t end) {
    struct ctc *c = context;
    const struct wick_tensor *given = c->call->in[3];
    for (int64_t i = begin; i < end; i++) {
        struct sequence s = open(c, worker, i, false);
        const double *paths = c->paths + i * c->kept * c->states;
        double total = total_of(&s, s.steps > 0 ? paths + (s.steps - 1) * c->states : NULL);
        int64_t at = wick__count(given) == 1 ? 0 : i;
        double g = wick__load_f64(given->dtype, (char *)wick__data(given) + at * (int64_t)wick__size(given->dtype));
        g *= c->call->p.ctc.scale;
        if (c->call->p.ctc.by_length && s.labels > 1) g /= (double)s.labels;
        for (int64_t step = 0; step < c->steps; step++) slopes(c, &s, step, total, g);
    }
}

/* The first label that is no class, as WICK_RANGE. */
static enum wick_status find_bad(const struct ctc *c) {
    const struct wick_tensor *targets = c->call->in[1];
    const char *data = wick__data(targets);
    char text[WICK__TENSOR_TEXT];
    int64_t size = (int64_t)wick__size(targets->dtype), buffer = -1, value = 0;
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t k = 0; k < c->lengths[c->n + i]; k++) {
            int64_t place = c->lengths[2 * c->n + i] + k;
            if (!wick__ids_read(targets->dtype, data + place * size, 1, 1, c->classes, &buffer).bad) continue;
            wick__row_to_i64(targets->dtype, data + place * size, 1, &value, 1);
            return wick__fail(WICK_RANGE, "%s: id %lld at position %lld of targets %s is out of range for size %lld",
                              wick_op_name(c->call->op), (long long)value, (long long)place,
                              wick__tensor_text(text, targets), (long long)c->classes);
        }
    return WICK_OK;
}

wick__kernel_fn WICK__ISA(wick__cpu_ctc);
enum wick_status WICK__ISA(wick__cpu_ctc)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    const struct wick__layout *layout = &x->layout;
    bool backward = call->op == WICK_OP_ctc_loss_backward;
    const struct wick_tensor *paths = backward ? call->in[4] : call->out[1];
    struct ctc c = {.call = call,
                    .dtype = x->dtype,
                    .steps = layout->shape[0],
                    .n = layout->rank == 3 ? layout->shape[1] : 1,
                    .classes = layout->shape[layout->rank - 1],
                    .states = call->p.ctc.states,
                    .kept = paths->layout.shape[2],
                    .x = wick__data(x),
                    .size = (int64_t)wick__size(x->dtype),
                    .lengths = wick__data(call->in[2]),
                    .paths = wick__data(paths)};
    int64_t tasks = backward ? c.n : c.n * paths->layout.shape[0];
    int workers = wick__workers();
    if (tasks == 0 || wick__count(call->out[0]) == 0) return WICK_OK;
    size_t nbytes = sizeof(double) * (size_t)workers * (size_t)(3 * c.states + c.classes);
    void *room = wick__alloc(nbytes);
    if (!room) return wick__latest();
    memset(room, 0, nbytes);
    atomic_init(&c.bad, false);
    c.class = room;
    c.own = (double *)room + workers * c.states;
    c.jump = c.own + workers * c.states;
    c.sums = c.jump + workers * c.states;
    wick__parallel_with(workers, tasks, 1, backward ? gradients : ways, &c);
    wick__free(room, nbytes);
    return atomic_load(&c.bad) ? find_bad(&c) : WICK_OK;
}
