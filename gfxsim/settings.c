#define _POSIX_C_SOURCE 200809L
#include "gfxsim/gfxsim.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sim_settings sim_settings;

static u64 number(const char *name, u64 least, u64 unset) {
    const char *text = getenv(name);
    if (!text || !*text) return unset;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (errno == 0 && !*end && text[0] != '-' && value >= least) return value;
    fprintf(stderr, "gfxsim: %s=%s is not a number of at least %llu; it is ignored\n", name, text,
            (unsigned long long)least);
    return unset;
}

static const char *file(const char *name) {
    const char *path = getenv(name);
    return path && *path ? path : NULL;
}

static void read_all(void) {
    const char *check = getenv("GFXSIM_CHECK");
    sim_settings.check = !check || strcmp(check, "off") != 0;
    sim_settings.isa = check && strcmp(check, "isa") == 0;
    if (check && *check && strcmp(check, "on") != 0 && sim_settings.check && !sim_settings.isa)
        fprintf(stderr, "gfxsim: GFXSIM_CHECK is on, isa or off, not %s; it stays on\n", check);
    sim_settings.seed = number("GFXSIM_SEED", 0, 0);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    u64 threads = number("GFXSIM_THREADS", 1, cores > 0 ? (u64)cores : 1);
    sim_settings.threads = threads > 256 ? 256 : (unsigned)threads;
    sim_settings.steps = number("GFXSIM_STEPS", 1, (u64)1 << 32);
    sim_settings.profile = file("GFXSIM_PROFILE");
    sim_settings.count = sim_settings.profile;
    sim_settings.report = file("GFXSIM_REPORT");
    sim_settings.trace = file("GFXSIM_TRACE");
    u64 units = number("GFXSIM_UNITS", 1, 0);
    sim_settings.units = units > 4096 ? 4096 : (int)units;
    sim_settings.tolerate = file("GFXSIM_TOLERATE");
    sim_settings.record = file("GFXSIM_RECORD");
    u64 each = number("GFXSIM_RECORD_EACH", 1, 1);
    sim_settings.record_each = each > 1000000 ? 1000000 : (unsigned)each;
}

void sim_settings_read(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_all);
}
