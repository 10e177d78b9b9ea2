/* Sorting along a dim: stable radix sort of keys whose unsigned order is the order wanted, with indices beside them. */
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include "core/checked.h"
#include "backend.h"

#include <string.h>

enum {
    FEW = 24,          /* up to this many are sorted by insertion */
    CHUNKS = 64,       /* of a long line */
    LONG = 256 * 1024, /* from this length on a line is sorted by all threads together */
    GRAIN = 4096
};

struct sort {
    enum wick_dtype dtype;
    size_t size; /* of an element */
    const char *in;
    char *values;      /* NULL: not wanted */
    uint32_t *indices; /* NULL: not wanted */
    int64_t n, inner;  /* in is [outer, n, inner] */
    int64_t k;         /* results are [outer, k, inner] */
    bool descending;
    void *scratch;           /* two lines of items for each worker */
    uint32_t (*counts)[256]; /* CHUNKS, for long lines */
};

/* Bits of a float with `bits` bits, of which those of infinity (or, without one, of the largest value) are `most`, as
 * a number in the order of the values: -0 is +0, and every NaN comes after all others. */
static inline uint64_t float_key(uint64_t x, int bits, uint64_t most) {
    uint64_t sign = UINT64_C(1) << (bits - 1), all = sign | (sign - 1);
    uint64_t magnitude = x & (sign - 1);
    uint64_t key = x & sign ? sign - magnitude : sign + magnitude;
    return magnitude > most ? all : key;
}

/* Items of keys up to 32 bits are one word: key, index. */
static inline uint64_t item_narrow(uint64_t key, int64_t index) { return key << 32 | (uint64_t)index; }
#define SUFFIX narrow
#define ITEM uint64_t
#define DIGIT(item, shift) ((item) >> (32 + (shift)) & 255)
#define BEFORE(a, b) ((a) < (b))
#define INDEX(item) ((item)&UINT32_MAX)
#include "cpu/kernels/sort_body.h"

struct wide_item {
    uint64_t key, index;
};
static inline struct wide_item item_wide(uint64_t key, int64_t index) {
    return (struct wide_item){key, (uint64_t)index};
}
#define SUFFIX wide
#define ITEM struct wide_item
#define DIGIT(item, shift) ((item).key >> (shift)&255)
#define BEFORE(a, b) ((a).key < (b).key)
#define INDEX(item) ((item).index)
#include "cpu/kernels/sort_body.h"

/* ---- the first k of a long line ---- */

/* Puts `item` into the heap in place of its greatest. */
static void replace_top(uint64_t *heap, int64_t k, uint64_t item) {
    int64_t at = 0;
    for (int64_t child; (child = 2 * at + 1) < k; at = child) {
        if (child + 1 < k && heap[child + 1] > heap[child]) child++;
        if (heap[child] <= item) break;
        heap[at] = heap[child];
    }
    heap[at] = item;
}

/* The k least items seen so far are in a heap with the greatest at its top; few of those that follow pass it. */
static void top_lines(void *context, int worker, int64_t begin, int64_t end) {
    const struct sort *s = context;
    uint64_t *items = (uint64_t *)s->scratch + 2 * s->n * worker, *heap = items + s->n;
    for (int64_t line = begin; line < end; line++) {
        int64_t first = line / s->inner * s->n * s->inner + line % s->inner;
        int64_t out = line / s->inner * s->k * s->inner + line % s->inner;
        encode_narrow(s, s->in + first * (int64_t)s->size, items, 0, s->n);
        for (int64_t i = 0; i < s->k; i++) heap[i] = UINT64_MAX;
        for (int64_t i = 0; i < s->n; i++)
            if (items[i] < heap[0]) replace_top(heap, s->k, items[i]);
        for (int64_t i = s->k - 1; i >= 0; i--) {
            items[i] = heap[0];
            replace_top(heap, i, heap[i]);
        }
        emit_narrow(s, items, first, out, 0, s->k);
    }
}

static enum wick_status run(struct sort *s, int64_t lines) {
    bool wide = s->size == 8, together = s->n >= LONG;
    size_t item = wide ? sizeof(struct wide_item) : sizeof(uint64_t), nbytes;
    int workers = together ? 1 : (int)wick__min(wick__workers(), lines);
    if (!wick__mul_size((size_t)s->n, 2 * item, &nbytes) || !wick__mul_size(nbytes, (size_t)workers, &nbytes) ||
        !wick__add_size(nbytes, together ? sizeof *s->counts * CHUNKS : 0, &nbytes))
        return wick__fail(WICK_MEMORY, "out of memory: a line of %lld elements to sort", (long long)s->n);
    WICK__TRY(wick__pool_alloc(nbytes, &s->scratch));
    s->counts = (void *)((char *)s->scratch + 2 * item * (size_t)s->n);
    if (s->k < s->n / 8 && !wide && !together)
        wick__parallel_with(workers, lines, wick__max(1, GRAIN / s->n), top_lines, s);
    else if (together)
        (wide ? sort_long_wide : sort_long_narrow)(s, lines);
    else
        wick__parallel_with(workers, lines, wick__max(1, GRAIN / s->n), wide ? sort_lines_wide : sort_lines_narrow, s);
    wick__pool_free(s->scratch, nbytes);
    return WICK_OK;
}

enum wick_status WICK__ISA(wick__cpu_sort)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_sort)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    int dim = call->p.along.dim;
    bool only_indices = call->op == WICK_OP_argsort;
    struct sort s = {.dtype = x->dtype,
                     .size = wick__size(x->dtype),
                     .in = wick__data(x),
                     .values = only_indices ? NULL : wick__data(call->out[0]),
                     .n = x->layout.shape[dim],
                     .inner = 1,
                     .k = call->out[0]->layout.shape[dim],
                     .descending = call->p.along.descending};
    if (wick__count(call->out[0]) == 0) return WICK_OK;
    if (only_indices || call->n_out > 1) s.indices = wick__data(call->out[only_indices ? 0 : 1]);
    for (int d = dim + 1; d < x->layout.rank; d++) s.inner *= x->layout.shape[d];
    return run(&s, wick__count(x) / s.n);
}
