/* Kernels with a planted defect: each must be found, and said where. Arguments: gfx942=OBJECT ... */
#include "run.h"

#include <unistd.h>

static char report_path[] = "/tmp/gfxsim-report-XXXXXX", printed_path[] = "/tmp/gfxsim-printed-XXXXXX";

static void read_text(const char *path, char *text, size_t nbytes) {
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, nbytes - 1, file) : 0;
    text[n] = 0;
    if (file) fclose(file);
}

/* Launches a kernel with one pointer, to 256 words, and keeps what it prints. */
static int launch_quietly(struct sim_code *code, const char *kernel, u32 threads, char *text, size_t nbytes) {
    char printed[4096];
    u32 zeros[256] = {0};
    void *to = device_copy(zeros, sizeof zeros);
    struct arguments arguments = {.n = 0};
    ARGUMENT(&arguments, void *, to);
    fflush(stderr);
    int before = dup(2);
    if (!freopen(printed_path, "w", stderr) || truncate(report_path, 0)) exit(2);
    int result = launch(code, kernel, DIM(1, 1, 1), DIM(threads, 1, 1), 0, &arguments);
    fflush(stderr);
    dup2(before, 2);
    close(before);
    read_text(printed_path, printed, sizeof printed);
    read_text(report_path, text, nbytes);
    TEST_CHECK_(strcmp(text, printed) == 0, "%s: GFXSIM_REPORT has other text than is printed", kernel);
    sim_memory_free(to);
    return result;
}

static void expect_found(struct sim_code *code, const char *kernel, u32 threads, const char *what, const char *line) {
    char text[4096], name[96];
    long before = sim_findings;
    int result = launch_quietly(code, kernel, threads, text, sizeof text);
    snprintf(name, sizeof name, "kernel %s on %s,", kernel, sim_target_name(code->target));
    TEST_CHECK_(result == 719, "%s gave %d", name, result);
    TEST_CHECK_(sim_findings == before + 1, "%s: %ld findings", name, sim_findings - before);
    TEST_CHECK_(strstr(text, what), "%s: \"%s\" is not in\n%s", name, what, text);
    TEST_CHECK_(strstr(text, line), "%s: \"%s\" is not in\n%s", name, line, text);
    TEST_CHECK_(strstr(text, name), "%s: the kernel's name is not in\n%s", name, text);
    TEST_CHECK_(strstr(text, "block 0 0 0, wave ") || strstr(text, "a block "), "%s: no place is in\n%s", name, text);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    int report = mkstemp(report_path), printed = mkstemp(printed_path);
    if (report < 0 || printed < 0) return 2;
    close(report);
    close(printed);
    setenv("GFXSIM_REPORT", report_path, 1);
    setenv("GFXSIM_STEPS", "100000", 1);
    unsetenv("GFXSIM_CHECK");
    for (int i = 1; i < argc; i++) {
        struct sim_code *code = load_code(argv[i]);
        const bool is_gfx12 = code->target == SIM_GFX1201;
        const char *barrier = is_gfx12 ? ": s_barrier_wait" : ": s_barrier";
        char text[4096];
        expect_found(code, "barrier_of_some", 128, "a barrier that some waves never reach", barrier);
        expect_found(code, "barrier_of_others", 128, "a barrier that some waves never reach", barrier);
        expect_found(code, "endless", 64, "endless loop", "instructions");
        expect_found(code, "stops", 64, "trap 2", "s_trap 2");
        expect_found(code, "branch_on_undefined", 64, "a branch on SCC, which was never written", "s_cbranch_scc1");
        expect_found(code, "vector_branch_on_undefined", 64, "a branch on VCC, which was never written",
                     "s_cbranch_vccz");
        expect_found(code, "exec_from_undefined", 64, "EXEC is set to a value that was never written", "exec_lo, s40");
        expect_found(code, "address_from_undefined", 64, "an address from a register that was never written",
                     "s_setpc_b64 s[40:41]");
        expect_found(code, "unknown_instruction", 64, "unknown instruction", "0xbfffffff");
        expect_found(code, "out_of_code", 64, "the wave leaves the code, for 0x40", "s_setpc_b64");
        expect_found(code, "fine", 2048, "a block is larger", "launch");
        TEST_CHECK_(launch_quietly(code, "fine", 64, text, sizeof text) == 0 && !text[0], "a kernel without defect: %s",
                    text);
        sim_code_unload(code);
    }
    unlink(report_path);
    unlink(printed_path);
    return test_end();
}
