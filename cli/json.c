/* JSON that commands print and read. */
#include "cli/json.h"

#include "cli/output.h"
#include "src/core/dump.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char REPLACEMENT[] = "\xEF\xBF\xBD"; /* U+FFFD */
static bool failed;                               /* a json_add */

json_t *json_text(const char *text) {
    if (!text) return json_null();
    size_t nbytes = strlen(text), at = 0;
    char *valid = malloc(3 * nbytes + 1);
    if (!valid) return NULL;
    for (size_t i = 0; i < nbytes;) {
        size_t length = output_char(text + i, nbytes - i);
        memcpy(valid + at, length ? text + i : REPLACEMENT, length ? length : 3);
        at += length ? length : 3;
        i += length ? length : 1;
    }
    json_t *string = json_stringn(valid, at);
    free(valid);
    return string;
}

json_t *json_number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

void json_add(json_t *array, json_t *value) { failed = json_array_append_new(array, value) != 0 || failed; }

bool json_print(json_t *value, size_t flags) {
    char *text = value && !failed ? wick__json_dump(value, flags) : NULL;
    if (text) puts(text);
    free(text);
    json_decref(value);
    return text != NULL;
}

void json_put_text(FILE *file, const char *text, size_t nbytes) {
    putc('"', file);
    for (size_t i = 0; i < nbytes;) {
        unsigned char c = (unsigned char)text[i];
        size_t length = output_char(text + i, nbytes - i);
        if (length == 0)
            fputs(REPLACEMENT, file);
        else if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            fprintf(file, "\\u%04x", c);
        else
            fwrite(text + i, 1, length, file);
        i += length ? length : 1;
    }
    putc('"', file);
}

void json_put_number(FILE *file, double value) {
    if (isfinite(value))
        fprintf(file, "%.9g", value);
    else
        fputs("null", file);
}

json_t *json_file(const char *path, char error[JSON_FAULT]) {
    json_error_t fault = {.line = -1};
    *error = '\0';
    if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) return NULL;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &fault);
    if (json_is_object(json)) return json;
    if (json)
        snprintf(error, JSON_FAULT, "it is not a JSON object");
    else if (!*fault.text) /* jansson has no words for that */
        snprintf(error, JSON_FAULT, "out of memory");
    else if (fault.line < 0)
        snprintf(error, JSON_FAULT, "%s", fault.text);
    else
        snprintf(error, JSON_FAULT, "line %d, column %d: %s", fault.line, fault.column, fault.text);
    json_decref(json);
    return NULL;
}
