/* Scaled dot product attention: softmax(q k^T scale) v without the matrix of scores.
 *
 * A job is up to QUERY_ROWS queries of one head. It goes through the keys in blocks: scores of a block by the tiles of
 * the matrix product, then the running maximum and sum of each row are brought up to date, what was summed before is
 * scaled down, and the block's values are added. f64 goes key by key. */
#include "cpu/kernels/gemm_internal.h"

#include "cpu/kernels/convert.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"
#include "cpu/kernels/vmath.h"

#include "backend.h"

#include <math.h>
#include <string.h>

enum { QUERY_ROWS = 5 * GEMM_ROWS < 70 ? 60 : 70, KEYS = 128 };

enum { LANES = WICK__VF };

struct attention {
    const struct wick_tensor *q, *k, *v, *mask;
    struct wick_tensor *out;
    int64_t heads, group, queries, keys, depth, width; /* group: query heads a key head serves */
    int64_t job_rows, row_jobs;
    double scale, soft_cap;
    bool causal;
    char *scratch;
    size_t scratch_step, keys_at, values_at, scores_at, weights_at, sums_at; /* packed queries are at 0 */
};

/* One job, and the block of keys it is at. */
struct piece {
    const struct attention *t;
    int64_t batch, head, i0, rows, j0, columns;
    char *scratch;
    float most[QUERY_ROWS], total[QUERY_ROWS];
};

static const char *element(const struct wick_tensor *x, int64_t b, int64_t h, int64_t i) {
    const int64_t *stride = x->layout.stride;
    return (const char *)wick__data(x) + (b * stride[0] + h * stride[1] + i * stride[2]) * (int)wick__size(x->dtype);
}

static int64_t round_up(int64_t x, int64_t step) { return (x + step - 1) / step * step; }

static int64_t panels_of(int64_t rows) { return (rows + GEMM_ROWS - 1) / GEMM_ROWS; }
static int64_t panel_begin(int64_t rows, int64_t panel) {
    int64_t panels = panels_of(rows);
    return panel * (rows / panels) + wick__min(panel, rows % panels);
}

/* Packs rows of a left operand, with strides as given, into panels. */
static void pack_rows(enum wick_dtype dtype, const void *from, int64_t rows, int64_t depth, int64_t step,
                      int64_t k_step, char *to) {
    const struct gemm_kind *kind = &WICK__ISA(wick__gemm_f32);
    for (int64_t p = 0; p < panels_of(rows); p++) {
        int64_t begin = panel_begin(rows, p), width = panel_begin(rows, p + 1) - begin;
        WICK__ISA(wick__gemm_pack)
        (kind, &(struct gemm_panel){.dtype = dtype,
                                    .from = (const char *)from + begin * step * (int)wick__size(dtype),
                                    .step = step,
                                    .k_step = k_step,
                                    .width = width,
                                    .depth = depth,
                                    .ld = width,
                                    .to = to + begin * depth * (int64_t)sizeof(float)});
    }
}

/* C[rows, columns] = or += packed a x packed b; C has room for whole vectors. */
static void multiply(int64_t rows, int64_t columns, int64_t depth, const char *a, const char *b, float *c, int64_t ldc,
                     bool add) {
    const struct gemm_kind *kind = &WICK__ISA(wick__gemm_f32);
    for (int64_t j = 0; j < columns; j += kind->columns) {
        int64_t vectors = (wick__min(kind->columns, columns - j) + kind->lanes - 1) / kind->lanes;
        for (int64_t p = 0; p < panels_of(rows); p++) {
            int64_t begin = panel_begin(rows, p), width = panel_begin(rows, p + 1) - begin;
            kind->tile[width - 1][vectors - 1](depth, a + begin * depth * (int64_t)sizeof(float),
                                               b + j * depth * (int64_t)sizeof(float), c + begin * ldc + j, ldc, add);
        }
    }
}

/* Scale, soft cap, mask and causality, on the scores of one query. */
static void shape_scores(const struct piece *p, int64_t row, float *score) {
    const struct attention *t = p->t;
    const float cap = (float)t->soft_cap;
    wick__vf *x = (wick__vf *)(void *)score, scale = wick__vf_all((float)t->scale);
    for (int64_t v = 0; v * LANES < p->columns; v++) x[v] *= scale;
    if (cap > 0)
        for (int64_t j = 0; j < p->columns; j++) score[j] = cap * tanhf(score[j] / cap);
    if (t->mask) {
        int64_t step = t->mask->layout.stride[3];
        const char *mask = element(t->mask, p->batch, p->head, p->i0 + row);
        if (t->mask->dtype == WICK_U8) {
            const uint8_t *keep = (const uint8_t *)mask + p->j0 * step;
            for (int64_t j = 0; j < p->columns; j++) score[j] = keep[j * step] ? score[j] : -INFINITY;
        } else {
            float add[KEYS];
            wick__row_to_f32(t->mask->dtype, mask + p->j0 * step * (int)wick__size(t->mask->dtype), step, add,
                             p->columns);
            for (int64_t j = 0; j < p->columns; j++) score[j] += add[j];
        }
    }
    if (t->causal)
        for (int64_t j = wick__max(0, p->i0 + row + 1 - p->j0); j < p->columns; j++) score[j] = -INFINITY;
}

/* Turns the scores of one query into weights and brings its maximum, total and sums up to date. */
static void weigh(struct piece *p, int64_t row, float *score, float *sums, int64_t sums_width) {
    int64_t end = round_up(p->columns, LANES);
    float most = p->most[row];
    shape_scores(p, row, score);
    for (int64_t j = p->columns; j < end; j++) score[j] = -INFINITY;
    wick__vf *x = (wick__vf *)(void *)score, total = {0}, greatest = wick__vf_all(most);
    for (int64_t v = 0; v < end / LANES; v++) greatest = wick__vf_max(x[v], greatest); /* a NaN is passed over */
    most = wick__vf_greatest(greatest);
    /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
    float base = most == -INFINITY ? 0 : most, fade = p->j0 > 0 ? expf(p->most[row] - base) : 0;
    for (int64_t v = 0; v < end / LANES; v++) {
        x[v] = WICK__VF_FN(exp, u10)(x[v] - base);
        total += x[v];
    }
    p->total[row] = p->total[row] * fade + wick__vf_total(total);
    p->most[row] = most;
    if (p->j0 > 0 && fade != 1)
        for (int64_t j = 0; j < sums_width; j++) sums[j] *= fade;
}

/* One block of keys. */
static void step(struct piece *p, float *scores, float *sums, int64_t sums_width) {
    const struct attention *t = p->t;
    const struct gemm_kind *kind = &WICK__ISA(wick__gemm_f32);
    const int64_t *k_stride = t->k->layout.stride, *v_stride = t->v->layout.stride;
    char *keys = p->scratch + t->keys_at, *values = p->scratch + t->values_at, *weights = p->scratch + t->weights_at;
    WICK__ISA(wick__gemm_pack)
    (kind, &(struct gemm_panel){.dtype = t->k->dtype,
                                .from = element(t->k, p->batch, p->head / t->group, p->j0),
                                .step = k_stride[2],
                                .k_step = k_stride[3],
                                .width = p->columns,
                                .depth = t->depth,
                                .ld = kind->columns,
                                .to = keys});
    multiply(p->rows, p->columns, t->depth, p->scratch, keys, scores, KEYS, false);
    for (int64_t i = 0; i < p->rows; i++) weigh(p, i, scores + i * KEYS, sums + i * sums_width, sums_width);
    pack_rows(WICK_F32, scores, p->rows, p->columns, KEYS, 1, weights);
    WICK__ISA(wick__gemm_pack)
    (kind, &(struct gemm_panel){.dtype = t->v->dtype,
                                .from = element(t->v, p->batch, p->head / t->group, p->j0),
                                .step = v_stride[3],
                                .k_step = v_stride[2],
                                .width = t->width,
                                .depth = p->columns,
                                .ld = kind->columns,
                                .to = values});
    multiply(p->rows, t->width, p->columns, weights, values, sums, sums_width, p->j0 > 0);
}

static void run_f32(void *context, int worker, int64_t begin, int64_t end) {
    const struct attention *t = context;
    int64_t sums_width = round_up(t->width, GEMM_COLUMNS_MAX), size = (int)wick__size(t->q->dtype);
    for (int64_t job = begin; job < end; job++) {
        struct piece p = {.t = t, .scratch = t->scratch + (size_t)worker * t->scratch_step};
        float *scores = (float *)(void *)(p.scratch + t->scores_at), *sums = (float *)(void *)(p.scratch + t->sums_at);
        p.batch = job / t->row_jobs / t->heads;
        p.head = job / t->row_jobs % t->heads;
        p.i0 = job % t->row_jobs * t->job_rows;
        p.rows = wick__min(t->job_rows, t->queries - p.i0);
        for (int64_t i = 0; i < p.rows; i++) p.most[i] = -INFINITY;
        memset(sums, 0, (size_t)(p.rows * sums_width) * sizeof(float));
        pack_rows(t->q->dtype, element(t->q, p.batch, p.head, p.i0), p.rows, t->depth, t->q->layout.stride[2],
                  t->q->layout.stride[3], p.scratch);
        int64_t last = t->causal ? wick__min(t->keys, p.i0 + p.rows) : t->keys;
        for (p.j0 = 0; p.j0 < last; p.j0 += KEYS) {
            p.columns = wick__min(KEYS, last - p.j0);
            step(&p, scores, sums, sums_width);
        }
        char *to = (char *)wick__data(t->out) + ((p.batch * t->heads + p.head) * t->queries + p.i0) * t->width * size;
        for (int64_t i = 0; i < p.rows; i++) {
            float *row = sums + i * sums_width, total = p.total[i];
            for (int64_t j = 0; j < t->width; j++) row[j] = total == 0 ? 0 : row[j] / total;
            wick__row_from_f32(t->q->dtype, row, to + i * t->width * size, t->width);
        }
    }
}

/* The score of query i and key j in f64. */
static double score_f64(const struct attention *t, int64_t b, int64_t h, int64_t i, int64_t j) {
    const double *q = (const double *)(const void *)element(t->q, b, h, i);
    const double *k = (const double *)(const void *)element(t->k, b, h / t->group, j);
    int64_t q_step = t->q->layout.stride[3], k_step = t->k->layout.stride[3];
    double sum = 0;
    for (int64_t d = 0; d < t->depth; d++) sum += q[d * q_step] * k[d * k_step];
    sum *= t->scale;
    if (t->soft_cap > 0) sum = t->soft_cap * tanh(sum / t->soft_cap);
    if (!t->mask) return sum;
    const char *mask = element(t->mask, b, h, i);
    int64_t at = j * t->mask->layout.stride[3];
    if (t->mask->dtype == WICK_U8) return ((const uint8_t *)mask)[at] ? sum : -INFINITY;
    return sum + ((const double *)(const void *)mask)[at];
}

/* Index: a query of a head of a batch. */
static void run_f64(void *context, int worker, int64_t begin, int64_t end) {
    const struct attention *t = context;
    (void)worker;
    for (int64_t index = begin; index < end; index++) {
        int64_t i = index % t->queries, h = index / t->queries % t->heads, b = index / t->queries / t->heads;
        double *out = (double *)wick__data(t->out) + index * t->width, most = -INFINITY, total = 0;
        for (int64_t d = 0; d < t->width; d++) out[d] = 0;
        int64_t last = t->causal ? wick__min(t->keys, i + 1) : t->keys, v_step = t->v->layout.stride[3];
        for (int64_t j = 0; j < last; j++) {
            const double *v = (const double *)(const void *)element(t->v, b, h / t->group, j);
            double score = score_f64(t, b, h, i, j), before = most;
            most = score > most ? score : most;
            double base = most == -INFINITY ? 0 : most, fade = exp(before - base), weight = exp(score - base);
            total = total * fade + weight;
            for (int64_t d = 0; d < t->width; d++) out[d] = out[d] * fade + weight * v[d * v_step];
        }
        for (int64_t d = 0; d < t->width; d++) out[d] = total == 0 ? 0 : out[d] / total;
    }
}

/* Lays out a worker's scratch space. Every part is a multiple of 64 bytes. */
static void lay_out(struct attention *t) {
    int64_t columns = GEMM_COLUMNS_MAX, rows = t->job_rows;
    size_t at = (size_t)round_up(rows * t->depth, 16) * sizeof(float);
    t->keys_at = at;
    t->values_at = at += (size_t)(KEYS * t->depth) * sizeof(float);
    t->scores_at = at += (size_t)(KEYS * round_up(t->width, columns)) * sizeof(float);
    t->weights_at = at += (size_t)(KEYS * rows) * sizeof(float);
    t->sums_at = at += (size_t)(KEYS * rows) * sizeof(float);
    at += (size_t)round_up(rows * round_up(t->width, columns), 16) * sizeof(float);
    t->scratch_step = (at + 63) / 64 * 64;
}

enum wick_status WICK__ISA(wick__cpu_attention)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_attention)(const struct wick__call *call) {
    const struct wick_tensor *q = call->in[0], *k = call->in[1], *v = call->in[2];
    struct attention t = {.q = q, .k = k, .v = v, .mask = call->in[3], .out = call->out[0]};
    int64_t batches = q->layout.shape[0];
    t.heads = q->layout.shape[1];
    t.queries = q->layout.shape[2];
    t.depth = q->layout.shape[3];
    t.keys = k->layout.shape[2];
    t.width = v->layout.shape[3];
    t.scale = call->p.attention.scale;
    t.soft_cap = call->p.attention.soft_cap;
    t.causal = call->p.attention.causal;
    if (wick__count(t.out) == 0) return WICK_OK;
    t.group = k->layout.shape[1] > 0 ? t.heads / k->layout.shape[1] : 1;
    if (q->dtype == WICK_F64) {
        int64_t work = wick__max(1, t.keys * (t.depth + t.width));
        wick__parallel(batches * t.heads * t.queries, wick__max(1, 16384 / work), run_f64, &t);
        return WICK_OK;
    }
    t.row_jobs = (t.queries + QUERY_ROWS - 1) / QUERY_ROWS;
    t.job_rows = (t.queries + t.row_jobs - 1) / t.row_jobs;
    lay_out(&t);
    int workers = wick__workers();
    size_t nbytes = t.scratch_step * (size_t)workers;
    void *scratch;
    WICK__TRY(wick__pool_alloc(nbytes, &scratch));
    t.scratch = scratch;
    int64_t work = wick__max(1, t.job_rows * t.keys * (t.depth + t.width));
    wick__parallel_with(workers, batches * t.heads * t.row_jobs, wick__max(1, 256 * 1024 / work), run_f32, &t);
    wick__pool_free(scratch, nbytes);
    return WICK_OK;
}
