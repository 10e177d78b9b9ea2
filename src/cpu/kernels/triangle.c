/* Parts of matrices: tril, triu, eye. */
#include "core/convert.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/kernels/walk.h"

#include "core/checked.h"
#include "backend.h"

struct triangle {
    struct wick__layout layout;
    const char *in; /* NULL for eye */
    char *out;
    int64_t size, k;
    bool upper;
    _Alignas(8) char one[8];
};

/* Element j of row i lies on diagonal j - i. tril keeps the diagonals up to k, triu those from k on. */
static void triangle_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct triangle *t = context;
    int last = t->layout.rank - 1;
    int64_t n = t->layout.shape[last], rows = t->layout.shape[last - 1], size = t->size;
    struct wick__walk walk = wick__walk_new(&t->layout, 1, last);
    (void)worker;
    wick__walk_to(&walk, begin);
    for (int64_t row = begin; row < end; row++, wick__walk_next(&walk)) {
        int64_t i = row % rows;
        int64_t cut = wick__max(0, wick__min(n, i + t->k + !t->upper));
        const char *from = t->in + walk.at[0] * size;
        char *to = t->out + row * n * size;
        if (t->upper) {
            memset(to, 0, (size_t)(cut * size));
            memcpy(to + cut * size, from + cut * size, (size_t)((n - cut) * size));
        } else {
            memcpy(to, from, (size_t)(cut * size));
            memset(to + cut * size, 0, (size_t)((n - cut) * size));
        }
    }
}

enum wick_status WICK__ISA(wick__cpu_triangle)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_triangle)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    int64_t count = wick__count(x), n = x->layout.shape[x->layout.rank - 1];
    int64_t rows = x->layout.rank < 2 ? 0 : x->layout.shape[x->layout.rank - 2];
    if (count == 0) return WICK_OK;
    struct triangle t = {.layout = x->layout,
                         .in = wick__data(x),
                         .out = wick__data(call->out[0]),
                         .size = (int)wick__size(x->dtype),
                         .k = wick__max(-rows, wick__min(n, call->p.along.start)),
                         .upper = call->op == WICK_OP_triu};
    wick__parallel(count / n, wick__max(1, 32768 / (n * t.size)), triangle_rows, &t);
    return WICK_OK;
}

static void eye_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct triangle *t = context;
    int64_t n = t->layout.shape[1], size = t->size;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        char *to = t->out + row * n * size;
        memset(to, 0, (size_t)(n * size));
        if (row < n) memcpy(to + row * size, t->one, (size_t)size);
    }
}

enum wick_status WICK__ISA(wick__cpu_eye)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_eye)(const struct wick__call *call) {
    struct wick_tensor *y = call->out[0];
    if (wick__count(y) == 0) return WICK_OK;
    struct triangle t = {.layout = y->layout, .out = wick__data(y), .size = (int)wick__size(y->dtype)};
    wick__store_f64(y->dtype, 1, t.one);
    wick__parallel(y->layout.shape[0], wick__max(1, 32768 / (y->layout.shape[1] * t.size)), eye_rows, &t);
    return WICK_OK;
}
