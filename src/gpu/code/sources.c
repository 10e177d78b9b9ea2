/* The text of the kernels, as it lies in kernels/, compressed inside the library (tools/pack-texts): what the run-time
 * compilers get, and what the keys of packs and cache entries are made of. */
#include "gpu/code/store.h"

#include "kernel_texts.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

__asm__(".pushsection .rodata,\"a\"\n"
        ".globl wick__texts, wick__texts_end\n.hidden wick__texts, wick__texts_end\n"
        "wick__texts:\n.incbin \"" WICK__TEXTS_FILE "\"\nwick__texts_end:\n.popsection\n");
extern const unsigned char wick__texts[] __attribute__((visibility("hidden")));
extern const unsigned char wick__texts_end[] __attribute__((visibility("hidden")));

static struct wick__source sources[] = {
#define GPU_MODULE(module) {.name = #module ".hip", .text = ""},
#include "kernels/modules.def"
#undef GPU_MODULE
#define TEXT(file) {.name = file, .text = ""},
#include "kernel_headers.def"
#undef TEXT
};
enum { SOURCES = sizeof sources / sizeof sources[0] };
const int wick__store_source_count = SOURCES;

static int find(const char *name, size_t length) {
    for (int i = 0; i < SOURCES; i++)
        if (strlen(sources[i].name) == length && memcmp(sources[i].name, name, length) == 0) return i;
    return -1;
}

/* zlib's memory: what inflating in one piece takes, so that it can't fail. */
static void *take(void *context, unsigned n, unsigned size) {
    static _Alignas(64) unsigned char memory[1 << 16];
    static size_t taken;
    size_t at = taken, nbytes = ((size_t)n * size + 63) & ~(size_t)63;
    (void)context;
    if (nbytes > sizeof memory - at) return NULL;
    taken += nbytes;
    return memory + at;
}

static void give_back(void *context, void *memory) { (void)context, (void)memory; }

static void unpack(void) {
    static char texts[WICK__TEXTS];
    enum { GZIP = 16 };
    z_stream stream = {.zalloc = take,
                       .zfree = give_back,
                       .next_in = (unsigned char *)(uintptr_t)wick__texts,
                       .avail_in = (unsigned)(wick__texts_end - wick__texts),
                       .next_out = (unsigned char *)texts,
                       .avail_out = sizeof texts};
    if (inflateInit2(&stream, GZIP + MAX_WBITS) != Z_OK) return;
    bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    for (const char *at = texts; whole && at < texts + sizeof texts;) {
        const char *text = at + strlen(at) + 1;
        int i = find(at, strlen(at));
        if (i >= 0) sources[i].text = text;
        at = text + strlen(text) + 1;
    }
}

const struct wick__source *wick__store_source(int i) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, unpack);
    return &sources[i];
}

/* Adds a source and what it includes, each once, in the order they are met. */
static void add(struct wick__hash *hash, int i, bool seen[SOURCES]) {
    static const char include[] = "#include \"";
    const struct wick__source *source = wick__store_source(i);
    const char *text = source->text;
    char line[128];
    if (seen[i]) return;
    seen[i] = true;
    int n = snprintf(line, sizeof line, "%s\n%zu\n", source->name, strlen(text));
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
