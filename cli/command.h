/* The commands of the wick program. Each is one file, cli/NAME.c, and a row here. */
#ifndef WICK_CLI_COMMAND_H
#define WICK_CLI_COMMAND_H

#include <wick/wick.h>

/* COMMAND(name, arguments, summary): int command_NAME(int argc, char **argv) gets what stands after the name, and
 * returns the exit status: 0, 1 after a failure it has reported, 2 for wrong usage. */
#define WICK_COMMANDS(COMMAND)                                                                                         \
    COMMAND(bench, "[--device D] [--op PATTERN] [--dtype T] [--quick] [--json]",                                       \
            "times every op beside this machine's measured peaks")                                                     \
    COMMAND(classify, "--model PATH [--labels FILE] [--top K] [--device D] [--json] IMAGE...",                         \
            "names what is on pictures")                                                                               \
    COMMAND(devices, "[--json]", "lists what is here, and what is wrong with what does not work")                      \
    COMMAND(doctor, "[--json]", "says what keeps GPUs from being used, and what to do about it")                       \
    COMMAND(embed,                                                                                                     \
            "[--output NAME.jsonl|NAME.npy|NAME.safetensors] [--model DIR] [--device D] [--batch N] "                  \
            "[--fast] [FILE...]",                                                                                      \
            "makes a vector of each line of the files, or of standard input")                                          \
    COMMAND(inspect, "FILE [--json] [--lenient]", "lists the tensors and metadata of a file or model folder")          \
    COMMAND(kernels, "[--device D] [--warm] [--export DIR] [--import PATH] [--json]",                                  \
            "lists the GPU kernels and where their code comes from")                                                   \
    COMMAND(search,                                                                                                    \
            "[--top K] [--json] [--words N] [--no-index] [--exact] [--model DIR] [--device D] QUESTION "               \
            "FILE...",                                                                                                 \
            "shows the passages of the files that come closest to a question")                                         \
    COMMAND(verify,                                                                                                    \
            "[--op PATTERN] [--family NAME] [--dtype T] [--layout NAME] [--case K] [--list FILE] [--log FILE] "        \
            "[--seed N] [--normal] [--quick] [--cut] [--json] [--table]",                                              \
            "runs every op on every dtype and layout against references")

#define COMMAND(name, arguments, summary) int command_##name(int argc, char **argv);
WICK_COMMANDS(COMMAND)
#undef COMMAND

/* Prints "wick NAME: text" to stderr, followed by wick_error() if there is one, and returns 1. */
__attribute__((format(printf, 2, 3))) int command_fail(const char *name, const char *format, ...);
/* Prints "wick NAME: text" and how to get help, and returns 2. */
__attribute__((format(printf, 2, 3))) int command_usage(const char *name, const char *format, ...);

#endif
