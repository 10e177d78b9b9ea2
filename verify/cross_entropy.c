/* Cases of the cross_entropy family. Operands: x, ids or probabilities, weight; of gradients the gradient before them.
 * i[0] is the reduction, i[1] whether an id is ignored, i[2] which, i[3] whether another result is wanted; f[0] is the
 * smoothing. The gradients take what the losses give. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

static const struct {
    int rank;
    int64_t shape[4];
} shapes[] = {{2, {4, 5}},  {1, {9}},          {3, {2, 3, 7}}, {2, {6, 1}},   {2, {0, 4}},
              {2, {5, 40}}, {4, {2, 5, 3, 4}}, {3, {3, 4, 0}}, {2, {3, 600}}, {3, {2, 70, 66}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool is_backward(enum wick_op op) { return op >= WICK_OP_cross_entropy_backward; }
static bool is_soft(enum wick_op op) {
    return op == WICK_OP_cross_entropy_soft || op == WICK_OP_cross_entropy_soft_backward;
}
static bool is_nll(enum wick_op op) { return op == WICK_OP_nll_loss || op == WICK_OP_nll_loss_backward; }

static int classes_cases(enum wick_op op) {
    (void)op;
    return SHAPES;
}

/* Takes the classes out of a shape. */
static void rows(struct verify_operand *operand) {
    int along = operand->rank > 1;
    for (int d = along; d + 1 < operand->rank; d++) operand->shape[d] = operand->shape[d + 1];
    operand->rank--;
}

static void classes_make(enum wick_op op, int k, struct verify_case *c) {
    int x = is_backward(op);
    int64_t n = shapes[k].shape[shapes[k].rank > 1];
    c->n_in = x + 3;
    c->i[0] = k == 0 ? WICK_LOSS_NONE : k % 3;
    c->i[1] = !is_soft(op) && k % 2;
    c->i[2] = k % 4;
    c->i[3] = (is_soft(op) || !is_nll(op)) && k % 4 != 3 && (!x || is_soft(op));
    c->f[0] = is_nll(op) || k % 4 == 1 ? 0 : 0.25 * (k % 3);
    c->n_out = 1 + (int)c->i[3];
    c->in[x] = (struct verify_operand){
        .role = VERIFY_VALUE, .rank = shapes[k].rank, .low = is_nll(op) ? -8 : -6, .high = is_nll(op) ? 0 : 6};
    memcpy(c->in[x].shape, shapes[k].shape, sizeof shapes[k].shape);
    c->in[x + 1] = c->in[x];
    if (is_soft(op)) {
        c->in[x + 1].low = 0;
        c->in[x + 1].high = 1;
    } else {
        c->in[x + 1].role = VERIFY_INDEX;
        c->in[x + 1].low = 0;
        c->in[x + 1].high = (double)(n - 1 < 200 ? n - 1 : 100);
        rows(&c->in[x + 1]);
    }
    c->in[x + 2] = (struct verify_operand){
        .role = k % 3 == 1 ? VERIFY_ABSENT : VERIFY_VALUE, .rank = 1, .shape = {n}, .low = 0.25, .high = 2};
    if (!x) return;
    c->in[0] = c->in[1];
    c->in[0].low = -4;
    c->in[0].high = 4;
    rows(&c->in[0]);
    if (c->i[0] != WICK_LOSS_NONE) c->in[0].rank = 0;
}

static bool classes_bench(enum wick_op op, struct verify_case *c) {
    const int64_t shape[2] = {VERIFY_ROWS, VERIFY_COLUMNS};
    int x = is_backward(op);
    classes_make(op, 3, c);
    c->i[0] = WICK_LOSS_NONE;
    c->i[1] = c->i[3] = 0;
    c->n_out = 1;
    c->f[0] = 0;
    verify_operand_resize(&c->in[x], 2, shape);
    verify_operand_resize(&c->in[x + 1], is_soft(op) ? 2 : 1, shape);
    if (!is_soft(op)) c->in[x + 1].high = 200;
    c->in[x + 2].role = VERIFY_ABSENT;
    if (x) verify_operand_resize(&c->in[0], 1, shape);
    return true;
}

static struct wick_tensor *forward(enum wick_op op, struct wick_tensor *const *in,
                                   const struct wick_cross_entropy_options *options) {
    if (is_nll(op)) return wick_nll_loss(in[0], in[1], options);
    return (is_soft(op) ? wick_cross_entropy_soft : wick_cross_entropy)(in[0], in[1], options);
}

static bool backward(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out,
                     struct wick_cross_entropy_options *options) {
    struct wick_tensor *log_sums = NULL, *total = NULL;
    struct wick_cross_entropy_options places = *options;
    if (!is_nll(c->op)) places.log_sums = &log_sums;
    if (!is_soft(c->op) && options->reduction == WICK_LOSS_MEAN) places.total_weight = &total;
    if (!wick_supports(verify_device(), c->op, c->dtype)) { /* the gradient is to refuse, not the loss */
        out[0] = is_nll(c->op)    ? wick_nll_loss_backward(in[0], in[1], in[2], in[0], options)
                 : is_soft(c->op) ? wick_cross_entropy_soft_backward(in[0], in[1], in[2], in[0], options, NULL)
                                  : wick_cross_entropy_backward(in[0], in[1], in[2], in[0], in[0], options);
        return out[0] != NULL;
    }
    struct wick_tensor *loss = forward(c->op, in + 1, &places);
    if (loss && is_nll(c->op))
        out[0] = wick_nll_loss_backward(in[0], in[1], in[2], total, options);
    else if (loss && is_soft(c->op))
        out[0] = wick_cross_entropy_soft_backward(in[0], in[1], in[2], log_sums, options, c->i[3] ? &out[1] : NULL);
    else if (loss)
        out[0] = wick_cross_entropy_backward(in[0], in[1], in[2], log_sums, total, options);
    wick_release(loss);
    wick_release(log_sums);
    wick_release(total);
    return out[0] != NULL;
}

static bool classes_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_cross_entropy_options options = {.weight = in[c->n_in - 1],
                                                 .ignore = c->i[1] != 0,
                                                 .ignored = c->i[2],
                                                 .smoothing = c->f[0],
                                                 .reduction = (enum wick_reduction)c->i[0]};
    if (is_backward(c->op)) return backward(c, in, out, &options);
    if (c->i[3]) options.log_sums = &out[1];
    out[0] = forward(c->op, in, &options);
    return out[0] != NULL;
}

/* ---- a row ---- */

/* A row of x by its operands: `n` classes, `step` apart from `first` on. */
struct row {
    const struct verify_case *c;
    const struct verify_array *x, *target, *weight;
    int64_t n, step, first, number;
    int64_t id; /* -1: left out, or there are probabilities */
};

static struct row row_of(const struct verify_case *c, const struct verify_array *in, int64_t number) {
    const struct verify_array *x = &in[is_backward(c->op)];
    struct row r = {c, x, x + 1, x + 2, x->shape[x->rank > 1], 1, 0, number, -1};
    for (int d = 2; d < x->rank; d++) r.step *= x->shape[d];
    r.first = number / r.step * r.n * r.step + number % r.step;
    if (is_soft(c->op)) return r;
    r.id = (int64_t)r.target->data[number];
    if (c->i[1] && r.id == c->i[2]) r.id = -1;
    return r;
}

static long double at(const struct row *r, int64_t k) { return r->x->data[r->first + k * r->step]; }
static long double weight(const struct row *r, int64_t k) { return r->weight->data ? r->weight->data[k] : 1; }

/* The weight of class k in the target. */
static long double share(const struct row *r, int64_t k) {
    long double s = r->c->f[0], p = r->id == k;
    if (is_soft(r->c->op))
        p = r->target->data[r->first + k * r->step];
    else if (r->id < 0)
        return 0;
    return weight(r, k) * (p - p * s + s / r->n);
}

/* Of x by plain exponentials; 0 of logarithms of probabilities. */
static long double log_sum(const struct row *r) {
    long double sum = 0;
    for (int64_t k = 0; k < r->n; k++) sum += expl(at(r, k));
    return is_nll(r->c->op) ? 0 : logl(sum);
}

/* How far the row's logarithm of a sum may be off: 1 and its distance from the largest element. */
static long double spread(const struct row *r, long double sum) {
    long double most = at(r, 0);
    for (int64_t k = 1; k < r->n; k++) most = fmaxl(most, at(r, k));
    return is_nll(r->c->op) ? 0 : 1 + sum - most;
}

static long double row_weight(const struct row *r) { return is_soft(r->c->op) ? 1 : r->id < 0 ? 0 : weight(r, r->id); }

static long double row_loss(const struct row *r, double *scale) {
    long double sum = log_sum(r), loss = 0, all = 0, terms = 0;
    for (int64_t k = 0; k < r->n; k++) {
        loss += share(r, k) * (sum - at(r, k));
        all += share(r, k);
        terms += share(r, k) * (fabsl(sum) + fabsl(at(r, k)));
    }
    *scale = verify_scale_cross_entropy((double)fabsl(loss), (double)(all * spread(r, sum)),
                                        r->c->dtype == WICK_F64 ? (double)terms : 0);
    return loss;
}

static long double divisor(const struct verify_case *c, const struct verify_array *in, int64_t count) {
    long double sum = 0;
    if (c->i[0] != WICK_LOSS_MEAN) return 1;
    for (int64_t i = 0; i < count; i++) {
        struct row r = row_of(c, in, i);
        sum += row_weight(&r);
    }
    return sum;
}

static void put_slopes(const struct row *r, const struct verify_array *gradient, long double by,
                       struct verify_array *out) {
    long double g = gradient->data[gradient->count == 1 ? 0 : r->number] / by, sum = log_sum(r), all = 0;
    for (int64_t k = 0; k < r->n; k++) all += share(r, k);
    for (int64_t k = 0; k < r->n; k++) {
        int64_t place = r->first + k * r->step;
        long double p = is_nll(r->c->op) ? 0 : expl(at(r, k)) / expl(sum), d = sum - at(r, k);
        bool none = !is_soft(r->c->op) && r->id < 0;
        out[0].data[place] = none ? 0 : (double)(g * (p * all - share(r, k)));
        out[0].scale[place] = verify_scale_cross_entropy((double)(fabsl(g) * share(r, k)),
                                                         (double)(fabsl(g) * p * all * (fabsl(d) + spread(r, sum))), 0);
        if (r->c->n_out == 1) continue;
        long double slope = g * weight(r, k) * (1 - r->c->f[0]);
        out[1].data[place] = (double)(slope * d);
        out[1].scale[place] =
            verify_scale_cross_entropy((double)fabsl(slope * d), (double)fabsl(slope * spread(r, sum)),
                                       r->c->dtype == WICK_F64 ? (double)fabsl(slope * sum) : 0);
    }
}

static bool outputs(const struct verify_case *c, const struct verify_array *x, struct verify_array *out) {
    int64_t shape[WICK_MAX_RANK];
    int rank = 0, along = x->rank > 1;
    bool whole = c->i[0] == WICK_LOSS_NONE;
    for (int d = 0; d < x->rank; d++)
        if (d != along) shape[rank++] = x->shape[d];
    for (int i = 0; i < c->n_out && is_backward(c->op); i++)
        if (!verify_array_new(&out[i], c->dtype, x->rank, x->shape, true)) return false;
    if (is_backward(c->op)) return true;
    return verify_array_new(&out[0], c->dtype, whole ? rank : 0, shape, true) &&
           (c->n_out == 1 || verify_array_new(&out[1], WICK_F64, rank, shape, true));
}

static bool classes_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    const struct verify_array *x = &in[is_backward(c->op)];
    if (!outputs(c, x, out)) return false;
    int64_t n = x->shape[x->rank > 1], count = 1;
    for (int d = 0; d < x->rank; d++) count *= d == (x->rank > 1) ? 1 : x->shape[d];
    long double by = n ? divisor(c, in, count) : 1, sum = 0;
    double size = 0, scale;
    for (int64_t i = 0; i < count; i++) {
        struct row r = row_of(c, in, i);
        if (is_backward(c->op)) {
            put_slopes(&r, &in[0], by, out);
            continue;
        }
        long double loss = row_loss(&r, &scale);
        sum += loss;
        size += scale;
        if (c->i[0] == WICK_LOSS_NONE) {
            out[0].data[i] = (double)loss;
            out[0].scale[i] = scale;
        }
        if (c->n_out == 1) continue;
        out[1].data[i] = (double)log_sum(&r);
        /* In f64, of elements in a smaller dtype. */
        out[1].scale[i] = (double)spread(&r, log_sum(&r)) * (c->dtype == WICK_F64 ? 4 : 0x1p30) + fabs(out[1].data[i]);
    }
    if (is_backward(c->op) || c->i[0] == WICK_LOSS_NONE) return true;
    out[0].data[0] = (double)(sum / by);
    out[0].scale[0] = verify_scale_loss(size, verify_scale_growth(c->dtype == WICK_F64, (double)count), (double)by);
    return true;
}

const struct verify_family verify_cross_entropy = {.name = "cross_entropy",
                                                   .cases = classes_cases,
                                                   .make = classes_make,
                                                   .bench = classes_bench,
                                                   .call = classes_call,
                                                   .reference = classes_reference};
