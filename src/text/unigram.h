/* Cutting text by the scores of its tokens. */
#ifndef WICK_TEXT_UNIGRAM_H
#define WICK_TEXT_UNIGRAM_H

#include "text/vocab.h"

/* A token of more bytes is refused, so that no place of a text takes long. */
enum { WICK__UNIGRAM_BYTES_MAX = 256 };

/* Zeroed, there is nothing in it. */
struct wick__unigram {
    double *scores; /* of each id: logarithms of probabilities */
    int32_t n_scores;
    int32_t unknown; /* -1: none */
    double unknown_score;
    size_t longest; /* bytes of the longest token */
};

/* What cutting a text takes along: tokens are found in the vocabulary, and `room` is overwritten. */
typedef enum wick_status wick__cut_fn(void *context, int32_t id, const char *text, size_t nbytes);
struct wick__cutter {
    const struct wick__unigram *unigram;
    const struct wick__vocab *vocab;
    struct wick__buffer *room;
    wick__cut_fn *take;
    void *context;
};

/* Calls `take` for each token, in order; an unknown stretch has the id `unknown`. WICK_MEMORY, WICK_RANGE for a text
 * that is too long, or what `take` fails with. */
enum wick_status wick__unigram_cut(const struct wick__cutter *cutter, const char *text, size_t nbytes);

#endif
