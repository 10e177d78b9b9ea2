/* Recurrent cells in one type. Included with
 *
 *   SUFFIX               of the names made here
 *   T                    float or double
 *   V, LANES, VECTOR(name)   vectors of T and their functions (cpu/kernels/vmath.h)
 *   TANH                 SLEEF's, for V
 *   LEAST                the least number above 0
 *
 * and undefines all of them. */
#define NAME(name) WICK__JOIN(name, SUFFIX)
#define LOAD(name, k) VECTOR(load)((name)[k] + i)
#define EACH for (int64_t i = 0; i < b->n; i += LANES)

/* Operands and results of a block, by gates; what lies behind the block's end is 0. */
struct NAME(room) {
    T x[4][PIECE], y[4][PIECE], z[4][PIECE];
};

/* Gates 0 .. gates - 1 of operand i, 0 where it is left out. */
static inline void NAME(get)(const struct block *b, int i, int gates, T (*to)[PIECE]) {
    const struct wick_tensor *x = b->cell->call->in[i];
    int64_t whole = (b->n + LANES - 1) / LANES * LANES;
    for (int k = 0; k < gates; k++) {
        if (x) NAME(wick__row_to)(x->dtype, place(b, x, gates, k), 1, to[k], b->n);
        int64_t from = x ? b->n : 0;
        memset(to[k] + from, 0, sizeof(T) * (size_t)(whole - from));
    }
}

static inline void NAME(put)(const struct block *b, int i, int gates, T (*from)[PIECE]) {
    const struct wick_tensor *y = b->cell->call->out[i];
    for (int k = 0; k < gates; k++) NAME(wick__row_from)(y->dtype, from[k], place(b, y, gates, k), b->n);
}

static inline V NAME(sigmoid_slope)(V s) { return s * (VECTOR(all)(1) - s); }
static inline V NAME(tanh_slope)(V t) { return (VECTOR(all)(1) - t) * (VECTOR(all)(1) + t); }

static void NAME(rnn)(const struct block *b) {
    struct NAME(room) r;
    bool relu = b->cell->call->p.cell.relu;
    NAME(get)(b, 0, 1, r.x);
    NAME(get)(b, 1, 1, r.y);
    EACH {
        V a = LOAD(r.x, 0) + LOAD(r.y, 0), zero = VECTOR(all)(0);
        V cut = VECTOR(below)(a, zero, zero, a), bent = TANH(a);
        VECTOR(store)(r.z[0] + i, relu ? cut : bent);
    }
    NAME(put)(b, 0, 1, r.z);
}

static void NAME(lstm)(const struct block *b) {
    struct NAME(room) r;
    NAME(get)(b, 0, 4, r.x);
    NAME(get)(b, 1, 4, r.y);
    NAME(get)(b, 2, 1, r.z);
    EACH {
        V in = VECTOR(sigmoid)(LOAD(r.x, 0) + LOAD(r.y, 0)), forget = VECTOR(sigmoid)(LOAD(r.x, 1) + LOAD(r.y, 1));
        V g = TANH(LOAD(r.x, 2) + LOAD(r.y, 2)), o = VECTOR(sigmoid)(LOAD(r.x, 3) + LOAD(r.y, 3));
        V c = forget * LOAD(r.z, 0) + in * g;
        VECTOR(store)(r.x[0] + i, in);
        VECTOR(store)(r.x[1] + i, forget);
        VECTOR(store)(r.x[2] + i, g);
        VECTOR(store)(r.x[3] + i, o);
        VECTOR(store)(r.z[0] + i, o * TANH(c));
        VECTOR(store)(r.z[1] + i, c);
    }
    NAME(put)(b, 0, 1, r.z);
    NAME(put)(b, 1, 1, r.z + 1);
    if (b->cell->call->n_out > 2) NAME(put)(b, 2, 4, r.x);
}

static void NAME(gru)(const struct block *b) {
    struct NAME(room) r;
    NAME(get)(b, 0, 3, r.x);
    NAME(get)(b, 1, 3, r.y);
    NAME(get)(b, 2, 1, r.z);
    EACH {
        V reset = VECTOR(sigmoid)(LOAD(r.x, 0) + LOAD(r.y, 0)), z = VECTOR(sigmoid)(LOAD(r.x, 1) + LOAD(r.y, 1));
        V part = LOAD(r.y, 2), n = TANH(LOAD(r.x, 2) + reset * part);
        VECTOR(store)(r.x[0] + i, reset);
        VECTOR(store)(r.x[1] + i, z);
        VECTOR(store)(r.x[2] + i, n);
        VECTOR(store)(r.x[3] + i, part);
        VECTOR(store)(r.z[0] + i, (VECTOR(all)(1) - z) * n + z * LOAD(r.z, 0));
    }
    NAME(put)(b, 0, 1, r.z);
    if (b->cell->call->n_out > 1) NAME(put)(b, 1, 4, r.x);
}

static void NAME(rnn_backward)(const struct block *b) {
    struct NAME(room) r;
    bool relu = b->cell->call->p.cell.relu;
    NAME(get)(b, 0, 1, r.x);
    NAME(get)(b, 1, 1, r.y);
    NAME(get)(b, 2, 1, r.z);
    EACH {
        V d = LOAD(r.x, 0) + LOAD(r.y, 0), y = LOAD(r.z, 0), zero = VECTOR(all)(0);
        /* Below the least number is y <= 0, and not NaN. */
        V cut = VECTOR(below)(y, VECTOR(all)(LEAST), zero, d), bent = d * NAME(tanh_slope)(y);
        VECTOR(store)(r.z[0] + i, relu ? cut : bent);
    }
    NAME(put)(b, 0, 1, r.z);
}

static void NAME(lstm_backward)(const struct block *b) {
    struct NAME(room) r;
    T state[4][PIECE]; /* carry, c, next_c; then the gradient of c */
    NAME(get)(b, 0, 1, r.x);
    NAME(get)(b, 1, 1, r.y);
    NAME(get)(b, 2, 1, state);
    NAME(get)(b, 3, 4, r.z);
    NAME(get)(b, 4, 1, state + 1);
    NAME(get)(b, 5, 1, state + 2);
    EACH {
        V in = LOAD(r.z, 0), forget = LOAD(r.z, 1), g = LOAD(r.z, 2), o = LOAD(r.z, 3);
        V d = LOAD(r.x, 0) + LOAD(r.y, 0), t = TANH(LOAD(state, 2));
        V of_c = LOAD(state, 0) + d * o * NAME(tanh_slope)(t);
        VECTOR(store)(r.z[0] + i, of_c * g * NAME(sigmoid_slope)(in));
        VECTOR(store)(r.z[1] + i, of_c * LOAD(state, 1) * NAME(sigmoid_slope)(forget));
        VECTOR(store)(r.z[2] + i, of_c * in * NAME(tanh_slope)(g));
        VECTOR(store)(r.z[3] + i, d * t * NAME(sigmoid_slope)(o));
        VECTOR(store)(state[3] + i, of_c * forget);
    }
    NAME(put)(b, 0, 4, r.z);
    NAME(put)(b, 1, 1, state + 3);
}

static void NAME(gru_backward)(const struct block *b) {
    struct NAME(room) r;
    T state[2][PIECE]; /* carry, h; then what is carried on */
    NAME(get)(b, 0, 1, r.x);
    NAME(get)(b, 1, 1, r.y);
    NAME(get)(b, 2, 1, state);
    NAME(get)(b, 3, 4, r.z);
    NAME(get)(b, 4, 1, state + 1);
    EACH {
        V reset = LOAD(r.z, 0), z = LOAD(r.z, 1), n = LOAD(r.z, 2), part = LOAD(r.z, 3);
        V d = LOAD(r.x, 0) + LOAD(r.y, 0) + LOAD(state, 0);
        V of_n = d * (VECTOR(all)(1) - z) * NAME(tanh_slope)(n);
        VECTOR(store)(r.z[0] + i, of_n * part * NAME(sigmoid_slope)(reset));
        VECTOR(store)(r.z[1] + i, d * (LOAD(state, 1) - n) * NAME(sigmoid_slope)(z));
        VECTOR(store)(r.z[2] + i, of_n);
        VECTOR(store)(r.z[3] + i, of_n * reset);
        VECTOR(store)(state[0] + i, d * z);
    }
    NAME(put)(b, 0, 3, r.z);
    memcpy(r.z[2], r.z[3], sizeof r.z[2]);
    NAME(put)(b, 1, 3, r.z);
    NAME(put)(b, 2, 1, state);
}

static void NAME(step)(const struct block *b) {
    switch ((int)b->cell->call->op) {
    case WICK_OP_rnn_cell: NAME(rnn)(b); return;
    case WICK_OP_lstm_cell: NAME(lstm)(b); return;
    case WICK_OP_gru_cell: NAME(gru)(b); return;
    case WICK_OP_rnn_cell_backward: NAME(rnn_backward)(b); return;
    case WICK_OP_lstm_cell_backward: NAME(lstm_backward)(b); return;
    default: NAME(gru_backward)(b); return;
    }
}

#undef NAME
#undef LOAD
#undef EACH
#undef T
#undef V
#undef VECTOR
#undef LANES
#undef TANH
#undef LEAST
#undef SUFFIX
