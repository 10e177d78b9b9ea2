/* Reading a whole file or pipe. */
#ifndef WICK_CLI_READ_H
#define WICK_CLI_READ_H

#include <stdbool.h>
#include <stddef.h>

/* Reads PATH to its end, "-" for standard input; pipes are read like files. A 0 follows the bytes. The caller frees
 * *data. False with errno set; EFBIG for more than `most` bytes. */
bool read_whole(const char *path, size_t most, char **data, size_t *nbytes);

#endif
