/* CTC loss and its gradient. A kernel goes through all alignments of a sequence, forwards and for the gradient
 * backwards too; another makes the gradient of what both left at each step. */
#include "ops/loss.h"

#include "core/memory.h"

static const struct wick_ctc_options defaults;

/* A loss on its way. Lengths go to the device in a tensor [3,n]: steps, labels, and the place of the first label. */
struct ctc {
    struct wick__call call;
    const struct wick_ctc_options *options;
    int64_t steps, n, classes;
    bool batched;
    int64_t longest; /* target */
    int64_t *lengths;
};

static bool shapes_fit(struct ctc *c) {
    const struct wick__layout *x = &c->call.in[0]->layout, *targets = &c->call.in[1]->layout;
    c->batched = x->rank == 3;
    if (x->rank != 2 && x->rank != 3) {
        wick__call_fail(&c->call, WICK_SHAPE, "log_probs must be [T,N,C] or [T,C]");
        return false;
    }
    c->steps = x->shape[0];
    c->n = c->batched ? x->shape[1] : 1;
    c->classes = x->shape[x->rank - 1];
    c->call.p.ctc.padded = targets->rank == 2;
    if (targets->rank == 1 || (targets->rank == 2 && c->batched && targets->shape[0] == c->n)) return true;
    wick__call_fail(&c->call, WICK_SHAPE, "targets must be [N,S] or one sequence after another");
    return false;
}

static bool options_fit(const struct ctc *c) {
    const struct wick_ctc_options *o = c->options;
    if (!wick__call_reserved(&c->call, o->reserved) || !wick__loss_check(&c->call, o->reduction, false)) return false;
    if (o->blank >= 0 && o->blank < c->classes) return true;
    wick__call_fail(&c->call, WICK_RANGE, "blank %lld is not in 0..%lld", (long long)o->blank,
                    (long long)c->classes - 1);
    return false;
}

/* Whether a list of lengths is left out or has n of them. */
static bool listed(const struct ctc *c, const char *name, const int64_t *lengths, int64_t n) {
    if (lengths ? n == c->n : n == 0) return true;
    wick__call_fail(&c->call, WICK_SHAPE, "there are %lld %s for %lld sequences", (long long)n, name, (long long)c->n);
    return false;
}

static bool in_range(const struct ctc *c, const char *name, int64_t i, int64_t length, int64_t most) {
    if (length >= 0 && length <= most) return true;
    wick__call_fail(&c->call, WICK_RANGE, "%s[%lld] is %lld, not in 0..%lld", name, (long long)i, (long long)length,
                    (long long)most);
    return false;
}

/* Checks the lengths and writes them, with the places of first labels, to c->lengths. */
static bool lengths_fit(struct ctc *c) {
    const struct wick_ctc_options *o = c->options;
    const struct wick__layout *targets = &c->call.in[1]->layout;
    bool padded = c->call.p.ctc.padded;
    int64_t size = targets->shape[targets->rank - 1], place = 0;
    if (!listed(c, "input_lengths", o->input_lengths, o->n_input_lengths) ||
        !listed(c, "target_lengths", o->target_lengths, o->n_target_lengths))
        return false;
    for (int64_t i = 0; i < c->n; i++) {
        int64_t steps = o->input_lengths ? o->input_lengths[i] : c->steps, left = padded ? size : size - place;
        int64_t labels = o->target_lengths ? o->target_lengths[i] : left;
        if (!in_range(c, "input_lengths", i, steps, c->steps) || !in_range(c, "target_lengths", i, labels, left))
            return false;
        c->lengths[i] = steps;
        c->lengths[c->n + i] = labels;
        c->lengths[2 * c->n + i] = padded ? i * size : place;
        if (labels > c->longest) c->longest = labels;
        place += labels;
    }
    if (padded || place == size) return true;
    wick__call_fail(&c->call, WICK_SHAPE, "target_lengths add up to %lld", (long long)place);
    return false;
}

/* The operand `lengths`, in the innermost scope. */
static struct wick_tensor *on_device(struct wick_device *device, const struct ctc *c) {
    if (wick__graph_refuse(device, wick_op_name(c->call.op)) != WICK_OK) return NULL;
    struct wick_tensor *x = wick_empty(device, WICK_I64, 2, (const int64_t[]){3, c->n});
    size_t nbytes = 3 * (size_t)c->n * sizeof *c->lengths;
    if (!x || nbytes == 0) return x;
    return device->backend->upload(device, wick__data(x), c->lengths, nbytes) == WICK_OK ? x : NULL;
}

/* Checks all but the gradient, and makes the operand `lengths`. */
static bool prepare(struct ctc *c) {
    struct wick__call *call = &c->call;
    if (!call->in[0] || !call->in[1]) return wick__call_check(call); /* which says so */
    struct wick_device *device = wick__device(call->in[0]);
    if (!c->options) c->options = &defaults;
    call->in[2] = wick_empty(device, WICK_I64, 1, (const int64_t[]){0}); /* until the lengths are checked */
    if (!call->in[2] || !wick__call_check(call) || !shapes_fit(c) || !options_fit(c)) return false;
    int64_t count = 3 * c->n;
    size_t nbytes = sizeof *c->lengths * (size_t)(count + 1);
    c->lengths = wick__alloc(nbytes);
    if (!c->lengths) return false;
    bool fit = lengths_fit(c);
    if (fit) call->in[2] = on_device(device, c);
    wick__free(c->lengths, nbytes);
    call->p.ctc.blank = c->options->blank;
    call->p.ctc.zero_infinity = c->options->zero_infinity;
    call->p.ctc.by_length = c->options->reduction == WICK_LOSS_MEAN;
    call->p.ctc.states = 2 * c->longest + 1;
    return fit && call->in[2];
}

struct wick_tensor *wick_ctc_loss(const struct wick_tensor *log_probs, const struct wick_tensor *targets,
                                  const struct wick_ctc_options *options) {
    struct ctc c = {.call = {.op = WICK_OP_ctc_loss, .n_in = 3, .in = {log_probs, targets}}, .options = options};
    wick_scope_begin();
    if (!prepare(&c)) return wick_scope_end(NULL);
    enum wick_reduction reduction = c.options->reduction;
    enum wick_dtype dtype = reduction == WICK_LOSS_NONE ? log_probs->dtype : wick__loss_wide(log_probs);
    /* One direction, of which two steps are kept. */
    const int64_t paths[4] = {1, c.n, 2, c.call.p.ctc.states};
    if (!wick__call_out(&c.call, dtype, c.batched ? 1 : 0, &c.n) || !wick__call_out(&c.call, WICK_F64, 4, paths))
        return wick_scope_end(NULL);
    return wick_scope_end(wick__loss_reduce(wick__call_run(&c.call), reduction, log_probs->dtype));
}

/* The paths of both directions at every step. */
static const struct wick_tensor *both_ways(const struct ctc *c) {
    struct wick__call call = c->call;
    const int64_t paths[4] = {2, c->n, c->steps, c->call.p.ctc.states};
    call.op = WICK_OP_ctc_loss;
    call.n_in = 3;
    if (!wick__call_out(&call, wick__loss_wide(call.in[0]), 1, &c->n) || !wick__call_out(&call, WICK_F64, 4, paths) ||
        !wick__call_run(&call))
        return NULL;
    return call.out[1];
}

struct wick_tensor *wick_ctc_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *log_probs,
                                           const struct wick_tensor *targets, const struct wick_ctc_options *options) {
    struct ctc c = {.call = {.op = WICK_OP_ctc_loss_backward, .n_in = 3, .in = {log_probs, targets}},
                    .options = options};
    wick_scope_begin();
    if (!prepare(&c)) return wick_scope_end(NULL);
    c.call.n_in = 5;
    c.call.p.ctc.scale = c.options->reduction == WICK_LOSS_MEAN ? 1 / (double)c.n : 1;
    if (!wick__loss_check_gradient(&c.call, gradient, log_probs, c.options->reduction, c.batched ? 1 : 0, &c.n) ||
        !(c.call.in[3] = wick__loss_cast(gradient, wick__loss_wide(log_probs))) || !(c.call.in[4] = both_ways(&c)) ||
        !wick__call_check(&c.call) ||
        !wick__call_out(&c.call, log_probs->dtype, log_probs->layout.rank, log_probs->layout.shape))
        return wick_scope_end(NULL);
    return wick_scope_end(wick__call_run(&c.call));
}
