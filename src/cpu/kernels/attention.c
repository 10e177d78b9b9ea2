/* Scaled dot product attention: softmax(q k^T scale) v without the matrix of scores.
 *
 * A job is up to QUERY_ROWS queries of one head. It goes through the keys in blocks: scores of a block by the tiles of
 * the matrix product, then the running maximum and sum of each row are brought up to date, what was summed before is
 * scaled down, and the block's values are added. A few queries read keys and values where they lie. f64 goes key by
 * key, a query a job.
 *
 * A key that is left out has the score -inf. Its weight is 0, and 0 times a value that is infinite or NaN is NaN: where
 * a sum of f32 came out so, the row is summed again key by key, without the keys that are left out. */
#include "cpu/kernels/attention_parts.h"
#include "cpu/kernels/attention_rows.h"

#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include "backend.h"
#include "core/error.h"
#include "core/op.h"

#include <math.h>
#include <string.h>

static void put_log_sum(const struct piece *p, int64_t row, double most, double total) {
    int64_t at = p->out + row * p->out_step;
    if (!p->t->log_sums) return;
    double value = most + log(total);
    if (p->t->q.dtype == WICK_F64)
        ((double *)(void *)p->t->log_sums)[at] = value;
    else
        ((float *)(void *)p->t->log_sums)[at] = (float)value;
}

/* ---- f32 and what is computed in it ---- */

/* Turns the scores of one query into weights and brings its maximum, total and sums up to date. */
static void weigh(struct piece *p, int64_t row, float *score, float *sums, int64_t sums_width) {
    int64_t end = wick__round_up(p->columns, LANES);
    float most = p->most[row];
    scale_scores(p, score);
    hide_scores(p, row, score);
    for (int64_t j = p->columns; j < end; j++) score[j] = -INFINITY;
    wick__vf *x = (wick__vf *)(void *)score, total = {0}, greatest = wick__vf_all(most);
    for (int64_t v = 0; v < end / LANES; v++) greatest = wick__vf_max(x[v], greatest); /* a NaN is passed over */
    most = wick__vf_greatest(greatest);
    /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
    float base = most == -INFINITY ? 0 : most, fade = p->j0 > p->first ? expf(p->most[row] - base) : 0;
    for (int64_t v = 0; v < end / LANES; v++) {
        x[v] = wick__vf_exp(x[v] - base);
        total += x[v];
    }
    p->total[row] = p->total[row] * fade + wick__vf_total(total);
    p->most[row] = most;
    if (p->j0 > p->first && fade != 1)
        for (int64_t j = 0; j < sums_width; j++) sums[j] *= fade;
}

/* One block of keys. */
static void step(struct piece *p, float *scores, float *sums, int64_t sums_width) {
    const struct attention *t = p->t;
    const struct gemm_kind *kind = &WICK__ISA(wick__gemm_f32);
    char *keys = p->scratch + t->keys_at, *values = p->scratch + t->values_at, *weights = p->scratch + t->weights_at;
    WICK__ISA(wick__gemm_pack)
    (kind, &(struct gemm_panel){.dtype = t->k.dtype,
                                .from = later(&t->k, p->k, p->j0),
                                .step = t->k.position,
                                .k_step = t->k.element,
                                .width = p->columns,
                                .depth = t->depth,
                                .ld = kind->columns,
                                .to = keys});
    multiply(p->rows, p->columns, t->depth, p->scratch, keys, scores, KEYS, false);
    for (int64_t i = 0; i < p->rows; i++) weigh(p, i, scores + i * KEYS, sums + i * sums_width, sums_width);
    pack_rows(WICK_F32, scores, p->rows, p->columns, KEYS, 1, weights);
    WICK__ISA(wick__gemm_pack)
    (kind, &(struct gemm_panel){.dtype = t->v.dtype,
                                .from = later(&t->v, p->v, p->j0),
                                .step = t->v.element,
                                .k_step = t->v.position,
                                .width = t->width,
                                .depth = p->columns,
                                .ld = kind->columns,
                                .to = values});
    multiply(p->rows, t->width, p->columns, weights, values, sums, sums_width, p->j0 > p->first);
}

/* One block of keys for few queries. Nothing is packed, since it would be used a few times. */
static void step_few(struct piece *p, float *scores, float *sums, int64_t sums_width) {
    const struct operand *k = &p->t->k, *v = &p->t->v;
    const struct attention_rows keys = {k->dtype, k->size, k->position * k->size, p->columns, later(k, p->k, p->j0)};
    const struct attention_rows values = {v->dtype, v->size, v->position * v->size, p->columns, later(v, p->v, p->j0)};
    const float *q = (const float *)(const void *)p->scratch;
    for (int64_t i = 0; i < p->rows; i++, q += p->t->depth, scores += KEYS, sums += sums_width) {
        attention_scores(&keys, q, p->t->depth, scores);
        weigh(p, i, scores, sums, sums_width);
        attention_add(&values, scores, p->t->width, sums);
    }
}

/* Whether queries are so few; of narrow dtypes one, as each query converts keys and values anew. */
static bool are_few(const struct piece *p) {
    enum { FEW = 3 };
    const struct attention *t = p->t;
    int64_t most = t->k.dtype == WICK_F32 && t->v.dtype == WICK_F32 ? FEW : 1;
    return p->rows <= most && t->depth > 0 && t->k.element == 1 && t->v.element == 1;
}

/* Sums a row again, without the keys that are left out. The scratch space of packed operands has its operands. */
static void sum_again(struct piece *p, int64_t row, float *sums) {
    const struct attention *t = p->t;
    float *q = (float *)(void *)(p->scratch + t->keys_at), *k = q + t->depth;
    float *v = (float *)(void *)(p->scratch + t->values_at), *score = (float *)(void *)(p->scratch + t->scores_at);
    wick__row_to_f32(t->q.dtype, later(&t->q, p->q, row), t->q.element, q, t->depth);
    memset(sums, 0, (size_t)t->width * sizeof *sums);
    for (p->j0 = p->first; p->j0 < p->last; p->j0 += KEYS) {
        p->columns = wick__min(KEYS, p->last - p->j0);
        memset(score, 0, KEYS * sizeof *score);
        for (int64_t j = 0; j < p->columns; j++) {
            wick__row_to_f32(t->k.dtype, later(&t->k, p->k, p->j0 + j), t->k.element, k, t->depth);
            for (int64_t d = 0; d < t->depth; d++) score[j] += q[d] * k[d];
        }
        scale_scores(p, score);
        hide_scores(p, row, score);
        for (int64_t j = 0; j < p->columns; j++) {
            if (score[j] == -INFINITY) continue;
            float weight = expf(score[j] - p->most[row]);
            wick__row_to_f32(t->v.dtype, later(&t->v, p->v, p->j0 + j), t->v.element, v, t->width);
            for (int64_t d = 0; d < t->width; d++) sums[d] += weight * v[d];
        }
    }
}

/* Divides the sums of a row by its total, and writes them. */
static void finish(struct piece *p, int64_t row, float *sums) {
    const struct attention *t = p->t;
    float total = p->total[row];
    unsigned nan = 0; /* of a bool compilers make no vectors */
    for (int64_t d = 0; d < t->width; d++) nan |= sums[d] != sums[d];
    if (nan && !isnan(total)) sum_again(p, row, sums);
    for (int64_t d = 0; d < t->width; d++) sums[d] = total == 0 ? 0 : sums[d] / total;
    if (t->width > 0) /* an empty result has no address */
        wick__row_from_f32(t->q.dtype, sums, t->out + (p->out + row * p->out_step) * t->width * t->q.size, t->width);
    put_log_sum(p, row, p->most[row], total);
}

static void run_f32(void *context, int worker, int64_t begin, int64_t end) {
    const struct attention *t = context;
    int64_t sums_width = wick__round_up(t->width, GEMM_COLUMNS_MAX);
    for (int64_t job = begin; job < end; job++) {
        struct piece p = {.scratch = t->scratch + (size_t)worker * t->scratch_step};
        float *scores = (float *)(void *)(p.scratch + t->scores_at), *sums = (float *)(void *)(p.scratch + t->sums_at);
        if (!locate(t, job, &p)) continue;
        for (int64_t i = 0; i < p.rows; i++) p.most[i] = -INFINITY;
        memset(sums, 0, (size_t)(p.rows * sums_width) * sizeof(float));
        bool few = are_few(&p);
        for (int64_t i = 0; few && i < p.rows; i++)
            wick__row_to_f32(t->q.dtype, later(&t->q, p.q, i), t->q.element, (float *)(void *)p.scratch + i * t->depth,
                             t->depth);
        if (!few) pack_rows(t->q.dtype, p.q, p.rows, t->depth, t->q.position, t->q.element, p.scratch);
        for (p.j0 = p.first; p.j0 < p.last; p.j0 += KEYS) {
            p.columns = wick__min(KEYS, p.last - p.j0);
            if (few)
                step_few(&p, scores, sums, sums_width);
            else
                step(&p, scores, sums, sums_width);
        }
        for (int64_t i = 0; i < p.rows; i++) finish(&p, i, sums + i * sums_width);
    }
}

/* ---- f64 ---- */

/* A job is a query of a head. */
static void run_f64(void *context, int worker, int64_t begin, int64_t end) {
    const struct attention *t = context;
    (void)worker;
    for (int64_t job = begin; job < end; job++) {
        struct piece p = {.scratch = NULL};
        if (!locate(t, job, &p)) continue;
        double *out = t->width ? (double *)(void *)t->out + p.out * t->width : NULL, most = -INFINITY, total = 0;
        for (int64_t d = 0; d < t->width; d++) out[d] = 0;
        for (int64_t j = p.first; j < p.last; j++) {
            const double *v = (const double *)(const void *)later(&t->v, p.v, j);
            double slope, score = score_f64(&p, j, &slope), before = most;
            if (score == -INFINITY) continue;
            most = score > most ? score : most;
            double base = most == -INFINITY ? 0 : most, fade = exp(before - base), weight = exp(score - base);
            total = total * fade + weight;
            for (int64_t d = 0; d < t->width; d++) out[d] = out[d] * fade + weight * v[d * t->v.element];
        }
        for (int64_t d = 0; d < t->width; d++) out[d] = total == 0 ? 0 : out[d] / total;
        put_log_sum(&p, 0, most, total);
    }
}

/* ---- the call ---- */

/* Lays out a worker's scratch space. Every part is a multiple of 64 bytes. */
static void lay_out(struct attention *t) {
    int64_t columns = GEMM_COLUMNS_MAX, rows = t->job_rows;
    size_t at = (size_t)wick__round_up(rows * t->depth, 16) * sizeof(float);
    t->keys_at = at;
    t->values_at = at += (size_t)(KEYS * t->depth) * sizeof(float);
    t->scores_at = at += (size_t)(KEYS * wick__round_up(t->width, columns)) * sizeof(float);
    t->weights_at = at += (size_t)(KEYS * rows) * sizeof(float);
    t->sums_at = at += (size_t)(KEYS * rows) * sizeof(float);
    at += (size_t)wick__round_up(rows * wick__round_up(t->width, columns), 16) * sizeof(float);
    t->scratch_step = (at + 63) / 64 * 64;
}

enum wick_status WICK__ISA(wick__cpu_attention)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_attention)(const struct wick__call *call) {
    const struct wick_tensor *q = call->in[0];
    struct attention t = describe(call, call->op == WICK_OP_attention_packed, 0, 3);
    t.out = wick__data(call->out[0]);
    t.log_sums = call->n_out > 1 ? wick__data(call->out[1]) : NULL;
    if (wick__count(call->out[0]) == 0 && (!t.log_sums || wick__count(call->out[1]) == 0)) return WICK_OK;
    if (t.q_starts) {
        WICK__TRY(check_starts(call, 3, t.queries));
        WICK__TRY(check_starts(call, 4, t.keys));
    }
    int64_t jobs = share_out(&t, q->dtype == WICK_F64 ? 1 : QUERY_ROWS);
    int64_t work = wick__max(1, t.job_rows * (t.keys / (t.q_starts ? t.sequences : 1)) * (t.depth + t.width));
    if (q->dtype == WICK_F64) {
        wick__parallel(jobs, wick__max(1, 16384 / work), run_f64, &t);
        return WICK_OK;
    }
    lay_out(&t);
    int workers = wick__workers();
    size_t nbytes = t.scratch_step * (size_t)workers;
    void *scratch;
    WICK__TRY(wick__pool_alloc(nbytes, &scratch));
    t.scratch = scratch;
    wick__parallel_with(workers, jobs, wick__max(1, 256 * 1024 / work), run_f32, &t);
    wick__pool_free(scratch, nbytes);
    return WICK_OK;
}
