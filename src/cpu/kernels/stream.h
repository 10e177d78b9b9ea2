/* Copies past the cache, for kernel files: the lines written are not read first, and push nothing else out. */
#ifndef WICK_CPU_KERNELS_STREAM_H
#define WICK_CPU_KERNELS_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Results from this many bytes on are worth streaming: they would not stay in the cache anyway. */
enum { WICK__STREAM_FROM = 8 << 20 };

/* memcpy by streaming stores. wick__stream_end must follow, on the same thread, before others read the result. */
static inline void wick__stream_copy(void *to_, const void *from_, size_t n) {
    char *to = to_;
    const char *from = from_;
#if defined(__x86_64__)
    size_t head = (size_t)(-(uintptr_t)to & 63);
    if (n >= 256) {
        memcpy(to, from, head);
        to += head;
        from += head;
        n -= head;
        for (; n >= 128; n -= 128, to += 128, from += 128) {
#if WICK_ISA_LEVEL >= 2
            __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + 64);
            _mm512_stream_si512((void *)to, a);
            _mm512_stream_si512((void *)(to + 64), b);
#elif WICK_ISA_LEVEL == 1
            for (int i = 0; i < 128; i += 32)
                _mm256_stream_si256((void *)(to + i), _mm256_loadu_si256((const void *)(from + i)));
#else
            for (int i = 0; i < 128; i += 16)
                _mm_stream_si128((void *)(to + i), _mm_loadu_si128((const void *)(from + i)));
#endif
        }
    }
#endif
    memcpy(to, from, n);
}

static inline void wick__stream_end(void) {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

#endif
