/* The device registry, device handles, and calls that go straight to the family. */
#include "backend.h"
#include "core/fork.h"
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every family, those of GPUs first. */
static const struct wick__backend *const families[] = {&wick__cuda_backend, &wick__rocm_backend, &wick__cpu_backend};
enum { FAMILY_COUNT = sizeof families / sizeof *families, RANKS = 3 };

static void device_name(char name[24], const struct wick__backend *family, int ordinal) {
    if (family->single)
        snprintf(name, 24, "%s", family->family);
    else
        snprintf(name, 24, "%s:%d", family->family, ordinal);
}

/* Finds the family and ordinal of the i-th device of the list, best first; false past its end. */
static bool device_at(int i, const struct wick__backend **family, int *ordinal) {
    for (int rank = 0; i >= 0 && rank < RANKS; rank++)
        for (int f = 0; f < FAMILY_COUNT; f++) {
            int count = families[f]->count();
            for (int o = 0; o < count; o++) {
                if (families[f]->rank(o) != rank || i-- > 0) continue;
                *family = families[f];
                *ordinal = o;
                return true;
            }
        }
    return false;
}

int wick_device_count(void) {
    int count = 0;
    for (int f = 0; f < FAMILY_COUNT; f++) count += families[f]->count();
    return count;
}

const char *wick_device_list(int i) {
    static _Thread_local char name[24];
    const struct wick__backend *family;
    int ordinal;
    if (!device_at(i, &family, &ordinal)) return NULL;
    device_name(name, family, ordinal);
    return name;
}

static struct wick_device *device_open(const struct wick__backend *family, int ordinal) {
    struct wick_device *device = wick__calloc(1, sizeof *device);
    if (!device) return NULL;
    device->backend = family;
    device->heap = &family->heap;
    device->ordinal = ordinal;
    device->forks = wick__forks();
    atomic_init(&device->refs, 1);
    device_name(device->name, family, ordinal);
    if (family->open(device) == WICK_OK) return device;
    wick__free(device, sizeof *device);
    return NULL;
}

/* The best device that works; what is wrong with better ones goes to the log. */
static struct wick_device *device_open_best(void) {
    const struct wick__backend *family;
    int ordinal;
    for (int i = 0; device_at(i, &family, &ordinal); i++) {
        struct wick__error error = {0};
        wick__error_swap(&error);
        struct wick_device *device = device_open(family, ordinal);
        wick__error_swap(&error);
        if (device) return device;
        wick__log(WICK_LOG_WARNING, "device_open: passed over %s:%d: %s", family->family, ordinal, error.text);
    }
    wick__fail(WICK_DEVICE, "device_open: no device works");
    return NULL;
}

/* The family of a name such as "rocm:1", and its ordinal; NULL when it is not made like one. */
static const struct wick__backend *family_of(const char *name, int *ordinal) {
    for (int f = 0; f < FAMILY_COUNT; f++) {
        size_t length = strlen(families[f]->family);
        if (strncmp(name, families[f]->family, length) != 0) continue;
        *ordinal = 0;
        if (name[length] == '\0') return families[f];
        char *end;
        if (name[length] != ':' || name[length + 1] < '0' || name[length + 1] > '9') continue;
        long number = strtol(name + length + 1, &end, 10);
        if (*end || number > 4095 || families[f]->single) continue;
        *ordinal = (int)number;
        return families[f];
    }
    return NULL;
}

/* Tries a device of a family that counts none, for the reason; NULL as a rule. */
static struct wick_device *device_try(const struct wick__backend *family, int ordinal, struct wick__error *reason) {
    struct wick__error kept = {0};
    wick__error_swap(&kept);
    struct wick_device *device = device_open(family, ordinal);
    wick__error_swap(&kept);
    *reason = kept;
    return device;
}

struct wick_device *wick_device_open(const char *name) {
    const struct wick__backend *family;
    int ordinal = 0;
    char known[24], list[256] = "";
    struct wick__error reason = {0};
    if (!name) {
        wick__fail(WICK_INVALID, "device_open: name is NULL");
        return NULL;
    }
    if (strcmp(name, "auto") == 0) return device_open_best();
    family = family_of(name, &ordinal);
    if (family && ordinal < family->count()) return device_open(family, ordinal);
    if (family && family->count() == 0) {
        struct wick_device *device = device_try(family, ordinal, &reason);
        if (device) return device;
    }
    for (int i = 0; device_at(i, &family, &ordinal); i++) {
        size_t at = strlen(list);
        device_name(known, family, ordinal);
        snprintf(list + at, sizeof list - at, ", %s", known);
    }
    wick__fail(WICK_DEVICE, "device_open: no device \"%.40s\"; there is auto%s%s%s", name, list,
               *reason.text ? "; " : "", reason.text);
    return NULL;
}

void wick_device_close(struct wick_device *device) {
    if (!device) return;
    atomic_store(&device->closed, true);
    if (device->heap->late && !wick__device_forked(device)) device->heap->late->forget(device);
    wick__device_unref(device);
}

/* The families in their order, device by device: so a number does not depend on how many devices a family has. */
int wick_device_ordinal(const struct wick_device *device) {
    if (!device) return -1;
    for (int f = 0; f < FAMILY_COUNT; f++)
        if (families[FAMILY_COUNT - 1 - f] == device->backend) return device->ordinal * FAMILY_COUNT + f;
    return -1;
}

enum wick_status wick_device_describe(const struct wick_device *device, struct wick_device_info *info) {
    WICK__TRY(wick__device_check("device_describe", device));
    if (!info) return wick__fail(WICK_INVALID, "device_describe: info is NULL");
    *info = (struct wick_device_info){.name = device->name, .family = device->backend->family};
    device->backend->describe(device, info);
    return WICK_OK;
}

enum wick_status wick_device_sync(struct wick_device *device) {
    WICK__TRY(wick__device_check("device_sync", device));
    WICK__TRY(wick__graph_refuse(device, "device_sync"));
    return device->heap->late ? device->heap->late->tell(device) : device->backend->sync(device);
}

enum wick_status wick_memory_stats(const struct wick_device *device, struct wick_memory *memory) {
    WICK__TRY(wick__device_check("memory_stats", device));
    if (!memory) return wick__fail(WICK_INVALID, "memory_stats: memory is NULL");
    *memory = (struct wick_memory){0};
    device->backend->memory(device, memory);
    return WICK_OK;
}

enum wick_status wick_memory_set_limit(struct wick_device *device, size_t nbytes) {
    WICK__TRY(wick__device_check("memory_set_limit", device));
    device->backend->set_limit(device, nbytes);
    return WICK_OK;
}

enum wick_status wick_memory_set_cache(struct wick_device *device, size_t nbytes) {
    WICK__TRY(wick__device_check("memory_set_cache", device));
    device->backend->set_cache(device, nbytes);
    return WICK_OK;
}

enum wick_status wick_memory_reset_peak(struct wick_device *device) {
    WICK__TRY(wick__device_check("memory_reset_peak", device));
    device->backend->reset_peak(device);
    return WICK_OK;
}

enum wick_status wick_memory_trim(struct wick_device *device) {
    WICK__TRY(wick__device_check("memory_trim", device));
    device->backend->trim(device);
    return WICK_OK;
}

enum wick_status wick_row_major_set(struct wick_device *device, bool row_major) {
    WICK__TRY(wick__device_check("row_major_set", device));
    atomic_store(&device->row_major, row_major);
    return WICK_OK;
}

enum wick_status wick_seed_set(struct wick_device *device, uint64_t seed) {
    WICK__TRY(wick__device_check("seed_set", device));
    atomic_store(&device->seed, seed);
    atomic_store(&device->random_offset, 0);
    return WICK_OK;
}

uint64_t wick_seed(const struct wick_device *device) { return device ? atomic_load(&device->seed) : 0; }
