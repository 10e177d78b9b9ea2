/* The CPU device family: its buffers are host memory, its work is done when a call returns. */
#define _GNU_SOURCE
#include "cpu/runtime/available.h"
#include "cpu/runtime/isa.h"
#include "cpu/table.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include "backend.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char processor[80] = "unknown processor";

/* The processor's own name, from the operating system. */
static void read_processor_name(void) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value) continue;
        value += strspn(value, ": \t");
        value[strcspn(value, "\n")] = '\0';
        snprintf(processor, sizeof processor, "%.79s", value);
        break;
    }
    fclose(file);
}

static int cpu_count(void) { return 1; }

static int cpu_rank(int ordinal) {
    (void)ordinal;
    return 2;
}

static enum wick_status cpu_open(struct wick_device *device) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)device;
    pthread_once(&once, read_processor_name);
    return WICK_OK;
}

static void cpu_close(struct wick_device *device) { (void)device; }

static void cpu_describe(const struct wick_device *device, struct wick_device_info *info) {
    (void)device;
    info->description = processor;
    info->isa = wick__isa_name(wick__isa());
    info->threads = wick__workers();
    info->fast_bf16 = wick__isa_has_avx512_bf16();
    info->memory_total = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    info->memory_free = wick__host_available();
}

static enum wick_status cpu_alloc(struct wick_device *device, size_t nbytes, void **data) {
    (void)device;
    return wick__pool_alloc(nbytes, data);
}

static void cpu_free(struct wick_device *device, void *data, size_t nbytes) {
    (void)device;
    wick__pool_free(data, nbytes);
}

static enum wick_status cpu_transfer(struct wick_device *device, void *to, const void *from, size_t nbytes) {
    (void)device;
    memcpy(to, from, nbytes);
    return WICK_OK;
}

static enum wick_status cpu_sync(struct wick_device *device) {
    (void)device;
    return WICK_OK;
}

static void cpu_memory(const struct wick_device *device, struct wick_memory *memory) {
    (void)device;
    wick__pool_stats(memory);
}

static void cpu_set_limit(struct wick_device *device, size_t nbytes) {
    (void)device;
    wick__pool_set_limit(nbytes);
}

static void cpu_set_cache(struct wick_device *device, size_t nbytes) {
    (void)device;
    wick__pool_set_cache(nbytes);
}

static void cpu_reset_peak(struct wick_device *device) {
    (void)device;
    wick__pool_reset_peak();
}

static void cpu_trim(struct wick_device *device) {
    (void)device;
    wick__pool_trim();
}

const struct wick__backend wick__cpu_backend = {
    .version = WICK__BACKEND_VERSION,
    .family = "cpu",
    .single = true,
    .count = cpu_count,
    .rank = cpu_rank,
    .open = cpu_open,
    .describe = cpu_describe,
    .heap = {.host_visible = true, .alloc = cpu_alloc, .free = cpu_free, .close = cpu_close},
    .upload = cpu_transfer,
    .download = cpu_transfer,
    .sync = cpu_sync,
    .memory = cpu_memory,
    .set_limit = cpu_set_limit,
    .set_cache = cpu_set_cache,
    .reset_peak = cpu_reset_peak,
    .trim = cpu_trim,
    .kernels = wick__cpu_kernels,
};
