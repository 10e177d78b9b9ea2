/* Matrix products: how one is cut into jobs, blocks and tiles.
 *
 * A job is up to job_rows x job_columns of one C. It goes through k in blocks of the kind's k_block terms; of each it
 * packs its columns of B, which then stay in the second-level cache, and multiplies them with blocks of BLOCK_ROWS
 * rows of A. A is packed once for all jobs when several need the same rows, else by the job. What an element of C is
 * summed from, and in what order, depends on k alone, so the cut is free to follow the shape and the threads. */
#include "cpu/kernels/gemm_internal.h"

#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include <string.h>
#if WICK_ISA_LEVEL == 2
#include <immintrin.h>
#endif

enum { BLOCK_ROWS = GEMM_ROWS == 14 ? 140 : 96, JOB_ROWS_MAX = 1152 / BLOCK_ROWS * BLOCK_ROWS, JOB_COLUMNS_MAX = 512 };

/* Terms up to which a product takes as long as its result takes to write: whole rows of it, from one end to the other,
 * by tiles whose B, of up to SMALL_B bytes, is in the cache. */
enum { FEW_TERMS = 64, SMALL_B = 256 * 1024 };

/* Tiles beside each other up to which packing A takes longer than reading it in place does. */
enum { IN_PLACE = 4 };

/* Below this many multiplications a job is not split further, and a thread is not woken. */
static const double JOB_WORK_MIN = 256 * 1024;

/* With fewer multiplications for each thread, jobs are cut no further once all threads have as many: smaller ones read
 * and pack again what their neighbours do. */
static const double SMALL_WORK = 64 * 1024 * 1024;

/* Elements of A that threads pack sooner alone, each what it needs, than they begin to pack it together. */
enum { PACKED_ALONE = 64 * 1024 };

/* A larger C is stored past the caches where that can be. */
static const double STREAMED_BYTES = 8 << 20;

/* The most memory for a packed A; larger ones go in several passes. */
static const int64_t PACKED_BYTES_MAX = 128 << 20;

struct plan {
    const struct wick__product *g;
    const struct gemm_kind *kind;
    int64_t batches;
    int64_t first_batch, first_row, rows; /* of this pass */
    int64_t job_rows, job_columns, row_jobs, column_jobs;
    bool streamed;   /* C is larger than the caches */
    bool direct;     /* accumulators have C's type: they are summed in place */
    bool in_place;   /* rows of A are read where they lie */
    bool by_rows;    /* tiles beside each other come first: B is small, and what takes time is to write C */
    bool a_constant; /* every matrix of the batch has the same A */
    char *shared_a;  /* the packed A of this pass; NULL when jobs pack it */
    char *scratch;
    int workers;                        /* that there is scratch space for */
    size_t scratch_step, b_at, sums_at; /* bytes: of a worker, and in it; A is at 0 */
};

/* One job at work on one block of k. */
struct step {
    const struct plan *plan;
    int64_t batch;
    int64_t i0, j0, rows, columns; /* of the job */
    int64_t k0, terms, depth;      /* of the block: terms, and packed elements along k */
    bool first, last;
    const char *a, *b;
    char *c, *scratch;
    const char *bias, *next_b; /* next_b: B of the next matrix of the batch, NULL when there is none */
};

static int64_t round_up(int64_t x, int64_t step) { return (x + step - 1) / step * step; }

static int64_t element_size(const struct wick__product *g) { return (int)wick__size(g->dtype); }

/* ---- packing ---- */

/* A block of rows falls into panels that differ by at most one row. */
static int64_t panels_of(int64_t rows) { return (rows + GEMM_ROWS - 1) / GEMM_ROWS; }
static int64_t panel_begin(int64_t rows, int64_t panel) {
    int64_t panels = panels_of(rows);
    return panel * (rows / panels) + wick__min(panel, rows % panels);
}

/* Rows i0 .. i0+rows-1, terms k0 .. k0+terms-1 of A. */
struct block {
    int64_t i0, rows, k0, terms;
};
static void pack_a(const struct plan *plan, const char *a, struct block block, char *to) {
    const int64_t i0 = block.i0, rows = block.rows, k0 = block.k0, terms = block.terms;
    const struct wick__product *g = plan->g;
    int64_t depth = (terms + plan->kind->group - 1) / plan->kind->group;
    for (int64_t p = 0; p < panels_of(rows); p++) {
        int64_t begin = panel_begin(rows, p), width = panel_begin(rows, p + 1) - begin;
        WICK__ISA(wick__gemm_pack)
        (plan->kind, &(struct gemm_panel){.dtype = g->dtype,
                                          .from = a + ((i0 + begin) * g->a_row + k0 * g->a_k) * element_size(g),
                                          .step = g->a_row,
                                          .k_step = g->a_k,
                                          .width = width,
                                          .depth = terms,
                                          .ld = width,
                                          .to = to + begin * depth * (int64_t)plan->kind->size});
    }
}

/* Packs the job's columns of B. */
static void pack_b(const struct step *s) {
    const struct wick__product *g = s->plan->g;
    WICK__ISA(wick__gemm_pack)
    (s->plan->kind, &(struct gemm_panel){.dtype = g->dtype,
                                         .from = s->b + (s->k0 * g->b_k + s->j0 * g->b_column) * element_size(g),
                                         .step = g->b_column,
                                         .k_step = g->b_k,
                                         .width = s->columns,
                                         .depth = s->terms,
                                         .ld = s->plan->kind->columns,
                                         .to = s->scratch + s->plan->b_at});
}

/* Where in the packed A of a pass a block begins, in packed elements. Blocks of one k0 follow one another. */
static int64_t shared_offset(const struct plan *plan, int64_t row, int64_t k0, int64_t depth) {
    return k0 / plan->kind->group * plan->rows + row * depth;
}

/* ---- multiplying ---- */

#if WICK_ISA_LEVEL == 2
/* Vectors of f32 whose last is not whole. */
static void add_some(const struct step *s, const float *tile, float *to, int64_t rows, int64_t columns) {
    enum { LANES = GEMM_BYTES / 4 };
    const __mmask16 mask = (__mmask16)((1u << columns % LANES) - 1);
    for (int64_t i = 0; i < rows; i++, tile += GEMM_COLUMNS_MAX, to += s->plan->g->c_row) {
        int64_t last = columns / LANES * LANES;
        for (int64_t j = 0; j < last; j += LANES) {
            __m512 x = _mm512_load_ps(tile + j);
            _mm512_storeu_ps(to + j, s->first ? x : _mm512_add_ps(_mm512_loadu_ps(to + j), x));
        }
        __m512 x = _mm512_load_ps(tile + last);
        if (!s->first) x = _mm512_add_ps(_mm512_maskz_loadu_ps(mask, to + last), x);
        _mm512_mask_storeu_ps(to + last, mask, x);
    }
}
#endif

static void add_tile(const struct step *s, const void *tile, char *to, int64_t rows, int64_t columns) {
    const struct gemm_kind *kind = s->plan->kind;
#if WICK_ISA_LEVEL == 2
    if (s->plan->g->dtype == WICK_F32) {
        add_some(s, tile, (float *)(void *)to, rows, columns);
        return;
    }
#endif
    int64_t size = (int64_t)kind->size, ld = s->plan->g->c_row;
    for (int64_t i = 0; i < rows; i++) {
        const char *from = (const char *)tile + i * kind->columns * size;
        char *row = to + i * ld * size;
        if (s->first)
            memcpy(row, from, (size_t)(columns * size));
        else if (s->plan->g->dtype == WICK_F64)
            for (int64_t j = 0; j < columns; j++) ((double *)row)[j] += ((const double *)from)[j];
        else if (s->plan->g->dtype == WICK_F32)
            for (int64_t j = 0; j < columns; j++) ((float *)row)[j] += ((const float *)from)[j];
        else if (size == 8)
            for (int64_t j = 0; j < columns; j++) ((uint64_t *)row)[j] += ((const uint64_t *)from)[j];
        else
            for (int64_t j = 0; j < columns; j++) ((uint32_t *)row)[j] += ((const uint32_t *)from)[j];
    }
}

/* What a tile multiplies: rows of A, a panel or, where they are some elements `apart`, in their place; a panel of B. */
struct sides {
    const char *a, *b;
    int64_t rows, apart;
};

static void sum_tile(const struct step *s, const struct sides *x, int vectors, void *c, int64_t ldc, bool add) {
    const struct gemm_kind *kind = s->plan->kind;
    if (x->apart)
        kind->in_place[vectors - 1](s->depth, x->a, x->apart, x->b, c, ldc, add);
    else
        kind->tile[x->rows - 1][vectors - 1](s->depth, x->a, x->b, c, ldc, add);
}

/* One tile: C[i.., j..] of the job. */
static void multiply_tile(const struct step *s, const struct sides *x, int64_t i, int64_t j) {
    const struct plan *plan = s->plan;
    const struct gemm_kind *kind = plan->kind;
    const struct wick__product *g = plan->g;
    int64_t columns = wick__min(kind->columns, s->columns - j), size = (int64_t)kind->size, ld = kind->columns;
    const int vectors = columns > kind->lanes ? 2 : 1;
    const bool plain = !s->bias && g->activation == WICK_ACTIVATION_NONE;
    char local[GEMM_ROWS * GEMM_VECTORS * GEMM_BYTES] __attribute__((aligned(64)));
    char *tile = local;
    if (plan->direct && (plain || !s->first || !s->last)) {
        char *c = s->c + ((s->i0 + i) * g->c_row + s->j0 + j) * size;
        if (columns == vectors * kind->lanes)
            sum_tile(s, x, vectors, c, g->c_row, !s->first);
        else {
            sum_tile(s, x, vectors, local, kind->columns, false);
            add_tile(s, local, c, x->rows, columns);
        }
        if (!s->last || plain) return;
        tile = c;
        ld = g->c_row;
    } else if (s->first && s->last)
        sum_tile(s, x, vectors, local, kind->columns, false);
    else {
        ld = round_up(s->columns, kind->columns);
        tile = s->scratch + plan->sums_at + (i * ld + j) * size;
        sum_tile(s, x, vectors, tile, ld, !s->first);
        if (!s->last) return;
    }
    WICK__ISA(wick__gemm_store)
    (&(struct gemm_store){.g = g,
                          .c = s->c,
                          .bias = s->bias,
                          .i0 = s->i0 + i,
                          .j0 = s->j0 + j,
                          .rows = x->rows,
                          .columns = columns,
                          .tile = tile,
                          .ld = ld,
                          .streamed = plan->streamed});
}

/* Asks for a matrix that is packed soon, if it is small enough to stay. Without this, products of many small matrices
 * wait for memory while they pack, and memory waits for them while they multiply. */
static void prefetch(const char *matrix, int64_t rows, int64_t row_bytes, int64_t step_bytes) {
    enum { SMALL = 32 * 1024, LINE = 64 };
    if (!matrix || rows * row_bytes > SMALL) return;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t at = 0; at < row_bytes; at += LINE) __builtin_prefetch(matrix + i * step_bytes + at);
}

/* Rows of A, or of B, as they lie in memory. */
static void prefetch_a(const struct step *s, const char *a) {
    const struct wick__product *g = s->plan->g;
    int64_t size = element_size(g);
    if (g->a_k == 1) prefetch(a + (s->i0 * g->a_row + s->k0) * size, s->rows, s->terms * size, g->a_row * size);
}

static void prefetch_b(const struct step *s, const char *b) {
    const struct wick__product *g = s->plan->g;
    int64_t size = element_size(g);
    if (g->b_column == 1)
        prefetch(b + (s->k0 * g->b_k + s->j0) * size, s->terms, s->columns * size, g->b_k * size);
    else if (g->b_k == 1)
        prefetch(b + (s->j0 * g->b_column + s->k0) * size, s->columns, s->terms * size, g->b_column * size);
}

/* A block of rows of the job, in tiles: the first `in_place` of them where they lie, the others in panels of `each`
 * rows, the first `longer` of one more. */
struct rows {
    const char *from, *panels;
    int64_t begin, in_place, tiles, each, longer;
};

/* The rows of tile number t; *i is the first of them, counted in the job. */
static struct sides rows_of_tile(const struct step *s, const struct rows *r, int64_t t, int64_t *i) {
    const int64_t size = (int64_t)s->plan->kind->size, apart = s->plan->g->a_row, panel = t - r->in_place;
    *i = r->begin + wick__min(t, r->in_place) * GEMM_ROWS;
    if (panel < 0) return (struct sides){r->from + t * GEMM_ROWS * apart * size, NULL, GEMM_ROWS, apart};
    int64_t first = panel * r->each + wick__min(panel, r->longer);
    *i += first;
    return (struct sides){r->panels + first * s->depth * size, NULL, r->each + (panel < r->longer), 0};
}

/* Their product with the job's columns: row of tiles by row of tiles, or column by column. */
static void multiply_rows(const struct step *s, const struct rows *r) {
    const struct gemm_kind *kind = s->plan->kind;
    const char *b = s->scratch + s->plan->b_at;
    const int64_t apart = s->depth * kind->columns * (int64_t)kind->size;
    int64_t i;
    if (s->plan->by_rows)
        for (int64_t t = 0; t < r->tiles; t++) {
            struct sides sides = rows_of_tile(s, r, t, &i);
            sides.b = b;
            for (int64_t j = 0; j < s->columns; j += kind->columns, sides.b += apart) multiply_tile(s, &sides, i, j);
        }
    else
        for (int64_t j = 0; j < s->columns; j += kind->columns, b += apart)
            for (int64_t t = 0; t < r->tiles; t++) {
                struct sides sides = rows_of_tile(s, r, t, &i);
                sides.b = b;
                multiply_tile(s, &sides, i, j);
            }
}

/* The product of one block of k. */
static void multiply(struct step *s) {
    const struct plan *plan = s->plan;
    const struct gemm_kind *kind = plan->kind;
    if (!plan->shared_a && s->first) prefetch_a(s, s->a);
    if (s->terms > 0) pack_b(s);
    for (int64_t block = 0; block < s->rows; block += BLOCK_ROWS) {
        int64_t rows = wick__min(BLOCK_ROWS, s->rows - block);
        int64_t whole = plan->in_place ? rows / GEMM_ROWS * GEMM_ROWS : 0;
        const char *a = s->scratch, *from = s->a + ((s->i0 + block) * plan->g->a_row + s->k0) * element_size(plan->g);
        if (plan->shared_a)
            a = plan->shared_a +
                shared_offset(plan, s->i0 - plan->first_row + block, s->k0, s->depth) * (int64_t)kind->size;
        else if (whole < rows)
            pack_a(plan, s->a, (struct block){s->i0 + block + whole, rows - whole, s->k0, s->terms}, s->scratch);
        if (s->last && s->next_b && block == 0) prefetch_b(s, s->next_b);
        int64_t panels = panels_of(rows - whole);
        struct rows all = {.from = from, .panels = a, .begin = block, .in_place = whole / GEMM_ROWS};
        all.tiles = all.in_place + panels;
        if (panels > 0) all.each = (rows - whole) / panels, all.longer = (rows - whole) % panels;
        multiply_rows(s, &all);
    }
}

static void run_jobs(void *context, int worker, int64_t begin, int64_t end) {
    const struct plan *plan = context;
    const struct wick__product *g = plan->g;
    int64_t size = element_size(g), last_row = plan->first_row + plan->rows;
    for (int64_t job = begin; job < end; job++) {
        struct step s = {.plan = plan, .scratch = plan->scratch + (size_t)worker * plan->scratch_step};
        s.batch = plan->first_batch + job / (plan->row_jobs * plan->column_jobs);
        s.i0 = plan->first_row + job % plan->row_jobs * plan->job_rows;
        s.j0 = job / plan->row_jobs % plan->column_jobs * plan->job_columns;
        s.rows = wick__min(plan->job_rows, last_row - s.i0);
        s.columns = wick__min(plan->job_columns, g->n - s.j0);
        s.a = (const char *)g->a + gemm_batch_offset(g, g->a_batch, s.batch) * size;
        s.b = (const char *)g->b + gemm_batch_offset(g, g->b_batch, s.batch) * size;
        if (s.batch + 1 < plan->batches)
            s.next_b = (const char *)g->b + gemm_batch_offset(g, g->b_batch, s.batch + 1) * size;
        s.c = (char *)g->c + s.batch * g->m * g->c_row * size;
        s.bias = g->bias;
        do {
            s.terms = wick__min(plan->kind->k_block, g->k - s.k0);
            s.depth = (s.terms + plan->kind->group - 1) / plan->kind->group;
            s.first = s.k0 == 0;
            s.last = s.k0 + s.terms >= g->k;
            multiply(&s);
            s.k0 += s.terms;
        } while (s.k0 < g->k);
    }
#if WICK_ISA_LEVEL == 2
    if (plan->streamed) _mm_sfence();
#endif
}

/* Packs blocks of the shared A: index counts blocks of rows within blocks of k. */
static void pack_shared(void *context, int worker, int64_t begin, int64_t end) {
    const struct plan *plan = context;
    const struct wick__product *g = plan->g;
    const char *a = (const char *)g->a + gemm_batch_offset(g, g->a_batch, plan->first_batch) * element_size(g);
    int64_t blocks_a_job = (plan->job_rows + BLOCK_ROWS - 1) / BLOCK_ROWS, blocks = plan->row_jobs * blocks_a_job;
    (void)worker;
    for (int64_t index = begin; index < end; index++) {
        int64_t k0 = index / blocks * plan->kind->k_block, terms = wick__min(plan->kind->k_block, g->k - k0);
        int64_t depth = (terms + plan->kind->group - 1) / plan->kind->group;
        int64_t job = index % blocks / blocks_a_job, block = index % blocks_a_job * BLOCK_ROWS;
        int64_t row = job * plan->job_rows + block;
        int64_t rows = wick__min(wick__min(BLOCK_ROWS, plan->job_rows - block), plan->rows - row);
        if (rows <= 0) continue;
        pack_a(plan, a, (struct block){plan->first_row + row, rows, k0, terms},
               plan->shared_a + shared_offset(plan, row, k0, depth) * (int64_t)plan->kind->size);
    }
}

/* ---- planning ---- */

static bool strides_are_zero(const struct wick__product *g, const int64_t *stride) {
    for (int d = 0; d < g->batch_rank; d++)
        if (stride[d] != 0 && g->batch_shape[d] > 1) return false;
    return true;
}

/* The size of the fewest equal parts that n falls into, none above `most`. */
static int64_t equal_parts(int64_t n, int64_t most) {
    int64_t parts = (n + most - 1) / most;
    return (n + parts - 1) / parts;
}

/* Cuts C so that every thread has something to do, as long as the pieces are worth it. Columns go first, down to
 * COLUMNS_WIDE tiles: jobs side by side share a packed A, while jobs below one another each pack the same B. Of few
 * terms rows go first. */
static void cut(struct plan *plan) {
    const struct wick__product *g = plan->g;
    enum { COLUMNS_WIDE = 6 };
    const double all = (double)plan->batches * (double)g->m * (double)g->n * (double)g->k;
    const int64_t columns = plan->kind->columns, workers = wick__workers(), many = workers > 1 ? 4 * workers : 1;
    const bool small = !plan->by_rows && all < SMALL_WORK * (double)workers;
    plan->job_rows = equal_parts(g->m, JOB_ROWS_MAX);
    plan->job_columns = plan->by_rows ? SMALL_B / (g->k * element_size(g)) : JOB_COLUMNS_MAX;
    plan->job_columns = round_up(equal_parts(g->n, wick__max(JOB_COLUMNS_MAX, plan->job_columns)), columns);
    for (;;) {
        plan->row_jobs = (g->m + plan->job_rows - 1) / plan->job_rows;
        plan->column_jobs = (g->n + plan->job_columns - 1) / plan->job_columns;
        double work = (double)plan->job_rows * (double)plan->job_columns * (double)g->k;
        double jobs = (double)plan->batches * (double)plan->row_jobs * (double)plan->column_jobs;
        if (jobs >= (double)many || work < 2 * JOB_WORK_MIN) return;
        bool wide = plan->job_columns >= COLUMNS_WIDE * columns;
        if (small && !wide && (int64_t)jobs % workers == 0) return;
        wide = wide || plan->job_columns >= plan->job_rows;
        if (plan->by_rows) wide = plan->job_rows < 8 * GEMM_ROWS;
        if (plan->job_columns >= 2 * columns && (wide || plan->job_rows <= GEMM_ROWS))
            plan->job_columns = round_up(plan->job_columns / 2, columns);
        else if (plan->job_rows > GEMM_ROWS)
            plan->job_rows = (plan->job_rows + 1) / 2;
        else
            return;
    }
}

/* Whether threads pack the A that several jobs need together, before jobs begin. Otherwise each job packs it. */
static bool is_shared(const struct plan *plan) {
    const struct wick__product *g = plan->g;
    const int64_t jobs = plan->column_jobs * (plan->a_constant ? plan->batches : 1), workers = wick__workers();
    const int64_t blocks =
        (g->m + BLOCK_ROWS - 1) / BLOCK_ROWS * ((g->k + plan->kind->k_block - 1) / plan->kind->k_block);
    const double each = (double)((jobs + workers - 1) / workers), share = 1.0 / (double)wick__min(blocks, workers);
    return jobs > 1 && (each - share) * (double)g->m * (double)g->k > PACKED_ALONE;
}

/* Lays out the scratch space of a worker. */
static void lay_out(struct plan *plan) {
    const struct gemm_kind *kind = plan->kind;
    int64_t terms = wick__min(plan->kind->k_block, plan->g->k), columns = round_up(plan->job_columns, kind->columns);
    size_t depth = (size_t)((terms + kind->group - 1) / kind->group);
    size_t at = (size_t)wick__min(BLOCK_ROWS, plan->job_rows) * depth * kind->size;
    plan->b_at = at = (at + 63) / 64 * 64;
    plan->sums_at = at += (size_t)columns * depth * kind->size;
    if (!plan->direct && plan->g->k > kind->k_block) at += (size_t)(plan->job_rows * columns) * kind->size;
    plan->scratch_step = (at + 127) / 128 * 128 + 64;
}

/* One pass: the rows of C that share a packed A, for one matrix or all. */
static void run_pass(struct plan *plan, int64_t batches) {
    int64_t jobs = batches * plan->row_jobs * plan->column_jobs;
    double work = (double)plan->job_rows * (double)plan->job_columns * (double)wick__max(plan->g->k, 1);
    int64_t grain = work >= JOB_WORK_MIN ? 1 : (int64_t)(JOB_WORK_MIN / work);
    if (plan->shared_a) {
        int64_t blocks = plan->row_jobs * ((plan->job_rows + BLOCK_ROWS - 1) / BLOCK_ROWS);
        blocks *= (plan->g->k + plan->kind->k_block - 1) / plan->kind->k_block;
        wick__parallel(blocks, 1, pack_shared, plan);
    }
    wick__parallel_with(plan->workers, jobs, grain, run_jobs, plan);
}

/* All passes. A is shared by the jobs of one matrix, or of all when they have the same A. */
static void run_passes(struct plan *plan, int64_t pass_rows) {
    int64_t step = plan->shared_a && !plan->a_constant ? 1 : plan->batches;
    for (plan->first_row = 0; plan->first_row < plan->g->m; plan->first_row += pass_rows) {
        plan->rows = wick__min(pass_rows, plan->g->m - plan->first_row);
        plan->row_jobs = (plan->rows + plan->job_rows - 1) / plan->job_rows;
        for (plan->first_batch = 0; plan->first_batch < plan->batches; plan->first_batch += step) run_pass(plan, step);
    }
}

enum wick_status WICK__ISA(wick__gemm)(const struct wick__product *asked) {
    static const char nothing[1]; /* stands for operands without elements: their NULL has no place beside it */
    struct wick__product product = *asked;
    const struct wick__product *g = &product;
    struct plan plan = {.g = g, .kind = WICK__ISA(wick__gemm_kind)(g->dtype), .batches = wick__product_batches(g)};
    if (!product.a) product.a = nothing;
    if (!product.b) product.b = nothing;
    enum wick_status status;
    if (g->m == 0 || g->n == 0 || plan.batches == 0) return WICK_OK;
    if (WICK__ISA(wick__gemv)(g, &status) || WICK__ISA(wick__gemm_few)(g, &status)) return status;
    plan.streamed = (double)plan.batches * (double)g->m * (double)g->n * (double)element_size(g) > STREAMED_BYTES;
    plan.direct = (size_t)element_size(g) == plan.kind->size && plan.kind->group == 1;
    plan.a_constant = strides_are_zero(g, g->a_batch);
    plan.by_rows = g->k > 0 && g->k <= FEW_TERMS;
    cut(&plan);
    lay_out(&plan);
    int64_t row_bytes = (g->k + plan.kind->group - 1) / plan.kind->group * (int64_t)plan.kind->size;
    /* A is not packed for a few tiles beside each other, unless its rows would push each other out of the cache. */
    plan.in_place = plan.kind->in_place[0] && g->dtype == WICK_F32 && g->a_k == 1 &&
                    g->n <= IN_PLACE * plan.kind->columns && g->a_row % 1024 != 0;
    bool share = g->k > 0 && !plan.in_place && is_shared(&plan);
    int64_t pass_rows = g->m;
    if (share && pass_rows > PACKED_BYTES_MAX / row_bytes)
        pass_rows = wick__max(1, PACKED_BYTES_MAX / row_bytes / plan.job_rows) * plan.job_rows;
    size_t shared_bytes = share ? ((size_t)(wick__min(pass_rows, g->m) * row_bytes) + 63) / 64 * 64 : 0;
    plan.workers = wick__workers();
    size_t nbytes = shared_bytes + (size_t)plan.workers * plan.scratch_step;
    void *memory;
    WICK__TRY(wick__pool_alloc(nbytes, &memory));
    if (share) plan.shared_a = memory;
    plan.scratch = (char *)memory + shared_bytes;
    run_passes(&plan, pass_rows);
    wick__pool_free(memory, nbytes);
    return WICK_OK;
}
