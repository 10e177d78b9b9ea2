/* Cases of the loss family. Operands are the op's, in its order. i[0] is the reduction, i[1] log_target, i[2] whether
 * the gradient of the target is wanted; f[0] is beta or delta. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

static const struct {
    int rank;
    int64_t shape[4];
} shapes[] = {{2, {5, 7}}, {0, {0}}, {1, {1}}, {3, {3, 0, 4}}, {3, {2, 3, 50}}, {2, {33, 40}}, {2, {3, 700}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool is_backward(enum wick_op op) { return op >= WICK_OP_mse_loss_backward; }
/* The loss of a gradient. */
static enum wick_op loss_of(enum wick_op op) {
    return is_backward(op) ? (enum wick_op)(op - WICK_OP_mse_loss_backward + WICK_OP_mse_loss) : op;
}

static int loss_cases(enum wick_op op) { return loss_of(op) == WICK_OP_kl_div_loss ? 2 * SHAPES : SHAPES; }

static void loss_make(enum wick_op op, int k, struct verify_case *c) {
    enum wick_op loss = loss_of(op);
    int x = is_backward(op), s = k % SHAPES;
    bool logits = loss == WICK_OP_binary_cross_entropy_with_logits, binary = loss == WICK_OP_binary_cross_entropy;
    c->i[0] = s == 0 ? WICK_LOSS_NONE : k % (loss == WICK_OP_kl_div_loss ? 4 : 3);
    c->i[1] = k >= SHAPES;
    c->i[2] = k % 2;
    c->f[0] = loss == WICK_OP_smooth_l1_loss && s == 4 ? 0 : 1.5;
    c->n_in = x + (logits ? 4 : binary ? 3 : 2);
    c->n_out = x && c->i[2] ? 2 : 1;
    for (int i = 0; i < c->n_in; i++) {
        c->in[i] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[s].rank, .low = -4, .high = 4};
        memcpy(c->in[i].shape, shapes[s].shape, sizeof shapes[s].shape);
    }
    if (x && c->i[0] != WICK_LOSS_NONE) c->in[0].rank = 0;
    struct verify_operand *of = c->in + x;
    if (logits) of[0].low = -80, of[0].high = 80;
    if (binary) of[0].low = 0, of[0].high = 1;
    if (logits || binary) of[1].low = 0, of[1].high = 1;
    if (loss == WICK_OP_kl_div_loss && !c->i[1]) of[1].low = x ? 1 : 0;
    for (int i = 2; i < c->n_in - x; i++) {
        of[i].low = 0.25;
        if (s % 3 == 1) of[i].role = VERIFY_ABSENT;
        if (s != 5 || i != 3) continue; /* of the last dim alone */
        of[i].rank = 1;
        of[i].shape[0] = shapes[s].shape[1];
    }
}

static bool loss_bench(enum wick_op op, struct verify_case *c) {
    loss_make(op, 0, c);
    for (int i = 0; i < c->n_in; i++)
        verify_operand_resize(&c->in[i], 2, (const int64_t[]){VERIFY_ROWS, VERIFY_COLUMNS});
    return true;
}

static struct wick_tensor *forward(const struct verify_case *c, struct wick_tensor *const *in) {
    enum wick_reduction r = (enum wick_reduction)c->i[0];
    const struct wick_binary_cross_entropy_options binary = {.weight = in[2], .reduction = r};
    const struct wick_binary_cross_entropy_options logits = {.weight = in[2], .pos_weight = in[3], .reduction = r};
    switch ((int)c->op) {
    case WICK_OP_mse_loss: return wick_mse_loss(in[0], in[1], r);
    case WICK_OP_l1_loss: return wick_l1_loss(in[0], in[1], r);
    case WICK_OP_smooth_l1_loss: return wick_smooth_l1_loss(in[0], in[1], c->f[0], r);
    case WICK_OP_huber_loss: return wick_huber_loss(in[0], in[1], c->f[0], r);
    case WICK_OP_kl_div_loss: return wick_kl_div_loss(in[0], in[1], c->i[1] != 0, r);
    case WICK_OP_binary_cross_entropy: return wick_binary_cross_entropy(in[0], in[1], &binary);
    default: return wick_binary_cross_entropy_with_logits(in[0], in[1], &logits);
    }
}

static struct wick_tensor *backward(const struct verify_case *c, struct wick_tensor *const *in,
                                    struct wick_tensor **other) {
    enum wick_reduction r = (enum wick_reduction)c->i[0];
    const struct wick_binary_cross_entropy_options binary = {.weight = in[3], .reduction = r};
    const struct wick_binary_cross_entropy_options logits = {.weight = in[3], .pos_weight = in[4], .reduction = r};
    switch ((int)loss_of(c->op)) {
    case WICK_OP_mse_loss: return wick_mse_loss_backward(in[0], in[1], in[2], r, other);
    case WICK_OP_l1_loss: return wick_l1_loss_backward(in[0], in[1], in[2], r, other);
    case WICK_OP_smooth_l1_loss: return wick_smooth_l1_loss_backward(in[0], in[1], in[2], c->f[0], r, other);
    case WICK_OP_huber_loss: return wick_huber_loss_backward(in[0], in[1], in[2], c->f[0], r, other);
    case WICK_OP_kl_div_loss: return wick_kl_div_loss_backward(in[0], in[1], in[2], c->i[1] != 0, r, other);
    case WICK_OP_binary_cross_entropy: return wick_binary_cross_entropy_backward(in[0], in[1], in[2], &binary, other);
    default: return wick_binary_cross_entropy_with_logits_backward(in[0], in[1], in[2], &logits, other);
    }
}

static bool loss_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    out[0] = is_backward(c->op) ? backward(c, in, c->n_out > 1 ? &out[1] : NULL) : forward(c, in);
    return out[0] != NULL;
}

/* ---- an element ---- */

/* A number, and the sum of the magnitudes it is made of. */
struct number {
    long double value, size;
};

static struct number add(long double a, long double b) { return (struct number){a + b, fabsl(a) + fabsl(b)}; }
static struct number alone(long double a) { return (struct number){a, fabsl(a)}; }

/* The logarithm, and no less than -100. */
static long double bounded(long double x) { return x > 0 ? fmaxl(logl(x), -100) : -100; }

/* Branches by the sign of d, not by |d|. */
static struct number distance(const struct verify_case *c, long double x, long double t) {
    long double a = c->f[0], up = x - t, size = up < 0 ? -up : up;
    switch ((int)loss_of(c->op)) {
    case WICK_OP_mse_loss: return alone(up * up);
    case WICK_OP_l1_loss: return alone(size);
    case WICK_OP_smooth_l1_loss: return a > 0 && up > -a && up < a ? alone(up * up / (2 * a)) : add(size, -a / 2);
    default: return up > -a && up < a ? alone(up * up / 2) : add(a * size, -a * a / 2);
    }
}

static struct number value_of(const struct verify_case *c, const long double e[4]) {
    long double x = e[0], t = e[1];
    struct number y;
    switch ((int)loss_of(c->op)) {
    case WICK_OP_kl_div_loss: return c->i[1] ? add(expl(t) * t, -expl(t) * x) : add(t > 0 ? t * logl(t) : 0, -t * x);
    case WICK_OP_binary_cross_entropy: y = add(-t * bounded(x), -(1 - t) * bounded(1 - x)); break;
    case WICK_OP_binary_cross_entropy_with_logits:
        y = add((1 - t) * log1pl(expl(x)), e[3] * t * log1pl(expl(-x)));
        break;
    default: return distance(c, x, t);
    }
    return (struct number){y.value * e[2], y.size * fabsl(e[2])};
}

/* The derivative by x, or by the target. */
static struct number slope_of(const struct verify_case *c, const long double e[4], bool by_target) {
    long double x = e[0], t = e[1], a = c->f[0], d = x - t, sign = (d > 0) - (d < 0), s;
    struct number y;
    switch ((int)loss_of(c->op)) {
    case WICK_OP_mse_loss: s = d + d; break;
    case WICK_OP_l1_loss: s = sign; break;
    case WICK_OP_smooth_l1_loss: s = sign * d < a ? d / a : sign; break;
    case WICK_OP_huber_loss: s = sign * d < a ? d : a * sign; break;
    case WICK_OP_kl_div_loss:
        s = c->i[1] ? expl(t) : t;
        if (!by_target) return alone(-s);
        y = add(c->i[1] ? t : logl(t), 1);
        y = (struct number){y.value - x, y.size + fabsl(x)};
        return c->i[1] ? (struct number){s * y.value, s * y.size} : y;
    case WICK_OP_binary_cross_entropy:
        y = by_target ? add(bounded(1 - x), -bounded(x)) : alone((x - t) / fmaxl(x * (1 - x), 1e-12));
        return (struct number){y.value * e[2], y.size * fabsl(e[2])};
    default:
        y = by_target ? add(e[3] * log1pl(expl(-x)), -log1pl(expl(x)))
                      : add((1 - t) / (1 + expl(-x)), -e[3] * t / (1 + expl(x)));
        return (struct number){y.value * e[2], y.size * fabsl(e[2])};
    }
    return alone(by_target ? -s : s);
}

/* ---- all of them ---- */

/* Operands of element i: x, target and weights, which are 1 where they are left out. */
static void element(const struct verify_case *c, const struct verify_array *in, int64_t i, long double e[4]) {
    int first = is_backward(c->op);
    for (int k = 0; k < 4; k++) {
        const struct verify_array *from = &in[first + k];
        e[k] = first + k < c->n_in && from->data ? from->data[i % from->count] : 1;
    }
}

static double divisor(const struct verify_case *c, const struct verify_array *x) {
    if (c->i[0] == WICK_LOSS_MEAN) return (double)x->count;
    return c->i[0] == WICK_LOSS_BATCH_MEAN && x->rank > 0 ? (double)x->shape[0] : 1;
}

static bool loss_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    const struct verify_array *x = &in[is_backward(c->op)];
    bool whole = is_backward(c->op) || c->i[0] == WICK_LOSS_NONE;
    double by = divisor(c, x), growth = whole ? 1 : verify_scale_growth(c->dtype == WICK_F64, (double)x->count);
    long double e[4], sum = 0, size = 0;
    for (int i = 0; i < c->n_out; i++)
        if (!verify_array_new(&out[i], c->dtype, whole ? x->rank : 0, x->shape, true)) return false;
    for (int64_t i = 0; i < x->count; i++) {
        element(c, in, i, e);
        struct number y = is_backward(c->op) ? slope_of(c, e, false) : value_of(c, e);
        sum += y.value;
        size += y.size;
        long double g = is_backward(c->op) ? in[0].data[in[0].count == 1 ? 0 : i] / (long double)by : 1;
        for (int k = 0; whole && k < c->n_out; k++) {
            if (k == 1) y = slope_of(c, e, true);
            out[k].data[i] = (double)(y.value * g);
            out[k].scale[i] = verify_scale_loss((double)(y.size * fabsl(g)), growth, 1);
        }
    }
    if (whole) return true;
    out[0].data[0] = (double)(sum / by);
    out[0].scale[0] = verify_scale_loss((double)size, growth, by);
    return true;
}

const struct verify_family verify_loss = {.name = "loss",
                                          .cases = loss_cases,
                                          .make = loss_make,
                                          .bench = loss_bench,
                                          .call = loss_call,
                                          .reference = loss_reference};
