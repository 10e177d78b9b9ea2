/* What operands are filled with. */
#include "verify/driver.h"

#include <math.h>
#include <stdlib.h>

/* splitmix64 (Steele, Lea, Flood, 2014). */
uint64_t verify_random_bits(struct verify_random *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void verify_random_mix(struct verify_random *random, uint64_t more) {
    random->state ^= more;
    random->state = verify_random_bits(random);
}

double verify_random_unit(struct verify_random *random) { return (double)(verify_random_bits(random) >> 11) * 0x1p-53; }

/* What one operand's values are drawn from. */
struct source {
    enum wick_dtype dtype;
    double low, high;
    bool integers, specials, sentinels, exponents, normal;
    int nan_every, zero_every;
};

static double special_value(const struct source *s, struct verify_random *random) {
    static const double scales[] = {1, -1};
    double sign = scales[verify_random_bits(random) & 1];
    switch (verify_random_bits(random) % 7) {
    case 0: return NAN;
    case 1: return s->dtype == WICK_DTYPE_f8e4m3 ? sign * 448 : sign * INFINITY;
    case 2: return sign * 0.0;
    case 3: return sign * verify_highest(s->dtype);
    case 4: return sign * verify_least(s->dtype);
    case 5: return sign * verify_least_normal(s->dtype);
    default: return sign;
    }
}

/* Half of the values are of any exponent the dtype has, subnormal ones too; the others, which lie where e^x begins to
 * overflow and to vanish, are evenly spread. */
static double any_exponent(const struct source *s, struct verify_random *random) {
    uint64_t bits = verify_random_bits(random);
    double sign = bits & 1 ? -1 : 1, unit = verify_random_unit(random), highest = verify_highest(s->dtype);
    if (bits & 2) return verify_round(s->dtype, sign * unit * (s->dtype == WICK_DTYPE_f64 ? 760 : 110));
    int low = ilogb(verify_least(s->dtype)), high = ilogb(highest);
    int exponent = low + (int)((bits >> 2) % (uint64_t)(high - low + 1));
    return sign * fmin(verify_round(s->dtype, ldexp(1 + unit, exponent)), highest);
}

static double draw(const struct source *s, struct verify_random *random) {
    if (s->dtype == WICK_DTYPE_f8e8m0) return ldexp(1, (int)(verify_random_bits(random) % 17) - 8);
    if (s->specials && verify_random_bits(random) % 3 == 0) return special_value(s, random);
    if (s->sentinels && verify_random_bits(random) % 8 == 0) return verify_highest(s->dtype);
    if (s->nan_every && verify_random_bits(random) % (uint64_t)s->nan_every == 0) return NAN;
    if (s->integers) return floor(s->low + verify_random_unit(random) * (s->high - s->low + 1));
    if (s->exponents && s->zero_every && verify_random_bits(random) % (uint64_t)s->zero_every == 0) return 0;
    double value = s->exponents ? any_exponent(s, random)
                                : verify_round(s->dtype, s->low + verify_random_unit(random) * (s->high - s->low));
    double least = s->normal ? verify_least_normal(s->dtype) : 0;
    return value != 0 && fabs(value) < least ? copysign(least, value) : value;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Makes the values distinct by moving each up from the one before, then shuffles them. False when there is no room. */
static bool make_distinct(const struct source *s, double *data, int64_t count, struct verify_random *random) {
    qsort(data, (size_t)count, sizeof *data, ascending);
    for (int64_t i = 1; i < count; i++) {
        if (data[i] > data[i - 1]) continue;
        data[i] = s->integers ? data[i - 1] + 1 : data[i - 1] + verify_spacing(s->dtype, data[i - 1]);
        if (!s->integers) data[i] = verify_round(s->dtype, data[i]);
        if (data[i] <= data[i - 1]) data[i] = data[i - 1] + 2 * verify_spacing(s->dtype, data[i - 1]);
    }
    if (count > 0 && !(data[count - 1] <= verify_highest(s->dtype))) return false;
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t)(verify_random_bits(random) % (uint64_t)(i + 1));
        double swap = data[i];
        data[i] = data[j];
        data[j] = swap;
    }
    return true;
}

/* Repeats the values at index 0 of a dim along it. */
static void repeat(struct verify_array *array, int dim) {
    int64_t inner = 1;
    for (int d = dim + 1; d < array->rank; d++) inner *= array->shape[d];
    for (int64_t i = 0; i < array->count; i++) {
        int64_t at = i / inner % array->shape[dim];
        array->data[i] = array->data[i - at * inner];
    }
}

static bool source_for(const struct verify_operand *operand, enum wick_dtype dtype, enum verify_variant variant,
                       struct source *s) {
    bool is_float = wick_dtype_is_float(dtype);
    bool is_value = operand->role == VERIFY_VALUE;
    *s = (struct source){.dtype = dtype, .low = operand->low, .high = operand->high, .integers = !is_float};
    if (is_value && s->low == 0 && s->high == 0) {
        s->low = -8;
        s->high = 8;
    }
    if (is_value && (variant == VERIFY_INTEGERS || variant == VERIFY_INTEGERS_MIXED)) {
        s->integers = true;
        if (s->low < -4) s->low = -4;
        if (s->high > 4 && s->low <= 4) s->high = 4;
    }
    bool special = variant == VERIFY_SPECIALS || variant == VERIFY_SPECIALS_MIXED;
    bool wide = variant == VERIFY_EXPONENTS || variant == VERIFY_EXPONENTS_MIXED;
    s->specials = special && is_value && is_float;
    s->sentinels = special && operand->role == VERIFY_INDEX;
    s->exponents = wide && is_value && !operand->tame;
    if (wide && is_value && !is_float) return false;
    s->nan_every = is_value && is_float ? operand->nan_every : 0;
    s->zero_every = operand->zero_every;
    s->normal = is_float && operand->normal;
    if (s->integers) {
        s->low = ceil(fmax(s->low, verify_lowest(dtype)));
        s->high = floor(fmin(s->high, verify_highest(dtype)));
        if (s->high > 0x1p53) s->high = 0x1p53;
        if (s->low < -0x1p53) s->low = -0x1p53;
    }
    return s->low <= s->high;
}

enum verify_outcome verify_values(const struct verify_operand *operand, enum wick_dtype dtype,
                                  enum verify_variant variant, struct verify_placing placing,
                                  struct verify_random *random, struct verify_array *array) {
    struct source s;
    if (!verify_array_new(array, dtype, operand->rank, operand->shape, false)) return VERIFY_BAD;
    if (wick_dtype_kind(dtype) == WICK_DTYPE_KIND_QUANTISED)
        return verify_blocks(random, array) ? VERIFY_GOOD : VERIFY_BAD;
    if (operand->role == VERIFY_CONDITION) {
        for (int64_t i = 0; i < array->count; i++) {
            uint64_t bits = verify_random_bits(random);
            array->data[i] = bits & 1 ? (double)(1 + (bits >> 8) % 255) : 0;
        }
    } else {
        if (!source_for(operand, dtype, variant, &s)) return VERIFY_SKIPPED;
        for (int64_t i = 0; i < array->count; i++) array->data[i] = draw(&s, random);
        if (operand->distinct && !s.specials && !s.sentinels && !make_distinct(&s, array->data, array->count, random))
            return VERIFY_SKIPPED;
    }
    if (placing.layout == VERIFY_BROADCAST) repeat(array, placing.dim);
    return VERIFY_GOOD;
}
