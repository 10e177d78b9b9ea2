/* Instructions of loaded code, decoded by LLVM's disassembler on first use, and the source lines of addresses.
 *
 * The disassembler is not trusted: LLVM 19 reads what newer compilers write for gfx11 and leaves out the bits that it
 * does not know. So LLVM's assembler makes bytes of each line again. Where they are not the same, each bit that differs
 * must at least change the line when it is flipped (swizzle patterns and literals can be written in two ways); a bit
 * that changes nothing was not decoded, and stops the launch. */
#define _GNU_SOURCE /* memmem */
#include "code.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One disassembler for a processor and size of waves, made on first use and kept. They are not safe for several
 * threads; the lock is theirs, the assembler's and that of all caches' filling. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct disassembler {
    char cpu[16];
    unsigned wave;
    LLVMDisasmContextRef context;
} disassemblers[16];

static LLVMDisasmContextRef disassembler(const char *cpu, unsigned wave) {
    size_t n = sizeof disassemblers / sizeof *disassemblers, i = 0;
    while (i < n && disassemblers[i].context && (strcmp(disassemblers[i].cpu, cpu) || disassemblers[i].wave != wave))
        i++;
    if (i == n) return NULL;
    struct disassembler *d = &disassemblers[i];
    if (!d->context) {
        LLVMInitializeAMDGPUTargetInfo();
        LLVMInitializeAMDGPUTarget();
        LLVMInitializeAMDGPUTargetMC();
        LLVMInitializeAMDGPUDisassembler();
        snprintf(d->cpu, sizeof d->cpu, "%s", cpu);
        d->wave = wave;
        d->context = LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", cpu, sim_wave_feature(wave), NULL, 0, NULL, NULL);
    }
    return d->context;
}

/* The size of the waves of the kernel that begins nearest before an address, and in *end where the next one begins or
 * the code ends; functions follow their kernels. */
static unsigned wave_at(const struct sim_code *code, u64 pc, u64 *end) {
    const struct sim_kernel *nearest = NULL;
    *end = code->text + code->text_bytes;
    for (const struct sim_kernel *kernel = code->kernels; kernel; kernel = kernel->next) {
        if (kernel->entry <= pc && (!nearest || kernel->entry > nearest->entry)) nearest = kernel;
        if (kernel->entry > pc && kernel->entry < *end) *end = kernel->entry;
    }
    if (!nearest) nearest = code->kernels;
    return nearest ? nearest->wave : sim_wave_size(code->target);
}

/* ---- one line ---- */

enum { LONGEST = 32 /* bytes that LLVM is given */, TEXT = 512 };

/* A place in the code and what is needed to read it. */
struct place {
    const struct sim_loaded *loaded;
    LLVMDisasmContextRef context;
    u64 pc, end; /* the latter of the kernel */
    unsigned wave;
};

/* SDWA's fields that choose a part of a register have a value that means nothing, at which LLVM 19 crashes. */
static bool has_reserved_part(enum sim_target target, const u8 *bytes, size_t n) {
    u32 first, second;
    if (!(target & (SIM_GFX9 | SIM_GFX1030)) || n < 8) return false;
    memcpy(&first, bytes, 4);
    memcpy(&second, bytes + 4, 4);
    if (first >> 31 || (first & 0x1ff) != 0xf9) return false; /* VOP1, VOP2, VOPC; SDWA */
    bool compares = first >> 25 == 0x3e, one = first >> 25 == 0x3f;
    if (!compares && ((second >> 8 & 7) == 7 || (second >> 11 & 3) == 3)) return true;
    return (second >> 16 & 7) == 7 || (!one && (second >> 24 & 7) == 7);
}

static size_t line_of(const struct place *place, u8 bytes[LONGEST], size_t n, char text[TEXT]) {
    if (has_reserved_part(place->loaded->code.target, bytes, n)) return 0;
    size_t nbytes = LLVMDisasmInstruction(place->context, bytes, n, place->pc, text, TEXT);
    if (!nbytes) return 0;
    size_t spaces = strspn(text, "\t ");
    memmove(text, text + spaces, strlen(text) + 1 - spaces);
    return nbytes;
}

/* LLVM 21 does not read v_cmpx_..._e64 on gfx9 with another destination than EXEC, which it reads as EXEC's; the
 * hardware writes both. So it is shown that, and the scalar registers are put into the line. */
static size_t line_of_cmpx(const struct place *place, const u8 bytes[LONGEST], size_t n, char text[TEXT]) {
    static const char exec[] = "_e64 exec, ";
    u8 changed[LONGEST];
    char line[TEXT], name[16] = "vcc";
    unsigned sgpr = bytes[0];
    if (!(place->loaded->code.target & SIM_GFX9) || n < 8 || bytes[3] >> 2 != 0x34) return 0; /* not VOP3 */
    memcpy(changed, bytes, n);
    changed[0] = SIM_EXEC;
    size_t nbytes = line_of(place, changed, n, line);
    char *at = nbytes && !strncmp(line, "v_cmpx_", 7) ? strstr(line, exec) : NULL;
    if (sgpr < 102 && sgpr % 2 == 0)
        snprintf(name, sizeof name, "s[%u:%u]", sgpr, sgpr + 1);
    else if (sgpr != SIM_VCC)
        at = NULL;
    if (!at) return 0;
    int length = snprintf(text, TEXT, "%.*s_e64 %s, %s", (int)(at - line), line, name, at + sizeof exec - 1);
    return length > 0 && length < TEXT ? nbytes : 0;
}

static size_t read_bytes(const struct place *place, u8 bytes[LONGEST], size_t n, char text[TEXT]) {
    size_t nbytes = line_of(place, bytes, n, text);
    return nbytes ? nbytes : line_of_cmpx(place, bytes, n, text);
}

/* With the lock held: opens a place; false, and *why. */
static bool open_place(struct sim_code *code, u64 pc, struct place *place, char why[256]) {
    u64 at = pc - code->text;
    if (at >= code->text_bytes || at % 4 || code->text_bytes - at < 4) {
        snprintf(why, 256, "the program counter is outside the code: 0x%llx", (unsigned long long)pc);
        return false;
    }
    *place = (struct place){.loaded = (const struct sim_loaded *)code, .pc = pc};
    place->wave = wave_at(code, pc, &place->end);
    place->context = disassembler(place->loaded->cpu, place->wave);
    if (!place->context) snprintf(why, 256, "LLVM has no disassembler for %s", place->loaded->cpu);
    return place->context != NULL;
}

static size_t disassemble(const struct place *place, char text[TEXT], char why[256]) {
    const struct sim_code *code = &place->loaded->code;
    u8 bytes[LONGEST];
    u64 left = code->text + code->text_bytes - place->pc;
    size_t n = left < sizeof bytes ? left : sizeof bytes;
    memcpy(bytes, (const void *)(uintptr_t)place->pc, n);
    size_t nbytes = read_bytes(place, bytes, n, text);
    if (!nbytes) {
        u32 word;
        memcpy(&word, bytes, sizeof word);
        snprintf(why, 256, "not an instruction: 0x%08x", (unsigned)word);
    }
    return nbytes;
}

size_t sim_code_text(struct sim_code *code, u64 pc, char text[512], char why[256]) {
    struct place place;
    pthread_mutex_lock(&lock);
    size_t nbytes = open_place(code, pc, &place, why) ? disassemble(&place, text, why) : 0;
    pthread_mutex_unlock(&lock);
    return nbytes;
}

/* ---- whether a line says all of its bytes ---- */

/* v1 and v1.l are one register. */
static bool same_line(const char *a, const char *b) {
    for (;; a++, b++) {
        if (!strncmp(a, ".l", 2)) a += 2;
        if (!strncmp(b, ".l", 2)) b += 2;
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

/* Whether the line of these bytes becomes another one, or none, without a bit. */
static bool bit_counts(const struct place *place, const u8 *bytes, size_t nbytes, const char *text, unsigned bit) {
    u8 flipped[LONGEST] = {0};
    char other[TEXT];
    memcpy(flipped, bytes, nbytes);
    flipped[bit / 8] ^= (u8)(1 << bit % 8);
    size_t n = read_bytes(place, flipped, sizeof flipped, other);
    return n != nbytes || !same_line(text, other);
}

/* The last word is a literal of an operand of 16 bits, whose upper half nobody reads and LLVM does not print. */
static bool has_half_literal(const struct sim_inst *inst, unsigned n) {
    for (unsigned i = 0; i < inst->n_src; i++) {
        const struct sim_operand *o = &inst->src[i];
        bool half =
            o->type == SIM_B16 || o->type == SIM_U16 || o->type == SIM_I16 || o->type == SIM_F16 || o->type == SIM_BF16;
        if (o->kind == SIM_CONSTANT && o->literal) return half && n >= 8 && !inst->pair;
    }
    return false;
}

static bool is_faithful(const struct place *place, const struct sim_encoded *line, const struct sim_inst *inst,
                        char why[256]) {
    size_t nbytes = inst->nbytes;
    u8 bytes[sizeof line->bytes] = {0};
    if (nbytes > sizeof bytes) return snprintf(why, 256, "%zu bytes: %.150s", nbytes, line->text), false;
    memcpy(bytes, (const void *)(uintptr_t)place->pc, nbytes);
    if (line->nbytes == nbytes && !memcmp(bytes, line->bytes, nbytes)) return true;
    unsigned bits = 8 * (unsigned)nbytes;
    if (line->nbytes == nbytes && has_half_literal(inst, inst->nbytes)) bits -= 16;
    for (unsigned bit = 0; bit < bits; bit++) {
        unsigned was = bytes[bit / 8] >> bit % 8 & 1;
        unsigned is = bit / 8 < line->nbytes ? line->bytes[bit / 8] >> bit % 8 & 1 : 0;
        if (was == is || bit_counts(place, bytes, nbytes, line->text, bit)) continue;
        int n = snprintf(why, 256, "bit %u was not decoded:", bit);
        for (size_t i = 0; i < nbytes; i += 4) {
            u32 word;
            memcpy(&word, bytes + i, sizeof word);
            n += snprintf(why + n, 256 - (size_t)n, " 0x%08x", (unsigned)word);
        }
        snprintf(why + n, 256 - (size_t)n, " read as %.120s", line->text);
        return false;
    }
    return true;
}

/* ---- decoding ---- */

/* Lines are assembled so many at a time, as a call of the assembler costs as much as 50 lines. */
enum { BATCH = 256 };
static char texts[BATCH][TEXT];
static struct sim_encoded lines[BATCH];
static size_t sizes[BATCH];

/* The lines from a place on, to the end of the kernel or what is no instruction; how many. */
static size_t read_lines(struct place place, char why[256]) {
    size_t n = 0;
    while (n < BATCH && place.pc < place.end) {
        char reason[256];
        sizes[n] = disassemble(&place, texts[n], n ? reason : why);
        if (!sizes[n]) break;
        lines[n].text = texts[n];
        place.pc += sizes[n++];
    }
    return n;
}

/* An instruction that can't be run, with the reason in place of its text; no address is its own. */
static const u64 REFUSED = ~(u64)0;

static struct sim_inst *refusal(const char *why) {
    struct sim_inst *inst = calloc(1, sizeof *inst);
    char *text = inst ? strdup(why) : NULL;
    if (!text) {
        free(inst);
        return NULL;
    }
    inst->pc = REFUSED;
    inst->text = text;
    return inst;
}

static struct sim_inst *decode_line(const struct place *place, const struct sim_encoded *line, size_t nbytes) {
    const struct sim_code *code = &place->loaded->code;
    char reason[256], why[256];
    struct sim_inst *inst = sim_parse(code->target, line->text, place->pc, (unsigned)nbytes, reason);
    if (!inst) {
        snprintf(why, sizeof why, "%.120s: %.120s", line->text, reason);
        return refusal(why);
    }
    if (!is_faithful(place, line, inst, why)) {
        sim_inst_free(inst);
        return refusal(why);
    }
    inst->index = (unsigned)((place->pc - code->text) / 4);
    return inst;
}

/* With the lock held: fills the cache with the instruction at a place and those behind it, as their lines are here. */
static bool decode(struct sim_code *code, u64 pc, char why[256]) {
    struct place place;
    if (!open_place(code, pc, &place, why)) return false;
    size_t n = read_lines(place, why);
    if (!n) return false;
    if (!sim_encode(place.loaded->cpu, place.wave, lines, n)) {
        snprintf(why, 256, "LLVM's assembler for %s failed", place.loaded->cpu);
        return false;
    }
    snprintf(why, 256, "out of memory");
    for (size_t i = 0; i < n; place.pc += sizes[i++]) {
        struct sim_inst *_Atomic *slot = &code->cache[(place.pc - code->text) / 4];
        if (!*slot) *slot = decode_line(&place, &lines[i], sizes[i]);
    }
    return true;
}

const struct sim_inst *sim_code_inst(struct sim_code *code, u64 pc, char why[256]) {
    u64 at = pc - code->text;
    struct sim_inst *_Atomic *slot = at < code->text_bytes && at % 4 == 0 ? &code->cache[at / 4] : NULL;
    struct sim_inst *inst = slot ? *slot : NULL;
    if (!inst) {
        pthread_mutex_lock(&lock);
        inst = slot ? *slot : NULL;
        if (!inst && decode(code, pc, why)) inst = *slot;
        pthread_mutex_unlock(&lock);
    }
    if (!inst || inst->pc != REFUSED) return inst;
    snprintf(why, 256, "%s", inst->text);
    return NULL;
}

/* ---- source lines ---- */

static bool has_debug_lines(const struct sim_code *code) {
    return code->elf && memmem(code->elf, code->elf_bytes, ".debug_line", sizeof ".debug_line") != NULL;
}

void sim_code_line(const struct sim_code *code, u64 pc, char *text, size_t nbytes) {
    const struct sim_loaded *loaded = (const struct sim_loaded *)code;
    char path[] = "/tmp/gfxsim-XXXXXX", command[256], line[1024] = "";
    *text = 0;
    if (!has_debug_lines(code)) return;
    int file = mkstemp(path);
    if (file < 0) return;
    size_t done = 0;
    while (done < code->elf_bytes) {
        ssize_t n = write(file, (const char *)code->elf + done, code->elf_bytes - done);
        if (n <= 0) break;
        done += (size_t)n;
    }
    close(file);
    unsigned long long address = pc - (u64)(uintptr_t)code->memory + loaded->first;
    snprintf(
        command, sizeof command,
        "s=$(command -v llvm-symbolizer-19 || command -v llvm-symbolizer) && exec \"$s\" --obj=%s 0x%llx 2>/dev/null",
        path, address);
    FILE *answer = done == code->elf_bytes ? popen(command, "r") : NULL;
    if (answer) { /* the function, then file:line:column */
        bool two = fgets(line, sizeof line, answer) && fgets(line, sizeof line, answer);
        while (fgetc(answer) != EOF) continue;
        if (pclose(answer) == 0 && two && line[0] != '?') {
            char *column = strrchr(line, ':'), *name = strrchr(line, '/');
            if (column) *column = 0;
            snprintf(text, nbytes, "%s", name ? name + 1 : line);
        }
    }
    unlink(path);
}
