/* That no bit of an instruction is lost on the way to gfxsim: the instructions of instructions/cases.txt and of
 * compiled kernels are decoded and encoded again to the same bytes; each bit of one instruction of each form is
 * flipped, which must be another instruction to gfxsim or be refused; and words that a version of LLVM reads wrongly.
 *
 * encode FOLDER TARGET=OBJECT... */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gfxsim/code.h"
#include "tests/gfxsim/instructions/instructions.h"
#include "tests/test.h"

static const struct target targets[] = {
    {"gfx90a", SIM_GFX90A, 1},   {"gfx942", SIM_GFX942, 2},      {"gfx1030", SIM_GFX1030, 4},
    {"gfx1100", SIM_GFX1100, 8}, {"gfx1151", SIM_GFX1100, 0x28}, {"gfx1201", SIM_GFX1201, 0x10},
};

static bool starts(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }
static const struct sim_loaded *loaded_of(const struct sim_code *code) { return (const struct sim_loaded *)code; }
static unsigned wave_of(const struct sim_code *code) { return code->kernels->wave; }

/* ---- decoded, encoded ---- */

enum { LINE = 512, MANY = 512 };
static char texts[MANY][LINE];
static struct sim_encoded encoded[MANY];
static const u8 *places[MANY];
static size_t sizes[MANY];

/* The linker puts the upper half of an address into a literal; of -1 and 0, as they often are, the assembler would make
 * a constant in the first word. */
static bool is_linked(struct sim_code *code, size_t i) {
    char why[256];
    const struct sim_inst *inst = sim_code_inst(code, (u64)(uintptr_t)places[i], why);
    u32 literal;
    if (!inst || !inst->n_src || sizes[i] != 8 || encoded[i].nbytes != 4) return false;
    memcpy(&literal, places[i] + 4, sizeof literal);
    return inst->src[inst->n_src - 1].kind == SIM_CONSTANT && inst->src[inst->n_src - 1].value == literal;
}

static void compare(struct sim_code *code, size_t n) {
    CHECK(sim_encode(loaded_of(code)->cpu, wave_of(code), encoded, n));
    for (size_t i = 0; i < n; i++) {
        bool same = encoded[i].nbytes == sizes[i] && !memcmp(encoded[i].bytes, places[i], sizes[i]);
        /* A mask of "or 0, xor 1" is also "or 1, xor 0", and LLVM writes the latter. */
        if (same || strstr(texts[i], "swizzle(BITMASK_PERM") || is_linked(code, i)) continue;
        printf("%s: %s is not encoded as it was\n", loaded_of(code)->cpu, texts[i]);
        CHECK(same);
    }
}

/* All lines of a code object; how many. */
static size_t round_trip(struct sim_code *code) {
    size_t n = 0, all = 0;
    char why[256];
    u64 end = code->text + code->text_bytes;
    for (u64 pc = code->text; pc < end; n++, all++) {
        if (n == MANY) compare(code, n), n = 0;
        sizes[n] = sim_code_text(code, pc, texts[n], why);
        if (!sizes[n]) printf("%s: %s\n", loaded_of(code)->cpu, why);
        CHECK(sizes[n]);
        if (!sizes[n]) return all;
        encoded[n].text = texts[n];
        places[n] = (const u8 *)(uintptr_t)pc;
        pc += sizes[n];
    }
    compare(code, n);
    return all;
}

/* ---- words put into loaded code ---- */

static void forget(struct sim_code *code) {
    for (size_t i = 0; i < code->text_bytes / 4; i++) {
        sim_inst_free(code->cache[i]);
        code->cache[i] = NULL;
    }
}
static u8 *put(struct sim_code *code, size_t at, const void *bytes, size_t nbytes) {
    u8 *to = (u8 *)(uintptr_t)code->text + at;
    memcpy(to, bytes, nbytes);
    return to;
}

static bool same_operand(const struct sim_operand *a, const struct sim_operand *b) {
    return a->kind == b->kind && a->type == b->type && a->count == b->count && a->neg == b->neg && a->abs == b->abs &&
           a->sext == b->sext && a->high == b->high && a->index == b->index && a->value == b->value;
}
/* Whether two instructions are one to gfxsim. */
static bool same_inst(const struct sim_inst *a, const struct sim_inst *b) {
    struct sim_inst x = *a, y = *b;
    for (unsigned i = 0; i < SIM_DSTS; i++)
        if (!same_operand(&a->dst[i], &b->dst[i])) return false;
    for (unsigned i = 0; i < SIM_SRCS; i++)
        if (!same_operand(&a->src[i], &b->src[i])) return false;
    if (!a->pair != !b->pair || (a->pair && !same_inst(a->pair, b->pair))) return false;
    memset(x.dst, 0, sizeof x.dst), memset(x.src, 0, sizeof x.src);
    memset(y.dst, 0, sizeof y.dst), memset(y.src, 0, sizeof y.src);
    x.pair = y.pair = NULL, x.text = y.text = NULL, x.pc = y.pc = 0, x.index = y.index = 0;
    if (x.target && y.target) x.target -= a->pc, y.target -= b->pc;
    return !memcmp(&x, &y, sizeof x);
}

/* ---- flipped bits ---- */

struct flip {
    const struct sim_inst *was;
    unsigned bit;
    u64 pc;
};

/* The text without words about caches and waiting. */
static void without_hints(const char *text, char out[LINE]) {
    static const char *const hints[] = {"scc", "nv", "th:", "scope:", "wait_"};
    size_t n = 0;
    while (*text) {
        bool hint = false;
        for (size_t i = 0; i < sizeof hints / sizeof *hints && n; i++) hint = hint || starts(text, hints[i]);
        size_t length = strcspn(text, " ");
        if (!hint) {
            memcpy(out + n, text, length);
            n += length;
            out[n++] = ' ';
        }
        text += length + (text[length] == ' ');
    }
    out[n] = 0;
}

/* The upper half of a literal of a 16-bit operand. */
static bool is_unread(const struct flip *flip) {
    for (unsigned i = 0; i < flip->was->n_src; i++) {
        const struct sim_operand *o = &flip->was->src[i];
        bool half =
            o->type == SIM_B16 || o->type == SIM_U16 || o->type == SIM_I16 || o->type == SIM_F16 || o->type == SIM_BF16;
        if (half && o->kind == SIM_CONSTANT && o->literal) return flip->bit >= 8u * flip->was->nbytes - 16;
    }
    return false;
}

/* Bits that mean nothing, by AMD's ISA documents or in gfxsim. */
static bool means_nothing(const struct flip *flip, const char *is) {
    static const char *const waits[] = {"s_waitcnt", "s_wait_", "s_delay_alu", "s_version"};
    const char *was = flip->was->text;
    char a[LINE], b[LINE];
    if (is_unread(flip)) return true; /* a 16-bit operation uses the low half */
    if (!strcmp(was, is)) return false;
    /* How long to wait: gfxsim always has. */
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (starts(was, waits[i]) && starts(is, waits[i])) return true;
    /* Hints to caches, of which gfxsim has none. */
    without_hints(was, a);
    without_hints(is, b);
    if (!strcmp(a, b)) return true;
    /* A lane's bit that is kept and then set is one that is set. */
    return strstr(was, "swizzle(") && strstr(is, "swizzle(");
}

enum { FLIPS = 1 << 14 };
static struct flip flips[FLIPS];
static size_t n_flips, n_refused, n_changed, n_nothing;

static void look(struct sim_code *code, const struct flip *flip) {
    char why[256];
    const struct sim_inst *is = sim_code_inst(code, flip->pc, why);
    if (!is) {
        n_refused++;
        return;
    }
    if (!same_inst(flip->was, is)) {
        n_changed++;
        return;
    }
    bool nothing = means_nothing(flip, is->text);
    n_nothing += nothing;
    if (!nothing) printf("%s: bit %u of %s is lost: %s\n", loaded_of(code)->cpu, flip->bit, flip->was->text, is->text);
    CHECK(nothing);
}

static void look_all(struct sim_code *code) {
    for (size_t i = 0; i < n_flips; i++) look(code, &flips[i]);
    forget(code);
    n_flips = 0;
}

/* Puts an instruction down with each of its bits flipped. LLVM refuses some at once; what is longer than it was takes
 * a word more. */
static void flip_bits(struct sim_code *code, const struct sim_inst *was) {
    static size_t at;
    for (unsigned bit = 0; bit < 8u * was->nbytes; bit++) {
        u8 flipped[20];
        char text[LINE], why[256];
        memcpy(flipped, (const void *)(uintptr_t)was->pc, was->nbytes);
        memcpy(flipped + was->nbytes, &(u32){0xbf800000u}, 4); /* s_nop 0 */
        flipped[bit / 8] ^= (u8)(1 << bit % 8);
        if (at + was->nbytes + 4 > code->text_bytes || n_flips == FLIPS) look_all(code);
        if (!n_flips) at = 0;
        put(code, at, flipped, was->nbytes + 4u);
        size_t nbytes = sim_code_text(code, code->text + at, text, why);
        if (nbytes) flips[n_flips++] = (struct flip){was, bit, code->text + at};
        n_refused += !nbytes;
        at += nbytes;
    }
}

/* What makes two lines one form: all but numbers. */
static void form_of(const char *text, char form[LINE]) {
    size_t n = 0;
    bool name = true;
    for (; *text; text++) {
        if (*text == ' ') name = false;
        if (name || !isxdigit((unsigned char)*text)) form[n++] = *text;
    }
    form[n] = 0;
}

enum { FORMS = 1 << 15 };
static char *forms[FORMS];

static bool is_new(const char *form) {
    u32 hash = 2166136261u; /* FNV-1a */
    for (const char *c = form; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
    size_t at = hash % FORMS;
    for (; forms[at]; at = (at + 1) % FORMS)
        if (!strcmp(forms[at], form)) return false;
    forms[at] = strdup(form);
    return forms[at] != NULL;
}

/* One instruction of each form between the marks of the tests' kernels. */
static size_t flip_forms(struct sim_code *code, struct sim_code *space) {
    char why[256], form[LINE], start[16], end[16];
    bool inside = false;
    size_t n = 0;
    snprintf(start, sizeof start, "s_nop %d", TESTED);
    snprintf(end, sizeof end, "s_nop %d", TESTED_END);
    for (u64 pc = code->text; pc < code->text + code->text_bytes;) {
        const struct sim_inst *inst = sim_code_inst(code, pc, why);
        CHECK(inst);
        if (!inst) break;
        pc += inst->nbytes;
        if (!strcmp(inst->text, end)) inside = false;
        form_of(inst->text, form);
        if (inside && is_new(form)) flip_bits(space, inst), n++;
        if (!strcmp(inst->text, start)) inside = true;
    }
    look_all(space);
    for (size_t i = 0; i < FORMS; i++) {
        free(forms[i]);
        forms[i] = NULL;
    }
    return n;
}

/* ---- words that a version of LLVM reads wrongly ---- */

static const struct sim_inst *decode_words(struct sim_code *code, u32 first, u32 second, char why[256]) {
    u32 both[4] = {first, second, 0xbf800000u, 0xbf800000u};
    forget(code);
    put(code, 0, both, sizeof both);
    return sim_code_inst(code, code->text, why);
}

/* What LLVM 21's assembler makes for gfx1100 of instructions of 16 bits. `halves` has a bit for each source whose upper
 * half is meant, and 8 for that of the result. LLVM 19 lacks some op_sel, and reads registers that are not there. */
static const struct {
    u32 words[2];
    unsigned halves;
} true16[] = {
    {{0xd7050801, 0x00013d04}, 1},     /* v_mul_lo_u16 v1.l, v4.h, 30 */
    {{0xd7035001, 0x00020702}, 2 | 8}, /* v_add_nc_u16 v1.h, v2.l, v3.h */
    {{0xd7040801, 0x00020702}, 1},     /* v_sub_nc_u16 v1.l, v2.h, v3.l */
    {{0xd7380801, 0x00020702}, 1},     /* v_lshlrev_b16 v1.l, v2.h, v3.l */
    {{0xd7091001, 0x00020702}, 2},     /* v_max_u16 v1.l, v2.l, v3.h */
    {{0xd7624001, 0x00020702}, 8},     /* v_and_b16 v1.h, v2.l, v3.l */
    {{0xd6412801, 0x04120702}, 1 | 4}, /* v_mad_u16 v1.l, v2.h, v3.l, v4.h */
    {{0xd65d5001, 0x00120702}, 2 | 8}, /* v_cndmask_b16 v1.h, v2.l, v3.h, s4 */
    {{0xd4390804, 0x00020702}, 1},     /* v_cmp_lt_u16_e64 s4, v2.h, v3.l */
    {{0x7c020782, 0xbf800000}, 1},     /* v_cmp_lt_f16_e32 vcc_lo, v2.h, v3.l */
    {{0xd5324001, 0x00020702}, 8},     /* v_add_f16_e64 v1.h, v2.l, v3.l */
    {{0x65020702, 0xbf800000}, 8},     /* v_add_f16_e32 v1.h, v2.l, v3.l */
    {{0x64030782, 0xbf800000}, 1 | 2}, /* v_add_f16_e32 v1.l, v2.h, v3.h */
    {{0x7e021782, 0xbf800000}, 1},     /* v_cvt_f32_f16_e32 v1, v2.h */
    {{0x7f021502, 0xbf800000}, 8},     /* v_cvt_f16_f32_e32 v1.h, v2 */
    {{0x7f023902, 0xbf800000}, 8},     /* v_mov_b16_e32 v1.h, v2.l */
    {{0xd59c0801, 0x000001c8}, 1},     /* v_mov_b16_e64 v1.l, v200.h */
    {{0xd6485001, 0x04120702}, 2 | 8}, /* v_fma_f16 v1.h, v2.l, v3.h, v4.l */
    {{0xd6614001, 0x04120702}, 8},     /* v_minmax_f16 v1.h, v2.l, v3.l, v4.l */
    {{0xd64c0801, 0x04120702}, 1},     /* v_max3_f16 v1.l, v2.h, v3.l, v4.l */
    {{0xd7111801, 0x00020702}, 1 | 2}, /* v_pack_b32_f16 v1, v2.h, v3.h */
    {{0xd47d0804, 0x00020702}, 1},     /* v_cmp_class_f16_e64 s4, v2.h, v3.l */
};

static void check_true16(struct sim_code *code) {
    unsigned refused = 0;
    for (size_t i = 0; i < sizeof true16 / sizeof *true16; i++) {
        char why[256];
        const struct sim_inst *inst = decode_words(code, true16[i].words[0], true16[i].words[1], why);
        refused += !inst;
        if (!inst) continue;
        unsigned halves = inst->dst[0].high || inst->op_sel >> inst->n_src & 1 ? 8 : 0;
        for (unsigned k = 0; k < 3 && k < inst->n_src; k++)
            if (inst->src[k].high || inst->op_sel >> k & 1) halves |= 1u << k;
        if (halves != true16[i].halves) printf("%s has halves %x\n", inst->text, halves);
        CHECK_INT(halves, true16[i].halves);
    }
    printf("%u of %zu instructions of True16 are refused\n", refused, sizeof true16 / sizeof *true16);
}

/* Tensile's kernels for gfx90a have it; LLVM 21 takes EXEC for the only destination. */
static void check_cmpx(struct sim_code *code) {
    char why[256] = "";
    const struct sim_inst *inst = decode_words(code, 0xd0da0036, 0x00020280, why);
    if (!inst) printf("%s\n", why);
    CHECK(inst && !strcmp(inst->op->name, "v_cmpx_eq_u32"));
    if (inst) CHECK(inst->dst[0].kind == SIM_SGPR && inst->dst[0].index == 54 && inst->dst[0].count == 2);
    inst = decode_words(code, 0xd0da006a, 0x00020280, why);
    CHECK(inst && inst->dst[0].kind == SIM_SGPR && inst->dst[0].index == SIM_VCC);
    inst = decode_words(code, 0xd0da007e, 0x00020280, why);
    CHECK(inst && inst->dst[0].kind == SIM_SGPR && inst->dst[0].index == SIM_EXEC);
}

/* The finding of a launch names the instruction and its bytes. */
static void check_finding(struct sim_code *code) {
    char text[1024] = "", why[256];
    const struct sim_kernel *kernel = code->kernels;
    u64 args[3] = {0};
    if (decode_words(code, 0xd7050801, 0x00013d04, why)) return; /* this LLVM reads it */
    memcpy((void *)(uintptr_t)kernel->entry, (u32[]){0xd7050801, 0x00013d04}, 8);
    forget(code);
    struct sim_launch launch = {
        .kernel = kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args, .nbytes = sizeof args};
    CHECK_INT(sim_launch_run(&launch), 719);
    FILE *file = fopen(sim_settings.report, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[n] = 0;
    CHECK(strstr(text, "bit 11 was not decoded: 0xd7050801 0x00013d04 read as v_mul_lo_u16 v1, v4, 30"));
}

/* ---- code objects of the arguments ---- */

static struct sim_code *load(const char *argument) {
    char name[16], why[256];
    size_t nbytes, length = strcspn(argument, "=");
    snprintf(name, sizeof name, "%.*s", (int)length, argument);
    char *image = read_file(argument + length + 1, &nbytes);
    struct sim_code *code = sim_code_load(sim_target_of(name), image, nbytes, why);
    if (!code) die("%s: %s", argument, why);
    free(image);
    return code;
}

static void all_forms(const struct target *target) {
    struct sim_code *code = assemble(target, NULL), *space = assemble(target, NULL);
    size_t all = round_trip(code), n = 0;
    /* One kernel fills the space: lines are assembled in batches, which end with a kernel. */
    struct sim_kernel *others = space->kernels->next;
    space->kernels->next = NULL;
    n_refused = n_changed = n_nothing = 0;
    if (strcmp(target->name, "gfx1151") != 0) n = flip_forms(code, space); /* gfx1100's forms */
    printf("%s: %zu instructions, %zu forms; of their bits, %zu make another instruction, %zu are refused, %zu mean "
           "nothing\n",
           target->name, all, n, n_changed, n_refused, n_nothing);
    if (target->sim == SIM_GFX1100) check_true16(space), check_finding(space);
    if (target->sim == SIM_GFX90A) check_cmpx(space);
    space->kernels->next = others;
    sim_code_unload(code);
    sim_code_unload(space);
}

int main(int argc, char **argv) {
    char report[] = "/tmp/gfxsim-test-XXXXXX";
    int file = mkstemp(report);
    if (file < 0 || setenv("GFXSIM_REPORT", report, 1)) die("no temporary file");
    close(file);
    sim_settings_read();
    if (argc < 2) die("encode FOLDER TARGET=OBJECT...");
    read_cases(argv[1]);
    for (int i = 2; i < argc; i++) {
        struct sim_code *code = load(argv[i]);
        printf("%s: %zu instructions\n", argv[i], round_trip(code));
        sim_code_unload(code);
    }
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) all_forms(&targets[t]);
    unlink(report);
    return test_end();
}
