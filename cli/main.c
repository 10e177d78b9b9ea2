/* wick: finds the command and runs it. */
#include "cli/command.h"
#include "cli/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *operands, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, operands, summary) {#name, operands, summary, command_##name},
    WICK_COMMANDS(COMMAND)
#undef COMMAND
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

int command_fail(const char *name, const char *format, ...) {
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    output_note(name, "%s%s%s", text, *wick_error() ? ": " : "", wick_error());
    return 1;
}

int command_usage(const char *name, const char *format, ...) {
    va_list args;
    va_start(args, format);
    output_note_list(name, format, args);
    va_end(args);
    fprintf(stderr, "Try 'wick %s --help'.\n", name);
    return 2;
}

static int find(const char *name) {
    int i = 0;
    while (i < COMMAND_COUNT && strcmp(name, commands[i].name) != 0) i++;
    return i < COMMAND_COUNT ? i : -1;
}

void command_synopsis(const char *name, bool has_options) {
    int i = find(name);
    const char *operands = commands[i].operands;
    printf("usage: wick %s%s%s%s\n\n", name, has_options ? " [OPTION...]" : "", *operands ? " " : "", operands);
    printf("%c%s.\n\n", commands[i].summary[0] - 'a' + 'A', commands[i].summary + 1);
}

static void print_help(FILE *file) {
    fprintf(file, "usage: wick COMMAND [ARGUMENT...]\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++) fprintf(file, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(file, "\n'wick COMMAND --help' shows a command's options. 'wick --version' shows the version.\n");
}

static int run(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("wick %s\n", wick_version());
        return 0;
    }
    bool helps = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0;
    if (helps && argc == 2) {
        print_help(stdout);
        return 0;
    }
    int i = find(helps ? argv[2] : name);
    if (helps && i >= 0) {
        char option[] = "--help", *only[] = {option};
        return commands[i].run(1, only);
    }
    if (i >= 0) {
        output_log(commands[i].name);
        return commands[i].run(argc - 2, argv + 2);
    }
    if (argc > 1) {
        output_note("", "there is no command '%s'", helps ? argv[2] : name);
        fprintf(stderr, "Try 'wick --help'.\n");
    } else {
        print_help(stderr);
    }
    return 2;
}

int main(int argc, char **argv) {
    output_begin();
    int status = run(argc, argv);
    if (!output_end(argc > 1 && find(argv[1]) >= 0 ? argv[1] : "") && status == 0) status = 1;
    return status;
}
