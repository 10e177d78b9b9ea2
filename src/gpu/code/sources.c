/* The text of the kernels, as it lies in kernels/, inside the library: what the run-time compilers get, and what the
 * keys of packs and cache entries are made of. */
#include "gpu/code/store.h"

#include <stdio.h>
#include <string.h>

/* WICK__KERNELS is the folder; the file's bytes and a 0 come under the name wick__text_ID. */
#define TEXT(id, file)                                                                                                 \
    __asm__(".pushsection .rodata,\"a\"\n"                                                                             \
            ".hidden wick__text_" #id "\n.globl wick__text_" #id "\n"                                                  \
            "wick__text_" #id ":\n.incbin \"" WICK__KERNELS "/" file "\"\n.byte 0\n.popsection\n");                    \
    extern const char wick__text_##id[] __attribute__((visibility("hidden")));
#define GPU_MODULE(name) TEXT(name##_hip, #name ".hip")
#include "kernels/modules.def"
#undef GPU_MODULE
#include "kernel_headers.def"
#undef TEXT

const struct wick__source wick__store_sources[] = {
#define GPU_MODULE(module) {.name = #module ".hip", .text = wick__text_##module##_hip},
#include "kernels/modules.def"
#undef GPU_MODULE
#define TEXT(id, file) {.name = file, .text = wick__text_##id},
#include "kernel_headers.def"
#undef TEXT
};
enum { SOURCES = sizeof wick__store_sources / sizeof wick__store_sources[0] };
const int wick__store_source_count = SOURCES;

static int find(const char *name, size_t length) {
    for (int i = 0; i < SOURCES; i++)
        if (strlen(wick__store_sources[i].name) == length && memcmp(wick__store_sources[i].name, name, length) == 0)
            return i;
    return -1;
}

/* Adds a source and what it includes, each once, in the order they are met. */
static void add(struct wick__hash *hash, int i, bool seen[SOURCES]) {
    static const char include[] = "#include \"";
    const char *text = wick__store_sources[i].text;
    char line[128];
    if (seen[i]) return;
    seen[i] = true;
    int n = snprintf(line, sizeof line, "%s\n%zu\n", wick__store_sources[i].name, strlen(text));
    wick__hash_add(hash, line, (size_t)n);
    wick__hash_add(hash, text, strlen(text));
    for (const char *at = text; at; at = strchr(at, '\n')) {
        if (*at == '\n') at++;
        if (strncmp(at, include, sizeof include - 1) != 0) continue;
        const char *name = at + sizeof include - 1;
        int found = find(name, strcspn(name, "\"\n"));
        if (found >= 0) add(hash, found, seen);
    }
}

void wick__store_source_key(enum wick__gpu_module module, unsigned char key[WICK__HASH]) {
    struct wick__hash hash;
    bool seen[SOURCES] = {false};
    wick__hash_begin(&hash);
    add(&hash, (int)module, seen);
    wick__hash_end(&hash, key);
}
