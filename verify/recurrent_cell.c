/* Cases of the recurrent_cell family, and of composed_gates. i[0] is relu, i[1] whether gates are a result; of
 * gates_reorder, i is mode, from, to. Operands are the op's, in its order. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

enum { INPUT, FORGET, CANDIDATE, OUTPUT };            /* of an LSTM */
enum { RESET, UPDATE, NEW, PART, GRU_INPUTS = PART }; /* of a GRU; PART: the hidden part of n */

static const int64_t sizes[][2] = {{1, 1}, {3, 7}, {2, 16}, {0, 4}, {5, 0}, {4, 33}, {1, 300}, {130, 5}, {33, 40}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static bool is_forward(enum wick_op op) {
    return op == WICK_OP_rnn_cell || op == WICK_OP_lstm_cell || op == WICK_OP_gru_cell;
}
static bool is_lstm(enum wick_op op) { return op == WICK_OP_lstm_cell || op == WICK_OP_lstm_cell_backward; }
static bool is_gru(enum wick_op op) { return op == WICK_OP_gru_cell || op == WICK_OP_gru_cell_backward; }

static int cell_cases(enum wick_op op) {
    (void)op;
    return SIZES;
}

static void matrix(struct verify_operand *operand, enum verify_role role, const int64_t *size, int gates, double most) {
    *operand = (struct verify_operand){.role = role, .rank = 2, .low = -most, .high = most};
    operand->shape[0] = size[0];
    operand->shape[1] = gates * size[1];
}

static void forward_make(struct verify_case *c, const int64_t *size) {
    int gates = is_lstm(c->op) ? 4 : is_gru(c->op) ? GRU_INPUTS : 1;
    c->n_in = gates == 1 ? 2 : 3;
    matrix(&c->in[0], VERIFY_VALUE, size, gates, 4);
    matrix(&c->in[1], VERIFY_VALUE, size, gates, 4);
    if (gates > 1) matrix(&c->in[2], is_lstm(c->op) ? VERIFY_STATISTIC : VERIFY_VALUE, size, 1, 2);
    c->n_out = gates == 1 ? 1 : is_lstm(c->op) ? 2 + (int)c->i[1] : 1 + (int)c->i[1];
}

static void backward_make(struct verify_case *c, const int64_t *size, bool alone) {
    matrix(&c->in[0], VERIFY_VALUE, size, 1, 4);
    matrix(&c->in[1], VERIFY_VALUE, size, 1, 4);
    if (alone) c->in[1].role = VERIFY_ABSENT;
    c->n_in = is_lstm(c->op) ? 6 : is_gru(c->op) ? 5 : 3;
    c->n_out = is_lstm(c->op) ? 2 : is_gru(c->op) ? 3 : 1;
    if (c->n_in == 3) {
        matrix(&c->in[2], VERIFY_VALUE, size, 1, 1);
        return;
    }
    matrix(&c->in[2], alone ? VERIFY_ABSENT : VERIFY_STATISTIC, size, 1, 4);
    matrix(&c->in[3], VERIFY_STATISTIC, size, 4, 1);
    matrix(&c->in[4], is_lstm(c->op) ? VERIFY_STATISTIC : VERIFY_VALUE, size, 1, 2);
    matrix(&c->in[5], VERIFY_STATISTIC, size, 1, 2);
}

static void make_of(enum wick_op op, int k, const int64_t *size, struct verify_case *c) {
    c->op = op;
    c->i[0] = k % 2;
    c->i[1] = k % 3 != 2;
    if (is_forward(op))
        forward_make(c, size);
    else
        backward_make(c, size, k % 3 == 2);
}

static void cell_make(enum wick_op op, int k, struct verify_case *c) { make_of(op, k, sizes[k], c); }

static bool cell_bench(enum wick_op op, struct verify_case *c) {
    make_of(op, 0, (const int64_t[]){VERIFY_ROWS / 4, VERIFY_COLUMNS}, c);
    return true;
}

static bool cell_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    const struct wick_cell_backward_options after = {.next = in[1], .carry = in[2]};
    struct wick_tensor **gates = c->i[1] ? &out[is_lstm(c->op) ? 2 : 1] : NULL;
    switch ((int)c->op) {
    case WICK_OP_rnn_cell: out[0] = wick_rnn_cell(in[0], in[1], c->i[0]); break;
    case WICK_OP_lstm_cell: out[0] = wick_lstm_cell(in[0], in[1], in[2], &out[1], gates); break;
    case WICK_OP_gru_cell: out[0] = wick_gru_cell(in[0], in[1], in[2], gates); break;
    case WICK_OP_rnn_cell_backward: out[0] = wick_rnn_cell_backward(in[0], in[1], in[2], c->i[0]); break;
    case WICK_OP_lstm_cell_backward:
        out[0] = wick_lstm_cell_backward(in[0], in[3], in[4], in[5], &after, &out[1]);
        break;
    default: out[0] = wick_gru_cell_backward(in[0], in[3], in[4], &after, &out[1], &out[2]);
    }
    return out[0] != NULL;
}

/* ---- one element of the state ---- */

struct element {
    const struct verify_array *in;
    struct verify_array *out;
    int64_t row, column, columns;
};

/* Gate k of `gates` of operand i. */
static long double at(const struct element *e, int i, int gates, int k) {
    return e->in[i].data ? e->in[i].data[(e->row * gates + k) * e->columns + e->column] : 0;
}

static void put(const struct element *e, int i, int gates, int k, long double value, long double scale) {
    int64_t p = (e->row * gates + k) * e->columns + e->column;
    e->out[i].data[p] = (double)value;
    e->out[i].scale[p] = verify_scale_cell((double)scale, 0);
}

/* The scale of a term, by the sums that its gates are functions of. */
static double size_of(long double term, long double sums) {
    return verify_scale_cell((double)fabsl(term), (double)fabsl(sums));
}

static long double sigmoid(long double a) { return (1 + tanhl(a / 2)) / 2; }

static void lstm(const struct element *e, bool gates) {
    long double a[4], g[4];
    for (int k = 0; k < 4; k++) {
        a[k] = at(e, 0, 4, k) + at(e, 1, 4, k);
        g[k] = k == CANDIDATE ? tanhl(a[k]) : sigmoid(a[k]);
        if (gates) put(e, 2, 4, k, g[k], size_of(g[k], a[k]));
    }
    long double old = g[FORGET] * at(e, 2, 1, 0), new = g[INPUT] * g[CANDIDATE], c = old + new;
    double size = size_of(old, a[FORGET]) + size_of(new, fabsl(a[INPUT]) + fabsl(a[CANDIDATE]));
    long double h = g[OUTPUT] * tanhl(c);
    put(e, 0, 1, 0, h, size_of(h, a[OUTPUT]) + g[OUTPUT] * size);
    put(e, 1, 1, 0, c, size);
}

static void gru(const struct element *e, bool gates) {
    long double ar = at(e, 0, 3, RESET) + at(e, 1, 3, RESET), az = at(e, 0, 3, UPDATE) + at(e, 1, 3, UPDATE);
    long double r = sigmoid(ar), z = sigmoid(az), part = at(e, 1, 3, NEW), h = at(e, 2, 1, 0);
    long double n = tanhl(at(e, 0, 3, NEW) + r * part);
    double of_n = size_of(n, 0) + size_of(at(e, 0, 3, NEW), 0) + size_of(r * part, 1 + fabsl(ar));
    put(e, 0, 1, 0, n + z * (h - n), of_n + size_of(n, az) + size_of(h, az));
    if (!gates) return;
    put(e, 1, 4, RESET, r, size_of(r, ar));
    put(e, 1, 4, UPDATE, z, size_of(z, az));
    put(e, 1, 4, NEW, n, of_n);
    put(e, 1, 4, PART, part, 0);
}

static void lstm_backward(const struct element *e) {
    long double g[4], d = at(e, 0, 1, 0) + at(e, 1, 1, 0), size = fabsl(at(e, 0, 1, 0)) + fabsl(at(e, 1, 1, 0));
    for (int k = 0; k < 4; k++) g[k] = at(e, 3, 4, k);
    long double t = tanhl(at(e, 5, 1, 0)), old = at(e, 4, 1, 0), cosh = coshl(at(e, 5, 1, 0));
    long double of_c = d * g[OUTPUT] / cosh / cosh + at(e, 2, 1, 0);
    long double most = size * fabsl(g[OUTPUT]) + fabsl(at(e, 2, 1, 0));
    const long double by[4] = {g[CANDIDATE], old, g[INPUT], t};
    for (int k = 0; k < 4; k++) {
        long double slope = k == CANDIDATE ? 1 - g[k] * g[k] : g[k] - g[k] * g[k];
        long double whole = k == CANDIDATE ? 1 + g[k] * g[k] : fabsl(g[k]) + g[k] * g[k];
        put(e, 0, 4, k, slope * by[k] * (k == OUTPUT ? d : of_c), whole * fabsl(by[k]) * (k == OUTPUT ? size : most));
    }
    put(e, 1, 1, 0, of_c * g[FORGET], most * fabsl(g[FORGET]));
}

static void gru_backward(const struct element *e) {
    long double d = at(e, 0, 1, 0) + at(e, 1, 1, 0) + at(e, 2, 1, 0), h = at(e, 4, 1, 0);
    long double size = fabsl(at(e, 0, 1, 0)) + fabsl(at(e, 1, 1, 0)) + fabsl(at(e, 2, 1, 0));
    long double r = at(e, 3, 4, RESET), z = at(e, 3, 4, UPDATE), n = at(e, 3, 4, NEW), part = at(e, 3, 4, PART);
    long double of_n = d * (1 - z) * (1 - n * n), most = size * (1 + fabsl(z)) * (1 + n * n);
    long double of_r = of_n * part * (r - r * r), of_z = d * (h - n) * (z - z * z);
    for (int i = 0; i < 2; i++) {
        put(e, i, 3, RESET, of_r, most * fabsl(part) * (fabsl(r) + r * r));
        put(e, i, 3, UPDATE, of_z, size * (fabsl(h) + fabsl(n)) * (fabsl(z) + z * z));
        put(e, i, 3, NEW, i ? of_n * r : of_n, i ? most * fabsl(r) : most);
    }
    put(e, 2, 1, 0, d * z, size * fabsl(z));
}

static void rnn(const struct element *e, bool forward, bool relu) {
    long double a = at(e, 0, 1, 0) + at(e, 1, 1, 0), size = fabsl(at(e, 0, 1, 0)) + fabsl(at(e, 1, 1, 0));
    if (forward) {
        put(e, 0, 1, 0, relu ? (a > 0 ? a : 0) : tanhl(a), fabsl(a));
        return;
    }
    long double y = at(e, 2, 1, 0);
    put(e, 0, 1, 0, relu ? (y > 0 ? a : 0) : a - a * y * y, relu ? size : size * (1 + y * y));
}

static void element(const struct verify_case *c, const struct element *e) {
    if (is_lstm(c->op))
        (is_forward(c->op)) ? lstm(e, c->i[1]) : lstm_backward(e);
    else if (is_gru(c->op))
        (is_forward(c->op)) ? gru(e, c->i[1]) : gru_backward(e);
    else
        rnn(e, is_forward(c->op), c->i[0]);
}

/* How many gates result i has, and whether it has the dtype of statistics. */
static int result_gates(enum wick_op op, int i, bool *wide) {
    *wide = i > 0 && op != WICK_OP_gru_cell_backward;
    if (op == WICK_OP_gru_cell_backward) *wide = i == 2;
    if (is_forward(op)) return (is_lstm(op) && i == 2) || (is_gru(op) && i == 1) ? 4 : 1;
    if (op == WICK_OP_lstm_cell_backward) return i == 0 ? 4 : 1;
    return is_gru(op) && i < 2 ? 3 : 1;
}

static bool cell_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    const struct verify_array *state = &in[is_forward(c->op) && c->op != WICK_OP_rnn_cell ? 2 : 0];
    for (int i = 0; i < c->n_out; i++) {
        bool wide;
        int gates = result_gates(c->op, i, &wide);
        enum wick_dtype dtype = wide && c->dtype != WICK_F64 ? WICK_F32 : c->dtype;
        const int64_t shape[2] = {state->shape[0], gates * state->shape[1]};
        if (!verify_array_new(&out[i], dtype, 2, shape, true)) return false;
    }
    for (int64_t i = 0; i < state->count; i++) {
        struct element e = {in, out, i / state->shape[1], i % state->shape[1], state->shape[1]};
        element(c, &e);
    }
    return true;
}

const struct verify_family verify_recurrent_cell = {.name = "recurrent_cell",
                                                    .cases = cell_cases,
                                                    .make = cell_make,
                                                    .bench = cell_bench,
                                                    .call = cell_call,
                                                    .reference = cell_reference};

/* ---- gates in another order ---- */

static int gates_cases(enum wick_op op) {
    (void)op;
    return 27;
}

static void gates_make(enum wick_op op, int k, struct verify_case *c) {
    (void)op;
    const int64_t modes[3] = {WICK_LSTM, WICK_GRU, WICK_RNN_TANH};
    c->i[0] = modes[k / 9];
    c->i[1] = k / 3 % 3;
    c->i[2] = k % 3;
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 1 + k % 2, .shape = {12 * (k % 4), 3}};
}

static bool gates_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    out[0] = wick_gates_reorder(in[0], (enum wick_recurrent_mode)c->i[0], (enum wick_gate_order)c->i[1],
                                (enum wick_gate_order)c->i[2]);
    return out[0] != NULL;
}

/* By the letters of gates. */
static bool gates_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    static const char *const lstm_orders[3] = {"ifgo", "iofg", "ifog"}, *const gru_orders[3] = {"rzn", "zrn", "zrn"};
    const char *const *orders = c->i[0] == WICK_LSTM ? lstm_orders : gru_orders;
    const char *from = c->i[0] == WICK_RNN_TANH ? "h" : orders[c->i[1]];
    const char *to = c->i[0] == WICK_RNN_TANH ? "h" : orders[c->i[2]];
    if (!verify_array_new(out, c->dtype, in->rank, in->shape, false)) return false;
    int64_t part = in->count / (int64_t)strlen(to);
    for (int64_t i = 0; i < in->count; i++)
        out->data[i] = in->data[(strchr(from, to[i / part]) - from) * part + i % part];
    return true;
}

const struct verify_family verify_composed_gates = {.name = "composed_gates",
                                                    .cases = gates_cases,
                                                    .make = gates_make,
                                                    .call = gates_call,
                                                    .reference = gates_reference};
