/* The commands of the wick program. Each is one file, cli/NAME.c, and a row here. */
#ifndef WICK_CLI_COMMAND_H
#define WICK_CLI_COMMAND_H

#include <wick/wick.h>

/* COMMAND(name, operands, summary): int command_NAME(int argc, char **argv) gets what stands after the name, and
 * returns the exit status: 0, 1 after a failure it has reported, 2 for wrong usage. */
#define WICK_COMMANDS(COMMAND)                                                                                         \
    COMMAND(bench, "", "times every op beside measured peaks, or a model")                                             \
    COMMAND(chat, "MODEL", "holds a conversation with a language model")                                               \
    COMMAND(classify, "IMAGE...", "names what pictures show")                                                          \
    COMMAND(devices, "", "lists devices and explains any that fail")                                                   \
    COMMAND(doctor, "", "explains why a GPU can't be used, and how to mend it")                                        \
    COMMAND(embed, "[FILE...]", "turns each line of the files, or of standard input, into a vector")                   \
    COMMAND(generate, "MODEL PROMPT", "continues a text with a language model")                                        \
    COMMAND(imatrix, "MODEL TEXT", "finds which columns of a model's weights matter, for quantize")                    \
    COMMAND(inspect, "FILE", "lists the tensors and metadata of a file or model folder")                               \
    COMMAND(kernels, "", "lists the GPU kernels and where their code comes from")                                      \
    COMMAND(perplexity, "MODEL TEXT", "measures how well a language model foretells a text")                           \
    COMMAND(quantize, "IN OUT TYPE", "writes a language model in fewer bits")                                          \
    COMMAND(report, "[FILE]", "writes what works here, and how fast, to a file for an issue")                          \
    COMMAND(search, "QUESTION FILE...", "shows the passages that come closest to a question")                          \
    COMMAND(tune, "MODEL", "measures which routes are fastest for a model, and keeps that")                            \
    COMMAND(verify, "", "runs every op on every dtype and layout against references")

#define COMMAND(name, operands, summary) int command_##name(int argc, char **argv);
WICK_COMMANDS(COMMAND)
#undef COMMAND

/* Prints "wick NAME: text", followed by wick_error() if there is one, to stderr as one line, and returns 1. */
__attribute__((format(printf, 2, 3))) int command_fail(const char *name, const char *format, ...);
/* Prints "wick NAME: text" and how to get help, and returns 2. */
__attribute__((format(printf, 2, 3))) int command_usage(const char *name, const char *format, ...);
/* Prints the first lines of a command's help: its synopsis and what it does. */
void command_synopsis(const char *name, bool has_options);

#endif
