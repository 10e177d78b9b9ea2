/* Recurrent layers: gradients with dropout against differences, in f64; sequences that are cut in two; padding that has
 * no effect; and rules. On the device named in argv[1], the CPU without one. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

static struct wick_device *device;

enum { STEPS = 4, BATCH = 3, INPUTS = 2, HIDDEN = 3, LAYERS = 2, MOST = 16 };

/* Two layers in two directions. */
struct layers {
    struct wick_recurrent_options options;
    struct wick_tensor *weights[MOST];
    int n;
};

static void make(struct layers *l, enum wick_recurrent_mode mode, enum wick_dtype dtype) {
    int64_t gates = mode == WICK_LSTM ? 4 : mode == WICK_GRU ? 3 : 1;
    l->options = (struct wick_recurrent_options){
        .mode = mode, .hidden = HIDDEN, .layers = LAYERS, .bidirectional = true, .dropout = 0.4, .seed = 7};
    l->n = 0;
    for (int ld = 0; ld < 2 * LAYERS; ld++) {
        int64_t in = ld < 2 ? INPUTS : 2 * HIDDEN;
        l->weights[l->n++] = wick_normal(device, dtype, WICK_SHAPE(gates * HIDDEN, in), 0, 0.5);
        l->weights[l->n++] = wick_normal(device, dtype, WICK_SHAPE(gates * HIDDEN, HIDDEN), 0, 0.5);
        l->weights[l->n++] = wick_normal(device, dtype, WICK_SHAPE(gates * HIDDEN), 0, 0.5);
        l->weights[l->n++] = wick_normal(device, dtype, WICK_SHAPE(gates * HIDDEN), 0, 0.5);
    }
}

/* ---- differences ---- */

/* The sum of g and the result. */
static double loss(const struct layers *l, const struct wick_tensor *x, const struct wick_tensor *g) {
    double y = 0;
    const struct wick_tensor *result = wick_recurrent(x, l->n, l->weights, &l->options);
    CHECK_OK(wick_read(wick_sum(wick_mul(g, result), WICK_ALL_DIMS, false), &y, sizeof y));
    return y;
}

/* Compares the gradient by x, or by weight `which`, with central differences. */
static void check_differences(const struct layers *l, const struct wick_tensor *x, const struct wick_tensor *g,
                              int which, const struct wick_tensor *gradient) {
    const struct wick_tensor *varied = which < 0 ? x : l->weights[which];
    double in[128], got[128], step = 1e-5;
    int64_t count = wick_tensor_count(varied);
    CHECK_INT(wick_tensor_count(gradient), count);
    CHECK_OK(wick_read(varied, in, sizeof *in * (size_t)count));
    CHECK_OK(wick_read(gradient, got, sizeof *got * (size_t)count));
    for (int64_t i = 0; i < count; i++) {
        double side[2], at = in[i];
        for (int k = 0; k < 2; k++) {
            struct layers near = *l;
            in[i] = at + (k ? step : -step);
            wick_scope_begin();
            struct wick_tensor *moved = wick_from_data(device, WICK_F64, wick_tensor_rank(varied),
                                                       wick_tensor_shape(varied), in, sizeof *in * (size_t)count);
            if (which >= 0) near.weights[which] = moved;
            side[k] = loss(&near, which < 0 ? moved : x, g);
            wick_scope_end(NULL);
        }
        in[i] = at;
        CHECK_NEAR(got[i], (side[1] - side[0]) / (2 * step), 1e-7);
    }
}

static void check_dropout(enum wick_recurrent_mode mode, const int64_t *lengths) {
    struct layers l;
    struct wick_tensor *reserve[3], *by_weight[MOST];
    wick_scope_begin();
    make(&l, mode, WICK_F64);
    l.options.lengths = lengths;
    l.options.n_lengths = lengths ? BATCH : 0;
    struct wick_tensor *x = wick_normal(device, WICK_F64, WICK_SHAPE(STEPS, BATCH, INPUTS), 0, 1);
    struct wick_tensor *g = wick_normal(device, WICK_F64, WICK_SHAPE(STEPS, BATCH, 2 * HIDDEN), 0, 1);
    struct wick_recurrent_options training = l.options, dry = l.options;
    training.reserve = reserve;
    dry.dropout = 0;
    struct wick_tensor *y = wick_recurrent(x, l.n, l.weights, &training);
    struct wick_tensor *other = wick_recurrent(x, l.n, l.weights, &dry);
    CHECK(y && other);
    double all = 0, change = 0;
    CHECK_OK(wick_read_scalar(wick_sum(wick_abs(y), WICK_ALL_DIMS, false), &all));
    CHECK_OK(wick_read_scalar(wick_sum(wick_abs(wick_sub(y, other)), WICK_ALL_DIMS, false), &change));
    CHECK(change > 0.01 * all); /* something was left out */
    struct wick_tensor *by_x = wick_recurrent_backward(x, g, l.n, l.weights, &training,
                                                       &(struct wick_recurrent_backward_options){.weights = by_weight});
    check_differences(&l, x, g, -1, by_x);
    for (int i = 0; i < l.n; i++) check_differences(&l, x, g, i, by_weight[i]);
    wick_scope_end(NULL);
}

/* ---- sequences ---- */

/* The largest difference of two tensors. */
static double apart(const struct wick_tensor *a, const struct wick_tensor *b) {
    double most = INFINITY;
    CHECK_OK(wick_read_scalar(wick_max(wick_abs(wick_sub(a, b)), WICK_ALL_DIMS, false), &most));
    return most;
}

/* One direction goes on where the first half stopped. */
static void check_halves(enum wick_recurrent_mode mode) {
    struct layers l;
    struct wick_tensor *h = NULL, *c = NULL, *halves[2];
    bool lstm = mode == WICK_LSTM;
    wick_scope_begin();
    make(&l, mode, WICK_F32);
    struct wick_tensor *weights[4] = {l.weights[0], l.weights[1], l.weights[2], l.weights[3]};
    struct wick_recurrent_options options = {.mode = mode, .hidden = HIDDEN}, first = options, second = options;
    struct wick_tensor *x = wick_normal(device, WICK_F32, WICK_SHAPE(STEPS, BATCH, INPUTS), 0, 1);
    struct wick_tensor *whole = wick_recurrent(x, 4, weights, &options);
    first.last_h = &h;
    if (lstm) first.last_c = &c;
    halves[0] = wick_recurrent(wick_narrow(x, 0, 0, 2), 4, weights, &first);
    second.h = h;
    second.c = c;
    halves[1] = wick_recurrent(wick_narrow(x, 0, 2, STEPS - 2), 4, weights, &second);
    CHECK(apart(whole, wick_cat(2, halves, 0)) == 0);
    wick_scope_end(NULL);
}

/* Elements behind the end have no effect, and the result is 0 there; a sequence is what it is alone. */
static void check_padding(enum wick_recurrent_mode mode) {
    const int64_t lengths[BATCH] = {2, STEPS, 0};
    struct layers l;
    wick_scope_begin();
    make(&l, mode, WICK_F64);
    l.options.lengths = lengths;
    l.options.n_lengths = BATCH;
    struct wick_tensor *x = wick_normal(device, WICK_F64, WICK_SHAPE(STEPS, BATCH, INPUTS), 0, 1);
    struct wick_tensor *bad = wick_clone(x), *behind = wick_narrow(wick_narrow(bad, 1, 0, 1), 0, 2, 2);
    CHECK_OK(wick_fill_inplace(behind, WICK_REAL(NAN)));
    l.options.dropout = 0;
    struct wick_tensor *y = wick_recurrent(x, l.n, l.weights, &l.options);
    struct wick_tensor *z = wick_recurrent(bad, l.n, l.weights, &l.options);
    CHECK(apart(y, z) == 0);
    struct wick_tensor *empty = wick_narrow(wick_narrow(y, 1, 0, 1), 0, 2, 2);
    CHECK(apart(empty, wick_zeros_like(empty)) == 0);
    struct wick_recurrent_options alone = l.options;
    alone.lengths = NULL;
    alone.n_lengths = 0;
    struct wick_tensor *one = wick_recurrent(wick_narrow(wick_narrow(x, 1, 0, 1), 0, 0, 2), l.n, l.weights, &alone);
    CHECK(apart(one, wick_narrow(wick_narrow(y, 1, 0, 1), 0, 0, 2)) < 1e-14);
    wick_scope_end(NULL);
}

/* ---- rules ---- */

static void refuses(const struct wick_tensor *result, enum wick_status status, const char *rule) {
    CHECK(!result && wick_error_status() == status);
    if (!strstr(wick_error(), rule)) CHECK_TEXT(wick_error(), rule);
    wick_error_clear();
}

static struct layers rules;
static struct wick_tensor *rules_x;

/* A call with other options. */
static struct wick_tensor *with(struct wick_recurrent_options options) {
    return wick_recurrent(rules_x, rules.n, rules.weights, &options);
}

static void check_option_rules(void) {
    struct wick_recurrent_options good = rules.options, o;
    const int64_t lengths[BATCH] = {1, 5, 2};
    struct wick_tensor *c = NULL;
#define REFUSES(member, value, status, rule)                                                                           \
    o = good;                                                                                                          \
    o.member = value;                                                                                                  \
    refuses(with(o), status, rule)
    CHECK(with(good) != NULL);
    REFUSES(mode, (enum wick_recurrent_mode)9, WICK_INVALID, "mode 9 is outside its enum");
    REFUSES(hidden, 0, WICK_INVALID, "hidden = 0 is not 1 or more");
    REFUSES(hidden, 4, WICK_SHAPE, "the Wi of layer 0, must be [12,2]");
    REFUSES(layers, -1, WICK_INVALID, "-1 layers");
    REFUSES(layers, 3, WICK_INVALID, "16 weights, not 24");
    REFUSES(projection, 1, WICK_INVALID, "only an LSTM has a projection");
    REFUSES(dropout, 1, WICK_INVALID, "dropout = 1 is not in 0..1");
    REFUSES(dropout, NAN, WICK_INVALID, "is not in 0..1");
    REFUSES(last_c, &c, WICK_INVALID, "only an LSTM has c");
    REFUSES(h, rules_x, WICK_SHAPE, "h is [4,3,2] f32 on ");
    REFUSES(reserved[7], 1, WICK_INVALID, "later version");
    o = good;
    o.lengths = lengths;
    o.n_lengths = 2;
    refuses(with(o), WICK_SHAPE, "2 lengths for 3 sequences");
    o.n_lengths = 3;
    refuses(with(o), WICK_RANGE, "length 5 of sequence 1 is not in 0..4");
    refuses(wick_recurrent(rules_x, rules.n, rules.weights, NULL), WICK_INVALID, "options is NULL");
    refuses(wick_recurrent(wick_select(rules_x, 0, 0), rules.n, rules.weights, &good), WICK_SHAPE, "x must be [T,N,I]");
    refuses(wick_recurrent(NULL, rules.n, rules.weights, &good), WICK_INVALID, "x is NULL");
    refuses(wick_recurrent(rules_x, rules.n, NULL, &good), WICK_INVALID, "weights at NULL");
    CHECK(!c);
}

static void check_gradient_rules(void) {
    struct wick_tensor *reserve[3] = {NULL}, *c = NULL;
    struct wick_recurrent_options good = rules.options;
    refuses(wick_recurrent_backward(rules_x, NULL, rules.n, rules.weights, &good, NULL), WICK_INVALID,
            "the reserve is not that of such a call");
    good.reserve = reserve;
    refuses(wick_recurrent_backward(rules_x, NULL, rules.n, rules.weights, &good, NULL), WICK_INVALID,
            "the reserve is not that of such a call");
    CHECK(with(good) != NULL);
    CHECK(wick_recurrent_backward(rules_x, NULL, rules.n, rules.weights, &good, NULL) != NULL);
    refuses(wick_recurrent_backward(rules_x, rules_x, rules.n, rules.weights, &good, NULL), WICK_SHAPE,
            "gradient must be [4,3,6]");
    refuses(wick_recurrent_backward(rules_x, NULL, rules.n, rules.weights, &good,
                                    &(struct wick_recurrent_backward_options){.c = &c}),
            WICK_INVALID, "only an LSTM has c");
    refuses(wick_recurrent_backward(rules_x, NULL, rules.n, rules.weights, &good,
                                    &(struct wick_recurrent_backward_options){.last_h = rules_x}),
            WICK_SHAPE, "the gradient of last_h is [4,3,2]");
    refuses(wick_recurrent_backward(rules_x, NULL, rules.n, rules.weights, &good,
                                    &(struct wick_recurrent_backward_options){.reserved = {[7] = 1}}),
            WICK_INVALID, "later version");
    CHECK(!c);
}

static void check_cell_rules(void) {
    struct wick_tensor *a = wick_ones(device, WICK_F32, WICK_SHAPE(2, 12)),
                       *h = wick_ones(device, WICK_F32, WICK_SHAPE(2, 3));
    struct wick_tensor *wide = wick_ones(device, WICK_F64, WICK_SHAPE(2, 3)), *next = NULL, *more = NULL;
    refuses(wick_rnn_cell(a, h, false), WICK_SHAPE, "hidden must be [2,12]");
    refuses(wick_rnn_cell(a, NULL, false), WICK_INVALID, "hidden is NULL");
    refuses(wick_lstm_cell(a, a, a, &next, NULL), WICK_SHAPE, "c must be [2,3]");
    refuses(wick_lstm_cell(a, a, wide, &next, NULL), WICK_DTYPE, "c must be f32");
    refuses(wick_lstm_cell(a, a, h, NULL, NULL), WICK_INVALID, "next_c is NULL");
    refuses(wick_lstm_cell(h, h, h, &next, NULL), WICK_SHAPE, "input must be [N,4H]");
    refuses(wick_gru_cell(a, a, h, &next), WICK_SHAPE, "h must be [2,4]");
    refuses(wick_lstm_cell_backward(h, h, h, h, NULL, &next), WICK_SHAPE, "gates must be [N,4H]");
    refuses(wick_lstm_cell_backward(h, a, h, h, NULL, NULL), WICK_INVALID, "c_gradient is NULL");
    refuses(wick_lstm_cell_backward(h, a, h, h, &(struct wick_cell_backward_options){.next = a}, &next), WICK_SHAPE,
            "next must be [2,3]");
    refuses(wick_gru_cell_backward(h, a, h, &(struct wick_cell_backward_options){.carry = wide}, &next, &more),
            WICK_DTYPE, "carry must be f32");
    refuses(wick_gates_reorder(h, WICK_LSTM, WICK_GATES_ONNX, WICK_GATES_PYTORCH), WICK_SHAPE, "4 gates do not divide");
    refuses(wick_gates_reorder(a, WICK_LSTM, (enum wick_gate_order)3, WICK_GATES_PYTORCH), WICK_INVALID, "order 3");
    CHECK(!next && !more);
}

int main(int argc, char **argv) {
    const int64_t lengths[BATCH] = {2, 4, 1};
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) test_skip(wick_error());
    CHECK_OK(wick_seed_set(device, 3));
    for (int mode = WICK_RNN_TANH; mode <= WICK_GRU; mode++) {
        if (mode != WICK_RNN_RELU) { /* a corner may lie between the two sides of a difference */
            check_dropout((enum wick_recurrent_mode)mode, NULL);
            check_dropout((enum wick_recurrent_mode)mode, lengths);
        }
        check_halves((enum wick_recurrent_mode)mode);
        check_padding((enum wick_recurrent_mode)mode);
    }
    wick_scope_begin();
    make(&rules, WICK_GRU, WICK_F32);
    rules_x = wick_normal(device, WICK_F32, WICK_SHAPE(STEPS, BATCH, INPUTS), 0, 1);
    check_option_rules();
    check_gradient_rules();
    check_cell_rules();
    wick_scope_end(NULL);
    wick_device_close(device);
    return test_end();
}
