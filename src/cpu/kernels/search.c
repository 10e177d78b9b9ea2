/* Where values belong in sorted sequences: each is looked for by halves. NaN is above all others. */
#include "core/convert.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "backend.h"

#include <math.h>

enum { GRAIN = 512 };

struct search {
    enum wick_dtype dtype;
    bool is_float, right;
    const char *sequence, *values;
    int64_t *out;
    int64_t n, m; /* elements of a sequence, and values that go with it */
    bool shared;  /* one sequence for all */
};

/* An element: a float, or an integer. */
union element {
    double f;
    int64_t i;
};

static inline union element load(const struct search *s, const char *from, int64_t i) {
    union element x = {.i = 0};
    switch (s->dtype) {
    case WICK_DTYPE_f32: x.f = ((const float *)(const void *)from)[i]; break;
    case WICK_DTYPE_f64: x.f = ((const double *)(const void *)from)[i]; break;
    case WICK_DTYPE_i32: x.i = ((const int32_t *)(const void *)from)[i]; break;
    case WICK_DTYPE_i64: x.i = ((const int64_t *)(const void *)from)[i]; break;
    default:
        if (s->is_float)
            wick__row_to_f64(s->dtype, from + i * (int64_t)wick__size(s->dtype), 1, &x.f, 1);
        else
            wick__row_to_i64(s->dtype, from + i * (int64_t)wick__size(s->dtype), 1, &x.i, 1);
    }
    return x;
}

/* Whether a comes before b. */
static inline bool before(const struct search *s, union element a, union element b) {
    if (!s->is_float) return a.i < b.i;
    return isnan(b.f) ? !isnan(a.f) : a.f < b.f;
}

static void search_values(void *context, int worker, int64_t begin, int64_t end) {
    const struct search *s = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        union element value = load(s, s->values, i);
        int64_t line = s->shared ? 0 : i / s->m * s->n, low = 0, high = s->n;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            union element x = load(s, s->sequence, line + middle);
            if (s->right ? !before(s, value, x) : before(s, x, value))
                low = middle + 1;
            else
                high = middle;
        }
        s->out[i] = low;
    }
}

enum wick_status WICK__ISA(wick__cpu_search)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_search)(const struct wick__call *call) {
    const struct wick_tensor *sequence = call->in[0], *values = call->in[1];
    int rank = sequence->layout.rank;
    struct search s = {.dtype = values->dtype,
                       .is_float = wick_dtype_is_float(values->dtype),
                       .right = call->p.along.start != 0,
                       .sequence = wick__data(sequence),
                       .values = wick__data(values),
                       .out = wick__data(call->out[0]),
                       .n = sequence->layout.shape[rank - 1],
                       .m = values->layout.rank > 0 ? values->layout.shape[values->layout.rank - 1] : 1,
                       .shared = rank == 1};
    wick__parallel(wick__count(values), GRAIN, search_values, &s);
    return WICK_OK;
}
