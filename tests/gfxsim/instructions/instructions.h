/* What the files of this test share; run.c tells what cases.txt holds. */
#ifndef GFXSIM_INSTRUCTIONS_H
#define GFXSIM_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "gfxsim/gfxsim.h"

enum { LANES = 64, WORDS = 16, LINES = 96, OUTS = 64, STRIDE = WORDS * 4 };

struct line {
    unsigned targets;
    int stage; /* 0 pre, 1 asm, 2 post */
    const char *text;
};
struct out {
    unsigned targets, at;
    char how;
    size_t offset;
};
struct test {
    char name[64], kind;
    unsigned targets, mode, lds, scratch;
    size_t in[WORDS];
    bool has_in[WORDS];
    size_t was[WORDS], becomes[WORDS];
    bool has_was[WORDS], has_becomes[WORDS], memory;
    size_t scalars, n_scalars;
    struct line lines[LINES];
    unsigned n_lines;
    struct out outs[OUTS];
    unsigned n_outs;
};

/* gfx1151 is a gfx1100 to the simulator and has instructions of its own. */
struct target {
    const char *name;
    enum sim_target sim;
    unsigned mask;
};

/* ---- cases.c ---- */

extern u32 *words;
extern struct test *tests;
extern size_t n_tests;
extern struct line macro_lines[64]; /* without targets: the name of the next macro */
extern size_t n_macro_lines;
/* Reads both files of a folder, or ends the process. */
void read_cases(const char *folder);
char *read_file(const char *path, size_t *nbytes);
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *need(void *memory);

/* ---- assemble.c ---- */

/* What is tested lies between two s_nop of these lengths. */
enum { TESTED = 13, TESTED_END = 14 };
/* The kernels k0, k1, ... of the tests that a target has, of those called `only` when it is not NULL. */
struct sim_code *assemble(const struct target *target, const char *only);

/* ---- coverage.c ---- */

void coverage_start(void);
/* Counts what a kernel tests; false when something in it does not decode. */
bool cover_kernel(const struct test *test, const struct target *target, const struct sim_kernel *kernel);
/* Reports the rows of gfxsim's tables that nothing tested on some target of `targets`; says how many. */
unsigned check_coverage(unsigned targets);

#endif
