/* Gradients that go where indices point: see cpu/kernels/pointed.h. A slab of y, whole rows of a plane or whole planes
 * of a volume, takes from the rows of windows that reach it. */
#include "cpu/kernels/pointed.h"

#include "core/checked.h"
#include "core/convert.h"
#include "core/memory.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include <string.h>

/* GRAIN, SLAB: elements of a task, and of a slab unless rows are longer. FEW: windows that cover an element may be
 * added in f32. */
enum { GRAIN = 16 * 1024, SLAB = 32 * 1024, FEW = 8 };

/* How an index is tried: `rel`, its distance from the window's first element, has an entry of how far that is along
 * each dim, a field each; fields of limits say how far the window reaches, and a guard bit above each stays set where
 * limit - distance does not borrow. */
enum { FIELD = 21 };
#define FIELDS(d, h, w) ((uint64_t)(d) << 2 * FIELD | (uint64_t)(h) << FIELD | (uint64_t)(w))
#define GUARDS FIELDS(1 << (FIELD - 1), 1 << (FIELD - 1), 1 << (FIELD - 1))

struct job {
    const struct wick__pointed *p;
    size_t size;               /* of an element */
    bool wide;                 /* adds in f64, else in f32 */
    int64_t deep, high, slabs; /* of a slab; in a plane */
    int64_t room;              /* bytes of a worker */
    char *memory;
    uint64_t *table; /* [span] */
    uint64_t *limit; /* of each window of the last dim */
    uint32_t span;
};

/* Elements of y that are made at once: `n` from number `first` of the plane on. */
struct slab {
    int64_t plane, d, deep, h, high, first, n;
};

static struct wick__reach cut(struct wick__reach reach, int64_t first, int64_t n) {
    return (struct wick__reach){wick__max(reach.begin, first), wick__min(reach.end, first + n)};
}

/* A row of windows: where its first elements lie, and how far it reaches in the dims above. */
struct row {
    uint32_t start; /* of d, h */
    uint64_t limit;
    uint32_t first; /* of the slab */
};

#define ADD_ROW(T, name)                                                                                               \
    static void add_row_##name(const struct job *job, const struct row *row, const T *x, const uint32_t *index,        \
                               T *y) {                                                                                 \
        const struct wick__reach *across = job->p->reach[2];                                                           \
        const uint64_t *table = job->table, *limit = job->limit, above = row->limit;                                   \
        uint32_t start = row->start, first = row->first, span = job->span;                                             \
        int64_t n = job->p->from[2];                                                                                   \
        for (int64_t o = 0; o < n; o++) {                                                                              \
            uint32_t rel = index[o] - start - (uint32_t)across[o].begin;                                               \
            if (rel >= span || ((above + limit[o] - table[rel]) & GUARDS) != GUARDS) continue;                         \
            y[index[o] - first] += x[o];                                                                               \
        }                                                                                                              \
    }
ADD_ROW(float, f32)
ADD_ROW(double, f64)

static void add_row(const struct job *job, int64_t number, const struct row *row, void *y, void *values) {
    const struct wick__pointed *p = job->p;
    int64_t n = p->from[2];
    const void *x = p->x + (size_t)(number * n) * job->size;
    const uint32_t *index = p->indices + number * n;
    if (job->wide) {
        if (p->dtype != WICK_F64) wick__row_to_f64(p->dtype, x, 1, values, n);
        add_row_f64(job, row, p->dtype == WICK_F64 ? x : values, index, y);
        return;
    }
    if (p->dtype != WICK_F32) wick__row_to_f32(p->dtype, x, 1, values, n);
    add_row_f32(job, row, p->dtype == WICK_F32 ? x : values, index, y);
}

/* The windows of a dim that reach elements first .. first + n - 1. Both ends of windows grow with their number. */
static struct wick__reach reaching(const struct wick__reach *reach, int64_t count, int64_t first, int64_t n) {
    struct wick__reach found = {0, count};
    while (found.begin < count && reach[found.begin].end <= first) found.begin++;
    while (found.end > found.begin && reach[found.end - 1].begin >= first + n) found.end--;
    return found;
}

static void make_slab(const struct job *job, const struct slab *slab, char *room) {
    const struct wick__pointed *p = job->p;
    size_t added = job->wide ? sizeof(double) : sizeof(float);
    char *sums = room + (size_t)p->from[2] * sizeof(double);
    char *to = p->y + (size_t)(slab->plane * p->to[0] * p->to[1] * p->to[2] + slab->first) * job->size;
    bool here = job->size == added;
    void *y = here ? to : sums;
    memset(y, 0, (size_t)slab->n * added);
    struct wick__reach deep = reaching(p->reach[0], p->from[0], slab->d, slab->deep);
    struct wick__reach high = reaching(p->reach[1], p->from[1], slab->h, slab->high);
    for (int64_t d = deep.begin; d < deep.end; d++)
        for (int64_t h = high.begin; h < high.end; h++) {
            struct wick__reach down = cut(p->reach[0][d], slab->d, slab->deep);
            struct wick__reach along = cut(p->reach[1][h], slab->h, slab->high);
            if (down.end <= down.begin || along.end <= along.begin) continue;
            struct row row = {.start = (uint32_t)((down.begin * p->to[1] + along.begin) * p->to[2]),
                              .limit = FIELDS(down.end - down.begin - 1, along.end - along.begin - 1, 0),
                              .first = (uint32_t)slab->first};
            add_row(job, (slab->plane * p->from[0] + d) * p->from[1] + h, &row, y, room);
        }
    if (!here && job->wide) wick__row_from_f64(p->dtype, y, to, slab->n);
    if (!here && !job->wide) wick__row_from_f32(p->dtype, y, to, slab->n);
}

static void make_slabs(void *context, int worker, int64_t begin, int64_t end) {
    const struct job *job = context;
    const int64_t *to = job->p->to;
    int64_t across = (to[1] + job->high - 1) / job->high;
    for (int64_t i = begin; i < end; i++) {
        int64_t number = i % job->slabs;
        struct slab slab = {
            .plane = i / job->slabs, .d = number / across * job->deep, .h = number % across * job->high};
        slab.deep = wick__min(job->deep, to[0] - slab.d);
        slab.high = wick__min(job->high, to[1] - slab.h);
        slab.first = (slab.d * to[1] + slab.h) * to[2];
        slab.n = slab.deep * slab.high * to[2];
        make_slab(job, &slab, job->memory + worker * job->room);
    }
}

/* The most elements that a window of the dim covers. */
static int64_t most_of(const struct wick__pointed *p, int d) {
    int64_t most = 1;
    for (int64_t o = 0; o < p->from[d]; o++) most = wick__max(most, p->reach[d][o].end - p->reach[d][o].begin);
    return most;
}

/* The most windows that cover an element of the dim. */
static int64_t windows_of(const struct wick__pointed *p, int d) {
    int64_t most = 1;
    for (int64_t o = 0, first = 0; o < p->from[d]; o++) {
        while (p->reach[d][first].end <= p->reach[d][o].begin && first < o) first++;
        most = wick__max(most, o - first + 1);
    }
    return most;
}

/* Makes the table and the limits of the last dim. */
static void make_table(const struct job *job) {
    const struct wick__pointed *p = job->p;
    int64_t width = p->to[2], height = p->to[1];
    for (int64_t rel = 0; rel < job->span; rel++)
        job->table[rel] = FIELDS(rel / width / height, rel / width % height, rel % width);
    for (int64_t o = 0; o < p->from[2]; o++)
        job->limit[o] = GUARDS + (uint64_t)(p->reach[2][o].end - p->reach[2][o].begin - 1);
}

enum wick_status WICK__ISA(wick__pointed_run)(const struct wick__pointed *p) {
    const int64_t *to = p->to;
    struct job job = {.p = p, .size = wick__size(p->dtype)};
    int workers = wick__workers();
    int64_t span = ((most_of(p, 0) - 1) * to[1] + most_of(p, 1) - 1) * to[2] + most_of(p, 2);
    job.span = (uint32_t)span;
    job.high = wick__min(to[1], wick__max(1, SLAB / to[2]));
    job.deep = job.high < to[1] ? 1 : wick__min(to[0], wick__max(1, SLAB / (to[1] * to[2])));
    job.slabs = (to[1] + job.high - 1) / job.high * ((to[0] + job.deep - 1) / job.deep);
    int64_t slab = job.deep * job.high * to[2], all;
    job.wide = p->dtype == WICK_F64 || windows_of(p, 0) * windows_of(p, 1) * windows_of(p, 2) > FEW;
    job.room = ((p->from[2] + slab) * (int64_t)sizeof(double) + 63) / 64 * 64;
    size_t tables = sizeof *job.table * (size_t)(span + p->from[2]);
    if (!wick__mul(job.room, workers, &all) || !wick__add(all, (int64_t)tables, &all))
        return wick__fail(WICK_OVERFLOW, "room does not fit in 64 bits");
    job.table = wick__scratch((size_t)all);
    if (!job.table) return WICK_MEMORY;
    job.limit = job.table + span;
    job.memory = (char *)(job.limit + p->from[2]);
    make_table(&job);
    wick__parallel_with(workers, p->planes * job.slabs, wick__max(1, GRAIN / slab), make_slabs, &job);
    wick__scratch_free(job.table, (size_t)all);
    return WICK_OK;
}
