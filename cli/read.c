/* Reading a whole file or pipe. */
#include "cli/read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_stream(FILE *file, size_t most, char **data, size_t *nbytes) {
    size_t capacity = 1 << 16, got;
    *data = malloc(capacity);
    *nbytes = 0;
    while (*data && (got = fread(*data + *nbytes, 1, capacity - *nbytes - 1, file)) > 0) {
        *nbytes += got;
        if (*nbytes > most) {
            errno = EFBIG;
            return false;
        }
        if (capacity - *nbytes > 1) continue;
        char *grown = realloc(*data, capacity *= 2);
        if (!grown) return false;
        *data = grown;
    }
    if (!*data || ferror(file)) return false;
    (*data)[*nbytes] = '\0';
    return true;
}

bool read_whole(const char *path, size_t most, char **data, size_t *nbytes) {
    bool from_stdin = strcmp(path, "-") == 0;
    FILE *file = from_stdin ? stdin : fopen(path, "rbe");
    *data = NULL;
    bool good = file && read_stream(file, most, data, nbytes);
    int why = errno;
    if (file && !from_stdin) fclose(file);
    if (!good) {
        free(*data);
        *data = NULL;
    }
    errno = why;
    return good;
}
