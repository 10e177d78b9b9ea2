/* Cases of attention_step. Operands: q, kv, a cache of each of i[0] sequences, then, if positions turn rows, cosines
 * and sines. Results: attention, then the caches as they are after the call. f[0]: scale, f[1]: soft cap. i[1]:
 * windowed, i[2]: left, i[3]: whether the device has the lengths, which are i[4] and up, i[8]: whether positions turn
 * rows, i[9]: interleaved, i[10]: whether values are an operand of their own. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 3,
    CACHES = 2, /* the first operand that is a cache */
    KNOWN = 3,
    LENGTHS,
    TURNED = 8,
    INTERLEAVED,
    APART
};

static const struct {
    int64_t heads, key_heads, depth, keys[MOST]; /* 0: no more sequences */
    double scale, soft_cap;
    int64_t window; /* keys that are seen; 0: all */
    int nan_every;
    bool known; /* that follows */
    int64_t lengths[MOST];
    int64_t pairs; /* that turn; 0: there are no tables */
    bool interleaved;
    bool apart;            /* values are an operand of their own */
    enum wick_dtype cache; /* beside f32; 0: the same */
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
    {4, 2, 64, {3, 70, 300}, .pairs = 32, .apart = true},
    {2, 1, 40, {150}, .pairs = 12, .interleaved = true, .cache = WICK_BF16},
    {4, 1, 64, {70}, .cache = WICK_F16, .apart = true},
    {6, 2, 32, {600, 40}, .window = 500, .cache = WICK_BF16},
    {8, 1, 80, {700, 3, 64}, .known = true, .lengths = {640, 2, -1}, .pairs = 40, .cache = WICK_F16},
    {4, 2, 64, {300, 9}, .known = true, .lengths = {280, 9}, .pairs = 32, .interleaved = true},
    {2, 1, 40, {300, 150}, .window = 70, .nan_every = 3000, .pairs = 20, .cache = WICK_BF16},
    {2, 1, 40, {100}, .window = 70, .nan_every = 300, .pairs = 20, .cache = WICK_F16},
    {2, 1, 260, {9, 7}, .known = true, .lengths = {5, 1}, .pairs = 130, .cache = WICK_F16},
    {4, 2, 64, {3, 70}, .apart = true},
    {2, 1, 36, {50}, .pairs = 18, .cache = WICK_BF16},
    {2, 1, 36, {50}, .pairs = 16, .cache = WICK_F16},
    {12, 2, 128, {200, 700}, .window = 300, .known = true, .lengths = {150, 690}, .pairs = 64},
    {14, 2, 112, {200, 129}, .soft_cap = 3, .pairs = 50, .interleaved = true, .apart = true, .cache = WICK_BF16},
};

static int step_cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static void step_make(enum wick_op op, int k, struct verify_case *c) {
    int n = 0;
    (void)op;
    while (n < MOST && shapes[k].keys[n] > 0) n++;
    c->n_in = CACHES + n + (shapes[k].pairs > 0 ? 2 : 0);
    c->n_out = 1 + n;
    for (int i = 0; i < c->n_in; i++)
        c->in[i] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 4, .low = -1, .high = 1};
    memcpy(c->in[0].shape, (int64_t[]){n, shapes[k].heads, 1, shapes[k].depth}, 32);
    memcpy(c->in[1].shape, (int64_t[]){n, 2 * shapes[k].key_heads, 1, shapes[k].depth}, 32);
    for (int i = 0; i < n; i++) {
        struct verify_operand *cache = &c->in[CACHES + i];
        memcpy(cache->shape, (int64_t[]){1, 2 * shapes[k].key_heads, shapes[k].keys[i], shapes[k].depth}, 32);
        cache->nan_every = shapes[k].nan_every;
        if (shapes[k].cache == 0) continue;
        cache->role = VERIFY_HALVES;
        cache->blocks = shapes[k].cache;
    }
    for (int i = CACHES + n; i < c->n_in; i++) {
        c->in[i].rank = 2;
        memcpy(c->in[i].shape, (int64_t[]){n, shapes[k].pairs}, 16);
    }
    c->i[0] = n;
    c->i[1] = shapes[k].window > 0;
    c->i[2] = shapes[k].window - 1;
    c->i[KNOWN] = shapes[k].known;
    memcpy(c->i + LENGTHS, shapes[k].lengths, sizeof shapes[k].lengths);
    c->i[TURNED] = shapes[k].pairs > 0;
    c->i[INTERLEAVED] = shapes[k].interleaved;
    c->i[APART] = shapes[k].apart;
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
    const struct wick_attention_options attention = {
        .scale = c->f[0], .soft_cap = c->f[1], .windowed = c->i[1] != 0, .left = c->i[2], .right = -1};
    int n = (int)c->i[0];
    int64_t heads = wick_tensor_dim(in[1], 1) / 2;
    bool good = true;
    for (int i = 0; i < n; i++) good = (out[1 + i] = verify_target(in[CACHES + i])) && good;
    struct wick_tensor *lengths = lengths_of(c, wick_tensor_device(in[0]));
    struct wick_tensor *k = c->i[APART] ? wick_narrow(in[1], 1, 0, heads) : wick_retain(in[1]);
    struct wick_tensor *v = c->i[APART] ? wick_narrow(in[1], 1, heads, heads) : NULL;
    const struct wick_step_options options = {.v = v,
                                              .lengths = lengths,
                                              .cosine = c->i[TURNED] ? in[CACHES + n] : NULL,
                                              .sine = c->i[TURNED] ? in[CACHES + n + 1] : NULL,
                                              .interleaved = c->i[INTERLEAVED] != 0,
                                              .attention = &attention};
    if (good) out[0] = wick_attention_step(in[0], k, n, out + 1, &options);
    wick_release(lengths);
    wick_release(k);
    wick_release(v);
    return out[0] != NULL;
}

/* A row of q or of keys, turned by the position of sequence s if positions turn rows. `scale` may be NULL. */
static void turn(const struct verify_case *c, const struct verify_array *in, int64_t s, const double *x, double *out,
                 double *scale) {
    const struct verify_array *tables = in + CACHES + c->i[0];
    const int64_t pairs = c->i[TURNED] ? tables->shape[1] : 0, apart = c->i[INTERLEAVED] ? 1 : pairs;
    memcpy(out, x, sizeof *out * (size_t)in[0].shape[3]);
    for (int64_t i = 0; i < pairs; i++) {
        const int64_t p = c->i[INTERLEAVED] ? 2 * i : i, q = p + apart;
        const double cosine = tables[0].data[s * pairs + i], sine = tables[1].data[s * pairs + i];
        out[p] = x[p] * cosine - x[q] * sine;
        out[q] = x[p] * sine + x[q] * cosine;
        if (!scale) continue;
        scale[p] = verify_scale_turned(fabs(x[p] * cosine), fabs(x[q] * sine));
        scale[q] = verify_scale_turned(fabs(x[p] * sine), fabs(x[q] * cosine));
    }
}

/* What rounding adds to the bound: of a result in f32 to a cache's dtype, and of turned rows to a neighbour of what
 * they would be without an error. */
static double rounded(const struct verify_case *c, const struct verify_array *in, double largest) {
    const enum wick_dtype dtype = in[CACHES].dtype;
    const double one = dtype == WICK_F16 ? 0x1p12 : dtype == WICK_BF16 ? 0x1p15 : 0x1p19;
    if (wick_dtype_block_bytes(dtype) > 2) return 0;
    return ((dtype != c->dtype ? 1 : 0) + (c->i[TURNED] ? 4 * largest : 0)) * one / 16;
}

/* One head of a sequence: keys and values by rows of `depth`, as they are after the step. */
struct head {
    const double *q, *k, *v;
    int64_t keys, depth;
    enum wick_dtype dtype; /* to which all are rounded */
};

static double score_of(const struct verify_case *c, const struct head *x, int64_t j, double *size) {
    double scale = c->f[0] == 0 ? 1 / sqrt((double)(x->depth > 0 ? x->depth : 1)) : c->f[0], sum = 0;
    *size = 0;
    for (int64_t d = 0; d < x->depth; d++) {
        double product = scale * verify_round(x->dtype, x->q[d]) * verify_round(x->dtype, x->k[j * x->depth + d]);
        sum += product;
        *size += fabs(product);
    }
    return c->f[1] > 0 ? c->f[1] * tanh(sum / c->f[1]) : sum;
}

/* `weight` has room for a number for each key. */
static void attend(const struct verify_case *c, const struct verify_array *in, const struct head *x, double *weight,
                   double *out, double *bound) {
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
            double value = weight[j] / total * verify_round(x->dtype, x->v[j * x->depth + d]);
            sum += value;
            terms += fabs(value);
        }
        out[d] = sum;
        bound[d] = verify_scale_attention(terms, largest, (double)x->keys, rounded(c, in, largest));
    }
}

/* The cache of sequence s after the step. */
static bool put(const struct verify_case *c, const struct verify_array *in, int64_t s, int64_t keys,
                struct verify_array *after) {
    const struct verify_array *before = &in[CACHES + s];
    const int64_t rows = before->shape[1], room = before->shape[2], depth = before->shape[3];
    if (!verify_array_new(after, before->dtype, 4, before->shape, c->i[TURNED])) return false;
    memcpy(after->data, before->data, sizeof(double) * (size_t)before->count);
    for (int64_t r = 0; r < rows && keys > 0; r++) {
        const double *x = in[1].data + (s * rows + r) * depth;
        const int64_t at = (r * room + keys - 1) * depth;
        if (r < rows / 2)
            turn(c, in, s, x, after->data + at, after->scale ? after->scale + at : NULL);
        else
            memcpy(after->data + at, x, sizeof *x * (size_t)depth);
    }
    return true;
}

static bool step_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t n = c->i[0], heads = in[0].shape[1], rows = in[1].shape[1], depth = in[0].shape[3];
    int64_t most = 0;
    for (int64_t s = 0; s < n; s++) most = in[CACHES + s].shape[2] > most ? in[CACHES + s].shape[2] : most;
    double *weight = malloc(sizeof *weight * (size_t)most), *q = malloc(sizeof *q * (size_t)(depth + 1));
    bool good = weight && q && verify_array_new(&out[0], c->dtype, 4, in[0].shape, true);
    for (int64_t s = 0; s < n && good; s++) {
        struct verify_array *after = &out[1 + s];
        int64_t room = in[CACHES + s].shape[2], length = c->i[KNOWN] ? c->i[LENGTHS + s] : room - 1;
        int64_t keys = length >= 0 && length < room ? length + 1 : 0;
        good = put(c, in, s, keys, after);
        for (int64_t h = 0; h < heads && good; h++) {
            int64_t row = s * heads + h, shared = h / (heads / (rows / 2));
            struct head x = {q,
                             after->data + shared * room * depth,
                             after->data + (rows / 2 + shared) * room * depth,
                             keys,
                             depth,
                             after->dtype};
            turn(c, in, s, in[0].data + row * depth, q, NULL);
            attend(c, in, &x, weight, out[0].data + row * depth, out[0].scale + row * depth);
        }
    }
    free(weight);
    free(q);
    return good;
}

const struct verify_family verify_attention_step = {.name = "attention_step",
                                                    .cases = step_cases,
                                                    .make = step_make,
                                                    .bench = step_bench,
                                                    .call = step_call,
                                                    .reference = step_reference};
