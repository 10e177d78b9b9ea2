/* What the driver asks of gfxsim: cards, memory, code objects, launches. */
#include "gfxsim/driver/driver.h"
#include "gfxsim/gfxsim.h"
#include "gfxsim/occupancy.h"

#include <stdlib.h>
#include <string.h>

const char engine_name[] = "gfxsim", engine_default_devices[] = "gfx942";

/* ---- cards, as their makers and HIP's properties describe them; from gfx10 on HIP counts pairs of compute units ----
 */

static const struct card {
    const char *target, *features, *name;
    int units, clock, memory_clock, memory_bus, l2; /* MHz, MHz, bits, KiB */
    int memory;                                     /* MiB */
    bool integrated;
} cards[] = {{"gfx90a", ":sramecc+:xnack-", "AMD Instinct MI250X", 110, 1700, 1600, 4096, 8192, 65520, false},
             {"gfx942", ":sramecc+:xnack-", "AMD Instinct MI300X", 304, 2100, 1300, 8192, 4096, 196592, false},
             {"gfx1030", "", "AMD Radeon RX 6900 XT", 40, 2660, 1000, 256, 4096, 16368, false},
             {"gfx1100", "", "AMD Radeon RX 7900 XTX", 48, 2482, 1249, 384, 6144, 24560, false},
             {"gfx1151", "", "AMD Radeon 8060S", 20, 2900, 1000, 256, 2048, 65536, true},
             {"gfx1201", "", "AMD Radeon RX 9070 XT", 32, 2970, 1258, 256, 8192, 16304, false}};

void engine_settings(void) { sim_settings_read(); }

bool engine_device(struct driver_device *device) {
    size_t length = strcspn(device->target, ":");
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        const struct card *card = &cards[i];
        if (strlen(card->target) != length || strncmp(card->target, device->target, length) != 0) continue;
        snprintf(device->target, sizeof device->target, "%s%s", card->target, card->features);
        snprintf(device->name, sizeof device->name, "%s (gfxsim)", card->name);
        bool old = length == strlen("gfx942"); /* major, minor, stepping: one digit each, two for a major from 10 on */
        device->major = old ? 9 : atoi(card->target + 3) / 100;
        device->minor = old ? card->target[4] - '0' : card->target[5] - '0';
        device->wave = (int)sim_wave_size(sim_target_of(card->target));
        device->units = sim_settings.units ? sim_settings.units : card->units;
        device->unit_threads = 2048;
        device->clock = card->clock * 1000;
        device->memory_clock = card->memory_clock * 1000;
        device->memory_bus = card->memory_bus;
        device->l2 = card->l2 << 10;
        device->memory = (size_t)card->memory << 20;
        device->shared = 65536;
        device->integrated = card->integrated;
        return true;
    }
    return false;
}

/* ---- memory: a state beside each byte follows what is done to it ---- */

void *engine_allocate(size_t size, bool pinned) { return sim_memory_new(size, pinned ? SIM_DEFINED : SIM_UNDEFINED); }
void engine_free(const struct driver_allocation *allocation) { sim_memory_free(allocation->base); }
void engine_copied(void *to, const void *from, size_t n) { sim_memory_copied(to, from, n); }
void engine_set(void *to, size_t n) { sim_memory_mark(to, n, SIM_DEFINED); }
void engine_access(bool open) { (void)open; }

long engine_check(bool end) {
    if (end && sim_settings.profile) sim_profile_write();
    return sim_findings;
}

/* ---- code ---- */

int engine_load(struct driver_device *device, const void *image, size_t nbytes, void **code) {
    char why[256] = "";
    *code = sim_code_load(sim_target_of(device->target), image, nbytes, why);
    if (*code) return DRIVER_OK;
    fprintf(stderr, "gfxsim: a module does not load on %s: %s\n", device->target, why);
    return DRIVER_NO_BINARY;
}

void engine_unload(void *code) { sim_code_unload(code); }

bool engine_function(void *code, struct driver_function *function) {
    const struct sim_kernel *kernel = sim_code_kernel(code, function->name);
    struct driver_argument *args = kernel ? calloc(kernel->n_args + 1, sizeof *args) : NULL;
    if (!args) return false;
    for (unsigned i = 0; i < kernel->n_args; i++)
        args[i] = (struct driver_argument){kernel->args[i].offset, kernel->args[i].size};
    function->kernel = kernel;
    function->nbytes = kernel->explicit_args;
    function->args = args;
    function->n_args = kernel->n_args;
    return true;
}

void *engine_global(void *code, const char *name, size_t *size) {
    for (const struct sim_symbol *global = ((const struct sim_code *)code)->globals; global; global = global->next)
        if (strcmp(global->name, name) == 0) {
            *size = global->nbytes;
            return global->at;
        }
    return NULL;
}

/* A launch whose blocks may wait for each other needs room for all of them at once. */
int engine_accepts(const struct driver_function *function, const struct driver_shape *shape) {
    const struct sim_kernel *kernel = function->kernel;
    const struct driver_device *device = function->module->device;
    const unsigned *grid = shape->grid, *block = shape->block;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (block[0] > 1024 || block[1] > 1024 || block[2] > 1024 || threads > 1024) return DRIVER_VALUE;
    if (threads > kernel->max_threads) return DRIVER_LAUNCH;
    if (kernel->uniform && (shape->rest[0] || shape->rest[1] || shape->rest[2])) return DRIVER_VALUE;
    if (kernel->lds + shape->shared > device->shared) return DRIVER_VALUE;
    uint64_t room = (uint64_t)engine_occupancy(function, (unsigned)threads, shape->shared) * (unsigned)device->units;
    bool fits = (uint64_t)grid[0] * grid[1] <= room && (uint64_t)grid[0] * grid[1] * grid[2] <= room;
    return shape->cooperative && !fits ? DRIVER_COOPERATIVE_TOO_LARGE : DRIVER_OK;
}

int engine_run(const struct driver_function *function, const struct driver_shape *shape, const void *params,
               size_t nbytes) {
    const unsigned *grid = shape->grid, *block = shape->block, *rest = shape->rest;
    static uint32_t serial;
    struct sim_launch launch = {.kernel = function->kernel,
                                .grid = {grid[0], grid[1], grid[2]},
                                .block = {block[0], block[1], block[2]},
                                .rest = {rest[0], rest[1], rest[2]},
                                .shared = shape->shared,
                                .cooperative = shape->cooperative,
                                .args = params,
                                .nbytes = nbytes,
                                .device = function->module->device->ordinal,
                                .serial = ++serial};
    return sim_launch_run(&launch);
}

int engine_occupancy(const struct driver_function *function, unsigned threads, size_t shared) {
    return (int)sim_occupancy(function->kernel, threads, shared).blocks;
}
