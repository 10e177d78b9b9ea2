/* Instructions of loaded code, decoded by LLVM's disassembler on first use, and the source lines of addresses. */
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
 * threads; the lock is theirs and that of all caches' filling. */
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
        const char *features = wave == 64 ? "+wavefrontsize64" : "+wavefrontsize32";
        snprintf(d->cpu, sizeof d->cpu, "%s", cpu);
        d->wave = wave;
        d->context = LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", cpu, features, NULL, 0, NULL, NULL);
    }
    return d->context;
}

/* The size of the waves of the kernel that begins nearest before an address; functions follow their kernels. */
static unsigned wave_at(const struct sim_code *code, u64 pc) {
    const struct sim_kernel *nearest = NULL;
    for (const struct sim_kernel *kernel = code->kernels; kernel; kernel = kernel->next) {
        if (kernel->entry <= pc && (!nearest || kernel->entry > nearest->entry)) nearest = kernel;
    }
    if (!nearest) nearest = code->kernels;
    return nearest ? nearest->wave : sim_wave_size(code->target);
}

/* With the lock held. */
static size_t disassemble(struct sim_code *code, u64 pc, char text[512], char why[256]) {
    const struct sim_loaded *loaded = (const struct sim_loaded *)code;
    u64 at = pc - code->text;
    if (at >= code->text_bytes || at % 4 || code->text_bytes - at < 4) {
        snprintf(why, 256, "the program counter is outside the code: 0x%llx", (unsigned long long)pc);
        return 0;
    }
    LLVMDisasmContextRef context = disassembler(loaded->cpu, wave_at(code, pc));
    if (!context) {
        snprintf(why, 256, "LLVM has no disassembler for %s", loaded->cpu);
        return 0;
    }
    u8 bytes[32];
    size_t n = code->text_bytes - at < sizeof bytes ? code->text_bytes - at : sizeof bytes;
    memcpy(bytes, (const void *)(uintptr_t)pc, n);
    size_t nbytes = LLVMDisasmInstruction(context, bytes, n, pc, text, 512);
    if (!nbytes) {
        u32 word;
        memcpy(&word, bytes, sizeof word);
        snprintf(why, 256, "not an instruction: 0x%08x", (unsigned)word);
        return 0;
    }
    size_t spaces = strspn(text, "\t ");
    memmove(text, text + spaces, strlen(text) + 1 - spaces);
    return nbytes;
}

size_t sim_code_text(struct sim_code *code, u64 pc, char text[512], char why[256]) {
    pthread_mutex_lock(&lock);
    size_t nbytes = disassemble(code, pc, text, why);
    pthread_mutex_unlock(&lock);
    return nbytes;
}

static struct sim_inst *decode(struct sim_code *code, u64 pc, char why[256]) {
    char text[512], reason[256];
    size_t nbytes = disassemble(code, pc, text, why);
    struct sim_inst *inst = nbytes ? sim_parse(code->target, text, pc, (unsigned)nbytes, reason) : NULL;
    if (inst) inst->index = (unsigned)((pc - code->text) / 4);
    if (!inst && nbytes) snprintf(why, 256, "%.120s: %.120s", text, reason);
    return inst;
}

const struct sim_inst *sim_code_inst(struct sim_code *code, u64 pc, char why[256]) {
    u64 at = pc - code->text;
    struct sim_inst *_Atomic *slot = at < code->text_bytes && at % 4 == 0 ? &code->cache[at / 4] : NULL;
    struct sim_inst *inst = slot ? *slot : NULL;
    if (inst) return inst;
    pthread_mutex_lock(&lock);
    inst = slot ? *slot : NULL;
    if (!inst) inst = decode(code, pc, why);
    if (inst) *slot = inst;
    pthread_mutex_unlock(&lock);
    return inst;
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
