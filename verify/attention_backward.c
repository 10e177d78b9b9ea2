/* Cases of attention's gradients, of a batch and of packed sequences: the function is called first, for its result and
 * log_sums. i and f are as of attention; the gradient of a mask is the fourth result, if there are so many. Operands:
 * gradient, q, k, v, mask, slopes. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum mask { NONE, KEEP, ADD };
enum { STARTS = 7, MOST = 300 /* keys of a case */ };

struct shape {
    int64_t batch, heads, key_heads, queries, keys, depth, width;
    enum mask mask;
    int mask_rank;
    bool causal, last;   /* last: align_last */
    int64_t left, right; /* one more than the window's; 0: no window; -1: a window without a limit there */
    int slopes;          /* their rank; 0: none */
    double scale, soft_cap;
    int nan; /* one element of q, k, v and the gradient in so many is NaN; 0: none */
    double dropout;
    bool of_mask; /* the gradient of the mask is wanted */
};

static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, 1, 1, NONE, 0, .scale = 0},
    {2, 2, 2, 5, 7, 8, 6, NONE, 0, .scale = 0.5},
    {1, 4, 2, 17, 17, 16, 16, KEEP, 4, .causal = true},
    {1, 1, 1, 6, 3, 4, 5, ADD, 2, .causal = true, .soft_cap = 2},
    {1, 2, 1, 70, 130, 40, 33, NONE, 0, .causal = true, .last = true, .slopes = 1},
    {2, 2, 1, 4, 6, 2, 2, ADD, 2, .causal = true, .last = true, .left = 2, .right = -1, .soft_cap = 1},
    {1, 2, 2, 0, 4, 3, 3, NONE, 0, .scale = 0},
    {1, 2, 2, 4, 0, 3, 3, NONE, 0, .scale = 0},
    {1, 1, 1, 2, 3, 0, 2, NONE, 0, .scale = 0},
    {1, 1, 1, 3, 5, 2, 0, NONE, 0, .scale = 0},
    {1, 2, 1, 75, 140, 130, 72, NONE, 0, .left = 20, .right = 30, .nan = 6000},
    {1, 1, 1, 66, 65, 64, 140, KEEP, 2, .causal = true, .soft_cap = 1.5, .nan = 3000},
    {1, 4, 2, 5, 7, 4, 3, NONE, 0, .causal = true, .slopes = 1, .dropout = 0.25},
    {2, 2, 1, 6, 5, 3, 4, ADD, 4, .soft_cap = 2, .of_mask = true},
    {2, 2, 2, 4, 9, 5, 2, ADD, 2, .left = 4, .right = 3, .scale = 0.5, .dropout = 0.5, .of_mask = true},
    /* rows of whole pieces of 16 bytes, for matrix instructions */
    {1, 4, 2, 150, 140, 64, 64, NONE, 0, .causal = true},
    {1, 2, 1, 70, 200, 128, 80, KEEP, 4, .soft_cap = 2},
    {2, 2, 2, 70, 72, 72, 128, ADD, 2, .causal = true, .last = true, .left = 20, .right = -1, .slopes = 1},
    {1, 4, 1, 33, 150, 40, 64, NONE, 0, .causal = true, .last = true, .left = 65, .right = 1, .slopes = 1},
    {1, 2, 1, 130, 135, 64, 48, NONE, 0, .left = 20, .right = 30, .nan = 3000},
    {1, 1, 1, 66, 130, 128, 128, ADD, 4, .soft_cap = 1.5, .nan = 9000},
    /* for tiles in registers of f32: more rows of up to 32, 64 and 96 elements */
    {1, 1, 1, 70, 130, 96, 88, NONE, 0, .causal = true, .nan = 5000},
    {1, 4, 2, 130, 140, 88, 96, KEEP, 4, .causal = true, .slopes = 1},
    {1, 1, 1, 20, 66, 28, 32, ADD, 2, .soft_cap = 2},
    {1, 1, 1, 150, 90, 64, 60, NONE, 0, .left = 30, .right = 20, .nan = 4000},
    {1, 1, 1, 20, 30, 32, 24, NONE, 0, .causal = true, .last = true},
    {1, 1, 1, 33, 34, 64, 64, KEEP, 4, .nan = 2000},
    {1, 1, 1, 18, 20, 80, 96, NONE, 0, .scale = 0.5},
    {1, 1, 1, 20, 40, 128, 100, NONE, 0, .slopes = 1},
    /* more tiles than an H200 has units, so that a block that stays makes several; as many heads share keys, too */
    {1, 70, 70, 200, 160, 8, 8, NONE, 0, .causal = true, .last = true},
    {1, 70, 35, 130, 200, 8, 72, NONE, 0, .causal = true, .nan = 20000},
    {1, 4, 2, 150, 140, 96, 88, NONE, 0, .left = 40, .right = 9},
    {1, 4, 1, 70, 200, 128, 112, NONE, 0, .causal = true, .last = true},
};

/* Packed: lengths of queries and keys of each sequence, -1 ends them. */
static const struct {
    struct shape shape;
    int64_t queries[5], keys[5];
} packed[] = {
    {{.heads = 1, .key_heads = 1, .depth = 3, .width = 2}, {2, -1}, {3, -1}},
    {{.heads = 2, .key_heads = 1, .depth = 4, .width = 3, .causal = true, .last = true},
     {1, 3, 0, 2, -1},
     {4, 3, 2, 0, -1}},
    {{.heads = 4, .key_heads = 2, .depth = 20, .width = 24, .left = 9, .right = 9, .slopes = 2, .soft_cap = 2},
     {70, 1, 64, 0, -1},
     {66, 65, 9, 5, -1}},
    {{.heads = 2, .key_heads = 2, .depth = 64, .width = 40, .causal = true, .nan = 5000}, {3, 68, -1}, {130, 3, -1}},
    {{.heads = 4, .key_heads = 2, .depth = 64, .width = 64, .causal = true, .slopes = 1},
     {70, 1, 130, 0, -1},
     {70, 90, 130, 5, -1}},
    {{.heads = 2, .key_heads = 1, .depth = 128, .width = 80, .causal = true, .last = true},
     {16, 65, -1},
     {129, 17, -1}},
};

static int attention_backward_cases(enum wick_op op) {
    return op == WICK_OP_attention_packed_backward ? sizeof packed / sizeof *packed : sizeof shapes / sizeof *shapes;
}

static void make_options(const struct shape *shape, struct verify_case *c) {
    c->n_in = 6;
    c->n_out = shape->of_mask ? 4 : 3;
    for (int i = 0; i < 4; i++)
        c->in[i] =
            (struct verify_operand){.role = VERIFY_VALUE, .rank = 4, .low = -1, .high = 1, .nan_every = shape->nan};
    c->in[4].role = shape->mask == NONE ? VERIFY_ABSENT : shape->mask == KEEP ? VERIFY_CONDITION : VERIFY_VALUE;
    c->in[4].rank = shape->mask_rank;
    c->in[5] = (struct verify_operand){
        .role = shape->slopes ? VERIFY_F32 : VERIFY_ABSENT, .rank = shape->slopes, .low = 0, .high = 0.5};
    c->i[0] = shape->causal;
    c->i[1] = shape->last;
    c->i[2] = shape->left != 0 || shape->right != 0;
    c->i[3] = shape->left > 0 ? shape->left - 1 : -1;
    c->i[4] = shape->right > 0 ? shape->right - 1 : -1;
    c->f[0] = shape->scale;
    c->f[1] = shape->soft_cap;
    c->f[2] = shape->dropout;
    if (shape->dropout > 0) c->i[7] = 0x123456789a + shape->keys;
}

static void set_shape(struct verify_operand *x, int rank, const int64_t *shape) {
    x->rank = rank;
    memcpy(x->shape, shape, (size_t)rank * sizeof *shape);
}

static void make_packed(int k, struct verify_case *c) {
    const struct shape *shape = &packed[k].shape;
    int64_t n = 0, *q, *keys;
    make_options(shape, c);
    while (packed[k].queries[n] >= 0) n++;
    c->i[6] = n;
    q = c->i + STARTS;
    keys = q + n + 1;
    for (int64_t s = 0; s < n; s++) {
        q[s + 1] = q[s] + packed[k].queries[s];
        keys[s + 1] = keys[s] + packed[k].keys[s];
    }
    set_shape(&c->in[0], 3, (int64_t[]){q[n], shape->heads, shape->width});
    set_shape(&c->in[1], 3, (int64_t[]){q[n], shape->heads, shape->depth});
    set_shape(&c->in[2], 3, (int64_t[]){keys[n], shape->key_heads, shape->depth});
    set_shape(&c->in[3], 3, (int64_t[]){keys[n], shape->key_heads, shape->width});
    memcpy(c->in[5].shape, (int64_t[]){n, shape->heads}, 16);
}

static void attention_backward_make(enum wick_op op, int k, struct verify_case *c) {
    const struct shape *shape = &shapes[k];
    if (op == WICK_OP_attention_packed_backward) {
        make_packed(k, c);
        return;
    }
    int64_t b = shape->batch, h = shape->heads, kh = shape->key_heads;
    make_options(shape, c);
    set_shape(&c->in[0], 4, (int64_t[]){b, h, shape->queries, shape->width});
    set_shape(&c->in[1], 4, (int64_t[]){b, h, shape->queries, shape->depth});
    set_shape(&c->in[2], 4, (int64_t[]){b, kh, shape->keys, shape->depth});
    set_shape(&c->in[3], 4, (int64_t[]){b, kh, shape->keys, shape->width});
    if (shape->mask_rank == 2)
        memcpy(c->in[4].shape, (int64_t[]){shape->queries, shape->keys}, 16);
    else
        memcpy(c->in[4].shape, (int64_t[]){b, 1, 1, shape->keys}, 32);
    memcpy(c->in[5].shape, shape->slopes == 2 ? (int64_t[]){b, h} : (int64_t[]){h, 0}, 16);
}

static bool attention_backward_bench(enum wick_op op, struct verify_case *c) {
    if (op == WICK_OP_attention_packed_backward) return false;
    attention_backward_make(op, 0, c);
    for (int i = 0; i < 4; i++) verify_operand_resize(&c->in[i], 4, (const int64_t[]){1, 8, 512, 64});
    return true;
}

/* ---- the call ---- */

/* Starts of sequences: i32, or u32 for every other case. */
static struct wick_tensor *starts_of(const struct verify_case *c, const int64_t *from) {
    int64_t n = c->i[6] + 1;
    int32_t values[24];
    for (int64_t s = 0; s < n; s++) values[s] = (int32_t)from[s];
    return wick_from_data(verify_device(), n % 2 ? WICK_I32 : WICK_U32, WICK_SHAPE(n), values,
                          (size_t)n * sizeof *values);
}

/* x with its last two dims the other way around in memory. Takes x; NULL for NULL. */
static struct wick_tensor *turned(struct wick_tensor *x) {
    struct wick_tensor *view = x ? wick_transpose(x, -1, -2) : NULL, *copy = view ? wick_contiguous(view) : NULL;
    struct wick_tensor *y = copy ? wick_transpose(copy, -1, -2) : NULL;
    wick_release(x);
    wick_release(view);
    wick_release(copy);
    return y;
}

/* The function's result and log_sums, false after a failure. For a dtype that has no gradient they are made up. */
static bool call_function(const struct verify_case *c, struct wick_tensor *const *in,
                          struct wick_attention_options options, struct wick_attention_backward *places) {
    struct wick_tensor *result, *sums = NULL;
    if (!wick_supports(verify_device(), c->op, wick_tensor_dtype(in[1]))) {
        places->result = wick_retain(in[1]);
        places->log_sums = wick_retain(in[1]);
        return true;
    }
    options.log_sums = &sums;
    result = c->op == WICK_OP_attention_packed_backward
                 ? wick_attention_packed(in[1], in[2], in[3], places->q_starts, places->k_starts, &options)
                 : wick_scaled_dot_product_attention(in[1], in[2], in[3], in[4], &options);
    if (result && c->in[1].shape[0] % 2) { /* of other strides, for some cases */
        result = turned(result);
        sums = turned(sums);
    }
    places->result = result;
    places->log_sums = sums;
    return result && sums;
}

static bool attention_backward_call(const struct verify_case *c, struct wick_tensor *const *in,
                                    struct wick_tensor **out) {
    const struct wick_attention_options function = {.scale = c->f[0],
                                                    .soft_cap = c->f[1],
                                                    .causal = c->i[0] != 0,
                                                    .align_last = c->i[1] != 0,
                                                    .windowed = c->i[2] != 0,
                                                    .left = c->i[3],
                                                    .right = c->i[4],
                                                    .slopes = in[5],
                                                    .dropout = c->f[2],
                                                    .seed = c->f[2] > 0 ? (uint64_t)c->i[7] : 0};
    struct wick_tensor *starts[2] = {NULL, NULL};
    bool packs = c->op == WICK_OP_attention_packed_backward, good = true;
    for (int i = 0; packs && good && i < 2; i++) {
        starts[i] = starts_of(c, c->i + STARTS + i * (c->i[6] + 1));
        good = starts[i] != NULL;
    }
    struct wick_attention_backward options = {.mask = in[4],
                                              .q_starts = starts[0],
                                              .k_starts = starts[1],
                                              .function = &function,
                                              .k_gradient = &out[1],
                                              .v_gradient = &out[2],
                                              .mask_gradient = c->n_out > 3 ? &out[3] : NULL};
    good = good && call_function(c, in, function, &options);
    if (good)
        out[0] = (packs ? wick_attention_packed_backward
                        : wick_scaled_dot_product_attention_backward)(in[0], in[1], in[2], in[3], &options);
    wick_release((struct wick_tensor *)(uintptr_t)options.result);
    wick_release((struct wick_tensor *)(uintptr_t)options.log_sums);
    wick_release(starts[0]);
    wick_release(starts[1]);
    return good && out[0];
}

/* ---- the reference: rows of the full matrix ---- */

/* A query of a head of a sequence, and the keys of its head: offsets of their first elements and steps between keys. */
struct query {
    int64_t row, mask_row; /* its number, and the first element of its mask */
    int64_t q, g, k, v, k_step, v_step, keys, position, depth, width;
    const double *mask; /* NULL for none */
    double slope;
};

static struct query query_of(const struct verify_case *c, const struct verify_array *in, int64_t s, int64_t h,
                             int64_t i) {
    const struct verify_array *q = &in[1], *k = &in[2], *mask = &in[4], *slopes = &in[5];
    bool batched = c->op != WICK_OP_attention_packed_backward;
    const int64_t *starts = c->i + STARTS, *k_starts = starts + c->i[6] + 1;
    int64_t heads = q->shape[1], key_heads = k->shape[1], kh = h / (heads / key_heads), last = batched ? 3 : 2;
    int64_t queries = batched ? q->shape[2] : starts[s + 1] - starts[s];
    struct query x = {.keys = batched ? k->shape[2] : k_starts[s + 1] - k_starts[s],
                      .depth = q->shape[last],
                      .width = in[3].shape[last]};
    int64_t row = batched ? (s * heads + h) * queries + i : (starts[s] + i) * heads + h;
    int64_t first = batched ? (s * key_heads + kh) * x.keys : k_starts[s] * key_heads + kh;
    x.row = row;
    x.q = row * x.depth;
    x.g = row * x.width;
    x.k = first * x.depth;
    x.v = first * x.width;
    x.k_step = (batched ? 1 : key_heads) * x.depth;
    x.v_step = (batched ? 1 : key_heads) * x.width;
    x.position = c->i[1] ? i + x.keys - queries : i;
    x.mask_row = (mask->rank == 2 ? i : s) * x.keys;
    if (c->in[4].role != VERIFY_ABSENT) x.mask = mask->data + x.mask_row;
    if (c->in[5].role != VERIFY_ABSENT) x.slope = slopes->data[(slopes->rank == 2 ? s * heads : 0) + h];
    return x;
}

static bool sees(const struct verify_case *c, const struct query *x, int64_t j) {
    if (c->i[0] && j > x->position) return false;
    if (c->i[2] && c->i[3] >= 0 && x->position - j > c->i[3]) return false;
    if (c->i[2] && c->i[4] >= 0 && j - x->position > c->i[4]) return false;
    if (!x->mask) return true;
    return c->in[4].role == VERIFY_CONDITION ? x->mask[j] != 0 : x->mask[j] != -INFINITY;
}

/* What a row of the matrix has: of each key whether it is seen, its weight, the slope of the soft cap, the gradient of
 * its weight, and the sum of that one's magnitudes; the largest magnitude of a score. */
struct row {
    bool seen[MOST];
    double weight[MOST], slope[MOST], gradient[MOST], size[MOST], kept[MOST], largest, scale; /* kept: by dropout */
    double positions, top; /* keys and queries of the sequence; the largest element of the gradient */
};

static double scale_of(const struct verify_case *c, const struct query *x) {
    return c->f[0] == 0 ? 1 / sqrt((double)(x->depth > 0 ? x->depth : 1)) : c->f[0];
}

/* The score of a key. */
static double score_of(const struct verify_case *c, const struct verify_array *in, const struct query *x, int64_t j,
                       struct row *row) {
    double sum = 0, distance = x->slope * fabs((double)(x->position - j)), size = distance;
    for (int64_t d = 0; d < x->depth; d++) {
        double term = in[1].data[x->q + d] * in[2].data[x->k + j * x->k_step + d] * row->scale;
        sum += term;
        size += fabs(term);
    }
    row->slope[j] = 1;
    if (c->f[1] > 0) {
        double part = cosh(sum / c->f[1]);
        row->slope[j] = 1 / (part * part);
        sum = c->f[1] * tanh(sum / c->f[1]);
    }
    if (x->mask && c->in[4].role != VERIFY_CONDITION) {
        sum += x->mask[j];
        size += fabs(x->mask[j]);
    }
    row->largest = fmax(row->largest, size);
    return sum - distance;
}

/* What dropout multiplies weight number i with. */
static double kept(const struct verify_case *c, int64_t i) {
    if (c->f[2] == 0) return 1;
    return verify_philox((uint64_t)c->i[7], (uint64_t)i / 4, i % 4) < c->f[2] * 0x1p32 ? 0 : 1 / (1 - c->f[2]);
}

static void fill_row(const struct verify_case *c, const struct verify_array *in, const struct query *x,
                     struct row *row) {
    double most = -INFINITY, total = 0;
    row->largest = 0;
    row->scale = scale_of(c, x);
    for (int64_t j = 0; j < x->keys; j++) {
        row->seen[j] = sees(c, x, j);
        row->gradient[j] = row->size[j] = 0;
        if (!row->seen[j]) continue;
        row->weight[j] = score_of(c, in, x, j, row);
        most = fmax(most, row->weight[j]);
        row->kept[j] = kept(c, x->row * x->keys + j);
        for (int64_t e = 0; e < x->width; e++) {
            double term = row->kept[j] * in[0].data[x->g + e] * in[3].data[x->v + j * x->v_step + e];
            row->gradient[j] += term;
            row->size[j] += fabs(term);
        }
    }
    for (int64_t j = 0; j < x->keys; j++)
        if (row->seen[j]) total += row->weight[j] = exp(row->weight[j] - most);
    for (int64_t j = 0; j < x->keys; j++)
        if (row->seen[j]) row->weight[j] /= total;
}

/* What rounding to the dtype adds, in the units of f32 that the row of the op gives 16 of: half a unit in the last
 * place. */
static double rounding(enum wick_dtype dtype) {
    return dtype == WICK_F8E4M3 ? 0x1p-4 * 0x1p23 / 16
           : dtype == WICK_BF16 ? 0x1p-8 * 0x1p23 / 16
           : dtype == WICK_F16  ? 0x1p-11 * 0x1p23 / 16
                                : 0;
}

/* The same of weights, and of the gradients of scores, where matrix instructions take them so: on a GPU, of 16 bits. */
static double weight_rounding(enum wick_dtype dtype) {
    bool rounds = dtype == WICK_BF16 || dtype == WICK_F16;
    return rounds && strcmp(wick_device_name(verify_device()), "cpu") != 0 ? rounding(dtype) : 0;
}

/* The largest finite magnitude in the gradient. */
static double top_of(const struct verify_array *gradient) {
    double top = 0;
    for (int64_t i = 0; i < gradient->count; i++)
        if (isfinite(gradient->data[i])) top = fmax(top, fabs(gradient->data[i]));
    return top;
}

/* The sum of the magnitudes of what the gradients of a row's weights are taken from; of f8e4m3 and f16 no element of
 * the result counts for less than the least normal number, below which their error stays the same. */
static double centre_size(const struct verify_case *c, const struct verify_array *in, const struct query *x,
                          const struct row *row) {
    double least = c->dtype == WICK_F8E4M3 ? 0x1p-6 : c->dtype == WICK_F16 ? 0x1p-14 : 0, all = 0;
    for (int64_t e = 0; e < x->width; e++) {
        double size = 0;
        for (int64_t j = 0; j < x->keys; j++)
            if (row->seen[j]) size += row->weight[j] * row->kept[j] * fabs(in[3].data[x->v + j * x->v_step + e]);
        all += fabs(in[0].data[x->g + e]) * fmax(size, least);
    }
    return all;
}

/* Adds a term to element i of a result. */
static void add(struct verify_array *out, int64_t i, double term, double scale) {
    out->data[i] += term;
    out->scale[i] += scale;
}

/* What an element of the gradients of q and k adds for rounding dS where matrix instructions take it: half a unit, and
 * of f16, whose least number is 2^-24 of the power of two below `top`, half of that. In the units of the row of the op.
 */
static double slope_rounding(enum wick_dtype dtype, double slope, double top) {
    double rounded = weight_rounding(dtype);
    return rounded * fabs(slope) + (rounded > 0 && dtype == WICK_F16 ? 0x1p-25 * top * 0x1p23 / 16 : 0);
}

static void add_row(const struct verify_case *c, const struct verify_array *in, const struct query *x,
                    const struct row *row, struct verify_array *out) {
    double mean = 0, centre = centre_size(c, in, x, row), rounded = weight_rounding(c->dtype);
    for (int64_t j = 0; j < x->keys; j++)
        if (row->seen[j]) mean += row->weight[j] * row->gradient[j];
    for (int64_t j = 0; j < x->keys; j++) {
        int64_t k = x->k + j * x->k_step, v = x->v + j * x->v_step;
        if (!row->seen[j]) continue;
        double ds = row->weight[j] * (row->gradient[j] - mean) * row->slope[j] * row->scale;
        double size = row->weight[j] * row->scale;
        size *= verify_scale_attention(row->size[j] + centre, row->largest, row->positions, 0) +
                verify_scale_attention(centre, 0, 0, rounding(c->dtype) + rounded);
        if (c->n_out > 3) {
            double by = row->slope[j] * row->scale;
            add(&out[3], x->mask_row + j, ds / by, size / row->scale);
        }
        size += slope_rounding(c->dtype, ds, row->top * row->scale);
        for (int64_t d = 0; d < x->depth; d++) {
            double q_d = in[1].data[x->q + d], k_d = in[2].data[k + d];
            add(&out[0], x->q + d, ds * k_d, size * fabs(k_d));
            add(&out[1], k + d, ds * q_d, size * fabs(q_d));
        }
        for (int64_t e = 0; e < x->width; e++) {
            double term = row->weight[j] * row->kept[j] * in[0].data[x->g + e];
            add(&out[2], v + e, term, verify_scale_attention(fabs(term), row->largest, row->positions, rounded));
        }
    }
}

static bool new_zeros(const struct verify_case *c, const struct verify_array *like, struct verify_array *out) {
    if (!verify_array_new(out, c->dtype, like->rank, like->shape, true)) return false;
    for (int64_t i = 0; i < out->count; i++) out->data[i] = out->scale[i] = 0;
    return true;
}

static bool attention_backward_reference(const struct verify_case *c, const struct verify_array *in,
                                         struct verify_array *out) {
    bool batched = c->op != WICK_OP_attention_packed_backward, good = true;
    int64_t sequences = batched ? in[1].shape[0] : c->i[6];
    struct row *row = malloc(sizeof *row);
    const double top = top_of(&in[0]);
    for (int i = 0; i < c->n_out; i++) good = good && new_zeros(c, &in[1 + i], &out[i]);
    for (int64_t s = 0; good && row && s < sequences; s++) {
        int64_t queries = batched ? in[1].shape[2] : c->i[STARTS + s + 1] - c->i[STARTS + s];
        for (int64_t h = 0; h < in[1].shape[1]; h++)
            for (int64_t i = 0; i < queries; i++) {
                struct query x = query_of(c, in, s, h, i);
                fill_row(c, in, &x, row);
                row->positions = (double)(x.keys + queries);
                row->top = top;
                add_row(c, in, &x, row, out);
            }
    }
    good = good && row;
    free(row);
    return good;
}

const struct verify_family verify_attention_backward = {.name = "attention_backward",
                                                        .cases = attention_backward_cases,
                                                        .make = attention_backward_make,
                                                        .bench = attention_backward_bench,
                                                        .call = attention_backward_call,
                                                        .reference = attention_backward_reference};
