/* The alphabet of byte-level BPE: GPT-2 writes each byte as a printable character. */
#ifndef WICK_TEXT_BYTE_LEVEL_H
#define WICK_TEXT_BYTE_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the bytes that a token's characters stand for to `out`, which may be `token`: *n of them, never more than it
 * has. False when one of them stands for none: no text comes to such a token. */
bool wick__byte_level(const char *token, size_t nbytes, char *out, size_t *n);

#endif
