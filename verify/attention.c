/* Cases of attention, of a batch and of packed sequences. i[0]: causal; i[1]: align_last; i[2]: windowed, i[3]: left,
 * i[4]: right; i[5]: log_sums are a second result; i[6]: of packed sequences, how many, then their starts in q and
 * those in k; of a batch i[7]: the seed of dropout. f[0]: scale, f[1]: soft cap, f[2]: dropout. Operands: q, k, v,
 * mask, slopes. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum mask { NONE, KEEP, ADD };
enum { STARTS = 7 };

struct shape {
    int64_t batch, heads, key_heads, queries, keys, depth, width;
    enum mask mask;
    int mask_rank;
    bool causal;
    double scale, soft_cap;
    bool last;           /* align_last */
    int64_t left, right; /* one more than the window's; 0: no window; -1: a window without a limit there */
    int slopes;          /* their rank; 0: none */
    bool sums;
    int nan_k, nan_v; /* one in so many elements is NaN; 0: none */
    double dropout;
};

static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, 1, 1, NONE, 0, false, .scale = 0},
    {1, 2, 2, 5, 7, 8, 6, NONE, 0, false, .scale = 0},
    {2, 4, 2, 3, 9, 5, 5, KEEP, 4, false, .scale = 0},
    {1, 2, 1, 17, 17, 16, 16, NONE, 0, true, .scale = 0},
    {1, 1, 1, 6, 3, 4, 4, ADD, 2, true, .scale = 0.5},
    {1, 1, 1, 3, 130, 33, 34, ADD, 4, false, .soft_cap = 2},
    {1, 1, 1, 75, 140, 4, 3, KEEP, 2, true, .scale = 0},
    {1, 2, 2, 0, 4, 3, 3, NONE, 0, false, .scale = 0},
    {1, 2, 2, 4, 0, 3, 3, NONE, 0, false, .scale = 0},
    {1, 1, 1, 2, 3, 0, 2, NONE, 0, false, .scale = 0},
    {1, 4, 2, 70, 130, 64, 64, NONE, 0, true, .scale = 0},
    {1, 2, 2, 20, 150, 128, 72, KEEP, 4, false, .scale = 0},
    {1, 1, 1, 20, 70, 200, 192, ADD, 2, true, .soft_cap = 1.5},
    {1, 2, 1, 1, 600, 32, 32, NONE, 0, false, .scale = 0},
    {1, 2, 1, 3, 5, 4, 3, NONE, 0, true, .last = true, .sums = true},
    {1, 1, 1, 6, 4, 3, 4, NONE, 0, true, .last = true, .sums = true},
    {2, 2, 1, 4, 6, 2, 2, ADD, 2, true, .last = true, .left = 2, .right = -1, .slopes = 2, .soft_cap = 1, .sums = true},
    {1, 2, 2, 6, 7, 3, 4, NONE, 0, false, .left = 3, .right = 2, .slopes = 1, .sums = true},
    {1, 2, 1, 5, 9, 4, 2, KEEP, 4, false, .left = -1, .right = 1, .sums = true},
    {1, 4, 1, 33, 300, 64, 64, NONE, 0, true, .last = true, .left = 65, .right = 1, .slopes = 1, .sums = true},
    {2, 2, 2, 150, 140, 40, 48, NONE, 0, false, .left = 20, .right = 30, .nan_v = 500, .sums = true},
    {1, 2, 1, 2, 700, 64, 64, NONE, 0, true, .last = true, .sums = true, .slopes = 1, .soft_cap = 3},
    {1, 1, 1, 140, 130, 80, 80, NONE, 0, true, .nan_k = 3000, .nan_v = 400, .sums = true},
    {1, 2, 1, 9, 520, 32, 40, KEEP, 4, false, .nan_k = 4000, .nan_v = 2000, .sums = true},
    {1, 1, 1, 20, 66, 200, 192, NONE, 0, true, .last = true, .left = 8, .nan_v = 600},
    {1, 1, 1, 5, 7, 4, 0, NONE, 0, true, .sums = true},
    {2, 4, 2, 1, 300, 80, 72, NONE, 0, true, .last = true, .left = 270, .nan_v = 500, .sums = true},
    {1, 2, 1, 1, 140, 150, 7, KEEP, 4, false, .soft_cap = 2, .slopes = 1, .nan_k = 3000, .sums = true},
    {1, 4, 4, 18, 650, 80, 100, NONE, 0, true, .last = true, .sums = true},
    {2, 4, 2, 5, 9, 4, 3, KEEP, 4, true, .sums = true, .slopes = 1, .dropout = 0.25},
    {1, 2, 1, 7, 6, 3, 4, ADD, 2, false, .left = 3, .right = 2, .soft_cap = 2, .dropout = 0.5},
    {1, 2, 2, 3, 0, 2, 2, NONE, 0, false, .sums = true, .dropout = 0.5},
    /* tiles in registers of f32: rows of up to 32, 64, 96 and 128 elements, tiles of 32 and 64 rows */
    {2, 3, 1, 70, 130, 32, 28, KEEP, 4, true, .slopes = 1, .nan_v = 700, .sums = true},
    {1, 8, 8, 130, 70, 24, 32, NONE, 0, true, .last = true, .nan_v = 300, .sums = true},
    {1, 4, 2, 66, 200, 96, 88, ADD, 2, false, .soft_cap = 2, .sums = true},
    {1, 2, 1, 20, 280, 128, 112, NONE, 0, false, .nan_k = 20000, .sums = true},
    {1, 1, 1, 20, 70, 32, 24, NONE, 0, true, .last = true, .sums = true},
    {1, 1, 1, 18, 30, 40, 64, NONE, 0, false, .slopes = 1},
    {1, 1, 1, 33, 66, 96, 80, KEEP, 4, false, .nan_v = 800},
    {1, 1, 1, 17, 65, 100, 128, NONE, 0, false, .scale = 0.5},
    /* few queries, whose rows are pieces of more than 128 elements */
    {1, 4, 2, 3, 150, 160, 136, KEEP, 4, true, .last = true, .slopes = 1, .nan_v = 900, .sums = true},
    /* the same of up to 128 elements and many keys, whose parts are joined by the blocks that make them */
    {2, 8, 2, 1, 900, 128, 128, NONE, 0, false, .nan_v = 9000, .sums = true},
    {1, 8, 1, 1, 2100, 64, 56, KEEP, 4, true, .last = true, .left = 1900, .sums = true},
    /* several tiles of queries and steps of keys, without a mask */
    {1, 2, 1, 200, 420, 72, 80, NONE, 0, true, .last = true, .left = 300, .nan_v = 5000, .sums = true},
    /* more tiles than an H200 has units, so that a block that stays makes several */
    {1, 70, 70, 200, 300, 8, 8, NONE, 0, false, .sums = true},
    {1, 70, 70, 130, 260, 8, 72, NONE, 0, true, .last = true, .sums = true},
    /* the same of tiles of 192 rows */
    {1, 140, 140, 192, 70, 8, 8, NONE, 0, false, .sums = true},
};

/* Packed: lengths of queries and keys of each sequence, -1 ends them. */
static const struct {
    struct shape shape;
    int64_t queries[5], keys[5];
} packed[] = {
    {{.heads = 1, .key_heads = 1, .depth = 3, .width = 2}, {2, -1}, {3, -1}},
    {{.heads = 2, .key_heads = 1, .depth = 4, .width = 3, .causal = true, .last = true, .sums = true},
     {1, 3, 2, -1},
     {4, 3, 0, -1}},
    {{.heads = 2, .key_heads = 2, .depth = 2, .width = 3, .left = 2, .right = 2, .slopes = 2, .sums = true},
     {4, 0, 3, -1},
     {2, 2, 5, -1}},
    {{.heads = 2, .key_heads = 2, .depth = 8, .width = 8}, {0, 0, -1}, {3, 1, -1}},
    {{.heads = 4, .key_heads = 2, .depth = 64, .width = 64, .causal = true, .sums = true, .slopes = 1},
     {70, 1, 130, 0, -1},
     {70, 200, 130, 5, -1}},
    {{.heads = 2, .key_heads = 1, .depth = 32, .width = 40, .causal = true, .last = true, .nan_v = 3000, .nan_k = 9000},
     {1, 1, 2, 1, -1},
     {600, 3, 260, 1, -1}},
    {{.heads = 1, .key_heads = 1, .depth = 128, .width = 80, .soft_cap = 2, .sums = true}, {16, 65, -1}, {129, 17, -1}},
};

static int attention_cases(enum wick_op op) {
    return op == WICK_OP_attention_packed ? sizeof packed / sizeof *packed : sizeof shapes / sizeof *shapes;
}

static void make_options(const struct shape *shape, struct verify_case *c) {
    c->n_in = 5;
    c->n_out = shape->sums ? 2 : 1;
    for (int i = 0; i < 3; i++)
        c->in[i] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 4, .low = -1, .high = 1};
    c->in[1].nan_every = shape->nan_k;
    c->in[2].nan_every = shape->nan_v;
    c->in[3].role = shape->mask == NONE ? VERIFY_ABSENT : shape->mask == KEEP ? VERIFY_CONDITION : VERIFY_VALUE;
    c->in[3].rank = shape->mask_rank;
    c->in[4] = (struct verify_operand){
        .role = shape->slopes ? VERIFY_F32 : VERIFY_ABSENT, .rank = shape->slopes, .low = 0, .high = 0.5};
    c->i[0] = shape->causal;
    c->i[1] = shape->last;
    c->i[2] = shape->left != 0 || shape->right != 0;
    c->i[3] = shape->left > 0 ? shape->left - 1 : -1;
    c->i[4] = shape->right > 0 ? shape->right - 1 : -1;
    c->i[5] = shape->sums;
    c->f[0] = shape->scale;
    c->f[1] = shape->soft_cap;
    c->f[2] = shape->dropout;
    if (shape->dropout > 0) c->i[7] = 0x123456789a + shape->keys;
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
    for (int i = 0; i < 3; i++) c->in[i].rank = 3;
    memcpy(c->in[0].shape, (int64_t[]){q[n], shape->heads, shape->depth}, 24);
    memcpy(c->in[1].shape, (int64_t[]){keys[n], shape->key_heads, shape->depth}, 24);
    memcpy(c->in[2].shape, (int64_t[]){keys[n], shape->key_heads, shape->width}, 24);
    memcpy(c->in[4].shape, shape->slopes == 2 ? (int64_t[]){n, shape->heads} : (int64_t[]){shape->heads, 0}, 16);
}

static void attention_make(enum wick_op op, int k, struct verify_case *c) {
    const struct shape *shape = &shapes[k];
    if (op == WICK_OP_attention_packed) {
        make_packed(k, c);
        return;
    }
    make_options(shape, c);
    memcpy(c->in[0].shape, (int64_t[]){shape->batch, shape->heads, shape->queries, shape->depth}, 32);
    memcpy(c->in[1].shape, (int64_t[]){shape->batch, shape->key_heads, shape->keys, shape->depth}, 32);
    memcpy(c->in[2].shape, (int64_t[]){shape->batch, shape->key_heads, shape->keys, shape->width}, 32);
    if (shape->mask_rank == 2)
        memcpy(c->in[3].shape, (int64_t[]){shape->queries, shape->keys}, 16);
    else
        memcpy(c->in[3].shape, (int64_t[]){shape->batch, 1, 1, shape->keys}, 32);
    memcpy(c->in[4].shape, shape->slopes == 2 ? (int64_t[]){shape->batch, shape->heads} : (int64_t[]){shape->heads, 0},
           16);
}

static bool attention_bench(enum wick_op op, struct verify_case *c) {
    if (op == WICK_OP_attention_packed) return false;
    attention_make(op, 0, c);
    for (int i = 0; i < 3; i++) verify_operand_resize(&c->in[i], 4, (const int64_t[]){1, 8, 512, 64});
    return true;
}

/* Starts of sequences: i32, or u32 for every other case. */
static struct wick_tensor *starts_of(const struct verify_case *c, const int64_t *from) {
    struct wick_device *device = verify_device();
    int64_t n = c->i[6] + 1;
    int32_t values[24];
    for (int64_t s = 0; s < n; s++) values[s] = (int32_t)from[s];
    return wick_from_data(device, n % 2 ? WICK_I32 : WICK_U32, WICK_SHAPE(n), values, (size_t)n * sizeof *values);
}

static bool attention_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_attention_options options = {.scale = c->f[0],
                                             .soft_cap = c->f[1],
                                             .causal = c->i[0] != 0,
                                             .align_last = c->i[1] != 0,
                                             .windowed = c->i[2] != 0,
                                             .left = c->i[3],
                                             .right = c->i[4],
                                             .slopes = in[4],
                                             .dropout = c->f[2],
                                             .seed = c->f[2] > 0 ? (uint64_t)c->i[7] : 0,
                                             .log_sums = c->i[5] ? &out[1] : NULL};
    if (c->op == WICK_OP_attention_packed) {
        struct wick_tensor *q = starts_of(c, c->i + STARTS), *k = starts_of(c, c->i + STARTS + c->i[6] + 1);
        out[0] = wick_attention_packed(in[0], in[1], in[2], q, k, &options);
        wick_release(q);
        wick_release(k);
    } else {
        out[0] = wick_scaled_dot_product_attention(in[0], in[1], in[2], in[3], &options);
    }
    return out[0] != NULL;
}

/* ---- the reference ---- */

/* One query, and the keys of its head. */
struct query {
    const double *q, *k, *v, *mask; /* mask: NULL for none */
    int64_t keys, k_step, v_step, position, out;
    double slope;
};

/* Finds query i of a head of a sequence. */
static struct query query_of(const struct verify_case *c, const struct verify_array *in, int64_t s, int64_t h,
                             int64_t i) {
    const struct verify_array *q = &in[0], *k = &in[1], *v = &in[2], *mask = &in[3], *slopes = &in[4];
    bool batched = c->op != WICK_OP_attention_packed;
    const int64_t *starts = c->i + STARTS, *k_starts = starts + c->i[6] + 1;
    int64_t heads = q->shape[1], key_heads = k->shape[1], kh = h / (heads / key_heads), last = batched ? 3 : 2;
    int64_t queries = batched ? q->shape[2] : starts[s + 1] - starts[s], first;
    struct query x = {.keys = batched ? k->shape[2] : k_starts[s + 1] - k_starts[s]};
    x.out = batched ? (s * heads + h) * queries + i : (starts[s] + i) * heads + h;
    first = batched ? (s * key_heads + kh) * x.keys : k_starts[s] * key_heads + kh;
    x.q = q->data + x.out * q->shape[last];
    x.k = k->data + first * k->shape[last];
    x.v = v->data + first * v->shape[last];
    x.k_step = (batched ? 1 : key_heads) * k->shape[last];
    x.v_step = (batched ? 1 : key_heads) * v->shape[last];
    x.position = c->i[1] ? i + x.keys - queries : i;
    if (c->in[3].role != VERIFY_ABSENT) x.mask = mask->data + (mask->rank == 2 ? i : s) * x.keys;
    if (c->in[4].role != VERIFY_ABSENT) x.slope = slopes->data[(slopes->rank == 2 ? s * heads : 0) + h];
    return x;
}

static bool sees(const struct verify_case *c, const struct query *x, int64_t j) {
    if (c->i[0] && j > x->position) return false;
    if (c->i[2] && c->i[3] >= 0 && x->position - j > c->i[3]) return false;
    if (c->i[2] && c->i[4] >= 0 && j - x->position > c->i[4]) return false;
    if (!x->mask) return true;
    return c->in[3].role == VERIFY_CONDITION ? x->mask[j] != 0 : x->mask[j] != -INFINITY;
}

/* The score of a key, and the sum of the magnitudes of its terms. */
static double score_of(const struct verify_case *c, const struct query *x, int64_t depth, int64_t j, double *size) {
    double scale = c->f[0] == 0 ? 1 / sqrt((double)(depth > 0 ? depth : 1)) : c->f[0], sum = 0;
    double distance = fabs((double)(x->position - j));
    *size = x->slope * distance;
    for (int64_t d = 0; d < depth; d++) {
        sum += x->q[d] * x->k[j * x->k_step + d];
        *size += fabs(x->q[d] * x->k[j * x->k_step + d]) * scale;
    }
    sum *= scale;
    if (c->f[1] > 0) sum = c->f[1] * tanh(sum / c->f[1]);
    sum -= x->slope * distance;
    if (!x->mask || c->in[3].role == VERIFY_CONDITION) return sum;
    *size += fabs(x->mask[j]);
    return sum + x->mask[j];
}

/* What rounding the weights to the dtype adds on a GPU, whose matrix instructions take them so: half a unit in the last
 * place of the dtype, in the units of f32 that the row of the op gives 16 of. */
static double weight_error(enum wick_dtype dtype) {
    if (strcmp(wick_device_name(verify_device()), "cpu") == 0) return 0;
    return dtype == WICK_BF16 ? 0x1p-8 * 0x1p23 / 16 : dtype == WICK_F16 ? 0x1p-11 * 0x1p23 / 16 : 0;
}

/* What dropout multiplies weight number i with. */
static double kept(const struct verify_case *c, int64_t i) {
    if (c->f[2] == 0) return 1;
    return verify_philox((uint64_t)c->i[7], (uint64_t)i / 4, i % 4) < c->f[2] * 0x1p32 ? 0 : 1 / (1 - c->f[2]);
}

/* One row of the result. `weight` has room for a number for each key. */
static void attend(const struct verify_case *c, const struct query *x, int64_t depth, int64_t width, double *weight,
                   struct verify_array *out) {
    double most = -INFINITY, largest = 0, total = 0;
    for (int64_t j = 0; j < x->keys; j++) {
        double size = 0;
        if (!sees(c, x, j)) continue;
        weight[j] = score_of(c, x, depth, j, &size);
        most = fmax(most, weight[j]);
        largest = fmax(largest, size);
    }
    for (int64_t j = 0; j < x->keys; j++)
        if (sees(c, x, j)) total += weight[j] = exp(weight[j] - most);
    for (int64_t d = 0; d < width; d++) {
        double sum = 0, scale = 0;
        for (int64_t j = 0; j < x->keys; j++) {
            if (!sees(c, x, j)) continue;
            double term = weight[j] / total * kept(c, x->out * x->keys + j) * x->v[j * x->v_step + d];
            sum += term;
            scale += fabs(term);
        }
        out[0].data[x->out * width + d] = sum;
        /* An error of a score is a relative error of its weight; sums of equal terms err the same way. */
        out[0].scale[x->out * width + d] =
            verify_scale_attention(scale, largest, (double)x->keys, weight_error(c->dtype));
    }
    if (c->n_out < 2) return;
    out[1].data[x->out] = total == 0 ? -INFINITY : most + log(total);
    out[1].scale[x->out] = verify_scale_attention_sums(fabs(most), largest, (double)x->keys);
}

static bool attention_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    const struct verify_array *q = &in[0], *k = &in[1], *v = &in[2];
    bool batched = c->op != WICK_OP_attention_packed;
    int rank = batched ? 4 : 3;
    int64_t depth = q->shape[rank - 1], width = v->shape[rank - 1], shape[4] = {0};
    int64_t sequences = batched ? q->shape[0] : c->i[6];
    double *weight = malloc(sizeof *weight * (size_t)(k->shape[batched ? 2 : 0] + 1));
    memcpy(shape, q->shape, sizeof *shape * (size_t)rank);
    shape[rank - 1] = width;
    bool good = weight && verify_array_new(&out[0], c->dtype, rank, shape, true);
    if (good && c->n_out > 1)
        good = verify_array_new(&out[1], c->dtype == WICK_F64 ? WICK_F64 : WICK_F32, rank - 1, shape, true);
    for (int64_t s = 0; good && s < sequences; s++) {
        int64_t queries = batched ? q->shape[2] : c->i[STARTS + s + 1] - c->i[STARTS + s];
        for (int64_t h = 0; h < q->shape[1]; h++)
            for (int64_t i = 0; i < queries; i++) {
                struct query x = query_of(c, in, s, h, i);
                attend(c, &x, depth, width, weight, out);
            }
    }
    free(weight);
    return good;
}

const struct verify_family verify_attention = {.name = "attention",
                                               .cases = attention_cases,
                                               .make = attention_make,
                                               .bench = attention_bench,
                                               .call = attention_call,
                                               .reference = attention_reference};
