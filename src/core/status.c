/* Status names, this thread's error, the log callback, the version. */
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct wick__error thread_error;
static _Thread_local enum wick_status latest = WICK_INTERNAL;

static struct {
    wick_log_fn *log;
    void *context;
    enum wick_log_level level;
} logger;

const char *wick_version(void) { return WICK_VERSION; }

const char *wick_status_name(enum wick_status status) {
    switch (status) {
#define NAME(name, text)                                                                                               \
    case WICK_##name: return #name;
        WICK_STATUS_MAP(NAME)
#undef NAME
    }
    return "?";
}

const char *wick_status_text(enum wick_status status) {
    switch (status) {
#define TEXT(name, text)                                                                                               \
    case WICK_##name: return text;
        WICK_STATUS_MAP(TEXT)
#undef TEXT
    }
    return "?";
}

const char *wick_error(void) { return thread_error.text; }

enum wick_status wick_error_status(void) { return thread_error.status; }

void wick_error_clear(void) {
    thread_error.status = WICK_OK;
    thread_error.text[0] = '\0';
}

void wick__error_swap(struct wick__error *other) {
    struct wick__error mine = thread_error;
    thread_error = *other;
    *other = mine;
}

enum wick_status wick__latest(void) { return latest; }

enum wick_status wick__fail(enum wick_status status, const char *format, ...) {
    latest = status;
    if (thread_error.status == WICK_OK) {
        va_list args;
        va_start(args, format);
        vsnprintf(thread_error.text, sizeof thread_error.text, format, args);
        va_end(args);
        thread_error.status = status;
    }
    return status;
}

enum wick_status wick__reserved(const char *op, const uint64_t *reserved) {
    for (size_t i = 0; reserved && i < sizeof(
                                           struct { WICK_RESERVED; }) /
                                           sizeof *reserved;
         i++)
        if (reserved[i] != 0)
            return wick__fail(WICK_INVALID, "%s: the options are of a later version: word %zu of `reserved` is not 0",
                              op, i);
    return WICK_OK;
}

void wick_log_set(wick_log_fn *log, void *context, enum wick_log_level level) {
    logger.log = log;
    logger.context = context;
    logger.level = level;
}

bool wick__log_takes(enum wick_log_level level) { return logger.log && level <= logger.level; }

void wick__log(enum wick_log_level level, const char *format, ...) {
    char line[1024];
    va_list args;
    if (!wick__log_takes(level)) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    logger.log(logger.context, level, line);
}
