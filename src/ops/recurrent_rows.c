/* Recurrent layers: rows step by step, and states that lose and gain rows. */
#include "ops/recurrent.h"

#include "core/memory.h"

#include <string.h>

/* ---- picking rows ---- */

/* Ids, on the device. */
static struct wick_tensor *upload(const struct wick__recurrent *r, int64_t n, const int64_t *ids) {
    struct wick_tensor *x = wick__tensor_new("recurrent", r->device, WICK_I64, 1, &n);
    if (!x || n == 0 || r->device->backend->upload(r->device, wick__data(x), ids, (size_t)n * sizeof *ids) == WICK_OK)
        return wick__scope_add(x);
    wick_release(x);
    return NULL;
}

/* n positions of dim `dim` of x, by ids. */
static struct wick_tensor *pick(const struct wick__recurrent *r, const struct wick_tensor *x, int dim, int64_t n,
                                const int64_t *ids) {
    struct wick_tensor *on_device = x ? upload(r, n, ids) : NULL;
    struct wick_tensor *y = on_device ? wick_index_select(x, dim, on_device) : NULL;
    wick__scope_drop(on_device);
    return y;
}

/* Where step t of sequence b stands in [T,N], or [N,T]. */
static int64_t given_row(const struct wick__recurrent *r, int64_t t, int64_t b) {
    return r->options->batch_first ? b * r->total + t : t * r->batch + b;
}

struct wick_tensor *wick__recurrent_pack(const struct wick__recurrent *r, const struct wick_tensor *x) {
    const int64_t columns = x->layout.shape[2], all = r->total * r->batch;
    if (!r->order)
        return wick_reshape(r->options->batch_first ? wick_transpose(x, 0, 1) : x, 2, (int64_t[]){all, columns});
    size_t nbytes = (size_t)r->rows * sizeof(int64_t) + 1;
    int64_t *ids = wick__alloc(nbytes);
    if (!ids) return NULL;
    for (int64_t t = 0; t < r->steps; t++)
        for (int64_t k = 0; k < r->live[t]; k++) ids[r->first[t] + k] = given_row(r, t, r->order[k]);
    struct wick_tensor *y = pick(r, wick_reshape(x, 2, (int64_t[]){all, columns}), 0, r->rows, ids);
    wick__free(ids, nbytes);
    return y;
}

struct wick_tensor *wick__recurrent_unpack(const struct wick__recurrent *r, const struct wick_tensor *rows) {
    if (!rows) return NULL;
    const bool turned = r->options->batch_first;
    const int64_t columns = rows->layout.shape[1], all = r->total * r->batch;
    const int64_t by_step[3] = {r->total, r->batch, columns}, by_sequence[3] = {r->batch, r->total, columns};
    if (!r->order) {
        struct wick_tensor *y = wick_reshape(rows, 3, by_step);
        return turned ? wick_contiguous(wick_transpose(y, 0, 1)) : y;
    }
    size_t nbytes = (size_t)all * sizeof(int64_t) + 1;
    int64_t *ids = wick__alloc(nbytes);
    if (!ids) return NULL;
    for (int64_t i = 0; i < all; i++) ids[i] = INT64_MAX; /* which gives 0 */
    for (int64_t t = 0; t < r->steps; t++)
        for (int64_t k = 0; k < r->live[t]; k++) ids[given_row(r, t, r->order[k])] = r->first[t] + k;
    struct wick_tensor *y = wick_reshape(pick(r, rows, 0, all, ids), 3, turned ? by_sequence : by_step);
    wick__free(ids, nbytes);
    return y;
}

struct wick_tensor *wick__recurrent_sort(const struct wick__recurrent *r, const struct wick_tensor *states) {
    if (!states) return NULL;
    return r->order ? pick(r, states, 1, r->batch, r->order) : wick_contiguous(states);
}

struct wick_tensor *wick__recurrent_unsort(const struct wick__recurrent *r, struct wick_tensor **states) {
    const int64_t n = (int64_t)r->layers * r->directions;
    for (int64_t i = 0; i < n; i++)
        if (!states[i]) return NULL;
    struct wick_tensor *y = wick_stack((int)n, states, 0);
    return r->order ? pick(r, y, 1, r->batch, r->place) : y;
}

struct wick_tensor *wick__recurrent_start(const struct wick__recurrent *r, const struct wick_tensor *states, int ld,
                                          enum wick_dtype dtype, int64_t columns) {
    if (states) return wick_select(states, 0, ld);
    return wick_zeros(r->device, dtype, 2, (int64_t[]){r->batch, columns});
}

/* Row k of step t comes from this row of [start; y]. */
static int64_t row_before(const struct wick__recurrent *r, int64_t t, int64_t k, int d) {
    int64_t before = d == 0 ? t - 1 : t + 1;
    bool is_first = d == 0 ? t == 0 : before == r->steps || k >= r->live[before];
    return is_first ? k : r->batch + r->first[before] + k;
}

struct wick_tensor *wick__recurrent_before(const struct wick__recurrent *r, struct wick_tensor *start,
                                           struct wick_tensor *y, int d) {
    if (!start || !y || r->rows == 0) return y;
    if (!r->order) {
        struct wick_tensor *rest = wick_narrow(y, 0, d == 0 ? 0 : r->batch, r->rows - r->batch);
        struct wick_tensor *two[2] = {d == 0 ? start : rest, d == 0 ? rest : start};
        return rest ? wick_cat(2, two, 0) : NULL;
    }
    size_t nbytes = (size_t)r->rows * sizeof(int64_t);
    int64_t *ids = wick__alloc(nbytes);
    if (!ids) return NULL;
    for (int64_t t = 0; t < r->steps; t++)
        for (int64_t k = 0; k < r->live[t]; k++) ids[r->first[t] + k] = row_before(r, t, k, d);
    struct wick_tensor *both = wick_cat(2, (struct wick_tensor *[]){start, y}, 0);
    struct wick_tensor *result = pick(r, both, 0, r->rows, ids);
    wick__scope_drop(both);
    wick__free(ids, nbytes);
    return result;
}

struct wick_tensor *wick__recurrent_join(const struct wick__recurrent *r, int64_t n, struct wick_tensor **pieces,
                                         enum wick_dtype dtype, int64_t columns) {
    if (n == 0) return wick_zeros(r->device, dtype, 2, (int64_t[]){0, columns});
    for (int64_t i = 0; i < n; i++)
        if (!pieces[i]) return NULL;
    return wick_cat((int)n, pieces, 0);
}

struct wick_tensor *wick__recurrent_dropout(const struct wick__recurrent *r, struct wick_tensor *x, int layer) {
    if (!x || r->options->dropout == 0) return x;
    return wick__dropout_at(x, r->options->dropout, r->options->seed, (uint64_t)layer << 40);
}

/* ---- states ---- */

struct wick_tensor **wick__tensors_new(int64_t n) {
    return wick__calloc((size_t)n + 1, sizeof(struct wick_tensor *));
}

void wick__tensors_free(struct wick_tensor **tensors, int64_t n) {
    if (tensors) wick__free(tensors, ((size_t)n + 1) * sizeof *tensors);
}

bool wick__walk_begin(const struct wick__recurrent *r, struct wick__walk *walk, struct wick_tensor *start,
                      bool shrinks) {
    *walk = (struct wick__walk){.start = start, .rows = shrinks ? r->batch : 0};
    walk->now = shrinks ? start : wick_narrow(start, 0, 0, 0);
    walk->dropped = walk->now ? wick__tensors_new(r->steps + 1) : NULL;
    return walk->dropped != NULL;
}

struct wick_tensor *wick__walk_to(struct wick__walk *walk, int64_t rows) {
    if (rows < walk->rows) {
        walk->dropped[walk->n++] = wick_narrow(walk->now, 0, rows, walk->rows - rows);
        walk->now = wick_narrow(walk->now, 0, 0, rows);
    } else if (rows > walk->rows) {
        struct wick_tensor *more = wick_narrow(walk->start, 0, walk->rows, rows - walk->rows);
        walk->now = walk->rows == 0 ? more : wick_cat(2, (struct wick_tensor *[]){walk->now, more}, 0);
    }
    walk->rows = rows;
    return walk->now;
}

struct wick_tensor *wick__walk_end(const struct wick__recurrent *r, struct wick__walk *walk) {
    if (walk->n == 0) return wick__walk_to(walk, r->batch);
    wick__walk_to(walk, 0);
    for (int64_t i = 0; i < walk->n / 2; i++) {
        struct wick_tensor *other = walk->dropped[walk->n - 1 - i];
        walk->dropped[walk->n - 1 - i] = walk->dropped[i];
        walk->dropped[i] = other;
    }
    return wick__recurrent_join(r, walk->n, walk->dropped, WICK_F32, 0);
}

void wick__walk_free(const struct wick__recurrent *r, struct wick__walk *walk) {
    wick__tensors_free(walk->dropped, r->steps + 1);
    walk->dropped = NULL;
}
