/* Text for people: escapes, lines on stderr, the library's log, and the check of stdout. */
#define _GNU_SOURCE /* secure_getenv */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wick/status.h>

/* ---- escapes ---- */

size_t output_char(const char *text, size_t nbytes) {
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

/* The code point of a character of 2 or 3 bytes; those of 4 hold nothing that is escaped. */
static unsigned code_point(const char *text, size_t length) {
    const unsigned char *s = (const unsigned char *)text;
    if (length == 2) return (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu);
    if (length == 3) return (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    return 0;
}

/* C1 controls, separators of lines, and marks that turn the direction of text. */
static bool is_obeyed(unsigned c) {
    return (c >= 0x80 && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069);
}

struct output_shown output_show(const char *text, size_t nbytes) {
    struct output_shown shown = {.nbytes = output_char(text, nbytes), .columns = 1};
    unsigned char c = (unsigned char)text[0];
    if (c == '\n' || c == '\t' || c == '\r')
        snprintf(shown.text, sizeof shown.text, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    else if (shown.nbytes == 0 || c < 0x20 || c == 0x7F)
        snprintf(shown.text, sizeof shown.text, "\\x%02x", c);
    else if (is_obeyed(code_point(text, shown.nbytes)))
        snprintf(shown.text, sizeof shown.text, "\\u%04x", code_point(text, shown.nbytes));
    else
        memcpy(shown.text, text, shown.nbytes);
    if (shown.text[0] == '\\') shown.columns = (int)strlen(shown.text);
    if (shown.nbytes == 0) shown.nbytes = 1;
    return shown;
}

static int show_all(FILE *file, const char *text, size_t nbytes, bool newlines) {
    int columns = 0;
    for (size_t i = 0; i < nbytes;) {
        struct output_shown shown = output_show(text + i, nbytes - i);
        if (file) fputs(newlines && text[i] == '\n' ? "\n" : shown.text, file);
        columns += shown.columns;
        i += shown.nbytes;
    }
    return columns;
}

int output_bytes(FILE *file, const char *text, size_t nbytes) { return show_all(file, text, nbytes, false); }

int output_text(FILE *file, const char *text) { return show_all(file, text, strlen(text), false); }

void output_lines(FILE *file, const char *text) { show_all(file, text, strlen(text), true); }

int output_columns(const char *text) { return show_all(NULL, text, strlen(text), false); }

/* ---- stderr ---- */

void output_note_list(const char *command, const char *format, va_list args) {
    char line[8192];
    vsnprintf(line, sizeof line, format, args);
    flockfile(stderr);
    fprintf(stderr, "wick%s%s: ", *command ? " " : "", command);
    output_text(stderr, line);
    putc('\n', stderr);
    funlockfile(stderr);
}

void output_note(const char *command, const char *format, ...) {
    va_list args;
    va_start(args, format);
    output_note_list(command, format, args);
    va_end(args);
}

static const char *const log_levels[] = {
    [WICK_LOG_ERROR] = "error", [WICK_LOG_WARNING] = "warning", [WICK_LOG_INFO] = "info", [WICK_LOG_DEBUG] = "debug"};

/* Lines are told apart by a hash: a few words of memory for what may come a million times. */
static void show_log(void *context, enum wick_log_level level, const char *line) {
    enum { MOST = 256 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t seen[MOST];
    static int n;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *at = line; *at; at++) hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    bool fresh = true;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n && fresh; i++) fresh = seen[i] != hash;
    fresh = fresh && n < MOST;
    if (fresh) seen[n++] = hash;
    pthread_mutex_unlock(&lock);
    if (fresh) output_note(context, "%s: %s", log_levels[level], line);
}

void output_log(const char *command) {
    const char *wish = secure_getenv("WICK_LOG");
    enum wick_log_level level = WICK_LOG_WARNING;
    bool known = !wish || !*wish;
    for (int i = 0; i <= WICK_LOG_DEBUG && !known; i++) {
        known = strcmp(wish, log_levels[i]) == 0;
        if (known) level = (enum wick_log_level)i;
    }
    if (!known) output_note(command, "warning: WICK_LOG=%.64s is none of error, warning, info, debug; ignored", wish);
    wick_log_set(show_log, (void *)(uintptr_t)command, level);
}

/* ---- stdout ---- */

void output_begin(void) {
    /* Opened the wrong way round, so that what is printed there fails. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) return;
}

bool output_end(const char *command) {
    bool lost = ferror(stdout) != 0; /* its errno is long gone */
    errno = 0;
    if (fclose(stdout) != 0) lost = true;
    if (lost) output_note(command, "the output can't be written%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
    return !lost;
}
