#define _POSIX_C_SOURCE 200809L
#include "gfxsim/gfxsim.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

_Atomic long sim_findings;

/* Findings of launches that run at the same time come out one after the other. */
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;

static void describe(const struct sim_wave *wave, int lane, const char *what, char *text, size_t nbytes) {
    const struct sim_block *block = wave->block;
    const struct sim_launch *launch = block->launch;
    size_t n = 0;
    char line[512] = "", where[128] = "";
    if (lane >= 0) {
        u32 thread = wave->id * wave->size + (u32)lane;
        const u32 *size = block->size;
        snprintf(where, sizeof where, ", lane %d (thread %u %u %u)", lane, thread % size[0], thread / size[0] % size[1],
                 thread / size[0] / size[1]);
    }
    /* The program counter has passed an instruction once it runs; before the first there is none. */
    const struct sim_inst *inst = wave->inst;
    u64 pc = inst ? inst->pc : wave->pc;
    sim_code_line(wave->code, pc, line, sizeof line);
    n = (size_t)snprintf(text, nbytes,
                         "gfxsim: %s\n"
                         "gfxsim:   kernel %s on %s, launch %u, block %u %u %u, wave %u%s\n"
                         "gfxsim:   at 0x%llx: %s\n",
                         what, launch->kernel->name, sim_target_name(wave->target), launch->serial, block->id[0],
                         block->id[1], block->id[2], wave->id, where,
                         (unsigned long long)(pc - (u64)(uintptr_t)wave->code->memory), inst ? inst->text : "");
    if (line[0] && n < nbytes) snprintf(text + n, nbytes - n, "gfxsim:   source %s\n", line);
}

static void print(const char *text) {
    atomic_fetch_add(&sim_findings, 1);
    pthread_mutex_lock(&printing);
    fputs(text, stderr);
    FILE *file = sim_settings.report ? fopen(sim_settings.report, "a") : NULL;
    if (file) {
        fputs(text, file);
        fclose(file);
    }
    pthread_mutex_unlock(&printing);
}

void sim_report(const struct sim_launch *launch, const char *what) {
    char text[1024];
    snprintf(text, sizeof text, "gfxsim: %s\ngfxsim:   kernel %s on %s, launch %u\n", what, launch->kernel->name,
             sim_target_name(launch->kernel->code->target), launch->serial);
    print(text);
}

void sim_fail(struct sim_wave *wave, int lane, int code, const char *format, ...) {
    int none = 0;
    if (atomic_compare_exchange_strong(&wave->block->launch->failed, &none, code)) {
        char what[512], text[2048];
        va_list list;
        va_start(list, format);
        vsnprintf(what, sizeof what, format, list);
        va_end(list);
        describe(wave, lane, what, text, sizeof text);
        print(text);
    }
    longjmp(*wave->block->failed, 1);
}
