/* Cases of the ctc family. Operands: log_probs, targets; of gradients the gradient before them. i[0] is the reduction,
 * i[1] the blank, i[2] zero_infinity, i[3] the longest target; from i[4] on input lengths, from i[10] on target
 * lengths.
 *
 * The reference goes through probabilities, not their logarithms; a class's share at a step is the probability of those
 * alignments that have the class there, gone through once more without all others. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

enum { MOST = 6, INPUTS = 4, TARGETS = 10, STATES = 64 };

static const struct {
    int64_t steps, n, classes, inputs[MOST], targets[MOST], blank;
    bool single, padded;
} shapes[] = {
    {5, 2, 4, {5, 4}, {2, 1}, 0, false, true},
    {7, 1, 5, {7}, {3}, 4, true, false},
    {6, 3, 3, {6, 0, 3}, {0, 0, 3}, 1, false, true}, /* empty targets, an input too short for repeated labels */
    {4, 4, 6, {4, 3, 2, 0}, {2, 0, 3, 1}, 2, false, false},
    {3, 2, 1, {3, 2}, {0, 0}, 0, false, true},
    {0, 2, 3, {0, 0}, {0, 1}, 0, false, true},
    {12, 2, 7, {12, 10}, {5, 4}, 0, false, true},
    {5, 0, 4, {0}, {0}, 0, false, true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool is_backward(enum wick_op op) { return op == WICK_OP_ctc_loss_backward; }

static int ctc_cases(enum wick_op op) {
    (void)op;
    return SHAPES;
}

static void ctc_make(enum wick_op op, int k, struct verify_case *c) {
    int x = is_backward(op);
    int64_t sum = 0;
    c->n_in = 2 + x;
    c->n_out = 1;
    c->i[0] = k == 0 ? WICK_LOSS_NONE : k % 3;
    c->i[1] = shapes[k].blank;
    c->i[2] = k % 4 != 2;
    for (int i = 0; i < shapes[k].n; i++) {
        c->i[INPUTS + i] = shapes[k].inputs[i];
        c->i[TARGETS + i] = shapes[k].targets[i];
        if (shapes[k].targets[i] > c->i[3]) c->i[3] = shapes[k].targets[i];
        sum += shapes[k].targets[i];
    }
    c->in[x] = (struct verify_operand){.role = VERIFY_VALUE,
                                       .rank = 3,
                                       .shape = {shapes[k].steps, shapes[k].n, shapes[k].classes},
                                       .low = -6,
                                       .high = 0};
    if (shapes[k].single) {
        c->in[x].rank = 2;
        c->in[x].shape[1] = shapes[k].classes;
    }
    c->in[x + 1] = (struct verify_operand){.role = VERIFY_INDEX, .rank = 2, .shape = {shapes[k].n, c->i[3] + k % 2}};
    c->in[x + 1].high = (double)(shapes[k].classes < 4 ? shapes[k].classes - 1 : 3);
    if (!shapes[k].padded) {
        c->in[x + 1].rank = 1;
        c->in[x + 1].shape[0] = sum;
    }
    if (!x) return;
    c->in[0] = c->in[1];
    c->in[0].low = -4;
    c->in[0].high = 4;
    c->in[0].rank = c->i[0] == WICK_LOSS_NONE && !shapes[k].single;
    c->in[0].shape[0] = shapes[k].n;
}

static bool ctc_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    const struct wick_tensor *x = in[is_backward(c->op)];
    int64_t n = wick_tensor_rank(x) == 3 ? wick_tensor_shape(x)[1] : 1;
    const struct wick_ctc_options options = {.blank = c->i[1],
                                             .reduction = (enum wick_reduction)c->i[0],
                                             .zero_infinity = c->i[2] != 0,
                                             .input_lengths = c->i + INPUTS,
                                             .n_input_lengths = n,
                                             .target_lengths = c->i + TARGETS,
                                             .n_target_lengths = n};
    out[0] = is_backward(c->op) ? wick_ctc_loss_backward(in[0], in[1], in[2], &options)
                                : wick_ctc_loss(in[0], in[1], &options);
    return out[0] != NULL;
}

/* ---- a sequence ---- */

struct sequence {
    const struct verify_array *x;
    int64_t number, n, classes, steps, labels, blank;
    const double *label;
};

static struct sequence sequence_of(const struct verify_case *c, const struct verify_array *in, int64_t number) {
    const struct verify_array *x = &in[is_backward(c->op)], *targets = x + 1;
    struct sequence s = {.x = x,
                         .number = number,
                         .n = x->rank == 3 ? x->shape[1] : 1,
                         .classes = x->shape[x->rank - 1],
                         .steps = c->i[INPUTS + number],
                         .labels = c->i[TARGETS + number],
                         .blank = c->i[1],
                         .label = targets->data};
    for (int64_t i = 0; i < number; i++) s.label += targets->rank == 2 ? targets->shape[1] : c->i[TARGETS + i];
    return s;
}

/* The probability of all alignments; with `at` >= 0 of those alone that have class `only` at that step. A state is how
 * many labels are done, and whether a blank came after the last. */
static long double probability(const struct sequence *s, int64_t at, int64_t only) {
    long double now[STATES][2] = {{0, 1}}, next[STATES][2];
    for (int64_t t = 0; t < s->steps; t++) {
        memset(next, 0, sizeof next);
        for (int64_t done = 0; done <= s->labels; done++)
            for (int64_t k = 0; k < s->classes; k++) {
                if (t == at && k != only) continue;
                long double p = expl(s->x->data[(t * s->n + s->number) * s->classes + k]);
                int64_t last = done > 0 ? (int64_t)s->label[done - 1] : -1;
                int64_t coming = done < s->labels ? (int64_t)s->label[done] : -1;
                if (k == s->blank) next[done][1] += p * (now[done][0] + now[done][1]);
                if (done > 0 && k == last) next[done][0] += p * now[done][0];
                if (k == coming) next[done + 1][0] += p * (now[done][1] + (k == last ? 0 : now[done][0]));
            }
        memcpy(now, next, sizeof now);
    }
    return now[s->labels][0] + now[s->labels][1];
}

static long double reduced(const struct verify_case *c, const struct sequence *s) {
    return c->i[0] == WICK_LOSS_MEAN && s->labels > 1 ? s->labels : 1;
}

static void put_slopes(const struct verify_case *c, const struct sequence *s, long double g, struct verify_array *out) {
    long double all = probability(s, -1, 0);
    for (int64_t t = 0; t < s->x->shape[0]; t++)
        for (int64_t k = 0; k < s->classes; k++) {
            int64_t place = (t * s->n + s->number) * s->classes + k;
            long double share = all > 0 && t < s->steps ? probability(s, t, k) / all : 0;
            long double p = expl(s->x->data[place]);
            out->data[place] = (double)((p - share) * g);
            out->scale[place] = verify_scale_ctc(c->dtype == WICK_F64, (double)((p + share) * fabsl(g)),
                                                 all > 0 ? (double)fabsl(logl(all)) : 0, (double)s->steps);
            if (t >= s->steps || (all == 0 && c->i[2])) out->data[place] = out->scale[place] = 0;
            if (t < s->steps && all == 0 && !c->i[2]) out->data[place] = (double)NAN;
        }
}

static bool ctc_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    const struct verify_array *x = &in[is_backward(c->op)];
    int64_t n = x->rank == 3 ? x->shape[1] : 1;
    bool whole = c->i[0] == WICK_LOSS_NONE, back = is_backward(c->op);
    if (back ? !verify_array_new(out, c->dtype, x->rank, x->shape, true)
             : !verify_array_new(out, c->dtype, whole && x->rank == 3, &n, true))
        return false;
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        struct sequence s = sequence_of(c, in, i);
        if (back) {
            long double g = in[0].data[in[0].count == 1 ? 0 : i] / reduced(c, &s);
            put_slopes(c, &s, c->i[0] == WICK_LOSS_MEAN ? g / n : g, out);
            continue;
        }
        long double p = probability(&s, -1, 0), loss = p > 0 ? -logl(p) : c->i[2] ? 0 : INFINITY;
        sum += loss / reduced(c, &s);
        if (whole) out->data[i] = (double)loss;
        if (whole) out->scale[i] = verify_scale_ctc(c->dtype == WICK_F64, (double)fabsl(loss), 1, (double)s.steps);
    }
    if (back || whole) return true;
    out->data[0] = (double)(c->i[0] == WICK_LOSS_MEAN ? sum / n : sum);
    out->scale[0] = verify_scale_ctc(c->dtype == WICK_F64, fabs(out->data[0]), 1, (double)x->shape[0]);
    return true;
}

const struct verify_family verify_ctc = {
    .name = "ctc", .cases = ctc_cases, .make = ctc_make, .call = ctc_call, .reference = ctc_reference};
