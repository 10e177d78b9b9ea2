/* Reading lines from a person: with libedit and a history on a terminal, as they come otherwise. */
#ifndef WICK_CLI_LINE_H
#define WICK_CLI_LINE_H

#include <stdbool.h>

struct line;

/* `history` is a file's name in the cache folder, `prompt` a static string. NULL when memory runs out. */
struct line *line_open(const char *history, const char *prompt);
/* Writes the history. NULL is fine. */
void line_close(struct line *line);
/* Whether a person edits the lines. */
bool line_edits(const struct line *line);

enum line_result { LINE_TEXT, LINE_INTERRUPTED, LINE_END, LINE_FAILED };

/* The next line without its end, which the caller frees. A signal whose handler returns interrupts it. */
enum line_result line_read(struct line *line, char **text);

#endif
