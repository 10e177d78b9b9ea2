/* JSON values as text. */
#ifndef WICK_CORE_DUMP_H
#define WICK_CORE_DUMP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct wick__dump {
    char *text;
    size_t nbytes, capacity;
    bool lost; /* memory ran out */
};

static inline int wick__dump_add(const char *bytes, size_t n, void *context) {
    struct wick__dump *dump = context;
    if (dump->lost) return -1;
    if (dump->capacity - dump->nbytes <= n) { /* room for a 0 stays */
        size_t capacity = (dump->nbytes + n + 64) * 2;
        char *text = realloc(dump->text, capacity);
        if (!text) {
            dump->lost = true;
            return -1;
        }
        dump->text = text;
        dump->capacity = capacity;
    }
    memcpy(dump->text + dump->nbytes, bytes, n);
    dump->nbytes += n;
    dump->text[dump->nbytes] = 0;
    return 0;
}

/* The text of a value, to be freed; NULL when memory ran out. In place of json_dumps, which leaves out the key of an
 * object, and gives the rest, if memory runs out while it writes that key (jansson 2.14). */
static inline char *wick__json_dump(const json_t *value, size_t flags) {
    struct wick__dump dump = {0};
    if (json_dump_callback(value, wick__dump_add, &dump, flags) == 0 && !dump.lost) return dump.text;
    free(dump.text);
    return NULL;
}

#endif
