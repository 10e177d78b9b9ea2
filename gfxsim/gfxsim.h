/* gfxsim: a simulated AMD GPU. This is what its parts share; README.md tells what it is and how to use it.
 *
 *   code.c      code objects: bundles, ELF, descriptors, metadata        -> struct sim_code, sim_kernel
 *   text.c      LLVM's disassembly of an instruction                     -> struct sim_inst
 *   scalar.c    scalar instructions, branches, scalar memory             \
 *   vector*.c   vector instructions, compares, conversions, cross-lane    | tables of struct sim_op, and what they do
 *   access.c    global, flat, scratch and buffer memory, atomics          |
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

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;

/* ---- targets ---- */

enum sim_target {
    SIM_GFX90A = 1,
    SIM_GFX942 = 2,
    SIM_GFX1030 = 4,
    SIM_GFX1100 = 8, /* and gfx1151: the same instructions */
    SIM_GFX1201 = 16,
    SIM_GFX9 = SIM_GFX90A | SIM_GFX942,
    SIM_GFX10_11 = SIM_GFX1030 | SIM_GFX1100,
    SIM_GFX11_12 = SIM_GFX1100 | SIM_GFX1201,
    SIM_GFX10UP = SIM_GFX1030 | SIM_GFX11_12,
    SIM_ALL = SIM_GFX9 | SIM_GFX10UP
};

/* 0 when gfxsim does not know "gfx942:sramecc+:xnack-". */
enum sim_target sim_target_of(const char *name);
const char *sim_target_name(enum sim_target target); /* "gfx942", as LLVM's -mcpu */
static inline unsigned sim_wave_size(enum sim_target target) { return target & SIM_GFX9 ? 64 : 32; }

/* ---- instructions ---- */

/* Scalar registers are one array: s0..s105, then those with names, at the numbers LLVM's encodings have on gfx9. */
enum sim_sgpr {
    SIM_VCC = 106,
    SIM_TTMP = 108, /* ttmp0 */
    SIM_M0 = 124,
    SIM_NULL = 125, /* reads 0, writes are lost */
    SIM_EXEC = 126,
    SIM_SGPRS = 128
};

/* What an operand is read and written as. Types decide the width in registers, which bits a literal becomes, and
 * whether neg and abs apply (floats). */
enum sim_type {
    SIM_NONE, /* no such operand */
    SIM_B16,
    SIM_U16,
    SIM_I16,
    SIM_F16,
    SIM_BF16,
    SIM_B32,
    SIM_U32,
    SIM_I32,
    SIM_F32,
    SIM_V2F16, /* packed halves: op_sel, op_sel_hi, neg_lo, neg_hi */
    SIM_V2I16,
    SIM_V2BF16,
    SIM_V2F32, /* packed f32: a pair of registers */
    SIM_V2B32,
    SIM_B64,
    SIM_U64,
    SIM_I64,
    SIM_F64,
    SIM_MASK, /* a bit a lane: one scalar register in a wave of 32, two in a wave of 64 */
    SIM_B96,
    SIM_B128,
    SIM_B256,
    SIM_B512,
    SIM_B1024,
    SIM_IMM, /* a number of the instruction: a branch's distance, s_waitcnt's, hwreg(...) as its encoding */
    SIM_ANY  /* as many registers as the text says */
};

enum sim_kind {
    SIM_ABSENT, /* "off" */
    SIM_VGPR,
    SIM_AGPR, /* VGPRs of their own: row n_arch_vgprs + index of the wave */
    SIM_SGPR,
    SIM_CONSTANT, /* bits in value, at the width of the type */
    SIM_SCC,
    SIM_SPECIAL /* src_shared_base and its like; which, in index. flat_scratch is s[102:103], xnack_mask s[104:105] */
};
enum sim_special {
    SIM_SHARED_BASE,
    SIM_SHARED_LIMIT,
    SIM_PRIVATE_BASE,
    SIM_PRIVATE_LIMIT,
    SIM_VCCZ,
    SIM_EXECZ,
    SIM_LDS_DIRECT,
    SIM_POPS
};

struct sim_operand {
    u8 kind;  /* enum sim_kind */
    u8 type;  /* enum sim_type, from the op's row */
    u8 count; /* registers, as the text says: v[4:7] has 4 */
    bool neg, abs, sext;
    bool high;     /* v1.h */
    bool is_float; /* a constant that was written as one: 1.0 */
    bool literal;  /* a constant that was written in hexadecimal */
    u16 index;
    u64 value;   /* of a constant, once the type is known (sim_bind_constant) */
    i64 integer; /* as written */
    double real;
};

enum sim_class { /* of the profile */
                 SIM_CLASS_SALU,
                 SIM_CLASS_SMEM,
                 SIM_CLASS_BRANCH,
                 SIM_CLASS_WAIT, /* s_waitcnt, s_nop, s_delay_alu, s_barrier, caches */
                 SIM_CLASS_VALU,
                 SIM_CLASS_TRANS, /* v_exp_f32 and its like */
                 SIM_CLASS_CROSS, /* DPP, permutes, readlane */
                 SIM_CLASS_MATRIX,
                 SIM_CLASS_GLOBAL,
                 SIM_CLASS_SCRATCH,
                 SIM_CLASS_LDS,
                 SIM_CLASSES
};

/* The operands of a row are those LLVM prints, in its order, destinations first. The parser makes the forms of one
 * mnemonic alike, so that a row is written once:
 *   suffixes       _e32 _e64 _dpp _e64_dpp _sdwa are cut; v_dual_x is v_x
 *   v_cmp_*        dst mask (VCC, or scalar registers), two sources
 *   v_cmpx_*       the same; gfx10 and later print no destination: dst[0] is EXEC there. gfx9 writes dst[0] and EXEC
 *   v_cndmask_*    dst, a, b, mask: VCC is added where it is not printed
 *   v_add_co_u32, v_sub_co_u32, v_subrev_co_u32               dst, mask out, a, b
 *   v_addc_co_u32, v_subb_co_u32 (gfx9), v_*_co_ci_u32 (gfx10 and later)     dst, mask out, a, b, mask in
 *   v_div_scale_*  dst, mask out, a, b, c
 *   v_div_fmas_*   dst, a, b, c, mask: VCC, added
 *   v_mad_u64_u32, v_mad_i64_i32   dst, mask out, a, b, c
 *   v_fmac, v_pk_fmac, v_dot*c, v_dot2acc    dst, a, b: the destination is read too, and is not printed again
 *   v_fmaak dst, a, b, K; v_fmamk dst, a, K, b
 *   v_swap_b32     two destinations
 *   v_readlane_b32 scalar dst, row, lane; v_writelane_b32 dst (read too), value, lane
 *   v_mfma_*, v_wmma_*   dst, a, b, c; smfmac, swmmac: dst (read too), a, b, index
 *   s_load_*       dst, base, offset: a constant or a scalar register; inst->offset is added to a register
 *   s_cmp_*, s_bitcmp_*   no destination; s_addk_i32, s_mulk_i32: dst (read too), SIM_IMM
 *   s_setreg_b32   no destination: SIM_IMM (the hwreg), value; s_getreg_b32: dst, SIM_IMM
 *   s_waitcnt, s_waitcnt_depctr, s_wait_alu, s_wait_event, s_delay_alu, s_version    one SIM_IMM, always 0: nobody
 * needs what it says s_endpgm       SIM_IMM; any last SIM_IMM may be missing from the text, and is 0 s_branch,
 * s_cbranch_*, s_call_b64        the last source is SIM_IMM; inst->target is the address global_load    dst, vaddr,
 * saddr; global_store: vaddr, vdata, saddr. saddr "off" is SIM_ABSENT and vaddr a pair of registers; else vaddr is one
 * register. Give vaddr and saddr the type SIM_ANY global_load_lds_*   vaddr, saddr global_load_dword_addtid  dst,
 * saddr; global_store_dword_addtid: vdata, saddr scratch_load   dst, vaddr, saddr; scratch_store: vaddr, vdata, saddr:
 * each may be SIM_ABSENT With lds, global_load and scratch_load have SIM_ABSENT for dst[0] flat_load      dst, vaddr;
 * flat_store: vaddr, vdata global_atomic  dst, vaddr, vdata, saddr; flat_atomic: dst, vaddr, vdata. Without glc dst[0]
 * is SIM_ABSENT buffer_load    dst, vaddr, rsrc, soffset; with lds dst[0] is SIM_ABSENT; buffer_store: vdata, vaddr,
 * rsrc, soffset buffer_atomic  the same as a store; with glc the old value goes into vdata ds_*           dst, address,
 * data, data, as printed: ds_read2_b32 has dst, address; ds_write2_b32 address, a, b ds_append, ds_consume,
 * ds_read_addtid_b32   dst; ds_write_addtid_b32: data A SIM_IMM is the number as written: 16-bit ones are mostly
 * written unsigned, cut them with (i16). The number of registers in the text must be that of the row's type (SIM_ANY:
 * any). */
struct sim_wave;
struct sim_inst;
typedef void sim_run(struct sim_wave *wave, const struct sim_inst *inst);

enum { SIM_DSTS = 2, SIM_SRCS = 6, SIM_OPERANDS = SIM_DSTS + SIM_SRCS };

/* A row of a table: a mnemonic without _e32, _e64, _dpp, _sdwa, and what it does. */
struct sim_op {
    const char *name;
    u8 targets; /* enum sim_target; a mnemonic may have rows for several groups of targets */
    u8 class;
    u8 dst[SIM_DSTS], src[SIM_SRCS]; /* enum sim_type, in the order of the text; SIM_NONE ends each */
    sim_run *run;                    /* does all of it: reads, computes, writes under EXEC, definedness */
    const void *detail;              /* the table's own */
};
/* Ended by a row without a name. */
extern const struct sim_op sim_scalar_ops[], sim_access_ops[], sim_lds_ops[], sim_matrix_ops[];
/* Tables as those above, ended by NULL: the vector files are compiled for two sets of x86 instructions, and these are
 * the tables of the better one that the processor has. */
const struct sim_op *const *sim_vector_tables(void);
sim_run sim_run_pair;

/* Words of a memory instruction about caches: they tell volatile and atomic accesses from plain ones. glc is apart. */
enum sim_mode { SIM_SLC = 1 /* or sc1 */, SIM_DLC = 2, SIM_NT = 4 /* nt, and gfx12's th: with NT in its name */ };

enum sim_dpp { SIM_DPP_NONE, SIM_DPP16, SIM_DPP8 };
enum sim_dpp_control {                        /* of DPP16, as encoded */
                       SIM_QUAD_PERM = 0x000, /* + 8 bits */
                       SIM_ROW_SHL = 0x100,   /* + 1..15 */
                       SIM_ROW_SHR = 0x110,
                       SIM_ROW_ROR = 0x120,
                       SIM_WAVE_SHL = 0x130,
                       SIM_WAVE_ROL = 0x134,
                       SIM_WAVE_SHR = 0x138,
                       SIM_WAVE_ROR = 0x13c,
                       SIM_ROW_MIRROR = 0x140,
                       SIM_ROW_HALF_MIRROR = 0x141,
                       SIM_ROW_BCAST15 = 0x142,
                       SIM_ROW_BCAST31 = 0x143,
                       SIM_ROW_SHARE = 0x150, /* gfx10+; row_newbcast on gfx90a */
                       SIM_ROW_XMASK = 0x160
};
enum sim_sdwa { SIM_BYTE_0, SIM_BYTE_1, SIM_BYTE_2, SIM_BYTE_3, SIM_WORD_0, SIM_WORD_1, SIM_DWORD };
enum sim_sdwa_unused { SIM_UNUSED_PAD, SIM_UNUSED_SEXT, SIM_UNUSED_PRESERVE };

struct sim_inst {
    sim_run *run;
    const struct sim_op *op;
    struct sim_operand dst[SIM_DSTS], src[SIM_SRCS];
    u8 n_dst, n_src;
    u8 nbytes;
    /* modifiers of vector instructions */
    bool clamp;
    u8 omod;                              /* 0, 1: *2, 2: *4, 3: /2 */
    u8 op_sel, op_sel_hi, neg_lo, neg_hi; /* a bit a source, op_sel's bit n_src the destination; op_sel_hi is all
                                             ones when a packed instruction does not say */
    u8 dpp;                               /* enum sim_dpp */
    u16 dpp_control;                      /* of DPP16 */
    u32 dpp8;                             /* 8 x 3 bits */
    u8 row_mask, bank_mask;               /* 0xf when not said */
    bool bound_ctrl, fi;                  /* bound_ctrl: lanes out of range read 0; fi: inactive lanes are read */
    u8 byte_sel;                          /* byte_sel:2 of gfx12's conversions; else 0 */
    bool sdwa;
    u8 dst_sel, dst_unused, src_sel[2]; /* SIM_DWORD when not said */
    u8 cbsz, abid, blgp;                /* of MFMA; abid is index_key of SWMMAC */
    /* modifiers of memory instructions */
    i32 offset;
    u32 offset0, offset1;
    bool glc; /* an atomic that returns; sc0 on gfx942, th:TH_ATOMIC_RETURN on gfx12 */
    bool offen, idxen, addr64, lds, tfe, gds;
    u8 scope;                    /* gfx12 */
    u8 mode;                     /* enum sim_mode */
    u64 target;                  /* address a branch goes to */
    const struct sim_inst *pair; /* the second half of v_dual_*; run is then sim_run_pair, which runs both */
    u64 pc;
    const char *text; /* the disassembled line */
    unsigned index;   /* in its code object, for counters */
};

/* The constant of an operand in the bits of its type: 1.0 as f16 is 0x3c00, a literal of an f64 its upper half. */
void sim_bind_constant(struct sim_operand *operand);
/* Parses LLVM's text for one instruction. NULL, and *why, when a mnemonic, an operand or a modifier is not known. The
 * caller frees the result. */
struct sim_inst *sim_parse(enum sim_target target, const char *text, u64 pc, unsigned nbytes, char why[256]);
void sim_inst_free(const struct sim_inst *inst); /* and its text and pair; NULL is fine */
/* The row of a mnemonic (suffixes already cut) for a target; NULL. */
const struct sim_op *sim_op_find(enum sim_target target, const char *name);

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
    u32 number; /* in the launch, from 0 */
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
    u32 grid[3];      /* blocks */
    u32 block[3];     /* threads */
    u32 shared;       /* bytes of dynamic LDS */
    const void *args; /* explicit arguments, or all of them */
    size_t nbytes;
    int device;           /* ordinal */
    u32 serial;           /* launches of the process, from 1 */
    const u8 *kernarg;    /* in device memory, while it runs */
    _Atomic int failed;   /* what the first finding said; the launch's other blocks then stop */
    _Atomic u32 acquires; /* access.c's; 0 when the launch starts */
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
};
extern struct sim_settings sim_settings; /* read once, by sim_settings_read */
void sim_settings_read(void);

/* ---- findings ---- */

/* Ends the launch with a finding: "outside an allocation: ...". Kernel, block, wave, lane (-1: no one), instruction and
 * source line are added. Does not return. `code`: 700 or 719. */
_Noreturn void sim_fail(struct sim_wave *wave, int lane, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
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
