/* Layers whose weights are chosen by row: a mixture of experts. Rows are put in the order of their experts, each expert
 * multiplies its rows at once, and the results are put back. */
#include "ops/dispatch.h"

#include "core/memory.h"

/* Rows by expert: row order[i] comes i-th, and expert e has rows first[e] .. first[e + 1] - 1 of that order. */
struct groups {
    int64_t rows, experts;
    int64_t *ids, *order, *place, *first; /* [rows], [rows], [rows]: where a row went, [experts + 1] */
};

/* Room for all four in one block. */
static enum wick_status groups_new(struct groups *g, size_t *nbytes) {
    int64_t count;
    if (!wick__mul(g->rows, 3, &count) || !wick__add(count, g->experts + 1, &count) ||
        !wick__mul_size((size_t)count, sizeof(int64_t), nbytes))
        return wick__fail(WICK_OVERFLOW, "linear_experts: %lld rows", (long long)g->rows);
    g->ids = wick__alloc(*nbytes);
    if (!g->ids) return wick__latest();
    g->order = g->ids + g->rows;
    g->place = g->order + g->rows;
    g->first = g->place + g->rows;
    return WICK_OK;
}

/* Reads the ids and counts. */
static enum wick_status groups_fill(const struct wick__call *call, struct groups *g) {
    struct wick_device *device = wick__device(call->in[2]);
    struct wick_tensor *wide = wick_contiguous(wick_cast(call->in[2], WICK_I64));
    if (!wide) return wick__latest();
    if (g->rows > 0)
        WICK__TRY(device->backend->download(device, g->ids, wick__data(wide), (size_t)g->rows * sizeof *g->ids));
    for (int64_t e = 0; e <= g->experts; e++) g->first[e] = 0;
    for (int64_t i = 0; i < g->rows; i++) {
        if (g->ids[i] < 0 || g->ids[i] >= g->experts)
            return wick__call_fail(call, WICK_RANGE, "id %lld at %lld is none of the %lld experts",
                                   (long long)g->ids[i], (long long)i, (long long)g->experts);
        g->first[g->ids[i] + 1]++;
    }
    for (int64_t e = 0; e < g->experts; e++) g->first[e + 1] += g->first[e];
    for (int64_t i = 0; i < g->rows; i++) {
        g->place[i] = g->first[g->ids[i]]++;
        g->order[g->place[i]] = i;
    }
    for (int64_t e = g->experts; e > 0; e--) g->first[e] = g->first[e - 1];
    g->first[0] = 0;
    return WICK_OK;
}

/* One number for each row, on the device. */
static struct wick_tensor *upload(struct wick_device *device, const struct groups *g, const int64_t *values) {
    struct wick_tensor *x = wick__tensor_new("linear_experts", device, WICK_I64, 1, &g->rows);
    size_t nbytes = (size_t)g->rows * sizeof *values;
    if (!x || device->backend->upload(device, wick__data(x), values, nbytes) == WICK_OK) return wick__scope_add(x);
    wick_release(x);
    return NULL;
}

/* x [T,S,K] as rows in the order of the experts. */
static struct wick_tensor *rows_of(const struct wick__call *call, struct groups *g) {
    const struct wick__layout *x = &call->in[0]->layout, *ids = &call->in[2]->layout;
    int64_t used = ids->shape[1], k = x->shape[2];
    for (int64_t i = 0; i < g->rows; i++) g->ids[i] = x->shape[1] == 1 ? g->order[i] / used : g->order[i];
    struct wick_tensor *order = upload(wick__device(call->in[0]), g, g->ids);
    return wick_index_select(wick_reshape(call->in[0], 2, (int64_t[]){-1, k}), 0, order);
}

/* The results of all experts, one after the other; those without rows are left out. */
static struct wick_tensor *multiply(const struct wick__call *call, struct groups *g,
                                    const struct wick_linear_options *options) {
    const struct wick_tensor *weight = call->in[1], *bias = call->in[3];
    struct wick_tensor *x = rows_of(call, g), *y = NULL;
    int64_t n = 0;
    struct wick_tensor **part = x ? wick__alloc((size_t)g->experts * sizeof *part) : NULL;
    bool good = part != NULL;
    for (int64_t e = 0; good && e < g->experts; e++) {
        int64_t count = g->first[e + 1] - g->first[e];
        if (count == 0) continue;
        part[n] = wick_linear_with(wick_narrow(x, 0, g->first[e], count), wick_select(weight, 0, e),
                                   bias ? wick_select(bias, 0, e) : NULL, options);
        good = part[n++] != NULL;
    }
    if (good) y = wick_cat((int)n, part, 0);
    wick__free(part, (size_t)g->experts * sizeof *part);
    if (!y) return NULL;
    struct wick_tensor *place = upload(wick__device(weight), g, g->place);
    return wick_index_select(y, 0, place);
}

static bool check_experts(const struct wick__call *call) {
    const struct wick__layout *x = &call->in[0]->layout, *w = &call->in[1]->layout, *ids = &call->in[2]->layout;
    const struct wick_tensor *bias = call->in[3];
    if (x->rank != 3 || w->rank != 3 || ids->rank != 2)
        wick__call_fail(call, WICK_SHAPE, "x, weight and ids have ranks %d, %d, %d, not 3, 3, 2", x->rank, w->rank,
                        ids->rank);
    else if (x->shape[2] != w->shape[2])
        wick__call_fail(call, WICK_SHAPE, "the last dim of x is not %lld, that of weight", (long long)w->shape[2]);
    else if (x->shape[0] != ids->shape[0] || (x->shape[1] != 1 && x->shape[1] != ids->shape[1]))
        wick__call_fail(call, WICK_SHAPE, "x is neither [%lld,1,..] nor [%lld,%lld,..], as ids are",
                        (long long)ids->shape[0], (long long)ids->shape[0], (long long)ids->shape[1]);
    else if (bias &&
             (bias->layout.rank != 2 || bias->layout.shape[0] != w->shape[0] || bias->layout.shape[1] != w->shape[1]))
        wick__call_fail(call, WICK_SHAPE, "bias is not [%lld,%lld]", (long long)w->shape[0], (long long)w->shape[1]);
    else
        return true;
    return false;
}

struct wick_tensor *wick_linear_experts(const struct wick_tensor *x, const struct wick_tensor *weight,
                                        const struct wick_tensor *ids, const struct wick_tensor *bias,
                                        const struct wick_linear_options *options) {
    struct wick__call call = {.op = WICK_OP_linear_experts, .n_in = 4, .in = {x, weight, ids, bias}};
    if (!wick__call_check(&call) || !check_experts(&call) ||
        wick__graph_refuse(wick__device(x), "linear_experts") != WICK_OK)
        return NULL;
    struct groups g = {.rows = wick__count(ids), .experts = weight->layout.shape[0]};
    int64_t shape[3] = {ids->layout.shape[0], ids->layout.shape[1], weight->layout.shape[1]};
    size_t nbytes = 0;
    if (g.rows == 0) return wick_empty(wick__device(x), x->dtype, 3, shape);
    if (groups_new(&g, &nbytes) != WICK_OK) return NULL;
    wick_scope_begin();
    struct wick_tensor *y = NULL;
    if (groups_fill(&call, &g) == WICK_OK) y = multiply(&call, &g, options);
    y = wick_scope_end(y ? wick_reshape(y, 3, shape) : NULL);
    wick__free(g.ids, nbytes);
    return y;
}
