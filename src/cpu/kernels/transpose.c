/* The transposing copy: blocks of 64 by 64 elements go through the first-level cache, turned in registers on the way,
 * so that both sides are read and written in runs. */
#include "cpu/kernels/transpose.h"

#include "cpu/runtime/parallel.h"
#include "cpu/kernels/stream.h"

#include "core/checked.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { SIDE = 64, LEAST = 8, GRAIN = 4 };

/* to[r * to_dim + c] = from[c * from_last + r] for each plane: r counts along `dim`, c along the last one. */
struct job {
    struct wick__layout from, to;
    const char *in;
    char *out;
    size_t size;
    int dim;
    int64_t rows, columns; /* of a plane of the result */
    int64_t row_blocks, column_blocks;
    bool stream;
};

/* ---- squares in registers: from `in`, rows `step` elements apart, to `out`, rows `to` elements apart ---- */

#if defined(__x86_64__)
static inline void square_16(const uint16_t *in, int64_t step, uint16_t *out, int64_t to) {
    __m128i a[8], b[8];
    for (int i = 0; i < 8; i++) a[i] = _mm_loadu_si128((const void *)(in + i * step));
    for (int i = 0; i < 4; i++) {
        b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
        b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm_unpacklo_epi16(b[i], b[i + 4]);
        a[2 * i + 1] = _mm_unpackhi_epi16(b[i], b[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        _mm_storeu_si128((void *)(out + 2 * i * to), _mm_unpacklo_epi16(a[i], a[i + 4]));
        _mm_storeu_si128((void *)(out + (2 * i + 1) * to), _mm_unpackhi_epi16(a[i], a[i + 4]));
    }
}
#endif

#if WICK_ISA_LEVEL >= 1
enum { SQUARE_32 = 8 };
/* Elements k .. k + 3 of rows r and r + 4. */
static inline __m256 halves_32(const uint32_t *in, int64_t step, int r, int k) {
    __m128 low = _mm_loadu_ps((const void *)(in + r * step + k));
    return _mm256_insertf128_ps(_mm256_castps128_ps256(low), _mm_loadu_ps((const void *)(in + (r + 4) * step + k)), 1);
}
static inline __attribute__((always_inline)) void square_32(const uint32_t *in, int64_t step, uint32_t *out,
                                                            int64_t to) {
    for (int k = 0; k < 8; k += 4) {
        __m256 a = halves_32(in, step, 0, k), b = halves_32(in, step, 1, k), c = halves_32(in, step, 2, k),
               d = halves_32(in, step, 3, k);
        __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
        _mm256_storeu_ps((void *)(out + k * to), _mm256_shuffle_ps(ab, cd, 0x44));
        _mm256_storeu_ps((void *)(out + (k + 1) * to), _mm256_shuffle_ps(ab, cd, 0xEE));
        ab = _mm256_unpackhi_ps(a, b), cd = _mm256_unpackhi_ps(c, d);
        _mm256_storeu_ps((void *)(out + (k + 2) * to), _mm256_shuffle_ps(ab, cd, 0x44));
        _mm256_storeu_ps((void *)(out + (k + 3) * to), _mm256_shuffle_ps(ab, cd, 0xEE));
    }
}
enum { SQUARE_64 = 4 };
static inline void square_64(const uint64_t *in, int64_t step, uint64_t *out, int64_t to) {
    __m256d a[4], b[4];
    for (int i = 0; i < 4; i++) a[i] = _mm256_loadu_pd((const void *)(in + i * step));
    for (int i = 0; i < 4; i += 2) {
        b[i] = _mm256_unpacklo_pd(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_pd(a[i], a[i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        _mm256_storeu_pd((void *)(out + i * to), _mm256_permute2f128_pd(b[i], b[i + 2], 0x20));
        _mm256_storeu_pd((void *)(out + (i + 2) * to), _mm256_permute2f128_pd(b[i], b[i + 2], 0x31));
    }
}
#else
enum { SQUARE_32 = 4, SQUARE_64 = 4 };
#define SQUARE(bits)                                                                                                   \
    static inline void square_##bits(const uint##bits##_t *in, int64_t step, uint##bits##_t *out, int64_t to) {        \
        for (int c = 0; c < SQUARE_##bits; c++)                                                                        \
            for (int r = 0; r < SQUARE_##bits; r++) out[r * to + c] = in[c * step + r];                                \
    }
SQUARE(32)
SQUARE(64)
#endif
enum { SQUARE_8 = 8, SQUARE_16 = 8 };

static inline void square_8(const uint8_t *in, int64_t step, uint8_t *out, int64_t to) {
    for (int c = 0; c < SQUARE_8; c++)
        for (int r = 0; r < SQUARE_8; r++) out[r * to + c] = in[c * step + r];
}

#if !defined(__x86_64__)
static inline void square_16(const uint16_t *in, int64_t step, uint16_t *out, int64_t to) {
    for (int c = 0; c < SQUARE_16; c++)
        for (int r = 0; r < SQUARE_16; r++) out[r * to + c] = in[c * step + r];
}
#endif

/* ---- blocks ---- */

/* Turns `columns` rows of `rows` elements each into `out`, whose rows lie `to` elements apart. The last squares lie
 * over those before them where sizes are no multiples. */
#define TURN(bits)                                                                                                     \
    static inline __attribute__((always_inline)) void turn_##bits(                                                     \
        const uint##bits##_t *in, int64_t step, const int64_t size[2], uint##bits##_t *out, int64_t to) {              \
        enum { SQUARE = SQUARE_##bits };                                                                               \
        int64_t rows = size[0], columns = size[1];                                                                     \
        if (rows < SQUARE || columns < SQUARE) {                                                                       \
            for (int64_t c = 0; c < columns; c++)                                                                      \
                for (int64_t r = 0; r < rows; r++) out[r * to + c] = in[c * step + r];                                 \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t c = 0; c < columns; c += SQUARE) {                                                                \
            c = wick__min(c, columns - SQUARE);                                                                        \
            for (int64_t r = 0; r < rows; r += SQUARE) {                                                               \
                r = wick__min(r, rows - SQUARE);                                                                       \
                square_##bits(in + c * step + r, step, out + r * to + c, to);                                          \
            }                                                                                                          \
        }                                                                                                              \
    }
TURN(8)
TURN(16)
TURN(32)
TURN(64)

/* The same by an element's bytes. Inlined, so that the usual distance of rows is a constant. */
static inline __attribute__((always_inline)) void turn(size_t bytes, const void *in, int64_t step,
                                                       const int64_t size[2], void *out, int64_t to) {
    switch (bytes) {
    case 1: turn_8(in, step, size, out, to); break;
    case 2: turn_16(in, step, size, out, to); break;
    case 4: turn_32(in, step, size, out, to); break;
    default: turn_64(in, step, size, out, to); break;
    }
}

/* Where a plane begins, in elements: `plane` counts through all dims but `dim` and the last. */
static int64_t plane_start(const struct wick__layout *layout, int dim, int64_t plane) {
    int64_t at = 0;
    for (int d = layout->rank - 2; d >= 0; d--) {
        if (d == dim) continue;
        at += plane % layout->shape[d] * layout->stride[d];
        plane /= layout->shape[d];
    }
    return at;
}

static void copy_block(const struct job *job, int64_t plane, int64_t row, int64_t column, void *buffer) {
    int last = job->from.rank - 1;
    int64_t size[2] = {wick__min(SIDE, job->rows - row), wick__min(SIDE, job->columns - column)};
    int64_t step = job->from.stride[last], out_step = job->to.stride[job->dim];
    int64_t from = plane_start(&job->from, job->dim, plane) + row + column * step;
    int64_t to = plane_start(&job->to, job->dim, plane) + row * out_step + column;
    const void *in = job->in + (size_t)from * job->size;
    char *out = job->out + (size_t)to * job->size;
    if (out_step == size[1] && !job->stream) { /* rows that share the lines they are written to need no buffer */
        turn(job->size, in, step, size, out, out_step);
        return;
    }
    turn(job->size, in, step, size, buffer, SIDE);
    for (int64_t r = 0; r < size[0]; r++, out += (size_t)out_step * job->size) {
        const char *turned = (const char *)buffer + (size_t)(r * SIDE) * job->size;
        if (job->stream)
            wick__stream_copy(out, turned, (size_t)size[1] * job->size);
        else
            memcpy(out, turned, (size_t)size[1] * job->size);
    }
}

static void copy_blocks(void *context, int worker, int64_t begin, int64_t end) {
    const struct job *job = context;
    _Alignas(64) uint64_t buffer[SIDE * SIDE];
    (void)worker;
    for (int64_t block = begin; block < end; block++) {
        int64_t column = block % job->column_blocks, rest = block / job->column_blocks;
        copy_block(job, rest / job->row_blocks, rest % job->row_blocks * SIDE, column * SIDE, buffer);
    }
    if (job->stream) wick__stream_end();
}

/* out[i n + k] = in[i + k step]: n rows of w elements, woven into one. Where few are woven, vectors of them are. */
#define WEAVE(bits)                                                                                                    \
    static inline void weave_few_##bits(const uint##bits##_t *restrict in, int64_t step, int64_t w, int64_t n,         \
                                        uint##bits##_t *restrict out) {                                                \
        for (int64_t i = 0; i < w; i++)                                                                                \
            for (int64_t k = 0; k < n; k++) out[i * n + k] = in[i + k * step];                                         \
    }                                                                                                                  \
    static void weave_##bits(const void *in, int64_t step, int64_t w, int64_t n, void *out) {                          \
        switch ((int)n) {                                                                                              \
        case 2: weave_few_##bits(in, step, w, 2, out); break;                                                          \
        case 3: weave_few_##bits(in, step, w, 3, out); break;                                                          \
        case 4: weave_few_##bits(in, step, w, 4, out); break;                                                          \
        default: weave_few_##bits(in, step, w, n, out); break;                                                         \
        }                                                                                                              \
    }
WEAVE(8)
WEAVE(16)
WEAVE(32)
WEAVE(64)

void WICK__ISA(wick__turn)(size_t bytes, const void *in, int64_t step, const int64_t size[2], void *out, int64_t to) {
    if (size[1] >= LEAST || to != size[1]) {
        turn(bytes, in, step, size, out, to);
        return;
    }
    switch (bytes) {
    case 1: weave_8(in, step, size[0], size[1], out); break;
    case 2: weave_16(in, step, size[0], size[1], out); break;
    case 4: weave_32(in, step, size[0], size[1], out); break;
    default: weave_64(in, step, size[0], size[1], out); break;
    }
}

bool WICK__ISA(wick__transpose)(const struct wick__layout *from, const struct wick__layout *to, const void *in,
                                void *out, size_t size) {
    int last = from->rank - 1, dim = -1;
    if (to->stride[last] != 1 || from->stride[last] <= 1 || from->shape[last] < LEAST) return false;
    for (int d = 0; d < last; d++)
        if (from->stride[d] == 1 && from->shape[d] >= LEAST) dim = d;
    if (dim < 0) return false;
    int64_t count = wick__layout_count(to);
    struct job job = {.from = *from, .to = *to, .in = in, .out = out, .size = size, .dim = dim};
    job.rows = from->shape[dim];
    job.columns = from->shape[last];
    job.row_blocks = (job.rows + SIDE - 1) / SIDE;
    job.column_blocks = (job.columns + SIDE - 1) / SIDE;
    /* Rows that do not begin at a cache line share their first with the one before: streaming would write it twice. */
    job.stream = (size_t)count * size >= (size_t)WICK__STREAM_FROM && (size_t)to->stride[dim] * size % 64 == 0;
    wick__parallel(count / (job.rows * job.columns) * job.row_blocks * job.column_blocks, GRAIN, copy_blocks, &job);
    return true;
}
