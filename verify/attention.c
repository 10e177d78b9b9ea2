/* Cases of scaled dot product attention. i[0]: causal; f[0]: scale, f[1]: soft cap. */
#include "verify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum mask { NONE, KEEP, ADD };

static const struct {
    int64_t batch, heads, key_heads, queries, keys, depth, width;
    enum mask mask;
    int mask_rank;
    bool causal;
    double scale, soft_cap;
} shapes[] = {
    {1, 1, 1, 1, 1, 1, 1, NONE, 0, false, 0, 0},       {1, 2, 2, 5, 7, 8, 6, NONE, 0, false, 0, 0},
    {2, 4, 2, 3, 9, 5, 5, KEEP, 4, false, 0, 0},       {1, 2, 1, 17, 17, 16, 16, NONE, 0, true, 0, 0},
    {1, 1, 1, 6, 3, 4, 4, ADD, 2, true, 0.5, 0},       {1, 1, 1, 3, 130, 33, 34, ADD, 4, false, 0, 2},
    {1, 1, 1, 75, 140, 4, 3, KEEP, 2, true, 0, 0},     {1, 2, 2, 0, 4, 3, 3, NONE, 0, false, 0, 0},
    {1, 2, 2, 4, 0, 3, 3, NONE, 0, false, 0, 0},       {1, 1, 1, 2, 3, 0, 2, NONE, 0, false, 0, 0},
    {1, 4, 2, 70, 130, 64, 64, NONE, 0, true, 0, 0},   {1, 2, 2, 20, 150, 128, 72, KEEP, 4, false, 0, 0},
    {1, 1, 1, 20, 70, 200, 192, ADD, 2, true, 0, 1.5}, {1, 2, 1, 1, 600, 32, 32, NONE, 0, false, 0, 0},
};

static int attention_cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static void attention_make(enum wick_op op, int k, struct verify_case *c) {
    (void)op;
    c->n_in = 4;
    c->n_out = 1;
    for (int i = 0; i < 4; i++)
        c->in[i] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 4, .low = -1, .high = 1};
    memcpy(c->in[0].shape, (int64_t[]){shapes[k].batch, shapes[k].heads, shapes[k].queries, shapes[k].depth}, 32);
    memcpy(c->in[1].shape, (int64_t[]){shapes[k].batch, shapes[k].key_heads, shapes[k].keys, shapes[k].depth}, 32);
    memcpy(c->in[2].shape, (int64_t[]){shapes[k].batch, shapes[k].key_heads, shapes[k].keys, shapes[k].width}, 32);
    c->in[3].role = shapes[k].mask == NONE ? VERIFY_ABSENT : shapes[k].mask == KEEP ? VERIFY_CONDITION : VERIFY_VALUE;
    c->in[3].rank = shapes[k].mask_rank;
    if (shapes[k].mask_rank == 2)
        memcpy(c->in[3].shape, (int64_t[]){shapes[k].queries, shapes[k].keys}, 16);
    else
        memcpy(c->in[3].shape, (int64_t[]){shapes[k].batch, 1, 1, shapes[k].keys}, 32);
    c->i[0] = shapes[k].causal;
    c->f[0] = shapes[k].scale;
    c->f[1] = shapes[k].soft_cap;
}

static bool attention_bench(enum wick_op op, struct verify_case *c) {
    attention_make(op, 0, c);
    for (int i = 0; i < 3; i++) verify_operand_resize(&c->in[i], 4, (const int64_t[]){1, 8, 512, 64});
    return true;
}

static bool attention_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_attention_options options = {.scale = c->f[0], .soft_cap = c->f[1], .causal = c->i[0] != 0};
    out[0] = wick_scaled_dot_product_attention(in[0], in[1], in[2], in[3], &options);
    return out[0] != NULL;
}

/* The score of one query and one key, and the sum of the magnitudes of its terms. */
static double score_of(const struct verify_case *c, const struct verify_array *in, const int64_t at[3], int64_t j,
                       double *size) {
    const struct verify_array *q = &in[0], *k = &in[1], *mask = &in[3];
    int64_t depth = q->shape[3], head = at[1] / (q->shape[1] / k->shape[1]);
    const double *row = q->data + ((at[0] * q->shape[1] + at[1]) * q->shape[2] + at[2]) * depth;
    const double *key = k->data + ((at[0] * k->shape[1] + head) * k->shape[2] + j) * depth;
    double scale = c->f[0] == 0 ? 1 / sqrt((double)(depth > 0 ? depth : 1)) : c->f[0], sum = 0;
    *size = 0;
    for (int64_t d = 0; d < depth; d++) {
        sum += row[d] * key[d];
        *size += fabs(row[d] * key[d]) * scale;
    }
    sum *= scale;
    if (c->f[1] > 0) sum = c->f[1] * tanh(sum / c->f[1]);
    if (c->in[3].role != VERIFY_ABSENT) {
        int64_t line = mask->rank == 2 ? at[2] : at[0];
        double value = mask->data[line * mask->shape[mask->rank - 1] + j];
        if (c->in[3].role == VERIFY_CONDITION)
            sum = value != 0 ? sum : -INFINITY;
        else
            sum += value;
        if (c->in[3].role == VERIFY_VALUE) *size += fabs(value);
    }
    return c->i[0] && j > at[2] ? -INFINITY : sum;
}

/* What rounding the weights to the dtype adds on a GPU, whose matrix instructions take them so: half a unit in the last
 * place of the dtype, in the units of f32 that the row of the op gives 16 of. */
static double weight_error(enum wick_dtype dtype) {
    if (strcmp(wick_device_name(verify_device()), "cpu") == 0) return 0;
    return dtype == WICK_BF16 ? 0x1p-8 * 0x1p23 / 16 : dtype == WICK_F16 ? 0x1p-11 * 0x1p23 / 16 : 0;
}

static bool attention_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    const struct verify_array *q = &in[0], *v = &in[2];
    int64_t keys = v->shape[2], width = v->shape[3], shape[4] = {q->shape[0], q->shape[1], q->shape[2], width};
    double *score = malloc(sizeof(double) * (size_t)(keys + 1));
    if (!score || !verify_array_new(out, c->dtype, 4, shape, true)) {
        free(score);
        return false;
    }
    for (int64_t row = 0; width > 0 && row < out->count / width; row++) {
        int64_t at[3] = {row / shape[2] / shape[1], row / shape[2] % shape[1], row % shape[2]};
        double most = -INFINITY, largest = 0, total = 0;
        for (int64_t j = 0; j < keys; j++) {
            double size;
            score[j] = score_of(c, in, at, j, &size);
            most = fmax(most, score[j]);
            largest = fmax(largest, size);
        }
        for (int64_t j = 0; j < keys; j++) total += score[j] = most == -INFINITY ? 0 : exp(score[j] - most);
        for (int64_t d = 0; d < width; d++) {
            double sum = 0, scale = 0;
            for (int64_t j = 0; j < keys && total > 0; j++) {
                int64_t head = at[1] / (shape[1] / v->shape[1]);
                double term = score[j] / total * v->data[((at[0] * v->shape[1] + head) * keys + j) * width + d];
                sum += term;
                scale += fabs(term);
            }
            out->data[row * width + d] = sum;
            /* An error of a score is a relative error of its weight; sums of equal terms err the same way. */
            out->scale[row * width + d] = scale * (4 + 4 * largest + (double)keys / 16 + weight_error(c->dtype));
        }
    }
    free(score);
    return true;
}

const struct verify_family verify_attention = {.name = "attention",
                                               .cases = attention_cases,
                                               .make = attention_make,
                                               .bench = attention_bench,
                                               .call = attention_call,
                                               .reference = attention_reference};
