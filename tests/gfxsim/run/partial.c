/* Launches whose last blocks are smaller. Arguments: gfx942=OBJECT ..., of partial.hip; then --uniform, and objects of
 * the same kernel compiled for blocks of one size. */
#include "run.h"

static u32 least(u32 a, u32 b) { return a < b ? a : b; }

/* work threads by blocks of so many. */
static int launch_partial(struct sim_code *code, u32 *to, const u32 work[3], const u32 block[3]) {
    static u32 serial;
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, u32 *, to);
    ARGUMENT(&arguments, u32, work[0]);
    ARGUMENT(&arguments, u32, work[1]);
    struct sim_launch launch = {.kernel = sim_code_kernel(code, "partial"), .args = arguments.bytes};
    launch.nbytes = arguments.n;
    launch.serial = ++serial;
    for (int i = 0; i < 3; i++) {
        launch.block[i] = block[i];
        launch.rest[i] = work[i] % block[i];
        launch.grid[i] = (work[i] + block[i] - 1) / block[i];
    }
    TEST_CHECK_(launch.kernel, "there is no kernel %s", "partial");
    return launch.kernel ? sim_launch_run(&launch) : -1;
}

static void test_shape(struct sim_code *code, const u32 work[3], const u32 block[3]) {
    const u32 n = work[0] * work[1] * work[2];
    u32 *to = device_copy(NULL, 4 * n * sizeof *to);
    int status = launch_partial(code, to, work, block);
    const char *target = sim_target_name(code->target);
    TEST_CHECK_(status == 0, "partial on %s, %u x %u x %u: %d", target, work[0], work[1], work[2], status);
    for (u32 i = 0; i < n && status == 0; i++) {
        u32 at[3] = {i % work[0], i / work[0] % work[1], i / work[0] / work[1]}, size[3];
        for (int k = 0; k < 3; k++) size[k] = least(block[k], work[k] - at[k] / block[k] * block[k]);
        const u32 *is = to + (size_t)4 * i;
        TEST_CHECK_(is[0] == size[0] * size[1] * size[2] && is[1] == size[0] && is[2] == size[1] && is[3] == size[2],
                    "partial on %s, thread %u %u %u: %u threads, %u x %u x %u", target, at[0], at[1], at[2], is[0],
                    is[1], is[2], is[3]);
    }
    sim_memory_free(to);
}

int main(int argc, char **argv) {
    static const struct {
        u32 work[3], block[3];
    } shapes[] = {{{648, 1, 1}, {256, 1, 1}},  /* whole, whole, 136 */
                  {{512, 1, 1}, {256, 1, 1}},  /* all whole */
                  {{1025, 1, 1}, {512, 1, 1}}, /* one thread */
                  {{37, 13, 7}, {16, 4, 4}},   /* smaller in all three */
                  {{16, 13, 4}, {16, 4, 2}},   /* in the middle one */
                  {{3, 2, 11}, {3, 2, 10}}};
    bool uniform = false;
    if (argc < 2) return 2;
    sim_settings_read();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--uniform") == 0) {
            TEST_CHECK_(sim_findings == 0, "%ld findings", sim_findings);
            uniform = true;
            if (!freopen("/dev/null", "w", stderr)) return 2;
            continue;
        }
        struct sim_code *code = load_code(argv[i]);
        for (unsigned k = 0; k < sizeof shapes / sizeof *shapes && !uniform; k++)
            for (unsigned seed = 0; seed < 3; seed++) {
                sim_settings.seed = seed;
                sim_settings.threads = 1 + seed;
                test_shape(code, shapes[k].work, shapes[k].block);
            }
        if (uniform) {
            long before = sim_findings;
            u32 *to = device_copy(NULL, 4 * 648 * sizeof *to);
            TEST_CHECK_(launch_partial(code, to, DIM(648, 1, 1), DIM(256, 1, 1)) == 719 && sim_findings == before + 1,
                        "%s is launched with a smaller block", argv[i]);
            TEST_CHECK_(launch_partial(code, to, DIM(648, 1, 1), DIM(216, 1, 1)) == 0, "%s does not run", argv[i]);
            sim_memory_free(to);
        }
        sim_code_unload(code);
    }
    return test_end();
}
