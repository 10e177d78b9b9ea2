/* The instruction tests: every mnemonic of gfxsim's tables, on each target that has it, against expected values from
 * models of AMD's published pseudocode (make.py). LLVM assembles the kernels here; the simulator decodes and runs them.
 *
 * cases.txt, made by make.py, begins with macros that cases use,
 *   macro NAME PARAMETERS
 *   line TARGETS TEXT
 * and has per case:
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instructions.h"

static const struct target all_targets[] = {
    {"gfx90a", SIM_GFX90A, 1},   {"gfx942", SIM_GFX942, 2},      {"gfx1030", SIM_GFX1030, 4},
    {"gfx1100", SIM_GFX1100, 8}, {"gfx1151", SIM_GFX1100, 0x28}, {"gfx1201", SIM_GFX1201, 0x10},
};
enum { TARGETS = sizeof all_targets / sizeof *all_targets };

static unsigned failures;

/* ---- comparing ---- */

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
    read_cases(folder);
    coverage_start();
    for (size_t t = 0; t < TARGETS; t++)
        if (argc <= 2 || !strcmp(argv[2], all_targets[t].name)) {
            run_target(&all_targets[t], only);
            ran |= all_targets[t].sim;
        }
    if (!ran) die("%s: not a target", argv[2]);
    if (argc <= 2) failures += check_coverage(ran);
    if (failures) fprintf(stderr, "%u failures\n", failures);
    return failures != 0;
}
