/* Bytes by GPT-2's characters. */
#include "text/byte_level.h"

#include "text/unicode.h"

/* A byte is itself where it is a printable character, and otherwise the next from U+0100 on. */
static int byte_of(uint32_t c) {
    if (c >= 256 && c < 256 + 33) return (int)c - 256;
    if (c >= 256 + 33 && c < 256 + 67) return (int)c - 256 - 33 + 127;
    if (c == 256 + 67) return 173;
    bool itself = (c >= 33 && c <= 126) || (c >= 161 && c <= 172) || (c >= 174 && c < 256);
    return itself ? (int)c : -1;
}

bool wick__byte_level(const char *token, size_t nbytes, char *out, size_t *n) {
    *n = 0;
    for (size_t at = 0; at < nbytes;) {
        uint32_t c;
        at += wick__utf8_get(token + at, nbytes - at, &c);
        int byte = byte_of(c);
        if (byte < 0) return false;
        out[(*n)++] = (char)byte;
    }
    return true;
}
