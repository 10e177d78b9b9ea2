/* Options of a command: one list gives the parser, its checks and --help. */
#ifndef WICK_CLI_OPTIONS_H
#define WICK_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum option_kind { OPTION_END, OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER, OPTION_REAL };

/* "--name" sets a flag; "--name VALUE" and "--name=VALUE" set a text or a number in low..high, whole or not. */
struct option {
    enum option_kind kind;
    const char *name;  /* "--top" */
    const char *value; /* what its value is called in --help, "K" */
    const char *help;
    union {
        bool *flag;
        const char **text;
        int64_t *number;
        double *real;
    } to;
    int64_t low, high;
};

#define OPTIONS_FLAG(option, flag_, help_)                                                                             \
    { .kind = OPTION_FLAG, .name = option, .help = help_, .to.flag = flag_ }
#define OPTIONS_TEXT(option, called, text_, help_)                                                                     \
    { .kind = OPTION_TEXT, .name = option, .value = called, .help = help_, .to.text = text_ }
#define OPTIONS_NUMBER(option, called, number_, low_, high_, help_)                                                    \
    {                                                                                                                  \
        .kind = OPTION_NUMBER, .name = option, .value = called, .help = help_, .to.number = number_, .low = low_,      \
        .high = high_                                                                                                  \
    }
#define OPTIONS_REAL(option, called, real_, low_, high_, help_)                                                        \
    {                                                                                                                  \
        .kind = OPTION_REAL, .name = option, .value = called, .help = help_, .to.real = real_, .low = low_,            \
        .high = high_                                                                                                  \
    }
#define OPTIONS_END                                                                                                    \
    { .kind = OPTION_END }

/* Sets what the options in argv name; a row of kind OPTION_END ends the list. What is not an option moves to the front
 * of argv: "-", what follows "--", and all that does not begin with "-". *n counts it; more than `most` is wrong usage.
 * False when the command is done, with its exit status in *status: --help was shown, or wrong usage was reported. */
struct options {
    const char *command;
    const struct option *list;
    int most;
};
bool options_parse(const struct options *options, int argc, char **argv, int *n, int *status);

/* A whole number in low..high; false for anything else. */
bool options_number(const char *text, int64_t low, int64_t high, int64_t *value);
/* Any finite number in low..high. */
bool options_real(const char *text, double low, double high, double *value);

#endif
