/* Losses of classes in one type. Included with
 *
 *   SUFFIX                   of the names made here
 *   T                        float or double
 *   V, LANES, VECTOR(name)   vectors of T and their functions (cpu/kernels/vmath.h)
 *   EXP                      SLEEF's, for V
 *   DOUBLES                  a wick__vd of some T
 *
 * and undefines all of them. */
#define NAME(name) WICK__JOIN(name, SUFFIX)

/* n <= PIECE elements of a line from `from` on; those behind them are `rest`. */
static void NAME(take)(const struct classes *c, const char *data, int64_t from, int64_t n, T rest, T *to) {
    NAME(wick__row_to)(c->dtype, data + from * c->inner * c->size, c->inner, to, n);
    for (int64_t i = n; i < n + LANES && i < PIECE; i++) to[i] = rest;
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

/* The sum of e^(x - less), in f64. */
static double NAME(exps)(T *x, int64_t n, T less) {
    enum { PARTS = LANES / WICK__VD };
    wick__vd sums[PARTS] = {0};
    double all = 0;
    for (int64_t i = 0; i < n; i += LANES) {
        VECTOR(store)(x + i, EXP(VECTOR(load)(x + i) - VECTOR(all)(less)));
        for (int k = 0; k < PARTS; k++) sums[k] += DOUBLES(x + i + k * WICK__VD);
    }
    for (int k = 0; k < PARTS; k++)
        for (int l = 0; l < WICK__VD; l++) all += sums[k][l];
    return all;
}

/* Adds the weights of a piece's classes in the target, and these times x, to sums[0] and sums[1]. */
static void NAME(weigh)(const struct classes *c, const T *x, const char *target, int64_t from, int64_t n,
                        double *sums) {
    T p[PIECE];
    double rest = c->smoothing / (double)c->n, part[2][8] = {{0}};
    if (target)
        NAME(take)(c, target, from, n, 0, p);
    else
        memset(p, 0, sizeof p);
    for (int64_t i = 0; i < n; i++) {
        double t = c->weight[from + i] * (p[i] * (1 - c->smoothing) + rest);
        part[0][i % 8] += t;
        part[1][i % 8] += x ? t * (double)x[i] : 0;
    }
    for (int k = 0; k < 8; k++) sums[0] += part[0][k], sums[1] += part[1][k];
}

static void NAME(loss_line)(const struct classes *c, int64_t line) {
    const char *x = c->x + start_of(c, line), *target = c->soft ? c->target + start_of(c, line) : NULL;
    double sum = 0, sums[2] = {0, 0}, weight = 1, loss = 0, own = 0;
    int64_t id = c->soft ? 0 : id_of(c, line);
    T room[PIECE], most = -(T)INFINITY;
    V lane = VECTOR(all)(most);
    bool weighed = c->soft || c->smoothing > 0;
    for (int64_t i = 0; !c->nll && i < c->n; i += PIECE) {
        int64_t n = wick__min(PIECE, c->n - i);
        NAME(take)(c, x, i, n, -(T)INFINITY, room);
        for (int64_t k = 0; k < n; k += LANES) lane = VECTOR(max)(VECTOR(load)(room + k), lane);
    }
    for (int l = 0; l < LANES; l++) most = lane[l] > most ? lane[l] : most;
    for (int64_t i = 0; !c->nll && i < c->n; i += PIECE) {
        int64_t n = wick__min(PIECE, c->n - i);
        NAME(take)(c, x, i, n, -(T)INFINITY, room);
        if (weighed) NAME(weigh)(c, room, target, i, n, sums);
        sum += NAME(exps)(room, n, most);
    }
    double log_sum = log(sum), all = (double)most + log_sum;
    if (!c->soft) weight = id < 0 ? 0 : c->weight[id];
    if (id >= 0 && !c->soft) {
        NAME(take)(c, x, id, 1, 0, room);
        own = (double)room[0];
    }
    if (id >= 0) loss = weighed ? sums[0] * all - sums[1] : 0;
    if (id >= 0 && !c->soft)
        loss += c->nll ? -weight * own : (1 - c->smoothing) * weight * ((double)most - own + log_sum);
    if (c->rows) {
        c->rows[line] = loss;
        c->rows[c->count + line] = weight;
    } else {
        put(c->call->out[0], line, loss);
        put(c->call->out[1], line, weight);
    }
    put(c->call->out[2], line, c->nll ? 0 : all);
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
    for (int64_t i = n; i < n + LANES && i < PIECE; i++) x[i] = 0;
    for (int64_t i = 0; i < n; i += LANES) VECTOR(store)(x + i, EXP(VECTOR(load)(x + i)));
    T factor = (T)(l->g * l->sum);
    for (int64_t i = 0; i < n; i++) x[i] = factor * x[i] - (l->by_target ? (T)l->part[i] : p[i]);
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
    for (int64_t i = 0; i < c->n; i += PIECE) {
        int64_t n = wick__min(PIECE, c->n - i);
        memset(room, 0, sizeof room);
        memset(p, 0, sizeof p);
        if (target) NAME(take)(c, target, i, n, 0, p);
        if (id >= 0 && !c->nll) {
            NAME(take)(c, x, i, n, 0, room);
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
#undef DOUBLES
#undef SUFFIX
