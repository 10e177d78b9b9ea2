/* Knuth, Morris and Pratt's matching, all stop texts side by side: each byte is looked at once, and what a text may
 * still become is known at any time. */
#include "text/stop.h"

#include "core/memory.h"
#include "text/unicode.h"

#include <string.h>

struct wick__stop {
    char *text;
    size_t nbytes;
    size_t *shorter; /* for each beginning of the text, of how many bytes: its longest end that is a beginning too */
    size_t matched;  /* so many bytes at the end of what came so far are a beginning */
};

/* How many bytes match when `byte` follows `matched` of them. */
static size_t follow(const struct wick__stop *stop, size_t matched, char byte) {
    while (matched > 0 && (matched == stop->nbytes || stop->text[matched] != byte)) matched = stop->shorter[matched];
    return matched + (stop->text[matched] == byte);
}

static enum wick_status fill(struct wick__stop *stop, const char *text) {
    size_t nbytes = strlen(text);
    stop->nbytes = nbytes;
    stop->text = wick__alloc(nbytes);
    stop->shorter = wick__calloc(nbytes + 1, sizeof *stop->shorter);
    if (!stop->text || !stop->shorter) return WICK_MEMORY;
    memcpy(stop->text, text, nbytes);
    for (size_t i = 1; i < nbytes; i++) stop->shorter[i + 1] = follow(stop, stop->shorter[i], text[i]);
    return WICK_OK;
}

/* Whether a text is whole characters; others would cut one. */
static bool whole(const char *text) {
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t nbytes = strlen(text);
    for (size_t at = 0; at < nbytes;) {
        uint32_t c;
        size_t n = wick__utf8_get(text + at, nbytes - at, &c);
        if (c == 0xFFFD && (n != 3 || memcmp(text + at, replacement, 3) != 0)) return false;
        at += n;
    }
    return true;
}

enum wick_status wick__stops_fill(struct wick__stops *stops, int64_t n, const char *const *texts) {
    if (n < 0 || (n > 0 && !texts))
        return wick__fail(WICK_INVALID, "decoder_open: NULL argument, or n %lld below 0", (long long)n);
    stops->found = -1;
    stops->items = wick__calloc((size_t)n, sizeof *stops->items);
    if (!stops->items) return WICK_MEMORY;
    stops->n = n;
    for (int64_t i = 0; i < n; i++) {
        if (!texts[i] || !*texts[i] || !whole(texts[i]))
            return wick__fail(WICK_INVALID, "decoder_open: stops[%lld] is NULL, empty or no UTF-8", (long long)i);
        WICK__TRY(fill(&stops->items[i], texts[i]));
    }
    return WICK_OK;
}

void wick__stops_free(struct wick__stops *stops) {
    for (int64_t i = 0; i < stops->n; i++) {
        struct wick__stop *stop = &stops->items[i];
        wick__free(stop->text, stop->nbytes);
        wick__free(stop->shorter, (stop->nbytes + 1) * sizeof *stop->shorter);
    }
    wick__free(stops->items, (size_t)stops->n * sizeof *stops->items);
    *stops = (struct wick__stops){0};
}

void wick__stops_reset(struct wick__stops *stops) {
    stops->found = -1;
    for (int64_t i = 0; i < stops->n; i++) stops->items[i].matched = 0;
}

size_t wick__stops_scan(struct wick__stops *stops, const char *text, size_t from, size_t nbytes) {
    size_t held = 0;
    for (size_t at = from; at < nbytes && stops->found < 0; at++) {
        size_t longest = 0;
        for (int64_t i = 0; i < stops->n; i++) {
            struct wick__stop *stop = &stops->items[i];
            stop->matched = follow(stop, stop->matched, text[at]);
            if (stop->matched < stop->nbytes || stop->nbytes <= longest) continue;
            longest = stop->nbytes;
            stops->found = i;
        }
        if (longest > 0) return at + 1 - longest;
    }
    for (int64_t i = 0; i < stops->n; i++)
        if (stops->items[i].matched > held) held = stops->items[i].matched;
    return nbytes - held;
}
