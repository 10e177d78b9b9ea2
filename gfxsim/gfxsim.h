/* gfxsim: a simulated AMD GPU. This is what its parts share; README.md tells what it is and how to use it.
 *
 *   code.c      code objects: bundles, ELF, descriptors, metadata        -> struct sim_code, sim_kernel
 *   decode.c    LLVM's disassembly, checked by its assembler (encode.c)
 *   text.c      LLVM's disassembly of an instruction                     -> struct sim_inst
 *   scalar.c    scalar instructions, branches, scalar memory             \
 *   vector*.c   vector instructions, compares, conversions, cross-lane    | tables of struct sim_op, and what they do
 *   access.c    global, flat, scratch memory; buffer.c, atomic.c          |
 *   lds.c       LDS                                                       |
 *   matrix.c    MFMA, WMMA, dot products                                 /
 *   memory.c    the device's memory and what is known of each byte
 *   launch.c    a launch: blocks over threads, waves in turns, barriers
 *   report.c    findings
 *   profile.c   counts
 *   record.c    launches written to files
 *   driver/     the HIP runtime's ABI over all that
 *
 * A device address is the host's address of the same byte. Registers are rows of 64 lanes whatever the wave's size, so
 * that a loop over a row has a constant length; a wave of 32 has its upper lanes never in EXEC. */
#ifndef GFXSIM_H
#define GFXSIM_H

#include "gfxsim/instruction.h"

#include <setjmp.h>

/* ---- code objects ---- */

struct sim_kernel {
    struct sim_kernel *next;
    struct sim_code *code;
    const char *name;
    u64 entry;                          /* address of its first instruction */
    u32 lds, scratch, kernarg;          /* bytes: of a block, of a lane, of the arguments with the hidden ones */
    u32 explicit_args;                  /* bytes before the hidden arguments, by the metadata */
    u32 n_vgprs, n_arch_vgprs, n_sgprs; /* rows a wave has; the AGPRs start at n_arch_vgprs (0: none) */
    u32 rsrc1, rsrc2, rsrc3;            /* of the descriptor */
    u16 properties;
    u16 kernarg_preload;  /* SGPRs preloaded with arguments, gfx90a/gfx942 */
    unsigned wave;        /* 32 or 64 */
    unsigned code_object; /* 4, 5, 6 */
    unsigned max_threads; /* .max_flat_workgroup_size */
    bool dynamic_stack;
    bool uniform;       /* .uniform_work_group_size: blocks are all of one size */
    struct sim_hidden { /* of the metadata, by kind */
        u8 kind;
        u16 offset, size;
    } hidden[24];
    unsigned n_hidden;
    struct sim_argument { /* the explicit ones in order, by the metadata; freed with the kernel */
        u32 offset, size;
    } * args;
    unsigned n_args;
};
enum sim_hidden_kind {
    SIM_HIDDEN_NONE,
    SIM_BLOCK_COUNT_X,
    SIM_BLOCK_COUNT_Y,
    SIM_BLOCK_COUNT_Z,
    SIM_GROUP_SIZE_X,
    SIM_GROUP_SIZE_Y,
    SIM_GROUP_SIZE_Z,
    SIM_REMAINDER_X,
    SIM_REMAINDER_Y,
    SIM_REMAINDER_Z,
    SIM_GLOBAL_OFFSET_X,
    SIM_GLOBAL_OFFSET_Y,
    SIM_GLOBAL_OFFSET_Z,
    SIM_GRID_DIMS,
    SIM_HIDDEN_PRIVATE_BASE,
    SIM_HIDDEN_SHARED_BASE,
    SIM_DYNAMIC_LDS,
    SIM_HIDDEN_OTHER /* zero */
};

struct sim_code {
    enum sim_target target;
    char *memory; /* loaded segments, in device memory */
    size_t nbytes;
    struct sim_kernel *kernels;
    struct sim_symbol {
        struct sim_symbol *next;
        const char *name;
        void *at;
        size_t nbytes;
    } * globals;
    u64 text; /* address of the first instruction of .text, and its bytes */
    size_t text_bytes;
    struct sim_inst *_Atomic *cache; /* by (pc - text) / 4, filled on first use */
    void *elf;                       /* a copy of the image, for debug information */
    size_t elf_bytes;
    void *strings; /* what names point into */
};
/* Loads a code object for a target from an offload bundle (compressed ones are refused) or a bare ELF; `nbytes` may be
 * SIZE_MAX where only the image's own headers tell. NULL, and *why. */
struct sim_code *sim_code_load(enum sim_target target, const void *image, size_t nbytes, char why[256]);
void sim_code_unload(struct sim_code *code);
const struct sim_kernel *sim_code_kernel(const struct sim_code *code, const char *name);
/* The instruction at an address, decoded on first use; NULL, and *why. */
const struct sim_inst *sim_code_inst(struct sim_code *code, u64 pc, char why[256]);
/* "walk.h:118" of an address, where the ELF has debug information and a symbolizer is installed; else "". */
void sim_code_line(const struct sim_code *code, u64 pc, char *text, size_t nbytes);

/* ---- memory ---- */

/* Everything a kernel may reach lies in one reserved range; beside each byte, at a fixed distance, is what is known of
 * it. */
enum sim_state {
    SIM_OUTSIDE = 0, /* no allocation */
    SIM_FREED = 1,
    SIM_UNDEFINED = 2, /* allocated, never written */
    SIM_DEFINED = 3,
    SIM_READ_ONLY = 7 /* defined, and kernels may not write it */
};
enum { SIM_ALIGN = 256 };
/* Address space and shadow are reserved on first use. An allocation has at least 256 bytes of nothing on either side
 * and, while there is room, addresses are not used again. NULL when there is none left. */
void *sim_memory_new(size_t nbytes, enum sim_state state);
void sim_memory_free(void *memory);
/* Sets what is known of n bytes. */
void sim_memory_mark(const void *at, size_t n, enum sim_state state);
/* After a copy: what is known of the source is known of the target, when both are in the range; a host source is
 * defined. */
void sim_memory_copied(const void *to, const void *from, size_t n);
/* The start and size of the allocation, live or freed, at or nearest below an address; false when there is none. */
bool sim_memory_find(const void *at, const void **base, size_t *nbytes, bool *live);
extern u8 *sim_range, *sim_shadow; /* sim_shadow[p - sim_range] is an enum sim_state */
extern size_t sim_range_bytes;

/* ---- waves, blocks, launches ---- */

struct sim_block;
struct sim_launch;

enum sim_wave_state { SIM_RUNS, SIM_WAITS /* at a barrier */, SIM_ENDED };

struct sim_wave {
    union {
        u32 s[SIM_SGPRS];
        u64 s64[SIM_SGPRS / 2]; /* EXEC is s64[63], VCC s64[53] */
    };
    u32 s_known[SIM_SGPRS];      /* a bit a bit: masks of lanes are built of parts that were never written, which later
                                    ands take away */
    u32 (*v)[64];                /* rows; lanes above the wave's size are 0 */
    u64 *v_defined;              /* a bit a lane, by row */
    u64 pc;                      /* of the next instruction: run functions of branches set it */
    const struct sim_inst *inst; /* that runs now */
    u64 lanes;                   /* those the wave was started with: ~0 for a full wave of 64 */
    unsigned size;               /* 32 or 64 */
    unsigned id;                 /* in its block */
    bool scc, scc_defined;
    u32 mode; /* hardware register MODE */
    u32 n_v, n_arch;
    enum sim_wave_state state;
    u8 barrier_signalled; /* s_barrier_signal without its s_barrier_wait */
    u64 steps;
    struct sim_block *block;
    struct sim_code *code;
    enum sim_target target;
    char *scratch;      /* lane l's byte i at scratch + l * scratch_bytes + i */
    u8 *scratch_shadow; /* enum sim_state of each */
    u32 scratch_bytes;
    struct sim_counts *counts; /* of this host thread; NULL without a profile */
};
#define SIM_EXEC64(wave) ((wave)->s64[SIM_EXEC / 2])
#define SIM_VCC64(wave) ((wave)->s64[SIM_VCC / 2])

/* What is known of a byte of LDS; lds.c's. All 0 when a block starts. */
struct sim_lds_byte {
    u32 writer, reader;
};
struct sim_block {
    struct sim_launch *launch;
    u32 id[3];
    u32 size[3]; /* threads */
    u32 number;  /* in the launch, from 0 */
    u32 n_waves;
    struct sim_wave *waves;
    u8 *lds;
    struct sim_lds_byte *lds_known; /* NULL with GFXSIM_CHECK=off */
    u32 lds_bytes;
    u32 epoch;       /* barriers passed, from 1 */
    u32 acquired;    /* access.c's; 0 when the block starts */
    jmp_buf *failed; /* sim_fail goes there */
};
struct sim_launch {
    const struct sim_kernel *kernel;
    u32 grid[3];      /* blocks, the smaller last ones too */
    u32 block[3];     /* threads */
    u32 rest[3];      /* threads of the last block where it is smaller, else 0 */
    u32 shared;       /* bytes of dynamic LDS */
    bool cooperative; /* blocks may wait for each other: each has a host thread */
    const void *args; /* explicit arguments, or all of them */
    size_t nbytes;
    int device;           /* ordinal */
    u32 serial;           /* launches of the process, from 1 */
    const u8 *kernarg;    /* in device memory, while it runs */
    _Atomic int failed;   /* what the first finding said; the launch's other blocks then stop */
    _Atomic u32 acquires; /* access.c's; 0 when the launch starts */
    bool tolerant;        /* the kernel is one of GFXSIM_TOLERATE's */
    _Atomic u32 doubts;   /* a bit for each enum sim_doubt that was reported and tolerated */
};

/* Runs a launch to its end. 0, or HIP's 700 (a fault in memory) or 719 (any other finding), after the report of it. */
int sim_launch_run(struct sim_launch *launch);

/* Memory of a lane: the bytes at an address of the global segment, or the finding. `write`, or `atomic` with both.
 * Marks what is written as defined; of what is read, says whether all of it was. */
enum sim_access { SIM_READ = 1, SIM_WRITE = 2, SIM_ATOMIC = 4 };
void sim_access(struct sim_wave *wave, unsigned lane, u64 address, unsigned nbytes, unsigned alignment, int access);

/* gfx90a and gfx1030 reach scratch by buffer instructions too, with the descriptor that a wave starts with: base 0, and
 * these two bits set, by which an access knows it. Its base and soffset count bytes of a whole wave, so the byte of a
 * lane is (base + soffset) / wave size + voffset + the instruction's offset. */
static const u32 SIM_SCRATCH_WORD1 = (u32)1 << 31 /* swizzled */,
                 SIM_SCRATCH_WORD3 = (u32)1 << 23 /* the lane is added */;
/* Apertures of flat addresses. */
static const u64 SIM_SHARED_APERTURE = (u64)1 << 56, SIM_PRIVATE_APERTURE = (u64)2 << 56; /* 4 GiB each */

/* ---- settings ---- */
struct sim_settings {
    bool check;           /* GFXSIM_CHECK=off turns it off */
    bool isa;             /* GFXSIM_CHECK=isa: no finding where the ISA says what comes of it */
    u64 seed;             /* GFXSIM_SEED: the order of waves and blocks */
    unsigned threads;     /* GFXSIM_THREADS; the machine's when unset */
    u64 steps;            /* GFXSIM_STEPS: instructions a wave may run, 2^32 when unset */
    const char *profile;  /* GFXSIM_PROFILE: a file, or NULL */
    bool count;           /* for a profile, or for gfxsim_counts (counts.h) */
    const char *report;   /* GFXSIM_REPORT: a file findings are added to, or NULL */
    const char *trace;    /* GFXSIM_TRACE: a file each launch is added to, or NULL */
    int units;            /* GFXSIM_UNITS: compute units of a card; 0, the real one's, when unset */
    const char *record;   /* GFXSIM_RECORD: a folder launches are written to, or NULL */
    unsigned record_each; /* GFXSIM_RECORD_EACH: launches of a kernel, 1 when unset */
    const char *tolerate; /* GFXSIM_TOLERATE: kernels with patterns as of files, or NULL */
};
extern struct sim_settings sim_settings; /* read once, by sim_settings_read */
void sim_settings_read(void);

/* ---- findings ---- */

/* Ends the launch with a finding: "outside an allocation: ...". Kernel, block, wave, lane (-1: no one), instruction and
 * source line are added. Does not return. `code`: 700 or 719. */
_Noreturn void sim_fail(struct sim_wave *wave, int lane, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* What a card does without a sign. */
enum sim_doubt {
    SIM_LDS_RACE = 1 << 0,
    SIM_LDS_UNWRITTEN = 1 << 1,
    SIM_BLOCK_RACE = 1 << 2,
    SIM_MEMORY_UNWRITTEN = 1 << 3,
    SIM_INACTIVE_LANE = 1 << 4
};
/* The same as sim_fail with 719, unless the kernel is one of GFXSIM_TOLERATE's. Then it returns, and the instruction
 * does what it does without checks; the first doubt of a kind in a launch is reported, and is no finding. */
void sim_doubt(struct sim_wave *wave, int lane, enum sim_doubt kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether GFXSIM_TOLERATE has the kernel. */
bool sim_tolerates(const char *kernel);
/* A finding of a launch that no wave made, such as a block that is too large. */
void sim_report(const struct sim_launch *launch, const char *what);
extern _Atomic long sim_findings; /* of the process */

/* ---- reading and writing registers, for all tables ---- */

/* Register n of a scalar operand of any kind, where n counts its registers. Undefined ones are a finding when
 * `must` says so (an address, a branch, what is stored). */
u32 sim_scalar_read(struct sim_wave *wave, const struct sim_operand *operand, unsigned n);
u64 sim_scalar_read64(struct sim_wave *wave, const struct sim_operand *operand);
bool sim_scalar_defined(const struct sim_wave *wave, const struct sim_operand *operand);
/* Which bits of register n of an operand were written. */
u32 sim_scalar_known(const struct sim_wave *wave, const struct sim_operand *operand, unsigned n);
void sim_scalar_write(struct sim_wave *wave, const struct sim_operand *operand, unsigned n, u32 value, bool defined);
/* The same with what is known of each bit. EXEC gets no unknown bit of a lane that was started: that is a finding. */
void sim_scalar_put(struct sim_wave *wave, const struct sim_operand *operand, unsigned n, u32 value, u32 known);
void sim_scalar_write64(struct sim_wave *wave, const struct sim_operand *operand, u64 value, bool defined);

/* The number of the row of register n of a vector operand; one the kernel does not have is a finding. */
unsigned sim_row_index(struct sim_wave *wave, const struct sim_operand *operand, unsigned n);
/* The row of register n of a vector operand, as 64 values: the register itself, or `space` filled with a scalar's or
 * constant's. No modifiers. *defined gets the lanes that are. */
const u32 *sim_row(struct sim_wave *wave, const struct sim_operand *operand, unsigned n, u32 space[64], u64 *defined);
/* The row to write register n of a vector destination to; NULL: not a vector register. */
u32 *sim_row_out(struct sim_wave *wave, const struct sim_operand *operand, unsigned n, u64 **defined);

/* ---- counts ---- */

struct sim_counts { /* of a kernel, summed over its launches */
    u64 waves, launches, instructions[SIM_CLASSES], lanes[SIM_CLASSES];
    u64 bytes[2], segments[2];       /* read, written by lanes: asked for, and 64-byte segments touched */
    u64 lds_accesses, lds_conflicts; /* extra cycles by banks in use twice */
    u64 branches, divergent;
};
void sim_profile_add(const struct sim_launch *launch, const struct sim_counts *counts);
void sim_profile_write(void); /* at exit */
/* Adds a line to GFXSIM_TRACE. */
void sim_trace(const struct sim_launch *launch);

#endif
