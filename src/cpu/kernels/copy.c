/* Copies from any layout to any other. */
#include "cpu/kernels/elementwise.h"
#include "cpu/runtime/parallel.h"
#include "cpu/kernels/transpose.h"

#include "core/checked.h"

#include <string.h>

struct copy {
    struct wick__layout from, to; /* collapsed together */
    const char *in;
    char *out;
    size_t size; /* bytes of an element */
};

/* Where position `row` of the dims before the last begins, in elements. */
static int64_t row_start(const struct wick__layout *layout, int64_t row) {
    int64_t at = 0;
    for (int d = layout->rank - 2; d >= 0; d--) {
        at += row % layout->shape[d] * layout->stride[d];
        row /= layout->shape[d];
    }
    return at;
}

static void copy_strided(char *to, int64_t to_step, const char *from, int64_t step, int64_t n, size_t size) {
#define COPY(type)                                                                                                     \
    {                                                                                                                  \
        const type *in = (const void *)from;                                                                           \
        type *out = (void *)to;                                                                                        \
        for (int64_t i = 0; i < n; i++) out[i * to_step] = in[i * step];                                               \
        return;                                                                                                        \
    }
    switch (size) {
    case 1: COPY(uint8_t)
    case 2: COPY(uint16_t)
    case 4: COPY(uint32_t)
    default: COPY(uint64_t)
    }
#undef COPY
}

static void copy_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct copy *copy = context;
    int last = copy->from.rank - 1;
    int64_t n = copy->from.shape[last], step = copy->from.stride[last], to_step = copy->to.stride[last];
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        const char *in = copy->in + (size_t)row_start(&copy->from, row) * copy->size;
        char *out = copy->out + (size_t)row_start(&copy->to, row) * copy->size;
        if (step == 1 && to_step == 1)
            memcpy(out, in, (size_t)n * copy->size);
        else
            copy_strided(out, to_step, in, step, n, copy->size);
    }
}

/* The most rows, as transposing takes more, and the fewest elements of one. */
enum { WOVEN = 7, WOVEN_FROM = 8 };

/* Whether the last dim is short, and the one before it lies side by side in the source. */
static bool is_woven(const struct copy *copy) {
    int last = copy->from.rank - 1;
    return last > 0 && copy->from.shape[last] <= WOVEN && copy->from.stride[last - 1] == 1 &&
           copy->from.shape[last - 1] >= WOVEN_FROM && copy->to.stride[last] == 1 &&
           copy->to.stride[last - 1] == copy->to.shape[last];
}

static void weave_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct copy *copy = context;
    int last = copy->from.rank - 1;
    int64_t n = copy->from.shape[last], w = copy->from.shape[last - 1], step = copy->from.stride[last];
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        const void *in = copy->in + (size_t)row_start(&copy->from, row * w) * copy->size;
        void *out = copy->out + (size_t)row_start(&copy->to, row * w) * copy->size;
        WICK__ISA(wick__turn)(copy->size, in, step, (const int64_t[2]){w, n}, out, n);
    }
}

wick__kernel_fn WICK__ISA(wick__cpu_copy);
enum wick_status WICK__ISA(wick__cpu_copy)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick_tensor *y = call->out[0];
    if (wick__count(y) == 0) return WICK_OK;
    bool plain = wick__is_plain(x->dtype);
    struct wick__layout layouts[2] = {y->layout};
    if (plain)
        wick__layout_expand(&x->layout, y->layout.rank, y->layout.shape, &layouts[1]);
    else
        wick__bytes_layouts(x, &layouts[1], &layouts[0]);
    wick__layout_collapse(layouts, 2);
    struct copy copy = {.from = layouts[1],
                        .to = layouts[0],
                        .in = wick__data(x),
                        .out = wick__data(y),
                        .size = plain ? wick__size(x->dtype) : 1};
    if (WICK__ISA(wick__transpose)(&copy.from, &copy.to, copy.in, copy.out, copy.size)) return WICK_OK;
    if (is_woven(&copy)) {
        int64_t woven = copy.from.shape[copy.from.rank - 1] * copy.from.shape[copy.from.rank - 2];
        wick__parallel(wick__layout_count(&copy.from) / woven, wick__max(1, 8192 / woven), weave_rows, &copy);
        return WICK_OK;
    }
    if (plain && wick__layout_is_contiguous(&y->layout)) {
        struct wick__elementwise e = {.n_in = 1, .in = {x}, .out = y, .raw = true, .copies = true};
        WICK__ISA(wick__elementwise)(&e);
        return WICK_OK;
    }
    int64_t inner = copy.from.shape[copy.from.rank - 1];
    wick__parallel(wick__layout_count(&copy.from) / inner, wick__max(1, 8192 / inner), copy_rows, &copy);
    return WICK_OK;
}
