/* Texts that end a text, found as it comes. */
#ifndef WICK_TEXT_STOP_H
#define WICK_TEXT_STOP_H

#include "core/error.h"

/* Zeroed, there are none. */
struct wick__stops {
    struct wick__stop *items;
    int64_t n;
    int64_t found; /* the one that ended the text; -1 before */
};

/* Fills zeroed stops with n texts, each of which ends at its 0. On failure the caller frees what is there. */
enum wick_status wick__stops_fill(struct wick__stops *stops, int64_t n, const char *const *texts);
void wick__stops_free(struct wick__stops *stops);
/* Begins another text. */
void wick__stops_reset(struct wick__stops *stops);

/* Looks at text[from, nbytes), which follows what was looked at before; all that was held back stands before `from`.
 * Returns how many bytes from text[0] on are sure to be no part of a stop text, and sets stops->found when one is
 * complete: then these are the bytes before it. */
size_t wick__stops_scan(struct wick__stops *stops, const char *text, size_t from, size_t nbytes);

#endif
