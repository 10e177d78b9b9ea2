/* Cases of the random, permutation and composed_draw families: the recipes of random.h, written again from its text.
 * The stream is seeded before each call, and some of it is used up. i[0] is the seed, i[1] low, i[2] high of randint;
 * f[0], f[1] the parameters. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int rank;
    int64_t shape[3];
} shapes[] = {{1, {7}}, {0, {0}}, {2, {3, 0}}, {3, {3, 5, 7}}, {1, {1024}}, {2, {37, 111}}};
enum { SHAPES = sizeof shapes / sizeof *shapes, USED = 3 /* elements drawn first: one block */ };

static int random_cases(enum wick_op op) {
    (void)op;
    return SHAPES;
}

static void random_make(enum wick_op op, int k, struct verify_case *c) {
    c->n_in = op == WICK_OP_dropout;
    c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -8, .high = 8};
    memcpy(c->in[0].shape, shapes[k].shape, sizeof shapes[k].shape);
    c->i[0] = k * INT64_C(0x123456789abcdef);
    c->i[1] = k;
    c->i[2] = 100 - k;
    c->i[3] = k;
    c->f[0] = op == WICK_OP_normal ? k - 1 : op == WICK_OP_uniform ? 0 : k / 5.0;
    c->f[1] = op == WICK_OP_normal ? 1 + k / 4.0 : 1 << k;
}

/* permutation: about 1 Mi numbers, or as many as the dtype holds. */
static bool random_bench(enum wick_op op, struct verify_case *c) {
    verify_make_large(random_make, 1, c);
    if (op == WICK_OP_permutation) c->i[3] = c->dtype == WICK_U8 ? 5 : c->dtype == WICK_I16 ? 57 : 324;
    return true;
}

static bool random_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_device *device = verify_device();
    int rank = c->in[0].rank;
    const int64_t *shape = c->in[0].shape;
    if (wick_seed_set(device, (uint64_t)c->i[0]) != WICK_OK) return false;
    wick_release(wick_uniform(device, WICK_F32, WICK_SHAPE(USED), 0, 1));
    switch (c->op) {
    case WICK_OP_uniform: out[0] = wick_uniform(device, c->dtype, rank, shape, c->f[0], c->f[1]); break;
    case WICK_OP_normal: out[0] = wick_normal(device, c->dtype, rank, shape, c->f[0], c->f[1]); break;
    case WICK_OP_bernoulli: out[0] = wick_bernoulli(device, c->dtype, rank, shape, c->f[0]); break;
    case WICK_OP_randint: out[0] = wick_randint(device, c->dtype, rank, shape, c->i[1], c->i[2]); break;
    case WICK_OP_dropout: out[0] = wick_dropout(in[0], c->f[0]); break;
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

uint32_t verify_philox(uint64_t seed, uint64_t n, int64_t w) {
    uint32_t c[4] = {(uint32_t)n, (uint32_t)(n >> 32), 0, 0}, key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t a = UINT64_C(0xD2511F53) * c[0], b = UINT64_C(0xCD9E8D57) * c[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ key[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ key[1],
                            (uint32_t)a};
        memcpy(c, next, sizeof c);
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return c[w];
}

static uint32_t narrow(const struct verify_case *c, int64_t i) {
    return verify_philox((uint64_t)c->i[0], 1 + (uint64_t)i / 4, i % 4);
}

static uint64_t wide(const struct verify_case *c, int64_t i) {
    uint64_t block = 1 + (uint64_t)i / 2, seed = (uint64_t)c->i[0];
    return verify_philox(seed, block, 2 * (i % 2)) | (uint64_t)verify_philox(seed, block, 2 * (i % 2) + 1) << 32;
}

static double uniform(const struct verify_case *c, int64_t i) {
    int bits = c->dtype == WICK_F32 ? 24 : c->dtype == WICK_F16 ? 11 : c->dtype == WICK_BF16 ? 8 : 4;
    double u = c->dtype == WICK_F64 ? ldexp((double)(wide(c, i) >> 11), -53)
                                    : ldexp((double)(narrow(c, i) >> (32 - bits)), -bits);
    return c->f[0] + u * (c->f[1] - c->f[0]);
}

static double normal(const struct verify_case *c, int64_t i) {
    bool f64 = c->dtype == WICK_F64;
    int64_t even = i - i % 2;
    double u = f64 ? ldexp((double)((wide(c, even) >> 11) + 1), -53) : ldexp(narrow(c, even) + 1.0, -32);
    double v = f64 ? ldexp((double)(wide(c, even + 1) >> 11), -53) : ldexp(narrow(c, even + 1), -32);
    double angle = 2 * 3.14159265358979323846 * v, r = sqrt(-2 * log(u));
    return c->f[0] + c->f[1] * r * (i % 2 ? sin(angle) : cos(angle));
}

/* The 128-bit product's upper half, for ranges below 2^32. */
static double randint(const struct verify_case *c, int64_t i) {
    uint64_t x = wide(c, i), range = (uint64_t)(c->i[2] - c->i[1]);
    uint64_t low = (x & UINT32_MAX) * range >> 32;
    return (double)(c->i[1] + (int64_t)(((x >> 32) * range + low) >> 32));
}

static bool random_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    double threshold = nearbyint(ldexp(c->f[0], 32));
    if (!verify_array_new(out, c->dtype, c->in[0].rank, c->in[0].shape, true)) return false;
    for (int64_t i = 0; i < out->count; i++) {
        switch (c->op) {
        case WICK_OP_uniform: out->data[i] = uniform(c, i); break;
        case WICK_OP_normal: out->data[i] = normal(c, i); break;
        case WICK_OP_bernoulli: out->data[i] = narrow(c, i) < threshold; break;
        case WICK_OP_randint: out->data[i] = randint(c, i); break;
        default: out->data[i] = narrow(c, i) < threshold ? 0 : in->data[i] / (1 - c->f[0]); break;
        }
        if (c->op == WICK_OP_normal)
            out->scale[i] = verify_scale_normal(fabs(out->data[i]), fabs(c->f[0]), c->f[1]);
        else
            out->scale[i] = 0;
    }
    return true;
}

const struct verify_family verify_random = {.name = "random",
                                            .cases = random_cases,
                                            .make = random_make,
                                            .bench = random_bench,
                                            .call = random_call,
                                            .reference = random_reference};

static bool permutation_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_device *device = verify_device();
    (void)in;
    if (wick_seed_set(device, (uint64_t)c->i[0]) != WICK_OK) return false;
    wick_release(wick_uniform(device, WICK_F32, WICK_SHAPE(USED), 0, 1));
    out[0] = wick_permutation(device, c->dtype, c->i[3] * c->i[3] * 10);
    return out[0] != NULL;
}

/* How many come before i. */
static bool permutation_reference(const struct verify_case *c, const struct verify_array *in,
                                  struct verify_array *out) {
    int64_t n = c->i[3] * c->i[3] * 10;
    (void)in;
    uint64_t *keys = malloc(sizeof *keys * (size_t)(n + 1));
    if (!keys || !verify_array_new(out, c->dtype, 1, &n, false)) {
        free(keys);
        return false;
    }
    for (int64_t i = 0; i < n; i++) keys[i] = wide(c, i);
    for (int64_t i = 0; i < n; i++) {
        int64_t before = 0;
        for (int64_t j = 0; j < n; j++) before += keys[j] < keys[i] || (keys[j] == keys[i] && j < i);
        out->data[before] = (double)i;
    }
    free(keys);
    return true;
}

const struct verify_family verify_permutation = {.name = "permutation",
                                                 .cases = random_cases,
                                                 .make = random_make,
                                                 .bench = random_bench,
                                                 .call = permutation_call,
                                                 .reference = permutation_reference};

/* ---- multinomial ---- i[1] is the number of draws, i[2] whether with replacement */

static const struct {
    int rank;
    int64_t shape[2];
    int64_t n;
    double low;
} weights[] = {{1, {7}, 5, 0},    {2, {5, 9}, 9, 0},  {1, {1}, 1, 0.5},
               {2, {0, 4}, 2, 0}, {2, {6, 4}, 3, -1}, {2, {2, 300}, 70, 0}};

static int draw_cases(enum wick_op op) {
    (void)op;
    return 2 * (int)(sizeof weights / sizeof *weights);
}

static void draw_make(enum wick_op op, int k, struct verify_case *c) {
    (void)op;
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){
        .role = VERIFY_VALUE, .rank = weights[k / 2].rank, .low = weights[k / 2].low, .high = 8};
    memcpy(c->in[0].shape, weights[k / 2].shape, sizeof weights->shape);
    c->i[0] = k * INT64_C(0x123456789abcdef);
    c->i[1] = weights[k / 2].n;
    c->i[2] = k % 2;
}

static bool draw_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_device *device = verify_device();
    if (wick_seed_set(device, (uint64_t)c->i[0]) != WICK_OK) return false;
    wick_release(wick_uniform(device, WICK_F32, WICK_SHAPE(USED), 0, 1));
    out[0] = wick_multinomial(in[0], c->i[1], c->i[2]);
    return out[0] != NULL;
}

/* Draw number i of a line of k weights, with replacement: the weights as whole numbers, subtracted one by one. */
static double draw_again(const struct verify_case *c, const double *w, double most, int64_t k, int64_t i) {
    double u = ldexp((double)(wide(c, i) >> 11), -53), total = 0, rest;
    int bits = 52;
    while (ldexp(1, 52 - bits) < (double)k) bits--;
    for (int64_t j = 0; j < k; j++) total += floor(ldexp(w[j] / most, bits));
    rest = floor(u * total);
    for (int64_t j = 0; j < k; j++) {
        rest -= floor(ldexp(w[j] / most, bits));
        if (rest < 0) return (double)j;
    }
    return (double)INT64_MAX;
}

/* The next of a line without replacement: the least time above the last one; `first` is the line's first element. */
static double draw_other(const struct verify_case *c, const double *w, double most, int64_t k, int64_t first,
                         double *last) {
    double least = INFINITY, at = (double)INT64_MAX;
    for (int64_t j = 0; j < k; j++) {
        double time = -log(ldexp((double)(wide(c, first + j) >> 11), -53)) / (w[j] / most);
        if (time <= *last || time >= least) continue;
        least = time;
        at = (double)j;
    }
    *last = least;
    return at;
}

static bool draw_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t k = in->shape[in->rank - 1], n = c->i[1], lines = in->rank == 2 ? in->shape[0] : 1, shape[2] = {lines, n};
    if (!verify_array_new(out, WICK_I64, in->rank, in->rank == 2 ? shape : &n, false)) return false;
    for (int64_t l = 0; l < lines; l++) {
        const double *w = in->data + l * k;
        double most = w[0], least = w[0], last = -1;
        for (int64_t j = 0; j < k; j++) {
            most = fmax(most, w[j]);
            least = fmin(least, w[j]);
        }
        for (int64_t i = 0; i < n; i++) {
            double *to = &out->data[l * n + i];
            if (least < 0 || !(most > 0))
                *to = (double)INT64_MAX;
            else if (c->i[2])
                *to = draw_again(c, w, most, k, l * n + i);
            else
                *to = draw_other(c, w, most, k, l * k, &last);
        }
    }
    return true;
}

const struct verify_family verify_composed_draw = {
    .name = "composed_draw", .cases = draw_cases, .make = draw_make, .call = draw_call, .reference = draw_reference};
