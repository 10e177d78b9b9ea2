/* Merging neighbours in a text until no pair is left that may be: byte-level BPE by ranks, SentencePiece by scores. */
#ifndef WICK_TEXT_MERGE_H
#define WICK_TEXT_MERGE_H

#include "core/buffer.h"

/* What a pair of tokens becomes. */
struct wick__merge {
    int32_t left, right, result;
    int32_t rank; /* lower comes first */
};

/* Merges by their pair of tokens. Zeroed, there are none. */
struct wick__merges {
    struct wick__merge *slots; /* hash table; left -1 in empty ones */
    uint32_t n_slots;          /* a power of two, or 0 */
    uint64_t seed;             /* of the hash */
};

/* Makes room for n merges. */
enum wick_status wick__merges_reserve(struct wick__merges *merges, uint32_t n);
/* Adds one; a pair that is there already keeps its own. */
void wick__merges_add(struct wick__merges *merges, const struct wick__merge *merge);
/* NULL when the pair does not merge. */
const struct wick__merge *wick__merges_find(const struct wick__merges *merges, int32_t left, int32_t right);
void wick__merges_free(struct wick__merges *merges);

/* A part of the text: a token, and its neighbours. */
struct wick__symbol_link {
    int32_t id;
    int32_t next, previous; /* -1: none */
};

/* Merges n symbols, which are linked from the first on, where they stand. What a pair becomes, `pair` says: the
 * result's id, or -1, and its rank. WICK_MEMORY. */
typedef int32_t wick__pair_fn(const void *context, int32_t left, int32_t right, int32_t *rank);
enum wick_status wick__merge_all(struct wick__symbol_link *symbols, int32_t n, wick__pair_fn *pair,
                                 const void *context);

#endif
