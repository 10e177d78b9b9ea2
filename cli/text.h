/* What the commands that read text share: files, the model, the cache folder, progress. */
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

/* Reads a whole file or pipe, "-" for standard input. What holds a zero byte in its first 8 KiB is binary: it is
 * skipped with a line on stderr when skip_binary is set. A failure is reported there too. The caller frees text->data.
 */
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

/* Reports that `what`, the vector of a text, holds NaN or an infinity, and the first tensor that does: of the model, or
 * of what is computed from the text. Returns 1. */
int text_not_finite(const char *command, const struct text_model *model, const char *what, const char *text,
                    size_t nbytes);

/* Shows "verb done/total" on stderr while that is a terminal; done == total clears the line. */
void text_progress(const char *verb, int64_t done, int64_t total);

#endif
