/* UTF-8, and what BERT's tokenizer asks of a character.
 *
 * Categories are those of unicode_tables.h. Decomposition and lower case are utf8proc's, which are stable for
 * characters that exist; what differs by version is listed here, so that any utf8proc gives the same ids:
 * decompositions follow Unicode 12, lower case follows Unicode 17. */
#include "text/unicode.h"

#include "text/unicode_tables.h"

#include <utf8proc.h>

static bool in_ranges(uint32_t c, const struct range *ranges, size_t n) {
    size_t low = 0;
    while (n > 0) { /* the first range that ends at c or later is in [low, low + n] */
        size_t half = n / 2;
        if (ranges[low + half].last < c) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return ranges[low].first <= c;
}

/* Beyond the last range the search above would look past the end, so that case is settled first. */
#define IN(c, ranges)                                                                                                  \
    ((c) <= (ranges)[sizeof(ranges) / sizeof *(ranges)-1].last &&                                                      \
     in_ranges(c, ranges, sizeof(ranges) / sizeof *(ranges)))

size_t wick__utf8_get(const char *text, size_t nbytes, uint32_t *c) {
    const unsigned char *s = (const unsigned char *)text;
    uint32_t first = s[0], value;
    size_t length, got = 1;
    unsigned low = 0x80, high = 0xBF; /* what the second byte may be */
    *c = first;
    if (first < 0x80) return 1;
    *c = 0xFFFD;
    if (first >= 0xC2 && first <= 0xDF) {
        length = 2;
        value = first & 0x1F;
    } else if ((first & 0xF0) == 0xE0) {
        length = 3;
        value = first & 0x0F;
        if (first == 0xE0) low = 0xA0;
        if (first == 0xED) high = 0x9F;
    } else if (first >= 0xF0 && first <= 0xF4) {
        length = 4;
        value = first & 0x07;
        if (first == 0xF0) low = 0x90;
        if (first == 0xF4) high = 0x8F;
    } else {
        return 1;
    }
    for (; got < length; got++) {
        if (got == nbytes || s[got] < low || s[got] > high) return got;
        value = value << 6 | (s[got] & 0x3F);
        low = 0x80;
        high = 0xBF;
    }
    *c = value;
    return length;
}

size_t wick__utf8_put(uint32_t c, char out[4]) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

size_t wick__utf8_back(const char *text, size_t at) {
    size_t start = at - 1;
    while (start > 0 && at - start < 4 && ((unsigned char)text[start] & 0xC0) == 0x80) start--;
    return start;
}

bool wick__is_space(uint32_t c) {
    return (c >= 0x09 && c <= 0x0D) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool wick__is_control(uint32_t c) {
    if (c < 0x80) return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
    return IN(c, controls);
}

bool wick__is_mark(uint32_t c) { return c >= 0x300 && IN(c, marks); }

bool wick__is_punctuation(uint32_t c) {
    if (c < 0x80)
        return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
    return IN(c, punctuation);
}

bool wick__is_ideograph(uint32_t c) {
    static const struct range ideographs[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                              {0x20000, 0x2A6DF}, {0x2A700, 0x2B81F}, {0x2B920, 0x2CEAF},
                                              {0x2F800, 0x2FA1F}};
    return c >= 0x3400 && IN(c, ideographs);
}

bool wick__is_word(uint32_t c) {
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) || category == UTF8PROC_CATEGORY_PC;
}

int wick__lower(uint32_t c, uint32_t out[WICK__LOWER_MAX]) {
    /* Since Unicode 16: the last character of a range, and how far away its lower case is. */
    static const struct {
        uint32_t first, last;
        int32_t distance;
    } recent[] = {{0x1C89, 0x1C89, 1},      {0xA7CB, 0xA7CB, 0x264 - 0xA7CB},
                  {0xA7CC, 0xA7CC, 1},      {0xA7CE, 0xA7CE, 1},
                  {0xA7D2, 0xA7D2, 1},      {0xA7D4, 0xA7D4, 1},
                  {0xA7DA, 0xA7DA, 1},      {0xA7DC, 0xA7DC, 0x19B - 0xA7DC},
                  {0x10D50, 0x10D65, 0x20}, {0x16EA0, 0x16EB8, 0x1B}};
    if (c < 0x80) {
        out[0] = c >= 'A' && c <= 'Z' ? c + 32 : c;
        return 1;
    }
    if (c == 0x130) { /* the only character whose lower case is two: i and a dot above */
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    for (size_t i = 0; c >= 0x1C89 && i < sizeof recent / sizeof *recent; i++) {
        if (c < recent[i].first || c > recent[i].last) continue;
        out[0] = (uint32_t)((int32_t)c + recent[i].distance);
        return 1;
    }
    out[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
    return 1;
}

int wick__decompose(uint32_t c, uint32_t out[WICK__NFD_MAX]) {
    /* Characters that came with decompositions after Unicode 12. */
    static const struct range recent[] = {{0x105C9, 0x105C9}, {0x105E4, 0x105E4}, {0x11383, 0x11391},
                                          {0x113C5, 0x113C8}, {0x11938, 0x11938}, {0x16121, 0x16128},
                                          {0x16D68, 0x16D6A}};
    utf8proc_int32_t parts[WICK__NFD_MAX];
    int boundary = 0;
    out[0] = c;
    if (c < 0xC0 || (c >= 0x105C9 && IN(c, recent))) return 1;
    utf8proc_ssize_t n =
        utf8proc_decompose_char((utf8proc_int32_t)c, parts, WICK__NFD_MAX, UTF8PROC_DECOMPOSE, &boundary);
    if (n < 1 || n > WICK__NFD_MAX) return 1;
    for (int i = 0; i < n; i++) out[i] = (uint32_t)parts[i];
    return (int)n;
}

int wick__combining_class(uint32_t c) {
    return c < 0x300 ? 0 : utf8proc_get_property((utf8proc_int32_t)c)->combining_class;
}
