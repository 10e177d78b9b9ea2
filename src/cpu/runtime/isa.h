/* Instruction sets.
 *
 * Each file of src/cpu/kernels/ is compiled three times, with WICK_ISA defined as baseline, avx2 or avx512 and the
 * compiler's flags to match; WICK_ISA_LEVEL is 0, 1 or 2. What a kernel file exports is named WICK__ISA(name),
 * name_avx512. All else in it, and in headers with code that it includes, must be static: the linker would otherwise
 * pick one of the three copies for all.
 *
 *   baseline  x86-64 SSE2
 *   avx2      AVX2, FMA, F16C, BMI2
 *   avx512    AVX-512 F, BW, DQ, VL, CD on top */
#ifndef WICK_CPU_RUNTIME_ISA_H
#define WICK_CPU_RUNTIME_ISA_H

#define WICK__JOIN_(a, b) a##_##b
#define WICK__JOIN(a, b) WICK__JOIN_(a, b)
#ifdef WICK_ISA
#define WICK__ISA(name) WICK__JOIN(name, WICK_ISA)
#endif

enum wick__isa { WICK__ISA_BASELINE, WICK__ISA_AVX2, WICK__ISA_AVX512, WICK__ISA_COUNT };

/* The set in use: the best that the processor has, or the one WICK_ISA names in the environment if it has that. */
enum wick__isa wick__isa(void);
const char *wick__isa_name(enum wick__isa isa);

/* AVX512_BF16 and AVX512_VNNI on top of avx512, for the kernels that look for them. */
_Bool wick__isa_has_avx512_bf16(void);
_Bool wick__isa_has_avx512_vnni(void);

#endif
