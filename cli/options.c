/* Parsing options, and showing them. */
#include "cli/options.h"

#include "cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool options_number(const char *text, int64_t low, int64_t high, int64_t *value) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool digits = (*text >= '0' && *text <= '9') || *text == '-';
    if (!digits || end == text || *end || errno || number < low || number > high) return false;
    *value = number;
    return true;
}

bool options_real(const char *text, double low, double high, double *value) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= low && number <= high)) return false;
    *value = number;
    return true;
}

/* The option that an argument names, with the value behind its "=" or NULL. */
static const struct option *find(const struct option *list, const char *argument, const char **value) {
    for (; list->kind != OPTION_END; list++) {
        size_t length = strlen(list->name);
        if (strncmp(argument, list->name, length) != 0) continue;
        *value = argument[length] == '=' ? argument + length + 1 : NULL;
        if (*value || !argument[length]) return list;
    }
    return NULL;
}

/* Returns 0, or the exit status after wrong usage. */
static int set(const char *command, const struct option *option, const char *value) {
    if (option->kind == OPTION_FLAG) {
        *option->to.flag = true;
    } else if (option->kind == OPTION_TEXT) {
        *option->to.text = value;
    } else if (option->kind == OPTION_REAL) {
        if (!options_real(value, (double)option->low, (double)option->high, option->to.real))
            return command_usage(command, "%s needs a number from %" PRId64 " to %" PRId64 ", not '%s'", option->name,
                                 option->low, option->high, value);
    } else if (!options_number(value, option->low, option->high, option->to.number)) {
        return command_usage(command, "%s needs a whole number from %" PRId64 " to %" PRId64 ", not '%s'", option->name,
                             option->low, option->high, value);
    }
    return 0;
}

static void show(const struct options *options) {
    int width = (int)strlen("--help");
    command_synopsis(options->command, options->list->kind != OPTION_END);
    for (const struct option *o = options->list; o->kind != OPTION_END; o++) {
        int length = (int)strlen(o->name) + (o->value ? 1 + (int)strlen(o->value) : 0);
        if (length > width) width = length;
    }
    for (const struct option *o = options->list; o->kind != OPTION_END; o++) {
        int used = printf("  %s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
        printf("%*s%s\n", width + 4 - used, "", o->help);
    }
    printf("  %-*s%s\n", width + 2, "--help", "shows this");
}

bool options_parse(const struct options *options, int argc, char **argv, int *n, int *status) {
    bool only_operands = false;
    *n = 0;
    *status = 0;
    for (int i = 0; i < argc && *status == 0; i++) {
        const char *value;
        if (only_operands || argv[i][0] != '-' || strcmp(argv[i], "-") == 0) {
            if (*n == options->most)
                *status = command_usage(options->command, "unexpected argument '%s'", argv[i]);
            else
                argv[(*n)++] = argv[i];
            continue;
        }
        if (strcmp(argv[i], "--") == 0) {
            only_operands = true;
            continue;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            show(options);
            return false;
        }
        const struct option *option = find(options->list, argv[i], &value);
        if (!option)
            *status = command_usage(options->command, "there is no option '%s'", argv[i]);
        else if (option->kind == OPTION_FLAG && value)
            *status = command_usage(options->command, "%s has no value", option->name);
        else if (option->kind != OPTION_FLAG && !value && i + 1 == argc)
            *status = command_usage(options->command, "%s needs a value", option->name);
        else
            *status = set(options->command, option, value || option->kind == OPTION_FLAG ? value : argv[++i]);
    }
    return *status == 0;
}
