/* Cases of the gather, scatter, index_add, masked_fill and one_hot families.
 *
 * i[0] is the dim, f[0] the value of masked_fill; in[1] are the ids. */
#include "verify/verify.h"
#include "verify/scales.h"
#include "verify/scatter.h"

#include <math.h>
#include <string.h>

/* The shape of x, dim, how many ids along dim, and how much smaller ids are along the other dims. */
static const struct {
    int rank;
    int64_t shape[4];
    int dim;
    int64_t ids, less;
} shapes[] = {
    {1, {7}, 0, 11, 0},        {1, {5}, -1, 0, 0},         {2, {4, 6}, 0, 7, 0},    {2, {4, 6}, 1, 9, 1},
    {2, {4, 6}, 0, 3, 2},      {3, {3, 5, 4}, 1, 6, 0},    {3, {3, 5, 4}, 1, 6, 1}, {3, {3, 5, 4}, -1, 2, 0},
    {3, {3, 5, 4}, 0, 5, 1},   {4, {2, 3, 4, 5}, 2, 5, 1}, {2, {0, 3}, 1, 4, 0},    {2, {3, 1}, 1, 5, 0},
    {2, {70, 130}, 0, 150, 0}, {2, {70, 90}, 1, 600, 0},   {2, {3, 5000}, 0, 4, 0}, {1, {50}, 0, 1100, 0},
    {1, {66000}, 0, 300, 0},   {1, {50}, 0, 4200, 0},      {2, {70, 13}, 0, 9, 0},  {2, {300, 37}, 0, 40, 0},
    {2, {30, 301}, 1, 8, 0},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int index_cases(enum wick_op op) {
    if (op == WICK_OP_one_hot) return 4;
    if (verify_reduces(op)) return verify_reduce_cases(op);
    return SHAPES;
}

static int dim_of(const struct verify_case *c) { return (int)(c->i[0] < 0 ? c->i[0] + c->in[0].rank : c->i[0]); }

/* embedding: a matrix, and ids of any shape. */
static void make_embedding(int k, struct verify_case *c) {
    int rank = k % 4;
    c->in[0].rank = 2;
    c->in[0].shape[0] = 6 + k;
    c->in[0].shape[1] = k == 5 ? 0 : k * k * 2 + 1;
    c->in[1] = (struct verify_operand){
        .role = VERIFY_INDEX, .rank = rank, .shape = {2, k == 6 ? 0 : 3, 5}, .low = 0, .high = 5 + k};
}

static void index_make(enum wick_op op, int k, struct verify_case *c) {
    bool one = op == WICK_OP_index_select || op == WICK_OP_index_add;
    if (verify_reduces(op)) {
        verify_reduce_make(op, k, c);
        return;
    }
    c->n_in = op == WICK_OP_gather || op == WICK_OP_index_select || op == WICK_OP_embedding ? 2 : 3;
    c->n_out = 1;
    c->i[0] = shapes[k].dim;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -8, .high = 8};
    memcpy(c->in[0].shape, shapes[k].shape, sizeof shapes[k].shape);
    if (op == WICK_OP_embedding) {
        make_embedding(k, c);
        return;
    }
    int dim = dim_of(c);
    struct verify_operand ids = c->in[0];
    for (int d = 0; d < ids.rank; d++)
        ids.shape[d] = d == dim                   ? shapes[k].ids
                       : one || ids.shape[d] == 0 ? ids.shape[d]
                                                  : ids.shape[d] - shapes[k].less;
    c->in[2] = ids;
    ids.role = VERIFY_INDEX;
    ids.low = 0;
    ids.high = (double)(shapes[k].shape[dim] - 1);
    if (one) {
        ids.rank = 1;
        ids.shape[0] = shapes[k].ids;
    }
    c->in[1] = ids;
}

static bool index_bench(enum wick_op op, struct verify_case *c) {
    bool list = op == WICK_OP_index_select || op == WICK_OP_index_add || op == WICK_OP_embedding;
    verify_make_large(index_make, list ? 2 : verify_reduces(op) ? 1 : 3, c);
    c->in[1].high = (list ? VERIFY_ROWS : VERIFY_COLUMNS) - 1;
    if (list) verify_operand_resize(&c->in[1], 1, (const int64_t[]){VERIFY_ROWS});
    return true;
}

static bool index_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    int dim = (int)c->i[0];
    if (verify_reduces(c->op)) return verify_reduce_call(c, in, out);
    switch (c->op) {
    case WICK_OP_index_select: out[0] = wick_index_select(in[0], dim, in[1]); break;
    case WICK_OP_embedding: out[0] = wick_embedding(in[0], in[1]); break;
    case WICK_OP_gather: out[0] = wick_gather(in[0], dim, in[1]); break;
    case WICK_OP_scatter: out[0] = wick_scatter(in[0], dim, in[1], in[2]); break;
    case WICK_OP_scatter_add: out[0] = wick_scatter_add(in[0], dim, in[1], in[2]); break;
    case WICK_OP_index_add: out[0] = wick_index_add(in[0], dim, in[1], in[2]); break;
    case WICK_OP_scatter_inplace:
        out[0] = verify_target(in[0]);
        return out[0] && wick_scatter_inplace(out[0], dim, in[1], in[2]) == WICK_OK;
    case WICK_OP_scatter_add_inplace:
        out[0] = verify_target(in[0]);
        return out[0] && wick_scatter_add_inplace(out[0], dim, in[1], in[2]) == WICK_OK;
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

/* The place in x of the index of the p-th position of `shape`, with `id` in place of its dim. */
static int64_t place_of(const struct verify_array *x, const int64_t *shape, int64_t p, int dim, int64_t id) {
    int64_t place = 0, step = 1;
    for (int d = x->rank - 1; d >= 0; d--) {
        place += (d == dim ? id : p % shape[d]) * step;
        step *= x->shape[d];
        p /= shape[d];
    }
    return place;
}

/* The id that belongs to the p-th position of a shape: ids has that shape, or is a list along dim. */
static double id_of(const struct verify_array *ids, const struct verify_array *like, bool list, int64_t p, int dim) {
    if (!list) return ids->data[p];
    for (int d = like->rank - 1; d > dim; d--) p /= like->shape[d];
    return ids->data[p % like->shape[dim]];
}

static bool pick_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t shape[WICK_MAX_RANK];
    int dim = dim_of(c), rank = in[0].rank;
    if (c->op == WICK_OP_embedding) {
        memcpy(shape, in[1].shape, sizeof shape);
        shape[in[1].rank] = in[0].shape[1];
        if (!verify_array_new(out, c->dtype, in[1].rank + 1, shape, false)) return false;
        for (int64_t p = 0, n = in[0].shape[1]; p < out->count; p++) {
            double id = in[1].data[p / n];
            out->data[p] = id < (double)in[0].shape[0] ? in[0].data[(int64_t)id * n + p % n] : 0;
        }
        return true;
    }
    memcpy(shape, c->op == WICK_OP_gather ? in[1].shape : in[0].shape, sizeof shape);
    if (c->op == WICK_OP_index_select) shape[dim] = in[1].shape[0];
    if (!verify_array_new(out, c->dtype, rank, shape, false)) return false;
    for (int64_t p = 0; p < out->count; p++) {
        double id = id_of(&in[1], out, c->op == WICK_OP_index_select, p, dim);
        bool none = id >= (double)in[0].shape[dim];
        out->data[p] = none ? 0 : in[0].data[place_of(&in[0], shape, p, dim, (int64_t)id)];
    }
    return true;
}

static double wrap(enum wick_dtype dtype, double x) {
    switch (dtype) {
    case WICK_U8: return (double)(uint8_t)(int64_t)x;
    case WICK_U32: return (double)(uint32_t)(int64_t)x;
    case WICK_I16: return (double)(int16_t)(int64_t)x;
    default: return x;
    }
}

static bool put_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    bool add = c->op != WICK_OP_scatter && c->op != WICK_OP_scatter_inplace;
    int dim = dim_of(c);
    if (verify_reduces(c->op)) return verify_reduce_reference(c, in, out);
    if (!verify_array_new(out, c->dtype, in[0].rank, in[0].shape, true)) return false;
    for (int64_t p = 0; p < out->count; p++) {
        out->data[p] = in[0].data[p];
        out->scale[p] = fabs(in[0].data[p]);
    }
    for (int64_t p = 0; p < in[2].count; p++) {
        double id = id_of(&in[1], &in[2], c->op == WICK_OP_index_add, p, dim);
        if (id >= (double)in[0].shape[dim]) continue;
        int64_t to = place_of(&in[0], in[2].shape, p, dim, (int64_t)id);
        out->data[to] = add ? wrap(c->dtype, out->data[to] + in[2].data[p]) : in[2].data[p];
        /* The error of one addition is proportional to the sum so far; the row allows 8 ulp of scale. */
        double x = fabs(in[2].data[p]);
        out->scale[to] = add ? verify_scale_added(out->scale[to], fabs(out->data[to]), x) : x;
    }
    return true;
}

static bool always(enum wick_op op) {
    (void)op;
    return true;
}

static bool moves(enum wick_op op) {
    return op == WICK_OP_scatter || op == WICK_OP_scatter_inplace || op == WICK_OP_scatter_amax ||
           op == WICK_OP_scatter_amin;
}

const struct verify_family verify_gather = {.name = "gather",
                                            .cases = index_cases,
                                            .make = index_make,
                                            .bench = index_bench,
                                            .call = index_call,
                                            .reference = pick_reference,
                                            .specials = always};
const struct verify_family verify_scatter = {.name = "scatter",
                                             .cases = index_cases,
                                             .make = index_make,
                                             .bench = index_bench,
                                             .call = index_call,
                                             .reference = put_reference,
                                             .specials = moves,
                                             .exact = always};
const struct verify_family verify_index_add = {.name = "index_add",
                                               .cases = index_cases,
                                               .make = index_make,
                                               .bench = index_bench,
                                               .call = index_call,
                                               .reference = put_reference,
                                               .exact = always};

/* ---- masked_fill, one_hot ---- */

static void mask_make(enum wick_op op, int k, struct verify_case *c) {
    static const double values[] = {3.5, -INFINITY, 0, -7};
    (void)op;
    c->n_in = 2;
    c->n_out = 1;
    c->f[0] = values[k % 4];
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -300, .high = 300};
    memcpy(c->in[0].shape, shapes[k].shape, sizeof shapes[k].shape);
    c->in[1] = c->in[0];
    c->in[1].role = VERIFY_CONDITION;
    if (k % 3 == 1) c->in[1].shape[k % shapes[k].rank] = 1;
    if (k % 3 == 2) { /* without the first dim */
        c->in[1].rank--;
        memmove(c->in[1].shape, c->in[1].shape + 1, sizeof *c->in[1].shape * 3);
    }
}

static bool mask_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    return verify_make_large(mask_make, 3, c);
}

static bool mask_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    out[0] = wick_masked_fill(in[0], in[1], verify_number(c->f[0]));
    return out[0] != NULL;
}

static bool mask_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int added = in[0].rank - in[1].rank;
    if (!verify_array_new(out, c->dtype, in[0].rank, in[0].shape, false)) return false;
    for (int64_t p = 0; p < out->count; p++) {
        int64_t rest = p, at = 0, step = 1;
        for (int d = in[1].rank - 1; d >= 0; d--) {
            at += rest % out->shape[d + added] % in[1].shape[d] * step;
            rest /= out->shape[d + added];
            step *= in[1].shape[d];
        }
        out->data[p] = in[1].data[at] != 0 ? verify_held(c->dtype, c->f[0]) : in[0].data[p];
    }
    return true;
}

const struct verify_family verify_masked_fill = {.name = "masked_fill",
                                                 .cases = index_cases,
                                                 .make = mask_make,
                                                 .bench = mask_bench,
                                                 .call = mask_call,
                                                 .reference = mask_reference,
                                                 .specials = always};

static void one_hot_make(enum wick_op op, int k, struct verify_case *c) {
    static const int64_t sizes[4][2] = {{5, 4}, {3, 2}, {0, 6}, {7, 90}};
    (void)op;
    c->n_in = c->n_out = 1;
    c->i[0] = sizes[k][1];
    c->in[0] = (struct verify_operand){
        .role = VERIFY_VALUE, .rank = k % 3, .shape = {sizes[k][0], 3}, .low = 0, .high = (double)(sizes[k][1] - 1)};
}

static bool one_hot_bench(enum wick_op op, struct verify_case *c) {
    one_hot_make(op, 1, c);
    verify_operand_resize(&c->in[0], 1, (const int64_t[]){VERIFY_ROWS});
    c->i[0] = VERIFY_COLUMNS;
    c->in[0].high = VERIFY_COLUMNS - 1;
    return true;
}

static bool one_hot_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    out[0] = wick_one_hot(in[0], c->i[0], WICK_F32);
    return out[0] != NULL;
}

static bool one_hot_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t shape[WICK_MAX_RANK];
    memcpy(shape, in->shape, sizeof shape);
    shape[in->rank] = c->i[0];
    if (!verify_array_new(out, WICK_F32, in->rank + 1, shape, false)) return false;
    for (int64_t p = 0; p < out->count; p++) out->data[p] = in->data[p / c->i[0]] == (double)(p % c->i[0]);
    return true;
}

const struct verify_family verify_one_hot = {.name = "one_hot",
                                             .cases = index_cases,
                                             .make = one_hot_make,
                                             .bench = one_hot_bench,
                                             .call = one_hot_call,
                                             .reference = one_hot_reference};
