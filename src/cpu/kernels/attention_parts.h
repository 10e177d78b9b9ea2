/* What attention and its gradients share: where operands lie, which keys a query sees, and scores. For kernel files. */
#ifndef WICK_CPU_KERNELS_ATTENTION_PARTS_H
#define WICK_CPU_KERNELS_ATTENTION_PARTS_H

#include "cpu/kernels/gemm_internal.h"
#include "cpu/kernels/vmath.h"

#include "core/convert.h"

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
    const char *q, *k, *v, *mask;     /* from query i0, from the first key, of the head */
    int64_t batch, head, first_query; /* of the operands; first_query: of the sequence, when packed */
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

static inline struct operand operand_of(const struct wick_tensor *x, bool packed) {
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

/* The first element of a head from a position on. An operand without elements is NULL, which has no other place. */
static inline const char *begin_of(const struct operand *x, int64_t batch, int64_t head, int64_t position) {
    if (!x->data) return NULL;
    return x->data + (batch * x->batch + head * x->head + position * x->position) * x->size;
}
static inline const char *later(const struct operand *x, const char *begin, int64_t positions) {
    return begin ? begin + positions * x->position * x->size : NULL;
}

static inline int64_t start_of(const struct wick_tensor *starts, int64_t s) {
    int64_t at = s * starts->layout.stride[0];
    const void *data = wick__data(starts);
    return starts->dtype == WICK_U32 ? (int64_t)((const uint32_t *)data)[at] : ((const int32_t *)data)[at];
}

/* Jobs of a head are numbered so that the sequence of one is found by bisection, though sequences differ in length:
 * sequence s has those from rows before it / job_rows + s on, at least as many as it needs. */
static inline int64_t first_job(const struct attention *t, int64_t s) {
    return start_of(t->q_starts, s) / t->job_rows + s;
}

static inline int64_t sequence_of(const struct attention *t, int64_t job) {
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
static inline bool locate(const struct attention *t, int64_t job, struct piece *p) {
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
    p->batch = batch;
    p->head = head;
    p->first_query = q;
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

static inline int64_t panels_of(int64_t rows) { return (rows + GEMM_ROWS - 1) / GEMM_ROWS; }
static inline int64_t panel_begin(int64_t rows, int64_t panel) {
    int64_t panels = panels_of(rows);
    return panel * (rows / panels) + wick__min(panel, rows % panels);
}

/* Packs rows of a left operand, with strides as given, into panels. */
static inline void pack_rows(enum wick_dtype dtype, const void *from, int64_t rows, int64_t depth, int64_t step,
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
static inline void multiply(int64_t rows, int64_t columns, int64_t depth, const char *a, const char *b, float *c,
                            int64_t ldc, bool add) {
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
static inline void mask_scores(const struct piece *p, int64_t row, float *score) {
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

/* Scale and soft cap on the scores of one query. */
static inline void scale_scores(const struct piece *p, float *score) {
    const float cap = (float)p->t->soft_cap;
    wick__vf *x = (wick__vf *)(void *)score, scale = wick__vf_all((float)p->t->scale);
    for (int64_t v = 0; v * LANES < p->columns; v++) x[v] *= scale;
    if (cap > 0)
        for (int64_t j = 0; j < p->columns; j++) score[j] = cap * tanhf(score[j] / cap);
}

/* Slope, mask, and what the query does not see, on its scores. */
static inline void hide_scores(const struct piece *p, int64_t row, float *score) {
    const struct attention *t = p->t;
    int64_t at = p->position + row - p->j0; /* among the keys of the block */
    int64_t begin = wick__min(p->columns, at - t->left), end = wick__max(0, at + t->right + 1);
    if (t->slopes)
        for (int64_t j = 0; j < p->columns; j++) score[j] -= p->slope * fabsf((float)(at - j));
    if (t->mask.data) mask_scores(p, row, score);
    for (int64_t j = 0; j < begin; j++) score[j] = -INFINITY;
    for (int64_t j = end; j < p->columns; j++) score[j] = -INFINITY;
}

/* The score of the query and key j; *slope: that of the soft cap there. */
static inline double score_f64(const struct piece *p, int64_t j, double *slope) {
    const struct attention *t = p->t;
    const double *q = (const double *)(const void *)p->q, *k = (const double *)(const void *)later(&t->k, p->k, j);
    double sum = 0;
    for (int64_t d = 0; d < t->depth; d++) sum += q[d * t->q.element] * k[d * t->k.element];
    sum *= t->scale;
    *slope = 1;
    if (t->soft_cap > 0) {
        double part = tanh(sum / t->soft_cap);
        sum = t->soft_cap * part;
        *slope = 1 - part * part;
    }
    if (t->slopes) sum -= (double)p->slope * fabs((double)(p->position - j));
    if (!t->mask.data) return sum;
    int64_t at = j * t->mask.element;
    if (t->mask.dtype == WICK_U8) return ((const uint8_t *)p->mask)[at] ? sum : -INFINITY;
    double add = ((const double *)(const void *)p->mask)[at];
    return add == -INFINITY ? add : sum + add;
}

/* Whether starts go from 0 to `end` and never back. */
static inline enum wick_status check_starts(const struct wick__call *call, int i, int64_t end) {
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

/* q, k and v are operands number `first` on, mask or starts number `mask` on. */
static inline struct attention describe(const struct wick__call *call, bool packed, int first, int mask) {
    const struct wick_tensor *q = call->in[first], *k = call->in[first + 1], *v = call->in[first + 2],
                             *slopes = call->in[call->n_in - 1];
    int positions = packed ? 0 : 2, last = q->layout.rank - 1;
    struct attention t = {.q = operand_of(q, packed),
                          .k = operand_of(k, packed),
                          .v = operand_of(v, packed),
                          .mask = operand_of(packed ? NULL : call->in[mask], false),
                          .sequences = packed ? call->in[mask]->layout.shape[0] - 1 : q->layout.shape[0],
                          .heads = q->layout.shape[1],
                          .depth = q->layout.shape[last],
                          .width = v->layout.shape[last],
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
        t.q_starts = call->in[mask];
        t.k_starts = call->in[mask + 1];
    }
    return t;
}

/* How queries are shared out among jobs; returns the number of jobs. */
static inline int64_t share_out(struct attention *t, int64_t rows) {
    t->job_rows = rows;
    if (t->q_starts) {
        t->row_jobs = t->queries / rows + t->sequences;
        return t->heads * t->row_jobs;
    }
    t->row_jobs = (t->queries + rows - 1) / rows;
    t->job_rows = (t->queries + t->row_jobs - 1) / t->row_jobs;
    return t->sequences * t->heads * t->row_jobs;
}

#endif
