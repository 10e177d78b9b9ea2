/* A tensor seen as lines: an output for each index of the kept dims, made of `terms` elements, those of the reduced
 * dims. For kernels that reduce; included into each copy of them, hence all static. */
#ifndef WICK_CPU_KERNELS_LINES_H
#define WICK_CPU_KERNELS_LINES_H

#include "core/checked.h"
#include "backend.h"
#include "core/convert.h"

#include <string.h>

/* Elements of a line that are worked on at once: they fit into the first cache however they are loaded. */
enum { LINE_BLOCK = 4096 };

/* Elements of a line that one thread takes: how lines are cut depends on their length alone. */
enum { LINE_SEGMENT = 16 * LINE_BLOCK };

struct dims {
    int n;
    int64_t shape[WICK_MAX_RANK], stride[WICK_MAX_RANK];
};

struct lines {
    struct dims kept, reduced; /* dims of size 1 gone, neighbours merged; n may be 0 */
    int64_t outs, terms;
    const char *data;
    size_t size; /* bytes of an element */
    enum wick_dtype dtype;
    bool direct; /* the elements of a line lie side by side */
};

/* Room for one block of a line. */
struct line_buffer {
    _Alignas(64) char raw[LINE_BLOCK * 8];
    _Alignas(64) float wide[LINE_BLOCK];
};

static inline void dims_push(struct dims *dims, int64_t size, int64_t stride) {
    int last = dims->n - 1;
    if (size == 1) return;
    if (last >= 0 && dims->stride[last] == stride * size) {
        dims->shape[last] *= size;
        dims->stride[last] = stride;
        return;
    }
    dims->shape[dims->n] = size;
    dims->stride[dims->n++] = stride;
}

/* The lines of x for a mask of reduced dims. Their elements come in row-major order when `ordered`, else in the order
 * in which they lie in memory. */
static inline void lines_init(struct lines *lines, const struct wick_tensor *x, uint32_t mask, bool ordered) {
    const struct wick__layout *layout = &x->layout;
    int order[WICK_MAX_RANK], n = 0;
    *lines = (struct lines){.outs = 1, .terms = 1, .data = wick__data(x), .dtype = x->dtype};
    lines->size = wick__size(x->dtype);
    for (int d = 0; d < layout->rank; d++) {
        if (!(mask >> d & 1)) {
            lines->outs *= layout->shape[d];
            dims_push(&lines->kept, layout->shape[d], layout->stride[d]);
            continue;
        }
        lines->terms *= layout->shape[d];
        int at = n++;
        for (; !ordered && at > 0 && layout->stride[order[at - 1]] < layout->stride[d]; at--) order[at] = order[at - 1];
        order[at] = d;
    }
    for (int i = 0; i < n; i++) dims_push(&lines->reduced, layout->shape[order[i]], layout->stride[order[i]]);
    lines->direct = lines->reduced.n == 0 || (lines->reduced.n == 1 && lines->reduced.stride[0] == 1);
}

/* The offset, in elements, of index i of the dims in row-major order. */
static inline int64_t dims_offset(const struct dims *dims, int64_t i) {
    int64_t offset = 0;
    for (int d = dims->n - 1; d > 0; d--) {
        offset += i % dims->shape[d] * dims->stride[d];
        i /= dims->shape[d];
    }
    return dims->n > 0 ? offset + i * dims->stride[0] : 0;
}

/* Where line i begins, in elements. */
static inline int64_t lines_offset(const struct lines *lines, int64_t i) {
    return lines->kept.n == 1 ? i * lines->kept.stride[0] : dims_offset(&lines->kept, i);
}

static inline void gather_run(char *to, const char *from, int64_t n, int64_t stride, size_t size) {
    if (stride == 1) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    size_t step = (size_t)stride * size;
    switch (size) {
    case 1:
        for (int64_t i = 0; i < n; i++) to[i] = from[(size_t)i * step];
        break;
    case 2:
        for (int64_t i = 0; i < n; i++) memcpy(to + 2 * i, from + (size_t)i * step, 2);
        break;
    case 4:
        for (int64_t i = 0; i < n; i++) memcpy(to + 4 * i, from + (size_t)i * step, 4);
        break;
    default:
        for (int64_t i = 0; i < n; i++) memcpy(to + 8 * i, from + (size_t)i * step, 8);
        break;
    }
}

/* How many of the elements from `first` to end-1 of a line to load at once: those of a long run side by side alone, as
 * they are then read where they lie. */
static inline int64_t line_piece(const struct lines *lines, int64_t first, int64_t end) {
    enum { LONG_RUN = 256 };
    const struct dims *dims = &lines->reduced;
    int64_t n = wick__min(LINE_BLOCK, end - first), last = dims->n - 1;
    if (lines->direct || dims->stride[last] != 1 || dims->shape[last] < LONG_RUN) return n;
    return wick__min(n, dims->shape[last] - first % dims->shape[last]);
}

/* Elements first .. first+n-1 of the line at `base`, an offset in elements; n <= LINE_BLOCK. Small floats come as
 * f32. The address is good until the next call with the same buffer. */
static inline const void *line_load(const struct lines *lines, int64_t base, int64_t first, int64_t n,
                                    struct line_buffer *buffer) {
    const char *data = lines->data + base * (int64_t)lines->size;
    const struct dims *dims = &lines->reduced;
    if (lines->direct) {
        data += first * (int64_t)lines->size;
    } else {
        int last = dims->n - 1;
        int64_t at = first % dims->shape[last], outer = first / dims->shape[last];
        struct dims outside = *dims;
        outside.n = last;
        bool beside = dims->stride[last] == 1 && at + n <= dims->shape[last];
        if (beside) data += (dims_offset(&outside, outer) + at) * (int64_t)lines->size;
        for (int64_t done = 0; done < n && !beside; at = 0, outer++) {
            int64_t run = wick__min(dims->shape[last] - at, n - done);
            int64_t from = dims_offset(&outside, outer) + at * dims->stride[last];
            gather_run(buffer->raw + done * (int64_t)lines->size, data + from * (int64_t)lines->size, run,
                       dims->stride[last], lines->size);
            done += run;
        }
        if (!beside) data = buffer->raw;
    }
    switch (lines->dtype) {
    case WICK_BF16:
    case WICK_F16:
    case WICK_F8E4M3: wick__row_to_f32(lines->dtype, data, 1, buffer->wide, n); return buffer->wide;
    default: return data;
    }
}

#endif
