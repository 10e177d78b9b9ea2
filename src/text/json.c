/* Small JSON files of a model folder. */
#include "text/json.h"

#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double EXACT = 0x1p53; /* up to here a double holds every whole number */

/* Reads a regular file of known size; it may shrink meanwhile, not grow. */
static enum wick_status read_all(int file, const char *path, char *data, size_t capacity, size_t *nbytes) {
    size_t at = 0;
    while (at < capacity) {
        ssize_t got = read(file, data + at, capacity - at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return wick__fail(WICK_IO, "%s: can't be read: %s", path, strerror(errno));
        if (got == 0) break;
        at += (size_t)got;
    }
    *nbytes = at;
    return WICK_OK;
}

enum wick_status wick__file_read(const char *folder, const char *name, size_t max_nbytes, bool optional,
                                 struct wick__file_text *text) {
    char path[4096];
    struct stat about;
    *text = (struct wick__file_text){.data = NULL};
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return wick__fail(WICK_IO, "%.80s...: the path is too long", folder);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && optional && (errno == ENOENT || errno == ENOTDIR)) return WICK_OK;
    if (file < 0) return wick__fail(WICK_IO, "%s: can't be opened: %s", path, strerror(errno));
    enum wick_status status = WICK_OK;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        status = wick__fail(WICK_IO, "%s: is not a regular file", path);
    else if (about.st_size < 0 || (uint64_t)about.st_size > max_nbytes)
        status = wick__fail(WICK_FORMAT, "%s: %lld bytes are more than the %zu that are allowed", path,
                            (long long)about.st_size, max_nbytes);
    if (status == WICK_OK) {
        text->capacity = (size_t)about.st_size + 1;
        text->data = wick__alloc(text->capacity);
        status = text->data ? read_all(file, path, text->data, text->capacity - 1, &text->nbytes) : WICK_MEMORY;
        if (status == WICK_OK) {
            text->data[text->nbytes] = '\0';
        } else {
            wick__free(text->data, text->capacity);
            text->data = NULL;
        }
    }
    close(file);
    return status;
}

enum wick_status wick__json_read(const char *folder, const char *name, size_t max_nbytes, bool optional,
                                 json_t **json) {
    struct wick__file_text text;
    json_error_t error;
    *json = NULL;
    WICK__TRY(wick__file_read(folder, name, max_nbytes, optional, &text));
    if (!text.data) return WICK_OK;
    const size_t flags = JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
    *json = json_loadb(text.data, text.nbytes, flags, &error);
    if (!*json && json_error_code(&error) == json_error_numeric_overflow)
        *json = json_loadb(text.data, text.nbytes, flags | JSON_DECODE_INT_AS_REAL, &error);
    wick__free(text.data, text.capacity);
    if (!*json)
        return wick__fail(WICK_FORMAT, "%s/%s: line %d, column %d: %s", folder, name, error.line, error.column,
                          error.text);
    if (!json_is_object(*json)) {
        json_decref(*json);
        *json = NULL;
        return wick__fail(WICK_FORMAT, "%s/%s: is not a JSON object", folder, name);
    }
    return WICK_OK;
}

/* The member, NULL when it is not there or null. */
static const json_t *member(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return value && !json_is_null(value) ? value : NULL;
}

enum wick_status wick__json_bool(const json_t *object, const char *key, bool *value) {
    const json_t *found = member(object, key);
    if (!found) return WICK_OK;
    if (!json_is_boolean(found)) return wick__fail(WICK_FORMAT, "'%s' is neither true nor false", key);
    *value = json_is_true(found);
    return WICK_OK;
}

enum wick_status wick__json_int(const json_t *object, const char *key, int64_t low, int64_t high, int64_t *value) {
    const json_t *found = member(object, key);
    if (!found) return WICK_OK;
    json_int_t number = json_integer_value(found);
    double real = json_real_value(found);
    bool whole = json_is_integer(found);
    if (json_is_real(found) && fabs(real) <= EXACT && real == trunc(real)) {
        number = (json_int_t)real;
        whole = true;
    }
    if (!whole || number < low || number > high)
        return wick__fail(WICK_FORMAT, "'%s' is not an integer in %lld..%lld", key, (long long)low, (long long)high);
    *value = number;
    return WICK_OK;
}

enum wick_status wick__json_string(const json_t *object, const char *key, const char **value) {
    const json_t *found = member(object, key);
    if (!found) return WICK_OK;
    if (!json_is_string(found) || strlen(json_string_value(found)) != json_string_length(found))
        return wick__fail(WICK_FORMAT, "'%s' is not a string", key);
    *value = json_string_value(found);
    return WICK_OK;
}
