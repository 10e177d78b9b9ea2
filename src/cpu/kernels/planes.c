/* Images by 16 planes side by side, or more where channels are: see cpu/kernels/planes.h. */
#include "cpu/kernels/planes.h"

#include "core/checked.h"
#include "core/convert.h"
#include "cpu/kernels/transpose.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include <math.h>

/* MANY: channels that are taken at once where they lie side by side. SLAB: results of a plane that are made at once,
 * where rows are not longer. BOX: elements of a plane that may be turned for them. */
enum { PLANES = 16, MANY = WICK_ISA_LEVEL > 0 ? 32 : PLANES, SLAB = 1024, BOX = 8192, GRAIN = 16 * 1024 };

/* Elements first[d] .. first[d] + size[d] - 1 of each dim. */
struct box {
    int64_t first[3], size[3];
};

/* PLANES or MANY planes, or the `lanes` that are left. */
struct tile {
    const struct wick__planes *p;
    int64_t plane, width, lanes;
    struct box of_y, of_x;
    const float *x;      /* element first[] of the first plane */
    int64_t step[3];     /* of x, in floats */
    float *made;         /* [slab,width] */
    uint32_t *positions; /* the same, of the largest */
};

/* ---- vectors over the planes ---- */

static inline wick__vf load(const float *x, int64_t lanes) {
    return lanes >= WICK__VF ? wick__vf_load(x) : wick__vf_some(x, wick__max(lanes, 0), 0);
}

/* The larger of both, or x where it is NaN; where it is x, *position becomes `at`. */
#if WICK_ISA_LEVEL >= 2
typedef __m512i positions;
static inline positions positions_all(uint32_t at) { return _mm512_set1_epi32((int)at); }
static inline void positions_store(uint32_t *to, positions x) { _mm512_storeu_si512(to, x); }
static inline wick__vf larger(wick__vf most, wick__vf x, positions *position, uint32_t at) {
    __mmask16 here = _mm512_cmp_ps_mask(x, most, _CMP_GT_OQ) | _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    *position = _mm512_mask_mov_epi32(*position, here, _mm512_set1_epi32((int)at));
    return _mm512_mask_mov_ps(most, here, x);
}
#elif WICK_ISA_LEVEL >= 1
typedef __m256i positions;
static inline positions positions_all(uint32_t at) { return _mm256_set1_epi32((int)at); }
static inline void positions_store(uint32_t *to, positions x) { _mm256_storeu_si256((void *)to, x); }
static inline wick__vf larger(wick__vf most, wick__vf x, positions *position, uint32_t at) {
    __m256 here = _mm256_or_ps(_mm256_cmp_ps(x, most, _CMP_GT_OQ), _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    *position = _mm256_blendv_epi8(*position, _mm256_set1_epi32((int)at), _mm256_castps_si256(here));
    return _mm256_blendv_ps(most, x, here);
}
#else
typedef __m128i positions;
static inline positions positions_all(uint32_t at) { return _mm_set1_epi32((int)at); }
static inline void positions_store(uint32_t *to, positions x) { _mm_storeu_si128((void *)to, x); }
static inline wick__vf larger(wick__vf most, wick__vf x, positions *position, uint32_t at) {
    __m128 here = _mm_or_ps(_mm_cmpgt_ps(x, most), _mm_cmpunord_ps(x, x));
    __m128i mask = _mm_castps_si128(here);
    *position = _mm_or_si128(_mm_and_si128(mask, _mm_set1_epi32((int)at)), _mm_andnot_si128(mask, *position));
    return _mm_or_ps(_mm_and_ps(here, x), _mm_andnot_ps(here, most));
}
#endif

/* ---- one element of 16 planes ---- */

/* What an element takes: in each dim, readers begin .. end - 1. */
struct takes {
    const struct reader *begin[3], *end[3];
    int64_t at[3]; /* the element */
};

#define EACH_TAKEN(t, takes)                                                                                           \
    for (const struct reader *d = (takes)->begin[0]; d < (takes)->end[0]; d++)                                         \
        for (const struct reader *h = (takes)->begin[1]; h < (takes)->end[1]; h++)                                     \
            for (const struct reader *w = (takes)->begin[2]; w < (takes)->end[2]; w++)

static inline int64_t offset_of(const struct tile *t, const struct reader *d, const struct reader *h,
                                const struct reader *w) {
    return (d->at - t->of_x.first[0]) * t->step[0] + (h->at - t->of_x.first[1]) * t->step[1] +
           (w->at - t->of_x.first[2]) * t->step[2];
}

static double divisor_of(const struct wick__planes *p, const int64_t *at) {
    if (!p->divide[0]) return p->divisor;
    return p->divide[0][at[0]] * p->divide[1][at[1]] * p->divide[2][at[2]];
}

/* Whether 1 / x is exact. */
static bool is_power_of_two(double x) {
    int exponent;
    return frexp(x, &exponent) == 0.5;
}

/* Of sums of one element whose weight is 1. */
static inline __attribute__((always_inline)) void pick(const struct tile *t, const struct takes *takes, const int width,
                                                       int64_t lanes, float *y) {
    const float *x = t->x + offset_of(t, takes->begin[0], takes->begin[1], takes->begin[2]);
    for (int k = 0; k < width / WICK__VF; k++)
        wick__vf_store(y + k * WICK__VF, load(x + k * WICK__VF, lanes - k * WICK__VF));
}

/* The first term is a product alone: that of -0 and 1 stays -0. */
static inline __attribute__((always_inline)) void sum_narrow(const struct tile *t, const struct takes *takes,
                                                             const int width, int64_t lanes, float *y) {
    wick__vf sum[MANY / WICK__VF];
    bool first = true;
    for (int k = 0; k < width / WICK__VF; k++) sum[k] = wick__vf_all(0);
    EACH_TAKEN(t, takes) {
        const float *x = t->x + offset_of(t, d, h, w);
        wick__vf weight = wick__vf_all((float)(d->weight * h->weight * w->weight));
        for (int k = 0; k < width / WICK__VF; k++) {
            wick__vf v = load(x + k * WICK__VF, lanes - k * WICK__VF);
            if (first)
                sum[k] = v * weight;
            else
                sum[k] = wick__vf_fma(v, weight, sum[k]);
        }
        first = false;
    }
    for (int k = 0; k < width / WICK__VF; k++) wick__vf_store(y + k * WICK__VF, sum[k]);
}

/* Whether a sum is one element as it is. */
static inline bool is_one(const struct tile *t, const struct takes *takes) {
    double weight = 1;
    for (int d = 0; d < 3; d++) {
        if (takes->end[d] - takes->begin[d] != 1) return false;
        weight *= takes->begin[d]->weight;
    }
    return weight == 1 && !t->p->divide[0] && t->p->divisor == 1;
}

static inline __attribute__((always_inline)) void sum_wide(const struct tile *t, const struct takes *takes,
                                                           const int width, int64_t lanes, float *y) {
    double divisor = divisor_of(t->p, takes->at);
    bool exact = is_power_of_two(divisor);
    wick__vd sum[MANY / WICK__VD], by = wick__vd_all(exact ? 1 / divisor : divisor);
    for (int k = 0; k < width / WICK__VD; k++) sum[k] = wick__vd_all(0);
    EACH_TAKEN(t, takes) {
        const float *x = t->x + offset_of(t, d, h, w);
        wick__vd weight = wick__vd_all(d->weight * h->weight * w->weight);
        for (int k = 0; k < width / WICK__VF; k++) {
            wick__vf v = load(x + k * WICK__VF, lanes - k * WICK__VF);
            for (int half = 0; half < 2; half++)
                sum[2 * k + half] = wick__vd_fma(wick__vf_part(v, half), weight, sum[2 * k + half]);
        }
    }
    for (int k = 0; k < width / WICK__VD; k++) {
        if (exact)
            sum[k] *= by;
        else
            sum[k] /= by;
        wick__vd_to_f32(y + k * WICK__VD, sum[k]);
    }
}

static inline __attribute__((always_inline)) void
largest(const struct tile *t, const struct takes *takes, const int width, int64_t lanes, float *y, uint32_t *position) {
    const int64_t *from = t->p->from;
    wick__vf most[MANY / WICK__VF];
    positions places[MANY / WICK__VF];
    for (int k = 0; k < width / WICK__VF; k++) most[k] = wick__vf_all(-INFINITY), places[k] = positions_all(UINT32_MAX);
    EACH_TAKEN(t, takes) {
        const float *x = t->x + offset_of(t, d, h, w);
        uint32_t at = (uint32_t)((d->at * from[1] + h->at) * from[2] + w->at);
        for (int k = 0; k < width / WICK__VF; k++)
            most[k] = larger(most[k], load(x + k * WICK__VF, lanes - k * WICK__VF), &places[k], at);
    }
    for (int k = 0; k < width / WICK__VF; k++) {
        wick__vf_store(y + k * WICK__VF, most[k]);
        if (position) positions_store(position + k * WICK__VF, places[k]);
    }
}

/* ---- tiles ---- */

static inline __attribute__((always_inline)) void make_element(const struct tile *t, enum wick__planes_kind kind,
                                                               const struct takes *takes, const int width,
                                                               int64_t lanes, int64_t n) {
    float *to = t->made + n * width;
    switch (kind) {
    case WICK__PLANES_PICK: pick(t, takes, width, lanes, to); break;
    case WICK__PLANES_SUM: sum_narrow(t, takes, width, lanes, to); break;
    case WICK__PLANES_SUM_WIDE:
        if (is_one(t, takes))
            pick(t, takes, width, lanes, to);
        else
            sum_wide(t, takes, width, lanes, to);
        break;
    case WICK__PLANES_LARGEST:
        if (t->positions)
            largest(t, takes, width, lanes, to, t->positions + n * width);
        else
            largest(t, takes, width, lanes, to, NULL); /* without a trace of them */
        break;
    }
}

static inline void take(const struct tile *t, struct takes *takes, int d, int64_t at) {
    const struct readers *axis = &t->p->axis[d];
    takes->at[d] = at;
    takes->begin[d] = axis->reader + axis->start[at];
    takes->end[d] = axis->reader + axis->start[at + 1];
}

static inline __attribute__((always_inline)) void make_elements(const struct tile *t, enum wick__planes_kind kind,
                                                                const int width, int64_t lanes) {
    const struct box *y = &t->of_y;
    struct takes takes;
    int64_t n = 0;
    for (int64_t d = 0; d < y->size[0]; d++) {
        take(t, &takes, 0, y->first[0] + d);
        for (int64_t h = 0; h < y->size[1]; h++) {
            take(t, &takes, 1, y->first[1] + h);
            for (int64_t w = 0; w < y->size[2]; w++) {
                take(t, &takes, 2, y->first[2] + w);
                make_element(t, kind, &takes, width, lanes, n++);
            }
        }
    }
}

#define MAKE(kind)                                                                                                     \
    case kind:                                                                                                         \
        if (MANY > PLANES && t->lanes == MANY)                                                                         \
            make_elements(t, kind, MANY, MANY);                                                                        \
        else if (MANY > PLANES && t->width == MANY)                                                                    \
            make_elements(t, kind, MANY, t->lanes);                                                                    \
        else if (t->lanes == PLANES)                                                                                   \
            make_elements(t, kind, PLANES, PLANES);                                                                    \
        else                                                                                                           \
            make_elements(t, kind, PLANES, t->lanes);                                                                  \
        break;
static void make_tile(const struct tile *t) {
    switch (t->p->kind) {
        MAKE(WICK__PLANES_PICK)
        MAKE(WICK__PLANES_SUM)
        MAKE(WICK__PLANES_SUM_WIDE)
        MAKE(WICK__PLANES_LARGEST)
    }
}

/* Room of a worker, in floats. */
struct room {
    int64_t box, made, positions, rows, all;
};

static int64_t plane_size(const int64_t *size) { return size[0] * size[1] * size[2]; }

static struct room room_of(const struct wick__planes *p) {
    int64_t width = p->channels_last && p->channels > PLANES ? MANY : PLANES;
    int64_t slab = width * p->deep * p->high * p->to[2], box = PLANES * p->box;
    struct room r = {.box = p->channels_last ? 0 : box,
                     .made = slab,
                     .positions = p->largest ? slab : 0,
                     .rows = p->dtype == WICK_F32 ? 0 : wick__max(slab, box)};
    r.all = r.box + r.made + r.positions + r.rows;
    return r;
}

/* The elements of x that a slab of y takes. */
static struct box taken(const struct wick__planes *p, const struct box *y) {
    struct box x;
    for (int d = 0; d < 3; d++) {
        const struct readers *axis = &p->axis[d];
        int64_t from = axis->start[y->first[d]], to = axis->start[y->first[d] + y->size[d]], low = p->from[d], high = 0;
        for (int64_t k = from; k < to; k++) {
            low = wick__min(low, axis->reader[k].at);
            high = wick__max(high, axis->reader[k].at + 1);
        }
        if (d == 2) low = 0, high = p->from[2];
        x.first[d] = low < high ? low : 0;
        x.size[d] = low < high ? high - low : 0;
    }
    return x;
}

static struct box slab_of(const struct wick__planes *p, int64_t slab) {
    int64_t across = (p->to[1] + p->high - 1) / p->high, d = slab / across * p->deep, h = slab % across * p->high;
    return (struct box){{d, h, 0}, {wick__min(p->deep, p->to[0] - d), wick__min(p->high, p->to[1] - h), p->to[2]}};
}

static int64_t slabs_of(const struct wick__planes *p) {
    return (p->to[1] + p->high - 1) / p->high * ((p->to[0] + p->deep - 1) / p->deep);
}

/* Turns a run of every plane of the tile, n elements from number `at` of the plane on. */
static void turn_run(const struct tile *t, int64_t at, int64_t n, float *rows, float *to) {
    const struct wick__planes *p = t->p;
    int64_t size = plane_size(p->from), first = t->plane * size + at, step = size;
    const void *from = p->x + (size_t)first * wick__size(p->dtype);
    if (p->dtype != WICK_F32) {
        for (int64_t l = 0; l < t->lanes; l++)
            wick__row_to_f32(p->dtype, p->x + (size_t)(first + l * size) * wick__size(p->dtype), 1, rows + l * n, n);
        from = rows;
        step = n;
    }
    WICK__ISA(wick__turn)(sizeof(float), from, step, (const int64_t[2]){n, t->lanes}, to, PLANES);
}

/* Brings what the slab takes into the room, or finds it where it lies. */
static void load_tile(struct tile *t, float *box, float *rows) {
    const struct wick__planes *p = t->p;
    const int64_t *from = p->from;
    if (p->channels_last) {
        int64_t image = t->plane / p->channels, channel = t->plane % p->channels;
        t->of_x = (struct box){{0}, {0}};
        t->x = (const float *)(const void *)p->x + image * plane_size(from) * p->channels + channel;
        t->step[2] = p->channels;
        t->step[1] = from[2] * t->step[2];
        t->step[0] = from[1] * t->step[1];
        return;
    }
    t->of_x = taken(p, &t->of_y);
    t->x = box;
    t->step[2] = PLANES;
    t->step[1] = from[2] * PLANES;
    t->step[0] = t->of_x.size[1] * t->step[1];
    for (int64_t d = 0; d < t->of_x.size[0]; d++) {
        int64_t at = ((t->of_x.first[0] + d) * from[1] + t->of_x.first[1]) * from[2], n = t->of_x.size[1] * from[2];
        turn_run(t, at, n, rows, box + d * t->step[0]);
    }
}

static void store_tile(const struct tile *t, float *rows) {
    const struct wick__planes *p = t->p;
    int64_t size = plane_size(p->to), n = plane_size(t->of_y.size);
    int64_t at = t->plane * size + (t->of_y.first[0] * p->to[1] + t->of_y.first[1]) * p->to[2];
    const int64_t turned[2] = {t->lanes, n};
    if (p->largest) WICK__ISA(wick__turn)(sizeof *p->largest, t->positions, t->width, turned, p->largest + at, size);
    if (p->dtype == WICK_F32) {
        WICK__ISA(wick__turn)(sizeof(float), t->made, t->width, turned, (float *)(void *)p->y + at, size);
        return;
    }
    WICK__ISA(wick__turn)(sizeof(float), t->made, t->width, turned, rows, n);
    for (int64_t l = 0; l < t->lanes; l++)
        wick__row_from_f32(p->dtype, rows + l * n, p->y + (size_t)(at + l * size) * wick__size(p->dtype), n);
}

struct job {
    const struct wick__planes *p;
    struct room room;
    float *memory;
    int64_t blocks; /* of planes, in all or of an image */
    int64_t width;  /* planes of a block, the last one apart */
    int64_t slabs;
};

static void run_tiles(void *context, int worker, int64_t begin, int64_t end) {
    const struct job *job = context;
    const struct wick__planes *p = job->p;
    float *box = job->memory + worker * job->room.all, *made = box + job->room.box;
    float *rows = made + job->room.made + job->room.positions;
    for (int64_t i = begin; i < end; i++) {
        int64_t block = i / job->slabs, image = p->channels_last ? block / job->blocks : 0;
        int64_t planes = p->channels_last ? p->channels : p->images * p->channels;
        int64_t first = (block - image * job->blocks) * job->width, left = planes - first;
        int64_t width = left <= PLANES ? PLANES : job->width;
        struct tile tile = {.p = p,
                            .plane = image * p->channels + first,
                            .width = width,
                            .lanes = wick__min(width, left),
                            .of_y = slab_of(p, i % job->slabs),
                            .made = made,
                            .positions = p->largest ? (uint32_t *)(void *)(made + job->room.made) : NULL};
        load_tile(&tile, box, rows);
        make_tile(&tile);
        store_tile(&tile, rows);
    }
}

/* Cuts y into slabs; whether they fit. */
static bool fit(struct wick__planes *p) {
    p->high = wick__min(p->to[1], wick__max(1, SLAB / p->to[2]));
    p->deep = p->high < p->to[1] ? 1 : wick__min(p->to[0], wick__max(1, SLAB / (p->to[1] * p->to[2])));
    for (;;) {
        p->box = 0;
        for (int64_t i = 0; i < slabs_of(p) && !p->channels_last; i++) {
            struct box y = slab_of(p, i), x = taken(p, &y);
            p->box = wick__max(p->box, plane_size(x.size));
        }
        if (p->box <= BOX || (p->high == 1 && p->deep == 1)) break;
        if (p->deep > 1)
            p->deep /= 2;
        else
            p->high /= 2;
    }
    return p->channels_last || (p->box <= BOX && p->images * p->channels >= PLANES / 2);
}

static enum wick_status run(const struct wick__planes *p) {
    struct job job = {.p = p, .room = room_of(p), .slabs = slabs_of(p)};
    int workers = wick__workers();
    int64_t planes = p->channels_last ? p->channels : p->images * p->channels, work = 0, each, bytes;
    if (!wick__mul(job.room.all, workers, &each) || !wick__mul(each, (int64_t)sizeof(float), &bytes))
        return wick__fail(WICK_OVERFLOW, "room for planes does not fit in 64 bits");
    job.width = p->channels_last && planes > PLANES ? MANY : PLANES;
    job.blocks = (planes + job.width - 1) / job.width;
    job.memory = wick__scratch((size_t)bytes);
    if (!job.memory) return WICK_MEMORY;
    /* Lanes of turned elements that no plane fills. */
    if (!p->channels_last && planes % PLANES != 0) memset(job.memory, 0, (size_t)bytes);
    work = job.room.made + job.room.box;
    wick__parallel_with(workers, job.blocks * (p->channels_last ? p->images : 1) * job.slabs,
                        wick__max(1, GRAIN / wick__max(1, work)), run_tiles, &job);
    wick__scratch_free(job.memory, (size_t)bytes);
    return WICK_OK;
}

bool WICK__ISA(wick__planes_try)(struct wick__planes *p, list_readers *list, const void *const context[3],
                                 enum wick_status *status) {
    bool made = true, fits;
    for (int d = 0; d < 3 && made; d++) made = readers_make(&p->axis[d], p->to[d], p->from[d], list, context[d]);
    fits = made && fit(p);
    *status = !made ? WICK_MEMORY : fits ? run(p) : WICK_OK;
    for (int d = 0; d < 3; d++) readers_free(&p->axis[d]);
    return fits || !made;
}
