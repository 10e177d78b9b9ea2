/* The gradients of attention, without the matrix of scores (Dao, "FlashAttention-2").
 *
 * A job is a key head of a sequence: it has the gradients of its keys and values in its scratch space, and goes through
 * the queries of the heads that share them, a block of rows at a time, and for each block through the keys. Of a block
 * of both: scores, and gradients of weights, by the tiles of the matrix product; from them the weights P and the
 * gradients of scores dS; then P and dS times what lies on the other side, three products. f64 goes key by key.
 *
 * A key that is left out has the weight -0, which no other has: times a number it adds nothing, and where a block of
 * what it is multiplied with has an infinity or NaN, it is passed over. */
#include "cpu/kernels/attention_parts.h"

#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include <float.h>

/* Offsets in a worker's scratch space, in floats. */
struct room {
    int64_t q_rows, g_rows, q_columns, g_columns; /* a block of queries, and of gradients: packed as rows, as columns */
    int64_t k_columns, v_columns, k_terms; /* a block of keys: as columns of scores, and as terms of q's gradient */
    int64_t p, ds, weights, line;          /* weights: either, packed; line: an operand's row */
    int64_t dq, dk, dv, end;
};

struct backward {
    struct attention t;
    struct operand gradient, result, log_sums;
    char *out[3];                 /* gradients of q, k and v */
    int64_t key_heads, most_keys; /* most_keys: of a sequence */
    int64_t depth, width;         /* rounded up to whole tiles */
    struct room room;
    float *scratch;
};

/* A job, and the blocks that it is at. */
struct place {
    const struct backward *b;
    struct piece p;
    const char *gradient, *result, *log_sums; /* from query i0 of the head */
    int64_t first_key;                        /* of the sequence, when packed */
    int64_t sequence, key_head;
    float *scratch, log_sum[QUERY_ROWS], delta[QUERY_ROWS];
    bool odd_q, odd_gradient; /* an infinity or NaN is in the block */
};

/* ---- where things lie ---- */

static struct operand sums_of(const struct wick_tensor *x, bool packed) {
    const int64_t *stride = x->layout.stride;
    return (struct operand){.data = wick__data(x),
                            .dtype = x->dtype,
                            .size = (int64_t)wick__size(x->dtype),
                            .batch = packed ? 0 : stride[0],
                            .head = stride[1],
                            .position = stride[packed ? 0 : 2]};
}

static struct place begin_job(const struct backward *b, int64_t job) {
    struct place at = {.b = b, .sequence = job / b->key_heads, .key_head = job % b->key_heads};
    at.p.keys = b->t.keys;
    if (b->t.k_starts) {
        at.first_key = start_of(b->t.k_starts, at.sequence);
        at.p.keys = start_of(b->t.k_starts, at.sequence + 1) - at.first_key;
    }
    return at;
}

/* Finds a block of queries of a head; false behind the last. */
static bool find_block(struct place *at, int64_t head, int64_t block) {
    const struct backward *b = at->b;
    const struct attention *t = &b->t;
    if (block >= t->row_jobs) return false;
    int64_t job = t->q_starts ? head * t->row_jobs + first_job(t, at->sequence) + block
                              : (at->sequence * t->heads + head) * t->row_jobs + block;
    if (t->q_starts && first_job(t, at->sequence) + block >= first_job(t, at->sequence + 1)) return false;
    if (!locate(t, job, &at->p)) return false;
    int64_t from = at->p.first_query + at->p.i0;
    at->gradient = begin_of(&b->gradient, at->p.batch, head, from);
    at->result = begin_of(&b->result, at->p.batch, head, from);
    at->log_sums = begin_of(&b->log_sums, at->p.batch, head, from);
    return true;
}

/* The number of row j of k's gradient, or of v's. */
static int64_t key_row(const struct place *at, int64_t j) {
    const struct backward *b = at->b;
    return b->t.k_starts ? (at->first_key + j) * b->key_heads + at->key_head
                         : (at->sequence * b->key_heads + at->key_head) * b->t.keys + j;
}

/* ---- f32 and what is computed in it ---- */

/* Packs `depth` terms of each of some columns; columns are positions, or elements, of which terms are the other. */
static void pack_columns(const struct operand *x, const char *from, bool elements, int64_t columns, int64_t depth,
                         float *to) {
    const struct gemm_kind *kind = &WICK__ISA(wick__gemm_f32);
    WICK__ISA(wick__gemm_pack)
    (kind, &(struct gemm_panel){.dtype = x->dtype,
                                .from = from,
                                .step = elements ? x->element : x->position,
                                .k_step = elements ? x->position : x->element,
                                .width = columns,
                                .depth = depth,
                                .ld = kind->columns,
                                .to = to});
}

/* n elements of a row as f32: where they lie, or in `line`. */
static const float *floats_of(const struct operand *x, const char *row, int64_t n, float *line) {
    if (x->dtype == WICK_F32 && x->element == 1) return (const float *)(const void *)row;
    wick__row_to_f32(x->dtype, row, x->element, line, n);
    return line;
}

/* Whether an infinity or NaN is among n elements of each of some rows. */
static bool is_odd(const struct operand *x, const char *begin, int64_t rows, int64_t n, float *line) {
    wick__vf sum = wick__vf_all(0), zero = sum;
    for (int64_t i = 0; i < rows; i++) {
        const float *row = floats_of(x, later(x, begin, i), n, line);
        int64_t d = 0;
        for (; d + LANES <= n; d += LANES) sum += wick__vf_load(row + d) * zero;
        if (d < n) sum += wick__vf_some(row + d, n - d, 0) * zero;
    }
    return isnan(wick__vf_total(sum));
}

static float dot(const float *a, const float *b, int64_t n) {
    wick__vf sum = wick__vf_all(0);
    int64_t d = 0;
    for (; d + LANES <= n; d += LANES) sum = wick__vf_fma(wick__vf_load(a + d), wick__vf_load(b + d), sum);
    if (d < n) sum = wick__vf_fma(wick__vf_some(a + d, n - d, 0), wick__vf_some(b + d, n - d, 0), sum);
    return wick__vf_total(sum);
}

/* Packs a block of queries with their gradients, and finds what belongs to each row. */
static void take_queries(struct place *at) {
    const struct backward *b = at->b;
    const struct attention *t = &b->t;
    const struct room *room = &b->room;
    float *s = at->scratch, *line = s + room->line, *other = line + b->width;
    int64_t rows = at->p.rows;
    pack_rows(t->q.dtype, at->p.q, rows, t->depth, t->q.position, t->q.element, (char *)(s + room->q_rows));
    pack_rows(t->q.dtype, at->gradient, rows, t->width, b->gradient.position, b->gradient.element,
              (char *)(s + room->g_rows));
    pack_columns(&t->q, at->p.q, true, t->depth, rows, s + room->q_columns);
    pack_columns(&b->gradient, at->gradient, true, t->width, rows, s + room->g_columns);
    at->odd_q = is_odd(&t->q, at->p.q, rows, t->depth, line);
    at->odd_gradient = is_odd(&b->gradient, at->gradient, rows, t->width, line);
    for (int64_t i = 0; i < rows; i++) {
        at->delta[i] = dot(floats_of(&b->gradient, later(&b->gradient, at->gradient, i), t->width, line),
                           floats_of(&b->result, later(&b->result, at->result, i), t->width, other), t->width);
        at->log_sum[i] = *(const float *)(const void *)later(&b->log_sums, at->log_sums, i);
    }
    memset(s + room->dq, 0, (size_t)(rows * b->depth) * sizeof *s);
}

/* Turns the scores of a row into weights, and the gradients of its weights into those of scores before their scale. */
static void weigh(const struct place *at, int64_t row, float *p, float *ds) {
    const struct attention *t = &at->b->t;
    const float cap = (float)t->soft_cap, delta = at->delta[row];
    /* Where a row sees no key, all scores are -inf. */
    float base = at->log_sum[row] == -INFINITY ? 0 : at->log_sum[row];
    int64_t n = at->p.columns;
    scale_scores(&at->p, p);
    for (int64_t j = 0; j < n; j++) ds[j] -= delta;
    if (cap > 0)
        for (int64_t j = 0; j < n; j++) ds[j] *= 1 - (p[j] / cap) * (p[j] / cap);
    hide_scores(&at->p, row, p);
    for (int64_t j = n; j < wick__round_up(n, LANES); j++) p[j] = -INFINITY;
    for (int64_t j = 0; j < n; j += LANES) {
        wick__vf *weight = (wick__vf *)(void *)(p + j), *slope = (wick__vf *)(void *)(ds + j), score = *weight;
        wick__vf value = wick__vf_exp(score - base), least = wick__vf_all(-FLT_MAX), hidden = wick__vf_all(-0.0f);
        *weight = wick__vf_below(score, least, hidden, value + 0.0f); /* a -0 becomes 0 */
        *slope = wick__vf_below(score, least, hidden, *slope * value + 0.0f);
    }
}

/* A product of weights [rows, columns], i.e. of their transpose when `turned`, with terms that are packed at `terms`;
 * terms that hold an infinity or NaN are read at `from`. The sums have rows of `ld`. */
struct product {
    const float *weights;
    bool turned, odd;
    const float *terms;
    const struct operand *x;
    const char *from;
    int64_t n, ld; /* elements of a row of terms, and of sums */
    float *sums;
};

/* Adds term by term, without the keys that are left out. */
static void add_plainly(const struct place *at, const struct product *m) {
    float *line = at->scratch + at->b->room.line;
    int64_t terms = m->turned ? at->p.rows : at->p.columns, rows = m->turned ? at->p.columns : at->p.rows;
    for (int64_t i = 0; i < terms; i++) {
        wick__row_to_f32(m->x->dtype, later(m->x, m->from, i), m->x->element, line, m->n);
        for (int64_t r = 0; r < rows; r++) {
            float weight = m->turned ? m->weights[i * KEYS + r] : m->weights[r * KEYS + i];
            if (weight == 0 && signbit(weight)) continue;
            for (int64_t d = 0; d < m->n; d++) m->sums[r * m->ld + d] += weight * line[d];
        }
    }
}

static void add_product(const struct place *at, const struct product *m) {
    char *packed = (char *)(at->scratch + at->b->room.weights);
    int64_t terms = m->turned ? at->p.rows : at->p.columns, rows = m->turned ? at->p.columns : at->p.rows;
    if (m->odd) {
        add_plainly(at, m);
        return;
    }
    pack_rows(WICK_F32, m->weights, rows, terms, m->turned ? 1 : KEYS, m->turned ? KEYS : 1, packed);
    multiply(rows, m->n, terms, packed, (const char *)m->terms, m->sums, m->ld, true);
}

/* The block of keys from j0 on, for a block of queries. */
static void step(struct place *at) {
    const struct backward *b = at->b;
    const struct attention *t = &b->t;
    const struct room *room = &b->room;
    float *s = at->scratch, *p = s + room->p, *ds = s + room->ds;
    const char *k = later(&t->k, at->p.k, at->p.j0), *v = later(&t->v, at->p.v, at->p.j0);
    int64_t rows = at->p.rows, columns = at->p.columns;
    pack_columns(&t->k, k, false, columns, t->depth, s + room->k_columns);
    pack_columns(&t->v, v, false, columns, t->width, s + room->v_columns);
    pack_columns(&t->k, k, true, t->depth, columns, s + room->k_terms);
    multiply(rows, columns, t->depth, (char *)(s + room->q_rows), (char *)(s + room->k_columns), p, KEYS, false);
    multiply(rows, columns, t->width, (char *)(s + room->g_rows), (char *)(s + room->v_columns), ds, KEYS, false);
    for (int64_t i = 0; i < rows; i++) weigh(at, i, p + i * KEYS, ds + i * KEYS);
    bool odd_k = is_odd(&t->k, k, columns, t->depth, s + room->line);
    add_product(at, &(struct product){ds, false, odd_k, s + room->k_terms, &t->k, k, t->depth, b->depth, s + room->dq});
    add_product(at, &(struct product){ds, true, at->odd_q, s + room->q_columns, &t->q, at->p.q, t->depth, b->depth,
                                      s + room->dk + at->p.j0 * b->depth});
    add_product(at, &(struct product){p, true, at->odd_gradient, s + room->g_columns, &b->gradient, at->gradient,
                                      t->width, b->width, s + room->dv + at->p.j0 * b->width});
}

/* Writes a row of sums, times a scale, as row `to` of result i. */
static void put_row(const struct backward *b, int i, int64_t to, float *sums, int64_t n, float scale) {
    for (int64_t d = 0; d < n; d++) sums[d] *= scale;
    if (n > 0) wick__row_from_f32(b->t.q.dtype, sums, b->out[i] + to * n * b->t.q.size, n);
}

static void run_f32(void *context, int worker, int64_t begin, int64_t end) {
    const struct backward *b = context;
    const struct attention *t = &b->t;
    const float scale = (float)t->scale;
    for (int64_t job = begin; job < end; job++) {
        struct place at = begin_job(b, job);
        float *s = at.scratch = b->scratch + worker * b->room.end;
        int64_t keys = at.p.keys;
        memset(s + b->room.dk, 0, (size_t)(keys * b->depth) * sizeof *s);
        memset(s + b->room.dv, 0, (size_t)(keys * b->width) * sizeof *s);
        for (int64_t head = at.key_head * t->group; head < (at.key_head + 1) * t->group; head++)
            for (int64_t block = 0; find_block(&at, head, block); block++) {
                take_queries(&at);
                for (at.p.j0 = at.p.first; at.p.j0 < at.p.last; at.p.j0 += KEYS) {
                    at.p.columns = wick__min(KEYS, at.p.last - at.p.j0);
                    step(&at);
                }
                for (int64_t i = 0; i < at.p.rows; i++)
                    put_row(b, 0, at.p.out + i * at.p.out_step, s + b->room.dq + i * b->depth, t->depth, scale);
            }
        for (int64_t j = 0; j < keys; j++) {
            put_row(b, 1, key_row(&at, j), s + b->room.dk + j * b->depth, t->depth, scale);
            put_row(b, 2, key_row(&at, j), s + b->room.dv + j * b->width, t->width, 1);
        }
    }
}

/* ---- f64 ---- */

static const double *doubles(const struct operand *x, const char *begin, int64_t position) {
    return (const double *)(const void *)later(x, begin, position);
}

/* Row `to` of result i, of n elements; NULL for an empty one. */
static double *row_of(const struct backward *b, int i, int64_t to, int64_t n) {
    return n ? (double *)(void *)b->out[i] + to * n : NULL;
}

/* What a query and key j add to the three gradients. */
static void add_pair(const struct place *at, int64_t j, double delta, double *dq) {
    const struct backward *b = at->b;
    const struct attention *t = &b->t;
    double slope, score = score_f64(&at->p, j, &slope), weight = 0;
    if (score == -INFINITY) return;
    const double *q = doubles(&t->q, at->p.q, 0), *k = doubles(&t->k, at->p.k, j), *v = doubles(&t->v, at->p.v, j);
    const double *gradient = doubles(&b->gradient, at->gradient, 0);
    double *dk = row_of(b, 1, key_row(at, j), t->depth), *dv = row_of(b, 2, key_row(at, j), t->width);
    weight = exp(score - *(const double *)(const void *)at->log_sums);
    double sum = 0;
    for (int64_t e = 0; e < t->width; e++) {
        double g = gradient[e * b->gradient.element];
        sum += g * v[e * t->v.element];
        dv[e] += weight * g;
    }
    sum = weight * (sum - delta) * slope * t->scale;
    for (int64_t d = 0; d < t->depth; d++) {
        dq[d] += sum * k[d * t->k.element];
        dk[d] += sum * q[d * t->q.element];
    }
}

static void run_f64(void *context, int worker, int64_t begin, int64_t end) {
    const struct backward *b = context;
    const struct attention *t = &b->t;
    (void)worker;
    for (int64_t job = begin; job < end; job++) {
        struct place at = begin_job(b, job);
        for (int64_t j = 0; j < at.p.keys; j++) {
            if (t->depth) memset(row_of(b, 1, key_row(&at, j), t->depth), 0, (size_t)t->depth * sizeof(double));
            if (t->width) memset(row_of(b, 2, key_row(&at, j), t->width), 0, (size_t)t->width * sizeof(double));
        }
        for (int64_t head = at.key_head * t->group; head < (at.key_head + 1) * t->group; head++)
            for (int64_t i = 0; find_block(&at, head, i); i++) {
                double *dq = row_of(b, 0, at.p.out, t->depth), delta = 0;
                const double *gradient = doubles(&b->gradient, at.gradient, 0), *y = doubles(&b->result, at.result, 0);
                for (int64_t d = 0; d < t->depth; d++) dq[d] = 0;
                for (int64_t e = 0; e < t->width; e++)
                    delta += gradient[e * b->gradient.element] * y[e * b->result.element];
                for (int64_t j = at.p.first; j < at.p.last; j++) add_pair(&at, j, delta, dq);
            }
    }
}

/* ---- the call ---- */

/* Lays out a worker's scratch space. Every part is a multiple of 64 bytes. */
static void lay_out(struct backward *b) {
    int64_t rows = b->t.job_rows, depth = b->depth, width = b->width, at = 0;
    struct room *room = &b->room;
    const struct {
        int64_t *to, n;
    } parts[] = {
        {&room->q_rows, rows * depth},     {&room->g_rows, rows * width},     {&room->q_columns, rows * depth},
        {&room->g_columns, rows * width},  {&room->k_columns, KEYS * depth},  {&room->v_columns, KEYS * width},
        {&room->k_terms, KEYS * depth},    {&room->p, rows * KEYS},           {&room->ds, rows * KEYS},
        {&room->weights, rows * KEYS},     {&room->line, depth + 2 * width},  {&room->dq, rows * depth},
        {&room->dk, b->most_keys * depth}, {&room->dv, b->most_keys * width}, {&room->end, 0},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].to = at;
        at += wick__round_up(parts[i].n, 16);
    }
}

static int64_t most_keys(const struct attention *t) {
    int64_t most = 0;
    if (!t->k_starts) return t->keys;
    for (int64_t s = 0; s < t->sequences; s++)
        most = wick__max(most, start_of(t->k_starts, s + 1) - start_of(t->k_starts, s));
    return most;
}

static struct backward describe_backward(const struct wick__call *call) {
    bool packed = call->op == WICK_OP_attention_packed_backward;
    struct backward b = {.t = describe(call, packed, 1, 6),
                         .gradient = operand_of(call->in[0], packed),
                         .result = operand_of(call->in[4], packed),
                         .log_sums = sums_of(call->in[5], packed),
                         .key_heads = call->in[2]->layout.shape[1]};
    for (int i = 0; i < 3; i++) b.out[i] = wick__data(call->out[i]);
    b.depth = wick__round_up(b.t.depth, GEMM_COLUMNS_MAX);
    b.width = wick__round_up(b.t.width, GEMM_COLUMNS_MAX);
    return b;
}

enum wick_status WICK__ISA(wick__cpu_attention_backward)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_attention_backward)(const struct wick__call *call) {
    struct backward b = describe_backward(call);
    bool wide = call->in[1]->dtype == WICK_F64;
    if (wick__count(call->out[0]) == 0 && wick__count(call->out[1]) == 0 && wick__count(call->out[2]) == 0)
        return WICK_OK;
    if (b.t.q_starts) {
        WICK__TRY(check_starts(call, 6, b.t.queries));
        WICK__TRY(check_starts(call, 7, b.t.keys));
    }
    b.t.job_rows = 1;
    if (b.t.queries > 0) share_out(&b.t, wide ? 1 : QUERY_ROWS);
    int64_t jobs = b.t.sequences * b.key_heads;
    if (wide) {
        wick__parallel(jobs, 1, run_f64, &b);
        return WICK_OK;
    }
    b.most_keys = most_keys(&b.t);
    lay_out(&b);
    int workers = (int)wick__max(1, wick__min(wick__workers(), jobs));
    size_t nbytes = (size_t)b.room.end * sizeof(float) * (size_t)workers;
    void *scratch;
    WICK__TRY(wick__pool_alloc(nbytes, &scratch));
    b.scratch = scratch;
    wick__parallel_with(workers, jobs, 1, run_f32, &b);
    wick__pool_free(scratch, nbytes);
    return WICK_OK;
}
