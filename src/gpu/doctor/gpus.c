/* What wick_doctor asks the vendors: their libraries, their GPUs, and where those would get kernels from. */
#include "gpu/doctor/doctor.h"

#include "gpu/code/cache.h"
#include "gpu/runtime/gpu.h"
#include "gpu/library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *wick__route_name(enum wick__route route) {
    static const char *const names[] = {"none", "pack", "cache", "compiler"};
    return (unsigned)route < sizeof names / sizeof *names ? names[route] : "unknown";
}

/* An APU's own memory and what it shares with the processor, which the runtime does not tell apart. */
static void apu_memory(struct wick__gpu_facts *gpu) {
    char path[160], line[64];
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/mem_info_vram_total", gpu->properties.bus);
    if (wick__doctor_line(path, line, sizeof line)) gpu->carve_out = (size_t)strtoull(line, NULL, 10);
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/mem_info_gtt_total", gpu->properties.bus);
    if (wick__doctor_line(path, line, sizeof line)) gpu->shared = (size_t)strtoull(line, NULL, 10);
}

/* "f16, f32" of the dtypes with a verdict. */
static void list_dtypes(const struct wick_blas_info *info, enum wick_blas_verdict verdict, char *list, size_t size) {
    const struct {
        const char *name;
        enum wick_blas_verdict verdict;
    } dtypes[] = {{"bf16", info->bf16}, {"f16", info->f16}, {"f32", info->f32}, {"f64", info->f64}};
    *list = 0;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        size_t at = strlen(list);
        if (dtypes[i].verdict == verdict) snprintf(list + at, size - at, "%s%s", at ? ", " : "", dtypes[i].name);
    }
}

/* What became of the vendor's matrix products on a device that is open; runs their self-check. */
static void blas_verdict(struct wick__gpu_facts *gpu, struct wick_device *device) {
    struct wick_blas_info info;
    char good[32], wrong[32];
    if (wick_blas_describe(device, true, &info) != WICK_OK) {
        snprintf(gpu->blas, sizeof gpu->blas, "own kernels");
    } else if (info.blas == WICK_BLAS_OWN) {
        snprintf(gpu->blas, sizeof gpu->blas, "switched off by WICK_BLAS=own");
    } else if (!info.library) {
        snprintf(gpu->blas, sizeof gpu->blas, "own kernels: %.450s", info.fault ? info.fault : "no library");
    } else {
        list_dtypes(&info, WICK_BLAS_GOOD, good, sizeof good);
        list_dtypes(&info, WICK_BLAS_WRONG, wrong, sizeof wrong);
        memcpy(gpu->blas_wrong, wrong, sizeof wrong);
        gpu->blas_usable = *good;
        if (*good || *wrong)
            snprintf(gpu->blas, sizeof gpu->blas, "%.64s: right for %s%s%s%s", info.library, *good ? good : "no dtype",
                     *wrong ? "; WRONG for " : "", wrong,
                     info.f16 == WICK_BLAS_FLUSHES
                         ? "; takes subnormal f16 as 0, so f16 is by own kernels unless WICK_BLAS=vendor"
                         : "");
        else
            snprintf(gpu->blas, sizeof gpu->blas, "own kernels: %.64s refuses products", info.library);
    }
}

/* The routes of a device that is open, whose self-checks have run. */
static void ways(struct wick__gpu_facts *gpu, struct wick_device *device) {
    struct wick_route_info info;
    for (int i = 0; i < wick_route_count(device) && gpu->ways < WICK__VENDOR_ROUTES; i++) {
        if (wick_route_describe(device, i, true, &info) != WICK_OK) return;
        struct wick__route_facts *way = &gpu->way[gpu->ways++];
        snprintf(way->name, sizeof way->name, "%s", info.name);
        snprintf(way->op, sizeof way->op, "%s", info.op);
        snprintf(way->library, sizeof way->library, "%s", info.library ? info.library : "");
        snprintf(way->text, sizeof way->text, "%.*s", WICK__ROUTE_TEXT - 1, info.library ? info.verdict : info.fault);
        way->used = info.used;
        way->refused = info.refused;
    }
}

/* Opens the device, which runs a test kernel on it. */
static void try_device(struct wick__gpu_facts *gpu) {
    struct wick__error error = {0}, quiet = {0};
    wick__error_swap(&error);
    struct wick_device *device = wick_device_open(gpu->name);
    wick__error_swap(&error);
    gpu->healthy = device != NULL;
    if (!device) {
        snprintf(gpu->fault, sizeof gpu->fault, "%.511s", error.text);
        return;
    }
    const struct wick__gpu *state = device->state;
    size_t total = 0;
    if (state->vendor->memory_info(&gpu->free, &total) != 0) gpu->free = 0;
    wick__error_swap(&quiet);
    blas_verdict(gpu, device);
    ways(gpu, device);
    wick__error_swap(&quiet);
    wick_device_close(device);
}

static void examine(struct wick__doctor *doctor, const struct wick__vendor *vendor, int ordinal) {
    if (doctor->gpus == WICK__DOCTOR_GPUS) return;
    struct wick__gpu_facts *gpu = &doctor->gpu[doctor->gpus++];
    snprintf(gpu->name, sizeof gpu->name, "%s:%d", vendor->family, ordinal);
    gpu->code = vendor->properties(ordinal, &gpu->properties);
    if (gpu->code) {
        char text[256];
        vendor->error_text(gpu->code, text, sizeof text);
        snprintf(gpu->fault, sizeof gpu->fault, "reading properties failed: %s", text);
        return;
    }
    if (gpu->properties.integrated) apu_memory(gpu);
    for (int module = 0; module < WICK__GPU_MODULES; module++)
        gpu->routes |= 1u << wick__store_route(vendor, &gpu->properties, (enum wick__gpu_module)module);
    try_device(gpu);
}

static void family(struct wick__doctor *doctor, struct wick__family_facts *facts) {
    const struct wick__vendor *vendor = facts->vendor;
    struct wick__error error = {0};
    char path[64];
    wick__error_swap(&error);
    facts->loaded = wick__gpu_count(vendor, &facts->count) == WICK_OK;
    wick__error_swap(&error);
    if (!facts->loaded) snprintf(facts->fault, sizeof facts->fault, "%.511s", error.text);
    for (int i = 0; i < facts->count; i++) examine(doctor, vendor, i);
    for (int kind = 0; kind < WICK__LIBRARIES; kind++)
        vendor->library((enum wick__library_kind)kind, &facts->libraries[kind]);
    facts->copies = wick__library_copies(facts->libraries[WICK__DRIVER].name, path, sizeof path);
}

/* Whether compiled kernels can be kept: in the folder, or, as it is made when needed, in the nearest one above it. */
static void cache(struct wick__doctor *doctor) {
    char path[sizeof doctor->cache];
    bool there =
        wick__cache_folder(doctor->cache, sizeof doctor->cache, doctor->cache_fault, sizeof doctor->cache_fault);
    snprintf(path, sizeof path, "%s", doctor->cache);
    if (!*path) return;
    if (!there && access(path, F_OK) == 0) return;
    while (access(path, F_OK) != 0 && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        if (!slash || slash == path) break;
        *slash = 0;
    }
    doctor->cache_fault[0] = 0;
    if (access(path, W_OK | X_OK) != 0)
        snprintf(doctor->cache_fault, sizeof doctor->cache_fault, "%s: %s", path, strerror(errno));
}

void wick__doctor_gpus(struct wick__doctor *doctor) {
    doctor->family[WICK__DOCTOR_ROCM].vendor = &wick__rocm_vendor;
    doctor->family[WICK__DOCTOR_CUDA].vendor = &wick__cuda_vendor;
    for (int i = 0; i < WICK__DOCTOR_FAMILIES; i++) family(doctor, &doctor->family[i]);
    cache(doctor);
}
