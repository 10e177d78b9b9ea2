/* What the readers of code objects share. All of them take files as hostile: every offset and count is checked. */
#ifndef GFXSIM_CODE_H
#define GFXSIM_CODE_H

#include "gfxsim.h"

/* False when n bytes at `offset` are not all inside `whole` bytes. */
static inline bool sim_inside(u64 offset, u64 n, u64 whole) { return offset <= whole && n <= whole - offset; }

/* A loaded code object, and what only its own files need. The lock is of the cache's filling. */
struct sim_loaded {
    struct sim_code code;
    char cpu[16];    /* LLVM's name of the processor it was compiled for */
    u64 first, last; /* addresses of its segments in the ELF: byte `a` is at code.memory + (a - first) */
    char *strings;   /* where the metadata's next string goes in code.strings */
};
/* A place among the notes; all 0 is before the first. */
struct sim_note {
    unsigned segment;
    u64 offset;
};

/* elf.c: bytes that the ELF has by its own headers, of at most `nbytes`; 0, and *why, when it is none for AMD GPUs. */
size_t sim_elf_bytes(const u8 *image, size_t nbytes, char why[256]);
/* elf.c: whether the ELF was compiled for a target, and LLVM's name of its processor. */
bool sim_elf_target(const u8 *elf, enum sim_target target, char cpu[16], char why[256]);
/* elf.c: loads the segments, relocates them, lists the globals; code.elf is set already. */
bool sim_elf_load(struct sim_loaded *loaded, char why[256]);
/* elf.c: the symbol's place in device memory, and its size; NULL. */
void *sim_elf_symbol(const struct sim_loaded *loaded, const char *name, size_t *nbytes);
/* elf.c: the description of the next metadata note; NULL. One of several compilations linked together has one of each.
 */
const u8 *sim_elf_metadata(const struct sim_loaded *loaded, struct sim_note *place, size_t *nbytes);

/* decode.c: LLVM's text of the instruction at an address of the code, and its bytes; 0, and *why. */
size_t sim_code_text(struct sim_code *code, u64 pc, char text[512], char why[256]);

/* LLVM's name of a size of waves, for the features of a processor. */
static inline const char *sim_wave_feature(unsigned wave) {
    return wave == 64 ? "+wavefrontsize64" : "+wavefrontsize32";
}
/* encode.c: a line of assembly, and the bytes that LLVM's assembler makes of it: none where it refuses the line. */
struct sim_encoded {
    const char *text;
    u8 nbytes, bytes[16];
};
/* Fills in the bytes of n lines; false when LLVM or memory fails as a whole. Not for several threads at once. */
bool sim_encode(const char *cpu, unsigned wave, struct sim_encoded *lines, size_t n);

/* metadata.c: adds a note's kernels to the list, with all that it tells; `symbol` gets each one's descriptor's name.
 * No more bytes than the note's go to loaded->strings. */
bool sim_metadata_read(struct sim_loaded *loaded, const u8 *metadata, size_t nbytes,
                       bool (*found)(struct sim_code *code, struct sim_kernel *kernel, const char *symbol,
                                     char why[256]),
                       char why[256]);

#endif
