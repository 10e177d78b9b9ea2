/* Cutting a text into passages that are worth showing on their own. */
#ifndef WICK_CLI_PASSAGES_H
#define WICK_CLI_PASSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct passage {
    size_t start, nbytes; /* where it lies in the text */
    int64_t line;         /* of its first byte, from 1 */
};

/* Zeroed, it is empty. The caller frees items. */
struct passages {
    int64_t n, capacity;
    struct passage *items;
};

/* Appends the passages of a text. A passage is a block between blank lines; a Markdown heading goes with the block
 * that follows it, and a fenced block of code stays together. A block of more than max_words words is cut, at the end
 * of a line where that is possible; ideographs count as a word each. Blocks without a letter or a digit are left out.
 * False when out of memory. */
bool passages_split(const char *text, size_t nbytes, int64_t max_words, struct passages *passages);

#endif
