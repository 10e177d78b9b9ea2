/* Losses of elements and their gradients in one type. Included with
 *
 *   SUFFIX                   of the names made here
 *   T                        float or double
 *   V, LANES, VECTOR(name)   vectors of T and their functions (cpu/kernels/vmath.h)
 *   FN(name, ulp)            SLEEF's functions for V
 *
 * and undefines all of them. */
#define NAME(name) WICK__JOIN(name, SUFFIX)
#define ALL VECTOR(all)

/* An element of each lane: x, its target and their weights. */
struct NAME(element) {
    V x, target, weight, positive;
};

static inline V NAME(sign)(V d) { return VECTOR(below)(ALL(0), d, ALL(1), VECTOR(below)(d, ALL(0), ALL(-1), d)); }
/* At least -100; NaN passes. */
static inline V NAME(bounded)(V x) { return VECTOR(max)(ALL(-100), x); }
/* log(1 + e^x), by `rest` = log(1 + e^-|x|). */
static inline V NAME(softplus)(V x, V rest) { return VECTOR(max)(ALL(0), x) + rest; }
static inline V NAME(rest)(V x) { return FN(log1p, u10)(FN(exp, u10)(-VECTOR(abs)(x))); }

/* `zero` where x is 0, else y; NaN of x passes as y. */
static inline V NAME(where_zero)(V x, V zero, V y) { return VECTOR(below)(VECTOR(abs)(x), ALL(LEAST), zero, y); }

static inline V NAME(kl_div)(const struct NAME(element) * e, bool log) {
    V p = log ? FN(exp, u10)(e->target) : e->target;
    V term = p * ((log ? e->target : FN(log, u10)(p)) - e->x);
    return NAME(where_zero)(p, ALL(0), term);
}

static inline V NAME(loss_of)(const struct loss *l, const struct NAME(element) * e) {
    V d = e->x - e->target, size = VECTOR(abs)(d), a = ALL((T)l->call->p.loss.a), half = ALL((T)0.5);
    switch (l->kind) {
    case WICK_OP_mse_loss: return d * d;
    case WICK_OP_l1_loss: return size;
    case WICK_OP_smooth_l1_loss: return VECTOR(below)(size, a, half * size * (size / a), size - half * a);
    case WICK_OP_huber_loss: return VECTOR(below)(size, a, half * size * size, a * (size - half * a));
    case WICK_OP_kl_div_loss: return NAME(kl_div)(e, l->call->p.loss.log);
    case WICK_OP_binary_cross_entropy: {
        V of_one = e->target * NAME(bounded)(FN(log, u10)(e->x));
        return -e->weight * (of_one + (ALL(1) - e->target) * NAME(bounded)(FN(log1p, u10)(-e->x)));
    }
    default: {
        V rest = NAME(rest)(e->x), of_one = e->positive * e->target * NAME(softplus)(-e->x, rest);
        return e->weight * ((ALL(1) - e->target) * NAME(softplus)(e->x, rest) + of_one);
    }
    }
}

/* The derivative by x; *target is that by the target. */
static inline V NAME(slopes)(const struct loss *l, const struct NAME(element) * e, V *target) {
    V d = e->x - e->target, size = VECTOR(abs)(d), a = ALL((T)l->call->p.loss.a), s, one = ALL(1);
    switch (l->kind) {
    case WICK_OP_mse_loss: s = ALL(2) * d; break;
    case WICK_OP_l1_loss: s = NAME(sign)(d); break;
    case WICK_OP_smooth_l1_loss: s = VECTOR(below)(size, a, d / a, NAME(sign)(d)); break;
    case WICK_OP_huber_loss: s = VECTOR(below)(size, a, d, a * NAME(sign)(d)); break;
    case WICK_OP_kl_div_loss: {
        V p = l->call->p.loss.log ? FN(exp, u10)(e->target) : e->target;
        *target = FN(log, u10)(p) + one - e->x;
        if (l->call->p.loss.log) *target = NAME(where_zero)(p, ALL(0), p * (one - d));
        return -p;
    }
    case WICK_OP_binary_cross_entropy: {
        V log = NAME(bounded)(FN(log, u10)(e->x)), rest = NAME(bounded)(FN(log1p, u10)(-e->x));
        *target = e->weight * (rest - log);
        return e->weight * (e->x - e->target) / VECTOR(max)(ALL((T)1e-12), e->x * (one - e->x));
    }
    default: {
        V rest = NAME(rest)(e->x);
        *target = e->weight * (e->positive * NAME(softplus)(-e->x, rest) - NAME(softplus)(e->x, rest));
        V of_one = e->positive * e->target * VECTOR(sigmoid)(-e->x);
        return e->weight * ((one - e->target) * VECTOR(sigmoid)(e->x) - of_one);
    }
    }
    *target = -s;
    return s;
}

/* n elements of an operand from `first` on, 1 where it is left out; what lies behind them is 1. */
static void NAME(get)(const struct wick_tensor *x, int64_t first, int64_t n, T *to) {
    int64_t had = x ? n : 0;
    if (x) {
        const char *data = wick__data(x);
        NAME(wick__row_to)(x->dtype, data + first * (int64_t)wick__size(x->dtype), 1, to, n);
    }
    for (int64_t i = had; i < PIECE; i++) to[i] = 1;
}

static void NAME(put)(struct wick_tensor *y, int64_t first, int64_t n, const T *from) {
    char *data = wick__data(y);
    NAME(wick__row_from)(y->dtype, from, data + first * (int64_t)wick__size(y->dtype), n);
}

static void NAME(piece)(const struct loss *l, int64_t first, int64_t n) {
    T x[PIECE], target[PIECE], weight[PIECE], positive[PIECE], g[PIECE];
    const struct wick__call *call = l->call;
    NAME(get)(call->in[l->first], first, n, x);
    NAME(get)(call->in[l->first + 1], first, n, target);
    NAME(get)(l->first + 2 < call->n_in ? call->in[l->first + 2] : NULL, first, n, weight);
    NAME(get)(l->first + 3 < call->n_in ? call->in[l->first + 3] : NULL, first, n, positive);
    NAME(get)(l->first > 0 ? call->in[0] : NULL, l->single ? 0 : first, l->single ? 1 : n, g);
    V factor = ALL((T)call->p.loss.scale), only = ALL(g[0]);
    for (int64_t i = 0; i < n; i += LANES) {
        const struct NAME(element)
            e = {VECTOR(load)(x + i), VECTOR(load)(target + i), VECTOR(load)(weight + i), VECTOR(load)(positive + i)};
        if (l->first == 0) {
            VECTOR(store)(x + i, NAME(loss_of)(l, &e));
            continue;
        }
        V by_target, by_x = NAME(slopes)(l, &e, &by_target), by = (l->single ? only : VECTOR(load)(g + i)) * factor;
        VECTOR(store)(x + i, by * by_x);
        VECTOR(store)(target + i, by * by_target);
    }
    NAME(put)(call->out[0], first, n, x);
    if (call->n_out > 1) NAME(put)(call->out[1], first, n, target);
}

#undef NAME
#undef ALL
#undef T
#undef V
#undef VECTOR
#undef LANES
#undef FN
#undef LEAST
#undef SUFFIX
