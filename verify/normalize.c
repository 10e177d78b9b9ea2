/* Cases of the normalize family. i[0] is axes, or groups; f[0] epsilon. Operands are the op's, in its order. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

struct shape {
    int rank;
    int64_t shape[4];
    int64_t argument; /* axes, or groups */
    int left_out;     /* bit 0: no weight, bit 1: no bias */
};

static const struct shape rows[] = {
    {1, {1}, 1, 0},
    {1, {7}, 1, 1},
    {2, {5, 33}, 1, 0},
    {2, {3, 2049}, 1, 2},
    {2, {33, 130}, 1, 3},
    {3, {2, 33, 17}, 1, 0},
    {4, {2, 3, 5, 70}, 1, 1},
    {2, {0, 4}, 1, 0},
    {2, {2, 5003}, 1, 0},
    {2, {1, 70000}, 1, 3},
    /* layer norm alone */
    {3, {4, 5, 30}, 2, 0},
    {3, {4, 5, 30}, 3, 0},
};
static const struct shape channels[] = {
    {2, {5, 6}, 2, 0},       {3, {2, 4, 33}, 4, 1},   {4, {2, 6, 5, 7}, 3, 0}, {4, {1, 8, 33, 65}, 1, 2},
    {4, {3, 2, 1, 1}, 1, 3}, {4, {2, 3, 0, 4}, 3, 0}, {3, {0, 4, 3}, 2, 0},    {2, {3, 2050}, 10, 0},
};

static bool by_channel(enum wick_op op) { return op == WICK_OP_group_norm || op == WICK_OP_batch_norm; }

static int normalize_cases(enum wick_op op) {
    if (by_channel(op)) return sizeof channels / sizeof *channels;
    return sizeof rows / sizeof *rows - (op == WICK_OP_rms_norm ? 2 : 0);
}

static void normalize_make(enum wick_op op, int k, struct verify_case *c) {
    const struct shape *s = by_channel(op) ? &channels[k] : &rows[k];
    int first = op == WICK_OP_batch_norm ? 2 : 0, parameters = op == WICK_OP_rms_norm ? 1 : 2;
    c->n_in = 1 + first + parameters;
    c->n_out = 1;
    c->i[0] = s->argument;
    c->f[0] = 0.5;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = s->rank, .low = -8, .high = 8};
    memcpy(c->in[0].shape, s->shape, sizeof s->shape);
    for (int i = 1; i < c->n_in; i++) {
        struct verify_operand *o = &c->in[i];
        bool absent = i > first && s->left_out >> (i - 1 - first) & 1;
        *o = (struct verify_operand){.role = absent ? VERIFY_ABSENT : VERIFY_VALUE, .rank = 1, .low = -2, .high = 2};
        if (first && i == 2) o->low = 0.25; /* a variance */
        o->tame = true;
        if (by_channel(op)) {
            o->shape[0] = s->shape[1];
        } else {
            o->rank = (int)s->argument;
            memcpy(o->shape, s->shape + s->rank - s->argument, sizeof *s->shape * (size_t)s->argument);
        }
    }
}

static bool normalize_bench(enum wick_op op, struct verify_case *c) {
    normalize_make(op, by_channel(op) ? 0 : 2, c);
    c->i[0] = by_channel(op) ? 8 : 1;
    for (int i = 1; i < c->n_in; i++)
        verify_operand_resize(&c->in[i], 1, (const int64_t[]){by_channel(op) ? 64 : VERIFY_COLUMNS});
    if (by_channel(op))
        verify_operand_resize(&c->in[0], 4, (const int64_t[]){16, 64, 64, 64});
    else
        verify_operand_resize(&c->in[0], 2, (const int64_t[]){VERIFY_ROWS, VERIFY_COLUMNS});
    return true;
}

static bool normalize_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_batch_norm_options options = {.epsilon = c->f[0]};
    switch (c->op) {
    case WICK_OP_layer_norm: out[0] = wick_layer_norm(in[0], (int)c->i[0], in[1], in[2], c->f[0]); break;
    case WICK_OP_rms_norm: out[0] = wick_rms_norm(in[0], in[1], c->f[0]); break;
    case WICK_OP_group_norm: out[0] = wick_group_norm(in[0], c->i[0], in[1], in[2], c->f[0]); break;
    default:
        options.weight = in[3];
        options.bias = in[4];
        out[0] = wick_batch_norm(in[0], in[1], in[2], &options);
        break;
    }
    return out[0] != NULL;
}

/* Element i of a parameter that may be left out. */
static double parameter(const struct verify_case *c, const struct verify_array *in, int at, int64_t i, double none) {
    return at >= c->n_in || c->in[at].role == VERIFY_ABSENT ? none : in[at].data[i];
}

/* What an element goes through: `size` is the mean size of such elements. */
struct affine {
    long double mean, size, factor;
    double bias;
};

/* y = (x - mean) * factor + bias, and how large the terms are. */
static void put(struct verify_array *out, int64_t i, double x, const struct affine *f) {
    long double mean = out->dtype == WICK_F64 ? f->size : fabsl(f->mean);
    out->data[i] = (double)((x - f->mean) * f->factor + f->bias);
    out->scale[i] = verify_scale_normalised(fabs(x), mean, fabsl(f->factor), fabs(f->bias));
}

static bool normalize_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t n = 1, plane = 1, channel_count = by_channel(c->op) ? in->shape[1] : 1;
    if (!verify_array_new(out, c->dtype, in->rank, in->shape, true)) return false;
    if (in->count == 0) return true;
    for (int d = 2; d < in->rank; d++) plane *= in->shape[d];
    if (c->op == WICK_OP_group_norm)
        n = channel_count / c->i[0] * plane;
    else
        for (int d = in->rank - (int)c->i[0]; c->op != WICK_OP_batch_norm && d < in->rank; d++) n *= in->shape[d];
    for (int64_t row = 0; row < in->count / n; row++) {
        const double *x = in->data + row * n;
        long double sum = 0, size = 0, sum_squares = 0;
        for (int64_t i = 0; i < n && c->op != WICK_OP_rms_norm; i++) sum += x[i];
        for (int64_t i = 0; i < n && c->op != WICK_OP_rms_norm; i++) size += fabs(x[i]) / n;
        for (int64_t i = 0; i < n; i++) sum_squares += (x[i] - sum / n) * (x[i] - sum / n);
        long double mean = sum / n, squares = sum_squares / n;
        for (int64_t i = 0; i < n; i++) {
            struct affine f;
            int64_t at = row * n + i, p = by_channel(c->op) ? at / plane % channel_count : i;
            if (c->op == WICK_OP_batch_norm)
                f = (struct affine){in[1].data[p], fabs(in[1].data[p]),
                                    parameter(c, in, 3, p, 1) / sqrtl((long double)in[2].data[p] + c->f[0]),
                                    parameter(c, in, 4, p, 0)};
            else
                f = (struct affine){mean, size, parameter(c, in, 1, p, 1) / sqrtl(squares + c->f[0]),
                                    parameter(c, in, 2, p, 0)};
            put(out, at, x[i], &f);
        }
    }
    return true;
}

static bool normalize_wide(enum wick_op op) {
    (void)op;
    return true;
}

const struct verify_family verify_normalize = {
    .name = "normalize",
    .cases = normalize_cases,
    .make = normalize_make,
    .bench = normalize_bench,
    .call = normalize_call,
    .reference = normalize_reference,
    .wide = normalize_wide,
};
