/* What tests of language models open. */
#ifndef WICK_TESTS_MODEL_SEQUENCES_H
#define WICK_TESTS_MODEL_SEQUENCES_H

#include "tests/test.h"

static inline struct wick_sequence *open_sequence(const struct wick_lm *lm, enum wick_dtype cache, int64_t context) {
    struct wick_sequence *sequence =
        wick_sequence_open(lm, &(struct wick_sequence_options){.cache = cache, .context = context});
    CHECK(sequence);
    return sequence;
}

#endif
