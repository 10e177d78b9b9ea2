#define _POSIX_C_SOURCE 200809L
#include "gfxsim/gfxsim.h"

#include <fnmatch.h>
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
    atomic_fetch_add(&sim_findings, 1);
    print(text);
}

/* Ends the launch with the first of its findings. */
_Noreturn static void fail(struct sim_wave *wave, int lane, int code, const char *what) {
    int none = 0;
    if (atomic_compare_exchange_strong(&wave->block->launch->failed, &none, code)) {
        char text[2048];
        describe(wave, lane, what, text, sizeof text);
        atomic_fetch_add(&sim_findings, 1);
        print(text);
    }
    longjmp(*wave->block->failed, 1);
}

void sim_fail(struct sim_wave *wave, int lane, int code, const char *format, ...) {
    char what[512];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    fail(wave, lane, code, what);
}

void sim_doubt(struct sim_wave *wave, int lane, enum sim_doubt kind, const char *format, ...) {
    static const char before[] = "tolerated: ";
    enum { BEFORE = sizeof before - 1 };
    struct sim_launch *launch = wave->block->launch;
    if (launch->tolerant && atomic_load_explicit(&launch->doubts, memory_order_relaxed) & kind) return;
    char what[512], text[2048];
    va_list list;
    va_start(list, format);
    memcpy(what, before, BEFORE);
    vsnprintf(what + BEFORE, sizeof what - BEFORE, format, list);
    va_end(list);
    if (!launch->tolerant) fail(wave, lane, 719, what + BEFORE);
    if (atomic_fetch_or(&launch->doubts, kind) & kind) return;
    describe(wave, lane, what, text, sizeof text);
    print(text);
}

bool sim_tolerates(const char *kernel) {
    char pattern[512];
    for (const char *at = sim_settings.tolerate; at && *at;) {
        size_t length = strcspn(at, ",");
        if (length < sizeof pattern) {
            memcpy(pattern, at, length);
            pattern[length] = 0;
            if (fnmatch(pattern, kernel, 0) == 0) return true;
        }
        at += length + (at[length] == ',');
    }
    return false;
}
