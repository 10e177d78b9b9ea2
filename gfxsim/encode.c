/* LLVM's assembler, by its C interface: the bytes of lines of assembly, to compare with those the lines were read from.
 * A module without functions and with assembly of its own is what goes through the code generator. */
#include "code.h"

#include <elf.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char triple[] = "amdgcn-amd-amdhsa";

/* One for a processor and size of waves, made on first use and kept, as in decode.c; its lock is held. */
static struct assembler {
    char cpu[16];
    unsigned wave;
    LLVMTargetMachineRef machine;
} assemblers[16];

static LLVMTargetMachineRef assembler(const char *cpu, unsigned wave) {
    size_t n = sizeof assemblers / sizeof *assemblers, i = 0;
    while (i < n && assemblers[i].machine && (strcmp(assemblers[i].cpu, cpu) || assemblers[i].wave != wave)) i++;
    if (i == n) return NULL;
    struct assembler *a = &assemblers[i];
    if (!a->machine) {
        LLVMInitializeAMDGPUTargetInfo();
        LLVMInitializeAMDGPUTarget();
        LLVMInitializeAMDGPUTargetMC();
        LLVMInitializeAMDGPUAsmParser();
        LLVMInitializeAMDGPUAsmPrinter();
        LLVMTargetRef target;
        char *error = NULL;
        if (LLVMGetTargetFromTriple(triple, &target, &error)) {
            LLVMDisposeMessage(error);
            return NULL;
        }
        snprintf(a->cpu, sizeof a->cpu, "%s", cpu);
        a->wave = wave;
        a->machine = LLVMCreateTargetMachine(target, triple, cpu, sim_wave_feature(wave), LLVMCodeGenLevelNone,
                                             LLVMRelocDefault, LLVMCodeModelDefault);
    }
    return a->machine;
}

/* What is wrong with a line shows in its bytes. */
static void ignore(LLVMDiagnosticInfoRef info, void *context) { (void)info, (void)context; }

/* The object file of some assembly; NULL. */
static LLVMMemoryBufferRef assemble(LLVMTargetMachineRef machine, const char *text, size_t nbytes) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(context, ignore, NULL);
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("lines", context);
    LLVMMemoryBufferRef object = NULL;
    char *error = NULL;
    LLVMSetTarget(module, triple);
    LLVMSetModuleInlineAsm2(module, text, nbytes);
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &error, &object)) {
        LLVMDisposeMessage(error);
        object = NULL;
    }
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return object;
}

/* The code in an object file, which LLVM has just made. */
static const u8 *code_of(const char *elf, size_t *nbytes) {
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    memcpy(&header, elf, sizeof header);
    memcpy(&names, elf + header.e_shoff + (size_t)header.e_shstrndx * sizeof names, sizeof names);
    for (unsigned i = 0; i < header.e_shnum; i++) {
        memcpy(&section, elf + header.e_shoff + (size_t)i * sizeof section, sizeof section);
        if (strcmp(elf + names.sh_offset + section.sh_name, ".text") != 0) continue;
        *nbytes = section.sh_size;
        return (const u8 *)elf + section.sh_offset;
    }
    *nbytes = 0;
    return NULL;
}

/* Each line begins at a multiple of SLOT bytes, whatever becomes of it, and has a word of its own behind it. */
enum { SLOT = 32, MARK = 0x5c0de000 };

static void read_slot(const u8 *slot, u32 mark, struct sim_encoded *line) {
    for (unsigned n = 0; n + 4 <= SLOT; n += 4) {
        if (memcmp(slot + n, &mark, sizeof mark) != 0) continue;
        line->nbytes = n <= sizeof line->bytes ? (u8)n : 0;
        memcpy(line->bytes, slot, line->nbytes);
        return;
    }
}

bool sim_encode(const char *cpu, unsigned wave, struct sim_encoded *lines, size_t n) {
    size_t room = 64 * n + 1, at = 0, nbytes;
    for (size_t i = 0; i < n; i++) room += strlen(lines[i].text);
    LLVMTargetMachineRef machine = assembler(cpu, wave);
    char *text = machine ? malloc(room) : NULL;
    if (!text) return false;
    for (size_t i = 0; i < n; i++) {
        lines[i].nbytes = 0;
        at += (size_t)snprintf(text + at, room - at, "%s\n.long 0x%x\n.balign %d\n", lines[i].text,
                               (unsigned)(MARK + i), SLOT);
    }
    LLVMMemoryBufferRef object = assemble(machine, text, at);
    free(text);
    if (!object) return false;
    const u8 *code = code_of(LLVMGetBufferStart(object), &nbytes);
    for (size_t i = 0; i < n && (i + 1) * SLOT <= nbytes; i++) read_slot(code + i * SLOT, (u32)(MARK + i), &lines[i]);
    LLVMDisposeMemoryBuffer(object);
    return true;
}
