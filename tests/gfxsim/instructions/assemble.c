/* Writes a target's kernels as assembly, has LLVM's tools make a code object of them and loads it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "instructions.h"

/* ---- assembling ---- */

/* $vcc, $exec and $m20 as this target's lane masks, $B their width. */
static void put_text(FILE *file, const char *text, const struct target *target) {
    bool wide = sim_wave_size(target->sim) == 64;
    fputs("    ", file);
    while (*text) {
        if (*text != '$') {
            fputc(*text++, file);
        } else if (text[1] == 'B') {
            fputs(wide ? "64" : "32", file);
            text += 2;
        } else if (text[1] == 'v') {
            fputs(wide ? "vcc" : "vcc_lo", file);
            text += 4;
        } else if (text[1] == 'e') {
            fputs(wide ? "exec" : "exec_lo", file);
            text += 5;
        } else {
            unsigned n = (unsigned)strtoul(text + 2, (char **)&text, 10);
            if (wide)
                fprintf(file, "s[%u:%u]", n, n + 1);
            else
                fprintf(file, "s%u", n);
        }
    }
    fputc('\n', file);
}

static void put_stage(FILE *file, const struct test *test, int stage, const struct target *target) {
    for (unsigned i = 0; i < test->n_lines; i++)
        if (test->lines[i].stage == stage && test->lines[i].targets & target->mask)
            put_text(file, test->lines[i].text, target);
}

static void put_body(FILE *file, const struct test *test, const struct target *target) {
    put_stage(file, test, 0, target);
    fprintf(file, "    s_nop %d\n", TESTED);
    put_stage(file, test, 1, target);
    fprintf(file, "    s_nop %d\n", TESTED_END);
    if (test->kind == 's') fputs("    s_cselect_b32 s47, 1, 0\n", file);
    put_stage(file, test, 2, target);
}

static unsigned outputs(const struct test *test) {
    unsigned n = 0;
    for (unsigned i = 0; i < test->n_outs; i++) {
        unsigned end = test->outs[i].at + (strchr("dw", test->outs[i].how) ? 2 : 1);
        n = end > n ? end : n;
    }
    return n;
}

static void put_vector(FILE *file, const struct test *test, const struct target *target) {
    unsigned n = outputs(test);
    fputs("    v_lshlrev_b32 v1, 6, v0\n"
          "    s_load_dwordx16 s[16:31], s[4:5], 0x1000\n",
          file);
    for (unsigned k = 0; k < WORDS; k += 4)
        fprintf(file, "    global_load_dwordx4 v[%u:%u], v1, s[4:5] offset:%u\n", 16 + k, 19 + k, 4 * k);
    fputs("    wait_all\n", file);
    for (unsigned k = 0; k < (n + 3) / 4 * 4; k++) fprintf(file, "    v_mov_b32 v%u, v31\n", 32 + k);
    put_body(file, test, target);
    put_text(file, "s_mov_b$B $exec, -1", target);
    fputs("    wait_all\n", file);
    for (unsigned k = 0; k < n; k += 4)
        fprintf(file, "    global_store_dwordx4 v1, v[%u:%u], s[6:7] offset:%u\n", 32 + k, 35 + k, 4 * k);
}

static void put_scalar(FILE *file, const struct test *test, const struct target *target, unsigned index) {
    fprintf(file, "    s_movk_i32 s10, %d\nloop%u:\n    s_load_dwordx16 s[16:31], s[4:5], 0x0\n    wait_all\n", LANES,
            index);
    for (unsigned k = 0; k < 8; k++) fprintf(file, "    s_mov_b32 s%u, 0xc0de0000\n", 40 + k);
    fputs("    s_cmp_lg_u32 s31, 0\n", file);
    put_body(file, test, target);
    put_text(file, "s_mov_b$B $exec, 1", target);
    fputs("    v_mov_b32 v1, 0\n", file);
    for (unsigned k = 0; k < 8; k++) fprintf(file, "    v_mov_b32 v%u, s%u\n", 32 + k, 40 + k);
    fputs("    global_store_dwordx4 v1, v[32:35], s[6:7]\n"
          "    global_store_dwordx4 v1, v[36:39], s[6:7] offset:16\n",
          file);
    put_text(file, "s_mov_b$B $exec, -1", target);
    fprintf(file,
            "    s_add_u32 s4, s4, 64\n    s_addc_u32 s5, s5, 0\n    s_add_u32 s6, s6, 64\n    s_addc_u32 s7, s7, 0\n"
            "    s_sub_u32 s10, s10, 1\n    s_cmp_lg_u32 s10, 0\n    s_cbranch_scc1 loop%u\n",
            index);
}

static void put_descriptor(FILE *file, const struct test *test, const struct target *target, unsigned index) {
    fprintf(file,
            "    s_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k%u\n    .amdhsa_group_segment_fixed_size %u\n"
            "    .amdhsa_private_segment_fixed_size %u\n    .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
            "    .amdhsa_kernarg_size 24\n    .amdhsa_next_free_vgpr 128\n    .amdhsa_next_free_sgpr 96\n"
            "    .amdhsa_float_round_mode_32 %u\n    .amdhsa_float_round_mode_16_64 %u\n"
            "    .amdhsa_float_denorm_mode_32 %u\n    .amdhsa_float_denorm_mode_16_64 %u\n",
            index, test->lds, test->scratch, test->mode & 3, test->mode >> 2 & 3, test->mode >> 4 & 3,
            test->mode >> 6 & 3);
    if (target->sim & SIM_GFX9) fputs("    .amdhsa_accum_offset 64\n", file);
    if (test->scratch && target->sim & (SIM_GFX942 | SIM_GFX11_12))
        fputs("    .amdhsa_enable_private_segment 1\n", file);
    else if (test->scratch)
        fputs("    .amdhsa_system_sgpr_private_segment_wavefront_offset 1\n    .amdhsa_user_sgpr_flat_scratch_init 1\n",
              file);
    fputs(".end_amdhsa_kernel\n", file);
}

static void put_kernel(FILE *file, const struct test *test, const struct target *target, unsigned index) {
    fprintf(file,
            ".text\n.globl k%u\n.p2align 8\n.type k%u,@function\nk%u:\n    s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
            "    s_load_dwordx2 s[8:9], s[0:1], 0x10\n    wait_all\n",
            index, index, index);
    if (test->kind == 's')
        put_scalar(file, test, target, index);
    else
        put_vector(file, test, target);
    put_descriptor(file, test, target, index);
}

static void put_metadata(FILE *file, const struct test *test, const struct target *target, unsigned index) {
    fprintf(file,
            "  - .name: k%u\n    .symbol: k%u.kd\n    .kernarg_segment_size: 24\n    .kernarg_segment_align: 8\n"
            "    .group_segment_fixed_size: %u\n    .private_segment_fixed_size: %u\n    .wavefront_size: %u\n"
            "    .sgpr_count: 96\n    .vgpr_count: 128\n    .max_flat_workgroup_size: 64\n    .args:\n",
            index, index, test->lds, test->scratch, sim_wave_size(target->sim));
    for (unsigned k = 0; k < 3; k++)
        fprintf(file,
                "      - .size: 8\n        .offset: %u\n        .value_kind: global_buffer\n        .address_space: "
                "global\n",
                8 * k);
}

static void put_macros(FILE *file, const struct target *target) {
    for (size_t i = 0; i < n_macro_lines; i++) {
        const struct line *line = &macro_lines[i];
        if (!line->targets) fprintf(file, "%s.macro %s\n", i ? ".endm\n" : "", line->text);
        if (line->targets & target->mask) put_text(file, line->text, target);
    }
    fputs(".endm\n", file);
}

static void put_source(const char *path, const struct target *target, const char *only) {
    FILE *file = fopen(path, "w");
    if (!file) die("%s: cannot be written", path);
    fprintf(file, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n", target->name);
    put_macros(file, target);
    for (unsigned i = 0; i < n_tests; i++)
        if (tests[i].targets & target->mask && (!only || !strcmp(only, tests[i].name)))
            put_kernel(file, &tests[i], target, i);
    fputs(".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n", file);
    for (unsigned i = 0; i < n_tests; i++)
        if (tests[i].targets & target->mask && (!only || !strcmp(only, tests[i].name)))
            put_metadata(file, &tests[i], target, i);
    fputs("...\n.end_amdgpu_metadata\n", file);
    fclose(file);
}

static void run_tool(const char *const argv[]) {
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) die("%s failed", argv[0]);
    if (WEXITSTATUS(status) == 127) {
        printf("skipped: %s is not installed\n", argv[0]);
        exit(77);
    }
    if (WEXITSTATUS(status)) die("%s failed", argv[0]);
}

struct sim_code *assemble(const struct target *target, const char *only) {
    char folder[] = "/tmp/gfxsim-instructions-XXXXXX", source[64], object[64], linked[64], cpu[32], why[256];
    if (!mkdtemp(folder)) die("no folder for temporary files");
    snprintf(source, sizeof source, "%s/tests.s", folder);
    snprintf(object, sizeof object, "%s/tests.o", folder);
    snprintf(linked, sizeof linked, "%s/tests.so", folder);
    snprintf(cpu, sizeof cpu, "-mcpu=%s", target->name);
    put_source(source, target, only);
    run_tool((const char *const[]){"llvm-mc-19", "-triple=amdgcn-amd-amdhsa", cpu, "-filetype=obj", "-o", object,
                                   source, NULL});
    run_tool((const char *const[]){"ld.lld-19", "-shared", "-o", linked, object, NULL});
    size_t nbytes;
    char *image = read_file(linked, &nbytes);
    struct sim_code *code = sim_code_load(target->sim, image, nbytes, why);
    if (!code) die("%s: %s", target->name, why);
    free(image);
    if (!getenv("GFXSIM_KEEP")) {
        unlink(source);
        unlink(object);
        unlink(linked);
        rmdir(folder);
    }
    return code;
}
