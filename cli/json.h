/* JSON that commands print: always whole, always JSON, whatever bytes and numbers go into it. */
#ifndef WICK_CLI_JSON_H
#define WICK_CLI_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A string; each byte that is not UTF-8 becomes U+FFFD. NULL gives null. */
json_t *json_text(const char *text);
/* A number; null for NaN and the infinities, which JSON lacks. */
json_t *json_number(double value);
/* Appends `value`, which it takes over. Remembers a failure, NULL included, for json_print. */
void json_add(json_t *array, json_t *value);
/* Writes `value`, which it takes over, with a newline. False, with nothing printed, when memory ran out here or in
 * any json_add before. */
bool json_print(json_t *value, size_t flags);

/* Writes a string or a number straight to a file, as json_text and json_number have them; %.9g gives every f32 back. */
void json_put_text(FILE *file, const char *text, size_t nbytes);
void json_put_number(FILE *file, double value);

/* Reads PATH, which must hold an object. NULL with the reason, line and column in `error`; "" when there is no such
 * file. */
enum { JSON_FAULT = 512 };
json_t *json_file(const char *path, char error[JSON_FAULT]);

#endif
