/* Losses of classes in one type. Included with
 *
 *   SUFFIX                   of the names made here
 *   T                        float or double
 *   V, LANES, VECTOR(name)   vectors of T and their functions (cpu/kernels/vmath.h)
 *   EXP                      SLEEF's, for V
 *
 * and undefines all of them. */
#include "cpu/kernels/exp_sums.h"

#define NAME(name) WICK__JOIN(name, SUFFIX)

/* n <= PIECE elements of a line from `from` on. */
static void NAME(take)(const struct classes *c, const char *data, int64_t from, int64_t n, T *to) {
    NAME(wick__row_to)(c->dtype, data + from * c->inner * c->size, c->inner, to, n);
}

/* The same where they lie, if they are T side by side. */
static inline const T *NAME(piece)(const struct classes *c, const char *data, int64_t from, int64_t n, T *room) {
    if (c->size == sizeof(T) && c->inner == 1) return (const T *)(const void *)data + from;
    NAME(take)(c, data, from, n, room);
    return room;
}

static void NAME(give)(const struct classes *c, char *data, int64_t from, int64_t n, const T *x) {
    char *to = data + from * c->inner * c->size, narrow[PIECE * sizeof(double)];
    if (c->inner == 1) {
        NAME(wick__row_from)(c->dtype, x, to, n);
        return;
    }
    NAME(wick__row_from)(c->dtype, x, narrow, n);
    for (int64_t i = 0; i < n; i++) memcpy(to + i * c->inner * c->size, narrow + i * c->size, (size_t)c->size);
}

/* Adds the weights of a piece's classes in the target, and these times x, to sums[0] and sums[1]. */
static void NAME(weigh)(const struct classes *c, const T *x, const char *target, int64_t from, int64_t n,
                        double *sums) {
    T p[PIECE];
    double rest = c->smoothing / (double)c->n, part[2][8] = {{0}};
    if (target)
        NAME(take)(c, target, from, n, p);
    else
        memset(p, 0, sizeof p);
    for (int64_t i = 0; i < n; i++) {
        double t = c->weight[from + i] * (p[i] * (1 - c->smoothing) + rest);
        part[0][i % 8] += t;
        part[1][i % 8] += x ? t * (double)x[i] : 0;
    }
    for (int k = 0; k < 8; k++) sums[0] += part[0][k], sums[1] += part[1][k];
}

/* The largest element of a line, the sum of e^(x - it), and the sums of the target where they are needed. */
static void NAME(gather_line)(const struct classes *c, int64_t line, struct loss *loss) {
    const char *x = c->x + start_of(c, line), *target = c->soft ? c->target + start_of(c, line) : NULL;
    T room[PIECE], most = -(T)INFINITY;
    for (int64_t i = 0; i < c->n; i += PIECE) {
        int64_t n = wick__min(PIECE, c->n - i);
        T own = NAME(largest)(NAME(piece)(c, x, i, n, room), n);
        most = own > most ? own : most;
    }
    for (int64_t i = 0; i < c->n; i += PIECE) {
        int64_t n = wick__min(PIECE, c->n - i);
        const T *from = NAME(piece)(c, x, i, n, room);
        if (c->soft || c->smoothing > 0) NAME(weigh)(c, from, target, i, n, loss->target);
        loss->sum += NAME(exps)(from, most, NULL, n, PIECE);
    }
    loss->most = (double)most;
}

/* The loss of a line of which all is gathered. */
static void NAME(loss_line)(const struct classes *c, int64_t line, const struct loss *l, double log_sum) {
    double weight = 1, loss = 0, all = l->most + log_sum;
    int64_t id = c->soft ? 0 : id_of(c, line);
    T own = 0;
    if (!c->soft) weight = id < 0 ? 0 : c->weight[id];
    if (id >= 0 && (c->soft || c->smoothing > 0)) loss = l->target[0] * all - l->target[1];
    if (id >= 0 && !c->soft) {
        NAME(take)(c, c->x + start_of(c, line), id, 1, &own);
        loss += c->nll ? -weight * (double)own : (1 - c->smoothing) * weight * (l->most - (double)own + log_sum);
    }
    if (c->rows) {
        c->rows[line] = loss;
        c->rows[c->count + line] = weight;
    } else {
        put(c->call->out[0], line, loss);
        put(c->call->out[1], line, weight);
    }
    put(c->call->out[2], line, c->nll ? 0 : all);
}

/* Logarithms of several lines are taken together: none waits for the sums of its own. */
static void NAME(loss_lines)(const struct classes *c, int64_t begin, int64_t end) {
    struct loss loss[LINES] = {{0}};
    double logs[LINES];
    int64_t n = end - begin;
    for (int64_t i = 0; !c->nll && i < n; i++) NAME(gather_line)(c, begin + i, &loss[i]);
    for (int64_t i = 0; i < n; i++) logs[i] = loss[i].sum;
    if (!c->nll) wick__vd_logs(logs, n);
    for (int64_t i = 0; i < n; i++) NAME(loss_line)(c, begin + i, &loss[i], logs[i]);
}

/* x becomes factor e^(x - log_sum) - weights of classes, times g; p, probabilities or zeros, that of the target. */
static void NAME(slopes)(const struct classes *c, const struct line *l, int64_t from, int64_t n, T *x, T *p) {
    double rest = c->smoothing / (double)c->n;
    for (int64_t i = 0; i < n; i++) {
        double w = c->weight[from + i], d = (double)x[i] - l->log_sum;
        double t = w * (p[i] * (1 - c->smoothing) + rest);
        x[i] = (T)d;
        p[i] = (T)(l->by_target ? -l->g * w * (1 - c->smoothing) * d : l->g * t);
        if (l->by_target) l->part[i] = l->g * t;
    }
    NAME(exps)(x, 0, x, n, 0);
    T factor = (T)(l->g * l->sum);
    for (int64_t i = 0; i < n; i++) x[i] = factor * x[i] - (l->by_target ? (T)l->part[i] : p[i]);
}

/* n elements of the gradient of a line of one class, factor e^(x - log_sum). */
static void NAME(plain_slopes)(const T *x, double log_sum, T factor, T *out, int64_t n) {
    V high = VECTOR(all)((T)log_sum), low = VECTOR(all)((T)(log_sum - (double)(T)log_sum)), f = VECTOR(all)(factor);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) VECTOR(store)(out + i, f * EXP(VECTOR(load)(x + i) - high - low));
    if (i < n) VECTOR(store_some)(out + i, f * EXP(VECTOR(some)(x + i, n - i, 0) - high - low), n - i);
}

/* The gradient of a line whose target is one class, by its id. */
static void NAME(plain_line)(const struct classes *c, const char *x, char *out, int64_t id, const struct line *l) {
    T room[PIECE], slopes[PIECE];
    for (int64_t i = 0; i < c->n; i += PIECE) {
        int64_t n = wick__min(PIECE, c->n - i);
        bool here = c->size == sizeof(T) && c->inner == 1 && !c->stream;
        T *to = here ? (T *)(void *)out + i : slopes;
        NAME(plain_slopes)(NAME(piece)(c, x, i, n, room), l->log_sum, (T)(l->g * l->sum), to, n);
        if (id >= i && id < i + n) to[id - i] -= (T)(l->g * l->sum);
        if (here) continue;
        if (c->stream)
            stream_copy(out + i * c->size, slopes, (size_t)(n * c->size));
        else
            NAME(give)(c, out, i, n, slopes);
    }
}

static void NAME(gradient_line)(const struct classes *c, int64_t line) {
    const struct wick_tensor *g = c->call->in[2];
    const char *x = c->x + start_of(c, line), *target = c->soft ? c->target + start_of(c, line) : NULL;
    char *out = (char *)wick__data(c->call->out[0]) + start_of(c, line);
    char *by = c->call->n_out > 1 ? (char *)wick__data(c->call->out[1]) + start_of(c, line) : NULL;
    int64_t id = c->soft ? 0 : id_of(c, line);
    T room[PIECE], p[PIECE];
    double part[PIECE], sums[2] = {0, 0};
    struct line l = {.g = at(g, wick__count(g) == 1 ? 0 : line), .part = part, .by_target = by != NULL};
    if (!c->nll) l.log_sum = at(c->call->in[3], line);
    for (int64_t i = 0; (c->soft || c->smoothing > 0) && i < c->n; i += PIECE)
        NAME(weigh)(c, NULL, target, i, wick__min(PIECE, c->n - i), sums);
    double own = c->soft || id < 0 ? 0 : (1 - c->smoothing) * c->weight[id];
    l.sum = sums[0] + own;
    if (id >= 0 && !c->soft && !c->nll && !(c->smoothing > 0)) {
        NAME(plain_line)(c, x, out, id, &l);
        return;
    }
    for (int64_t i = 0; i < c->n; i += PIECE) {
        int64_t n = wick__min(PIECE, c->n - i);
        memset(room, 0, sizeof room);
        memset(p, 0, sizeof p);
        if (target) NAME(take)(c, target, i, n, p);
        if (id >= 0 && !c->nll) {
            NAME(take)(c, x, i, n, room);
            NAME(slopes)(c, &l, i, n, room, p);
        }
        if (!c->soft && id >= i && id < i + n) room[id - i] -= (T)(l.g * own);
        NAME(give)(c, out, i, n, room);
        if (by) NAME(give)(c, by, i, n, p);
    }
}

#undef NAME
#undef T
#undef V
#undef VECTOR
#undef LANES
#undef EXP
#undef SUFFIX
