/* wick doctor: what GPUs are here, what keeps them from being used, and what to do about it. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

int command_doctor(int argc, char **argv) {
    bool json = argc == 1 && strcmp(argv[0], "--json") == 0;
    if (argc > 1 || (argc == 1 && !json)) return command_usage("doctor", "unexpected argument '%s'", argv[json]);
    int faults = 0;
    char *report = wick_doctor(json ? WICK_DOCTOR_JSON : WICK_DOCTOR_TEXT, &faults);
    if (!report) return command_fail("doctor", "no report");
    fputs(report, stdout);
    if (json) putchar('\n');
    wick_doctor_free(report);
    return faults > 0;
}
