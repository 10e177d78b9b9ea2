/* The generated functions on this machine. Each is run(in, out, table, g) for all threads of all blocks. */
#define FN __attribute__((unused)) inline
#define CALLED __attribute__((unused, noinline))
#define LDS(type) type
#define HIDE(x) __asm__("" : "+m"(x)) /* the compiler forgets what x is */
#define ATOMIC_ADD(p, v) (*(p) += (v))
#define ATOMIC_AND(p, v) (*(p) &= (v))
#define ATOMIC_OR(p, v) (*(p) |= (v))
#define ATOMIC_XOR(p, v) (*(p) ^= (v))
#define ATOMIC_MIN(p, v) least((p), (v))
#define ATOMIC_MAX(p, v) most((p), (v))
#define ATOMIC_LDS_ADD ATOMIC_ADD
#define ATOMIC_LDS_AND ATOMIC_AND
#define ATOMIC_LDS_OR ATOMIC_OR
#define ATOMIC_LDS_XOR ATOMIC_XOR
#define ATOMIC_LDS_MIN ATOMIC_MIN
#define ATOMIC_LDS_MAX ATOMIC_MAX
#define KERNEL(f)                                                                                                      \
    void run_##f(const u64 *in, u64 *out, const u8 *table, u32 *g) {                                                   \
        for (u32 t = 0; t < BLOCK * BLOCKS; t++) f(in + t * 8, out + t * 8, table, g, t);                              \
    }
#define KERNEL_LDS(f, type)                                                                                            \
    void run_##f(const u64 *in, u64 *out, const u8 *table, u32 *g) {                                                   \
        (void)table, (void)g;                                                                                          \
        for (u32 block = 0; block < BLOCKS; block++) {                                                                 \
            type lds[BLOCK];                                                                                           \
            u32 counts[16];                                                                                            \
            const u64 *from = in + block * BLOCK * 8;                                                                  \
            u64 *to = out + block * BLOCK * 8;                                                                         \
            for (u32 t = 0; t < BLOCK; t++) f##_0(from + t * 8, to + t * 8, lds, counts, t);                           \
            for (u32 t = 0; t < BLOCK; t++) f##_1(from + t * 8, to + t * 8, lds, counts, t);                           \
            for (u32 t = 0; t < BLOCK; t++) f##_2(from + t * 8, to + t * 8, lds, counts, t);                           \
        }                                                                                                              \
    }
#include "prelude.h"

FN static void least(u32 *p, u32 v) { *p = v < *p ? v : *p; }
FN static void most(u32 *p, u32 v) { *p = v > *p ? v : *p; }

#include "functions.h"

#define ROW(f, kind) {#f, kind, run_##f},
const struct {
    const char *name, *kind;
    void (*run)(const u64 *, u64 *, const u8 *, u32 *);
} host_functions[] = {FUNCTIONS(ROW){0, 0, 0}};
