/* Attention on the device named in argv[1] ("cpu"): keys that are left out hold NaN and infinities in k and v, at sizes
 * around the blocks of every kernel; elements of f32 near the ends of its range; and packed sequences with starts that
 * are wrong; arguments of steps. Expected values are sums in f64 over the keys that a query sees. */
#include "tests/test.h"

#include <float.h>

enum { MOST = 160, HEADS = 2 };

enum mode { KEEP, ADD, CAUSAL, LAST, WINDOW, MODES };

static struct wick_device *device;

/* One call: a head of k and v for both heads of q. */
struct problem {
    enum mode mode;
    int queries, keys, depth;
    float q[HEADS * MOST * 128], k[MOST * 128], v[MOST * 128], mask[MOST * MOST];
    uint8_t keep[MOST * MOST];
};

static uint64_t state = 1;
static double uniform(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 40) / (1 << 24);
}
/* A multiple of 1/8 between -1 and 1: exact in every float dtype. */
static float eighth(void) { return (float)((int)(uniform() * 17) - 8) / 8; }

static bool sees(const struct problem *p, int i, int j) {
    switch (p->mode) {
    case KEEP: return p->keep[i * p->keys + j] != 0;
    case ADD: return p->mask[i * p->keys + j] == 0;
    case CAUSAL: return j <= i;
    case LAST: return j <= i + p->keys - p->queries;
    case WINDOW: return j >= i - 5 && j <= i + 3;
    case MODES: break;
    }
    return true;
}

static void fill(struct problem *p, enum mode mode, int queries, int keys, int depth) {
    const float odd[] = {NAN, INFINITY, -INFINITY};
    *p = (struct problem){.mode = mode, .queries = queries, .keys = keys, .depth = depth};
    for (int i = 0; i < HEADS * queries * depth; i++) p->q[i] = eighth();
    for (int i = 0; i < keys * depth; i++) {
        p->k[i] = eighth();
        p->v[i] = eighth();
    }
    for (int j = 0; j < keys; j++) {
        bool never = true, out = uniform() < 0.3; /* such keys are left out for all */
        for (int i = 0; i < queries; i++) {
            bool hidden = out || uniform() < 0.2;
            p->keep[i * keys + j] = hidden ? 0 : 3;
            p->mask[i * keys + j] = hidden ? -INFINITY : 0;
            never = never && !sees(p, i, j);
        }
        /* Of a key that some queries see and others don't, one value is odd: a result or two of each that sees it. */
        if (never) {
            for (int d = 0; d < depth; d++) p->k[j * depth + d] = p->v[j * depth + d] = odd[(j + d) % 3];
        } else if (uniform() < 0.05) {
            p->v[j * depth + j % depth] = NAN;
        }
    }
}

static double score_of(const struct problem *p, int h, int i, int j) {
    double sum = 0;
    for (int d = 0; d < p->depth; d++)
        sum += (double)p->q[(h * p->queries + i) * p->depth + d] * (double)p->k[j * p->depth + d];
    return sum / sqrt(p->depth);
}

static void check_row(const struct problem *p, int h, int i, const float *got, double bound, const char *name) {
    double weight[MOST], total = 0;
    for (int j = 0; j < p->keys; j++)
        if (sees(p, i, j)) total += weight[j] = exp(score_of(p, h, i, j));
    for (int d = 0; d < p->depth; d++) {
        double want = 0, x = (double)got[d];
        for (int j = 0; j < p->keys; j++)
            if (sees(p, i, j)) want += weight[j] / total * (double)p->v[j * p->depth + d];
        bool good = isnan(want) ? isnan(x) : x == want || fabs(x - want) <= bound;
        TEST_CHECK_(good, "%s mode %d [%d,%d] x [%d]: head %d query %d element %d is %g, should be %g", name,
                    (int)p->mode, p->queries, p->depth, p->keys, h, i, d, x, want);
    }
}

/* Rows begin at multiples of eight elements, with NaN between them. */
static struct wick_tensor *upload(enum wick_dtype dtype, int heads, int n, int depth, const float *data) {
    static float wide[HEADS * MOST * 128];
    int pitch = (depth + 7) / 8 * 8;
    for (int i = 0; i < heads * n * pitch; i++) wide[i] = i % pitch < depth ? data[i / pitch * depth + i % pitch] : NAN;
    struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(1, heads, n, pitch), wide,
                                           sizeof *wide * (size_t)(heads * n * pitch));
    return wick_narrow(wick_cast(x, dtype), 3, 0, depth);
}

static void check_problem(struct problem *p, enum wick_dtype dtype, double bound) {
    static float got[HEADS * MOST * 128];
    struct wick_attention_options options = {.causal = p->mode == CAUSAL || p->mode == LAST,
                                             .align_last = p->mode == LAST,
                                             .windowed = p->mode == WINDOW,
                                             .left = 5,
                                             .right = 3};
    /* f8e4m3 has no infinities: a cast saturates them. */
    for (int i = 0; dtype == WICK_F8E4M3 && i < p->keys * p->depth; i++) {
        if (isinf(p->k[i])) p->k[i] = NAN;
        if (isinf(p->v[i])) p->v[i] = NAN;
    }
    if (dtype == WICK_F8E4M3 && p->mode == ADD) return;
    wick_scope_begin();
    struct wick_tensor *mask = NULL;
    size_t scores = (size_t)(p->queries * p->keys);
    if (p->mode == KEEP) mask = wick_from_data(device, WICK_U8, WICK_SHAPE(p->queries, p->keys), p->keep, scores);
    if (p->mode == ADD)
        mask = wick_cast(
            wick_from_data(device, WICK_F32, WICK_SHAPE(p->queries, p->keys), p->mask, scores * sizeof *p->mask),
            dtype);
    struct wick_tensor *y = wick_scaled_dot_product_attention(
        upload(dtype, HEADS, p->queries, p->depth, p->q), upload(dtype, 1, p->keys, p->depth, p->k),
        upload(dtype, 1, p->keys, p->depth, p->v), mask, &options);
    size_t nbytes = sizeof *got * (size_t)(HEADS * p->queries * p->depth);
    bool good = wick_read(wick_cast(y, WICK_F32), got, nbytes) == WICK_OK;
    CHECK(good);
    for (int h = 0; h < HEADS && good; h++)
        for (int i = 0; i < p->queries; i++)
            check_row(p, h, i, got + (h * p->queries + i) * p->depth, bound, wick_dtype_name(dtype));
    wick_scope_end(NULL);
}

/* Every size with every head size and every mode, in turns. */
static void check_sizes(void) {
    static const int sizes[] = {1, 15, 16, 17, 63, 64, 65, 127, 128, 129}, depths[] = {32, 37, 40, 64, 80, 108, 128};
    static const struct {
        enum wick_dtype dtype;
        double bound;
    } dtypes[] = {{WICK_F32, 1e-5}, {WICK_BF16, 0.012}, {WICK_F16, 2e-3}, {WICK_F64, 1e-7}, {WICK_F8E4M3, 0.07}};
    enum { SIZES = sizeof sizes / sizeof *sizes, DTYPES = sizeof dtypes / sizeof *dtypes };
    static struct problem p;
    for (int turn = 0; turn < SIZES * MODES; turn++) {
        int mode = turn % MODES, m = turn / MODES;
        fill(&p, (enum mode)mode, sizes[m], sizes[(m * 3 + mode * 2 + 7) % SIZES], depths[(m + mode) % 7]);
        for (int d = 0; d < DTYPES; d++)
            if (d < 2 || (turn + d) % 3 == 0) check_problem(&p, dtypes[d].dtype, dtypes[d].bound);
    }
}

static float far_from(double exponent) { return (float)ldexp(uniform() - 0.5, (int)exponent); }

/* Elements near the ends of f32's range, of which kernels that multiply in parts lose what plain arithmetic keeps,
 * unless they see to it. */
static void check_ends(void) {
    enum { SMALL_Q, SMALL_K, SMALL_V, SMALL_WEIGHTS, LARGE_K, LARGE_V, INFINITE_V, INFINITE_K, WAYS };
    static const double bounds[WAYS] = {1e-6, 1e-6, 0x1p-144, 2e-4, 1e-6, 4e30, 1e-6, 1e-6};
    static struct problem p;
    for (int way = 0; way < WAYS; way++) {
        fill(&p, MODES, 40, 70, way % 2 ? 100 : 48);
        float root = sqrtf((float)p.depth);
        for (int i = 0; i < HEADS * p.queries * p.depth; i++) {
            p.q[i] = far_from(way == SMALL_Q ? -126 : way == SMALL_K ? 127 : 1);
            if (way == SMALL_WEIGHTS) p.q[i] = i % p.depth == 0 ? root : 0;
            if (way == LARGE_V || (way == LARGE_K && i % p.depth < 2)) p.q[i] = 0;
        }
        for (int i = 0; i < p.keys * p.depth; i++) {
            int key = i / p.depth, d = i % p.depth;
            p.k[i] = far_from(way == SMALL_Q ? 127 : way == SMALL_K ? -126 : 1);
            p.v[i] = far_from(way == SMALL_V ? -125 : 0);
            /* Of weights from exp(-70) to exp(-87) each has an element, and the largest none. */
            if (way == SMALL_WEIGHTS) {
                p.k[i] = d ? 0 : key ? -70 - 17 * (float)key / (float)p.keys : 0;
                p.v[i] = key && key == d ? (float)exp(-(double)p.k[i - d]) : 0;
            }
            if (way == LARGE_K && d < 2) p.k[i] = d ? FLT_MAX : -3e38F;
            if (way == LARGE_V) p.v[i] = FLT_MAX / 2 * (float)(1 + uniform()) / (float)p.keys;
        }
        if (way == INFINITE_V) p.v[5 * p.depth + 3] = INFINITY;
        if (way == INFINITE_K) p.k[66 * p.depth + 7] = -INFINITY;
        check_problem(&p, WICK_F32, bounds[way]);
    }
}

static struct wick_tensor *attend(const int32_t *q_starts, const int32_t *k_starts) {
    struct wick_tensor *x = wick_ones(device, WICK_F32, WICK_SHAPE(6, 1, 4));
    return wick_attention_packed(x, x, x,
                                 wick_from_data(device, WICK_I32, WICK_SHAPE(4), q_starts, 4 * sizeof *q_starts),
                                 wick_from_data(device, WICK_I32, WICK_SHAPE(4), k_starts, 4 * sizeof *k_starts), NULL);
}

/* Right starts pass, and wrong ones fail with WICK_RANGE, at the latest when the result is read. */
static void check_starts(void) {
    static const int32_t good[] = {0, 2, 2, 6},
                         bad[][4] = {{1, 2, 2, 6}, {0, 4, 2, 6},  {0, 2, 2, 5},          {0, 2, 2, 7},
                                     {0, 9, 2, 6}, {0, -1, 2, 6}, {-2000000000, 2, 2, 6}};
    float out[24];
    wick_error_clear();
    CHECK(wick_read(attend(good, good), out, sizeof out) == WICK_OK);
    for (int i = 0; i < 24; i++) CHECK_NEAR((double)out[i], 1, 1e-6);
    for (size_t i = 0; i < 2 * (sizeof bad / sizeof *bad); i++) {
        wick_error_clear();
        struct wick_tensor *y = i % 2 ? attend(good, bad[i / 2]) : attend(bad[i / 2], good);
        enum wick_status status = y ? wick_read(y, out, sizeof out) : wick_error_status();
        TEST_CHECK_(status == WICK_RANGE, "starts %zu give %s: %s", i, wick_status_name(status), wick_error());
        TEST_CHECK_(strstr(wick_error(), "attention_packed") != NULL, "starts %zu: %s", i, wick_error());
        wick_error_clear();
        CHECK(wick_read(attend(good, good), out, sizeof out) == WICK_OK);
    }
}

static void check_refused(const struct wick_tensor *y, enum wick_status status, const char *text) {
    CHECK(y == NULL);
    CHECK_INT(wick_error_status(), status);
    TEST_CHECK_(strstr(wick_error(), text) != NULL, "\"%s\" does not say \"%s\"", wick_error(), text);
    wick_error_clear();
}

static void check_arguments(void) {
    struct wick_tensor *x = wick_ones(device, WICK_F32, WICK_SHAPE(2, 3, 5, 4)),
                       *three = wick_ones(device, WICK_F32, WICK_SHAPE(6, 3, 4)),
                       *starts = wick_zeros(device, WICK_I32, WICK_SHAPE(3));
    struct wick_attention_options options = {.slopes = wick_ones(device, WICK_F32, WICK_SHAPE(2))};
    check_refused(wick_scaled_dot_product_attention(x, x, x, NULL, &options), WICK_SHAPE, "slopes");
    options.slopes = wick_ones(device, WICK_F16, WICK_SHAPE(3));
    check_refused(wick_scaled_dot_product_attention(x, x, x, NULL, &options), WICK_DTYPE, "slopes must be of f32");
    check_refused(wick_attention_packed(three, three, three, starts, NULL, NULL), WICK_INVALID, "k_starts is NULL");
    check_refused(wick_attention_packed(three, three, three, starts, wick_zeros(device, WICK_I32, WICK_SHAPE(2)), NULL),
                  WICK_SHAPE, "k_starts has another length");
    check_refused(wick_attention_packed(three, three, three, starts, wick_zeros(device, WICK_I64, WICK_SHAPE(3)), NULL),
                  WICK_DTYPE, "k_starts must be of u32 or i32");
    check_refused(wick_attention_packed(x, x, x, starts, starts, NULL), WICK_SHAPE, "rank 4, not 3");
    /* What cannot be has no limit. */
    options = (struct wick_attention_options){.windowed = true, .left = INT64_MAX, .right = INT64_MAX};
    CHECK(wick_scaled_dot_product_attention(x, x, x, NULL, &options) != NULL);
}

static void check_step_arguments(void) {
    struct wick_tensor *q = wick_ones(device, WICK_F32, WICK_SHAPE(2, 4, 1, 8)),
                       *kv = wick_ones(device, WICK_F32, WICK_SHAPE(2, 4, 1, 8)),
                       *caches[] = {wick_zeros(device, WICK_F32, WICK_SHAPE(1, 4, 3, 8)),
                                    wick_zeros(device, WICK_F32, WICK_SHAPE(1, 4, 1, 8))},
                       *narrow[] = {caches[0], wick_zeros(device, WICK_F32, WICK_SHAPE(1, 2, 3, 8))},
                       *half[] = {caches[0], wick_zeros(device, WICK_F16, WICK_SHAPE(1, 4, 3, 8))},
                       *wide[] = {caches[0], wick_narrow(kv, 0, 0, 1)}, *missing[] = {caches[0], NULL};
    const struct wick_attention_options sloped = {.slopes = wick_ones(device, WICK_F32, WICK_SHAPE(4))};
    struct wick_step_options options = {.attention = &sloped};
    check_refused(wick_attention_step(q, kv, 0, caches, NULL), WICK_INVALID, "0 caches");
    check_refused(wick_attention_step(q, kv, 2, NULL, NULL), WICK_INVALID, "2 caches at NULL");
    check_refused(wick_attention_step(q, kv, 1, caches, NULL), WICK_SHAPE, "one position of each sequence");
    check_refused(wick_attention_step(q, wick_narrow(kv, 1, 0, 3), 2, caches, NULL), WICK_SHAPE, "twice as many heads");
    check_refused(wick_attention_step(wick_narrow(q, 3, 0, 4), kv, 2, caches, NULL), WICK_SHAPE, "last dims");
    check_refused(wick_attention_step(q, kv, 2, narrow, NULL), WICK_SHAPE, "cache 1 is [1,2,3,8]");
    check_refused(wick_attention_step(q, kv, 2, half, NULL), WICK_DTYPE, "cache 1 is f16");
    check_refused(wick_attention_step(q, kv, 2, wide, NULL), WICK_INVALID, "cache 1 shares its elements");
    check_refused(wick_attention_step(q, kv, 2, missing, NULL), WICK_INVALID, "is NULL");
    check_refused(wick_attention_step(q, kv, 2, caches, &options), WICK_INVALID, "no slopes");
    CHECK(wick_attention_step(q, kv, 2, caches, NULL) != NULL);
    struct wick_tensor *lengths = wick_zeros(device, WICK_I32, WICK_SHAPE(2));
    options = (struct wick_step_options){.lengths = wick_narrow(lengths, 0, 0, 1)};
    check_refused(wick_attention_step(q, kv, 2, caches, &options), WICK_SHAPE, "lengths is [1]");
    options.lengths = wick_cast(lengths, WICK_I64);
    check_refused(wick_attention_step(q, kv, 2, caches, &options), WICK_DTYPE, "lengths");
    options.lengths = lengths;
    CHECK(wick_attention_step(q, kv, 2, caches, &options) != NULL);
    struct wick_tensor *table = wick_ones(device, WICK_F32, WICK_SHAPE(2, 4));
    options.cosine = table;
    check_refused(wick_attention_step(q, kv, 2, caches, &options), WICK_INVALID, "sine is NULL");
    options.sine = wick_narrow(table, 1, 0, 3);
    check_refused(wick_attention_step(q, kv, 2, caches, &options), WICK_SHAPE, "sine is [2,3]");
    options.cosine = options.sine = wick_ones(device, WICK_F32, WICK_SHAPE(2, 5));
    check_refused(wick_attention_step(q, kv, 2, caches, &options), WICK_SHAPE, "cosine is [2,5]");
    options.cosine = options.sine = wick_cast(table, WICK_F16);
    check_refused(wick_attention_step(q, kv, 2, caches, &options), WICK_DTYPE, "dtypes differ");
    options.cosine = options.sine = table;
    CHECK(wick_attention_step(q, kv, 2, caches, &options) != NULL);
    options.v = kv;
    check_refused(wick_attention_step(q, wick_narrow(kv, 1, 0, 2), 2, caches, &options), WICK_SHAPE, "v is [2,4,1,8]");
    options.v = wick_narrow(kv, 1, 2, 2);
    CHECK(wick_attention_step(q, wick_narrow(kv, 1, 0, 2), 2, caches, &options) != NULL);
    half[0] = half[1];
    check_refused(wick_attention_step(wick_cast(q, WICK_F64), wick_cast(kv, WICK_F64), 2, half, NULL), WICK_DTYPE,
                  "cache 0 is f16");
}

/* A graph goes on by itself: each launch takes the next position. */
static void check_step_graph(void) {
    enum { STEPS = 5 };
    float got[2], expected[2];
    const float values[2][2] = {{1, -2}, {3, 0.5F}};
    struct wick_tensor *q = wick_from_data(device, WICK_F32, WICK_SHAPE(1, 1, 1, 2), values[0], sizeof values[0]),
                       *row = wick_from_data(device, WICK_F32, WICK_SHAPE(1, 1, 1, 2), values[1], sizeof values[1]),
                       *length = wick_zeros(device, WICK_I32, WICK_SHAPE(1)),
                       *grown = wick_zeros(device, WICK_F32, WICK_SHAPE(1, 2, STEPS, 2)),
                       *plain = wick_zeros(device, WICK_F32, WICK_SHAPE(1, 2, STEPS, 2)), *cache[1] = {grown};
    struct wick_tensor *kv = wick_cat(2, (struct wick_tensor *[]){row, q}, 1);
    const struct wick_step_options options = {.lengths = length};
    wick_attention_step(q, kv, 1, cache, &options); /* kernels are loaded */
    CHECK_OK(wick_graph_begin(device));
    struct wick_tensor *out = wick_attention_step(q, kv, 1, cache, &options);
    CHECK_OK(wick_copy_inplace(row, wick_affine(row, WICK_REAL(0.5), WICK_REAL(0.25))));
    CHECK_OK(wick_copy_inplace(kv, wick_cat(2, (struct wick_tensor *[]){row, q}, 1)));
    CHECK_OK(wick_copy_inplace(length, wick_affine(length, WICK_INT(1), WICK_INT(1))));
    struct wick_graph *graph = wick_graph_end(device);
    CHECK(out && graph);
    struct wick_tensor *copy = wick_clone(kv);
    for (int64_t i = 0; i < STEPS; i++) {
        CHECK_OK(wick_copy_inplace(copy, kv));
        CHECK_OK(wick_graph_launch(graph));
        cache[0] = wick_narrow(plain, 2, 0, i + 1);
        struct wick_tensor *one = wick_attention_step(q, copy, 1, cache, NULL);
        CHECK_OK(wick_read(out, got, sizeof got));
        CHECK_OK(wick_read(one, expected, sizeof expected));
        CHECK_NEAR(got[0], expected[0], 0);
        CHECK_NEAR(got[1], expected[1], 0);
    }
    CHECK_OK(wick_graph_launch(graph)); /* the cache is full */
    CHECK_OK(wick_read(out, got, sizeof got));
    CHECK_NEAR(got[0], 0, 0);
    wick_graph_free(graph);
}

/* What a GPU finds wrong late about an operand is wrong with the caches, too. */
static void check_step_in_doubt(void) {
    const int32_t ids[] = {0, 5};
    float values[4];
    struct wick_tensor *rows = wick_ones(device, WICK_F32, WICK_SHAPE(2, 1, 1, 2)), *cache[2], *kv;
    for (int i = 0; i < 2; i++) cache[i] = wick_zeros(device, WICK_F32, WICK_SHAPE(1, 2, 1, 2));
    kv = wick_index_select(rows, 0, wick_from_data(device, WICK_I32, WICK_SHAPE(2), ids, sizeof ids));
    if (kv) {
        CHECK(wick_attention_step(rows, wick_cat(2, (struct wick_tensor *[]){kv, kv}, 1), 2, cache, NULL) != NULL);
        CHECK(wick_read(cache[1], values, sizeof values) == WICK_RANGE);
    }
    wick_error_clear();
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    CHECK(device != NULL);
    if (!device) return test_end();
    wick_scope_begin();
    check_sizes();
    check_ends();
    check_arguments();
    check_step_arguments();
    check_step_graph();
    check_step_in_doubt();
    check_starts();
    wick_scope_end(NULL);
    wick_device_close(device);
    return test_end();
}
