/* Counts of each kernel, summed over its launches, and their table at the end of the process. */
#include "gfxsim/counts.h"
#include "gfxsim/gfxsim.h"
#include "gfxsim/occupancy.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel under its name: the code may be gone by the end. Occupancy is of the launch with the largest blocks. */
struct row {
    struct row *next;
    struct sim_counts counts;
    enum sim_target target;
    u32 vgprs, sgprs, lds, scratch, threads;
    struct sim_occupancy occupancy;
    char name[];
};
static struct row *rows;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(struct sim_counts *sum, const struct sim_counts *counts) {
    sum->waves += counts->waves;
    sum->launches += counts->launches;
    for (int i = 0; i < SIM_CLASSES; i++) {
        sum->instructions[i] += counts->instructions[i];
        sum->lanes[i] += counts->lanes[i];
    }
    for (int i = 0; i < 2; i++) {
        sum->bytes[i] += counts->bytes[i];
        sum->segments[i] += counts->segments[i];
    }
    sum->lds_accesses += counts->lds_accesses;
    sum->lds_conflicts += counts->lds_conflicts;
    sum->branches += counts->branches;
    sum->divergent += counts->divergent;
}

static struct row *find(const struct sim_kernel *kernel) {
    struct row **link = &rows;
    for (; *link; link = &(*link)->next)
        if ((*link)->target == kernel->code->target && strcmp((*link)->name, kernel->name) == 0) return *link;
    struct row *row = calloc(1, sizeof *row + strlen(kernel->name) + 1);
    if (!row) return NULL;
    row->target = kernel->code->target;
    row->vgprs = kernel->n_vgprs;
    row->sgprs = kernel->n_sgprs;
    row->scratch = kernel->scratch;
    strcpy(row->name, kernel->name);
    return *link = row;
}

void sim_profile_add(const struct sim_launch *launch, const struct sim_counts *counts) {
    pthread_mutex_lock(&lock);
    struct row *row = find(launch->kernel);
    if (row) {
        u32 threads = launch->block[0] * launch->block[1] * launch->block[2],
            lds = launch->kernel->lds + launch->shared;
        add(&row->counts, counts);
        if (threads > row->threads || (threads == row->threads && lds >= row->lds)) {
            row->threads = threads;
            row->lds = lds;
            row->occupancy = sim_occupancy(launch->kernel, threads, launch->shared);
        }
    }
    pthread_mutex_unlock(&lock);
}

void sim_trace(const struct sim_launch *launch) {
    FILE *file = sim_settings.trace ? fopen(sim_settings.trace, "a") : NULL;
    if (!file) return;
    fprintf(file, "launch %s %s grid %u %u %u block %u %u %u\n", sim_target_name(launch->kernel->code->target),
            launch->kernel->name, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
            launch->block[2]);
    fclose(file);
}

/* ---- the table ---- */

static double percent(u64 part, u64 whole) { return whole ? 100.0 * (double)part / (double)whole : 0; }
static u64 sum(const u64 *values) {
    u64 all = 0;
    for (int i = 0; i < SIM_CLASSES; i++) all += values[i];
    return all;
}

static void write_row(FILE *file, const struct row *row) {
    static const char *const classes[SIM_CLASSES] = {"salu",  "smem",   "branch", "wait",    "valu", "trans",
                                                     "cross", "matrix", "global", "scratch", "lds"};
    const struct sim_counts *c = &row->counts;
    u64 vector = 0, lanes = 0;
    fprintf(file, "%s %s\n", sim_target_name(row->target), row->name);
    fprintf(file, "  launches %llu, waves %llu, blocks of up to %u threads\n", (unsigned long long)c->launches,
            (unsigned long long)c->waves, row->threads);
    fprintf(file, "  instructions %llu:", (unsigned long long)sum(c->instructions));
    for (int i = 0; i < SIM_CLASSES; i++) {
        if (c->instructions[i]) fprintf(file, " %s %llu", classes[i], (unsigned long long)c->instructions[i]);
        if (i < SIM_CLASS_VALU) continue;
        vector += c->instructions[i];
        lanes += c->lanes[i];
    }
    fprintf(file, "\n  lanes in use in vector instructions %.1f %%; branches %llu, divergent %llu\n",
            percent(lanes, vector * sim_wave_size(row->target)), (unsigned long long)c->branches,
            (unsigned long long)c->divergent);
    for (int i = 0; i < 2; i++)
        fprintf(file, "  %s %llu bytes in %llu segments of 64, useful %.1f %%\n", i ? "written" : "read",
                (unsigned long long)c->bytes[i], (unsigned long long)c->segments[i],
                percent(c->bytes[i], c->segments[i] * 64));
    fprintf(file, "  LDS accesses %llu, cycles lost to bank conflicts %llu\n", (unsigned long long)c->lds_accesses,
            (unsigned long long)c->lds_conflicts);
    fprintf(file, "  VGPRs %u, SGPRs %u, LDS %u, scratch %u: %u of %u waves a SIMD, by %s\n", row->vgprs, row->sgprs,
            row->lds, row->scratch, row->occupancy.waves, row->occupancy.most, row->occupancy.limit);
}

void sim_profile_write(void) {
    FILE *file = sim_settings.profile ? fopen(sim_settings.profile, "w") : NULL;
    if (!file) {
        if (sim_settings.profile) fprintf(stderr, "gfxsim: %s can't be written\n", sim_settings.profile);
        return;
    }
    pthread_mutex_lock(&lock);
    for (const struct row *row = rows; row; row = row->next) write_row(file, row);
    pthread_mutex_unlock(&lock);
    fclose(file);
}

/* ---- for programs ---- */

__attribute__((visibility("default"))) void gfxsim_counts(struct gfxsim_counts *out) {
    memset(out, 0, sizeof *out);
    sim_settings_read();
    pthread_mutex_lock(&lock);
    sim_settings.count = true;
    for (const struct row *row = rows; row; row = row->next) {
        const struct sim_counts *c = &row->counts;
        out->launches += c->launches;
        out->waves += c->waves;
        out->instructions += sum(c->instructions);
        out->lanes += sum(c->lanes);
        for (int i = 0; i < 2; i++) {
            out->bytes += c->bytes[i];
            out->segments += c->segments[i];
        }
        out->lds += c->lds_accesses;
        out->conflicts += c->lds_conflicts;
    }
    pthread_mutex_unlock(&lock);
}
