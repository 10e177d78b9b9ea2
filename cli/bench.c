/* wick bench: times a language model (bench_model.c), or every op of the table at one size, beside what this machine
 * can do and the error of its results. On a simulated card, which has no speed, it counts instead. */
#include "cli/bench_model.h"
#include "cli/command.h"
#include "cli/counts.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "verify/verify.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHAPES_TEXT = 256, NAMES_TEXT = 4096 };

struct arguments {
    const char *device, *pattern, *dtype;
    bool quick, json;
};

struct bench {
    double bytes_peak, flops_peak; /* a second */
    json_t *rows;                  /* NULL: print a table */
    struct counts_watch watch;     /* without a source on anything real */
    int timed, untimed;
    bool bad;
    char untimed_names[NAMES_TEXT];
};

static size_t add_shape(char *text, size_t at, int rank, const int64_t *shape) {
    at += (size_t)snprintf(text + at, SHAPES_TEXT - at, at > 0 ? " [" : "[");
    for (int d = 0; d < rank && at < SHAPES_TEXT; d++)
        at += (size_t)snprintf(text + at, SHAPES_TEXT - at, d > 0 ? ",%" PRId64 : "%" PRId64, shape[d]);
    if (at < SHAPES_TEXT) at += (size_t)snprintf(text + at, SHAPES_TEXT - at, "]");
    return at < SHAPES_TEXT ? at : SHAPES_TEXT - 1;
}

/* The shapes of the operands; of the result when there are none. */
static void shapes_text(const struct verify_timing *t, char *text) {
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < t->c.n_in; i++)
        if (t->c.in[i].role != VERIFY_ABSENT) at = add_shape(text, at, t->c.in[i].rank, t->c.in[i].shape);
    if (at == 0) add_shape(text, at, t->out_rank, t->out_shape);
}

static void print_error(const struct verify_timing *t) {
    if (t->good)
        printf("%8.3f\n", t->worst);
    else
        printf("%8s\n", "WRONG");
    fflush(stdout);
}

static void report_counts(struct bench *b, enum wick_op op, const struct verify_timing *t) {
    char shapes[SHAPES_TEXT];
    shapes_text(t, shapes);
    b->timed++;
    b->bad = b->bad || !t->good;
    if (b->rows) {
        json_t *row = json_pack("{s:s, s:s, s:s, s:o, s:b}", "op", wick_op_name(op), "shapes", shapes, "dtype",
                                wick_dtype_name(t->dtype), "error", json_number(t->worst), "good", (int)t->good);
        counts_add(row, &b->watch.run);
        json_add(b->rows, row);
        return;
    }
    printf("%-28s %-38s %-6s", wick_op_name(op), shapes, wick_dtype_name(t->dtype));
    counts_print(&b->watch.run);
    printf(" ");
    print_error(t);
}

static void report(struct bench *b, enum wick_op op, const struct verify_timing *t) {
    char shapes[SHAPES_TEXT];
    bool counts = t->flops > 0;
    double rate = (counts ? t->flops : t->bytes) / t->us * 1e-3; /* 10^9 a second */
    double percent = rate * 1e9 / (counts ? b->flops_peak : b->bytes_peak) * 100;
    const char *unit = counts ? "GFLOP/s" : "GB/s";
    shapes_text(t, shapes);
    b->timed++;
    b->bad = b->bad || !t->good;
    if (b->rows) {
        json_add(b->rows, json_pack("{s:s, s:s, s:s, s:o, s:i, s:o, s:s, s:o, s:o, s:b}", "op", wick_op_name(op),
                                    "shapes", shapes, "dtype", wick_dtype_name(t->dtype), "us", json_number(t->us),
                                    "runs", t->runs, "rate", json_number(rate), "unit", unit, "percent_of_peak",
                                    json_number(percent), "error", json_number(t->worst), "good", (int)t->good));
        return;
    }
    printf("%-28s %-38s %-6s %10.1f %8.1f %-7s %5.0f %% ", wick_op_name(op), shapes, wick_dtype_name(t->dtype), t->us,
           rate, unit, percent);
    print_error(t);
}

static void leave_out(struct bench *b, enum wick_op op) {
    size_t at = strlen(b->untimed_names);
    b->untimed++;
    snprintf(b->untimed_names + at, NAMES_TEXT - at, "%s%s", at > 0 ? ", " : "", wick_op_name(op));
}

/* Times one op, on i32 when no dtype is asked for and the op is for integers. */
static bool run(struct bench *b, struct wick_device *device, const struct arguments *a, enum wick_op op) {
    struct verify_timing timing;
    enum wick_dtype dtype = WICK_F32;
    if (a->dtype)
        (void)wick_dtype_from_name(a->dtype, &dtype);
    else if (!wick_supports(device, op, WICK_F32))
        dtype = WICK_I32;
    bool counted = b->watch.source != NULL;
    struct verify_effort effort = {counted    ? 1
                                   : a->quick ? 5
                                              : 20,
                                   counted    ? 0
                                   : a->quick ? 0.02
                                              : 0.3,
                                   counted ? counts_watch : NULL, &b->watch};
    switch (verify_time(device, op, dtype, &effort, &timing)) {
    case VERIFY_TIMED:
        if (counted)
            report_counts(b, op, &timing);
        else
            report(b, op, &timing);
        return true;
    case VERIFY_NOT_TIMED: leave_out(b, op); return true;
    case VERIFY_FAILED: break;
    }
    command_fail("bench", "%s on %s fails", wick_op_name(op), wick_dtype_name(dtype));
    return false;
}

static void print_heading(const struct bench *b, const struct wick_device_info *info) {
    printf("%s: ", info->name);
    output_text(stdout, info->description);
    printf(", ");
    output_text(stdout, info->isa);
    if (b->watch.source) {
        putchar('\n');
        counts_print_heading();
        return;
    }
    if (info->threads > 0) printf(", %d threads", info->threads);
    printf("; copies %.1f GB/s, f32 matrix products %.1f GFLOP/s\n", b->bytes_peak * 1e-9, b->flops_peak * 1e-9);
    printf("us: median of the runs. peak: percent of the figures above, which operands that stay in caches, and\n"
           "narrower dtypes, may exceed. error: the largest in the contiguous cases of wick verify, as a fraction of\n"
           "the bound.\n\n");
    printf("%-28s %-38s %-6s %10s %16s %7s %8s\n", "op", "shapes", "dtype", "us", "rate", "peak", "error");
}

static void print_end(const struct bench *b) {
    if (b->untimed > 0) printf("not timed (views, or not of this dtype): %s\n", b->untimed_names);
    printf("%d rows, %d ops not timed\n", b->timed, b->untimed);
}

static bool any_matches(const char *pattern) {
    for (int op = 0; op < WICK_OP_COUNT; op++)
        if (!pattern || fnmatch(pattern, wick_op_name((enum wick_op)op), 0) == 0) return true;
    return false;
}

/* Runs all ops that match on an open device. Returns the exit status. */
static int run_all(struct bench *b, struct wick_device *device, const struct arguments *a) {
    struct wick_device_info info;
    if (strncmp(wick_device_name(device), "rocm", 4) == 0) b->watch.source = counts_find();
    if (wick_device_describe(device, &info) != WICK_OK ||
        (!b->watch.source && !verify_peaks(device, &b->bytes_peak, &b->flops_peak)))
        return command_fail("bench", "the peaks can't be measured");
    if (!b->rows) print_heading(b, &info);
    for (int op = 0; op < WICK_OP_COUNT; op++) {
        if (a->pattern && fnmatch(a->pattern, wick_op_name((enum wick_op)op), 0) != 0) continue;
        if (!run(b, device, a, (enum wick_op)op)) return 1;
    }
    if (!b->rows) print_end(b);
    if (b->rows && !json_print(json_incref(b->rows), JSON_INDENT(1) | JSON_REAL_PRECISION(6)))
        return command_fail("bench", "out of memory");
    return b->bad;
}

static int bench_ops(const struct arguments *a) {
    struct bench b = {.timed = 0};
    enum wick_dtype dtype;
    if (!any_matches(a->pattern)) return command_usage("bench", "no op matches \"%s\"", a->pattern);
    if (a->dtype && (!wick_dtype_from_name(a->dtype, &dtype) || (int)dtype >= VERIFY_DTYPES))
        return command_usage("bench", "no dtype \"%s\" of whole bytes", a->dtype);
    struct wick_device *device = wick_device_open(a->device);
    if (!device) return command_fail("bench", "can't open the device");
    if (a->json) b.rows = json_array();
    int status = a->json && !b.rows ? command_fail("bench", "out of memory") : run_all(&b, device, a);
    json_decref(b.rows);
    wick_device_close(device);
    return status;
}

/* What is for models only, or for ops only. */
static int check_kind(const struct arguments *a, const struct bench_model_wishes *model) {
    if (model->path && (a->pattern || a->dtype || a->quick))
        return command_usage("bench", "--op, --dtype and --quick are not for models");
    if (!model->path && (model->prompts || model->answers || model->depths || model->batch || model->repeats ||
                         model->lm.threads || model->lm.exact || model->lm.copy || strcmp(model->lm.cache, "f32") != 0))
        return command_usage("bench",
                             "-p, -n, --depth, --batch, -r, -t, --cache, --exact and --no-mmap need a --model");
    return 0;
}

int command_bench(int argc, char **argv) {
    struct arguments a = {.device = "cpu"};
    struct bench_model_wishes model = {.lm = {.cache = "f32"}};
    const struct option list[] = {
        OPTIONS_TEXT("--device", "D", &a.device, "times this device: cpu (the default), cuda:0, rocm:0 ..."),
        OPTIONS_TEXT("--op", "PATTERN", &a.pattern, "times only ops whose names match, as in \"add*\""),
        OPTIONS_TEXT("--dtype", "T", &a.dtype, "times this dtype; by default f32, and i32 where an op needs integers"),
        OPTIONS_FLAG("--quick", &a.quick, "runs each op less often"),
        OPTIONS_TEXT("--model", "FILE", &model.path, "times a language model, as llama-bench does, and no ops"),
        OPTIONS_TEXT("-p", "N,...", &model.prompts, "prompts of N tokens, 512; 0: none"),
        OPTIONS_TEXT("-n", "N,...", &model.answers, "answers of N tokens, 128; 0: none"),
        OPTIONS_TEXT("--depth", "N,...", &model.depths, "behind N other tokens, 0"),
        OPTIONS_NUMBER("--batch", "N", &model.batch, 1, BENCH_MODEL_BATCH, "N tokens of a prompt at once, 512"),
        OPTIONS_NUMBER("-r", "N", &model.repeats, 1, 1 << 20, "measures each test N times, 5"),
        LM_OPTIONS(model.lm),
        OPTIONS_FLAG("--json", &a.json, "writes JSON"),
        OPTIONS_END};
    const struct options options = {"bench", list, 0};
    int n, status;
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    status = check_kind(&a, &model);
    if (status != 0) return status;
    model.lm.device = a.device;
    model.json = a.json;
    return model.path ? bench_model(&model) : bench_ops(&a);
}
