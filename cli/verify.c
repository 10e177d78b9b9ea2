/* wick verify: runs every op of the table on every dtype and layout against plain float64 references. */
#include "cli/command.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
    struct verify_cell row[VERIFY_DTYPES];
    int columns; /* cells of the present row */
    json_t *cells, *lines;
};

static void on_line(void *context, const char *line) {
    struct report *report = context;
    if (report->lines)
        json_array_append_new(report->lines, json_string(line));
    else
        fprintf(stderr, "%s\n", line);
}

static void print_cell(const struct verify_cell *cell) {
    char text[16];
    if (cell->bad)
        snprintf(text, sizeof text, "BAD:%" PRId64, cell->bad);
    else
        snprintf(text, sizeof text, "%s", cell->supported ? "ok" : "refused");
    printf(" %8s", text);
}

/* The dtypes that are only stored share one column. */
static void print_row(struct report *report) {
    struct verify_cell stored = {.bad = 0};
    int seen = 0;
    if (report->columns == 0) return;
    printf("%-24s", wick_op_name(report->row[0].op));
    for (int i = 0; i < report->columns; i++) {
        const struct verify_cell *cell = &report->row[i];
        if ((int)cell->dtype < WICK_DTYPE_COMPUTE_COUNT) {
            print_cell(cell);
            continue;
        }
        stored.supported = stored.supported || cell->supported;
        stored.bad += cell->bad;
        seen++;
    }
    if (seen > 0) print_cell(&stored);
    printf("\n");
    fflush(stdout);
    report->columns = 0;
}

static void print_heading(const char *only) {
    printf("%-24s", "op");
    for (int dtype = 0; dtype < WICK_DTYPE_COMPUTE_COUNT; dtype++)
        if (!only || strcmp(only, wick_dtype_name((enum wick_dtype)dtype)) == 0)
            printf(" %8s", wick_dtype_name((enum wick_dtype)dtype));
    printf(only ? "\n" : "   stored\n");
}

static void on_cell(void *context, const struct verify_cell *cell) {
    struct report *report = context;
    if (report->cells) {
        json_array_append_new(report->cells,
                              json_pack("{s:s, s:s, s:s, s:b, s:I, s:I, s:f}", "op", wick_op_name(cell->op), "family",
                                        wick_op_family(cell->op), "dtype", wick_dtype_name(cell->dtype), "supported",
                                        (int)cell->supported, "checks", (json_int_t)cell->checks, "bad",
                                        (json_int_t)cell->bad, "worst", cell->worst));
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
    printf("\n| --- | --- | --- | --- |");
    for (int dtype = 0; dtype < WICK_DTYPE_COMPUTE_COUNT; dtype++) printf(" :-: |");
    for (int i = 0; i < WICK_OP_COUNT; i++) {
        enum wick_op op = order[i];
        printf("\n| `%s` | %s | ", wick_op_name(op), wick_op_family(op));
        for (const char *at = wick_op_formula(op); *at; at++) printf(*at == '|' ? "\\|" : "%c", *at);
        printf(" | ");
        print_operands(op);
        printf(" |");
        for (int dtype = 0; dtype < WICK_DTYPE_COMPUTE_COUNT; dtype++)
            printf(" %s |", wick_supports(cpu, op, (enum wick_dtype)dtype) ? "✓" : " ");
    }
    printf("\n");
    wick_device_close(cpu);
    return 0;
}

static bool parse_number(const char *text, uint64_t *number) {
    char *end;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end;
}

struct arguments {
    struct verify_options options;
    bool json, table;
};

/* Returns NULL, or the argument that is wrong. */
static const char *parse(int argc, char **argv, struct arguments *a) {
    for (int i = 0; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        uint64_t number = 0;
        if (strcmp(name, "--json") == 0) {
            a->json = true;
            continue;
        }
        if (strcmp(name, "--table") == 0) {
            a->table = true;
            continue;
        }
        if (strcmp(name, "--normal") == 0) {
            a->options.normal = true;
            continue;
        }
        if (strcmp(name, "--cut") == 0) {
            a->options.cut = true;
            continue;
        }
        if (strcmp(name, "--quick") == 0) {
            a->options.quick = true;
            continue;
        }
        if (!value) return name;
        i++;
        if (strcmp(name, "--device") == 0)
            a->options.device = value;
        else if (strcmp(name, "--op") == 0)
            a->options.pattern = value;
        else if (strcmp(name, "--family") == 0)
            a->options.family = value;
        else if (strcmp(name, "--dtype") == 0)
            a->options.dtype = value;
        else if (strcmp(name, "--layout") == 0)
            a->options.layout = value;
        else if (strcmp(name, "--list") == 0)
            a->options.list = value;
        else if (strcmp(name, "--log") == 0)
            a->options.log = value;
        else if (strcmp(name, "--seed") == 0 && parse_number(value, &number))
            a->options.seed = number;
        else if (strcmp(name, "--repeat") == 0 && parse_number(value, &number) && number >= 1 && number <= 10000)
            a->options.repeat = (int)number;
        else if (strcmp(name, "--case") == 0 && parse_number(value, &number) && number < 1000000)
            a->options.case_plus_one = (int)number + 1;
        else
            return name;
    }
    return NULL;
}

int command_verify(int argc, char **argv) {
    struct report report = {.columns = 0};
    struct arguments a = {
        .options = {.device = "cpu", .seed = 1, .print = on_line, .cell = on_cell, .context = &report}};
    struct verify_totals totals;
    const char *wrong = parse(argc, argv, &a);
    if (wrong) return command_usage("verify", "unexpected argument or value at '%s'", wrong);
    if (a.table) return print_table();
    if (wick_allocator_set(&verify_allocator) != WICK_OK) return command_fail("verify", "the allocator can't be set");
    if (a.json) {
        report.cells = json_array();
        report.lines = json_array();
    } else {
        print_heading(a.options.dtype);
    }
    if (verify_run(&a.options, &totals) != WICK_OK) {
        json_decref(report.cells);
        json_decref(report.lines);
        return command_fail("verify", "can't run");
    }
    if (a.json) {
        json_t *all = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "device", a.options.device, "seed",
                                (json_int_t)a.options.seed, "cells", (json_int_t)totals.cells, "checks",
                                (json_int_t)totals.checks, "bad", (json_int_t)totals.bad, "uncovered",
                                (json_int_t)totals.uncovered, "table", report.cells, "lines", report.lines);
        json_dumpf(all, stdout, JSON_INDENT(1));
        printf("\n");
        json_decref(all);
    } else {
        print_row(&report);
        printf("%" PRId64 " cells, %" PRId64 " checks, %" PRId64 " bad, %" PRId64 " ops not covered, seed %" PRIu64
               "\n",
               totals.cells, totals.checks, totals.bad, totals.uncovered, a.options.seed);
    }
    return totals.bad > 0;
}
