/* Reading lines from a person. */
#include "cli/line.h"

#include "cli/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef WICK_LIBEDIT
#include <histedit.h>
#endif

enum { HISTORY = 1000 };

struct line {
    const char *prompt;
    bool edits;
    char history_path[4096]; /* "": none */
#ifdef WICK_LIBEDIT
    EditLine *editor;
    History *history;
#endif
};

#ifdef WICK_LIBEDIT
static char *prompt_of(EditLine *editor) {
    struct line *line = NULL;
    el_get(editor, EL_CLIENTDATA, &line);
    return (char *)(uintptr_t)line->prompt; /* libedit only reads it */
}

/* Only its owner may read what was said. libedit writes the file so. */
static void load_history(struct line *line, const char *name) {
    HistEvent event;
    history(line->history, &event, H_SETSIZE, HISTORY);
    if (!text_cache_path(name, line->history_path, sizeof line->history_path)) {
        line->history_path[0] = '\0';
        return;
    }
    for (char *slash = line->history_path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(line->history_path, 0700); /* if one fails, so does the writing, and there is no history */
        *slash = '/';
    }
    history(line->history, &event, H_LOAD, line->history_path);
}

static bool open_editor(struct line *line, const char *name) {
    line->editor = el_init("wick", stdin, stdout, stderr);
    line->history = history_init();
    if (!line->editor || !line->history) return false;
    el_set(line->editor, EL_CLIENTDATA, line);
    el_set(line->editor, EL_PROMPT, prompt_of);
    el_set(line->editor, EL_EDITOR, "emacs");
    /* A Ctrl-D that the terminal took before the editor did arrives as NUL, and would stand in the line unseen. */
    el_set(line->editor, EL_BIND, "^@", "ed-ignore", NULL);
    el_set(line->editor, EL_HIST, history, line->history);
    load_history(line, name);
    return true;
}

static enum line_result edit(struct line *line, char **text) {
    HistEvent event;
    int length = 0;
    errno = 0;
    const char *read = el_gets(line->editor, &length);
    if (!read || length <= 0) {
        if (length < 0 && errno == EINTR) {
            el_reset(line->editor);
            putchar('\n');
            return LINE_INTERRUPTED;
        }
        putchar('\n');
        return LINE_END;
    }
    *text = strndup(read, (size_t)length);
    if (!*text) return LINE_FAILED;
    (*text)[strcspn(*text, "\r\n")] = '\0';
    if (**text) history(line->history, &event, H_ENTER, *text);
    return LINE_TEXT;
}
#endif

struct line *line_open(const char *history, const char *prompt) {
    struct line *line = calloc(1, sizeof *line);
    if (!line) return NULL;
    line->prompt = prompt;
#ifdef WICK_LIBEDIT
    line->edits = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (line->edits && !open_editor(line, history)) {
        line_close(line);
        return NULL;
    }
#else
    (void)history;
#endif
    return line;
}

void line_close(struct line *line) {
    if (!line) return;
#ifdef WICK_LIBEDIT
    HistEvent event;
    if (line->history && line->history_path[0]) history(line->history, &event, H_SAVE, line->history_path);
    if (line->history) history_end(line->history);
    if (line->editor) el_end(line->editor);
#endif
    free(line);
}

bool line_edits(const struct line *line) { return line->edits; }

static enum line_result read_plain(const struct line *line, char **text) {
    size_t size = 0;
    if (isatty(STDIN_FILENO)) fputs(line->prompt, stdout);
    fflush(stdout);
    errno = 0;
    ssize_t length = getline(text, &size, stdin);
    if (length < 0) {
        int reason = errno;
        free(*text);
        *text = NULL;
        if (feof(stdin)) return LINE_END;
        clearerr(stdin);
        return reason == EINTR ? LINE_INTERRUPTED : LINE_FAILED;
    }
    (*text)[strcspn(*text, "\r\n")] = '\0';
    return LINE_TEXT;
}

enum line_result line_read(struct line *line, char **text) {
    *text = NULL;
#ifdef WICK_LIBEDIT
    if (line->edits) return edit(line, text);
#endif
    return read_plain(line, text);
}
