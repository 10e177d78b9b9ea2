/* Cases of the composed_loss family. Operands are the op's, in its order. i[0] is the reduction, i[1] swap, i[2]
 * whether the other gradients are wanted; f[0] is the margin, f[1] p, f[2] epsilon. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

static const struct {
    int rank;
    int64_t shape[2];
    double p;
    bool swap;
} shapes[] = {{2, {4, 6}, 2, false}, {1, {5}, 2, true},     {2, {0, 3}, 2, false},
              {2, {3, 40}, 1, true}, {2, {5, 7}, 3, false}, {2, {7, 33}, 2, true}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool is_cosine(enum wick_op op) {
    return op == WICK_OP_cosine_embedding_loss || op == WICK_OP_cosine_embedding_loss_backward;
}
static bool is_backward(enum wick_op op) {
    return op == WICK_OP_cosine_embedding_loss_backward || op == WICK_OP_triplet_margin_loss_backward;
}

static int rows_cases(enum wick_op op) {
    (void)op;
    return SHAPES;
}

static void rows_make(enum wick_op op, int k, struct verify_case *c) {
    int x = is_backward(op);
    c->n_in = x + 3;
    c->i[0] = k == 0 ? WICK_LOSS_NONE : k % 3;
    c->i[1] = shapes[k].swap;
    c->i[2] = x && k % 3 != 2;
    c->n_out = !c->i[2] ? 1 : is_cosine(op) ? 2 : 3;
    c->f[0] = is_cosine(op) ? -0.25 : 2;
    c->f[1] = shapes[k].p;
    c->f[2] = 0.125;
    for (int i = x; i < c->n_in; i++) {
        c->in[i] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -2, .high = 2};
        memcpy(c->in[i].shape, shapes[k].shape, sizeof shapes[k].shape);
    }
    if (is_cosine(op)) c->in[x + 2].rank--; /* y; call makes 1 and -1 of it */
    if (!x) return;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .low = -4, .high = 4, .rank = 0};
    if (c->i[0] != WICK_LOSS_NONE) return;
    c->in[0].rank = shapes[k].rank - 1;
    c->in[0].shape[0] = shapes[k].shape[0];
}

static bool cosine_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    const struct wick_cosine_options options = {.margin = c->f[0], .reduction = (enum wick_reduction)c->i[0]};
    int x = is_backward(c->op);
    wick_scope_begin();
    struct wick_tensor *y = in[x + 2], *loss;
    if (wick_supports(verify_device(), c->op, c->dtype))
        y = wick_affine(wick_cast(wick_gt_scalar(y, WICK_INT(0)), c->dtype), WICK_INT(2), WICK_INT(-1));
    if (x)
        loss = wick_cosine_embedding_loss_backward(in[0], in[1], in[2], y, &options, c->n_out > 1 ? &out[1] : NULL);
    else
        loss = wick_cosine_embedding_loss(in[0], in[1], y, &options);
    if (loss && c->n_out > 1) wick_keep(out[1]);
    out[0] = wick_scope_end(loss);
    return out[0] != NULL;
}

static bool rows_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    const struct wick_triplet_options options = {.margin = c->f[0],
                                                 .p = c->f[1],
                                                 .epsilon = c->f[2],
                                                 .swap = c->i[1] != 0,
                                                 .reduction = (enum wick_reduction)c->i[0],
                                                 .positive_gradient = c->n_out > 1 ? &out[1] : NULL,
                                                 .negative_gradient = c->n_out > 1 ? &out[2] : NULL};
    if (is_cosine(c->op)) return cosine_call(c, in, out);
    if (is_backward(c->op))
        out[0] = wick_triplet_margin_loss_backward(in[0], in[1], in[2], in[3], &options);
    else
        out[0] = wick_triplet_margin_loss(in[0], in[1], in[2], &options);
    return out[0] != NULL;
}

/* ---- a row ---- */

/* Rows of three operands, d long; `g` is what its gradient is multiplied with. */
struct row {
    const struct verify_case *c;
    const double *x[3];
    int64_t d;
    bool positive; /* y is 1 */
    long double g;
};

static long double dot(const double *a, const double *b, int64_t d) {
    long double sum = 0;
    for (int64_t i = d - 1; i >= 0; i--) sum += (long double)a[i] * b[i];
    return sum;
}

static long double distance(const struct row *r, int a, int b) {
    long double sum = 0;
    for (int64_t i = r->d - 1; i >= 0; i--)
        sum += powl(fabsl(r->x[a][i] - r->x[b][i] + (long double)r->c->f[2]), r->c->f[1]);
    return powl(sum, 1 / (long double)r->c->f[1]);
}

static long double square(const struct row *r, int i) { return dot(r->x[i], r->x[i], r->d) + 1e-12L; }

static long double cosine(const struct row *r) {
    return dot(r->x[0], r->x[1], r->d) / sqrtl(square(r, 0) * square(r, 1));
}

static long double loss_of(const struct row *r) {
    long double margin = r->c->f[0], over;
    if (is_cosine(r->c->op)) {
        over = r->positive ? 1 - cosine(r) : cosine(r) - margin;
    } else {
        long double far = distance(r, 0, 2);
        if (r->c->i[1]) far = fminl(far, distance(r, 1, 2));
        over = distance(r, 0, 1) - far + margin;
    }
    return over > 0 ? over : 0;
}

/* What is added up in a loss, which may be much smaller. */
static double size_of(const struct row *r) {
    if (is_cosine(r->c->op)) return verify_scale_row_loss(2, 1);
    return verify_scale_row_loss((double)(distance(r, 0, 1) + distance(r, 0, 2) + fabs(r->c->f[0])), 1);
}

/* The derivative of dist(a, b) by element i of a. */
static long double toward(const struct row *r, int a, int b, int64_t i) {
    long double v = r->x[a][i] - r->x[b][i] + (long double)r->c->f[2], all = distance(r, a, b);
    return v == 0 ? 0 : copysignl(powl(fabsl(v), r->c->f[1] - 1), v) / powl(all, r->c->f[1] - 1);
}

static void triplet_slopes(const struct row *r, int64_t i, long double by[3]) {
    bool nearer = r->c->i[1] && distance(r, 1, 2) < distance(r, 0, 2);
    long double near = toward(r, 0, 1, i), away = toward(r, nearer ? 1 : 0, 2, i);
    by[0] = near - (nearer ? 0 : away);
    by[1] = -near - (nearer ? away : 0);
    by[2] = away;
}

static void cosine_slopes(const struct row *r, int64_t i, long double by[3]) {
    long double sign = r->positive ? -1 : 1, cos = cosine(r);
    long double a = square(r, 0), b = square(r, 1), root = sqrtl(a * b);
    by[0] = sign * (r->x[1][i] / root - cos * r->x[0][i] / a);
    by[1] = sign * (r->x[0][i] / root - cos * r->x[1][i] / b);
}

static void put_slopes(const struct row *r, int64_t first, struct verify_array *out) {
    long double by[3] = {0}, length = 1;
    if (is_cosine(r->c->op)) length = sqrtl(fminl(square(r, 0), square(r, 1)));
    for (int64_t i = 0; i < r->d; i++) {
        is_cosine(r->c->op) ? cosine_slopes(r, i, by) : triplet_slopes(r, i, by);
        for (int k = 0; k < r->c->n_out; k++) {
            out[k].data[first + i] = loss_of(r) > 0 ? (double)(by[k] * r->g) : 0;
            out[k].scale[first + i] = verify_scale_row_loss((double)fabsl(r->g), 1 / (double)length);
        }
    }
}

static bool rows_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int first = is_backward(c->op);
    const struct verify_array *x = &in[first];
    int64_t d = x->shape[x->rank - 1], n = x->rank == 2 ? x->shape[0] : 1;
    bool whole = c->i[0] == WICK_LOSS_NONE;
    long double sum = 0;
    double size = 0, by = c->i[0] == WICK_LOSS_MEAN ? (double)n : 1;
    for (int k = 0; k < c->n_out; k++)
        if (!verify_array_new(&out[k], c->dtype, first ? x->rank : whole ? x->rank - 1 : 0, x->shape, true))
            return false;
    for (int64_t i = 0; i < n; i++) {
        struct row r = {.c = c, .d = d, .g = 1};
        for (int k = 0; k < (is_cosine(c->op) ? 2 : 3); k++) r.x[k] = x[k].data + i * d;
        r.positive = is_cosine(c->op) && x[2].data[i] > 0;
        if (first) {
            r.g = in[0].data[in[0].count == 1 ? 0 : i] / (long double)by;
            put_slopes(&r, i * d, out);
            continue;
        }
        sum += loss_of(&r);
        size += size_of(&r);
        if (whole) out[0].data[i] = (double)loss_of(&r);
        if (whole) out[0].scale[i] = size_of(&r);
    }
    if (first || whole) return true;
    out[0].data[0] = (double)(sum / by);
    out[0].scale[0] = verify_scale_row_loss(size / by, 0);
    return true;
}

const struct verify_family verify_composed_loss = {
    .name = "composed_loss", .cases = rows_cases, .make = rows_make, .call = rows_call, .reference = rows_reference};
