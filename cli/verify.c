/* wick verify: runs every op of the table on every dtype and layout against plain float64 references. */
#include "cli/command.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct report {
    struct verify_cell row[WICK_DTYPE_COUNT];
    int columns;       /* cells of the present row */
    bool begun;        /* the heading is printed */
    const char *dtype; /* the only one; NULL: all */
    json_t *cells, *lines;
};

static void on_line(void *context, const char *line) {
    struct report *report = context;
    if (report->lines)
        json_add(report->lines, json_text(line));
    else
        output_note("verify", "%s", line);
}

static void print_cell(const struct verify_cell *cell) {
    char text[16];
    if (cell->bad)
        snprintf(text, sizeof text, "BAD:%" PRId64, cell->bad);
    else
        snprintf(text, sizeof text, "%s", !cell->checks ? "-" : cell->supported ? "ok" : "refused");
    printf(" %8s", text);
}

static bool has_column(const struct report *report, int dtype) {
    return !report->dtype || strcmp(report->dtype, wick_dtype_name((enum wick_dtype)dtype)) == 0;
}

static void print_heading(const struct report *report) {
    bool any = false;
    printf("%-24s", "op");
    for (int dtype = 0; dtype < WICK_DTYPE_COMPUTE_COUNT; dtype++) {
        if (!has_column(report, dtype)) continue;
        printf(" %8s", wick_dtype_name((enum wick_dtype)dtype));
        any = true;
    }
    printf(report->dtype && any ? "\n" : "   stored\n");
}

static const struct verify_cell *find_cell(const struct report *report, int dtype) {
    for (int i = 0; i < report->columns; i++)
        if ((int)report->row[i].dtype == dtype) return &report->row[i];
    return NULL;
}

/* The dtypes that are only stored share one column. */
static void print_row(struct report *report) {
    struct verify_cell stored = {.bad = 0};
    bool any = false;
    if (report->columns == 0) return;
    if (!report->begun) print_heading(report);
    report->begun = true;
    printf("%-24s", wick_op_name(report->row[0].op));
    for (int dtype = 0; dtype < WICK_DTYPE_COUNT; dtype++) {
        const struct verify_cell *cell = find_cell(report, dtype);
        if (dtype < WICK_DTYPE_COMPUTE_COUNT) {
            if (cell)
                print_cell(cell);
            else if (has_column(report, dtype))
                printf(" %8s", "");
        } else if (cell) {
            stored.supported = stored.supported || cell->supported;
            stored.checks += cell->checks;
            stored.bad += cell->bad;
            any = true;
        }
    }
    if (any) print_cell(&stored);
    printf("\n");
    fflush(stdout);
    report->columns = 0;
}

static void on_cell(void *context, const struct verify_cell *cell) {
    struct report *report = context;
    if (report->cells) {
        json_add(report->cells, json_pack("{s:s, s:s, s:s, s:b, s:I, s:I, s:o}", "op", wick_op_name(cell->op), "family",
                                          wick_op_family(cell->op), "dtype", wick_dtype_name(cell->dtype), "supported",
                                          (int)cell->supported, "checks", (json_int_t)cell->checks, "bad",
                                          (json_int_t)cell->bad, "worst", json_number(cell->worst)));
        return;
    }
    if (report->columns > 0 && report->row[0].op != cell->op) print_row(report);
    report->row[report->columns++] = *cell;
}

/* The operands whose dtype is not that of the first, with the dtypes they may have. */
static void print_operands(enum wick_op op) {
    const char *name;
    for (int i = 1, n = 0; (name = wick_op_operand(op, i)) != NULL; i++) {
        bool same = wick_op_takes(op, i, WICK_F32, WICK_F32) && !wick_op_takes(op, i, WICK_F16, WICK_F32), any = false;
        char text[128] = "";
        for (int dtype = 0; dtype < WICK_DTYPE_COMPUTE_COUNT; dtype++) {
            enum wick_dtype other = dtype == WICK_F16 ? WICK_F32 : WICK_F16;
            if (!wick_op_takes(op, i, other, (enum wick_dtype)dtype)) continue;
            snprintf(text + strlen(text), sizeof text - strlen(text), " %s", wick_dtype_name((enum wick_dtype)dtype));
            any = true;
        }
        if (wick_op_takes(op, i, WICK_F32, WICK_DTYPE_q4_0)) {
            snprintf(text + strlen(text), sizeof text - strlen(text), " blocks");
            any = true;
        }
        if (!any) continue;
        printf("%s%.*s:%s%s", n++ ? "; " : "", (int)strcspn(name, "?"), name, text, same ? " or the same" : "");
    }
}

/* The op table in markdown, as docs/ops.md has it. */
static int print_table(void) {
    /* In the order of the rows, which keeps new ops with those they belong to. */
    static const enum wick_op order[WICK_OP_COUNT] = {
#define WICK__OP(number, ...) (enum wick_op) number,
#include <wick/ops.def>
#undef WICK__OP
    };
    struct wick_device *cpu = wick_device_open("cpu");
    if (!cpu) return command_fail("verify", "no CPU device");
    printf("| op | family | computes | other operands |");
    for (int dtype = 0; dtype < WICK_DTYPE_COMPUTE_COUNT; dtype++)
        printf(" %s |", wick_dtype_name((enum wick_dtype)dtype));
    printf(" blocks |\n| --- | --- | --- | --- |");
    for (int dtype = 0; dtype <= WICK_DTYPE_COMPUTE_COUNT; dtype++) printf(" :-: |");
    for (int i = 0; i < WICK_OP_COUNT; i++) {
        enum wick_op op = order[i];
        printf("\n| `%s` | %s | ", wick_op_name(op), wick_op_family(op));
        for (const char *at = wick_op_formula(op); *at; at++) printf(*at == '|' ? "\\|" : "%c", *at);
        printf(" | ");
        print_operands(op);
        printf(" |");
        for (int dtype = 0; dtype < WICK_DTYPE_COMPUTE_COUNT; dtype++)
            printf(" %s |", wick_supports(cpu, op, (enum wick_dtype)dtype) ? "✓" : " ");
        printf(" %s |", wick_supports(cpu, op, WICK_DTYPE_q4_0) ? "✓" : " ");
    }
    printf("\n");
    wick_device_close(cpu);
    return 0;
}

/* A run without a check shows nothing, and fails. */
static bool failed(const struct verify_totals *totals) { return totals->bad > 0 || totals->checks == 0; }

static int print_all(const struct verify_options *options, const struct verify_totals *totals,
                     const struct report *report) {
    json_t *all = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "device", options->device, "seed",
                            (json_int_t)options->seed, "cells", (json_int_t)totals->cells, "checks",
                            (json_int_t)totals->checks, "bad", (json_int_t)totals->bad, "uncovered",
                            (json_int_t)totals->uncovered, "table", report->cells, "lines", report->lines);
    return json_print(all, JSON_INDENT(1)) ? failed(totals) : command_fail("verify", "out of memory");
}

static int run(const struct verify_options *options, struct report *report) {
    struct verify_totals totals;
    if (wick_allocator_set(&verify_allocator) != WICK_OK) return command_fail("verify", "the allocator can't be set");
    if (verify_run(options, &totals) != WICK_OK) {
        json_decref(report->cells);
        json_decref(report->lines);
        return command_fail("verify", "can't run");
    }
    if (totals.checks == 0 && totals.bad == 0)
        output_note("verify", "no check was run: no case of these ops has this dtype and layout");
    if (report->cells) return print_all(options, &totals, report);
    print_row(report);
    printf("%" PRId64 " cells, %" PRId64 " checks, %" PRId64 " bad, %" PRId64 " ops not covered, seed %" PRIu64 "\n",
           totals.cells, totals.checks, totals.bad, totals.uncovered, options->seed);
    return failed(&totals);
}

int command_verify(int argc, char **argv) {
    struct report report = {.columns = 0};
    struct verify_options o = {.device = "cpu", .print = on_line, .cell = on_cell, .context = &report};
    int64_t which = -1, seed = 1, repeat = 0;
    bool json = false, table = false;
    const struct option list[] = {
        OPTIONS_TEXT("--device", "D", &o.device, "tests this device: cpu (the default), cuda:0, rocm:0 ..."),
        OPTIONS_TEXT("--op", "PATTERN", &o.pattern, "runs only ops whose names match, as in \"add*\""),
        OPTIONS_TEXT("--family", "NAME", &o.family, "runs only ops of this family of docs/ops.md"),
        OPTIONS_TEXT("--dtype", "T", &o.dtype, "runs only this dtype"),
        OPTIONS_TEXT("--layout", "NAME", &o.layout, "runs only this layout of operands"),
        OPTIONS_NUMBER("--case", "K", &which, 0, 999999, "runs only this case of each op"),
        OPTIONS_TEXT("--list", "FILE", &o.list, "runs only the checks in a file, a line OP DTYPE CASE LAYOUT each"),
        OPTIONS_TEXT("--log", "FILE", &o.log, "writes such a line after each check, with the seconds it took"),
        OPTIONS_NUMBER("--seed", "N", &seed, 0, INT64_MAX, "seeds the operands' values; 1 by default"),
        OPTIONS_NUMBER("--repeat", "N", &repeat, 1, 10000, "runs each check N times more and compares the bits"),
        OPTIONS_FLAG("--normal", &o.normal, "uses no subnormal values, for libraries that flush them"),
        OPTIONS_FLAG("--quick", &o.quick, "runs each case in two layouts instead of all"),
        OPTIONS_FLAG("--cut", &o.cut, "runs one small case of each op, dtype and layout"),
        OPTIONS_FLAG("--json", &json, "writes JSON"),
        OPTIONS_FLAG("--table", &table, "writes the table of ops as markdown, and runs nothing"),
        OPTIONS_END};
    const struct options options = {"verify", list, 0};
    int n, status;
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    if (table) return print_table();
    o.case_plus_one = (int)which + 1;
    o.seed = (uint64_t)seed;
    o.repeat = (int)repeat;
    report.dtype = o.dtype;
    report.cells = json ? json_array() : NULL;
    report.lines = json ? json_array() : NULL;
    if (!json || (report.cells && report.lines)) return run(&o, &report);
    json_decref(report.cells);
    json_decref(report.lines);
    return command_fail("verify", "out of memory");
}
