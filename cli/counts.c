/* The counts of a simulated card (gfxsim): its library is there under the name of AMD's, and has a function more. */
#include "cli/counts.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

counts_source *counts_find(void) {
    static const char *const names[] = {"libamdhip64.so.6", "libamdhip64.so.5"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
        counts_source *source = NULL;
        if (library) *(void **)&source = dlsym(library, "gfxsim_counts");
        if (source) return source;
    }
    return NULL;
}

void counts_watch(void *context, bool begins) {
    struct counts_watch *watch = context;
    struct gfxsim_counts *before = &watch->before, *run = &watch->run;
    watch->source(begins ? before : run);
    if (begins) return;
    uint64_t *to = (uint64_t *)run;
    const uint64_t *from = (const uint64_t *)before;
    for (size_t i = 0; i < sizeof *run / sizeof *to; i++) to[i] -= from[i];
}

static double per(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

void counts_print_heading(void) {
    printf(
        "A simulated card: it has no speed. Counts of one run: lanes is how many of a wave's took part in an\n"
        "instruction, useful the bytes that kernels asked for in each 64 they touched, conflicts cycles of LDS lost\n"
        "to its banks. error: the largest in the contiguous cases of wick verify, as a part of what is allowed.\n\n");
    printf("%-28s %-38s %-6s %8s %10s %12s %6s %10s %8s %10s %8s\n", "op", "shapes", "dtype", "launches", "waves",
           "instructions", "lanes", "segments", "useful", "conflicts", "error");
}

void counts_print(const struct gfxsim_counts *run) {
    printf(" %8" PRIu64 " %10" PRIu64 " %12" PRIu64 " %6.1f %10" PRIu64 " %6.1f %% %10" PRIu64, run->launches,
           run->waves, run->instructions, per(run->lanes, run->instructions), run->segments,
           100 * per(run->bytes, 64 * run->segments), run->conflicts);
}

void counts_add(json_t *row, const struct gfxsim_counts *run) {
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"launches", run->launches}, {"waves", run->waves},        {"instructions", run->instructions},
                  {"lanes", run->lanes},       {"bytes", run->bytes},        {"segments", run->segments},
                  {"lds", run->lds},           {"conflicts", run->conflicts}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(row, counts[i].name, json_integer((json_int_t)counts[i].value));
}
