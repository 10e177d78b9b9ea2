/* Products of a few rows, or a few columns, of f32 with a matrix. Each of the matrix's elements meets few others, so
 * nothing of it is packed. Where its terms of k lie side by side, vectors go along k, and their lanes are added up at
 * the end; where its lines do, vectors of lines go down k. */
#include "cpu/kernels/gemm_internal.h"

#if WICK_ISA_LEVEL >= 1
#include "cpu/kernels/gemm_lanes.h"
#include "cpu/kernels/transpose.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include <string.h>

/* Rows at once, and lines, or vectors of lines; the most rows that go down k, and along it, where more columns of C
 * than FEW_COLUMNS fill the vectors of a common product's tiles. Along k: terms from which lanes are worth adding up,
 * in all and for each of the rows, and up to which the lines after these are asked for, else terms this far ahead. Down
 * k: terms at once, and from the one that is multiplied to the one that is asked for. Multiplications below which no
 * thread is woken. Of either, terms that follow one another in a sum: TERMS, as sums of so many are added up. */
enum { GROUP = 6, BESIDE = WICK_ISA_LEVEL == 2 ? 4 : 2, FEW = 32, FEW_ALONG = 16, FEW_COLUMNS = 12 };
/* Terms up to which packing the matrix for tiles is soon done, and the most rows that go down so few. */
enum { SMALL = 64, FEW_OF_SMALL = 10 };
enum {
    SPAN = BESIDE * PACK_LANES,
    TERMS_MIN = 2 * PACK_LANES,
    TERMS_A_ROW = 12,
    SHORT = 1024,
    TERMS = 128,
    AHEAD = 8,
    AHEAD_ALONG = 256
};
enum { WORK_MIN = 128 * 1024 };

struct few {
    const struct wick__product *g;
    bool by_a; /* the matrix is A, and the few are columns of B */
    int64_t rows, lines, row_step, row_k, line_step, line_k;
    int64_t each;    /* lines of a job, SPAN at most */
    int64_t jobs;    /* a matrix of the batch */
    float *scratch;  /* rows whose terms are side by side, for each worker; NULL where they are so in their place */
    int64_t step, k; /* floats of a worker's scratch, terms */
};

/* ---- a group of rows ---- */

/* Keeps a vector in a register, where compilers would read it from memory for each row anew: two lines of the cache
 * each time, as the lines of a matrix seldom begin where vectors do. */
#define KEEP(vector) __asm__("" : "+v"(vector))

/* Rows by BESIDE lines, along k. */
static inline __attribute__((always_inline)) void dots(const int rows, const struct few *f, const float *x, int64_t ld,
                                                       const float *const *line, float *sums) {
    const size_t next = f->k <= SHORT ? BESIDE * sizeof **line * (size_t)f->line_step : AHEAD_ALONG * sizeof **line;
    for (int64_t i = 0, end; i < f->k; i = end) {
        wick__vf sum[GROUP][BESIDE] = {{wick__vf_all(0)}}, term[BESIDE];
        const bool first = i == 0;
        end = wick__min(f->k, i + TERMS * PACK_LANES);
        for (; i + PACK_LANES <= end; i += PACK_LANES) {
            for (int l = 0; l < BESIDE; l++) {
                if (next) __builtin_prefetch((const void *)((uintptr_t)(line[l] + i) + next));
                term[l] = wick__vf_load(line[l] + i);
            }
            for (int r = 0; r < rows; r++) {
                wick__vf one = wick__vf_load(x + r * ld + i);
                for (int l = 0; l < BESIDE; l++) sum[r][l] = wick__vf_fma(one, term[l], sum[r][l]);
            }
        }
        if (i < end) {
            for (int l = 0; l < BESIDE; l++) term[l] = wick__vf_some(line[l] + i, end - i, 0);
            for (int r = 0; r < rows; r++) {
                wick__vf one = wick__vf_some(x + r * ld + i, end - i, 0);
                for (int l = 0; l < BESIDE; l++) sum[r][l] = wick__vf_fma(one, term[l], sum[r][l]);
            }
        }
        for (int r = 0; r < rows; r++) {
            const wick__vf *s = sum[r];
            float total[4];
            _mm_storeu_ps(total, wick__vf_totals(s[0], s[1], s[2 % BESIDE], s[3 % BESIDE]));
            for (int l = 0; l < BESIDE; l++) sums[r * SPAN + l] = first ? total[l] : sums[r * SPAN + l] + total[l];
        }
    }
}

/* Rows by n lines, down `terms` of k from `from` on. */
struct piece {
    const float *matrix;
    int64_t from, terms, n;
    int64_t ld; /* of the rows */
    float *sums;
    bool fetch; /* what comes next is not in the cache yet */
};
/* Of n lines in so many vectors, of which the last is not whole unless `whole`. */
static inline __attribute__((always_inline)) void sweep(const int rows, const int vectors, const bool whole,
                                                        const struct few *f, const float *x, const struct piece *p) {
    float *sums = p->sums;
    wick__vf sum[GROUP][BESIDE], term[BESIDE];
    const float *at = p->matrix + p->from * f->line_k;
    const int64_t left = p->n - (vectors - 1) * PACK_LANES;
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++) sum[r][v] = wick__vf_all(0);
    x += p->from;
    for (int64_t k = 0; k < p->terms; k++, at += f->line_k) {
        for (int v = 0; v < vectors; v++) {
            if (p->fetch)
                __builtin_prefetch(
                    (const void *)((uintptr_t)(at + v * PACK_LANES) + AHEAD * sizeof *at * (size_t)f->line_k));
            term[v] = whole || v < vectors - 1 ? wick__vf_load(at + v * PACK_LANES)
                                               : wick__vf_some(at + v * PACK_LANES, left, 0);
            KEEP(term[v]);
        }
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < vectors; v++)
                sum[r][v] = wick__vf_fma(wick__vf_all(x[r * p->ld + k]), term[v], sum[r][v]);
    }
    /* Unrolled as the loop above is: else compilers keep all sums in memory there, too. */
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            float *to = sums + r * SPAN + v * PACK_LANES;
            if (p->from > 0) sum[r][v] += wick__vf_load(to);
            wick__vf_store(to, sum[r][v]);
        }
}

#define OF_ROWS(rows)                                                                                                  \
    static void dots_##rows(const struct few *f, const float *x, int64_t ld, const float *const *line, float *sums) {  \
        dots(rows, f, x, ld, line, sums);                                                                              \
    }                                                                                                                  \
    static void sweep_##rows(const struct few *f, const float *x, const struct piece *p) {                             \
        const int64_t vectors = (p->n + PACK_LANES - 1) / PACK_LANES;                                                  \
        if (p->n >= SPAN)                                                                                              \
            sweep(rows, BESIDE, true, f, x, p);                                                                        \
        else if (vectors == 1)                                                                                         \
            sweep(rows, 1, false, f, x, p);                                                                            \
        else if (vectors == 2)                                                                                         \
            sweep(rows, 2, false, f, x, p);                                                                            \
        else if (vectors == BESIDE - 1)                                                                                \
            sweep(rows, BESIDE - 1, false, f, x, p);                                                                   \
        else                                                                                                           \
            sweep(rows, BESIDE, false, f, x, p);                                                                       \
    }
typedef void dots_fn(const struct few *f, const float *x, int64_t ld, const float *const *line, float *sums);
typedef void sweep_fn(const struct few *f, const float *x, const struct piece *p);
OF_ROWS(1)
OF_ROWS(2)
OF_ROWS(3)
OF_ROWS(4)
OF_ROWS(5)
OF_ROWS(6)

/* ---- jobs ---- */

/* The sums of all rows with n lines, a row's SPAN floats apart. Groups differ by at most one row. */
static void multiply(const struct few *f, const float *x, int64_t ld, const float *matrix, int64_t n, float *sums) {
    static dots_fn *const along[] = {dots_1, dots_2, dots_3, dots_4, dots_5, dots_6};
    static sweep_fn *const down[] = {sweep_1, sweep_2, sweep_3, sweep_4, sweep_5, sweep_6};
    const int64_t groups = (f->rows + GROUP - 1) / GROUP, all = f->line_k == 1 ? n : f->k;
    for (int64_t at = 0; at < all; at += f->line_k == 1 ? BESIDE : TERMS) {
        struct piece piece = {matrix, at, wick__min(TERMS, f->k - at), n, ld, NULL, true};
        const float *line[BESIDE];
        for (int l = 0; l < BESIDE; l++) line[l] = matrix + wick__min(at + l, n - 1) * f->line_step;
        for (int64_t g = 0; g < groups; g++) {
            int64_t first = f->rows * g / groups, rows = f->rows * (g + 1) / groups - first;
            if (f->line_k == 1)
                along[rows - 1](f, x + first * ld, ld, line, sums + first * SPAN + at);
            else {
                piece.sums = sums + first * SPAN;
                down[rows - 1](f, x + first * ld, &piece);
                piece.fetch = false;
            }
        }
    }
}

/* Stores the sums of lines `first` .. first + n - 1. */
static void store(const struct few *f, char *c, int64_t first, int64_t n, const float *sums) {
    float turned[SPAN * FEW] __attribute__((aligned(64)));
    struct gemm_store s = {.g = f->g, .c = c, .bias = f->g->bias};
    if (f->by_a) {
        WICK__ISA(wick__turn)(sizeof(float), sums, SPAN, (const int64_t[2]){n, f->rows}, turned, FEW);
        s.i0 = first, s.rows = n, s.columns = f->rows, s.tile = turned, s.ld = FEW;
        WICK__ISA(wick__gemm_store)(&s);
        return;
    }
    s.rows = f->rows, s.ld = SPAN;
    for (int64_t j = 0; j < n; j += GEMM_COLUMNS_MAX) {
        s.j0 = first + j, s.columns = wick__min(GEMM_COLUMNS_MAX, n - j), s.tile = sums + j;
        WICK__ISA(wick__gemm_store)(&s);
    }
}

/* The rows with their terms side by side. */
static void turn_rows(const struct few *f, const float *from, float *to) {
    if (f->row_step == 1)
        WICK__ISA(wick__turn)(sizeof(float), from, f->row_k, (const int64_t[2]){f->rows, f->k}, to, f->k);
    else
        for (int64_t r = 0; r < f->rows; r++)
            for (int64_t k = 0; k < f->k; k++) to[r * f->k + k] = from[r * f->row_step + k * f->row_k];
}

static void run(void *context, int worker, int64_t begin, int64_t end) {
    const struct few *f = context;
    const struct wick__product *g = f->g;
    float sums[FEW * SPAN] __attribute__((aligned(64)));
    float *turned = f->scratch ? f->scratch + worker * f->step : NULL;
    int64_t last = -1;
    for (int64_t i = begin; i < end; i++) {
        int64_t batch = i / f->jobs, first = i % f->jobs * f->each, n = wick__min(f->each, f->lines - first);
        const float *a = (const float *)g->a + gemm_batch_offset(g, g->a_batch, batch);
        const float *b = (const float *)g->b + gemm_batch_offset(g, g->b_batch, batch);
        const float *rows = f->by_a ? b : a, *matrix = f->by_a ? a : b;
        if (turned && batch != last) turn_rows(f, rows, turned);
        last = batch;
        /* The last lines that go down k are computed with those before them, in whole vectors. */
        int64_t again = f->line_k != 1 && n < SPAN && first > 0 ? SPAN - n : 0;
        multiply(f, turned ? turned : rows, turned ? f->k : f->row_step, matrix + (first - again) * f->line_step,
                 n + again, sums);
        store(f, (char *)g->c + batch * g->m * g->c_row * (int64_t)sizeof(float), first, n, sums + again);
    }
}

/* Whether `rows` are few for a matrix of n lines. Along k `most` are; down k a vector should be full for one or two,
 * and half of SPAN for more. */
static bool are_few(const struct wick__product *g, bool by_a, int64_t most) {
    int64_t rows = by_a ? g->n : g->m, n = by_a ? g->m : g->n;
    int64_t line_step = by_a ? g->a_row : g->b_column, line_k = by_a ? g->a_k : g->b_k;
    if (rows > n) return false;
    if (line_k == 1) return rows <= most && g->k >= wick__max(TERMS_MIN, TERMS_A_ROW * rows);
    return line_step == 1 && rows <= (g->k > SMALL ? FEW : FEW_OF_SMALL) && n >= (rows <= 2 ? PACK_LANES : SPAN / 2);
}

/* The lines of a job: fewer along k where there are too few of SPAN lines for every worker to have some. */
static int64_t lines_of_job(const struct few *f, int64_t batches) {
    enum { JOBS_A_WORKER = 4 };
    int64_t jobs = wick__max(1, JOBS_A_WORKER * wick__workers() / batches);
    int64_t each = ((f->lines + jobs - 1) / jobs + BESIDE - 1) / BESIDE * BESIDE;
    return f->line_k == 1 ? wick__min(SPAN, each) : SPAN;
}

bool WICK__ISA(wick__gemm_few)(const struct wick__product *g, enum wick_status *status) {
    bool by_b = are_few(g, false, FEW_ALONG), by_a = !by_b && are_few(g, true, FEW_COLUMNS);
    if (g->dtype != WICK_F32 || g->k == 0 || (!by_a && !by_b)) return false;
    struct few f = {.g = g, .by_a = by_a, .k = g->k};
    f.rows = by_a ? g->n : g->m, f.lines = by_a ? g->m : g->n;
    f.row_step = by_a ? g->b_column : g->a_row, f.row_k = by_a ? g->b_k : g->a_k;
    f.line_step = by_a ? g->a_row : g->b_column, f.line_k = by_a ? g->a_k : g->b_k;
    int64_t workers = wick__workers();
    f.each = lines_of_job(&f, wick__max(1, wick__product_batches(g)));
    f.jobs = (f.lines + f.each - 1) / f.each;
    f.step = (f.rows * f.k + 31) / 32 * 32;
    void *memory = NULL;
    int64_t nbytes = 0;
    if (!wick__mul(f.step, workers * (int64_t)sizeof(float), &nbytes)) return false;
    *status = f.row_k == 1 ? WICK_OK : wick__pool_alloc((size_t)nbytes, &memory);
    if (*status != WICK_OK) return true;
    f.scratch = memory;
    wick__parallel_with((int)workers, wick__product_batches(g) * f.jobs,
                        wick__max(1, WORK_MIN / (f.each * f.rows * f.k)), run, &f);
    if (memory) wick__pool_free(memory, (size_t)nbytes);
    return true;
}
#else
bool WICK__ISA(wick__gemm_few)(const struct wick__product *g, enum wick_status *status) {
    (void)g, (void)status;
    return false;
}
#endif
