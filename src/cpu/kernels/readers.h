/* What the elements of a dim take from those of another: lists of places and weights. */
#ifndef WICK_CPU_KERNELS_READERS_H
#define WICK_CPU_KERNELS_READERS_H

#include "core/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Element i of `in` takes reader[start[i]] .. reader[start[i + 1] - 1], elements of `out`. */
struct reader {
    int64_t at;
    double weight;
};
struct readers {
    int64_t in, out;
    int64_t *start; /* [in + 1] */
    struct reader *reader;
    size_t nbytes;
};

/* Makes readers by calling `list` twice, first with reader NULL to count: it calls add_reader for each result and
 * element, in order of the results. False when out of memory. */
typedef void list_readers(struct readers *r, const void *context);

static inline void add_reader(struct readers *r, int64_t i, int64_t at, double weight) {
    if (weight == 0) return;
    if (r->reader)
        r->reader[r->start[i]++] = (struct reader){at, weight};
    else
        r->start[i + 1]++;
}

static inline bool readers_make(struct readers *r, int64_t in, int64_t out, list_readers *list, const void *context) {
    struct readers made = {.in = in, .out = out};
    size_t starts = sizeof *made.start * ((size_t)in + 1);
    int64_t *count = wick__alloc(starts);
    if (!count) return false;
    memset(count, 0, starts);
    made.start = count;
    list(&made, context);
    for (int64_t i = 0; i < in; i++) count[i + 1] += count[i];
    size_t entries = (size_t)count[in];
    made.nbytes = starts + sizeof *made.reader * entries;
    char *memory = wick__alloc(made.nbytes);
    if (memory) {
        made.reader = (struct reader *)(void *)memory;
        made.start = (int64_t *)(void *)(memory + sizeof *made.reader * entries);
        memcpy(made.start, count, starts);
        list(&made, context);
        memcpy(made.start, count, starts);
        *r = made;
    }
    wick__free(count, starts);
    return memory != NULL;
}

static inline void readers_free(struct readers *r) {
    if (r->reader) wick__free(r->reader, r->nbytes);
}

#endif
