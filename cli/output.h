/* What reaches a person: text shown so that no terminal obeys it, lines on stderr, and whether stdout took everything.
 *
 * Labels, file names, passages and drivers' names come from anywhere. Whatever a command prints as text and did not
 * write itself goes through output_text. */
#ifndef WICK_CLI_OUTPUT_H
#define WICK_CLI_OUTPUT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The length of the UTF-8 character at text, nbytes > 0; 0 when there is none. */
size_t output_char(const char *text, size_t nbytes);

/* One character of a text as it is shown: itself, or an escape for what a terminal would obey (controls, DEL, C1, marks
 * that turn the direction of text) and for bytes that are not UTF-8: \n, \x1b, \u202e. */
struct output_shown {
    char text[12];
    size_t nbytes; /* taken from the text, >= 1 */
    int columns;   /* on a terminal, all characters being of one */
};
struct output_shown output_show(const char *text, size_t nbytes);

/* Writes text escaped; returns its columns. output_lines leaves newlines as they are. */
int output_bytes(FILE *file, const char *text, size_t nbytes);
int output_text(FILE *file, const char *text);
void output_lines(FILE *file, const char *text);
/* The columns of output_text. */
int output_columns(const char *text);

/* Writes "wick COMMAND: text" to stderr, escaped, as one line. */
__attribute__((format(printf, 2, 3))) void output_note(const char *command, const char *format, ...);
__attribute__((format(printf, 2, 0))) void output_note_list(const char *command, const char *format, va_list args);

/* Shows the library's log from now on: warnings and errors, each line once, as output_note(command). */
void output_log(const char *command);

/* Before anything is opened: makes sure that no file that is opened later becomes a closed stdin, stdout or stderr. */
void output_begin(void);
/* At the end: writes out stdout and closes it. False, after a line on stderr, when something printed was lost. */
bool output_end(const char *command);

#endif
