/* What the library knows of dtypes: their traits, sizes made of them, and sets of dtypes. */
#ifndef WICK_CORE_DTYPE_H
#define WICK_CORE_DTYPE_H

#include <wick/dtype.h>

#include <stddef.h>
#include <stdint.h>

struct wick__traits {
    const char *name;
    enum wick_dtype_kind kind;
    int elements, nbytes; /* of a block */
};
extern const struct wick__traits wick__traits[WICK_DTYPE_COUNT];

/* Bytes of n elements; the last ones of a dtype packed below a byte are rounded up to one. False when they do not fit
 * in 64 bits. */
bool wick__nbytes(enum wick_dtype dtype, int64_t n, size_t *nbytes);

/* Bytes of one element of a dtype of whole bytes. Of others, the bytes of a block: no kernel but the copy sees them. */
static inline size_t wick__size(enum wick_dtype dtype) { return (size_t)wick__traits[dtype].nbytes; }

/* Whether an element has an address of its own. */
static inline bool wick__is_plain(enum wick_dtype dtype) { return wick__traits[dtype].elements == 1; }

/* Where element n, the first of its block, begins. */
static inline int64_t wick__byte_offset(enum wick_dtype dtype, int64_t n) {
    const struct wick__traits *traits = &wick__traits[dtype];
    return traits->elements == 1 ? n * traits->nbytes : n / traits->elements * traits->nbytes;
}

/* ---- sets ---- */

typedef uint64_t wick__dtypes;
_Static_assert(WICK_DTYPE_COUNT <= 64, "a set of dtypes has 64 bits");

#define WICK__BIT(dtype) (UINT64_C(1) << WICK_DTYPE_##dtype)
#define WICK__UNSIGNED (WICK__BIT(u8) | WICK__BIT(u32))
#define WICK__SIGNED (WICK__BIT(i16) | WICK__BIT(i32) | WICK__BIT(i64))
#define WICK__INTS (WICK__UNSIGNED | WICK__SIGNED)
#define WICK__FLOATS (WICK__BIT(bf16) | WICK__BIT(f16) | WICK__BIT(f32) | WICK__BIT(f64) | WICK__BIT(f8e4m3))
#define WICK__ALL (WICK__INTS | WICK__FLOATS)
/* Those that can be converted to and from the ten: all of at least 8 bits with values of their own. */
#define WICK__CASTABLE                                                                                                 \
    (WICK__ALL | WICK__BIT(i8) | WICK__BIT(u16) | WICK__BIT(u64) | WICK__BIT(bool) | WICK__BIT(f8e5m2))
/* Those whose elements are whole bytes. */
#define WICK__BYTES (WICK__CASTABLE | WICK__BIT(f8e8m0))
/* GGML's blocks, and the floats that they are made of, become, and are multiplied with. */
#define WICK__BLOCKS (WICK__STORABLE & ~(WICK__BIT(q4_0) - 1))
#define WICK__PLAIN_FLOATS (WICK__BIT(bf16) | WICK__BIT(f16) | WICK__BIT(f32))
#define WICK__HALVES (WICK__BIT(bf16) | WICK__BIT(f16))
#define WICK__BLOCKS_OR_HALVES (WICK__BLOCKS | WICK__HALVES)
#define WICK__BYTES_OR_BLOCKS (WICK__BYTES | WICK__BLOCKS)
#define WICK__STORABLE ((UINT64_C(1) << WICK_DTYPE_COUNT) - 1)

static inline bool wick__has(wick__dtypes set, enum wick_dtype dtype) { return (set >> dtype & 1) != 0; }

/* "u8, u32 or i16" into text, which is returned. */
enum { WICK__DTYPES_TEXT = 160 };
char *wick__dtypes_text(char text[WICK__DTYPES_TEXT], wick__dtypes set);

#endif
