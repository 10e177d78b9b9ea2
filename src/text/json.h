/* Small JSON files of a model folder. */
#ifndef WICK_TEXT_JSON_H
#define WICK_TEXT_JSON_H

#include "core/error.h"

#include <jansson.h>

/* Reads FOLDER/NAME. WICK_IO when it can't be read, WICK_FORMAT when it is larger than max_nbytes or no JSON. When
 * `optional` and there is no such file, WICK_OK with *json NULL. The caller gives *json back with json_decref. */
enum wick_status wick__json_read(const char *folder, const char *name, size_t max_nbytes, bool optional, json_t **json);

/* All of FOLDER/NAME in a block of *capacity bytes that the caller gives back with wick__free; a 0 follows the
 * *nbytes bytes. Fails as wick__json_read does, WICK_OK and *data NULL for an optional file that is not there. */
enum wick_status wick__file_read(const char *folder, const char *name, size_t max_nbytes, bool optional, char **data,
                                 size_t *nbytes, size_t *capacity);

/* A member that has to be of its kind when it is there; null counts as not there, and leaves *value as it is. */
enum wick_status wick__json_bool(const json_t *object, const char *key, bool *value);
enum wick_status wick__json_int(const json_t *object, const char *key, int64_t low, int64_t high, int64_t *value);
/* The string belongs to the object. */
enum wick_status wick__json_string(const json_t *object, const char *key, const char **value);

#endif
