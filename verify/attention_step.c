/* Cases of attention_step. Operands: q, kv, then a cache of each of i[0] sequences. i[1]: windowed, i[2]: left. f[0]:
 * scale, f[1]: soft cap. i[3]: whether the device has the lengths, i[4] and up. Results: attention, then the caches as
 * they are after the call. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3, CACHES = 2 /* the first operand that is a cache */, KNOWN = 3, LENGTHS };

static const struct {
    int64_t heads, key_heads, depth, keys[MOST]; /* 0: no more sequences */
    double scale, soft_cap;
    int64_t window; /* keys that are seen; 0: all */
    int nan_every;
    bool known; /* that follows */
    int64_t lengths[MOST];
} shapes[] = {
    {1, 1, 1, {1}, .scale = 0},
    {2, 1, 8, {5, 2}, .scale = 0.5},
    {4, 2, 64, {1, 70, 300}, .scale = 0},
    {8, 1, 80, {130, 3, 64}, .soft_cap = 2},
    {2, 2, 128, {65, 2, 40}, .window = 7},
    {6, 2, 32, {600, 1, 130}, .window = 500},
    {2, 1, 40, {300, 150}, .window = 70, .nan_every = 3000},
    {2, 2, 200, {9, 140}, .scale = 0},
    {2, 1, 260, {4, 7}, .scale = 0},
    {2, 1, 0, {3, 2}, .scale = 0},
    {4, 2, 64, {300, 70, 9}, .known = true, .lengths = {299, 3, 0}},
    {2, 1, 40, {1000}, .known = true, .lengths = {130}},
    {8, 1, 80, {700, 3, 64}, .soft_cap = 2, .known = true, .lengths = {640, 2, 40}},
    {6, 2, 32, {600, 300, 130}, .window = 70, .known = true, .lengths = {450, 299, 20}},
    {2, 1, 40, {300, 150}, .window = 70, .nan_every = 3000, .known = true, .lengths = {200, 10}},
    {4, 2, 64, {70, 70, 70}, .known = true, .lengths = {70, -1, 69}},
    {2, 1, 260, {9, 7, 4}, .window = 3, .known = true, .lengths = {5, 1, 4}},
    {2, 2, 200, {9, 140}, .known = true, .lengths = {-2147483647, 2147483647}},
};

static int step_cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static void step_make(enum wick_op op, int k, struct verify_case *c) {
    int n = 0;
    (void)op;
    while (n < MOST && shapes[k].keys[n] > 0) n++;
    c->n_in = CACHES + n;
    c->n_out = 1 + n;
    for (int i = 0; i < c->n_in; i++)
        c->in[i] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 4, .low = -1, .high = 1};
    memcpy(c->in[0].shape, (int64_t[]){n, shapes[k].heads, 1, shapes[k].depth}, 32);
    memcpy(c->in[1].shape, (int64_t[]){n, 2 * shapes[k].key_heads, 1, shapes[k].depth}, 32);
    for (int i = 0; i < n; i++) {
        struct verify_operand *cache = &c->in[CACHES + i];
        memcpy(cache->shape, (int64_t[]){1, 2 * shapes[k].key_heads, shapes[k].keys[i], shapes[k].depth}, 32);
        cache->nan_every = shapes[k].nan_every;
    }
    c->i[0] = n;
    c->i[1] = shapes[k].window > 0;
    c->i[2] = shapes[k].window - 1;
    c->i[KNOWN] = shapes[k].known;
    memcpy(c->i + LENGTHS, shapes[k].lengths, sizeof shapes[k].lengths);
    c->f[0] = shapes[k].scale;
    c->f[1] = shapes[k].soft_cap;
}

static bool step_bench(enum wick_op op, struct verify_case *c) {
    step_make(op, 2, c);
    for (int i = 0; i < MOST; i++) verify_operand_resize(&c->in[CACHES + i], 4, (const int64_t[]){1, 16, 4096, 64});
    verify_operand_resize(&c->in[0], 4, (const int64_t[]){MOST, 32, 1, 64});
    verify_operand_resize(&c->in[1], 4, (const int64_t[]){MOST, 16, 1, 64});
    return true;
}

/* Every other element of a tensor. */
static struct wick_tensor *lengths_of(const struct verify_case *c, struct wick_device *device) {
    int32_t lengths[2 * MOST] = {0};
    if (!c->i[KNOWN]) return NULL;
    for (int i = 0; i < c->i[0]; i++) lengths[2 * i] = (int32_t)c->i[LENGTHS + i];
    struct wick_tensor *all = wick_from_data(device, WICK_I32, WICK_SHAPE(MOST, 2), lengths, sizeof lengths);
    struct wick_tensor *some = wick_narrow(all, 0, 0, c->i[0]), *x = wick_select(some, 1, 0);
    wick_release(all);
    wick_release(some);
    return x;
}

static bool step_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    const struct wick_attention_options options = {
        .scale = c->f[0], .soft_cap = c->f[1], .windowed = c->i[1] != 0, .left = c->i[2], .right = -1};
    int n = (int)c->i[0];
    bool good = true;
    for (int i = 0; i < n; i++) good = (out[1 + i] = verify_target(in[CACHES + i])) && good;
    struct wick_tensor *lengths = lengths_of(c, wick_tensor_device(in[0]));
    if (good) out[0] = wick_attention_step(in[0], in[1], lengths, n, out + 1, &options);
    wick_release(lengths);
    return out[0] != NULL;
}

/* One head of a sequence: keys and values by rows of `depth`, as they are after the step. */
struct head {
    const double *q, *k, *v;
    int64_t keys, depth;
};

static double score_of(const struct verify_case *c, const struct head *x, int64_t j, double *size) {
    double scale = c->f[0] == 0 ? 1 / sqrt((double)(x->depth > 0 ? x->depth : 1)) : c->f[0], sum = 0;
    *size = 0;
    for (int64_t d = 0; d < x->depth; d++) {
        sum += scale * x->q[d] * x->k[j * x->depth + d];
        *size += fabs(scale * x->q[d] * x->k[j * x->depth + d]);
    }
    return c->f[1] > 0 ? c->f[1] * tanh(sum / c->f[1]) : sum;
}

/* `weight` has room for a number for each key. */
static void attend(const struct verify_case *c, const struct head *x, double *weight, double *out, double *bound) {
    int64_t first = c->i[1] && x->keys - 1 > c->i[2] ? x->keys - 1 - c->i[2] : 0;
    double most = -INFINITY, largest = 0, total = 0;
    for (int64_t j = first; j < x->keys; j++) {
        double size;
        weight[j] = score_of(c, x, j, &size);
        most = fmax(most, weight[j]);
        largest = fmax(largest, size);
    }
    for (int64_t j = first; j < x->keys; j++) total += weight[j] = exp(weight[j] - most);
    for (int64_t d = 0; d < x->depth; d++) { /* 0 without a key */
        double sum = 0, terms = 0;
        for (int64_t j = first; j < x->keys; j++) {
            sum += weight[j] / total * x->v[j * x->depth + d];
            terms += fabs(weight[j] / total * x->v[j * x->depth + d]);
        }
        out[d] = sum;
        bound[d] = verify_scale_attention(terms, largest, (double)x->keys, 0);
    }
}

static bool step_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t n = c->i[0], heads = in[0].shape[1], rows = in[1].shape[1], depth = in[0].shape[3];
    int64_t most = 0;
    for (int64_t s = 0; s < n; s++) most = in[CACHES + s].shape[2] > most ? in[CACHES + s].shape[2] : most;
    double *weight = malloc(sizeof *weight * (size_t)most);
    bool good = weight && verify_array_new(&out[0], c->dtype, 4, in[0].shape, true);
    for (int64_t s = 0; s < n && good; s++) {
        const struct verify_array *before = &in[CACHES + s];
        struct verify_array *after = &out[1 + s];
        int64_t room = before->shape[2], length = c->i[KNOWN] ? c->i[LENGTHS + s] : room - 1;
        int64_t keys = length >= 0 && length < room ? length + 1 : 0;
        good = verify_array_new(after, c->dtype, 4, before->shape, false);
        if (!good) break;
        memcpy(after->data, before->data, sizeof(double) * (size_t)before->count);
        for (int64_t r = 0; r < rows && keys > 0; r++)
            for (int64_t d = 0; d < depth; d++)
                after->data[(r * room + keys - 1) * depth + d] = in[1].data[(s * rows + r) * depth + d];
        for (int64_t h = 0; h < heads; h++) {
            int64_t row = s * heads + h, shared = h / (heads / (rows / 2));
            struct head x = {in[0].data + row * depth, after->data + shared * room * depth,
                             after->data + (rows / 2 + shared) * room * depth, keys, depth};
            attend(c, &x, weight, out[0].data + row * depth, out[0].scale + row * depth);
        }
    }
    free(weight);
    return good;
}

const struct verify_family verify_attention_step = {.name = "attention_step",
                                                    .cases = step_cases,
                                                    .make = step_make,
                                                    .bench = step_bench,
                                                    .call = step_call,
                                                    .reference = step_reference};
