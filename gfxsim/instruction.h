/* Targets, and an instruction as gfxsim runs it: its operands, its row of a table, its modifiers. */
#ifndef GFXSIM_INSTRUCTION_H
#define GFXSIM_INSTRUCTION_H

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

#endif
