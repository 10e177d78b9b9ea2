/* Code objects: from a bundle or ELF to kernels with their descriptors. Decoding is in decode.c. */
#include "code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- offload bundles ---- */

static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
enum { MAGIC = sizeof magic - 1 };

static u64 read64(const u8 *at) {
    u64 value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* How well an entry named "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-" serves a target; 0: not at all. The cards
 * that are simulated have xnack off and sramecc on. */
static unsigned fitness(enum sim_target target, const char *id, size_t length) {
    static const struct {
        const char *name;
        enum sim_target target;
    } generic[] = {{"gfx10-3-generic", SIM_GFX1030}, {"gfx11-generic", SIM_GFX1100}, {"gfx12-generic", SIM_GFX1201}};
    char name[128];
    if (length >= sizeof name) return 0;
    memcpy(name, id, length);
    name[length] = 0;
    const char *gpu = strstr(name, "-gfx");
    if (gpu) gpu++; /* after the dash */
    if (!gpu || strstr(gpu, "xnack+") || strstr(gpu, "sramecc-")) return 0;
    size_t n = strcspn(gpu, ":");
    if (sim_target_of(gpu) == target) return !strncmp(gpu, sim_target_name(target), n) ? 3 : 2;
    for (size_t i = 0; i < sizeof generic / sizeof *generic; i++) {
        if (generic[i].target == target && strlen(generic[i].name) == n && !strncmp(generic[i].name, gpu, n)) return 1;
    }
    return 0;
}

/* The ELF in the image. Bundle: the magic, a count, then for each entry its offset, its size, its name's length and
 * name. */
static const u8 *find_elf(enum sim_target target, const u8 *image, size_t *nbytes, char why[256]) {
    size_t size = *nbytes, at = MAGIC + 8;
    if (size >= 4 && !memcmp(image, "CCOB", 4)) {
        snprintf(why, 256, "the offload bundle is compressed; compile with --no-offload-compress");
        return NULL;
    }
    if (size < MAGIC + 8 || memcmp(image, magic, MAGIC)) return image;
    const u8 *best = NULL;
    unsigned best_fitness = 0;
    u64 entries = read64(image + MAGIC);
    for (u64 i = 0; i < entries; i++) {
        if (!sim_inside(at, 24, size)) break;
        u64 offset = read64(image + at), bytes = read64(image + at + 8), length = read64(image + at + 16);
        at += 24;
        if (!sim_inside(at, length, size) || !sim_inside(offset, bytes, size)) break;
        unsigned fit = fitness(target, (const char *)image + at, length);
        if (fit > best_fitness && bytes) {
            best = image + offset;
            best_fitness = fit;
            *nbytes = bytes;
        }
        at += length;
    }
    if (!best) snprintf(why, 256, "the offload bundle has no code for %s", sim_target_name(target));
    return best;
}

/* ---- kernels ---- */

enum { DESCRIPTOR = 64, WAVE32 = 1 << 10 /* of the properties */ };

/* Completes a kernel of the metadata from its descriptor (LLVM's AMDGPUUsage, "Kernel Descriptor"). */
static bool describe(struct sim_code *code, struct sim_kernel *kernel, const char *symbol, char why[256]) {
    const struct sim_loaded *loaded = (const struct sim_loaded *)code;
    size_t nbytes = 0;
    const char *d = sim_elf_symbol(loaded, symbol, &nbytes);
    if (!d || nbytes < DESCRIPTOR) {
        snprintf(why, 256, "kernel %.100s has no descriptor %.100s", kernel->name, symbol);
        return false;
    }
    u32 kernarg;
    i64 entry;
    memcpy(&kernel->lds, d, 4);
    memcpy(&kernel->scratch, d + 4, 4);
    memcpy(&kernarg, d + 8, 4);
    memcpy(&entry, d + 16, 8);
    memcpy(&kernel->rsrc3, d + 44, 4);
    memcpy(&kernel->rsrc1, d + 48, 4);
    memcpy(&kernel->rsrc2, d + 52, 4);
    memcpy(&kernel->properties, d + 56, 2);
    memcpy(&kernel->kernarg_preload, d + 58, 2);
    if (kernarg > kernel->kernarg) kernel->kernarg = kernarg;
    kernel->entry = (u64)(uintptr_t)d + (u64)entry;
    if (kernel->entry % 4 || kernel->entry - code->text >= code->text_bytes) {
        snprintf(why, 256, "kernel %.100s begins outside the code", kernel->name);
        return false;
    }
    kernel->code_object = ((const u8 *)code->elf)[8] + 2u; /* EI_ABIVERSION */
    kernel->wave = code->target & SIM_GFX9 || !(kernel->properties & WAVE32) ? 64 : 32;
    /* rsrc1: VGPRs in granules of 8 (of 4 in a wave of 64 on gfx10 and later) at bit 0, SGPRs at bit 6 */
    u32 vgprs = (kernel->rsrc1 & 63) + 1, sgprs = kernel->rsrc1 >> 6 & 15;
    if (code->target & SIM_GFX9) {
        kernel->n_vgprs = vgprs * 8;
        kernel->n_arch_vgprs = ((kernel->rsrc3 & 63) + 1) * 4;
        if (kernel->n_vgprs < kernel->n_arch_vgprs) kernel->n_vgprs = kernel->n_arch_vgprs;
        kernel->n_sgprs = (sgprs / 2 + 1) * 16;
    } else {
        kernel->n_vgprs = vgprs * (kernel->wave == 32 ? 8 : 4);
        if (kernel->n_vgprs > 256) kernel->n_vgprs = 256;
        kernel->n_sgprs = 106;
    }
    return true;
}

const struct sim_kernel *sim_code_kernel(const struct sim_code *code, const char *name) {
    for (const struct sim_kernel *kernel = code->kernels; kernel; kernel = kernel->next) {
        if (!strcmp(kernel->name, name)) return kernel;
    }
    return NULL;
}

/* ---- loading ---- */

static bool load_kernels(struct sim_loaded *loaded, char why[256]) {
    struct sim_note place = {0};
    size_t n, nbytes = 0;
    while (sim_elf_metadata(loaded, &place, &n)) nbytes += n;
    if (!nbytes) {
        snprintf(why, 256, "the code object has no metadata");
        return false;
    }
    loaded->strings = loaded->code.strings = malloc(nbytes);
    if (!loaded->strings) {
        snprintf(why, 256, "out of memory");
        return false;
    }
    place = (struct sim_note){0};
    for (const u8 *note; (note = sim_elf_metadata(loaded, &place, &n));)
        if (!sim_metadata_read(loaded, note, n, describe, why)) return false;
    return true;
}

static bool load(struct sim_loaded *loaded, const u8 *elf, size_t nbytes, char why[256]) {
    struct sim_code *code = &loaded->code;
    if (!sim_elf_target(elf, code->target, loaded->cpu, why)) return false;
    code->elf = malloc(nbytes);
    if (!code->elf) {
        snprintf(why, 256, "out of memory");
        return false;
    }
    memcpy(code->elf, elf, nbytes);
    code->elf_bytes = nbytes;
    if (!sim_elf_load(loaded, why)) return false;
    code->cache = calloc(code->text_bytes / 4 + 1, sizeof *code->cache);
    if (!code->cache) {
        snprintf(why, 256, "out of memory");
        return false;
    }
    return load_kernels(loaded, why);
}

struct sim_code *sim_code_load(enum sim_target target, const void *image, size_t nbytes, char why[256]) {
    const u8 *elf = find_elf(target, image, &nbytes, why);
    if (elf) nbytes = sim_elf_bytes(elf, nbytes, why);
    if (!elf || !nbytes) return NULL;
    struct sim_loaded *loaded = calloc(1, sizeof *loaded);
    if (!loaded) {
        snprintf(why, 256, "out of memory");
        return NULL;
    }
    loaded->code.target = target;
    if (load(loaded, elf, nbytes, why)) return &loaded->code;
    sim_code_unload(&loaded->code);
    return NULL;
}

void sim_code_unload(struct sim_code *code) {
    if (!code) return;
    for (size_t i = 0; code->cache && i <= code->text_bytes / 4; i++) sim_inst_free(code->cache[i]);
    free(code->cache);
    for (struct sim_kernel *kernel = code->kernels, *next; kernel; kernel = next) {
        next = kernel->next;
        free(kernel->args);
        free(kernel);
    }
    for (struct sim_symbol *global = code->globals, *next; global; global = next) {
        next = global->next;
        free(global);
    }
    if (code->memory) sim_memory_free(code->memory);
    free(code->strings);
    free(code->elf);
    free((struct sim_loaded *)code);
}
