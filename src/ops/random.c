/* Random numbers. */
#include "ops/ids.h"

#include <math.h>

/* Takes the blocks that `count` elements need, `per_block` to each, from the device's stream, and runs the call. */
static struct wick_tensor *draw(struct wick__call *call, int per_block) {
    struct wick_device *device = wick__device(call->out[0]);
    int64_t count = wick__count(call->out[0]);
    uint64_t blocks = (uint64_t)(count / per_block + (count % per_block != 0));
    call->p.random.seed = atomic_load(&device->seed);
    call->p.random.offset = atomic_fetch_add(&device->random_offset, blocks);
    return wick__call_run(call);
}

static bool check(bool valid, enum wick_op op, const char *rule, double a, double b) {
    if (!valid) wick__fail(WICK_INVALID, "%s: %g, %g: must be %s", wick_op_name(op), a, b, rule);
    return valid;
}

static struct wick_tensor *floats(enum wick_op op, struct wick_device *device, enum wick_dtype dtype, int rank,
                                  const int64_t *shape, const double parameters[2]) {
    struct wick__call call = {.op = op, .p.random = {.a = parameters[0], .b = parameters[1]}};
    if (!wick__call_out_on(&call, device, dtype, rank, shape)) return NULL;
    return draw(&call, dtype == WICK_DTYPE_f64 && op != WICK_OP_bernoulli ? 2 : 4);
}

static bool uniform_fits(double low, double high) {
    return check(isfinite(low) && isfinite(high) && isfinite(high - low) && low <= high, WICK_OP_uniform,
                 "finite, low <= high", low, high);
}

static bool normal_fits(double mean, double deviation) {
    return check(isfinite(mean) && isfinite(deviation) && deviation >= 0, WICK_OP_normal, "finite, deviation >= 0",
                 mean, deviation);
}

struct wick_tensor *wick_uniform(struct wick_device *device, enum wick_dtype dtype, int rank, const int64_t *shape,
                                 double low, double high) {
    if (!uniform_fits(low, high)) return NULL;
    return floats(WICK_OP_uniform, device, dtype, rank, shape, (const double[]){low, high});
}

struct wick_tensor *wick_normal(struct wick_device *device, enum wick_dtype dtype, int rank, const int64_t *shape,
                                double mean, double deviation) {
    if (!normal_fits(mean, deviation)) return NULL;
    return floats(WICK_OP_normal, device, dtype, rank, shape, (const double[]){mean, deviation});
}

struct wick_tensor *wick_bernoulli(struct wick_device *device, enum wick_dtype dtype, int rank, const int64_t *shape,
                                   double p) {
    if (!check(p >= 0 && p <= 1, WICK_OP_bernoulli, "0 <= p <= 1", p, 0)) return NULL;
    return floats(WICK_OP_bernoulli, device, dtype, rank, shape, (const double[]){p, 0});
}

/* The integers of a dtype; i64's for those that are none. */
static void range_of(enum wick_dtype dtype, int64_t *least, int64_t *most) {
    int bits = wick_dtype_bits(dtype);
    bool is_signed = wick__has(WICK__SIGNED, dtype);
    *least = bits == 64 ? INT64_MIN : is_signed ? -((int64_t)1 << (bits - 1)) : 0;
    *most = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - is_signed)) - 1;
}

struct wick_tensor *wick_randint(struct wick_device *device, enum wick_dtype dtype, int rank, const int64_t *shape,
                                 int64_t low, int64_t high) {
    struct wick__call call = {.op = WICK_OP_randint, .p.random = {.low = low, .high = high}};
    int64_t least, most;
    if (!wick__call_out_on(&call, device, dtype, rank, shape)) return NULL;
    range_of(dtype, &least, &most);
    if (low >= high || low < least || high - 1 > most) {
        wick__fail(WICK_INVALID, "randint: %lld <= x < %lld is empty or not in the range of %s", (long long)low,
                   (long long)high, wick_dtype_name(dtype));
        wick_release(call.out[0]);
        return NULL;
    }
    return draw(&call, 2);
}

struct wick_tensor *wick_permutation(struct wick_device *device, enum wick_dtype dtype, int64_t n) {
    struct wick__call call = {.op = WICK_OP_permutation};
    int64_t least, most;
    if (!wick__call_out_on(&call, device, dtype, 1, &n)) return NULL;
    range_of(dtype, &least, &most);
    if (n - 1 > most) {
        wick__fail(WICK_INVALID, "permutation: %lld numbers do not fit %s", (long long)n, wick_dtype_name(dtype));
        wick_release(call.out[0]);
        return NULL;
    }
    return draw(&call, 2);
}

/* A result like x, after checks. */
static struct wick_tensor *floats_like(enum wick_op op, const struct wick_tensor *x, double a, double b) {
    if (!x) {
        wick__fail(WICK_INVALID, "%s: x is NULL", wick_op_name(op));
        return NULL;
    }
    return floats(op, wick__device(x), x->dtype, x->layout.rank, x->layout.shape, (const double[]){a, b});
}

struct wick_tensor *wick_uniform_like(const struct wick_tensor *x, double low, double high) {
    return uniform_fits(low, high) ? floats_like(WICK_OP_uniform, x, low, high) : NULL;
}

struct wick_tensor *wick_normal_like(const struct wick_tensor *x, double mean, double deviation) {
    return normal_fits(mean, deviation) ? floats_like(WICK_OP_normal, x, mean, deviation) : NULL;
}

/* ---- multinomial ---- */

enum { MOST_CLASSES = 1 << 24 };

/* For rows of weights [N,K], f64, divided by the largest: n indices with replacement. All numbers are whole and at most
 * 2^52, so that they are exact in any order of sums. */
static struct wick_tensor *draw_again(const struct wick_tensor *share, int64_t k, int64_t n) {
    int64_t bits = 52;
    for (int64_t most = 1; most < k; most *= 2) bits--;
    struct wick_tensor *whole = wick_floor(wick_mul_scalar(share, WICK_INT((int64_t)1 << bits)));
    struct wick_tensor *sums = wick_cumsum(whole, 1);
    if (!sums) return NULL;
    const int64_t shape[2] = {share->layout.shape[0], n};
    struct wick_tensor *u = wick_uniform(wick__device(share), WICK_F64, 2, shape, 0, 1);
    struct wick_tensor *at = wick_floor(wick_mul(u, wick_narrow(sums, 1, k - 1, 1)));
    return wick_searchsorted(sums, at, true);
}

/* The same without replacement: who is first in a race where each runs for as long as its weight says. */
static struct wick_tensor *draw_others(const struct wick_tensor *share, int64_t n) {
    struct wick_tensor *u = wick_uniform_like(share, 0, 1), *places = NULL;
    struct wick_tensor *times = wick_topk(wick_div(wick_neg(wick_log(u)), share), n, 1, false, &places);
    struct wick_tensor *at = wick_cast(places, WICK_I64);
    return wick_masked_fill(at, wick_eq_scalar(times, WICK_REAL(INFINITY)), WICK_INT(wick__ids_none(WICK_I64)));
}

static bool check_classes(const struct wick__call *call, int64_t n, bool replacement) {
    if (!wick__call_check(call)) return false;
    const struct wick__layout *w = &call->in[0]->layout;
    int64_t k = w->rank > 0 ? w->shape[w->rank - 1] : 0;
    if (w->rank < 1 || w->rank > 2 || k == 0)
        wick__call_fail(call, WICK_SHAPE, "weights must be [K] or [N,K], K at least 1");
    else if (k > MOST_CLASSES || n < 0 || (!replacement && n > k))
        wick__call_fail(call, WICK_INVALID, "%lld draws %s replacement of %lld weights, of which there may be %d",
                        (long long)n, replacement ? "with" : "without", (long long)k, MOST_CLASSES);
    else
        return true;
    return false;
}

struct wick_tensor *wick_multinomial(const struct wick_tensor *weights, int64_t n, bool replacement) {
    struct wick__call call = {.op = WICK_OP_multinomial, .n_in = 1, .in = {weights}};
    if (!check_classes(&call, n, replacement)) return NULL;
    const struct wick__layout *layout = &weights->layout;
    int64_t k = layout->shape[layout->rank - 1], lines = layout->rank == 2 ? layout->shape[0] : 1;
    if (lines == 0 || n == 0)
        return wick_zeros(wick__device(weights), WICK_I64, layout->rank,
                          layout->rank == 2 ? (int64_t[]){lines, n} : &n);
    wick_scope_begin();
    struct wick_tensor *w = wick_cast(wick_reshape(weights, 2, (const int64_t[]){lines, k}), WICK_F64);
    struct wick_tensor *most = wick_max(w, WICK_DIMS(1), true), *least = wick_min(w, WICK_DIMS(1), true);
    struct wick_tensor *share = wick_div(w, most);
    struct wick_tensor *at = share ? replacement ? draw_again(share, k, n) : draw_others(share, n) : NULL;
    struct wick_tensor *good = wick_logical_and(wick_ge_scalar(least, WICK_INT(0)), wick_gt_scalar(most, WICK_INT(0)));
    good = wick_logical_and(good, wick_isfinite(most));
    at = wick_masked_fill(at, wick_logical_not(good), WICK_INT(wick__ids_none(WICK_I64)));
    return wick_scope_end(at && layout->rank == 1 ? wick_reshape(at, 1, &n) : at);
}

/* ---- dropout ---- */

struct wick_tensor *wick__dropout_at(const struct wick_tensor *x, double p, uint64_t seed, uint64_t offset) {
    struct wick__call call = {
        .op = WICK_OP_dropout, .n_in = 1, .in = {x}, .p.random = {.a = p, .seed = seed, .offset = offset}};
    if (!wick__call_check(&call) || !wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape) ||
        !wick__call_extra(&call, WICK_U8, x->layout.rank, x->layout.shape))
        return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_dropout(const struct wick_tensor *x, double p) {
    return wick_dropout_with(x, p, NULL);
}

struct wick_tensor *wick_dropout_with(const struct wick_tensor *x, double p,
                                      const struct wick_dropout_options *options) {
    static const struct wick_dropout_options defaults;
    struct wick__call call = {.op = WICK_OP_dropout, .n_in = 1, .in = {x}, .p.random.a = p};
    if (!options) options = &defaults;
    if (!wick__call_reserved(&call, options->reserved) || !wick__call_check(&call)) return NULL;
    if (!(p >= 0 && p <= 1)) {
        wick__call_fail(&call, WICK_INVALID, "p = %g is not in 0..1", p);
        return NULL;
    }
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape) ||
        !wick__call_wanted(&call, options->mask != NULL, WICK_U8, x->layout.rank, x->layout.shape))
        return NULL;
    struct wick_tensor *y = draw(&call, 4);
    if (y && options->mask) *options->mask = call.out[1];
    return y;
}
