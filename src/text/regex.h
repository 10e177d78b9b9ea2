/* Regular expressions, as far as tokenizers split text with them: alternatives, groups (?: ) and (?i: ), classes with
 * ranges, \s \S \d \p{..} \P{..} and escapes, the quantifiers ? * + {m,n}, also possessive with a + behind, looking
 * ahead (?= ) (?! ), and the ends ^ $. The leftmost match wins, and of those there the first alternative. */
#ifndef WICK_TEXT_REGEX_H
#define WICK_TEXT_REGEX_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wick__regex;

/* NULL after WICK_FORMAT for a pattern that is wrong, WICK_UNSUPPORTED for one with parts that are not known,
 * WICK_MEMORY. The caller gives it back with wick__regex_free. */
struct wick__regex *wick__regex_new(const char *pattern, size_t nbytes);
void wick__regex_free(struct wick__regex *regex);

/* The first match that begins at text + at or later and is not empty: its bytes are [span[0], span[1]). False when
 * there is none. *failed is set when matching takes too many steps or too deep a stack for a text that means harm. */
bool wick__regex_find(const struct wick__regex *regex, const char *text, size_t nbytes, size_t at, size_t span[2],
                      bool *failed);

#endif
