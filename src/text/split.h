/* Cutting text into the words that a byte-level BPE merges within: what GGUF calls `pre`. */
#ifndef WICK_TEXT_SPLIT_H
#define WICK_TEXT_SPLIT_H

#include "text/regex.h"

enum { WICK__SPLIT_MAX = 8 };

/* Patterns that are applied in turn: each cuts the pieces of the one before into its matches and what lies between. */
struct wick__splitter {
    int n;
    struct wick__regex *patterns[WICK__SPLIT_MAX];
    bool whole_words; /* a piece that is a token as it stands is not taken apart */
};

/* Fills a zeroed splitter by GGUF's name for it. WICK_UNSUPPORTED, with the name, for one that is not known. */
enum wick_status wick__splitter_by_name(struct wick__splitter *splitter, const char *name);
void wick__splitter_free(struct wick__splitter *splitter);

/* Calls `piece` for each piece of the text, in order, until it fails. */
typedef enum wick_status wick__piece_fn(void *context, const char *text, size_t nbytes);
enum wick_status wick__split(const struct wick__splitter *splitter, const char *text, size_t nbytes,
                             wick__piece_fn *piece, void *context);

#endif
