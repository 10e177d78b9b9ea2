/* The tile functions of one kind of arithmetic; included once for each, with these defined (and undefined here):
 *
 *   TILE_NAME      of the kind: f32
 *   TILE_ELEMENT   the type of an accumulator
 *   TILE_PACKED    the type of a packed element, as wide as the accumulator
 *   TILE_MULTIPLY  (sum, a, b): sum + a * b, on vectors of GEMM_BYTES
 *   TILE_TARGET    attributes of the functions, may be empty
 *   TILE_IN_PLACE  where rows of A are read in place, too
 *
 * Rows and vectors are constants in each copy, so that the accumulators live in registers. */

#define TILE_(name) WICK__JOIN(TILE_NAME, name)
typedef TILE_ELEMENT TILE_(sum_vector) __attribute__((vector_size(GEMM_BYTES)));
typedef TILE_PACKED TILE_(packed_vector) __attribute__((vector_size(GEMM_BYTES)));
typedef TILE_ELEMENT TILE_(loose_vector) __attribute__((vector_size(GEMM_BYTES), aligned(4), may_alias));

/* A is a panel, or, where `in_place`, rows lda apart. Of these every third has a pointer: the two after it are one and
 * two times lda away, which an instruction adds by itself. */
static inline __attribute__((always_inline)) TILE_TARGET void TILE_(tile)(const int rows, const int vectors,
                                                                          const bool in_place, int64_t k,
                                                                          const void *pa, int64_t lda, const void *pb,
                                                                          void *pc, int64_t ldc, bool add) {
    enum { LANES = GEMM_BYTES / sizeof(TILE_ELEMENT) };
    const TILE_PACKED *a = pa, *third[(GEMM_ROWS + 2) / 3];
    const TILE_(packed_vector) *b = pb;
    TILE_ELEMENT *c = pc;
    TILE_(sum_vector) sum[GEMM_ROWS][GEMM_VECTORS] = {0};
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++) __builtin_prefetch(c + i * ldc, 1);
#pragma GCC unroll 5
    for (int i = 0; i < rows; i += 3) third[i / 3] = a + i * lda;
    for (int64_t kk = 0; kk < k; kk++) {
        TILE_(packed_vector) row[GEMM_VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) row[v] = b[v];
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++) {
            TILE_(packed_vector) element = (in_place ? third[i / 3][i % 3 * lda] : a[i]) - (TILE_(packed_vector)){0};
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) sum[i][v] = TILE_MULTIPLY(sum[i][v], element, row[v]);
        }
        if (in_place) {
#pragma GCC unroll 5
            for (int i = 0; i < rows; i += 3) third[i / 3]++;
        }
        a += rows;
        b += GEMM_VECTORS;
    }
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            TILE_(loose_vector) *to = (TILE_(loose_vector) *)(c + i * ldc + v * LANES);
            if (add)
                *to += sum[i][v];
            else
                *to = sum[i][v];
        }
}

#define TILE_COPY(rows, vectors)                                                                                       \
    static TILE_TARGET void TILE_(rows##x##vectors)(int64_t k, const void *a, const void *b, void *c, int64_t ldc,     \
                                                    bool add) {                                                        \
        TILE_(tile)(rows, vectors, false, k, a, 0, b, c, ldc, add);                                                    \
    }
#define TILE_COPIES(rows) TILE_COPY(rows, 1) TILE_COPY(rows, 2)
#define TILE_ENTRY(rows)                                                                                               \
    { TILE_(rows##x1), TILE_(rows##x2) }
TILE_COPIES(1)
TILE_COPIES(2)
TILE_COPIES(3)
TILE_COPIES(4)
TILE_COPIES(5)
TILE_COPIES(6)
#if WICK_ISA_LEVEL == 2
TILE_COPIES(7)
TILE_COPIES(8)
TILE_COPIES(9)
TILE_COPIES(10)
TILE_COPIES(11)
TILE_COPIES(12)
TILE_COPIES(13)
TILE_COPIES(14)
#define TILE_LAST                                                                                                      \
    , TILE_ENTRY(7), TILE_ENTRY(8), TILE_ENTRY(9), TILE_ENTRY(10), TILE_ENTRY(11), TILE_ENTRY(12), TILE_ENTRY(13),     \
        TILE_ENTRY(14)
#else
#define TILE_LAST
#endif

#ifdef TILE_IN_PLACE
#define TILE_COPY_IN_PLACE(vectors)                                                                                    \
    static TILE_TARGET void TILE_(in_place##vectors)(int64_t k, const void *a, int64_t lda, const void *b, void *c,    \
                                                     int64_t ldc, bool add) {                                          \
        TILE_(tile)(GEMM_ROWS, vectors, true, k, a, lda, b, c, ldc, add);                                              \
    }
TILE_COPY_IN_PLACE(1)
TILE_COPY_IN_PLACE(2)
#endif

const struct gemm_kind WICK__ISA(WICK__JOIN(wick__gemm, TILE_NAME)) = {
    .size = sizeof(TILE_PACKED),
    .group = TILE_GROUP,
    .columns = GEMM_VECTORS * GEMM_BYTES / sizeof(TILE_PACKED),
    .lanes = GEMM_BYTES / sizeof(TILE_PACKED),
    .k_block = TILE_K_BLOCK,
    .tile = {TILE_ENTRY(1), TILE_ENTRY(2), TILE_ENTRY(3), TILE_ENTRY(4), TILE_ENTRY(5), TILE_ENTRY(6) TILE_LAST},
#ifdef TILE_IN_PLACE
    .in_place = {TILE_(in_place1), TILE_(in_place2)},
#undef TILE_COPY_IN_PLACE
#undef TILE_IN_PLACE
#endif
};

#undef TILE_
#undef TILE_COPY
#undef TILE_COPIES
#undef TILE_ENTRY
#undef TILE_LAST
#undef TILE_NAME
#undef TILE_ELEMENT
#undef TILE_PACKED
#undef TILE_MULTIPLY
#undef TILE_TARGET
#undef TILE_GROUP
#undef TILE_K_BLOCK
