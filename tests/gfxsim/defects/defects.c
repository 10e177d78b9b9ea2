/* Kernels with a planted defect: each must be caught, with what is said of it; its twin without the defect must run to
 * its end with no finding. Arguments: the code objects of defects.hip, as gfx942=FILE ... */
#include "gfxsim/gfxsim.h"
#include "tests/test.h"

#include <unistd.h>

enum { N = 512 };
enum other { PLAIN, FREED, UNWRITTEN, READ_ONLY };
static const struct pair {
    const char *name;
    enum other other;
    int code;
    const char *says; /* in the finding */
} pairs[] = {
    {"read_outside", PLAIN, 700, "outside an allocation: a read of 4 bytes at "},
    {"write_outside", PLAIN, 700, "outside an allocation: a write of 4 bytes at "},
    {"read_far_outside", PLAIN, 700, "outside an allocation: a read of 4 bytes at "},
    {"byte_outside", PLAIN, 700, "outside an allocation: a read of 1 byte at "},
    {"vector_outside", PLAIN, 700, "outside an allocation: a read of 16 bytes at "},
    {"after_free", FREED, 700, "use after free: a read of 4 bytes at "},
    {"never_written", UNWRITTEN, 719, "memory never written: a read of 4 bytes at "},
    {"read_only", READ_ONLY, 700, "read-only memory: a write of 4 bytes at "},
    {"misaligned_atomic", PLAIN, 700, "misaligned: an atomic on 8 bytes at "},
    {"undefined_address", PLAIN, 719, "an address is taken from a register never written"},
    {"lds_never_written", PLAIN, 719, "LDS never written: a read of 4 bytes at byte 1020"},
    {"lds_outside", PLAIN, 700, "outside LDS: a write of 4 bytes at byte "},
    {"lds_misaligned_atomic", PLAIN, 700, "misaligned: an atomic on 4 bytes at byte "},
    {"lds_write_read", PLAIN, 719, "race in LDS: "},
    {"lds_read_write", PLAIN, 719, "race in LDS: "},
    {"lds_write_write", PLAIN, 719, "race in LDS: a write of 4 bytes at byte "},
    {"lds_bytes", PLAIN, 719, "race in LDS: a write of 1 byte at byte "},
    {"lds_atomic_read", PLAIN, 719, "race in LDS: "},
    {"block_write_read", PLAIN, 719, "race between blocks: "},
    {"block_read_write", PLAIN, 719, "race between blocks: "},
    {"block_write_write", PLAIN, 719, "race between blocks: a write of 4 bytes at "},
    {"block_bytes", PLAIN, 719, "race between blocks: a write of 1 byte at "},
    {"block_volatile", PLAIN, 719, "race between blocks: a write of 4 bytes at "},
    {"block_atomic_read", PLAIN, 719, "race between blocks: "},
    {"block_last", PLAIN, 719, "race between blocks: a read of 4 bytes at "},
    {"block_exchange", PLAIN, 719, "race between blocks: a write of 4 bytes at "},
    {"inactive_lane", PLAIN, 719, "inactive lane: "},
    {"scratch_outside", PLAIN, 700, "outside the scratch memory of a lane: a read of 4 bytes at byte "},
};

static char report[64];

static void read_report(char *text, size_t size) {
    FILE *file = fopen(report, "r");
    size_t n = file ? fread(text, 1, size - 1, file) : 0;
    text[n] = 0;
    if (file) fclose(file);
    remove(report);
}

/* What was reported is in text. */
static int launch(const struct sim_kernel *kernel, void *args[3], char *text, size_t size) {
    static u32 serial;
    struct sim_launch launch = {.kernel = kernel,
                                .grid = {2, 1, 1},
                                .block = {256, 1, 1},
                                .args = args,
                                .nbytes = 3 * sizeof *args,
                                .serial = ++serial};
    int status = sim_launch_run(&launch);
    read_report(text, size);
    return status;
}

/* Runs one of the pair in memory of its own. */
static int run(struct sim_code *code, const struct pair *pair, bool bad, char *text, size_t size) {
    char name[64];
    snprintf(name, sizeof name, "%s_%s", pair->name, bad ? "bad" : "good");
    const struct sim_kernel *kernel = sim_code_kernel(code, name);
    u32 *out = sim_memory_new(N * sizeof *out, SIM_DEFINED), *in = sim_memory_new(N * sizeof *in, SIM_DEFINED);
    u32 *other = sim_memory_new((N + 1) * sizeof *other, pair->other == UNWRITTEN   ? SIM_UNDEFINED
                                                         : pair->other == READ_ONLY ? SIM_READ_ONLY
                                                                                    : SIM_DEFINED);
    CHECK(kernel && out && in && other);
    if (!kernel || !out || !in || !other) return -1;
    memset(in, 0, N * sizeof *in);
    memset(out, 0, N * sizeof *out);
    memset(other, 0, (N + 1) * sizeof *other);
    if (pair->other == FREED) sim_memory_free(other);
    void *args[3] = {out, in, other};
    int status = launch(kernel, args, text, size);
    sim_memory_free(out);
    sim_memory_free(in);
    if (pair->other != FREED) sim_memory_free(other);
    return status;
}

/* GFXSIM_CHECK=isa: what the kernel does is not a finding, and every step-th thread gets a 0. */
static void check_zeros(struct sim_code *code, const char *name, unsigned step) {
    char text[4096];
    const struct sim_kernel *kernel = sim_code_kernel(code, name);
    u32 *out = sim_memory_new(N * sizeof *out, SIM_DEFINED), *in = sim_memory_new(N * sizeof *in, SIM_DEFINED);
    CHECK(kernel && out && in);
    if (!kernel || !out || !in) return;
    for (unsigned i = 0; i < N; i++) in[i] = out[i] = 7;
    void *args[3] = {out, in, in};
    sim_settings.isa = true;
    int status = launch(kernel, args, text, sizeof text);
    sim_settings.isa = false;
    TEST_CHECK_(status == 0 && !*text, "%s: %s by the ISA: status %d\n%s", sim_target_name(code->target), name, status,
                text);
    for (unsigned i = 0; i < N; i++) CHECK_INT(out[i], i % step == step - 1 ? 0 : 7);
    sim_memory_free(out);
    sim_memory_free(in);
}

/* GFXSIM_TOLERATE: a doubt is reported once for each launch of a kernel that it has, and is no finding. */
static void check_tolerated(struct sim_code *code, const char *target) {
    static const char *const lists[] = {"other,lds_*_bad,block_*,never_written_bad,inactive_lane_?ad,read_outside_bad,"
                                        "undefined_address_bad",
                                        "lds_*_good,,never_written"};
    static char text[4096];
    for (unsigned k = 0; k < sizeof lists / sizeof *lists; k++) {
        sim_settings.tolerate = lists[k];
        for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i += k ? 5 : 1) {
            const struct pair *pair = &pairs[i];
            bool doubt = pair->code == 719 && strcmp(pair->name, "undefined_address") != 0;
            long before = sim_findings;
            int status = run(code, pair, true, text, sizeof text);
            const char *first = strstr(text, "tolerated: ");
            bool tolerated = k == 0 && doubt;
            TEST_CHECK_(status == (tolerated ? 0 : pair->code) && sim_findings == before + !tolerated,
                        "%s: %s with GFXSIM_TOLERATE=%s: status %d, %ld findings\n%s", target, pair->name, lists[k],
                        status, sim_findings - before, text);
            TEST_CHECK_(strstr(text, pair->says) && (first != NULL) == tolerated, "%s: %s with GFXSIM_TOLERATE=%s\n%s",
                        target, pair->name, lists[k], text);
            TEST_CHECK_(!first || !strstr(first + 1, "tolerated: "), "%s: %s is reported twice\n%s", target, pair->name,
                        text);
        }
    }
    sim_settings.tolerate = NULL;
}

static void test_target(const char *target, const char *path) {
    static char image[1 << 20], text[4096];
    char why[256];
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    if (!file) return;
    size_t nbytes = fread(image, 1, sizeof image, file);
    fclose(file);
    struct sim_code *code = sim_code_load(sim_target_of(target), image, nbytes, why);
    CHECK(code != NULL);
    if (!code) return;
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        for (int bad = 0; bad < 2; bad++) {
            for (u64 seed = 0; seed < 4; seed++) {
                sim_settings.seed = seed;
                int status = run(code, &pairs[i], bad, text, sizeof text);
                TEST_CHECK_(status == (bad ? pairs[i].code : 0), "%s: %s%s: status %d, seed %u\n%s", target,
                            pairs[i].name, bad ? "" : " without its defect", status, (unsigned)seed, text);
                if (bad)
                    TEST_CHECK_(strstr(text, pairs[i].says) && strstr(text, pairs[i].name) && strstr(text, "lane "),
                                "%s: %s should say \"%s\", says\n%s", target, pairs[i].name, pairs[i].says, text);
                else
                    TEST_CHECK_(!*text, "%s: %s without its defect says\n%s", target, pairs[i].name, text);
            }
        }
    }
    check_tolerated(code, target);
    check_zeros(code, "lds_outside_bad", 1);
    check_zeros(code, "inactive_lane_bad", 2);
    sim_code_unload(code);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        printf("no code objects: the kernels could not be built\n");
        return 77;
    }
    snprintf(report, sizeof report, "/tmp/gfxsim-defects-%ld", (long)getpid());
    sim_settings_read();
    sim_settings.check = true;
    sim_settings.report = report;
    if (!freopen("/dev/null", "w", stderr)) return 1; /* findings are read from the report */
    for (int i = 1; i < argc; i++) {
        char target[32];
        const char *path = strchr(argv[i], '=');
        CHECK(path && path - argv[i] < 32);
        if (!path || path - argv[i] >= 32) continue;
        snprintf(target, sizeof target, "%.*s", (int)(path - argv[i]), argv[i]);
        test_target(target, path + 1);
    }
    return test_end();
}
