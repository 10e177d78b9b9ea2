/* Products of one row, or one column, of floats with a matrix: the layers of a model that writes one token at a time.
 * Such a product reads the matrix once and does little with it, so nothing is packed. Where terms of k lie side by
 * side, a vector goes along k, some columns at once, and its lanes are added up at the end; where columns do, a few
 * vectors of columns go down k. */
#include "cpu/kernels/gemm_internal.h"

#if WICK_ISA_LEVEL >= 1
#include "cpu/kernels/gemm_lanes.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include "core/convert.h"

#include <string.h>

/* Multiplications below which a thread is not woken. Along k: columns at once, vectors of sums for each of them, and
 * terms after which these begin anew, so that no more than 256 follow one another. Down k: vectors of columns, and
 * terms from the one that is multiplied to the one that is asked for. */
enum { WORK_MIN = 128 * 1024, ROWS = 4, STRANDS = 2, VECTORS = 8, AHEAD = 8 };
enum { SWEPT = VECTORS * PACK_LANES, CHAIN = 256 * STRANDS * PACK_LANES };

struct gemv {
    const struct wick__product *g; /* of one row */
    const struct gemm_kind *kind;
    bool down;       /* down k */
    int64_t columns; /* of a job */
    int64_t jobs;    /* a matrix of the batch */
    char *scratch;   /* the row in f32, one for each worker; NULL where it is read in place */
    size_t step;     /* bytes from one to the next */
};

/* Sums of k products of x with each of ROWS rows. */
static inline __attribute__((always_inline)) void dot(const enum source source, const float *x, const char *const *row,
                                                      int64_t k, float *sums) {
    const int64_t size = source_size(source);
    for (int64_t i = 0, end; i < k; i = end) {
        wick__vf sum[ROWS][STRANDS] = {{wick__vf_all(0)}};
        const bool first = i == 0;
        end = wick__min(k, i + CHAIN);
        for (; i + STRANDS * PACK_LANES <= end; i += STRANDS * PACK_LANES)
            for (int s = 0; s < STRANDS; s++) {
                wick__vf term = wick__vf_load(x + i + s * PACK_LANES);
                for (int r = 0; r < ROWS; r++)
                    sum[r][s] =
                        wick__vf_fma((wick__vf)pack_load(source, row[r] + (i + s * PACK_LANES) * size, PACK_LANES, 0),
                                     term, sum[r][s]);
            }
        for (; i < end; i += PACK_LANES) {
            wick__vf term = (wick__vf)pack_load(SOURCE_32, x + i, end - i, 0);
            for (int r = 0; r < ROWS; r++)
                sum[r][0] = wick__vf_fma((wick__vf)pack_load(source, row[r] + i * size, end - i, 0), term, sum[r][0]);
        }
        for (int r = 0; r < ROWS; r++) {
            float total = wick__vf_total(sum[r][0] + sum[r][1]);
            sums[r] = first ? total : sums[r] + total;
        }
    }
}

static void dot_of(enum source source, const float *x, const char *const *row, int64_t k, float *sums) {
    switch (source) {
    case SOURCE_32: dot(SOURCE_32, x, row, k, sums); break;
    case SOURCE_BF16: dot(SOURCE_BF16, x, row, k, sums); break;
    case SOURCE_F16: dot(SOURCE_F16, x, row, k, sums); break;
    default: dot(SOURCE_F8, x, row, k, sums); break;
    }
}

/* Rows of n columns that lie `step` bytes apart, by the terms of x: added to sums, or, of the first ones, put there. */
struct sweep {
    const float *x;
    const char *b;
    int64_t step, terms, n;
    float *sums;
    bool add;
};

static inline __attribute__((always_inline)) void sweep(const enum source source, const bool whole, struct sweep s) {
    const int64_t size = source_size(source);
    wick__vf sum[VECTORS];
    for (int v = 0; v < VECTORS; v++) sum[v] = wick__vf_all(0);
    for (int64_t k = 0; k < s.terms; k++, s.b += s.step) {
        wick__vf term = wick__vf_all(s.x[k]);
        if (k + AHEAD < s.terms)
            for (int64_t at = 0; at < SWEPT * size; at += 64) __builtin_prefetch(s.b + AHEAD * s.step + at);
        for (int v = 0; v < VECTORS; v++) {
            const int64_t at = v * PACK_LANES;
            if (!whole && at >= s.n) break;
            pack_vector row = pack_load(source, s.b + at * size, whole ? PACK_LANES : s.n - at, 0);
            sum[v] = wick__vf_fma((wick__vf)row, term, sum[v]);
        }
    }
    for (int v = 0; v < VECTORS; v++) {
        float *to = s.sums + v * PACK_LANES;
        if (s.add) sum[v] += wick__vf_load(to);
        wick__vf_store(to, sum[v]);
    }
}

static void sweep_of(enum source source, const struct sweep *s) {
    const bool whole = s->n == SWEPT;
    switch (source) {
    case SOURCE_32: whole ? sweep(SOURCE_32, true, *s) : sweep(SOURCE_32, false, *s); break;
    case SOURCE_BF16: whole ? sweep(SOURCE_BF16, true, *s) : sweep(SOURCE_BF16, false, *s); break;
    case SOURCE_F16: whole ? sweep(SOURCE_F16, true, *s) : sweep(SOURCE_F16, false, *s); break;
    default: sweep(SOURCE_F8, false, *s); break;
    }
}

/* The columns of one job of one matrix. */
static void multiply(const struct gemv *v, const float *x, const char *b, char *c, int64_t job) {
    const struct wick__product *g = v->g;
    float tile[SWEPT + ROWS] __attribute__((aligned(64)));
    enum source source = source_of(g->dtype, 1);
    int64_t size = source_size(source), j0 = job * v->columns, columns = wick__min(v->columns, g->n - j0);
    b += j0 * g->b_column * size;
    if (v->down)
        for (int64_t k = 0; k < g->k; k += v->kind->k_block)
            sweep_of(source, &(struct sweep){.x = x + k,
                                             .b = b + k * g->b_k * size,
                                             .step = g->b_k * size,
                                             .terms = wick__min(v->kind->k_block, g->k - k),
                                             .n = columns,
                                             .sums = tile,
                                             .add = k > 0});
    else
        for (int64_t j = 0; j < columns; j += ROWS) {
            const char *row[ROWS];
            for (int r = 0; r < ROWS; r++) row[r] = b + wick__min(j + r, columns - 1) * g->b_column * size;
            dot_of(source, x, row, g->k, tile + j);
        }
    for (int64_t j = 0; j < columns; j += v->kind->columns) WICK__ISA(wick__gemm_store)
    (&(struct gemm_store){.g = g,
                          .c = c,
                          .bias = g->bias,
                          .j0 = j0 + j,
                          .rows = 1,
                          .columns = wick__min(v->kind->columns, columns - j),
                          .tile = tile + j,
                          .ld = v->kind->columns});
}

static void run(void *context, int worker, int64_t begin, int64_t end) {
    const struct gemv *v = context;
    const struct wick__product *g = v->g;
    int64_t size = (int)wick__size(g->dtype), last = -1;
    const float *x = NULL;
    for (int64_t i = begin; i < end; i++) {
        int64_t batch = i / v->jobs;
        const char *a = (const char *)g->a + gemm_batch_offset(g, g->a_batch, batch) * size;
        if (!v->scratch)
            x = (const void *)a;
        else if (batch != last) {
            float *made = (void *)(v->scratch + (size_t)worker * v->step);
            wick__row_to_f32(g->dtype, a, g->a_k, made, g->k);
            x = made;
        }
        last = batch;
        multiply(v, x, (const char *)g->b + gemm_batch_offset(g, g->b_batch, batch) * size,
                 (char *)g->c + batch * g->c_row * size, i % v->jobs);
    }
}

/* The product as one of a row, C's column being a row of its transpose. */
static bool as_row(struct wick__product *g) {
    if (!wick__has(WICK__FLOATS, g->dtype) || g->dtype == WICK_F64 || g->k == 0) return false;
    if (g->m == 1) return true;
    if (g->n != 1 || g->c_row != 1) return false;
    const struct wick__product of = *g;
    g->m = 1, g->n = g->c_row = of.m;
    g->a = of.b, g->a_k = of.b_k, g->a_row = of.b_column;
    g->b = of.a, g->b_k = of.a_k, g->b_column = of.a_row;
    g->bias_by_row = !of.bias_by_row;
    memcpy(g->a_batch, of.b_batch, sizeof g->a_batch);
    memcpy(g->b_batch, of.a_batch, sizeof g->b_batch);
    return true;
}

bool WICK__ISA(wick__gemv)(const struct wick__product *asked, enum wick_status *status) {
    enum { TERMS_MIN = 64 }; /* along k */
    struct wick__product g = *asked;
    if (!as_row(&g) || (g.b_column != 1 && (g.b_k != 1 || g.k < TERMS_MIN))) return false;
    struct gemv v = {.g = &g, .kind = WICK__ISA(wick__gemm_kind)(WICK_F32)};
    int64_t batches = wick__product_batches(&g), workers = wick__workers();
    bool in_place = g.dtype == WICK_F32 && g.a_k == 1;
    size_t nbytes = 0;
    void *memory = NULL;
    v.down = g.b_k != 1 || g.k < TERMS_MIN;
    v.columns = v.down ? SWEPT : v.kind->columns;
    v.jobs = (g.n + v.columns - 1) / v.columns;
    v.step = ((size_t)g.k * sizeof(float) + 127) / 128 * 128;
    if (!in_place) {
        nbytes = (size_t)workers * v.step;
        *status = wick__pool_alloc(nbytes, &memory);
        if (*status != WICK_OK) return true;
        v.scratch = memory;
    }
    wick__parallel_with((int)workers, batches * v.jobs, wick__max(1, WORK_MIN / (v.columns * g.k)), run, &v);
    if (memory) wick__pool_free(memory, nbytes);
    *status = WICK_OK;
    return true;
}
#else
bool WICK__ISA(wick__gemv)(const struct wick__product *g, enum wick_status *status) {
    (void)g, (void)status;
    return false;
}
#endif
