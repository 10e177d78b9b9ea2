/* Recurrent layers with known results: operands, what comes of them in f64 by the definition (recurrent_known.c), and
 * the comparison. */
#include "gpu/routes/recurrent.h"

#include "core/convert.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

enum { SEQUENCES = 17, WEIGHTS = 20, OPERANDS = 2 * WEIGHTS + 9 };

/* Small numbers; inputs that leave gates open or shut; one sequence of NaN; results that are subnormal, in gradients
 * because those of y are; a c that grows, takes up what it would lose in fewer bits, and shrinks. */
enum values { PLAIN, LARGE, NAN_BESIDE, SUBNORMAL, LONG };

static const struct trial {
    enum values values;
    int layers, directions;
    bool biased, batch_first, starts, ragged, projects;
    int64_t steps, batch, inputs, hidden;
} trials[] = {
    {PLAIN, 1, 1, true, false, true, false, false, 5, 3, 7, 9},
    {PLAIN, 1, 1, true, true, true, false, false, 3, 17, 36, 40},
    {PLAIN, 2, 2, false, false, false, false, false, 4, 5, 6, 10},
    {PLAIN, 2, 2, true, false, true, true, false, 6, 5, 6, 10},
    {PLAIN, 1, 1, true, true, false, true, false, 6, 5, 8, 16},
    {PLAIN, 1, 2, true, false, true, false, true, 4, 3, 8, 12},
    {LARGE, 1, 1, true, false, true, false, false, 3, 4, 16, 32},
    {NAN_BESIDE, 1, 2, true, false, true, false, false, 3, 4, 8, 16},
    {SUBNORMAL, 1, 1, false, false, false, false, false, 2, 2, 1, 8},
    {LONG, 1, 1, true, false, false, false, false, 96, 2, 1, 8},
};
static const int64_t lengths[] = {4, 1, 6, 3, 2};
enum { UP = 24, ALONG = 48 }; /* steps in which c grows, and takes up little */

/* An operand as it lies in memory, on the host and there, and its numbers. */
struct place {
    int64_t count;
    size_t at, nbytes;
    double *numbers;
};

struct run {
    struct wick__dnn_recurrent l;
    enum values values;
    struct place places[OPERANDS]; /* the weights, and what is enumerated below */
    int n_weights, n;              /* n: of all */
    const void *weights[WEIGHTS];
    void *slopes[WEIGHTS];
    const double *known_weights[WEIGHTS];
    double *known_slopes[WEIGHTS];
    bool narrow;
    size_t nbytes;
    char *host;
    double most; /* of the expected */
};

/* Behind the weights: x, h, c; y, last_h, last_c, or their gradients, which are operands then; and of a gradient its
 * results, those of x, h, c and the weights. */
enum { X, H, C, Y, LAST_H, LAST_C, OF_X, OF_H, OF_C, OF_WEIGHTS };
static struct place *place_of(struct run *r, int which) { return &r->places[r->n_weights + which]; }
static int first_result(const struct run *r) { return r->l.backward ? OF_X : Y; }

static double sentinel(void) { return -5; }

static struct wick__dnn_recurrent describe(const struct trial *t, enum wick_recurrent_mode mode,
                                           const struct wick__recurrent_kind *kind) {
    struct wick__dnn_recurrent l = {.mode = mode,
                                    .dtype = kind->dtype,
                                    .backward = kind->backward,
                                    .layers = t->layers,
                                    .directions = t->directions,
                                    .biased = t->biased,
                                    .batch_first = t->batch_first,
                                    .steps = t->steps,
                                    .batch = t->batch,
                                    .inputs = t->inputs,
                                    .hidden = t->hidden,
                                    .state = t->projects ? t->hidden / 2 : t->hidden,
                                    .lengths = t->ragged ? lengths : NULL};
    return l;
}

/* ---- memory ---- */

/* Its last element is a sentinel. */
static void add(struct run *r, int64_t count) {
    struct place *p = &r->places[r->n++];
    p->count = count;
    p->nbytes = ((size_t)(count + 1) * wick__size(r->l.dtype) + 255) / 256 * 256;
    p->at = r->nbytes;
    r->nbytes += p->nbytes;
}

static void lay_out(struct run *r, bool starts) {
    const struct wick__dnn_recurrent *l = &r->l;
    const int64_t ld = l->layers * l->directions, all = l->steps * l->batch, lstm = l->mode == WICK_LSTM;
    const int64_t h = ld * l->batch * l->state, c = lstm && !r->narrow ? ld * l->batch * l->hidden : 0;
    int64_t rows, columns;
    r->n_weights = (int)ld * wick__recurrent_per(l);
    for (int i = 0; i < r->n_weights; i++) {
        wick__recurrent_weight_size(l, i, &rows, &columns);
        add(r, rows * columns);
    }
    add(r, all * l->inputs);
    add(r, starts ? h : 0);
    add(r, starts ? c : 0);
    add(r, all * l->directions * l->state);
    add(r, l->backward && !starts ? 0 : h);
    add(r, l->backward && !starts ? 0 : c);
    if (!l->backward) return;
    add(r, all * l->inputs);
    add(r, h);
    add(r, c);
    for (int i = 0; i < r->n_weights; i++) add(r, r->places[i].count);
}

/* ---- operands ---- */

/* From -1 to 1, of 31 values. */
static double small(int64_t i, int operand) { return (double)((i * 29 + i / 5 + 11 * operand) % 31 - 15) / 15; }

/* Element i of x: of sequences side by side, each its own. */
static double input_value(const struct run *r, int64_t i) {
    const struct wick__dnn_recurrent *l = &r->l;
    const int64_t line = i / l->inputs, b = l->batch_first ? line / l->steps : line % l->batch;
    const int64_t t = l->batch_first ? line % l->steps : line / l->batch;
    if (l->lengths && t >= l->lengths[b]) return NAN; /* has no effect */
    if (r->values == NAN_BESIDE && b == 1) return NAN;
    if (r->values == LONG) return t < UP ? 1 : t < UP + ALONG ? 0x1p-7 : -1;
    if (r->values == LARGE) return 12 * small(i, 0);
    return small(i, 0);
}

/* Of a c that grows the gates are open, and its inputs are x's; a bias opens them. */
static double long_value(const struct run *r, int which, int64_t i) {
    const int64_t gate = i / r->l.hidden;
    if (r->l.mode != WICK_LSTM) return 0.25 * small(i, which);
    if (which == 0) return gate == 2 ? 1 + 0.0625 * (double)(i % r->l.hidden) : 0;
    return which == 2 && gate != 2 ? 20 : 0;
}

static double least(const struct run *r) {
    return r->l.dtype == WICK_F16    ? 0x1p-24
           : r->l.dtype == WICK_BF16 ? 0x1p-133
           : r->l.dtype == WICK_F32  ? 0x1p-149
                                     : 0x1p-1074;
}

/* The gradient of a ReLU jumps at 0, where rounding decides: a bias of 3 outweighs its other terms, which keep away. */
static bool jumps(const struct run *r) { return r->l.backward && r->l.mode == WICK_RNN_RELU; }

/* Element i of a weight, of `columns`. */
static double weight_value(const struct run *r, int weight, int64_t i, int64_t columns) {
    const int which = weight % wick__recurrent_per(&r->l);
    if (r->values == LONG) return long_value(r, which, i);
    if (jumps(r)) return which == 2 ? (i % 2 ? 3 : -3) : 0.375 * small(i, weight) / sqrt((double)columns);
    if (r->values == SUBNORMAL && !r->l.backward) return which == 0 ? (double)(i % 7 + 1) * 64 * least(r) : 0;
    if (r->values == LARGE && which == 0) return small(i, weight);
    return 1.5 * small(i, weight) / sqrt((double)columns);
}

static double value_of(const struct run *r, int operand, int64_t i) {
    int64_t rows, columns;
    if (operand == r->n_weights + X) return input_value(r, i);
    if (operand == r->n_weights + Y && r->values == SUBNORMAL) return (double)(i % 7 + 1) * 64 * least(r);
    if (operand > r->n_weights) return small(i, operand);
    wick__recurrent_weight_size(&r->l, operand, &rows, &columns);
    return weight_value(r, operand, i, columns == 1 ? 4 : columns);
}

/* Fills the memory, and takes what is read of it as it has been rounded. */
static void fill(struct run *r) {
    const size_t size = wick__size(r->l.dtype);
    for (int o = 0; o < r->n; o++) {
        const struct place *p = &r->places[o];
        const bool is_read = o < r->n_weights + first_result(r);
        char *at = r->host + p->at;
        for (size_t k = 0; k < p->nbytes / size; k++) {
            const bool inside = is_read && k < (size_t)p->count;
            wick__store_f64(r->l.dtype, inside ? value_of(r, o, (int64_t)k) : sentinel(), at + k * size);
            if (inside) p->numbers[k] = wick__load_f64(r->l.dtype, at + k * size);
        }
    }
}

/* ---- the library's results ---- */

/* Where the operands are. */
static void point(struct run *r, char *device) {
    struct wick__dnn_recurrent *l = &r->l;
    void *at[OF_WEIGHTS] = {NULL};
    for (int i = 0; i < r->n_weights; i++) r->weights[i] = device + r->places[i].at;
    for (int i = 0; i < (l->backward ? OF_WEIGHTS : OF_X); i++)
        at[i] = place_of(r, i)->count ? device + place_of(r, i)->at : NULL;
    l->weights = r->weights;
    l->x = at[X];
    l->h = at[H];
    l->c = at[C];
    if (!l->backward) {
        l->y = at[Y];
        l->last_h = at[LAST_H];
        l->last_c = at[LAST_C];
        return;
    }
    for (int i = 0; i < r->n_weights; i++) r->slopes[i] = device + place_of(r, OF_WEIGHTS + i)->at;
    l->slopes =
        (struct wick__dnn_slopes){at[Y], at[LAST_H], at[LAST_C], at[OF_X], at[OF_H], at[OF_C], .weights = r->slopes};
}

static enum wick__verdict go(struct wick__gpu *gpu, struct wick__held *held, struct run *r, wick__recurrent_fn *run) {
    char *device = NULL;
    enum wick__verdict verdict = WICK__UNCHECKED;
    if (wick__gpu_scratch(gpu, r->nbytes, (void **)&device) != WICK_OK) return verdict;
    point(r, device);
    if (wick__gpu_upload(gpu, device, r->host, r->nbytes) == WICK_OK && wick__gpu_use(gpu) == WICK_OK) {
        if (run(gpu, held, &r->l) != WICK__RAN)
            verdict = WICK__ABSENT;
        else if (wick__gpu_download(gpu, r->host, device, r->nbytes) == WICK_OK)
            verdict = WICK__GOOD;
    }
    wick__gpu_release(gpu, device, r->nbytes);
    return verdict;
}

/* GOOD within 8 roundings of the largest sum, a quarter of what wick verify allows; in f32 and f64 ROUGH within four
 * times as much. Of subnormal numbers within two of the least, of their gradients within 16; of a long c, whose sums
 * don't spread, within 32 roundings of 1 and one of the largest c, in f32 (f64 for f64), in each step. */
static enum wick__verdict judge(const struct run *r, double got, double want) {
    static const double halves[] = {
        [WICK_F16] = 0x1p-11, [WICK_BF16] = 0x1p-8, [WICK_F32] = 0x1p-24, [WICK_F64] = 0x1p-53};
    const double half = halves[r->l.dtype], off = fabs(got - want), few = r->l.backward ? 16 : 2;
    if (isnan(want)) return isnan(got) ? WICK__GOOD : WICK__WRONG;
    if (r->values == SUBNORMAL) return off <= few * least(r) + 4 * half * fabs(want) ? WICK__GOOD : WICK__WRONG;
    const double wide = r->l.dtype == WICK_F64 ? 0x1p-53 : 0x1p-24, scale = r->l.backward ? 1 + r->most : 1;
    const double bound =
        r->values == LONG ? (32 * half + (double)r->l.steps * UP * wide) * scale : 8 * half * (1 + r->most);
    return off <= bound ? WICK__GOOD : !r->narrow && off <= 4 * bound ? WICK__ROUGH : WICK__WRONG;
}

static enum wick__verdict compare(struct run *r) {
    enum wick__verdict worst = WICK__GOOD;
    const size_t size = wick__size(r->l.dtype);
    for (int o = first_result(r); o < r->n - r->n_weights; o++) {
        const struct place *p = place_of(r, o);
        const char *at = r->host + p->at;
        for (int64_t k = 0; k < p->count; k++) {
            const double got = wick__load_f64(r->l.dtype, at + (size_t)k * size), want = p->numbers[k];
            const enum wick__verdict here = judge(r, got, want);
            if (here == WICK__GOOD || here == worst || worst == WICK__WRONG) continue;
            worst = here;
            wick__log(WICK_LOG_DEBUG, "element %lld of result %d of a recurrent layer is %.9g, and should be %.9g",
                      (long long)k, o - first_result(r), got, want);
        }
        if (wick__load_f64(r->l.dtype, at + (size_t)p->count * size) != sentinel()) return WICK__WRONG;
    }
    return worst;
}

/* NULL where it is not there. */
static double *numbers_of(struct run *r, int which) {
    return place_of(r, which)->count ? place_of(r, which)->numbers : NULL;
}

/* `passing` has room for y, last_h and last_c, of a forward pass that nobody looks at. */
static void expect(struct run *r, double *room, double *passing) {
    const struct wick__dnn_recurrent *l = &r->l;
    const int64_t y = l->steps * l->batch * l->directions * l->state, h = l->layers * l->directions * l->batch;
    double *const last_c = passing + y + h * l->state;
    const bool passes = l->backward;
    struct wick__recurrent_known known = {.x = numbers_of(r, X),
                                          .h = numbers_of(r, H),
                                          .c = numbers_of(r, C),
                                          .weights = r->known_weights,
                                          .y = passes ? passing : numbers_of(r, Y),
                                          .last_h = passes ? passing + y : numbers_of(r, LAST_H),
                                          .last_c =
                                              passes || !place_of(r, LAST_C)->count ? last_c : numbers_of(r, LAST_C),
                                          .room = room};
    for (int i = 0; i < r->n_weights; i++) r->known_weights[i] = r->places[i].numbers;
    wick__recurrent_expect(l, &known);
    if (l->backward) {
        known.slopes.y = numbers_of(r, Y);
        known.slopes.last_h = numbers_of(r, LAST_H);
        known.slopes.last_c = numbers_of(r, LAST_C);
        known.slopes.x = numbers_of(r, OF_X);
        known.slopes.h = numbers_of(r, OF_H);
        known.slopes.c = numbers_of(r, OF_C);
        known.slopes.weights = r->known_slopes;
        for (int i = 0; i < r->n_weights; i++) r->known_slopes[i] = numbers_of(r, OF_WEIGHTS + i);
        wick__recurrent_expect_backward(l, &known);
    }
    r->most = known.most;
}

static enum wick__verdict try(struct wick__gpu *gpu, struct wick__held *held, const struct trial *t, struct run *r,
                              wick__recurrent_fn *run) {
    enum wick__verdict verdict = WICK__UNCHECKED;
    int64_t count = 0;
    lay_out(r, t->starts);
    const int64_t room = wick__recurrent_room(&r->l), y = t->steps * t->batch * t->directions * t->hidden;
    const int64_t passing = y + 2 * t->layers * t->directions * t->batch * t->hidden;
    for (int o = 0; o < r->n; o++) count += r->places[o].count;
    const size_t numbered = (size_t)(count + room + passing) * sizeof(double);
    double *numbers = wick__calloc((size_t)(count + room + passing), sizeof *numbers), *at = numbers;
    r->host = wick__alloc(r->nbytes);
    if (numbers && r->host) {
        for (int o = 0; o < r->n; o++) {
            r->places[o].numbers = at;
            at += r->places[o].count;
        }
        fill(r);
        verdict = go(gpu, held, r, run);
        if (verdict == WICK__GOOD) {
            expect(r, at, at + room);
            verdict = compare(r);
        }
    }
    if (r->host) wick__free(r->host, r->nbytes);
    if (numbers) wick__free(numbers, numbered);
    return verdict;
}

/* Whether the library has what a trial asks for, and the trial tells something of the mode. */
static bool suits(const struct wick__gpu *gpu, const struct trial *t, enum wick_recurrent_mode mode, bool backward) {
    return !(t->ragged && (backward || !gpu->vendor->recurrent_by_lengths)) &&
           !(t->projects && (backward || mode != WICK_LSTM || !gpu->vendor->recurrent_projected)) &&
           !(t->values == LONG && mode != WICK_LSTM) &&
           !(backward && mode == WICK_RNN_RELU && !(t->values == PLAIN && t->biased));
}

static enum wick__verdict try_mode(struct wick__gpu *gpu, struct wick__held *held, enum wick_recurrent_mode mode,
                                   const struct wick__recurrent_kind *kind, wick__recurrent_fn *run) {
    const enum wick_dtype dtype = kind->dtype;
    enum wick__verdict all = WICK__GOOD;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        const struct trial *t = &trials[i];
        if (!suits(gpu, t, mode, kind->backward)) continue;
        struct run r = {
            .l = describe(t, mode, kind), .values = t->values, .narrow = dtype == WICK_F16 || dtype == WICK_BF16};
        enum wick__verdict here = try(gpu, held, t, &r, run);
        if (here == WICK__WRONG && t->values == SUBNORMAL) here = WICK__FLUSHES;
        if (here == WICK__WRONG && t->values == LONG) here = WICK__ROUGH;
        if (here == WICK__GOOD) continue;
        wick__log(WICK_LOG_DEBUG, "%s: check %d of recurrent %s of %s, mode %d: %s", gpu->device->name, (int)i,
                  kind->backward ? "gradients" : "layers", wick_dtype_name(dtype), (int)mode, wick__verdict_text(here));
        if (here != WICK__FLUSHES) return here;
        all = here;
    }
    return all;
}

enum wick__verdict wick__recurrent_trials(struct wick__gpu *gpu, struct wick__held *held,
                                          const struct wick__recurrent_kind *kind, wick__recurrent_fn *run) {
    enum wick__verdict all = WICK__GOOD;
    for (int mode = (int)kind->first; mode <= (int)kind->last; mode++) {
        enum wick__verdict here = try_mode(gpu, held, (enum wick_recurrent_mode)mode, kind, run);
        if (here == WICK__FLUSHES)
            all = here;
        else if (here != WICK__GOOD)
            return here;
    }
    return all;
}
