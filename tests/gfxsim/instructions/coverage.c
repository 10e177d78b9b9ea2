/* That no row of gfxsim's tables is left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instructions.h"

/* ---- that no mnemonic is left out ---- */

static struct {
    const struct sim_op *ops;
    u8 *covered; /* a mask of targets for each row */
} tables[32];
static size_t n_tables;

static void add_table(const struct sim_op *ops) {
    size_t n = 0;
    while (ops[n].name) n++;
    if (n_tables == sizeof tables / sizeof *tables) die("too many tables");
    tables[n_tables].ops = ops;
    tables[n_tables++].covered = need(calloc(n + 1, 1));
}

void coverage_start(void) {
    add_table(sim_scalar_ops);
    add_table(sim_access_ops);
    add_table(sim_lds_ops);
    add_table(sim_matrix_ops);
    for (const struct sim_op *const *table = sim_vector_tables(); *table; table++) add_table(*table);
}

static void cover(const struct sim_op *op, const struct target *target) {
    for (size_t t = 0; t < n_tables; t++)
        for (size_t i = 0; tables[t].ops[i].name; i++)
            if (&tables[t].ops[i] == op) tables[t].covered[i] |= (u8)target->sim;
}

bool cover_kernel(const struct test *test, const struct target *target, const struct sim_kernel *kernel) {
    bool inside = false;
    char why[256], start[16], end[16];
    snprintf(start, sizeof start, "s_nop %d", TESTED);
    snprintf(end, sizeof end, "s_nop %d", TESTED_END);
    for (u64 pc = kernel->entry;;) {
        const struct sim_inst *inst = sim_code_inst(kernel->code, pc, why);
        if (!inst) {
            fprintf(stderr, "%s: %s: %s\n", target->name, test->name, why);
            return false;
        }
        if (strstr(inst->text, "s_endpgm")) return true;
        if (strstr(inst->text, end)) inside = false;
        if (inside)
            for (const struct sim_inst *half = inst; half; half = half->pair) cover(half->op, target);
        if (strstr(inst->text, start)) inside = true;
        pc += inst->nbytes;
    }
}

/* Mnemonics that have no result to compare, and why. */
static const char *const exempt[][2] = {
    {"s_waitcnt", "waits"},
    {"s_wait", "waits"},
    {"s_nop", "waits"},
    {"s_sleep", "waits"},
    {"s_delay_alu", "waits"},
    {"s_clause", "a hint"},
    {"s_inst_prefetch", "a hint"},
    {"s_set_inst_prefetch", "a hint"},
    {"s_setprio", "a hint"},
    {"s_prefetch", "a hint"},
    {"s_buffer_prefetch", "a hint"},
    {"s_icache_inv", "caches"},
    {"s_dcache", "caches"},
    {"buffer_gl", "caches"},
    {"buffer_wb", "caches"},
    {"buffer_inv", "caches"},
    {"global_wb", "caches"},
    {"global_inv", "caches"},
    {"s_gl1_inv", "caches"},
    {"v_nop", "does nothing"},
    {"s_endpgm", "ends every kernel"},
    {"s_code_end", "is never run"},
    {"s_sendmsg", "messages"},
    {"s_ttracedata", "tracing"},
    {"s_barrier", "one wave"},
    {"s_trap", "ends the launch"},
    {"s_sethalt", "ends the launch"},
    {"s_memtime", "a clock"},
    {"s_memrealtime", "a clock"},
    {"s_get_barrier_state", "a barrier's"},
    {"s_wakeup", "waits"},
    {"s_setkill", "ends the wave"},
    {"s_cbranch_cdbg", "a debugger's"},
    {"s_incperflevel", "counters"},
    {"s_decperflevel", "counters"},
    {"s_version", "does nothing"},
    {"s_singleuse_vdst", "a hint"},
    {"ds_nop", "does nothing"},
    {"v_clrexcp", "exceptions"},
    {"v_pipeflush", "does nothing"},
    {"v_mov_b16", "no decoder of LLVM 19 knows it"},
    {"v_swap_b16", "no decoder of LLVM 19 knows it"},
    {"ds_bpermute_fi_b32", "no decoder of LLVM 19 knows it"},
    {"v_mfma", "tests/gfxsim/matrix has every one"},
    {"v_smfmac", "tests/gfxsim/matrix"},
    {"v_wmma", "tests/gfxsim/matrix"},
    {"v_swmmac", "tests/gfxsim/matrix"},
};

static bool is_exempt(const char *name) {
    for (size_t i = 0; i < sizeof exempt / sizeof *exempt; i++)
        if (!strncmp(name, exempt[i][0], strlen(exempt[i][0]))) return true;
    return false;
}

unsigned check_coverage(unsigned targets) {
    unsigned failures = 0;
    for (size_t t = 0; t < n_tables; t++)
        for (size_t i = 0; tables[t].ops[i].name; i++) {
            const struct sim_op *op = &tables[t].ops[i];
            unsigned missing = op->targets & targets & ~tables[t].covered[i];
            if (!missing || is_exempt(op->name)) continue;
            failures++;
            fprintf(stderr, "%s: no test on", op->name);
            for (unsigned bit = 1; bit <= SIM_GFX1201; bit <<= 1)
                if (missing & bit) fprintf(stderr, " %s", sim_target_name((enum sim_target)bit));
            fputc('\n', stderr);
        }
    return failures;
}
