/* wick: finds the command and runs it. */
#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *arguments, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, arguments, summary) {#name, arguments, summary, command_##name},
    WICK_COMMANDS(COMMAND)
#undef COMMAND
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

int command_fail(const char *name, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "wick %s: ", name);
    vfprintf(stderr, format, args);
    fprintf(stderr, *wick_error() ? ": %s\n" : "%s\n", wick_error());
    va_end(args);
    return 1;
}

int command_usage(const char *name, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "wick %s: ", name);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nTry 'wick %s --help'.\n", name);
    va_end(args);
    return 2;
}

static void print_help(FILE *file) {
    fprintf(file, "usage: wick COMMAND [ARGUMENT...]\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++) fprintf(file, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(file, "\n'wick COMMAND --help' shows a command's arguments. 'wick --version' shows the version.\n");
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--version") == 0) {
        printf("wick %s\n", wick_version());
        return 0;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return 0;
    }
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) != 0) continue;
        if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
            printf("usage: wick %s %s\n\n%s\n", commands[i].name, commands[i].arguments, commands[i].summary);
            return 0;
        }
        return commands[i].run(argc - 2, argv + 2);
    }
    if (*name) fprintf(stderr, "wick: there is no command '%s'\n\n", name);
    print_help(stderr);
    return 2;
}
