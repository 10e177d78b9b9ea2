/* differential HOST TARGET=OBJECT...: runs every function of generate.py on this machine, from the
 * shared library HOST, and on simulated GPUs, from code objects, on the same random inputs. All results must be equal
 * bit for bit. With SEED in the environment the inputs are others. */
#include <dlfcn.h>

#include "gfxsim/gfxsim.h"
#include "tests/test.h"

enum { BLOCK = 96, BLOCKS = 2, WORDS = 8, TABLE = 4096, GLOBALS = 16 }; /* as in prelude.h */

struct function {
    const char *name, *kind;
    void (*run)(const u64 *in, u64 *out, const u8 *table, u32 *g);
};

static u64 state;
static u64 random_u64(void) {
    state += 0x9e3779b97f4a7c15;
    u64 x = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* Random bits, small numbers, and the edges of floats: zeros, denormals, ones, the largest, infinities, NaNs. */
static u64 word(void) {
    static const u64 doubles[] = {0,
                                  1,
                                  0x000fffffffffffff,
                                  0x0010000000000000,
                                  0x3ff0000000000000,
                                  0x7fefffffffffffff,
                                  0x7ff0000000000000,
                                  0x7ff8000000000000,
                                  0x41dfffffffc00000,
                                  0x43e0000000000000};
    static const u32 singles[] = {0,          1,          0x007fffff, 0x00800000, 0x3f800000,
                                  0x7f7fffff, 0x7f800000, 0x7fc00000, 0x4effffff, 0x4f000000};
    static const u16 halves[] = {0, 1, 0x03ff, 0x0400, 0x3c00, 0x7bff, 0x7c00, 0x7e00, 0x5640, 0x3800};
    u64 r = random_u64(), x = 0;
    switch (r % 8) {
    case 0: return r >> 60;
    case 1: return -(r >> 59);
    case 2: return doubles[r / 8 % 10] | r >> 63 << 63;
    case 3:
        for (int i = 0; i < 2; i++, r >>= 8) x = x << 32 | singles[r / 8 % 10] | (u32)(r >> 63 << 31);
        return x;
    case 4:
        for (int i = 0; i < 4; i++, r >>= 8) x = x << 16 | halves[r / 8 % 10] | (r >> 40 & 1) << 15;
        return x;
    default: return random_u64();
    }
}

/* Of one function on one target; how many words differ. */
static unsigned compare(struct sim_code *code, const struct function *f, const u64 *in, const u8 *table, u64 *out,
                        u32 *g) {
    static u64 want[BLOCK * BLOCKS * WORDS];
    u32 want_g[GLOBALS];
    char name[64];
    unsigned bad = 0;
    const void *args[] = {in, out, table, g};
    snprintf(name, sizeof name, "%s_kernel", f->name);
    const struct sim_kernel *kernel = sim_code_kernel(code, name);
    if (!kernel) {
        test_result(false, __FILE__, __LINE__, f->name);
        printf(" is missing on %s\n", sim_target_name(code->target));
        return 1;
    }
    for (unsigned i = 0; i < GLOBALS; i++) want_g[i] = g[i] = i * 0x01020304;
    memset(out, 0x5a, sizeof want);
    memset(want, 0x5a, sizeof want);
    f->run(in, want, table, want_g);
    struct sim_launch launch = {
        .kernel = kernel, .grid = {BLOCKS, 1, 1}, .block = {BLOCK, 1, 1}, .args = args, .nbytes = sizeof args};
    int result = sim_launch_run(&launch);
    test_checks++;
    if (result) {
        test_result(false, __FILE__, __LINE__, f->name);
        printf(" (%s) on %s ended with %d\n", f->kind, sim_target_name(code->target), result);
        return 1;
    }
    for (unsigned i = 0; i < BLOCK * BLOCKS * WORDS; i++)
        if (out[i] != want[i] && bad++ == 0) {
            test_result(false, __FILE__, __LINE__, f->name);
            printf(" (%s) on %s: thread %u, word %u is 0x%" PRIx64 ", should be 0x%" PRIx64, f->kind,
                   sim_target_name(code->target), i / WORDS, i % WORDS, out[i], want[i]);
        }
    for (unsigned i = 0; i < GLOBALS; i++)
        if (g[i] != want_g[i] && bad++ == 0) {
            test_result(false, __FILE__, __LINE__, f->name);
            printf(" (%s) on %s: g[%u] is 0x%x, should be 0x%x", f->kind, sim_target_name(code->target), i, g[i],
                   want_g[i]);
        }
    if (bad) printf("; %u words differ\n", bad);
    return bad;
}

static void *read_file(const char *path, size_t *n) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) return NULL;
    *n = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*n);
    if (bytes && fread(bytes, 1, *n, file) != *n) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

int main(int argc, char **argv) {
    const char *seed = getenv("SEED");
    state = seed ? strtoull(seed, NULL, 0) : 1;
    sim_settings_read();
    void *host = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    const struct function *functions = host ? dlsym(host, "host_functions") : NULL;
    u64 *in = sim_memory_new(BLOCK * BLOCKS * WORDS * 8, SIM_DEFINED);
    u64 *out = sim_memory_new(BLOCK * BLOCKS * WORDS * 8, SIM_DEFINED);
    u8 *table = sim_memory_new(TABLE, SIM_DEFINED);
    u32 *g = sim_memory_new(GLOBALS * sizeof *g, SIM_DEFINED);
    if (!functions || !in || !out || !table || !g) {
        printf("differential: %s\n", host ? "no memory" : dlerror());
        return 1;
    }
    for (unsigned i = 0; i < BLOCK * BLOCKS * WORDS; i++) in[i] = word();
    for (unsigned i = 0; i < TABLE; i++) table[i] = (u8)(random_u64() >> 56);
    for (int i = 2; i < argc; i++) {
        char target[32] = "", why[256] = "cannot be read";
        const char *path = strchr(argv[i], '=');
        if (path) snprintf(target, sizeof target, "%.*s", (int)(path - argv[i]), argv[i]);
        size_t n = 0;
        void *image = path ? read_file(path + 1, &n) : NULL;
        struct sim_code *code = image ? sim_code_load(sim_target_of(target), image, n, why) : NULL;
        if (!code) {
            test_result(false, __FILE__, __LINE__, argv[i]);
            printf(": %s\n", why);
        } else {
            unsigned differ = 0, count = 0;
            for (const struct function *f = functions; f->name; f++, count++)
                if (compare(code, f, in, table, out, g)) differ++;
            printf("%s: %u functions, %u differ\n", target, count, differ);
            sim_code_unload(code);
        }
        free(image);
    }
    return test_end();
}
