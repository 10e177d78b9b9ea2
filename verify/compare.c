/* Whether results are right.
 *
 * Integers and indices must be equal. A float result `got` of a reference `want` must satisfy
 *
 *     |got - want|  <=  spacing(want) / 2  +  ulp * unit * max(|want|, scale)  +  least
 *
 *     spacing  the distance between neighbours of the result's dtype at `want`: the one rounding that every result is
 *              allowed
 *     ulp      the op's row
 *     unit     2^-23 for f32 and for the 16- and 8-bit floats, which are computed in f32 and rounded once; 2^-52 for
 *              f64. An op composed of others rounds to its own dtype in between: there it is that dtype's unit
 *     scale    what the reference gives, by a formula of scales.def: most often the sum of the terms' magnitudes
 *     least    the smallest denormal of the dtype it is computed in, where ulp > 0
 *
 * For f64 the reference is itself computed in f64, so its own error is allowed too: ulp becomes 2 ulp + 4. The test is
 * written as !(error <= bound), so NaN can't pass; NaN is right only where the reference has NaN, and an infinity only
 * where it has that infinity or is within the bound of the value where the dtype rounds to infinity. */
#include "verify/driver.h"

#include "core/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double unit_of(enum wick_dtype dtype, bool composed) {
    if (dtype == WICK_DTYPE_f64) return 0x1p-52;
    return composed ? verify_spacing(dtype, 1) : 0x1p-23;
}

static double bound_for(enum wick_dtype dtype, double want, double scale, struct verify_bound bound) {
    double size = fmax(fabs(want), scale), ulp = bound.ulp, slack = 0;
    if (bound.exact && size <= (dtype == WICK_DTYPE_f64 ? 0x1p53 : 0x1p24) && want == trunc(want)) ulp = 0;
    if (ulp > 0) slack = dtype == WICK_DTYPE_f64 ? 0x1p-1074 : bound.composed ? verify_least(dtype) : 0x1p-149;
    if (dtype == WICK_DTYPE_f64 && ulp > 0) ulp = 2 * ulp + 4;
    slack += ulp * unit_of(dtype, bound.composed) * size;
    return verify_spacing(dtype, fabs(want) + slack) / 2 + slack;
}

bool verify_element_good(enum wick_dtype dtype, double got, double want, double scale, struct verify_bound bound,
                         double *worst) {
    if (isnan(want)) return isnan(got);
    if (!wick_dtype_is_float(dtype)) return got == want;
    double rounded = verify_round(dtype, want);
    if (got == rounded) return true;
    if (isnan(got) || isinf(want)) return false;
    double highest = verify_highest(dtype), allowed = bound_for(dtype, want, scale, bound);
    /* At the edge to infinity: the finite side may give infinity and the other way about, within the bound. */
    if (isinf(got)) return copysign(want, want * got) + allowed >= highest + verify_spacing(dtype, highest) / 2;
    if (fabs(want) > highest) want = copysign(highest, want);
    double error = fabs(got - want);
    if (allowed > 0 && error / allowed > *worst) *worst = error / allowed;
    return error <= allowed;
}

static bool same_form(const struct wick_tensor *got, const struct verify_array *want, char *why, size_t size) {
    char a[WICK__SHAPE_TEXT], b[WICK__SHAPE_TEXT];
    if (got->dtype != want->dtype) {
        snprintf(why, size, "dtype %s, should be %s", wick_dtype_name(got->dtype), wick_dtype_name(want->dtype));
        return false;
    }
    if (got->layout.rank == want->rank &&
        memcmp(got->layout.shape, want->shape, sizeof *want->shape * (size_t)want->rank) == 0)
        return true;
    snprintf(why, size, "shape %s, should be %s", wick__shape_text(a, got->layout.rank, got->layout.shape),
             wick__shape_text(b, want->rank, want->shape));
    return false;
}

bool verify_compare(const struct wick_tensor *got, const struct verify_array *want, struct verify_bound bound,
                    double *worst, char *why, size_t why_size) {
    if (!same_form(got, want, why, why_size)) return false;
    size_t size = (size_t)wick_dtype_block_bytes(got->dtype), nbytes = (size_t)want->count * size;
    unsigned char *bytes = malloc(nbytes + 1);
    if (!bytes || wick_read(got, bytes, nbytes) != WICK_OK) {
        snprintf(why, why_size, "can't be read: %s", wick_error());
        free(bytes);
        return false;
    }
    int64_t bad = 0, first = 0;
    for (int64_t i = 0; i < want->count; i++) {
        double scale = want->scale ? want->scale[i] : 0;
        if (verify_element_good(want->dtype, verify_decode(want->dtype, bytes + (size_t)i * size), want->data[i], scale,
                                bound, worst))
            continue;
        if (bad++ == 0) first = i;
    }
    if (bad > 0) {
        char shape[WICK__SHAPE_TEXT];
        double right = want->data[first];
        int n = snprintf(why, why_size,
                         "%" PRId64 " of %" PRId64 " elements of %s, the first at %" PRId64 ": %.17g, should be %.17g",
                         bad, want->count, wick__shape_text(shape, want->rank, want->shape), first,
                         verify_decode(want->dtype, bytes + (size_t)first * size), right);
        if (n > 0 && (size_t)n < why_size && wick_dtype_is_float(want->dtype) && isfinite(right))
            snprintf(why + n, why_size - (size_t)n, " +- %.3g",
                     bound_for(want->dtype, right, want->scale ? want->scale[first] : 0, bound));
    }
    free(bytes);
    return bad == 0;
}
