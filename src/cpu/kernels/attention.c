/* Scaled dot product attention: softmax(q k^T scale) v without the matrix of scores.
 *
 * A job is up to QUERY_ROWS queries of one head. It goes through the keys in blocks: scores of a block by the tiles of
 * the matrix product, then the running maximum and sum of each row are brought up to date, what was summed before is
 * scaled down, and the block's values are added. A single query reads keys and values where they lie. f64 goes key by
 * key, a query a job.
 *
 * A key that is left out has the score -inf. Its weight is 0, and 0 times a value that is infinite or NaN is NaN: where
 * a sum of f32 came out so, the row is summed again key by key, without the keys that are left out. */
#include "cpu/kernels/attention_rows.h"
#include "cpu/kernels/gemm_internal.h"

#include "core/convert.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"
#include "cpu/kernels/vmath.h"

#include "backend.h"
#include "core/error.h"
#include "core/op.h"

#include <math.h>
#include <string.h>

enum { QUERY_ROWS = 5 * GEMM_ROWS < 70 ? 60 : 70, KEYS = 128 };

enum { LANES = WICK__VF };

/* Strides are in elements. */
struct operand {
    const char *data; /* NULL: left out */
    enum wick_dtype dtype;
    int64_t size, batch, head, position, element;
};

struct attention {
    struct operand q, k, v, mask;
    const float *slopes; /* or NULL */
    int64_t slope_stride[2];
    const struct wick_tensor *q_starts, *k_starts; /* of packed sequences, or NULL */
    char *out, *log_sums;                          /* log_sums may be NULL */
    int64_t sequences, heads, group, depth, width; /* group: query heads a key head serves */
    int64_t queries, keys;                         /* of a sequence; of all when packed */
    int64_t job_rows, row_jobs;                    /* row_jobs: for a head of a sequence; of all when packed */
    double scale, soft_cap;
    int64_t left, right;
    bool align_last;
    char *scratch;
    size_t scratch_step, keys_at, values_at, scores_at, weights_at, sums_at; /* packed queries are at 0 */
};

/* One job, and the block of keys it is at. */
struct piece {
    const struct attention *t;
    const char *q, *k, *v, *mask; /* from query i0, from the first key, of the head */
    int64_t keys, i0, rows;
    int64_t position;      /* of query i0 */
    int64_t first, last;   /* the keys that some query sees */
    int64_t out, out_step; /* the number of the first result, and from one to the next */
    int64_t j0, columns;
    float slope;
    char *scratch;
    float most[QUERY_ROWS], total[QUERY_ROWS];
};

/* ---- where things lie ---- */

static struct operand operand_of(const struct wick_tensor *x, bool packed) {
    if (!x) return (struct operand){.data = NULL};
    const int64_t *stride = x->layout.stride;
    return (struct operand){.data = wick__data(x),
                            .dtype = x->dtype,
                            .size = (int64_t)wick__size(x->dtype),
                            .batch = packed ? 0 : stride[0],
                            .head = stride[1],
                            .position = stride[packed ? 0 : 2],
                            .element = stride[packed ? 2 : 3]};
}

/* The first element of a head from a position on. */
static const char *begin_of(const struct operand *x, int64_t batch, int64_t head, int64_t position) {
    return x->data + (batch * x->batch + head * x->head + position * x->position) * x->size;
}
static const char *later(const struct operand *x, const char *begin, int64_t positions) {
    return begin + positions * x->position * x->size;
}

static int64_t start_of(const struct wick_tensor *starts, int64_t s) {
    int64_t at = s * starts->layout.stride[0];
    const void *data = wick__data(starts);
    return starts->dtype == WICK_U32 ? (int64_t)((const uint32_t *)data)[at] : ((const int32_t *)data)[at];
}

/* Jobs of a head are numbered so that the sequence of one is found by bisection, though sequences differ in length:
 * sequence s has those from rows before it / job_rows + s on, at least as many as it needs. */
static int64_t first_job(const struct attention *t, int64_t s) { return start_of(t->q_starts, s) / t->job_rows + s; }

static int64_t sequence_of(const struct attention *t, int64_t job) {
    int64_t low = 0, high = t->sequences - 1;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (first_job(t, middle) <= job)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Finds what a job is about; false when it has no queries. */
static bool locate(const struct attention *t, int64_t job, struct piece *p) {
    int64_t line = job / t->row_jobs, head = line % t->heads, batch = line / t->heads, q = 0, k = 0;
    int64_t queries = t->queries;
    p->t = t;
    p->i0 = job % t->row_jobs;
    p->keys = t->keys;
    if (t->q_starts) {
        batch = sequence_of(t, p->i0);
        p->i0 -= first_job(t, batch);
        q = start_of(t->q_starts, batch);
        k = start_of(t->k_starts, batch);
        queries = start_of(t->q_starts, batch + 1) - q;
        p->keys = start_of(t->k_starts, batch + 1) - k;
    }
    p->i0 *= t->job_rows;
    p->rows = wick__min(t->job_rows, queries - p->i0);
    if (p->rows <= 0) return false;
    p->q = begin_of(&t->q, batch, head, q + p->i0);
    p->k = begin_of(&t->k, batch, head / t->group, k);
    p->v = begin_of(&t->v, batch, head / t->group, k);
    if (t->mask.data) p->mask = begin_of(&t->mask, batch, head, p->i0);
    if (t->slopes) p->slope = t->slopes[batch * t->slope_stride[0] + head * t->slope_stride[1]];
    p->out = t->q_starts ? (q + p->i0) * t->heads + head : (batch * t->heads + head) * queries + p->i0;
    p->out_step = t->q_starts ? t->heads : 1;
    p->position = p->i0 + (t->align_last ? p->keys - queries : 0);
    p->first = wick__max(0, p->position - t->left);
    p->last = wick__min(p->keys, p->position + p->rows + t->right);
    return true;
}

static void put_log_sum(const struct piece *p, int64_t row, double most, double total) {
    int64_t at = p->out + row * p->out_step;
    double value = most + log(total);
    if (!p->t->log_sums) return;
    if (p->t->q.dtype == WICK_F64)
        ((double *)(void *)p->t->log_sums)[at] = value;
    else
        ((float *)(void *)p->t->log_sums)[at] = (float)value;
}

/* ---- f32 and what is computed in it ---- */

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

/* The mask on the scores of one query. */
static void mask_scores(const struct piece *p, int64_t row, float *score) {
    const struct operand *mask = &p->t->mask;
    int64_t step = mask->element;
    const char *at = later(mask, p->mask, row) + p->j0 * step * mask->size;
    if (mask->dtype == WICK_U8) {
        const uint8_t *keep = (const uint8_t *)at;
        for (int64_t j = 0; j < p->columns; j++) score[j] = keep[j * step] ? score[j] : -INFINITY;
        return;
    }
    float add[KEYS];
    wick__row_to_f32(mask->dtype, at, step, add, p->columns);
    for (int64_t j = 0; j < p->columns; j++) score[j] = add[j] == -INFINITY ? add[j] : score[j] + add[j];
}

/* Scale, soft cap, slope, mask, and what the query does not see, on the scores of one query. */
static void shape_scores(const struct piece *p, int64_t row, float *score) {
    const struct attention *t = p->t;
    const float cap = (float)t->soft_cap;
    int64_t at = p->position + row - p->j0; /* among the keys of the block */
    int64_t begin = wick__min(p->columns, at - t->left), end = wick__max(0, at + t->right + 1);
    wick__vf *x = (wick__vf *)(void *)score, scale = wick__vf_all((float)t->scale);
    for (int64_t v = 0; v * LANES < p->columns; v++) x[v] *= scale;
    if (cap > 0)
        for (int64_t j = 0; j < p->columns; j++) score[j] = cap * tanhf(score[j] / cap);
    if (t->slopes)
        for (int64_t j = 0; j < p->columns; j++) score[j] -= p->slope * fabsf((float)(at - j));
    if (t->mask.data) mask_scores(p, row, score);
    for (int64_t j = 0; j < begin; j++) score[j] = -INFINITY;
    for (int64_t j = end; j < p->columns; j++) score[j] = -INFINITY;
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
    float base = most == -INFINITY ? 0 : most, fade = p->j0 > p->first ? expf(p->most[row] - base) : 0;
    for (int64_t v = 0; v < end / LANES; v++) {
        x[v] = WICK__VF_FN(exp, u10)(x[v] - base);
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

/* One block of keys for one query. Nothing is packed, since it would be used once. */
static void step_one(struct piece *p, float *scores, float *sums, int64_t sums_width) {
    const struct operand *k = &p->t->k, *v = &p->t->v;
    const struct attention_rows keys = {k->dtype, k->size, k->position * k->size, p->columns, later(k, p->k, p->j0)};
    const struct attention_rows values = {v->dtype, v->size, v->position * v->size, p->columns, later(v, p->v, p->j0)};
    attention_scores(&keys, (const float *)(const void *)p->scratch, p->t->depth, scores);
    weigh(p, 0, scores, sums, sums_width);
    attention_add(&values, scores, p->t->width, sums);
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
        shape_scores(p, row, score);
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
    bool nan = false;
    for (int64_t d = 0; d < t->width; d++) nan |= isnan(sums[d]);
    if (nan && !isnan(total)) sum_again(p, row, sums);
    for (int64_t d = 0; d < t->width; d++) sums[d] = total == 0 ? 0 : sums[d] / total;
    if (t->width > 0) /* an empty result has no address */
        wick__row_from_f32(t->q.dtype, sums, t->out + (p->out + row * p->out_step) * t->width * t->q.size, t->width);
    put_log_sum(p, row, p->most[row], total);
}

static void run_f32(void *context, int worker, int64_t begin, int64_t end) {
    const struct attention *t = context;
    int64_t sums_width = round_up(t->width, GEMM_COLUMNS_MAX);
    bool one = t->job_rows == 1 && t->k.element == 1 && t->v.element == 1;
    for (int64_t job = begin; job < end; job++) {
        struct piece p = {.scratch = t->scratch + (size_t)worker * t->scratch_step};
        float *scores = (float *)(void *)(p.scratch + t->scores_at), *sums = (float *)(void *)(p.scratch + t->sums_at);
        if (!locate(t, job, &p)) continue;
        for (int64_t i = 0; i < p.rows; i++) p.most[i] = -INFINITY;
        memset(sums, 0, (size_t)(p.rows * sums_width) * sizeof(float));
        pack_rows(t->q.dtype, p.q, p.rows, t->depth, t->q.position, t->q.element, p.scratch);
        for (p.j0 = p.first; p.j0 < p.last; p.j0 += KEYS) {
            p.columns = wick__min(KEYS, p.last - p.j0);
            if (one)
                step_one(&p, scores, sums, sums_width);
            else
                step(&p, scores, sums, sums_width);
        }
        for (int64_t i = 0; i < p.rows; i++) finish(&p, i, sums + i * sums_width);
    }
}

/* ---- f64 ---- */

/* The score of the query and key j. */
static double score_f64(const struct piece *p, int64_t j) {
    const struct attention *t = p->t;
    const double *q = (const double *)(const void *)p->q, *k = (const double *)(const void *)later(&t->k, p->k, j);
    double sum = 0;
    for (int64_t d = 0; d < t->depth; d++) sum += q[d * t->q.element] * k[d * t->k.element];
    sum *= t->scale;
    if (t->soft_cap > 0) sum = t->soft_cap * tanh(sum / t->soft_cap);
    if (t->slopes) sum -= (double)p->slope * fabs((double)(p->position - j));
    if (!t->mask.data) return sum;
    int64_t at = j * t->mask.element;
    if (t->mask.dtype == WICK_U8) return ((const uint8_t *)p->mask)[at] ? sum : -INFINITY;
    double add = ((const double *)(const void *)p->mask)[at];
    return add == -INFINITY ? add : sum + add;
}

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
            double score = score_f64(&p, j), before = most;
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
    size_t at = (size_t)round_up(rows * t->depth, 16) * sizeof(float);
    t->keys_at = at;
    t->values_at = at += (size_t)(KEYS * t->depth) * sizeof(float);
    t->scores_at = at += (size_t)(KEYS * round_up(t->width, columns)) * sizeof(float);
    t->weights_at = at += (size_t)(KEYS * rows) * sizeof(float);
    t->sums_at = at += (size_t)(KEYS * rows) * sizeof(float);
    at += (size_t)round_up(rows * round_up(t->width, columns), 16) * sizeof(float);
    t->scratch_step = (at + 63) / 64 * 64;
}

/* Whether starts go from 0 to `end` and never back. */
static enum wick_status check_starts(const struct wick__call *call, int i, int64_t end) {
    const struct wick_tensor *starts = call->in[i];
    int64_t n = starts->layout.shape[0], before = 0;
    for (int64_t s = 0; s < n; s++) {
        int64_t at = start_of(starts, s);
        int rule = s == 0 && at != 0 ? 0 : at < before ? 1 : at > end ? 2 : s == n - 1 && at != end ? 3 : -1;
        if (rule >= 0)
            return wick__fail(WICK_RANGE, "%s: %s[%lld] is %lld: %s, %lld here", wick_op_name(call->op),
                              wick__operand_name(call->op, i), (long long)s, (long long)at, wick__starts_rule(rule),
                              (long long)end);
        before = at;
    }
    return WICK_OK;
}

static struct attention describe(const struct wick__call *call) {
    const struct wick_tensor *q = call->in[0], *k = call->in[1], *slopes = call->in[call->n_in - 1];
    bool packed = call->op == WICK_OP_attention_packed;
    int positions = packed ? 0 : 2, last = q->layout.rank - 1;
    struct attention t = {.q = operand_of(q, packed),
                          .k = operand_of(k, packed),
                          .v = operand_of(call->in[2], packed),
                          .mask = operand_of(packed ? NULL : call->in[3], false),
                          .out = wick__data(call->out[0]),
                          .log_sums = call->n_out > 1 ? wick__data(call->out[1]) : NULL,
                          .sequences = packed ? call->in[3]->layout.shape[0] - 1 : q->layout.shape[0],
                          .heads = q->layout.shape[1],
                          .depth = q->layout.shape[last],
                          .width = call->in[2]->layout.shape[last],
                          .queries = q->layout.shape[positions],
                          .keys = k->layout.shape[positions],
                          .scale = call->p.attention.scale,
                          .soft_cap = call->p.attention.soft_cap,
                          .left = call->p.attention.left,
                          .right = call->p.attention.right,
                          .align_last = call->p.attention.align_last};
    t.group = k->layout.shape[1] > 0 ? t.heads / k->layout.shape[1] : 1;
    if (slopes) {
        t.slopes = wick__data(slopes);
        memcpy(t.slope_stride, slopes->layout.stride, sizeof t.slope_stride);
    }
    if (packed) {
        t.q_starts = call->in[3];
        t.k_starts = call->in[4];
    }
    return t;
}

/* How queries are shared out among jobs; returns the number of jobs. */
static int64_t share_out(struct attention *t, int64_t rows) {
    t->job_rows = rows;
    if (t->q_starts) {
        t->row_jobs = t->queries / rows + t->sequences;
        return t->heads * t->row_jobs;
    }
    t->row_jobs = (t->queries + rows - 1) / rows;
    t->job_rows = (t->queries + t->row_jobs - 1) / t->row_jobs;
    return t->sequences * t->heads * t->row_jobs;
}

enum wick_status WICK__ISA(wick__cpu_attention)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_attention)(const struct wick__call *call) {
    const struct wick_tensor *q = call->in[0];
    struct attention t = describe(call);
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
