/* The table-driven driver: every op that matches x every dtype x every case x every variant.
 *
 * One check calls an op once: operands are put between guard zones in the variant's layouts, results are compared
 * element by element with the family's reference, and afterwards operands and guard zones must be as they were, the
 * error must be clear, and all memory given back. A check that fails prints one line, which ends in the command that
 * repeats it, and the run goes on. */
#include "verify/driver.h"

#include "core/error.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_PRINTED = 3, SMALL = 2000, LARGE = 20000, LARGEST = 100000 };

static const char *const variant_names[VERIFY_VARIANTS] = {
    [VERIFY_CONTIGUOUS] = "contiguous",
    [VERIFY_OFFSET] = "offset",
    [VERIFY_TRANSPOSED] = "transposed",
    [VERIFY_NARROWED] = "narrowed",
    [VERIFY_BROADCAST] = "broadcast",
    [VERIFY_EVERY_OTHER] = "every-other",
    [VERIFY_LAST] = "channels-last",
    [VERIFY_MIXED] = "mixed",
    [VERIFY_MIXED_2] = "mixed-2",
    [VERIFY_INTEGERS] = "integers",
    [VERIFY_INTEGERS_MIXED] = "integers-mixed",
    [VERIFY_SPECIALS] = "specials",
    [VERIFY_SPECIALS_MIXED] = "specials-mixed",
    [VERIFY_EXPONENTS] = "exponents",
    [VERIFY_EXPONENTS_MIXED] = "exponents-mixed",
    [VERIFY_ROW_MAJOR] = "row-major",
};

const char *verify_variant_name(int variant) {
    return variant >= 0 && variant < VERIFY_VARIANTS ? variant_names[variant] : NULL;
}

/* The allowed errors, from the op table. */
static const struct verify_bound bounds[WICK_OP_COUNT] = {
#define WICK__OP(number, name, family, ulp_, ...) [number] = {.ulp = (ulp_)},
#define WICK__COMPOSED(number, name, family, ulp_, ...) [number] = {.ulp = (ulp_), .composed = true},
#include <wick/ops.def>
#undef WICK__OP
};

struct verify_bound verify_bound_of(enum wick_op op) {
    return bounds[op];
}

static struct wick_device *device_under_test;
static int log_error; /* why a line could not be added to the log; 0: all were */

struct wick_device *verify_device(void) {
    return device_under_test;
}

void verify_device_set(struct wick_device *device) { device_under_test = device; }

static void say(const struct verify_options *options, const char *line) {
    if (options->print) options->print(options->context, line);
}

static void report(const struct verify_trial *t, const struct verify_cell *cell) {
    char line[VERIFY_WHY + 256];
    if (cell->bad > MAX_PRINTED) return;
    snprintf(line, sizeof line,
             "BAD %s %s case %d %s%s%s: %s; wick verify --op %s --dtype %s --case %d --layout %s --seed %" PRIu64 "%s",
             wick_op_name(t->c.op), wick_dtype_name(t->c.dtype), t->k, verify_variant_name((int)t->variant),
             verify_has_index(&t->c) ? " ids " : "", verify_has_index(&t->c) ? wick_dtype_name(t->id) : "", t->why,
             wick_op_name(t->c.op), wick_dtype_name(t->c.dtype), t->k, verify_variant_name((int)t->variant),
             t->options->seed, t->options->normal ? " --normal" : "");
    say(t->options, line);
}

/* Opened for each line, so that what others add to the file meanwhile stands between them. */
static void write_log(const struct verify_trial *t, const struct timespec *start) {
    struct timespec now;
    if (!t->options->log) return;
    FILE *file = fopen(t->options->log, "a");
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (file)
        fprintf(file, "%s %s %d %s %.6f\n", wick_op_name(t->c.op), wick_dtype_name(t->c.dtype), t->k,
                verify_variant_name((int)t->variant),
                (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec));
    if (!file || fclose(file) != 0) log_error = errno;
}

/* Runs one case in one variant: with every id dtype when contiguous, else with one that changes from case to case. */
static void run_variant(const struct verify_options *options, const struct verify_family *family,
                        const struct verify_case *c, int k, enum verify_variant variant, struct verify_cell *cell) {
    bool all = variant == VERIFY_CONTIGUOUS && cell->supported;
    int ids = all ? verify_id_dtypes(c) : 1;
    for (int n = 0; n < ids; n++) {
        struct timespec start;
        struct verify_trial t = {.options = options, .family = family, .c = *c, .k = k, .variant = variant};
        t.id = verify_id_dtype(c, all ? n : k + (int)variant);
        for (int i = 0; i < c->n_in; i++) t.c.in[i].normal = options->normal;
        clock_gettime(CLOCK_MONOTONIC, &start);
        enum verify_outcome outcome = verify_trial_run(&t, cell->supported);
        if (outcome != VERIFY_SKIPPED) write_log(&t, &start);
        if (t.worst > cell->worst) cell->worst = t.worst;
        if (outcome != VERIFY_SKIPPED) cell->checks++;
        if (outcome == VERIFY_BAD) {
            cell->bad++;
            report(&t, cell);
        }
    }
}

/* Elements in memory. */
static int64_t elements(const struct verify_case *c) {
    int64_t total = 0;
    for (int i = 0; i < c->n_in; i++) {
        int64_t count = c->in[i].role == VERIFY_ABSENT ? 0 : 1;
        for (int d = 0; d < c->in[i].rank && !c->in[i].repeated; d++) count *= c->in[i].shape[d];
        total += count;
    }
    return total;
}

/* Special values and extreme exponents are for the ops that say what becomes of them, row-major results for those that
 * have others. */
static bool exists(const struct verify_family *family, enum wick_op op, int variant) {
    if (variant == VERIFY_ROW_MAJOR) return family->ordered;
    bool (*with)(enum wick_op op) = variant < VERIFY_EXPONENTS ? family->specials : family->wide;
    return variant < VERIFY_SPECIALS || (with && with(op));
}

/* Large cases run contiguous and in every third variant, the largest in one other, not the same ones for every dtype. A
 * quick run does each case contiguous and in one other variant, and large ones in one variant only. */
static bool wanted(const struct verify_options *options, const struct verify_family *family,
                   const struct verify_case *c, int k, int variant) {
    int64_t size = elements(c);
    bool large = size > LARGE;
    int turn = k + (int)c->dtype, other = 1 + turn % (VERIFY_VARIANTS - 1);
    if (options->layout) return strcmp(options->layout, variant_names[variant]) == 0;
    if (!exists(family, c->op, variant)) return false;
    if (c->in[0].repeated && variant != VERIFY_CONTIGUOUS && variant != VERIFY_EXPONENTS) return false;
    if (options->quick && large) return variant == turn % VERIFY_LAYOUTS;
    if (variant == VERIFY_CONTIGUOUS) return true;
    if (options->quick || size > LARGEST) return variant == other;
    return !large || variant % 3 == turn % 3;
}

/* A cell that does not support its op has one check: that it refuses. */
static int cases_of(const struct verify_family *family, const struct verify_cell *cell) {
    return cell->supported ? family->cases(cell->op) : 1;
}

static void run_cell(const struct verify_options *options, const struct verify_family *family,
                     struct verify_cell *cell) {
    struct verify_case c;
    int cases = cases_of(family, cell);
    for (int k = 0; k < cases; k++) {
        if (options->case_plus_one && options->case_plus_one != k + 1) continue;
        verify_case_make(family, cell->op, cell->dtype, k, &c);
        for (int v = 0; v < VERIFY_VARIANTS; v++)
            if (cell->supported ? wanted(options, family, &c, k, v) : v == VERIFY_CONTIGUOUS)
                run_variant(options, family, &c, k, (enum verify_variant)v, cell);
    }
    if (cell->checks == 0 && !options->case_plus_one && !options->layout) {
        char line[128];
        snprintf(line, sizeof line, "BAD %s %s: none of %d cases could be run", wick_op_name(cell->op),
                 wick_dtype_name(cell->dtype), cases);
        say(options, line);
        cell->bad++;
    }
}

/* The case of a cut: the first one that is small and can be run, from one on that dtype and layout choose; else the
 * smallest. */
static void run_cut(const struct verify_options *options, const struct verify_family *family, int variant,
                    struct verify_cell *cell) {
    int cases = cases_of(family, cell), least = 0;
    int64_t size = INT64_MAX, before = cell->checks;
    struct verify_case c;
    for (int i = 0; i < cases && cell->checks == before; i++) {
        int k = ((int)cell->op * 5 + (int)cell->dtype * 7 + variant * 3 + i) % cases;
        verify_case_make(family, cell->op, cell->dtype, k, &c);
        int64_t here = elements(&c);
        if (here < size) least = k;
        if (here < size) size = here;
        if (here >= 1 && here <= SMALL) run_variant(options, family, &c, k, (enum verify_variant)variant, cell);
    }
    if (cell->checks > before) return;
    verify_case_make(family, cell->op, cell->dtype, least, &c);
    run_variant(options, family, &c, least, (enum verify_variant)variant, cell);
}

static void run_cut_cell(const struct verify_options *options, const struct verify_family *family,
                         struct verify_cell *cell) {
    for (int v = 0; v < VERIFY_VARIANTS; v++)
        if (cell->supported ? exists(family, cell->op, v) : v == VERIFY_CONTIGUOUS) run_cut(options, family, v, cell);
}

/* Those of a list. */
static void run_listed_cell(const struct verify_options *options, const struct verify_family *family,
                            const struct verify_listed *check, int n, struct verify_cell *cell) {
    struct verify_case c;
    for (int i = 0; i < n; i++) {
        int64_t before = cell->checks;
        char line[160];
        if (check[i].k < cases_of(family, cell) &&
            (cell->supported ? exists(family, cell->op, check[i].variant) : check[i].variant == VERIFY_CONTIGUOUS)) {
            verify_case_make(family, cell->op, cell->dtype, check[i].k, &c);
            run_variant(options, family, &c, check[i].k, (enum verify_variant)check[i].variant, cell);
        }
        if (cell->checks > before || cell->bad++ >= MAX_PRINTED) continue;
        snprintf(line, sizeof line, "BAD %s %s case %d %s: listed, but there is no such check", wick_op_name(cell->op),
                 wick_dtype_name(cell->dtype), check[i].k, variant_names[check[i].variant]);
        say(options, line);
    }
}

/* NULL, and said, for an op that has no cases. */
static const struct verify_family *family_of(const struct verify_options *options, enum wick_op op,
                                             struct verify_totals *totals) {
    const struct verify_family *family = verify_family(op);
    char line[160];
    if (family && family->cases(op) > 0) return family;
    snprintf(line, sizeof line, "BAD %s: not covered, verify/ has no cases for family %s", wick_op_name(op),
             wick_op_family(op));
    say(options, line);
    totals->uncovered++;
    totals->bad++;
    return NULL;
}

static struct verify_cell open_cell(enum wick_op op, enum wick_dtype dtype) {
    return (struct verify_cell){.op = op, .dtype = dtype, .supported = wick_supports(device_under_test, op, dtype)};
}

static void close_cell(const struct verify_options *options, const struct verify_cell *cell,
                       struct verify_totals *totals) {
    if (cell->bad > MAX_PRINTED) {
        char line[128];
        snprintf(line, sizeof line, "BAD %s %s: %" PRId64 " more", wick_op_name(cell->op), wick_dtype_name(cell->dtype),
                 cell->bad - MAX_PRINTED);
        say(options, line);
    }
    totals->cells++;
    totals->checks += cell->checks;
    totals->bad += cell->bad;
    if (options->cell) options->cell(options->context, cell);
}

static void run_list(const struct verify_options *options, const struct verify_list *list,
                     struct verify_totals *totals) {
    for (int i = 0, n; i < list->n; i += n) {
        const struct verify_listed *check = &list->entry[i];
        for (n = 1; i + n < list->n && check[n].op == check->op && check[n].dtype == check->dtype;) n++;
        const struct verify_family *family = family_of(options, check->op, totals);
        if (!family) continue;
        struct verify_cell cell = open_cell(check->op, check->dtype);
        run_listed_cell(options, family, check, n, &cell);
        close_cell(options, &cell, totals);
    }
}

/* Quantised dtypes are for the families that know of them, and only where the row has them. */
static bool is_run(const struct verify_family *family, enum wick_op op, enum wick_dtype dtype) {
    if ((int)dtype < VERIFY_DTYPES) return true;
    return wick_dtype_kind(dtype) == WICK_DTYPE_KIND_QUANTISED && family->blocks && family->blocks(op) &&
           wick_supports(device_under_test, op, dtype);
}

static void run_op(const struct verify_options *options, enum wick_op op, struct verify_totals *totals) {
    const struct verify_family *family = family_of(options, op, totals);
    enum wick_dtype only;
    bool one = options->dtype && wick_dtype_from_name(options->dtype, &only);
    if (!family) return;
    for (int dtype = 0; dtype < WICK_DTYPE_COUNT; dtype++) {
        if ((one && dtype != (int)only) || !is_run(family, op, (enum wick_dtype)dtype)) continue;
        struct verify_cell cell = open_cell(op, (enum wick_dtype)dtype);
        if (options->cut)
            run_cut_cell(options, family, &cell);
        else
            run_cell(options, family, &cell);
        close_cell(options, &cell, totals);
    }
}

static bool matches(const struct verify_options *options, enum wick_op op) {
    if (options->pattern && fnmatch(options->pattern, wick_op_name(op), 0) != 0) return false;
    return !options->family || strcmp(options->family, wick_op_family(op)) == 0;
}

static enum wick_status check_options(const struct verify_options *options) {
    enum wick_dtype dtype;
    bool any = false, layout = !options->layout;
    if (options->list && (options->pattern || options->family || options->dtype || options->layout ||
                          options->case_plus_one || options->quick || options->cut))
        return wick__fail(
            WICK_INVALID,
            "verify: a list says which checks: no op, family, dtype, layout, case, quick or cut beside it");
    for (int op = 0; op < WICK_OP_COUNT; op++) any = any || matches(options, (enum wick_op)op);
    for (int v = 0; v < VERIFY_VARIANTS; v++) layout = layout || strcmp(options->layout, variant_names[v]) == 0;
    if (!any)
        return wick__fail(WICK_INVALID, "verify: no op matches \"%s\"",
                          options->pattern  ? options->pattern
                          : options->family ? options->family
                                            : "*");
    if (!layout) return wick__fail(WICK_INVALID, "verify: no layout \"%s\"", options->layout);
    if (!options->dtype) return WICK_OK;
    if (!wick_dtype_from_name(options->dtype, &dtype) ||
        ((int)dtype >= VERIFY_DTYPES && wick_dtype_kind(dtype) != WICK_DTYPE_KIND_QUANTISED))
        return wick__fail(WICK_INVALID, "verify: no dtype \"%s\" of whole bytes or blocks", options->dtype);
    return WICK_OK;
}

/* list: the checks, when options->list names some. */
static enum wick_status run(const struct verify_options *options, const struct verify_list *list,
                            struct verify_totals *totals) {
    device_under_test = wick_device_open(options->device ? options->device : "cpu");
    if (!device_under_test) return wick_error_status();
    struct wick_memory memory;
    WICK__TRY(wick_memory_stats(device_under_test, &memory));
    WICK__TRY(wick_memory_set_cache(device_under_test, 0)); /* so that each block's guard zones are looked at */
    log_error = 0;
    if (options->list)
        run_list(options, list, totals);
    else
        for (int op = 0; op < WICK_OP_COUNT; op++)
            if (matches(options, (enum wick_op)op)) run_op(options, (enum wick_op)op, totals);
    WICK__TRY(wick_memory_set_cache(device_under_test, memory.cache));
    wick_device_close(device_under_test);
    device_under_test = NULL;
    if (log_error) return wick__fail(WICK_IO, "verify: %s can't be written: %s", options->log, strerror(log_error));
    return WICK_OK;
}

enum wick_status verify_run(const struct verify_options *options, struct verify_totals *totals) {
    struct verify_list list = {0};
    *totals = (struct verify_totals){0};
    WICK__TRY(check_options(options));
    enum wick_status status = options->list ? verify_list_read(options->list, &list) : WICK_OK;
    if (status == WICK_OK) status = run(options, &list, totals);
    verify_list_free(&list);
    return status;
}
