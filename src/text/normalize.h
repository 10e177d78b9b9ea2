/* What becomes of text before it is split: BERT's clean-up, and canonical composition. */
#ifndef WICK_TEXT_NORMALIZE_H
#define WICK_TEXT_NORMALIZE_H

#include "core/buffer.h"

struct wick__normalizer {
    bool clean;         /* drop control characters, U+0000 and U+FFFD; any white space becomes a plain space */
    bool ideographs;    /* a space on both sides of each CJK ideograph */
    bool strip_accents; /* canonical decomposition, then drop the marks */
    bool lowercase;
};

/* Appends what becomes of nbytes bytes of UTF-8. On failure the buffer holds a part of it. */
enum wick_status wick__normalize(const struct wick__normalizer *normalizer, const char *text, size_t nbytes,
                                 struct wick__buffer *out);

/* Appends the canonical composition (NFC) of nbytes bytes of UTF-8. WICK_MEMORY, WICK_RANGE for a text that is too
 * long; then the buffer holds a part of it. */
enum wick_status wick__compose(const char *text, size_t nbytes, struct wick__buffer *out);

#endif
