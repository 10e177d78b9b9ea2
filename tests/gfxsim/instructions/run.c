/* The instruction tests: every mnemonic of gfxsim's tables, on each target that has it, against expected values from
 * models of AMD's published pseudocode (make.py). LLVM assembles the kernels here; the simulator decodes and runs them.
 *
 * cases.txt, made by make.py, has per case:
 *   case NAME v|s TARGETS MODE LDS SCRATCH   targets a hexadecimal mask of enum sim_target, mode of the float unit,
 * bytes in K OFFSET                    input word K, one of 16: a column of 64 from words.safetensors; 15 is taken
 *   scalars OFFSET N               what s[16:31] start with
 *   memory N BEFORE AFTER          N words at the address in s[8:9], and what they become
 *   pre|asm|post TARGETS TEXT      instructions; those of `asm` are what is tested
 *   out TARGETS HOW K OFFSET N     the expected columns of N output words from K on
 * Of kind v, 64 lanes have input K in v[16 + K] and leave output K in v[32 + K], which holds word 15 before. Of kind s,
 * 64 rows run one after the other, with input K in s[16 + K], SCC from input 15, output K in s[40 + K] and SCC in
 * output 7.
 *
 * HOW: x all bits; f an f32, h an f16 under 16 bits that count, g an f16 under 16 bits that don't, H an f16 above 16
 * bits, l the lower 16 bits, p two f16, b and q the same for bf16, d an f64 (offset + 64: upper words), each with any
 * quiet NaN for a NaN; u, v, k, w as f, h, g, d to one unit in the last place (transcendental functions, whose results
 * the documents leave that much); m a bit for each lane, as words of 32.
 *
 * run [FOLDER [TARGET [NAME]]]: all targets and cases unless they are said. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gfxsim/gfxsim.h"

enum { LANES = 64, WORDS = 16, LINES = 96, OUTS = 64, STRIDE = WORDS * 4 };

struct line {
    unsigned targets;
    int stage; /* 0 pre, 1 asm, 2 post */
    const char *text;
};
struct out {
    unsigned targets, at;
    char how;
    size_t offset;
};
struct test {
    char name[64], kind;
    unsigned targets, mode, lds, scratch;
    size_t in[WORDS];
    bool has_in[WORDS];
    size_t was[WORDS], becomes[WORDS];
    bool has_was[WORDS], has_becomes[WORDS], memory;
    size_t scalars, n_scalars;
    struct line lines[LINES];
    unsigned n_lines;
    struct out outs[OUTS];
    unsigned n_outs;
};

/* gfx1151 is a gfx1100 to the simulator and has instructions of its own. */
static const struct target {
    const char *name;
    enum sim_target sim;
    unsigned mask;
} all_targets[] = {
    {"gfx90a", SIM_GFX90A, 1},   {"gfx942", SIM_GFX942, 2},      {"gfx1030", SIM_GFX1030, 4},
    {"gfx1100", SIM_GFX1100, 8}, {"gfx1151", SIM_GFX1100, 0x28}, {"gfx1201", SIM_GFX1201, 0x10},
};
enum { TARGETS = sizeof all_targets / sizeof *all_targets };

static u32 *words;
static size_t n_words;
static struct test *tests;
static size_t n_tests;
static unsigned failures;

static void die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static void *need(void *memory) {
    if (!memory) die("out of memory");
    return memory;
}

static char *read_file(const char *path, size_t *nbytes) {
    FILE *file = fopen(path, "rb");
    if (!file) die("%s: cannot be read", path);
    fseek(file, 0, SEEK_END);
    *nbytes = (size_t)ftell(file);
    rewind(file);
    char *text = need(malloc(*nbytes + 1));
    if (fread(text, 1, *nbytes, file) != *nbytes) die("%s: cannot be read", path);
    text[*nbytes] = 0;
    fclose(file);
    return text;
}

/* ---- the files ---- */

static void read_words(const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/words.safetensors", folder);
    size_t nbytes;
    char *text = read_file(path, &nbytes);
    u64 header;
    memcpy(&header, text, 8);
    n_words = (nbytes - 8 - header) / 4;
    words = need(malloc(n_words * 4 + 4));
    memcpy(words, text + 8 + header, n_words * 4);
    free(text);
}

/* N columns from word k on. */
static void columns(size_t at[WORDS], bool has[WORDS], unsigned k, size_t offset, unsigned n) {
    for (; n && k < WORDS; n--, k++, offset += LANES) {
        at[k] = offset;
        has[k] = true;
    }
}

static void read_line(struct test *test, char *text) {
    unsigned k, mask, n;
    size_t offset;
    char how;
    int skip = 0;
    if (sscanf(text, "in %u %zu %u", &k, &offset, &n) == 3) {
        columns(test->in, test->has_in, k, offset, n);
    } else if (sscanf(text, "was %u %zu %u", &k, &offset, &n) == 3) {
        columns(test->was, test->has_was, k, offset, n);
    } else if (sscanf(text, "becomes %u %zu %u", &k, &offset, &n) == 3) {
        columns(test->becomes, test->has_becomes, k, offset, n);
    } else if (!strcmp(text, "memory")) {
        test->memory = true;
    } else if (sscanf(text, "scalars %zu %u", &offset, &n) == 2) {
        test->scalars = offset;
        test->n_scalars = n;
    } else if (sscanf(text, "out %x %c %u %zu %u", &mask, &how, &k, &offset, &n) == 5) {
        unsigned width = how == 'd' || how == 'w' ? 2 : 1;
        for (; n && test->n_outs < OUTS && k < WORDS; n--, k += width, offset += LANES * width)
            test->outs[test->n_outs++] = (struct out){mask, k, how, offset};
    } else if (sscanf(text, "%*s %x %n", &mask, &skip) == 1 && skip && test->n_lines < LINES) {
        int stage = !strncmp(text, "pre", 3) ? 0 : !strncmp(text, "asm", 3) ? 1 : 2;
        test->lines[test->n_lines++] = (struct line){mask, stage, text + skip};
    } else {
        die("cases.txt: %s", text);
    }
}

static void read_cases(const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/cases.txt", folder);
    size_t nbytes, n = 0;
    char *text = read_file(path, &nbytes);
    for (const char *at = text; (at = strstr(at, "case ")); at++) n++;
    tests = need(calloc(n, sizeof *tests));
    for (char *at = strtok(text, "\n"); at; at = strtok(NULL, "\n")) {
        if (!strncmp(at, "case ", 5)) {
            struct test *test = &tests[n_tests++];
            if (sscanf(at, "case %63s %c %x %x %u %u", test->name, &test->kind, &test->targets, &test->mode, &test->lds,
                       &test->scratch) != 6)
                die("cases.txt: %s", at);
        } else {
            read_line(&tests[n_tests - 1], at);
        }
    }
}

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

/* What is tested lies between two s_nop of these lengths. */
enum { TESTED = 13, TESTED_END = 14 };

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

static void put_source(const char *path, const struct target *target, const char *only) {
    FILE *file = fopen(path, "w");
    if (!file) die("%s: cannot be written", path);
    fprintf(file, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.macro wait_all\n%s.endm\n.macro barrier\n%s.endm\n",
            target->name,
            target->sim == SIM_GFX1201 ? "    s_wait_loadcnt_dscnt 0x0\n    s_wait_kmcnt 0x0\n    s_wait_storecnt 0x0\n"
            : target->sim & SIM_GFX10_11 ? "    s_waitcnt 0\n    s_waitcnt_vscnt null, 0x0\n"
                                         : "    s_waitcnt 0\n",
            target->sim == SIM_GFX1201 ? "    s_barrier_signal -1\n    s_barrier_wait -1\n" : "    s_barrier\n");
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
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
        die("%s failed", argv[0]);
}

static struct sim_code *assemble(const struct target *target, const char *only) {
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

/* ---- comparing ---- */

static bool is_nan(u64 x, unsigned exponent, unsigned mantissa) {
    u64 magnitude = x & (((u64)1 << (exponent + mantissa)) - 1);
    return magnitude > (((u64)1 << exponent) - 1) << mantissa;
}

/* The same, within `ulp` steps, or both a NaN, and ours a quiet one. */
static bool near(u64 got, u64 want, unsigned exponent, unsigned mantissa, unsigned ulp) {
    if (got == want) return true;
    if (is_nan(want, exponent, mantissa)) return is_nan(got, exponent, mantissa) && got >> (mantissa - 1) & 1;
    u64 sign = (u64)1 << (exponent + mantissa);
    if (!ulp || is_nan(got, exponent, mantissa)) return false;
    if ((got ^ want) & sign) return ((got | want) & ~sign) == 0;
    return (got > want ? got - want : want - got) <= ulp;
}

static bool same(char how, u64 got, u64 want) {
    u32 lo = got & 0xffff, hi = (u32)got >> 16, lo2 = want & 0xffff, hi2 = (u32)want >> 16;
    switch (how) {
    case 'x':
    case 'm': return (u32)got == (u32)want;
    case 'l': return lo == lo2;
    case 'f': return near((u32)got, (u32)want, 8, 23, 0);
    case 'u': return near((u32)got, (u32)want, 8, 23, 1);
    case 'h': return hi == hi2 && near(lo, lo2, 5, 10, 0);
    case 'v': return hi == hi2 && near(lo, lo2, 5, 10, 1);
    case 'g': return near(lo, lo2, 5, 10, 0);
    case 'k': return near(lo, lo2, 5, 10, 1);
    case 'H': return lo == lo2 && near(hi, hi2, 5, 10, 0);
    case 'p': return near(lo, lo2, 5, 10, 0) && near(hi, hi2, 5, 10, 0);
    case 'b': return hi == hi2 && near(lo, lo2, 8, 7, 0);
    case 'q': return near(lo, lo2, 8, 7, 0) && near(hi, hi2, 8, 7, 0);
    case 'd': return near(got, want, 11, 52, 0);
    case 'w': return near(got, want, 11, 52, 1);
    default: die("cases.txt: how %c", how);
    }
    return false;
}

static u32 input(const struct test *test, unsigned lane, unsigned k) {
    return k == WORDS - 1 && !test->has_in[k] && test->kind == 'v' ? 0xc0de0000u | (lane * 0x205 & 0xffff)
           : test->has_in[k]                                       ? words[test->in[k] + lane]
                                                                   : 0;
}

/* The line that writes output word k, for the report. */
static const char *line_of(const struct test *test, const struct target *target, unsigned k) {
    char single[16], first[16];
    snprintf(single, sizeof single, "%c%u", test->kind, (test->kind == 'v' ? 32 : 40) + k);
    snprintf(first, sizeof first, "%c[%u:", test->kind, (test->kind == 'v' ? 32 : 40) + k);
    const char *found = NULL;
    for (unsigned i = 0; i < test->n_lines; i++)
        if (test->lines[i].stage == 1 && test->lines[i].targets & target->mask &&
            (!found || strstr(test->lines[i].text, single) || strstr(test->lines[i].text, first)))
            found = test->lines[i].text;
    return found ? found : "";
}

static void complain(const struct test *test, const struct target *target, const struct out *out, unsigned lane,
                     u64 got, u64 want) {
    fprintf(stderr, "%s: %s: %s: lane %u: %llx instead of %llx (%c), from", target->name, test->name,
            line_of(test, target, out->at), lane, (unsigned long long)got, (unsigned long long)want, out->how);
    for (unsigned k = 0; k < WORDS; k++)
        if (test->has_in[k]) fprintf(stderr, " %x", input(test, lane, k));
    fputc('\n', stderr);
}

static bool check_outputs(const struct test *test, const struct target *target, const u32 *result) {
    bool good = true;
    for (unsigned i = 0; i < test->n_outs; i++) {
        const struct out *out = &test->outs[i];
        if (!(out->targets & target->mask)) continue;
        bool wide = out->how == 'd' || out->how == 'w';
        unsigned wrong = 0;
        for (unsigned lane = 0; lane < LANES; lane++) {
            const u32 *at = result + lane * WORDS + out->at;
            u64 got = at[0], want = words[out->offset + lane];
            if (wide) {
                got |= (u64)at[1] << 32;
                want |= (u64)words[out->offset + LANES + lane] << 32;
            } else if (out->how == 'm') {
                want = words[out->offset + lane / 32] >> lane % 32 & 1;
            }
            bool known = sim_shadow[(const u8 *)at - sim_range] == SIM_DEFINED;
            if (same(out->how, got, want) && known) continue;
            good = false;
            if (!known && !wrong)
                fprintf(stderr, "%s: %s: output %u of lane %u counts as never written\n", target->name, test->name,
                        out->at, lane);
            if (wrong++ < 3) complain(test, target, out, lane, got, want);
        }
    }
    return good;
}

static bool check_memory(const struct test *test, const struct target *target, const u32 *memory) {
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned k = 0; k < WORDS; k++) {
            u32 want = test->has_becomes[k] ? words[test->becomes[k] + lane]
                       : test->has_was[k]   ? words[test->was[k] + lane]
                                            : input(test, lane, k);
            u32 got = memory[lane * WORDS + k];
            if (got == want) continue;
            fprintf(stderr, "%s: %s: %s: memory of lane %u, word %u: %x instead of %x\n", target->name, test->name,
                    line_of(test, target, WORDS), lane, k, got, want);
            return false;
        }
    return true;
}

/* ---- running ---- */

static bool run_test(const struct test *test, const struct target *target, const struct sim_kernel *kernel) {
    u32 *in = need(sim_memory_new(0x1000 + STRIDE, SIM_DEFINED));
    u32 *out = need(sim_memory_new(LANES * STRIDE, SIM_UNDEFINED));
    u32 *memory = need(sim_memory_new(LANES * STRIDE, SIM_DEFINED));
    memset(in, 0, 0x1000 + STRIDE);
    memset(out, 0, LANES * STRIDE);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned k = 0; k < WORDS; k++) in[lane * WORDS + k] = input(test, lane, k);
    if (test->n_scalars) memcpy(in + 0x400, words + test->scalars, test->n_scalars * 4);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned k = 0; k < WORDS; k++)
            memory[lane * WORDS + k] = test->has_was[k] ? words[test->was[k] + lane] : input(test, lane, k);
    void *args[3] = {in, out, memory};
    struct sim_launch launch = {.kernel = kernel,
                                .grid = {1, 1, 1},
                                .block = {test->kind == 's' ? sim_wave_size(target->sim) : LANES, 1, 1},
                                .args = args,
                                .nbytes = sizeof args};
    bool good = sim_launch_run(&launch) == 0;
    if (!good)
        fprintf(stderr, "%s: %s: the launch failed\n", target->name, test->name);
    else
        good = check_outputs(test, target, out);
    good = good && (!test->memory || check_memory(test, target, memory));
    sim_memory_free(in);
    sim_memory_free(out);
    sim_memory_free(memory);
    return good;
}

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

static void add_tables(void) {
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

/* Counts what a kernel tests; false when something in it does not decode. */
static bool cover_kernel(const struct test *test, const struct target *target, const struct sim_kernel *kernel) {
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

static void check_coverage(unsigned targets) {
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
}

static void run_target(const struct target *target, const char *only) {
    struct sim_code *code = assemble(target, only);
    unsigned n = 0;
    for (unsigned i = 0; i < n_tests; i++) {
        if (!(tests[i].targets & target->mask) || (only && strcmp(only, tests[i].name))) continue;
        char name[16];
        snprintf(name, sizeof name, "k%u", i);
        const struct sim_kernel *kernel = sim_code_kernel(code, name);
        if (!kernel) die("%s: kernel %s is not there", target->name, name);
        n++;
        if (!cover_kernel(&tests[i], target, kernel) || !run_test(&tests[i], target, kernel)) failures++;
    }
    printf("%s: %u kernels\n", target->name, n);
    sim_code_unload(code);
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "tests/gfxsim/instructions", *only = argc > 3 ? argv[3] : NULL;
    unsigned ran = 0;
    sim_settings_read();
    read_words(folder);
    read_cases(folder);
    add_tables();
    for (size_t t = 0; t < TARGETS; t++)
        if (argc <= 2 || !strcmp(argv[2], all_targets[t].name)) {
            run_target(&all_targets[t], only);
            ran |= all_targets[t].sim;
        }
    if (!ran) die("%s: not a target", argv[2]);
    if (argc <= 2) check_coverage(ran);
    if (failures) fprintf(stderr, "%u failures\n", failures);
    return failures != 0;
}
