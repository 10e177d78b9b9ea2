/* Which instruction sets the processor has. */
#include "cpu/runtime/isa.h"

#include "core/error.h"
#include "core/setting.h"

#include <pthread.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const char *const names[WICK__ISA_COUNT + 1] = {"baseline", "avx2", "avx512", NULL};
static enum wick__isa chosen;
static _Bool bf16, vnni;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#if defined(__x86_64__)
/* clang 14 knows no name for it. */
static _Bool has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

static void choose(void) {
    enum wick__isa best = WICK__ISA_BASELINE;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") && has_f16c())
        best = WICK__ISA_AVX2;
    if (best == WICK__ISA_AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
        best = WICK__ISA_AVX512;
    enum wick__isa wish = (enum wick__isa)wick__setting_word("WICK_ISA", names, (int)best);
    if (wish > best) wick__log(WICK_LOG_WARNING, "WICK_ISA=%s: this processor has only %s", names[wish], names[best]);
    if (wish < best) best = wish;
    bf16 = best == WICK__ISA_AVX512 && __builtin_cpu_supports("avx512bf16");
    vnni = best == WICK__ISA_AVX512 && __builtin_cpu_supports("avx512vnni");
#endif
    chosen = best;
}

enum wick__isa wick__isa(void) {
    pthread_once(&once, choose);
    return chosen;
}

const char *wick__isa_name(enum wick__isa isa) { return names[isa]; }

_Bool wick__isa_has_avx512_bf16(void) {
    pthread_once(&once, choose);
    return bf16;
}

_Bool wick__isa_has_avx512_vnni(void) {
    pthread_once(&once, choose);
    return vnni;
}
