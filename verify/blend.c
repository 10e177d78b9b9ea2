/* Cases of the composed_blend family. nan_to_num: f are its numbers. isclose: f
 * are the tolerances, i[0] equal_nan. linspace: f are the ends, i[0] is n.
 * roll_dims: i[0] is n, then shifts, then dims. addmm, baddbmm: f is beta,
 * alpha. */
#include "verify/elementwise.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

static bool is_product(enum wick_op op) { return op == WICK_OP_addmm || op == WICK_OP_baddbmm; }

enum { LINES = 5, ROLLS = 5, PRODUCTS = 5, PAIRS = 6 };

static int blend_cases(enum wick_op op) {
    if (op == WICK_OP_linspace) return LINES;
    if (op == WICK_OP_roll_dims) return ROLLS;
    if (is_product(op)) return PRODUCTS;
    return op == WICK_OP_nan_to_num ? 3 : PAIRS;
}

static struct verify_operand operand(int rank, const int64_t *shape, double most) {
    struct verify_operand o = {.role = VERIFY_VALUE, .rank = rank, .low = -most, .high = most};
    memcpy(o.shape, shape, sizeof *shape * (size_t)rank);
    return o;
}

static void make_roll(int k, struct verify_case *c) {
    static const struct {
        int rank, n;
        int64_t shape[3], shifts[3];
        int dims[3];
    } rolls[ROLLS] = {{1, 1, {7}, {3}, {0}},
                      {2, 2, {4, 6}, {-1, 2}, {0, -1}},
                      {3, 3, {3, 4, 5}, {1, 9, -2}, {2, 0, 1}},
                      {2, 0, {2, 3}, {0}, {0}},
                      {3, 2, {3, 2, 5}, {1, 1}, {1, 1}}};
    c->n_in = 1;
    c->in[0] = operand(rolls[k].rank, rolls[k].shape, 100);
    c->i[0] = rolls[k].n;
    for (int d = 0; d < rolls[k].n; d++) {
        c->i[1 + d] = rolls[k].shifts[d];
        c->i[4 + d] = rolls[k].dims[d];
    }
}

static void make_product(enum wick_op op, int k, struct verify_case *c) {
    static const int64_t sizes[PRODUCTS][3] = {{3, 4, 5}, {1, 7, 1}, {17, 33, 20}, {2, 0, 3}, {6, 5, 0}};
    static const double factors[PRODUCTS][2] = {{1, 1}, {0.5, -2}, {0, 1}, {-3, 1}, {1, 4}};
    const int64_t b = 3, *s = sizes[k];
    bool batch = op == WICK_OP_baddbmm;
    c->n_in = 3;
    c->in[0] = batch ? operand(3, (const int64_t[]){k % 2 ? b : 1, s[0], s[2]}, 8)
                     : operand(k % 2 ? 1 : 2, k % 2 ? &s[2] : (const int64_t[]){s[0], s[2]}, 8);
    c->in[1] = batch ? operand(3, (const int64_t[]){b, s[0], s[1]}, 2) : operand(2, s, 2);
    c->in[2] = batch ? operand(3, (const int64_t[]){b, s[1], s[2]}, 2) : operand(2, s + 1, 2);
    memcpy(c->f, factors[k], sizeof factors[k]);
}

static void blend_make(enum wick_op op, int k, struct verify_case *c) {
    static const double lines[LINES][3] = {{0, 1, 5}, {-3, 7, 11}, {2, -2, 4}, {1.5, 9, 1}, {0, 0, 0}};
    static const double numbers[3][3] = {{0, 7, -7}, {1.5, 100, 0}, {-2, 3, 3}};
    c->n_out = 1;
    if (op == WICK_OP_linspace) {
        memcpy(c->f, lines[k], 2 * sizeof(double));
        c->i[0] = (int64_t)lines[k][2];
    } else if (op == WICK_OP_roll_dims) {
        make_roll(k, c);
    } else if (is_product(op)) {
        make_product(op, k, c);
    } else if (op == WICK_OP_nan_to_num) {
        c->n_in = 1;
        c->in[0] = verify_one_operand(k, -8, 8);
        memcpy(c->f, numbers[k], sizeof numbers[k]);
    } else {
        c->n_in = op == WICK_OP_lerp ? 3 : 2;
        c->in[0] = verify_two_operand(k, 0, -2, 2);
        c->in[1] = verify_two_operand(k, 1, -2, 2);
        c->in[2] = verify_two_operand(k, k % 2, -0.25, 1.25);
        c->f[0] = op == WICK_OP_isclose ? 0.125 * (k % 3) : 0;
        c->f[1] = op == WICK_OP_isclose ? 0.5 : 0;
        c->i[0] = op == WICK_OP_isclose && k % 2;
    }
}

static bool blend_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    int dims[3] = {(int)c->i[4], (int)c->i[5], (int)c->i[6]};
    switch (c->op) {
    case WICK_OP_nan_to_num: out[0] = wick_nan_to_num(in[0], c->f[0], c->f[1], c->f[2]); break;
    case WICK_OP_lerp: out[0] = wick_lerp(in[0], in[1], in[2]); break;
    case WICK_OP_isclose: out[0] = wick_isclose(in[0], in[1], c->f[0], c->f[1], c->i[0]); break;
    case WICK_OP_linspace: out[0] = wick_linspace(verify_device(), c->dtype, c->f[0], c->f[1], c->i[0]); break;
    case WICK_OP_roll_dims: out[0] = wick_roll_dims(in[0], (int)c->i[0], c->i + 1, dims); break;
    case WICK_OP_addmm: out[0] = wick_addmm(in[0], in[1], in[2], c->f[0], c->f[1]); break;
    case WICK_OP_baddbmm: out[0] = wick_baddbmm(in[0], in[1], in[2], c->f[0], c->f[1]); break;
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

/* ---- references ---- */

static bool line_reference(const struct verify_case *c, struct verify_array *out) {
    int64_t n = c->i[0];
    if (!verify_array_new(out, c->dtype, 1, &n, true)) return false;
    for (int64_t i = 0; i < n; i++) {
        long double part = n > 1 ? (long double)i / (long double)(n - 1) : 0;
        double x = (double)(c->f[0] * (1 - part) + c->f[1] * part);
        out->data[i] = wick_dtype_is_float(c->dtype) ? x : verify_round(c->dtype, trunc(x));
        out->scale[i] = verify_scale_blend(fabs(c->f[0]), fabs(c->f[1]));
    }
    return true;
}

static bool roll_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    if (!verify_array_new(out, c->dtype, in->rank, in->shape, false)) return false;
    for (int64_t p = 0; p < in->count; p++) {
        int64_t index[WICK_MAX_RANK], rest = p, to = 0;
        for (int d = in->rank - 1; d >= 0; d--) {
            index[d] = rest % in->shape[d];
            rest /= in->shape[d];
        }
        for (int k = 0; k < c->i[0]; k++) {
            int64_t dim = c->i[4 + k] + (c->i[4 + k] < 0 ? in->rank : 0), n = in->shape[dim];
            index[dim] = ((index[dim] + c->i[1 + k]) % n + n) % n;
        }
        for (int d = 0; d < in->rank; d++) to = to * in->shape[d] + index[d];
        out->data[to] = in->data[p];
    }
    return true;
}

static bool product_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    const struct verify_array *a = &in[1], *b = &in[2];
    int rank = a->rank;
    int64_t m = a->shape[rank - 2], k = a->shape[rank - 1], n = b->shape[rank - 1], shape[3] = {a->shape[0], m, n};
    if (!verify_array_new(out, c->dtype, rank, rank == 3 ? shape : shape + 1, true)) return false;
    for (int64_t p = 0; p < out->count; p++) {
        const double *row = a->data + p / n * k, *column = b->data + p / (m * n) * k * n + p % n;
        long double sum = 0, terms = 0;
        for (int64_t j = 0; j < k; j++) {
            sum += (long double)row[j] * column[j * n];
            terms += fabsl((long double)row[j] * column[j * n]);
        }
        double x = c->f[0] == 0 ? 0 : c->f[0] * verify_broadcast_at(&in[0], out, p);
        out->data[p] = (double)(x + c->f[1] * sum);
        out->scale[p] = verify_scale_products((double)(fabsl(c->f[1] * terms) + fabs(x)), (double)k);
    }
    return true;
}

static double cleaned(double x, const double *f) {
    return isnan(x) ? f[0] : x == INFINITY ? f[1] : x == -INFINITY ? f[2] : x;
}

static bool blend_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    if (c->op == WICK_OP_linspace) return line_reference(c, out);
    if (c->op == WICK_OP_roll_dims) return roll_reference(c, in, out);
    if (is_product(c->op)) return product_reference(c, in, out);
    bool close = c->op == WICK_OP_isclose;
    if (!verify_broadcast_new(out, close ? WICK_U8 : c->dtype, in, c->n_in, c->op == WICK_OP_lerp)) return false;
    for (int64_t i = 0; i < out->count; i++) {
        double a = verify_broadcast_at(&in[0], out, i);
        if (c->n_in == 1) {
            out->data[i] = cleaned(a, c->f);
            continue;
        }
        double b = verify_broadcast_at(&in[1], out, i);
        if (close) {
            bool near = isfinite(a) && isfinite(b) && fabs(a - b) <= c->f[1] + c->f[0] * fabs(b);
            out->data[i] = near || a == b || (c->i[0] && isnan(a) && isnan(b));
            continue;
        }
        long double w = verify_broadcast_at(&in[2], out, i);
        out->data[i] = (double)(a * (1 - w) + b * w);
        out->scale[i] = verify_scale_blend(fabs(a), fabs(b));
    }
    return true;
}

static bool blend_specials(enum wick_op op) {
    return op == WICK_OP_nan_to_num || op == WICK_OP_isclose || op == WICK_OP_roll_dims;
}

const struct verify_family verify_composed_blend = {
    .name = "composed_blend",
    .cases = blend_cases,
    .make = blend_make,
    .call = blend_call,
    .reference = blend_reference,
    .specials = blend_specials,
};
