/* What host code and kernels share: integer names, the layout of an operand as kernels take it. Plain C,
 * so that src/gpu/ fills the same structs that kernels read. */
#ifndef WICK_KERNELS_PARAMS_H
#define WICK_KERNELS_PARAMS_H

#if defined(__cplusplus) /* kernels are C++ without system headers, src/gpu/ is C */
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
#else
#include <stdint.h>
typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;
#endif

/* Threads of a block, unless a kernel says otherwise. */
#define GPU_BLOCK 256
#define GPU_RANK 8

/* Rows kept in registers (rows.h): elements of `size` bytes that a thread keeps, but for those before the first whole
 * vector and after the last; and the most threads for a row. Norms keep fewer of f32, since their
 * sums in f64 take registers too. */
#define GPU_SOFTMAX_KEPT(size) ((size) == 8 ? 16 : 32)
#define GPU_SOFTMAX_THREADS 512
#define GPU_NORMALIZE_KEPT(size) ((size) <= 2 ? 32 : 16)
#define GPU_NORMALIZE_THREADS(size) ((size) == 4 ? 1024 : 512)

/* Division of a 32-bit number below 2^31 by d as a multiplication (Granlund and Montgomery, PLDI 1994):
 * n / d = (mulhi(n, magic) + n) >> shift. */
struct gpu_divisor {
    u32 d, magic, shift;
};

/* An operand: its dims from the last to the first (dim 0 varies fastest), strides in elements. */
struct gpu_layout {
    i64 stride[GPU_RANK];
};

/* The shape that operands of an elementwise op share, after collapsing: dims from the last to the first. */
struct gpu_shape {
    i64 count;  /* elements */
    u32 rank;   /* >= 1 */
    u32 narrow; /* count < 2^31: positions may be split with 32-bit arithmetic */
    i64 size[GPU_RANK];
    struct gpu_divisor divisor[GPU_RANK]; /* of size[], valid when narrow */
};

#endif
