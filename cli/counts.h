/* Counts in place of times, on a simulated card. */
#ifndef WICK_CLI_COUNTS_H
#define WICK_CLI_COUNTS_H

#include "gfxsim/counts.h"
#include "verify/verify.h"

#include <jansson.h>

/* What a simulated card counts; NULL when the process has none. */
typedef void counts_source(struct gfxsim_counts *counts);
counts_source *counts_find(void);

/* Counts of one run, which verify_time watches. */
struct counts_watch {
    counts_source *source;
    struct gfxsim_counts before, run;
};
void counts_watch(void *context, bool begins);

void counts_print_heading(void);
/* The columns behind op, shapes and dtype. */
void counts_print(const struct gfxsim_counts *run);
/* Adds them to a row. */
void counts_add(json_t *row, const struct gfxsim_counts *run);

#endif
