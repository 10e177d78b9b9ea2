/* What GFXSIM_RECORD writes of a launch, read back. Arguments: gfx942=OBJECT ... */
#include "run.h"

#include <unistd.h>

enum { N = 300 };

struct piece {
    u64 base;
    size_t nbytes;
    const char *before, *after;
};
struct record {
    char *all;
    u64 kernarg, loaded;
    const char *elf;
    size_t elf_bytes, n;
    struct piece pieces[64];
};

static char *read_all(const char *path, size_t *nbytes) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *nbytes = (size_t)ftell(file);
    rewind(file);
    char *all = malloc(*nbytes + 1);
    if (!all || fread(all, 1, *nbytes, file) != *nbytes) exit(2);
    all[*nbytes] = 0;
    fclose(file);
    return all;
}

static bool has(const char *head, const char *line) {
    const char *at = strstr(head, line);
    return at && at[strlen(line)] == '\n' && (at == head || at[-1] == '\n');
}
static u64 number(const char *head, const char *word, int base) {
    const char *at = strstr(head, word);
    return at ? strtoull(at + strlen(word), NULL, base) : 0;
}

/* False when there is no such file, or it is not laid out as README.md says. */
static bool read_record(const char *path, struct record *record) {
    size_t nbytes;
    memset(record, 0, sizeof *record);
    record->all = read_all(path, &nbytes);
    const char *end = record->all ? strstr(record->all, "\n\n") : NULL;
    if (!end) return false;
    const char *at = end + 2, *all_end = record->all + nbytes;
    record->kernarg = number(record->all, "\nkernarg ", 16);
    record->loaded = number(record->all, "\nloaded ", 16);
    record->elf_bytes = number(record->all, "\ncode ", 10);
    record->elf = at;
    at += record->elf_bytes;
    for (const char *line = record->all; (line = strstr(line, "\nmemory ")) && line < end && record->n < 64; line++) {
        struct piece *piece = &record->pieces[record->n++];
        char changed[8];
        unsigned long long base;
        if (sscanf(line, "\nmemory %llx %zu %7s", &base, &piece->nbytes, changed) != 3) return false;
        piece->base = base;
        piece->before = at;
        if (strcmp(changed, "changed") == 0) at += piece->nbytes;
        piece->after = at;
        at += piece->nbytes;
    }
    return at + 1 == all_end && *at == '\n';
}

static const struct piece *piece_at(const struct record *record, const void *base) {
    for (size_t i = 0; i < record->n; i++)
        if (record->pieces[i].base == (u64)(uintptr_t)base) return &record->pieces[i];
    static const struct piece none;
    return &none;
}

struct buffers {
    float *a, *b, *to;
};

static int add(struct sim_code *code, const struct buffers *buffers, u32 threads) {
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, float *, buffers->to);
    ARGUMENT(&arguments, float *, buffers->a);
    ARGUMENT(&arguments, float *, buffers->b);
    ARGUMENT(&arguments, int, N);
    return launch(code, "add", DIM(3, 1, 1), DIM(threads, 1, 1), 0, &arguments);
}

static void check_record(const struct record *record, const struct sim_code *code, const struct buffers *buffers) {
    static const char *const lines[] = {"gfxsim launch 1", "kernel add", "grid 3 1 1", "block 128 1 1", "shared 0"};
    char target[64];
    snprintf(target, sizeof target, "target %s", sim_target_name(code->target));
    TEST_CHECK_(has(record->all, target), "no \"%s\"", target);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        TEST_CHECK_(has(record->all, lines[i]), "no \"%s\"", lines[i]);
    TEST_CHECK_(memcmp(record->elf, "\177ELF", 4) == 0, "the code is not an ELF");
    TEST_CHECK_(piece_at(record, code->memory)->nbytes && record->loaded == (u64)(uintptr_t)code->memory,
                "the loaded code is not there");
    const char *arguments = piece_at(record, (const void *)(uintptr_t)record->kernarg)->before;
    TEST_CHECK_(arguments && memcmp(arguments, &(void *){buffers->to}, 8) == 0 &&
                    memcmp(arguments + 24, &(int){N}, 4) == 0,
                "the arguments are not there");
    const struct piece *a = piece_at(record, buffers->a), *to = piece_at(record, buffers->to);
    TEST_CHECK_(a->nbytes == N * sizeof(float) && a->before == a->after && memcmp(a->after, buffers->a, a->nbytes) == 0,
                "the operand is not there");
    TEST_CHECK_(to->nbytes == N * sizeof(float) && to->before != to->after, "the result is not there");
    for (size_t i = 0; i < to->nbytes; i++)
        TEST_CHECK_((u8)to->before[i] == 0xa5, "byte %zu, never written, was %x", i, (u8)to->before[i]);
    for (size_t i = 0; to->after && i < N; i++) {
        float value;
        memcpy(&value, to->after + i * sizeof value, sizeof value);
        TEST_CHECK_(value == 3.0f * (float)i + 1, "element %zu is %a", i, value);
    }
}

static void test_target(struct sim_code *code, const char *folder) {
    char path[256], second[256];
    snprintf(path, sizeof path, "%s/%s-add-1", folder, sim_target_name(code->target));
    snprintf(second, sizeof second, "%s/%s-add-2", folder, sim_target_name(code->target));
    float a[N], b[N];
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = 2.0f * (float)i + 1;
    struct buffers buffers = {device_copy(a, sizeof a), device_copy(b, sizeof b), device_copy(NULL, sizeof a)};
    struct record record;

    /* A launch that fails leaves nothing, nor one while too much memory is alive, nor one that changes nothing. */
    TEST_CHECK_(add(code, &buffers, 2048) == 719, "a block that is too large");
    void *large = sim_memory_new((size_t)257 << 20, SIM_DEFINED);
    TEST_CHECK_(add(code, &buffers, 128) == 0, "add");
    sim_memory_free(large);
    TEST_CHECK_(add(code, &buffers, 128) == 0, "add");
    TEST_CHECK_(access(path, F_OK) != 0, "%s is there", path);

    sim_memory_free(buffers.to);
    buffers.to = device_copy(NULL, sizeof a);
    TEST_CHECK_(add(code, &buffers, 128) == 0, "add");
    if (read_record(path, &record))
        check_record(&record, code, &buffers);
    else
        TEST_CHECK_(false, "%s is not there, or not whole", path);
    free(record.all);

    /* One of each kernel is enough. */
    sim_memory_free(buffers.to);
    buffers.to = device_copy(NULL, sizeof a);
    TEST_CHECK_(add(code, &buffers, 128) == 0, "add");
    TEST_CHECK_(access(second, F_OK) != 0, "%s is there", second);
    sim_memory_free(buffers.a);
    sim_memory_free(buffers.b);
    sim_memory_free(buffers.to);
    unlink(path);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    char folder[] = "/tmp/gfxsim-record-XXXXXX";
    if (!mkdtemp(folder)) return 2;
    setenv("GFXSIM_RECORD", folder, 1);
    unsetenv("GFXSIM_RECORD_EACH");
    unsetenv("GFXSIM_CHECK");
    unsetenv("GFXSIM_REPORT");
    for (int i = 1; i < argc; i++) {
        struct sim_code *code = load_code(argv[i]);
        test_target(code, folder);
        sim_code_unload(code);
    }
    rmdir(folder);
    return test_end();
}
