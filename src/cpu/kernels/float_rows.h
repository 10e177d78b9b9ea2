/* Rows of floats, block by block, in the type they are computed in: f64 for f64, f32 for all others. */
#ifndef WICK_CPU_KERNELS_FLOAT_ROWS_H
#define WICK_CPU_KERNELS_FLOAT_ROWS_H

#include "core/convert.h"

#include "core/checked.h"
#include "backend.h"

#if WICK_ISA_LEVEL >= 1
#include <immintrin.h>
#else
#include <emmintrin.h>
#endif

/* Elements that are worked on at once: a few such blocks fit into the first cache. */
enum { BLOCK = 2048 };

/* From this size on, results go past the caches: they would drive out what is still to be read. */
static const size_t STREAM_FROM = (size_t)8 << 20;

/* Copies nbytes without bringing `to` into the caches. */
static inline void stream_copy(void *to, const void *from, size_t nbytes) {
    char *out = to;
    const char *in = from;
    size_t head = wick__min((int64_t)nbytes, (int64_t)(-(uintptr_t)out & 63));
    memcpy(out, in, head);
    size_t i = head;
#if WICK_ISA_LEVEL == 2
    for (; i + 64 <= nbytes; i += 64) _mm512_stream_si512((void *)(out + i), _mm512_loadu_si512(in + i));
#elif WICK_ISA_LEVEL == 1
    for (; i + 32 <= nbytes; i += 32)
        _mm256_stream_si256((void *)(out + i), _mm256_loadu_si256((const void *)(in + i)));
#else
    for (; i + 16 <= nbytes; i += 16) _mm_stream_si128((void *)(out + i), _mm_loadu_si128((const void *)(in + i)));
#endif
    memcpy(out + i, in + i, nbytes - i);
}

static inline const float *block_in_f32(enum wick_dtype dtype, const char *in, int64_t n, float *buffer) {
    if (dtype == WICK_F32) return (const void *)in;
    wick__row_to_f32(dtype, in, 1, buffer, n);
    return buffer;
}

static inline const double *block_in_f64(enum wick_dtype dtype, const char *in, int64_t n, double *buffer) {
    (void)dtype, (void)n, (void)buffer;
    return (const void *)in;
}

/* Where a block of results is to be computed: in its place, or in the buffer, from where block_done takes it. */
static inline float *block_out_f32(enum wick_dtype dtype, char *out, bool stream, float *buffer) {
    return dtype == WICK_F32 && !stream ? (void *)out : buffer;
}

static inline double *block_out_f64(enum wick_dtype dtype, char *out, bool stream, double *buffer) {
    (void)dtype;
    return stream ? buffer : (void *)out;
}

static inline void block_done_f32(enum wick_dtype dtype, char *out, int64_t n, bool stream, const float *buffer) {
    if (dtype != WICK_F32)
        wick__row_from_f32(dtype, buffer, out, n);
    else if (stream)
        stream_copy(out, buffer, sizeof *buffer * (size_t)n);
}

static inline void block_done_f64(enum wick_dtype dtype, char *out, int64_t n, bool stream, const double *buffer) {
    (void)dtype;
    if (stream) stream_copy(out, buffer, sizeof *buffer * (size_t)n);
}

#endif
