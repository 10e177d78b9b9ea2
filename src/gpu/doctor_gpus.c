/* What wick_doctor asks the vendors: their libraries, their GPUs, and where those would get kernels from. */
#include "gpu/doctor.h"

#include "gpu/cache.h"
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

static void blas_verdict(const struct wick__vendor *vendor, struct wick__gpu_facts *gpu) {
    const char *choice = wick__doctor_variable("WICK_BLAS");
    const char *missing = vendor->blas_missing ? vendor->blas_missing(gpu->properties.target) : "not bound";
    if (choice && strcmp(choice, "own") == 0) {
        snprintf(gpu->blas, sizeof gpu->blas, "switched off by WICK_BLAS=own");
    } else if (missing) {
        snprintf(gpu->blas, sizeof gpu->blas, "own kernels: %.450s", missing);
    } else {
        gpu->blas_usable = true;
        snprintf(gpu->blas, sizeof gpu->blas, "%.64s, for dtypes where it passes a self-check", vendor->blas_version());
    }
}

/* Opens the device, which runs a test kernel on it. */
static void try_device(struct wick__gpu_facts *gpu) {
    struct wick__error error = {0};
    wick__error_swap(&error);
    struct wick_device *device = wick_device_open(gpu->name);
    if (device) {
        const struct wick__gpu *state = device->state;
        size_t total = 0;
        gpu->healthy = true;
        if (state->vendor->memory_info(&gpu->free, &total) != 0) gpu->free = 0;
        wick_device_close(device);
    }
    wick__error_swap(&error);
    if (!gpu->healthy) snprintf(gpu->fault, sizeof gpu->fault, "%.511s", error.text);
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
    blas_verdict(vendor, gpu);
}

static void family(struct wick__doctor *doctor, struct wick__family_facts *facts) {
    const struct wick__vendor *vendor = facts->vendor;
    struct wick__error error = {0};
    char path[64];
    wick__error_swap(&error);
    facts->loaded = vendor->load() == WICK_OK;
    int code = facts->loaded ? vendor->count(&facts->count) : 0;
    wick__error_swap(&error);
    if (!facts->loaded) snprintf(facts->fault, sizeof facts->fault, "%.511s", error.text);
    if (code) {
        char text[256];
        vendor->error_text(code, text, sizeof text);
        snprintf(facts->fault, sizeof facts->fault, "%s: count devices: %s", vendor->family, text);
        facts->loaded = false;
        facts->count = 0;
    }
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
