/* A byte string that grows. */
#ifndef WICK_CORE_BUFFER_H
#define WICK_CORE_BUFFER_H

#include "core/checked.h"
#include "core/memory.h"

#include <string.h>

struct wick__buffer {
    char *data;
    size_t nbytes, capacity;
};

/* Makes room for `more` bytes behind the present ones. On failure the buffer stays as it is. */
static inline enum wick_status wick__buffer_reserve(struct wick__buffer *buffer, size_t more) {
    size_t need, capacity;
    if (!wick__add_size(buffer->nbytes, more, &need) || !wick__mul_size(need, 2, &capacity))
        return wick__fail(WICK_MEMORY, "out of memory: a text of more than %zu bytes", buffer->nbytes);
    if (need <= buffer->capacity) return WICK_OK;
    char *data = wick__realloc(buffer->data, buffer->capacity, capacity);
    if (!data) return WICK_MEMORY;
    buffer->data = data;
    buffer->capacity = capacity;
    return WICK_OK;
}

static inline enum wick_status wick__buffer_append(struct wick__buffer *buffer, const void *data, size_t nbytes) {
    WICK__TRY(wick__buffer_reserve(buffer, nbytes));
    if (nbytes) memcpy(buffer->data + buffer->nbytes, data, nbytes);
    buffer->nbytes += nbytes;
    return WICK_OK;
}

static inline void wick__buffer_free(struct wick__buffer *buffer) {
    wick__free(buffer->data, buffer->capacity);
    *buffer = (struct wick__buffer){0};
}

#endif
