/* UTF-8, and what BERT's tokenizer asks of a character. */
#ifndef WICK_TEXT_UNICODE_H
#define WICK_TEXT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the character at text[0], nbytes > 0, and returns how many bytes it takes, 1 to 4. What is not a character
 * counts as U+FFFD: the longest run of bytes that begins one, or else a single byte. */
size_t wick__utf8_get(const char *text, size_t nbytes, uint32_t *c);
/* Writes a character as 1 to 4 bytes and returns their number. */
size_t wick__utf8_put(uint32_t c, char out[4]);
/* Where the character before text + at begins, at > 0. */
size_t wick__utf8_back(const char *text, size_t at);

/* Unicode's White_Space property. */
bool wick__is_space(uint32_t c);
/* Cc, Cf and Co, but for tab, newline and return. */
bool wick__is_control(uint32_t c);
/* Mn: marks that take no room of their own. */
bool wick__is_mark(uint32_t c);
/* Any P* category, and every ASCII character that is neither a letter, a digit, a space nor a control. */
bool wick__is_punctuation(uint32_t c);
/* CJK ideographs, which BERT splits into words of one character. */
bool wick__is_ideograph(uint32_t c);
/* Letters, marks, digits and connectors: what \w means. */
bool wick__is_word(uint32_t c);

enum { WICK__LOWER_MAX = 2, WICK__NFD_MAX = 8 };

/* Full lower case of one character, without context; returns how many characters it is. */
int wick__lower(uint32_t c, uint32_t out[WICK__LOWER_MAX]);
/* The canonical decomposition of one character; returns how many characters it is. */
int wick__decompose(uint32_t c, uint32_t out[WICK__NFD_MAX]);
/* Canonical_Combining_Class, by which a run of marks is sorted. */
int wick__combining_class(uint32_t c);

#endif
