/* Reading ids, for kernel files: any id dtype to int64, -1 where the sentinel stands; finding the first bad one. */
#ifndef WICK_CPU_KERNELS_IDS_H
#define WICK_CPU_KERNELS_IDS_H

#include "cpu/runtime/parallel.h"
#include "cpu/kernels/walk.h"

#include "core/checked.h"
#include "backend.h"

#include <stdatomic.h>
#include <string.h>

enum { WICK__IDS = 512 }; /* ids read at once */

/* n <= WICK__IDS ids that were read. */
struct wick__ids {
    const int64_t *id; /* -1: none */
    bool all;          /* no -1 among them */
    bool bad;          /* one is neither in range nor the sentinel; it is -1 */
};

#define WICK__IDS_OF(dtype, type, max)                                                                                 \
    case WICK_DTYPE_##dtype: {                                                                                         \
        const type *from = data;                                                                                       \
        for (int64_t j = 0; j < n; j++) {                                                                              \
            type v = from[j * step];                                                                                   \
            bool in = (uint64_t)(int64_t)v < (uint64_t)size && v != (max);                                             \
            buffer[j] = in ? (int64_t)v : -1;                                                                          \
            none |= !in;                                                                                               \
            bad |= !in & (v != (max));                                                                                 \
        }                                                                                                              \
        break;                                                                                                         \
    }

/* n ids `step` elements apart; those in 0 .. size-1 are in range. `buffer` has room for n. */
static inline struct wick__ids wick__ids_read(enum wick_dtype dtype, const void *data, int64_t step, int64_t n,
                                              int64_t size, int64_t *buffer) {
    unsigned none = 0, bad = 0;
    if (dtype == WICK_DTYPE_i64 && step == 1) { /* often right as they lie */
        const int64_t *from = data;
        for (int64_t j = 0; j < n; j++) none |= (uint64_t)from[j] >= (uint64_t)size;
        if (!none) return (struct wick__ids){.id = from, .all = true};
    }
    switch (dtype) {
        WICK__IDS_OF(u8, uint8_t, UINT8_MAX)
        WICK__IDS_OF(u32, uint32_t, UINT32_MAX)
        WICK__IDS_OF(i16, int16_t, INT16_MAX)
        WICK__IDS_OF(i32, int32_t, INT32_MAX)
        WICK__IDS_OF(i64, int64_t, INT64_MAX)
    default: break;
    }
    return (struct wick__ids){.id = buffer, .all = !none, .bad = bad != 0};
}

struct wick__ids_scan {
    struct wick__layout layout;
    enum wick_dtype dtype;
    const char *data;
    int64_t size;
    int64_t *list;         /* where they go in row-major order; NULL: nowhere */
    _Atomic int64_t first; /* row-major position of the first bad id; count when there is none */
};

/* Units are rows of the ids. */
static void wick__ids_scan_rows(void *context, int worker, int64_t begin, int64_t end) {
    struct wick__ids_scan *scan = context;
    int last = scan->layout.rank - 1;
    int64_t n = scan->layout.shape[last], step = scan->layout.stride[last], buffer[WICK__IDS];
    int64_t width = (int)wick__size(scan->dtype);
    struct wick__walk walk = wick__walk_new(&scan->layout, 1, last);
    (void)worker;
    wick__walk_to(&walk, begin);
    for (int64_t row = begin; row < end; row++, wick__walk_next(&walk))
        for (int64_t at = 0; at < n; at += WICK__IDS) {
            int64_t count = wick__min(WICK__IDS, n - at);
            const char *from = scan->data + (walk.at[0] + at * step) * width;
            struct wick__ids ids = wick__ids_read(scan->dtype, from, step, count, scan->size, buffer);
            if (scan->list) memcpy(scan->list + row * n + at, ids.id, (size_t)count * sizeof *ids.id);
            if (!ids.bad) continue;
            int64_t j = 0;
            while (!wick__ids_read(scan->dtype, from + j * step * width, 1, 1, scan->size, buffer).bad) j++;
            int64_t position = row * n + at + j, first = atomic_load(&scan->first);
            while (position < first && !atomic_compare_exchange_weak(&scan->first, &first, position)) {
            }
        }
}

/* Checks all ids against the size of the dim they count along, and writes them, -1 for the sentinel, to `list` unless
 * that is NULL. WICK_RANGE names the first bad one. */
static inline enum wick_status wick__ids_scan(const struct wick__call *call, const struct wick_tensor *ids,
                                              int64_t size, int64_t *list) {
    int64_t count = wick__count(ids), position, value = 0;
    if (count == 0) return WICK_OK;
    struct wick__ids_scan scan = {
        .layout = ids->layout, .dtype = ids->dtype, .data = wick__data(ids), .size = size, .list = list};
    atomic_init(&scan.first, count);
    wick__layout_collapse(&scan.layout, 1);
    int64_t rows = count / scan.layout.shape[scan.layout.rank - 1];
    if (rows == 1 && count > WICK__IDS && count % WICK__IDS == 0) { /* one long row: cut it for the threads */
        scan.layout = (struct wick__layout){.rank = 2,
                                            .shape = {count / WICK__IDS, WICK__IDS},
                                            .stride = {WICK__IDS * scan.layout.stride[0], scan.layout.stride[0]}};
        rows = count / WICK__IDS;
    }
    wick__parallel(rows, wick__max(1, 16384 * rows / count), wick__ids_scan_rows, &scan);
    position = atomic_load(&scan.first);
    if (position == count) return WICK_OK;
    struct wick__walk walk = wick__walk_new(&ids->layout, 1, ids->layout.rank);
    char text[WICK__TENSOR_TEXT];
    wick__walk_to(&walk, position);
    const char *at = (const char *)wick__data(ids) + walk.at[0] * (int)wick__size(ids->dtype);
    switch (ids->dtype) {
    case WICK_DTYPE_u8: value = *(const uint8_t *)at; break;
    case WICK_DTYPE_u32: value = *(const uint32_t *)(const void *)at; break;
    case WICK_DTYPE_i16: value = *(const int16_t *)(const void *)at; break;
    case WICK_DTYPE_i32: value = *(const int32_t *)(const void *)at; break;
    default: value = *(const int64_t *)(const void *)at; break;
    }
    return wick__fail(WICK_RANGE, "%s: id %lld at position %lld of ids %s is out of range for size %lld",
                      wick_op_name(call->op), (long long)value, (long long)position, wick__tensor_text(text, ids),
                      (long long)size);
}

#endif
