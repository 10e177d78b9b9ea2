/* What the commands that read text share: files, the model, the cache folder, progress, JSON strings. */
#ifndef WICK_CLI_TEXT_H
#define WICK_CLI_TEXT_H

#include "cli/command.h"

#include <stdio.h>

/* A file's bytes, followed by a 0. */
struct text {
    char *data;
    size_t nbytes;
};

enum text_result { TEXT_READ, TEXT_SKIPPED, TEXT_FAILED };

/* Reads a whole file, "-" for standard input. What holds a zero byte in its first 8 KiB is binary: it is skipped with
 * a line on stderr when skip_binary is set. A failure is reported there too. The caller frees text->data. */
enum text_result text_read(const char *command, const char *path, bool skip_binary, struct text *text);

/* What --model and --device opened. */
struct text_model {
    char folder[4096];
    struct wick_device *device;
    struct wick_embedder *embedder;
};

/* Opens the embedder in `folder`, or, when that is NULL, in $WICK_MODEL, or else where tools/fetch-model puts it.
 * `fast` is wick_embedder_options'. False after a failure was reported. Close in any case. */
bool text_model_open(const char *command, const char *folder, const char *device, bool fast, struct text_model *model);
void text_model_close(struct text_model *model);

/* $XDG_CACHE_HOME/wick/NAME, or ~/.cache/wick/NAME. False when neither is known or the path is too long. */
bool text_cache_path(const char *name, char *path, size_t size);

/* Shows "verb done/total" on stderr while that is a terminal; done == total clears the line. */
void text_progress(const char *verb, int64_t done, int64_t total);

/* Writes a JSON string. Bytes that are no UTF-8 become U+FFFD. */
void text_put_json(FILE *file, const char *text, size_t nbytes);

/* The length of the UTF-8 character at text, nbytes > 0; 0 when it is none. */
size_t text_char(const char *text, size_t nbytes);

/* The value of an option written "--name VALUE" or "--name=VALUE" at argv[*i], moving *i past it. NULL when argv[*i]
 * is another argument; *missing is set when the value is not there. */
const char *text_option(const char *name, int argc, char **argv, int *i, bool *missing);

/* A whole number in low..high; false for anything else. */
bool text_number(const char *text, int64_t low, int64_t high, int64_t *value);

#endif
