/* Matrix products. */
#include "ops/dispatch.h"

/* The shape of lhs x rhs; false after a failure. */
static bool matmul_shape(const struct wick__call *call, int *rank, int64_t *shape) {
    const struct wick__layout *a = &call->in[0]->layout, *b = &call->in[1]->layout;
    if (a->rank == 0 || b->rank == 0) {
        wick__call_fail(call, WICK_SHAPE, "%s has rank 0, at least 1 is needed",
                        wick__operand_name(call->op, a->rank == 0 ? 0 : 1));
        return false;
    }
    int64_t a_inner = a->shape[a->rank - 1], b_inner = b->shape[b->rank > 1 ? b->rank - 2 : 0];
    if (a_inner != b_inner) {
        wick__call_fail(call, WICK_SHAPE, "inner %lld != %lld", (long long)a_inner, (long long)b_inner);
        return false;
    }
    struct wick__layout a_batch = *a, b_batch = *b;
    a_batch.rank = a->rank > 2 ? a->rank - 2 : 0;
    b_batch.rank = b->rank > 2 ? b->rank - 2 : 0;
    if (!wick__shape_broadcast(&a_batch, &b_batch, rank, shape)) {
        char lhs[WICK__SHAPE_TEXT], rhs[WICK__SHAPE_TEXT];
        wick__call_fail(call, WICK_SHAPE, "batch dims %s and %s do not broadcast",
                        wick__shape_text(lhs, a_batch.rank, a_batch.shape),
                        wick__shape_text(rhs, b_batch.rank, b_batch.shape));
        return false;
    }
    if (a->rank > 1) shape[(*rank)++] = a->shape[a->rank - 2];
    if (b->rank > 1) shape[(*rank)++] = b->shape[b->rank - 1];
    return true;
}

/* The product of call's operands, whose dtypes and ranks the op has checked. */
static struct wick_tensor *multiply(struct wick__call *call) {
    int rank;
    int64_t shape[WICK_MAX_RANK];
    if (!matmul_shape(call, &rank, shape)) return NULL;
    if (!wick__call_out(call, call->in[0]->dtype, rank, shape)) return NULL;
    call->op = WICK_OP_matmul;
    return wick__call_run(call);
}

/* Checks of dot, mv and outer: ranks, and dtypes that agree. */
static bool check_ranks(const struct wick__call *call, int lhs_rank) {
    if (!wick__call_check(call)) return false;
    for (int i = 0; i < 2; i++) {
        int rank = call->in[i]->layout.rank, wanted = i == 0 ? lhs_rank : 1;
        if (rank == wanted) continue;
        wick__call_fail(call, WICK_SHAPE, "%s has rank %d, not %d", wick__operand_name(call->op, i), rank, wanted);
        return false;
    }
    return true;
}

struct wick_tensor *wick_matmul(const struct wick_tensor *lhs, const struct wick_tensor *rhs) {
    struct wick__call call = {.op = WICK_OP_matmul, .n_in = 2, .in = {lhs, rhs}};
    if (!wick__call_check(&call)) return NULL;
    return multiply(&call);
}

struct wick_tensor *wick_dot(const struct wick_tensor *lhs, const struct wick_tensor *rhs) {
    struct wick__call call = {.op = WICK_OP_dot, .n_in = 2, .in = {lhs, rhs}};
    if (!check_ranks(&call, 1)) return NULL;
    return multiply(&call);
}

struct wick_tensor *wick_mv(const struct wick_tensor *matrix, const struct wick_tensor *vector) {
    struct wick__call call = {.op = WICK_OP_mv, .n_in = 2, .in = {matrix, vector}};
    if (!check_ranks(&call, 2)) return NULL;
    return multiply(&call);
}

struct wick_tensor *wick_outer(const struct wick_tensor *lhs, const struct wick_tensor *rhs) {
    struct wick__call call = {.op = WICK_OP_outer, .n_in = 2, .in = {lhs, rhs}};
    if (!check_ranks(&call, 1)) return NULL;
    /* A column times a row. */
    struct wick__layout column = lhs->layout, row = rhs->layout;
    column.rank = row.rank = 2;
    column.shape[1] = row.shape[0] = 1;
    column.stride[1] = row.stride[0] = 0;
    row.shape[1] = rhs->layout.shape[0];
    row.stride[1] = rhs->layout.stride[0];
    struct wick__call left = {.op = WICK_OP_unsqueeze, .n_in = 1, .in = {lhs}, .p.view.dim = 1};
    struct wick__call right = {.op = WICK_OP_unsqueeze, .n_in = 1, .in = {rhs}};
    struct wick_tensor *a = wick__call_view(&left, &column), *b = a ? wick__call_view(&right, &row) : NULL;
    call.in[0] = a;
    call.in[1] = b;
    struct wick_tensor *c = b ? multiply(&call) : NULL;
    wick_release(a);
    wick_release(b);
    return c;
}

/* Columns of linear's result. */
static int64_t columns_of(const struct wick_tensor *weight, const struct wick_linear_options *options) {
    return weight->layout.shape[0] + (options->more ? options->more->layout.shape[0] : 0);
}

/* Whether the shapes of linear's operands agree. */
static bool check_linear(const struct wick__call *call, const struct wick_linear_options *options) {
    const struct wick__layout *x = &call->in[0]->layout, *w = &call->in[1]->layout;
    const struct wick_tensor *bias = call->in[2], *norm = options->norm, *more = options->more;
    int64_t parts = options->swiglu ? 2 : 1;
    if (w->rank != 2)
        wick__call_fail(call, WICK_SHAPE, "weight has rank %d, not 2", w->rank);
    else if (x->rank == 0 || x->shape[x->rank - 1] % parts != 0 || x->shape[x->rank - 1] / parts != w->shape[1])
        wick__call_fail(call, WICK_SHAPE, "the last dim of x is not %s%lld, the second of weight",
                        parts == 2 ? "twice " : "", (long long)w->shape[1]);
    else if (more && (more->layout.rank != 2 || more->layout.shape[1] != w->shape[1]))
        wick__call_fail(call, WICK_SHAPE, "more is not [M, %lld]", (long long)w->shape[1]);
    else if (bias && (bias->layout.rank != 1 || bias->layout.shape[0] != columns_of(call->in[1], options)))
        wick__call_fail(call, WICK_SHAPE, "bias is not [%lld]", (long long)columns_of(call->in[1], options));
    else if (norm && (norm->layout.rank != 1 || norm->layout.shape[0] != w->shape[1]))
        wick__call_fail(call, WICK_SHAPE, "norm is not [%lld]", (long long)w->shape[1]);
    else
        return true;
    return false;
}

/* Whether the family norms x within the product, and multiplies by further weights. */
static bool takes_whole(const struct wick__call *call, const struct wick_linear_options *options) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[1], *more = options->more;
    bool both = !more || (wick__has(WICK__BLOCKS, weight->dtype) && wick__has(WICK__BLOCKS, more->dtype));
    bool plain = !options->swiglu || (!options->norm && x->dtype == WICK_F32 && wick__has(WICK__BLOCKS, weight->dtype));
    return wick__device(x)->backend != &wick__cpu_backend && call->op == WICK_OP_linear_quantised && both && plain &&
           options->products == WICK_PRODUCTS_8_BIT &&
           wick__count(x) == (options->swiglu ? 2 : 1) * weight->layout.shape[1];
}

/* linear of swiglu of x, by an op of its own. */
static struct wick_tensor *linear_of_swiglu(const struct wick_tensor *x, const struct wick_tensor *weight,
                                            const struct wick_tensor *bias, const struct wick_linear_options *options) {
    struct wick_linear_options rest = *options;
    rest.swiglu = false;
    wick_scope_begin();
    x = wick_swiglu(x);
    return wick_scope_end(x ? wick_linear_with(x, weight, bias, &rest) : NULL);
}

/* linear of x after its norm, by an op of its own. */
static struct wick_tensor *linear_of_norm(const struct wick_tensor *x, const struct wick_tensor *weight,
                                          const struct wick_tensor *bias, const struct wick_linear_options *options) {
    struct wick_linear_options rest = *options;
    rest.norm = NULL;
    wick_scope_begin();
    x = wick_rms_norm(x, options->norm, options->epsilon);
    return wick_scope_end(x ? wick_linear_with(x, weight, bias, &rest) : NULL);
}

/* linear by two weights, each by an op of its own. */
static struct wick_tensor *linear_of_both(const struct wick_tensor *x, const struct wick_tensor *weight,
                                          const struct wick_tensor *bias, const struct wick_linear_options *options) {
    struct wick_linear_options rest = *options;
    int64_t n = weight->layout.shape[0], all = columns_of(weight, options);
    const struct wick_tensor *biases[2] = {NULL, NULL};
    rest.more = NULL;
    wick_scope_begin();
    if (bias) {
        biases[0] = wick_narrow(bias, 0, 0, n);
        biases[1] = wick_narrow(bias, 0, n, all - n);
        if (!biases[0] || !biases[1]) return wick_scope_end(NULL);
    }
    struct wick_tensor *parts[2] = {wick_linear_with(x, weight, biases[0], &rest),
                                    wick_linear_with(x, options->more, biases[1], &rest)};
    return wick_scope_end(wick_cat(2, parts, -1));
}

struct wick_tensor *wick_linear_with(const struct wick_tensor *x, const struct wick_tensor *weight,
                                     const struct wick_tensor *bias, const struct wick_linear_options *options) {
    static const struct wick_linear_options plain = {.activation = WICK_ACTIVATION_NONE};
    bool wide = x && x->dtype == WICK_F32; /* which weights of 16 bits take, too */
    bool narrow = weight && wick__has(wide ? WICK__BLOCKS_OR_HALVES : WICK__BLOCKS, weight->dtype);
    if (!options) options = &plain;
    struct wick__call call = {.op = narrow ? WICK_OP_linear_quantised : WICK_OP_linear,
                              .n_in = narrow ? 5 : 3,
                              .in = {x, weight, bias, narrow ? options->norm : NULL, narrow ? options->more : NULL}};
    if (!wick__call_check(&call) || !wick__call_reserved(&call, options->reserved) || !check_linear(&call, options))
        return NULL;
    if ((unsigned)options->activation >= WICK_ACTIVATION_COUNT) {
        wick__call_fail(&call, WICK_INVALID, "there is no activation %d", (int)options->activation);
        return NULL;
    }
    if ((unsigned)options->products >= WICK_PRODUCTS_COUNT) {
        wick__call_fail(&call, WICK_INVALID, "there are no products %d", (int)options->products);
        return NULL;
    }
    if (options->norm && !(options->epsilon >= 0)) {
        wick__call_fail(&call, WICK_INVALID, "epsilon %g is not >= 0", options->epsilon);
        return NULL;
    }
    bool whole = takes_whole(&call, options);
    if (options->swiglu && !whole) return linear_of_swiglu(x, weight, bias, options);
    if (options->norm && !whole) return linear_of_norm(x, weight, bias, options);
    if (options->more && !whole) return linear_of_both(x, weight, bias, options);
    const struct wick__layout *in = &x->layout;
    int64_t shape[WICK_MAX_RANK];
    for (int d = 0; d < in->rank; d++) shape[d] = in->shape[d];
    shape[in->rank - 1] = columns_of(weight, options);
    if (!wick__call_out(&call, x->dtype, in->rank, shape)) return NULL;
    call.p.linear.activation = (int)options->activation;
    call.p.linear.products = narrow ? (int)options->products : 0;
    call.p.linear.epsilon = options->epsilon;
    call.p.linear.swiglu = options->swiglu;
    return wick__call_run(&call);
}

struct wick_tensor *wick_linear(const struct wick_tensor *x, const struct wick_tensor *weight,
                                const struct wick_tensor *bias, enum wick_activation activation) {
    return wick_linear_with(x, weight, bias, &(struct wick_linear_options){.activation = activation});
}
