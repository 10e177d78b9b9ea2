/* Code objects: what LLVM's compiler and linker make of kernels.cl, loaded and read back; bundles of them; and the same
 * files damaged in every way, which must be refused or loaded but never crash. Skipped without clang-19. */
#include "gfxsim/code.h"
#include "tests/test.h"

#include <unistd.h>

static const char source[] = "tests/gfxsim/decode/kernels.cl";

/* The bytes of the code object for a processor; they belong to the caller. */
static u8 *compile(const char *cpu, const char *options, size_t *nbytes) {
    char path[] = "/tmp/gfxsim-test-XXXXXX", command[512];
    int file = mkstemp(path);
    if (file < 0) exit(2);
    close(file);
    snprintf(command, sizeof command,
             "clang-19 -x cl -cl-std=CL2.0 -O1 -g -nogpulib --target=amdgcn-amd-amdhsa -mcpu=%s %s %s -o %s 2>&1 | "
             "grep -v warning >&2",
             cpu, options, source, path);
    int status = system(command);
    (void)status; /* grep's */
    FILE *object = fopen(path, "rb");
    u8 *bytes = malloc(1 << 20);
    *nbytes = object && bytes ? fread(bytes, 1, 1 << 20, object) : 0;
    if (object) fclose(object);
    unlink(path);
    CHECK(*nbytes > 1000);
    return bytes;
}

static const struct sim_symbol *find_global(const struct sim_code *code, const char *name) {
    const struct sim_symbol *global = code->globals;
    while (global && strcmp(global->name, name)) global = global->next;
    return global;
}
static int state_of(const void *at) { return sim_shadow[(const u8 *)at - sim_range]; }

static void check_globals(const struct sim_code *code) {
    const struct sim_symbol *numbers = find_global(code, "numbers"), *middle = find_global(code, "middle");
    const struct sim_symbol *cleared = find_global(code, "cleared");
    CHECK(numbers && middle && cleared);
    if (!numbers || !middle || !cleared) return;
    CHECK_INT(numbers->nbytes, 20);
    CHECK_INT(((const int *)numbers->at)[4], 50);
    CHECK_INT(middle->nbytes, 8);
    CHECK(*(int **)middle->at == (int *)numbers->at + 2);
    CHECK_INT(cleared->nbytes, 1000);
    CHECK_INT(state_of(numbers->at), SIM_DEFINED);
    CHECK_INT(state_of((char *)cleared->at + 999), SIM_DEFINED);
    for (unsigned i = 0; i < 1000; i++) CHECK_INT(((const char *)cleared->at)[i], 0);
    CHECK(!find_global(code, "first.kd"));
    CHECK(!find_global(code, "first"));
}

static void check_kernels(struct sim_code *code, unsigned version, unsigned wave) {
    const struct sim_kernel *first = sim_code_kernel(code, "first"), *second = sim_code_kernel(code, "second");
    CHECK(first && second && !sim_code_kernel(code, "third"));
    if (!first || !second) return;
    CHECK(first->code == code);
    CHECK_INT(first->lds, 0);
    CHECK_INT(second->lds, 300);
    CHECK_INT(first->scratch, 0);
    CHECK(second->scratch >= 160);
    CHECK_INT(first->kernarg, 24);
    CHECK_INT(first->explicit_args, 24);
    CHECK_INT(first->n_args, 3);
    CHECK(first->args[0].offset == 0 && first->args[0].size == 8);
    CHECK(first->args[1].offset == 8 && first->args[1].size == 2);
    CHECK(first->args[2].offset == 16 && first->args[2].size == 8);
    CHECK_INT(second->n_args, 2);
    CHECK_INT(second->explicit_args, 12);
    CHECK_INT(first->max_threads, 192);
    CHECK_INT(second->max_threads, 256);
    CHECK_INT(first->wave, wave);
    CHECK_INT(first->code_object, version);
    CHECK(!first->dynamic_stack);
    CHECK(first->n_vgprs >= 2 && first->n_vgprs <= 64);
    CHECK_INT(!!first->n_arch_vgprs, !!(code->target & SIM_GFX9));
    CHECK(first->entry != second->entry && state_of((void *)(uintptr_t)first->entry) == SIM_READ_ONLY);
    CHECK_INT(first->n_hidden, 0);
    /* By AMDGPUUsage: version 5 has block counts first and the group sizes from byte 12 on; 4 begins with the offsets.
     */
    CHECK(second->n_hidden > 3);
    for (unsigned i = 0; i < second->n_hidden; i++) {
        const struct sim_hidden *hidden = &second->hidden[i];
        if (hidden->kind == SIM_BLOCK_COUNT_Y) CHECK(hidden->offset == 16 + 4 && hidden->size == 4);
        if (hidden->kind == SIM_GROUP_SIZE_X) CHECK(hidden->offset == 16 + 12 && hidden->size == 2);
        if (hidden->kind == SIM_REMAINDER_Z) CHECK(hidden->offset == 16 + 22 && hidden->size == 2);
        if (hidden->kind == SIM_GLOBAL_OFFSET_X)
            CHECK(hidden->offset == 16 + (version > 4 ? 40 : 0) && hidden->size == 8);
    }
    CHECK_INT(second->hidden[0].kind, version > 4 ? SIM_BLOCK_COUNT_X : SIM_GLOBAL_OFFSET_X);
    CHECK(second->kernarg >= 16 + 40);

    char why[256], text[512], where[64];
    CHECK(sim_code_text(code, first->entry, text, why) >= 4);
    CHECK(!sim_code_inst(code, code->text + code->text_bytes, why));
    CHECK(!sim_code_inst(code, code->text - 4, why));
    CHECK(!sim_code_inst(code, code->text + 2, why));
    const struct sim_inst *inst = sim_code_inst(code, first->entry, why);
    CHECK(inst && inst == sim_code_inst(code, first->entry, why) && inst->pc == first->entry);
    sim_code_line(code, first->entry, where, sizeof where);
    if (system("command -v llvm-symbolizer-19 >/dev/null") == 0) CHECK(!strncmp(where, "kernels.cl:", 11));
}

static struct sim_code *load(enum sim_target target, const u8 *image, size_t nbytes) {
    char why[256] = "";
    struct sim_code *code = sim_code_load(target, image, nbytes, why);
    if (!code) printf("%s\n", why);
    CHECK(code);
    return code;
}

static void targets(void) {
    static const struct {
        const char *cpu, *options;
        enum sim_target target;
        unsigned version, wave;
    } cases[] = {
        {"gfx90a", "-mcode-object-version=4", SIM_GFX90A, 4, 64},
        {"gfx90a", "-mcode-object-version=5 -mcpu=gfx90a:xnack+", SIM_GFX90A, 5, 64},
        {"gfx942", "-mcode-object-version=5", SIM_GFX942, 5, 64},
        {"gfx942", "-mcode-object-version=6", SIM_GFX942, 6, 64},
        {"gfx1030", "-mcode-object-version=4", SIM_GFX1030, 4, 32},
        {"gfx1030", "-mcode-object-version=5 -mwavefrontsize64", SIM_GFX1030, 5, 64},
        {"gfx1100", "-mcode-object-version=5", SIM_GFX1100, 5, 32},
        {"gfx1151", "-mcode-object-version=5", SIM_GFX1100, 5, 32},
        {"gfx11-generic", "-mcode-object-version=6", SIM_GFX1100, 6, 32},
        {"gfx1201", "-mcode-object-version=5", SIM_GFX1201, 5, 32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t nbytes;
        char why[256];
        u8 *image = compile(cases[i].cpu, cases[i].options, &nbytes);
        struct sim_code *code = load(cases[i].target, image, nbytes);
        if (code) {
            check_globals(code);
            check_kernels(code, cases[i].version, cases[i].wave);
        }
        sim_code_unload(code);
        code = load(cases[i].target, image, SIZE_MAX); /* the headers tell the size */
        CHECK(code && code->elf_bytes == nbytes);
        sim_code_unload(code);
        enum sim_target another = cases[i].target == SIM_GFX942 ? SIM_GFX90A : SIM_GFX942;
        CHECK(!sim_code_load(another, image, nbytes, why) && strstr(why, "another GPU"));
        free(image);
    }
}

/* Of two compilations linked together each has its own note. */
static void notes(void) {
    static const char *const options[] = {"-mcode-object-version=5 tests/gfxsim/decode/more.cl",
                                          "-mcode-object-version=4 tests/gfxsim/decode/more.cl"};
    for (int i = 0; i < 2; i++) {
        size_t nbytes;
        u8 *image = compile("gfx1100", options[i], &nbytes);
        struct sim_code *code = load(SIM_GFX1100, image, nbytes);
        const struct sim_kernel *first = code ? sim_code_kernel(code, "first") : NULL,
                                *third = code ? sim_code_kernel(code, "third") : NULL;
        CHECK(first && third && sim_code_kernel(code, "second"));
        if (first && third) {
            CHECK_INT(first->n_args, 3);
            CHECK_INT(third->n_args, 2);
            CHECK_INT(third->explicit_args, 16);
            CHECK(third->entry != first->entry);
        }
        sim_code_unload(code);
        free(image);
    }
}

/* ---- bundles ---- */

struct bundle {
    u8 *bytes;
    size_t nbytes;
};

static void append(struct bundle *bundle, const void *bytes, size_t n) {
    bundle->bytes = realloc(bundle->bytes, bundle->nbytes + n + 1);
    if (!bundle->bytes) exit(2);
    memcpy(bundle->bytes + bundle->nbytes, bytes, n);
    bundle->nbytes += n;
}
static void append64(struct bundle *bundle, u64 value) { append(bundle, &value, sizeof value); }

/* As clang's documentation has it: the entries' places count from the bundle's start. */
static struct bundle make_bundle(const char *const ids[], const u8 *const images[], const size_t sizes[], unsigned n) {
    struct bundle bundle = {0};
    append(&bundle, "__CLANG_OFFLOAD_BUNDLE__", 24);
    append64(&bundle, n);
    u64 at = 4096;
    for (unsigned i = 0; i < n; i++) {
        append64(&bundle, at);
        append64(&bundle, sizes[i]);
        append64(&bundle, strlen(ids[i]));
        append(&bundle, ids[i], strlen(ids[i]));
        at += sizes[i];
    }
    static const u8 zeros[4096];
    append(&bundle, zeros, 4096 - bundle.nbytes);
    for (unsigned i = 0; i < n; i++) append(&bundle, images[i], sizes[i]);
    return bundle;
}

static void bundles(void) {
    size_t a_bytes, b_bytes;
    u8 *a = compile("gfx90a", "-mcode-object-version=4", &a_bytes),
       *b = compile("gfx90a", "-mcode-object-version=5", &b_bytes);
    char why[256];
    static const char *const both[] = {"host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+",
                                       "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"};
    struct bundle bundle = make_bundle(both, (const u8 *[]){a, a, b}, (size_t[]){0, a_bytes, b_bytes}, 3);
    struct sim_code *code = load(SIM_GFX90A, bundle.bytes, bundle.nbytes);
    CHECK(code && code->kernels->code_object == 5); /* xnack is off on the card */
    sim_code_unload(code);
    code = load(SIM_GFX90A, bundle.bytes, SIZE_MAX);
    sim_code_unload(code);
    CHECK(!sim_code_load(SIM_GFX942, bundle.bytes, bundle.nbytes, why));
    CHECK_TEXT(why, "the offload bundle has no code for gfx942");
    CHECK(!sim_code_load(SIM_GFX90A, bundle.bytes, 50, why));
    free(bundle.bytes);
    CHECK(!sim_code_load(SIM_GFX90A, "CCOB....", 8, why) && strstr(why, "compressed"));
    CHECK(!sim_code_load(SIM_GFX90A, "", 0, why));
    free(a);
    free(b);
}

/* ---- damage ---- */

static u64 random_state = 88172645463325252;
static u64 random64(void) { /* xorshift */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/* Loads a copy that is exactly as large as it says, for the sanitizer, and reads all that was loaded. */
static void load_damaged(const u8 *image, size_t nbytes) {
    char why[256] = "";
    u8 *copy = malloc(nbytes + 1);
    if (!copy) exit(2);
    u8 *exact = realloc(copy, nbytes ? nbytes : 1);
    memcpy(exact, image, nbytes);
    struct sim_code *code = sim_code_load(SIM_GFX942, exact, nbytes, why);
    free(exact);
    CHECK(code || *why);
    unsigned long sum = 0;
    for (const struct sim_kernel *kernel = code ? code->kernels : NULL; kernel; kernel = kernel->next) {
        sum += strlen(kernel->name) + *(const u32 *)(uintptr_t)kernel->entry;
        for (unsigned i = 0; i < kernel->n_args; i++) sum += kernel->args[i].size;
    }
    for (const struct sim_symbol *global = code ? code->globals : NULL; global; global = global->next) {
        sum += strlen(global->name);
        if (global->nbytes) sum += ((const u8 *)global->at)[global->nbytes - 1];
    }
    CHECK(sum != 1);
    sim_code_unload(code);
}

static void damage(void) {
    size_t nbytes;
    u8 *image = compile("gfx942", "-mcode-object-version=5 -g0", &nbytes);
    for (size_t n = 0; n < nbytes; n += n < 1024 ? 1 : 61) load_damaged(image, n);
    static const u64 numbers[] = {0,          1,          0x7f,         0xff,         0xffff,
                                  0x7fffffff, 0xffffffff, (u64)1 << 39, (u64)1 << 63, ~(u64)0};
    /* every 4 bytes of the headers become each of these numbers; then bytes anywhere at random */
    for (size_t at = 0; at + 8 <= nbytes; at += 4) {
        bool header = at < 640 || at > nbytes - 64 * 12;
        if (!header) continue;
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            u64 before;
            memcpy(&before, image + at, 8);
            memcpy(image + at, &numbers[i], i < 4 ? 4 : 8);
            load_damaged(image, nbytes);
            memcpy(image + at, &before, 8);
        }
    }
    u8 *copy = malloc(nbytes);
    for (unsigned round = 0; copy && round < 2000; round++) {
        memcpy(copy, image, nbytes);
        for (u64 n = 1 + random64() % 4; n; n--) copy[random64() % (round % 2 ? nbytes : 2048)] = (u8)random64();
        load_damaged(copy, nbytes);
    }
    free(copy);
    free(image);
}

int main(void) {
    if (system("command -v clang-19 >/dev/null && command -v ld.lld-19 >/dev/null")) return 77;
    targets();
    notes();
    bundles();
    damage();
    return test_end();
}
