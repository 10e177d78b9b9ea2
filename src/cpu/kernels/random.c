/* Random numbers and dropout, by the recipes of random.h. */
#include "core/convert.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "core/philox.h"

#include "core/checked.h"
#include "core/memory.h"
#include "backend.h"

#include <sleef.h>

enum { CHUNK = 1024 }; /* elements made at once; blocks of two start new ones at its multiples */

/* ---- Box and Muller ---- */

#if WICK_ISA_LEVEL >= 2
enum { LANES = 8 };
typedef __m512d vector;
typedef Sleef___m512d_2 two_vectors;
#define LOAD _mm512_loadu_pd
#define STORE _mm512_storeu_pd
#define LOG Sleef_logd8_u10avx512f
#define SINCOSPI Sleef_sincospid8_u05avx512f
#elif WICK_ISA_LEVEL == 1
enum { LANES = 4 };
typedef __m256d vector;
typedef Sleef___m256d_2 two_vectors;
#define LOAD _mm256_loadu_pd
#define STORE _mm256_storeu_pd
#define LOG Sleef_logd4_u10avx2
#define SINCOSPI Sleef_sincospid4_u05avx2
#else
enum { LANES = 2 };
typedef __m128d vector;
typedef Sleef___m128d_2 two_vectors;
#define LOAD _mm_loadu_pd
#define STORE _mm_storeu_pd
#define LOG Sleef_logd2_u10sse2
#define SINCOSPI Sleef_sincospid2_u05sse2
#endif

/* u[i], v[i] to sqrt(-2 ln u) cos(2 pi v) at out[2i] and the sine at out[2i+1]; n is a multiple of 8. */
static void box_muller(const double *u, const double *v, double *out, int n) {
    double log_u[CHUNK / 2], sine[CHUNK / 2], cosine[CHUNK / 2], turn[CHUNK / 2];
    for (int i = 0; i < n; i++) turn[i] = 2 * v[i];
    for (int i = 0; i < n; i += LANES) {
        two_vectors both = SINCOSPI(LOAD(turn + i));
        STORE(log_u + i, LOG(LOAD(u + i)));
        STORE(sine + i, both.x);
        STORE(cosine + i, both.y);
    }
    for (int i = 0; i < n; i++) {
        double r = sqrt(-2 * log_u[i]);
        out[2 * i] = r * cosine[i];
        out[2 * i + 1] = r * sine[i];
    }
}

/* ---- one chunk ---- */

struct random {
    const struct wick__call *call;
    enum wick_dtype dtype;
    int64_t count, size;
    char *out;
    const char *x;      /* dropout */
    uint8_t *mask;      /* dropout: 1 for what stays; NULL when nobody wants it */
    int per_block;      /* elements that a block makes: 4, or 2 for wide ones */
    int significand;    /* uniform */
    uint64_t threshold; /* bernoulli, dropout */
};

static uint64_t wide(const uint32_t *words, int64_t i) { return words[2 * i] | (uint64_t)words[2 * i + 1] << 32; }

static void make_uniform(const struct random *r, const uint32_t *words, double *out, int64_t n) {
    double low = r->call->p.random.a, range = r->call->p.random.b - low;
    double unit = ldexp(1, -r->significand);
    if (r->per_block == 2)
        for (int64_t i = 0; i < n; i++) out[i] = low + (double)(wide(words, i) >> 11) * 0x1p-53 * range;
    else
        for (int64_t i = 0; i < n; i++) out[i] = low + (double)(words[i] >> (32 - r->significand)) * unit * range;
}

static void make_normal(const struct random *r, const uint32_t *words, double *out) {
    double u[CHUNK / 2], v[CHUNK / 2], mean = r->call->p.random.a, deviation = r->call->p.random.b;
    for (int64_t i = 0; i < CHUNK / 2; i++) {
        bool f64 = r->per_block == 2;
        u[i] = f64 ? (double)((wide(words, 2 * i) >> 11) + 1) * 0x1p-53 : ((double)words[2 * i] + 1) * 0x1p-32;
        v[i] = f64 ? (double)(wide(words, 2 * i + 1) >> 11) * 0x1p-53 : (double)words[2 * i + 1] * 0x1p-32;
    }
    box_muller(u, v, out, CHUNK / 2);
    for (int64_t i = 0; i < CHUNK; i++) out[i] = mean + deviation * out[i];
}

__extension__ typedef unsigned __int128 u128;

static void make_randint(const struct random *r, const uint32_t *words, char *out, int64_t n) {
    int64_t values[CHUNK];
    uint64_t low = (uint64_t)r->call->p.random.low, range = (uint64_t)r->call->p.random.high - low;
    for (int64_t i = 0; i < n; i++) values[i] = (int64_t)(low + (uint64_t)((u128)wide(words, i) * range >> 64));
    wick__row_from_i64(r->dtype, values, out, n);
}

static void make_dropout(const struct random *r, const uint32_t *words, int64_t first, int64_t n) {
    double p = r->call->p.random.a, values[CHUNK];
    wick__row_to_f64(r->dtype, r->x + first * r->size, 1, values, n);
    for (int64_t i = 0; i < n; i++) values[i] = words[i] < r->threshold ? 0 : values[i] / (1 - p);
    wick__row_from_f64(r->dtype, values, r->out + first * r->size, n);
    for (int64_t i = 0; r->mask && i < n; i++) r->mask[first + i] = words[i] >= r->threshold;
}

/* Units are chunks. */
static void random_chunks(void *context, int worker, int64_t begin, int64_t end) {
    const struct random *r = context;
    uint32_t words[2 * CHUNK];
    double values[CHUNK];
    (void)worker;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t n = wick__min(CHUNK, r->count - chunk * CHUNK), blocks = CHUNK / r->per_block;
        char *out = r->out + chunk * CHUNK * r->size;
        wick__philox(r->call->p.random.seed, r->call->p.random.offset + (uint64_t)(chunk * blocks), blocks, words);
        switch (r->call->op) {
        case WICK_OP_uniform: make_uniform(r, words, values, n); break;
        case WICK_OP_normal: make_normal(r, words, values); break;
        case WICK_OP_randint: make_randint(r, words, out, n); continue;
        case WICK_OP_dropout: make_dropout(r, words, chunk * CHUNK, n); continue;
        default:
            for (int64_t i = 0; i < n; i++) values[i] = words[i] < r->threshold;
            break;
        }
        wick__row_from_f64(r->dtype, values, out, n);
    }
}

static int significand_of(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_DTYPE_bf16: return 8;
    case WICK_DTYPE_f16: return 11;
    case WICK_DTYPE_f8e4m3: return 4;
    default: return 24;
    }
}

enum wick_status WICK__ISA(wick__cpu_random)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_random)(const struct wick__call *call) {
    struct wick_tensor *y = call->out[0];
    int64_t count = wick__count(y);
    if (count == 0) return WICK_OK;
    bool drop = call->op == WICK_OP_dropout, f64 = y->dtype == WICK_DTYPE_f64;
    bool words = drop || call->op == WICK_OP_bernoulli;
    struct random r = {.call = call,
                       .dtype = y->dtype,
                       .count = count,
                       .size = (int)wick__size(y->dtype),
                       .out = wick__data(y),
                       .x = drop ? wick__data(call->in[0]) : NULL,
                       .mask = call->n_out > 1 ? wick__data(call->out[1]) : NULL,
                       .per_block = call->op == WICK_OP_randint || (f64 && !words) ? 2 : 4,
                       .significand = significand_of(y->dtype)};
    if (words) r.threshold = (uint64_t)nearbyint(ldexp(call->p.random.a, 32));
    wick__parallel((count + CHUNK - 1) / CHUNK, 8, random_chunks, &r);
    return WICK_OK;
}

/* ---- permutation ---- */

enum { DIGIT = 11, DIGITS = 1 << DIGIT, PASSES = 6 };

struct keyed {
    uint64_t key;
    int64_t i;
};

/* Sorts by key, stably, one digit after the other from the lowest; an even number of passes ends in `a`. */
static void sort_keyed(struct keyed *a, struct keyed *b, int64_t n) {
    for (int pass = 0; pass < PASSES; pass++) {
        int64_t at[DIGITS] = {0}, sum = 0;
        int shift = pass * DIGIT;
        for (int64_t i = 0; i < n; i++) at[a[i].key >> shift & (DIGITS - 1)]++;
        for (int d = 0; d < DIGITS; d++) {
            int64_t count = at[d];
            at[d] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++) b[at[a[i].key >> shift & (DIGITS - 1)]++] = a[i];
        struct keyed *swap = a;
        a = b;
        b = swap;
    }
}

enum wick_status WICK__ISA(wick__cpu_permutation)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_permutation)(const struct wick__call *call) {
    uint32_t words[2 * CHUNK];
    struct wick_tensor *y = call->out[0];
    int64_t n = wick__count(y), size = (int)wick__size(y->dtype), numbers[CHUNK];
    if (n == 0) return WICK_OK;
    struct keyed *keys = wick__calloc((size_t)n, 2 * sizeof *keys);
    if (!keys) return wick__latest();
    for (int64_t begin = 0; begin < n; begin += CHUNK) {
        uint64_t first = call->p.random.offset + (uint64_t)(begin / 2);
        wick__philox(call->p.random.seed, first, CHUNK / 2, words);
        for (int64_t i = begin; i < wick__min(n, begin + CHUNK); i++)
            keys[i] = (struct keyed){.key = wide(words, i - begin), .i = i};
    }
    sort_keyed(keys, keys + n, n);
    for (int64_t begin = 0; begin < n; begin += CHUNK) {
        int64_t count = wick__min(CHUNK, n - begin);
        for (int64_t i = 0; i < count; i++) numbers[i] = keys[begin + i].i;
        wick__row_from_i64(y->dtype, numbers, (char *)wick__data(y) + begin * size, count);
    }
    wick__free(keys, (size_t)n * 2 * sizeof *keys);
    return WICK_OK;
}
