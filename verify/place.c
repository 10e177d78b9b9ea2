/* Cases of the place, composed_shape, triangle and eye families: copies that join, cut, turn and mask.
 *
 * i[0] is the dim (rows for eye), i[1] start, shift or k (columns for eye), i[2 ..] repeats. */
#include "verify/verify.h"

#include <string.h>

static const struct {
    int rank;
    int64_t shape[4];
    int dim;
    int64_t more, other; /* sizes along dim of the second and third operand */
} shapes[] = {
    {1, {5}, 0, 0, 3},        {2, {3, 4}, 0, 2, 0},        {2, {3, 4}, 1, 1, 6},     {3, {2, 3, 5}, 1, 1, 1},
    {3, {2, 3, 5}, -1, 7, 2}, {4, {2, 3, 4, 5}, -3, 2, 1}, {2, {0, 4}, 1, 2, 3},     {2, {3, 0}, 1, 2, 0},
    {2, {129, 70}, 0, 40, 2}, {2, {129, 70}, 1, 1, 67},    {2, {3, 40001}, 0, 1, 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int place_cases(enum wick_op op) {
    (void)op;
    return SHAPES;
}

static int matrix_cases(enum wick_op op) { return op == WICK_OP_eye ? 4 : 3 * (SHAPES - 1); }

/* dim `to` of operand `i` gets size n. */
static void resize(struct verify_case *c, int i, int dim, int64_t n) {
    c->in[i] = c->in[0];
    c->in[i].shape[dim < 0 ? dim + c->in[0].rank : dim] = n;
}

static void set_first(struct verify_case *c, int k, int n_in) {
    c->n_in = n_in;
    c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -300, .high = 300};
    memcpy(c->in[0].shape, shapes[k].shape, sizeof shapes[k].shape);
    for (int i = 1; i < n_in; i++) c->in[i] = c->in[0];
    c->i[0] = shapes[k].dim;
}

static void place_make(enum wick_op op, int k, struct verify_case *c) {
    bool slice = op == WICK_OP_slice_set_inplace || op == WICK_OP_slice_scatter;
    set_first(c, k, op == WICK_OP_cat || op == WICK_OP_stack ? 3 : slice ? 2 : 1);
    int dim = shapes[k].dim;
    int64_t size = c->in[0].shape[dim < 0 ? dim + c->in[0].rank : dim];
    c->i[1] = op == WICK_OP_roll ? k * 3 - 12 : 0;
    if (op == WICK_OP_cat) {
        resize(c, 1, dim, shapes[k].more);
        resize(c, 2, dim, shapes[k].other);
    }
    if (slice) {
        int64_t n = shapes[k].more < size ? shapes[k].more : size;
        resize(c, 1, dim, n);
        c->i[1] = size - n;
    }
    for (int d = 0; d < 4; d++) c->i[2 + d] = k == SHAPES - 1 ? 1 + d % 2 : (k + d) % 4;
}

static void matrix_make(enum wick_op op, int k, struct verify_case *c) {
    static const int64_t sizes[4][2] = {{3, 3}, {0, 4}, {5, 2}, {70, 300}};
    if (op == WICK_OP_eye) {
        c->n_out = 1;
        memcpy(c->i, sizes[k], sizeof sizes[k]);
        return;
    }
    set_first(c, 1 + k / 3, 1);
    c->i[1] = (k % 3 - 1) * (k % 2 ? 3 : 1);
}

static bool place_bench(enum wick_op op, struct verify_case *c) {
    bool joins = op == WICK_OP_cat || op == WICK_OP_stack, repeats = op == WICK_OP_repeat;
    verify_make_large(place_make, 1, c);
    for (int i = 0; i < 3; i++)
        if (joins || repeats || i > 0) c->in[i].shape[0] = VERIFY_ROWS / 4;
    memcpy(c->i + 2, (const int64_t[]){1, 4, 1}, sizeof(int64_t) * 3);
    c->i[1] = VERIFY_ROWS / 4;
    return true;
}

static bool matrix_bench(enum wick_op op, struct verify_case *c) {
    verify_make_large(matrix_make, 0, c);
    c->i[0] = op == WICK_OP_eye ? VERIFY_ROWS : 0;
    c->i[1] = op == WICK_OP_eye ? VERIFY_COLUMNS : 0;
    return true;
}

static bool place_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    int dim = (int)c->i[0], rank = c->in[0].rank;
    switch (c->op) {
    case WICK_OP_cat: out[0] = wick_cat(3, in, dim); break;
    case WICK_OP_stack: out[0] = wick_stack(3, in, dim); break;
    case WICK_OP_slice_scatter: out[0] = wick_slice_scatter(in[0], in[1], dim, c->i[1]); break;
    case WICK_OP_slice_set_inplace:
        out[0] = verify_target(in[0]);
        return out[0] && wick_slice_set_inplace(out[0], in[1], dim, c->i[1]) == WICK_OK;
    case WICK_OP_flip:
        out[0] = wick_flip(in[0], rank > 1 ? 2 : 1, (const int[]){dim, (dim + rank) % rank > 0 ? 0 : rank - 1});
        break;
    case WICK_OP_roll: out[0] = wick_roll(in[0], c->i[1], dim); break;
    case WICK_OP_repeat: out[0] = wick_repeat(in[0], rank + (rank < 3), c->i + 2); break;
    case WICK_OP_tril: out[0] = wick_tril(in[0], c->i[1]); break;
    case WICK_OP_triu: out[0] = wick_triu(in[0], c->i[1]); break;
    case WICK_OP_eye: out[0] = wick_eye(verify_device(), c->dtype, c->i[0], c->i[1]); break;
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

/* The element of `x` at an index. */
static double at(const struct verify_array *x, const int64_t *index) {
    int64_t p = 0;
    for (int d = 0; d < x->rank; d++) p = p * x->shape[d] + index[d];
    return x->data[p];
}

static void shape_of(const struct verify_case *c, const struct verify_array *in, int dim, int *rank, int64_t *shape) {
    *rank = in[0].rank;
    memcpy(shape, in[0].shape, sizeof in[0].shape);
    if (c->op == WICK_OP_cat) shape[dim] += in[1].shape[dim] + in[2].shape[dim];
    if (c->op == WICK_OP_stack) {
        memmove(shape + dim + 1, shape + dim, sizeof *shape * (size_t)(in[0].rank - dim));
        shape[dim] = 3;
        ++*rank;
    }
    if (c->op == WICK_OP_repeat) {
        int added = in[0].rank < 3;
        *rank += added;
        for (int d = 0; d < *rank; d++) shape[d] = c->i[2 + d] * (d < added ? 1 : in[0].shape[d - added]);
    }
}

/* What the result is at an index, which may be changed. */
static double value(const struct verify_case *c, const struct verify_array *in, int dim, int64_t *index) {
    int rank = in[0].rank, added = rank < 3, which = 0;
    int64_t n = rank ? in[0].shape[dim < rank ? dim : 0] : 0, from = index[dim];
    switch (c->op) {
    case WICK_OP_cat:
        while (index[dim] >= in[which].shape[dim]) index[dim] -= in[which++].shape[dim];
        break;
    case WICK_OP_stack:
        which = (int)from;
        memmove(index + dim, index + dim + 1, sizeof *index * (size_t)(rank - dim));
        break;
    case WICK_OP_flip:
        index[dim] = n - 1 - index[dim];
        if (rank > 1) {
            int other = dim > 0 ? 0 : rank - 1;
            index[other] = in[0].shape[other] - 1 - index[other];
        }
        break;
    case WICK_OP_roll: index[dim] = ((from - c->i[1]) % n + n) % n; break;
    case WICK_OP_repeat:
        for (int d = 0; d < rank; d++) index[d] = index[d + added] % in[0].shape[d];
        break;
    case WICK_OP_tril: return index[rank - 1] <= index[rank - 2] + c->i[1] ? at(in, index) : 0;
    case WICK_OP_triu: return index[rank - 1] >= index[rank - 2] + c->i[1] ? at(in, index) : 0;
    default:
        if (from >= c->i[1] && from < c->i[1] + in[1].shape[dim]) {
            index[dim] -= c->i[1];
            which = 1;
        }
    }
    return at(&in[which], index);
}

static bool place_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t shape[WICK_MAX_RANK + 1] = {c->i[0], c->i[1]}, index[WICK_MAX_RANK + 1] = {0};
    int dim = (int)c->i[0], rank = 2;
    if (c->op == WICK_OP_eye) {
        if (!verify_array_new(out, c->dtype, rank, shape, false)) return false;
        for (int64_t p = 0; p < out->count; p++) out->data[p] = p / shape[1] == p % shape[1];
        return true;
    }
    if (dim < 0) dim += in[0].rank + (c->op == WICK_OP_stack);
    shape_of(c, in, dim, &rank, shape);
    if (!verify_array_new(out, c->dtype, rank, shape, false)) return false;
    for (int64_t p = 0; p < out->count; p++) {
        int64_t rest = p;
        for (int d = rank - 1; d >= 0; d--) {
            index[d] = rest % shape[d];
            rest /= shape[d];
        }
        out->data[p] = value(c, in, dim, index);
    }
    return true;
}

static bool always(enum wick_op op) { return op != WICK_OP_eye; }

const struct verify_family verify_place = {.name = "place",
                                           .cases = place_cases,
                                           .make = place_make,
                                           .bench = place_bench,
                                           .call = place_call,
                                           .reference = place_reference,
                                           .specials = always};
const struct verify_family verify_composed_shape = {.name = "composed_shape",
                                                    .cases = place_cases,
                                                    .make = place_make,
                                                    .bench = place_bench,
                                                    .call = place_call,
                                                    .reference = place_reference,
                                                    .specials = always};
const struct verify_family verify_triangle = {.name = "triangle",
                                              .cases = matrix_cases,
                                              .make = matrix_make,
                                              .bench = matrix_bench,
                                              .call = place_call,
                                              .reference = place_reference,
                                              .specials = always};
const struct verify_family verify_eye = {.name = "eye",
                                         .cases = matrix_cases,
                                         .make = matrix_make,
                                         .bench = matrix_bench,
                                         .call = place_call,
                                         .reference = place_reference};
