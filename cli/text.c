/* What the commands that read text share: files, the model, the cache folder, progress. */
#define _GNU_SOURCE /* secure_getenv */
#include "cli/text.h"

#include "cli/finite.h"
#include "cli/output.h"
#include "cli/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BINARY_PROBE = 8192 };
#define TEXT_MAX ((size_t)1 << 30)

enum text_result text_read(const char *command, const char *path, bool skip_binary, struct text *text) {
    bool good = read_whole(path, TEXT_MAX, &text->data, &text->nbytes);
    if (!good) {
        output_note(command, "%s: %s", path, strerror(errno));
    } else if (skip_binary && memchr(text->data, '\0', text->nbytes < BINARY_PROBE ? text->nbytes : BINARY_PROBE)) {
        output_note(command, "%s: skipped, it is not text", path);
    } else {
        return TEXT_READ;
    }
    free(text->data);
    *text = (struct text){NULL, 0};
    return good ? TEXT_SKIPPED : TEXT_FAILED;
}

bool text_cache_path(const char *name, char *path, size_t size) {
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    int length = -1;
    if (cache && *cache == '/')
        length = snprintf(path, size, "%s/wick/%s", cache, name);
    else if (home && *home)
        length = snprintf(path, size, "%s/.cache/wick/%s", home, name);
    return length > 0 && (size_t)length < size;
}

bool text_model_open(const char *command, const char *folder, const char *device, bool fast, struct text_model *model) {
    const struct wick_embedder_options options = {.fast = fast, .files = {.copy = true}};
    const char *from_environment = secure_getenv("WICK_MODEL");
    *model = (struct text_model){.device = NULL};
    if (folder && !*folder) {
        command_fail(command, "--model names no folder");
        return false;
    }
    if (!folder && from_environment && *from_environment) folder = from_environment;
    if (folder ? snprintf(model->folder, sizeof model->folder, "%s", folder) >= (int)sizeof model->folder
               : !text_cache_path("models/all-MiniLM-L6-v2", model->folder, sizeof model->folder)) {
        command_fail(command, folder ? "the path of the model's folder is too long"
                                     : "neither HOME nor XDG_CACHE_HOME says where models are; name one by --model or "
                                       "WICK_MODEL");
        return false;
    }
    if (!folder && access(model->folder, F_OK) != 0) {
        command_fail(
            command,
            "there is no model at %s; fetch one with tools/fetch-model, or name another by --model or WICK_MODEL",
            model->folder);
        return false;
    }
    model->device = wick_device_open(device);
    if (model->device) model->embedder = wick_embedder_open_with(model->folder, model->device, &options);
    if (!model->embedder) command_fail(command, "the %s can't be opened", model->device ? "model" : "device");
    return model->embedder != NULL;
}

void text_model_close(struct text_model *model) {
    wick_embedder_close(model->embedder);
    wick_device_close(model->device);
}

void text_progress(const char *verb, int64_t done, int64_t total) {
    enum { WIDTH = 30 };
    static int terminal = -1;
    char bar[WIDTH + 1];
    if (terminal < 0) terminal = isatty(STDERR_FILENO);
    if (!terminal || total <= 0) return;
    int filled = (int)(done * WIDTH / total);
    for (int i = 0; i < WIDTH; i++) bar[i] = i < filled ? '#' : ' ';
    bar[WIDTH] = '\0';
    if (done < total)
        fprintf(stderr, "\r%s [%s] %lld/%lld", verb, bar, (long long)done, (long long)total);
    else
        fprintf(stderr, "\r\033[K");
    fflush(stderr);
}

int text_not_finite(const char *command, const struct text_model *model, const char *what, const char *text,
                    size_t nbytes) {
    char where[512];
    wick_error_clear();
    if (finite_blame(model->folder, where, sizeof where))
        return command_fail(command, "%s: not finite; in %s, %s", what, model->folder, where);
    wick_scope_begin();
    bool records = wick_record_begin() == WICK_OK;
    if (records) wick_embedder_encode(model->embedder, 1, &text, &nbytes);
    struct wick_record *record = records ? wick_record_end() : NULL;
    wick_scope_end(NULL);
    bool found = finite_trace(record, model->folder, where, sizeof where);
    wick_record_free(record);
    wick_error_clear();
    if (found) return command_fail(command, "%s: not finite; in %s, %s", what, model->folder, where);
    return command_fail(command, "%s: not finite, though all tensors of %s are", what, model->folder);
}
