/* Looking for added tokens: the longest one at a place in a text, in time that hardly depends on how many there are. */
#ifndef WICK_TEXT_ADDED_H
#define WICK_TEXT_ADDED_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A token of more bytes is refused, so that no place of a text takes long. */
enum { WICK__ADDED_BYTES_MAX = 4096 };

/* A token that is looked for in the text as a whole, before it is split into words. */
struct wick__added_token {
    char *content; /* as the text has it: normalized when `normalized` is set */
    size_t nbytes;
    int32_t id;
    bool single_word;    /* not inside a word */
    bool lstrip, rstrip; /* takes the white space on that side with it */
    bool normalized;     /* looked for after normalization */
    bool control;        /* no part of a text that is taken literally */
};

/* Some of the tokens in the order of their bytes, behind the empty text, which is node 0. */
struct wick__added_index {
    struct wick__added_node {
        const struct wick__added_token *token;
        int parent; /* the longest other node that this one begins with */
        int jump;   /* one further up, so that the way up to a length has O(log n) steps */
        int depth;
    } * nodes;
    int n, capacity;
    bool first[256]; /* whether a token begins with this byte */
};

/* Fills a zeroed index with the tokens of `normalized`, without control tokens if `literal`. They must stay where they
 * are. Of several with one text, the one with the lowest id counts. Free with wick__added_free, after a failure too. */
enum wick_status wick__added_build(struct wick__added_index *index, int n, const struct wick__added_token *tokens,
                                   bool normalized, bool literal);
void wick__added_free(struct wick__added_index *index);

/* The longest token that the text begins with; NULL when there is none. nbytes > 0. */
const struct wick__added_token *wick__added_find(const struct wick__added_index *index, const char *text,
                                                 size_t nbytes);

#endif
