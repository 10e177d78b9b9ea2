/* wick report: what works on this machine, in one file to attach to an issue.
 *
 * Every part is another command of this program in a process of its own, so that a driver that crashes or hangs is a
 * line of the report. The file is written part by part: where a machine goes down with its card, what was found until
 * then is there. */
#define _DEFAULT_SOURCE

#include "cli/child.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/redact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { MOST_DEVICES = 32, MOST_PARTS = 8 + 2 * MOST_DEVICES, NAME_SIZE = 64, TEXT = 256 };

struct report {
    FILE *file;
    bool lost;       /* a part that the disk did not take */
    int64_t seconds; /* the limit of a part */
    int n_parts;
    char summary[MOST_PARTS][TEXT];
    int n_devices;
    char devices[MOST_DEVICES][NAME_SIZE];
};

/* Runs a part and writes it down. */
static struct child_result run(struct report *report, const char *what, const char *const *arguments,
                               const char *hidden) {
    struct child_result result;
    output_note("report", "%s ...", what);
    child_run(arguments, hidden, (double)report->seconds, &result);
    char *clean = result.output ? redact(result.output) : NULL;
    fprintf(report->file, "\n==== %s\n\n", what);
    output_lines(report->file, clean ? clean : "out of memory\n");
    if (clean && *clean && clean[strlen(clean) - 1] != '\n') putc('\n', report->file);
    fprintf(report->file, "---- %s: %s, %.1f s\n", what, result.how, result.seconds);
    fflush(report->file);
    if (fsync(fileno(report->file)) != 0 && errno == EIO) report->lost = true; /* a pipe can't be synced */
    if (report->n_parts < MOST_PARTS)
        snprintf(report->summary[report->n_parts++], TEXT, "%-28s %6.1f s  %s", what, result.seconds, result.how);
    free(clean);
    return result;
}

static void run_and_forget(struct report *report, const char *what, const char *const *arguments, const char *hidden) {
    free(run(report, what, arguments, hidden).output);
}

/* ---- the machine ---- */

static void write_heading(FILE *file) {
    struct utsname system;
    char date[32] = "";
    time_t seconds = time(NULL);
    struct tm parts;
    if (gmtime_r(&seconds, &parts)) strftime(date, sizeof date, "%Y-%m-%d", &parts);
    fprintf(file, "wick %s report of %s\n", wick_version(), date);
    if (uname(&system) == 0) fprintf(file, "%s %s %s\n", system.sysname, system.release, system.machine);
    fprintf(file, "Names, paths and serial numbers were replaced by [name], [path] and [serial].\n");
    fprintf(file, "Please read it before you share it.\n");
}

/* A driver that brings the doctor down is left out in turn, so that the rest can be seen. */
static void examine(struct report *report) {
    static const char *const doctor[] = {"doctor", NULL};
    struct child_result result = run(report, "doctor", doctor, NULL);
    free(result.output);
    if (result.ended) return;
    run_and_forget(report, "doctor without AMD's runtime", doctor, "WICK_HIP_PATH");
    run_and_forget(report, "doctor without NVIDIA's driver", doctor, "WICK_CUDA_PATH");
}

/* ---- the devices ---- */

static void add_device(struct report *report, const char *name) {
    if (report->n_devices < MOST_DEVICES) snprintf(report->devices[report->n_devices++], NAME_SIZE, "%s", name);
}

/* Devices that open. Where they can't be listed, the first of each family is tried. */
static void find_devices(struct report *report) {
    static const char *const devices[] = {"devices", "--json", NULL};
    struct child_result result = run(report, "devices", devices, NULL);
    char *start = result.output ? strchr(result.output, '[') : NULL; /* warnings come before */
    json_t *list = result.ended && start ? json_loads(start, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *device = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(device, "name"));
        if (name && !json_object_get(device, "error")) add_device(report, name);
    }
    if (!list) add_device(report, "cuda:0");
    if (!list) add_device(report, "rocm:0");
    if (!list) add_device(report, "cpu");
    json_decref(list);
    free(result.output);
}

static void try_device(struct report *report, const char *device) {
    const char *const verify[] = {"verify", "--quick", "--device", device, NULL};
    const char *const bench[] = {"bench", "--quick", "--device", device, NULL};
    char what[TEXT];
    snprintf(what, sizeof what, "verify %s", device);
    run_and_forget(report, what, verify, NULL);
    snprintf(what, sizeof what, "bench %s", device);
    run_and_forget(report, what, bench, NULL);
}

/* ---- the file ---- */

static int write_report(struct report *report, const char *device, const char *path) {
    write_heading(report->file);
    examine(report);
    if (device)
        add_device(report, device);
    else
        find_devices(report);
    for (int i = 0; i < report->n_devices; i++) try_device(report, report->devices[i]);
    fprintf(report->file, "\n==== summary\n\n");
    for (int i = 0; i < report->n_parts; i++) fprintf(report->file, "%s\n", report->summary[i]);
    if (report->file == stdout) return 0;
    bool good = !ferror(report->file) && !report->lost;
    if (fclose(report->file) != 0 || !good) return command_fail("report", "%s can't be written", path);
    output_text(stdout, path);
    putchar('\n');
    return 0;
}

int command_report(int argc, char **argv) {
    struct report report = {.seconds = 300};
    const char *device = NULL;
    const struct option list[] = {
        OPTIONS_TEXT("--device", "D", &device, "reports on this device only; on all by default"),
        OPTIONS_NUMBER("--seconds", "N", &report.seconds, 1, 86400, "ends a part that takes longer; 300 by default"),
        OPTIONS_END};
    const struct options options = {"report", list, 1};
    int n, status;
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    const char *path = n > 0 ? argv[0] : "wick-report.txt";
    if (strcmp(path, "-") == 0) {
        report.file = stdout;
    } else {
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); /* an older report stays */
        report.file = fd >= 0 ? fdopen(fd, "w") : NULL;
    }
    if (!report.file && errno == EEXIST) return command_fail("report", "%s exists already; name another file", path);
    if (!report.file) return command_fail("report", "%s: %s", path, strerror(errno));
    return write_report(&report, device, path);
}
