/* Small JSON files of a model folder. */
#ifndef WICK_TEXT_JSON_H
#define WICK_TEXT_JSON_H

#include "core/error.h"

#include <jansson.h>

/* Reads FOLDER/NAME. WICK_IO when it can't be read, WICK_FORMAT when it is larger than max_nbytes or no JSON. When
 * `optional` and there is no such file, WICK_OK with *json NULL. The caller gives *json back with json_decref.
 * Where a whole number does not fit into 64 bits, as Transformers' 10^30 for "no limit", all numbers are reals. */
enum wick_status wick__json_read(const char *folder, const char *name, size_t max_nbytes, bool optional, json_t **json);

/* A file's bytes, which a 0 follows, in a block of `capacity` bytes. */
struct wick__file_text {
    char *data;
    size_t nbytes, capacity;
};
/* All of FOLDER/NAME; the caller gives data back with wick__free. Fails as wick__json_read does, WICK_OK and data NULL
 * for an optional file that is not there. */
enum wick_status wick__file_read(const char *folder, const char *name, size_t max_nbytes, bool optional,
                                 struct wick__file_text *text);

/* A member that has to be of its kind when it is there; null counts as not there, and leaves *value as it is. 12.0 is
 * an integer. */
enum wick_status wick__json_bool(const json_t *object, const char *key, bool *value);
enum wick_status wick__json_int(const json_t *object, const char *key, int64_t low, int64_t high, int64_t *value);
/* The string belongs to the object. */
enum wick_status wick__json_string(const json_t *object, const char *key, const char **value);

#endif
