/* Encoding by merging, byte-level BPE, SentencePiece and BPE over characters, and by scores: Unigram. */
#ifndef WICK_TEXT_PIECES_H
#define WICK_TEXT_PIECES_H

#include "text/merge.h"
#include "text/split.h"
#include "text/unigram.h"
#include "text/vocab.h"

enum wick__pieces_kind {
    WICK__PIECES_NONE,
    WICK__PIECES_BPE,        /* tokens are bytes; merges by rank, within words */
    WICK__PIECES_SPM,        /* tokens are characters, U+2581 for a blank; merges by score, across the whole text */
    WICK__PIECES_CHARACTERS, /* the same, but merges by rank */
    WICK__PIECES_UNIGRAM     /* tokens are characters, chosen by scores */
};

/* What stands before a text, or a part of one. */
enum wick__place { WICK__PLACE_WITHIN, WICK__PLACE_BEHIND /* a special token */, WICK__PLACE_START };

/* Zeroed, there is nothing in it. */
struct wick__pieces {
    enum wick__pieces_kind kind;
    struct wick__splitter splitter; /* BPE */
    struct wick__merges merges;     /* by rank */
    float *scores;                  /* SPM: of each id */
    int32_t n_scores;
    struct wick__unigram unigram;
    bool space_prefix;     /* a text begins with a blank: U+2581; of BPE a space, unless it has one */
    bool metaspace;        /* ... with U+2581 unless it has one; texts lose all at the start of their first token */
    bool prefix_once;      /* ... not behind special tokens */
    bool split_blanks;     /* no token reaches across the beginning of U+2581 */
    bool keep_blanks;      /* blanks do not become U+2581 */
    bool byte_fallback;    /* tokenizer.json: what no token stands for becomes bytes */
    bool fuse_unknown;     /* unknown characters that follow one another are one; of characters */
    bool compose;          /* text becomes NFC first */
    int32_t byte_ids[256]; /* the token of a single byte; -1 for none */
    int32_t unknown;       /* -1: none */
    int32_t n_model;       /* ids from here on are found as added tokens alone */
};

void wick__pieces_free(struct wick__pieces *pieces);

/* Encodes a text without special tokens in it. `emit` gets the ids in order. WICK_MEMORY, WICK_RANGE for a text that is
 * too long or takes too long, WICK_FORMAT for a byte that no token stands for. */
typedef void wick__emit_fn(void *context, int32_t id);
struct wick__pieces_out {
    wick__emit_fn *emit;
    void *context;
};
enum wick_status wick__pieces_encode(const struct wick__pieces *pieces, const struct wick__vocab *vocab,
                                     const char *text, size_t nbytes, enum wick__place place,
                                     const struct wick__pieces_out *out);

#endif
