/* What the elements of a padded dim show. */
#ifndef WICK_CPU_KERNELS_PAD_SOURCES_H
#define WICK_CPU_KERNELS_PAD_SOURCES_H

#include <wick/conv.h>

#include <stdint.h>

/* The element of a dim of size n that lies at i of the padded one, with 0 its first; -1 for none. */
static inline int64_t pad_source(enum wick_pad_mode mode, int64_t i, int64_t n) {
    if (i >= 0 && i < n) return i;
    switch (mode) {
    case WICK_PAD_REPLICATE: return i < 0 ? 0 : n - 1;
    case WICK_PAD_REFLECT: return i < 0 ? -i : 2 * (n - 1) - i;
    case WICK_PAD_CIRCULAR: return i % n + (i % n < 0 ? n : 0);
    default: return -1;
    }
}

#endif
