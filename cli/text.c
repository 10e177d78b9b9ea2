/* What the commands that read text share: files, the model, the cache folder, progress, JSON strings. */
#define _GNU_SOURCE /* secure_getenv */
#include "cli/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BINARY_PROBE = 8192 };
#define TEXT_MAX ((size_t)1 << 30)

static bool read_stream(FILE *file, struct text *text) {
    size_t capacity = 1 << 16, got;
    *text = (struct text){malloc(capacity), 0};
    while (text->data && (got = fread(text->data + text->nbytes, 1, capacity - text->nbytes - 1, file)) > 0) {
        text->nbytes += got;
        if (text->nbytes > TEXT_MAX) {
            errno = EFBIG;
            return false;
        }
        if (capacity - text->nbytes > 1) continue;
        char *grown = realloc(text->data, capacity *= 2);
        if (!grown) return false;
        text->data = grown;
    }
    if (!text->data || ferror(file)) return false;
    text->data[text->nbytes] = '\0';
    return true;
}

enum text_result text_read(const char *command, const char *path, bool skip_binary, struct text *text) {
    bool from_stdin = strcmp(path, "-") == 0;
    FILE *file = from_stdin ? stdin : fopen(path, "rb");
    *text = (struct text){NULL, 0};
    bool good = file && read_stream(file, text);
    int why = errno;
    if (file && !from_stdin) fclose(file);
    if (!good) {
        fprintf(stderr, "wick %s: %s: %s\n", command, path, strerror(why));
    } else if (skip_binary && memchr(text->data, '\0', text->nbytes < BINARY_PROBE ? text->nbytes : BINARY_PROBE)) {
        fprintf(stderr, "wick %s: %s: skipped, it is no text\n", command, path);
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
    if (!folder && from_environment && *from_environment) folder = from_environment;
    if (folder ? snprintf(model->folder, sizeof model->folder, "%s", folder) >= (int)sizeof model->folder
               : !text_cache_path("models/all-MiniLM-L6-v2", model->folder, sizeof model->folder)) {
        command_fail(command, "the model's folder is not known, or its path is too long");
        return false;
    }
    if (!folder && access(model->folder, F_OK) != 0) {
        command_fail(command,
                     "there is no model at %s; tools/fetch-model fetches one, --model or WICK_MODEL name another",
                     model->folder);
        return false;
    }
    model->device = wick_device_open(device);
    if (model->device) model->embedder = wick_embedder_open_with(model->folder, model->device, &options);
    if (!model->embedder) command_fail(command, "the model can't be opened");
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

size_t text_char(const char *text, size_t nbytes) {
    const unsigned char *s = (const unsigned char *)text;
    size_t length = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    if (length > nbytes) return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF0 && s[1] < 0x90) ||
        (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return length;
}

void text_put_json(FILE *file, const char *text, size_t nbytes) {
    putc('"', file);
    for (size_t i = 0; i < nbytes;) {
        unsigned char c = (unsigned char)text[i];
        size_t length = text_char(text + i, nbytes - i);
        if (length == 0)
            fputs("\xEF\xBF\xBD", file);
        else if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20)
            fprintf(file, "\\u%04x", c);
        else
            fwrite(text + i, 1, length, file);
        i += length ? length : 1;
    }
    putc('"', file);
}

const char *text_option(const char *name, int argc, char **argv, int *i, bool *missing) {
    size_t length = strlen(name);
    if (strncmp(argv[*i], name, length) != 0) return NULL;
    if (argv[*i][length] == '=') return argv[*i] + length + 1;
    if (argv[*i][length] != '\0') return NULL;
    if (*i + 1 < argc) return argv[++*i];
    *missing = true;
    return "";
}

bool text_number(const char *text, int64_t low, int64_t high, int64_t *value) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno || number < low || number > high) return false;
    *value = number;
    return true;
}
