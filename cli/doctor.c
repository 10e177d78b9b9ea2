/* wick doctor: what GPUs are here, what keeps them from being used, and what to do about it. */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"

#include <stdio.h>

int command_doctor(int argc, char **argv) {
    bool json = false;
    const struct option list[] = {OPTIONS_FLAG("--json", &json, "writes JSON"), OPTIONS_END};
    const struct options options = {"doctor", list, 0};
    int n, status, faults = 0;
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    char *report = wick_doctor(json ? WICK_DOCTOR_JSON : WICK_DOCTOR_TEXT, &faults);
    if (!report) return command_fail("doctor", "no report");
    if (json)
        puts(report);
    else
        output_lines(stdout, report);
    wick_doctor_free(report);
    return faults > 0;
}
