/* The parser: LLVM's text in, the fields of struct sim_inst out, written here as one line each:
 *
 *   mnemonic | destinations | sources | modifiers that are not their defaults
 *
 * v[4:5] is registers v4 and v5, s106 VCC, s126 EXEC, =3c00 a constant's bits, none an absent operand. The rows are
 * this test's own, in the order that gfxsim.h promises. */
#include "gfxsim/gfxsim.h"
#include "tests/test.h"

#include <stdarg.h>

#define ROW(n, t, c, d, s)                                                                                             \
    { .name = n, .targets = t, .class = SIM_CLASS_##c, .dst = d, .src = s }
#define T(...)                                                                                                         \
    { __VA_ARGS__ }
const struct sim_op sim_scalar_ops[] = {
    ROW("s_mov_b32", SIM_ALL, SALU, T(SIM_B32), T(SIM_B32)),
    ROW("s_mov_b64", SIM_ALL, SALU, T(SIM_B64), T(SIM_B64)),
    ROW("s_ashr_i64", SIM_ALL, SALU, T(SIM_I64), T(SIM_I64, SIM_U32)),
    ROW("s_add_u32", SIM_ALL, SALU, T(SIM_U32), T(SIM_U32, SIM_U32)),
    ROW("s_cmp_eq_u32", SIM_ALL, SALU, T(0), T(SIM_U32, SIM_U32)),
    ROW("s_movk_i32", SIM_ALL, SALU, T(SIM_I32), T(SIM_IMM)),
    ROW("s_setreg_b32", SIM_ALL, SALU, T(0), T(SIM_IMM, SIM_B32)),
    ROW("s_getreg_b32", SIM_ALL, SALU, T(SIM_B32), T(SIM_IMM)),
    ROW("s_sendmsg", SIM_ALL, WAIT, T(0), T(SIM_IMM)),
    ROW("s_waitcnt", SIM_ALL, WAIT, T(0), T(SIM_IMM)),
    ROW("s_delay_alu", SIM_ALL, WAIT, T(0), T(SIM_IMM)),
    ROW("s_endpgm", SIM_ALL, WAIT, T(0), T(SIM_IMM)),
    ROW("s_branch", SIM_ALL, BRANCH, T(0), T(SIM_IMM)),
    ROW("s_load_dword", SIM_ALL, SMEM, T(SIM_B32), T(SIM_B64, SIM_B32)),
    {0},
};
const struct sim_op sim_access_ops[] = {
    ROW("global_load_dwordx2", SIM_ALL, GLOBAL, T(SIM_B64), T(SIM_ANY, SIM_ANY)),
    ROW("global_store_dword", SIM_ALL, GLOBAL, T(0), T(SIM_ANY, SIM_B32, SIM_ANY)),
    ROW("global_atomic_add", SIM_GFX9, GLOBAL, T(SIM_B32), T(SIM_ANY, SIM_B32, SIM_ANY)),
    ROW("global_atomic_add_u32", SIM_GFX11_12, GLOBAL, T(SIM_B32), T(SIM_ANY, SIM_B32, SIM_ANY)),
    ROW("scratch_store_b32", SIM_ALL, SCRATCH, T(0), T(SIM_ANY, SIM_B32, SIM_ANY)),
    ROW("buffer_load_dword", SIM_ALL, GLOBAL, T(SIM_B32), T(SIM_ANY, SIM_B128, SIM_B32)),
    ROW("buffer_wbl2", SIM_ALL, WAIT, T(0), T(0)),
    ROW("global_wb", SIM_ALL, WAIT, T(0), T(0)),
    {0},
};
const struct sim_op sim_lds_ops[] = {
    ROW("ds_write2_b32", SIM_ALL, LDS, T(0), T(SIM_B32, SIM_B32, SIM_B32)),
    ROW("ds_swizzle_b32", SIM_ALL, LDS, T(SIM_B32), T(SIM_B32)),
    {0},
};
const struct sim_op sim_matrix_ops[] = {
    ROW("v_mfma_f32_32x32x8_f16", SIM_GFX942, MATRIX, T(SIM_B512), T(SIM_B64, SIM_B64, SIM_B512)),
    ROW("v_mfma_f64_4x4x4_4b_f64", SIM_GFX942, MATRIX, T(SIM_F64), T(SIM_F64, SIM_F64, SIM_F64)),
    ROW("v_swmmac_f32_16x16x32_f16", SIM_GFX1201, MATRIX, T(SIM_B256), T(SIM_B128, SIM_B256, SIM_B32)),
    {0},
};
static const struct sim_op vector_ops[] = {
    ROW("v_nop", SIM_ALL, VALU, T(0), T(0)),
    ROW("v_mov_b32", SIM_ALL, VALU, T(SIM_B32), T(SIM_B32)),
    ROW("v_cvt_f32_fp8", SIM_ALL, VALU, T(SIM_F32), T(SIM_B32)),
    ROW("v_add_f32", SIM_ALL, VALU, T(SIM_F32), T(SIM_F32, SIM_F32)),
    ROW("v_mul_f32", SIM_ALL, VALU, T(SIM_F32), T(SIM_F32, SIM_F32)),
    ROW("v_add_f16", SIM_ALL, VALU, T(SIM_F16), T(SIM_F16, SIM_F16)),
    ROW("v_add_bf16", SIM_ALL, VALU, T(SIM_BF16), T(SIM_BF16, SIM_BF16)),
    ROW("v_add_u16", SIM_ALL, VALU, T(SIM_U16), T(SIM_U16, SIM_U16)),
    ROW("v_add_u32", SIM_ALL, VALU, T(SIM_U32), T(SIM_U32, SIM_U32)),
    ROW("v_add_f64", SIM_ALL, VALU, T(SIM_F64), T(SIM_F64, SIM_F64)),
    ROW("v_mad_i16", SIM_ALL, VALU, T(SIM_I16), T(SIM_I16, SIM_I16, SIM_I16)),
    ROW("v_fmac_f32", SIM_ALL, VALU, T(SIM_F32), T(SIM_F32, SIM_F32)),
    ROW("v_fmamk_f32", SIM_ALL, VALU, T(SIM_F32), T(SIM_F32, SIM_F32, SIM_F32)),
    ROW("v_pk_add_f16", SIM_ALL, VALU, T(SIM_V2F16), T(SIM_V2F16, SIM_V2F16)),
    ROW("v_pk_add_u16", SIM_ALL, VALU, T(SIM_V2I16), T(SIM_V2I16, SIM_V2I16)),
    ROW("v_pk_mul_f32", SIM_GFX9, VALU, T(SIM_V2F32), T(SIM_V2F32, SIM_V2F32)),
    ROW("v_fma_mix_f32", SIM_ALL, VALU, T(SIM_F32), T(SIM_F32, SIM_F32, SIM_F32)),
    ROW("v_cmp_lt_f32", SIM_ALL, VALU, T(SIM_MASK), T(SIM_F32, SIM_F32)),
    ROW("v_cmpx_lt_f32", SIM_ALL, VALU, T(SIM_MASK), T(SIM_F32, SIM_F32)),
    ROW("v_cndmask_b32", SIM_ALL, VALU, T(SIM_B32), T(SIM_B32, SIM_B32, SIM_MASK)),
    ROW("v_addc_co_u32", SIM_GFX9, VALU, T(SIM_U32, SIM_MASK), T(SIM_U32, SIM_U32, SIM_MASK)),
    ROW("v_div_fmas_f32", SIM_ALL, VALU, T(SIM_F32), T(SIM_F32, SIM_F32, SIM_F32, SIM_MASK)),
    ROW("v_readlane_b32", SIM_ALL, CROSS, T(SIM_B32), T(SIM_B32, SIM_B32)),
    ROW("v_accvgpr_write_b32", SIM_GFX9, VALU, T(SIM_B32), T(SIM_B32)),
    {0},
};
const struct sim_op *const *sim_vector_tables(void) {
    static const struct sim_op *const tables[] = {vector_ops, NULL};
    return tables;
}

void sim_run_pair(struct sim_wave *wave, const struct sim_inst *inst) { (void)wave, (void)inst; }

/* ---- an instruction as a line ---- */

static char line[1024];

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...) {
    size_t n = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + n, sizeof line - n, format, arguments);
    va_end(arguments);
}

static void put_operand(const struct sim_operand *o) {
    static const char letters[] = {[SIM_VGPR] = 'v', [SIM_AGPR] = 'a', [SIM_SGPR] = 's'};
    put(" %s%s%s", o->neg ? "-" : "", o->abs ? "|" : "", o->sext ? "sext " : "");
    switch (o->kind) {
    case SIM_ABSENT: put("none"); break;
    case SIM_CONSTANT: put("=%llx", (unsigned long long)o->value); break;
    case SIM_SCC: put("scc"); break;
    case SIM_SPECIAL: put("special %d", o->index); break;
    default:
        put(o->count > 1 ? "%c[%d:%d]" : "%c%d", letters[o->kind], o->index, o->index + o->count - 1);
        if (o->high) put(".h");
    }
    if (o->abs) put("|");
}

static void put_inst(const struct sim_inst *i) {
    put("%s |", i->op->name);
    for (unsigned n = 0; n < i->n_dst; n++) put_operand(&i->dst[n]);
    put(" |");
    for (unsigned n = 0; n < i->n_src; n++) put_operand(&i->src[n]);
    put(" |");
#define FIELD(field, standard)                                                                                         \
    if (i->field != (standard)) put(" " #field " %x", (unsigned)i->field)
    FIELD(clamp, 0);
    FIELD(omod, 0);
    FIELD(op_sel, 0);
    FIELD(op_sel_hi, 0xff);
    FIELD(neg_lo, 0);
    FIELD(neg_hi, 0);
    FIELD(dpp, SIM_DPP_NONE);
    FIELD(dpp_control, 0);
    FIELD(dpp8, 0);
    FIELD(row_mask, 0xf);
    FIELD(bank_mask, 0xf);
    FIELD(bound_ctrl, 0);
    FIELD(fi, 0);
    FIELD(sdwa, 0);
    FIELD(dst_sel, SIM_DWORD);
    FIELD(dst_unused, 0);
    FIELD(src_sel[0], SIM_DWORD);
    FIELD(src_sel[1], SIM_DWORD);
    FIELD(byte_sel, 0);
    FIELD(cbsz, 0);
    FIELD(abid, 0);
    FIELD(blgp, 0);
    if (i->offset) put(" offset %d", (int)i->offset);
    FIELD(offset0, 0);
    FIELD(offset1, 0);
    FIELD(glc, 0);
    FIELD(offen, 0);
    FIELD(idxen, 0);
    FIELD(lds, 0);
    FIELD(tfe, 0);
    FIELD(gds, 0);
    FIELD(scope, 0);
    if (i->target) put(" to %llx", (unsigned long long)i->target);
}

static void parses(enum sim_target target, const char *text, const char *want) {
    char why[256] = "";
    struct sim_inst *inst = sim_parse(target, text, 0x1000, 4, why);
    line[0] = 0;
    if (inst) {
        put_inst(inst);
        if (inst->pair) {
            put(" :: ");
            put_inst(inst->pair);
        }
        CHECK_TEXT(inst->text, text);
        CHECK_INT(inst->pc, 0x1000);
        CHECK_INT(inst->nbytes, 4);
    } else {
        put("%s", why);
    }
    CHECK_TEXT(line, want);
    sim_inst_free(inst);
}

/* ---- what is checked ---- */

static void registers(void) {
    parses(SIM_GFX942, "v_add_f32_e32 v0, s3, v255", "v_add_f32 | v0 | s3 v255 |");
    parses(SIM_GFX942, "v_add_f32_e64 v0, -v1, |s3|", "v_add_f32 | v0 | -v1 |s3| |");
    parses(SIM_GFX942, "v_add_f32_e64 v0, -|v1|, vcc_hi", "v_add_f32 | v0 | -|v1| s107 |");
    parses(SIM_GFX942, "v_add_f32_e64 v0, neg(abs(v1)), abs(m0)", "v_add_f32 | v0 | -|v1| |s124| |");
    parses(SIM_GFX1100, "v_add_f32_e64 v0, null, ttmp3", "v_add_f32 | v0 | s125 s111 |");
    parses(SIM_GFX1100, "v_add_f16_e32 v0.h, v1.l, v2.h", "v_add_f16 | v0.h | v1 v2.h |");
    parses(SIM_GFX942, "s_mov_b64 s[4:5], exec", "s_mov_b64 | s[4:5] | s[126:127] |");
    parses(SIM_GFX942, "s_mov_b64 vcc, flat_scratch", "s_mov_b64 | s[106:107] | s[102:103] |");
    parses(SIM_GFX1030, "s_mov_b32 exec_lo, s105", "s_mov_b32 | s126 | s105 |");
    parses(SIM_GFX942, "s_mov_b64 ttmp[2:3], src_shared_base", "s_mov_b64 | s[110:111] | special 0 |");
    parses(SIM_GFX942, "s_mov_b64 s[0:1], src_private_base", "s_mov_b64 | s[0:1] | special 2 |");
    parses(SIM_GFX942, "s_add_u32 s0, src_scc, src_execz", "s_add_u32 | s0 | scc special 5 |");
    parses(SIM_GFX90A, "v_accvgpr_write_b32 a255, v1", "v_accvgpr_write_b32 | a255 | v1 |");
}

/* Inline constants by the ISA documents' tables; a literal of 64-bit floats is their upper half. */
static void constants(void) {
    parses(SIM_GFX942, "s_mov_b32 s0, 64", "s_mov_b32 | s0 | =40 |");
    parses(SIM_GFX942, "s_mov_b32 s0, -16", "s_mov_b32 | s0 | =fffffff0 |");
    parses(SIM_GFX942, "s_mov_b32 s0, 0x89abcdef", "s_mov_b32 | s0 | =89abcdef |");
    parses(SIM_GFX942, "s_mov_b32 s0, -4.0", "s_mov_b32 | s0 | =c0800000 |");
    parses(SIM_GFX942, "s_mov_b64 s[0:1], -1", "s_mov_b64 | s[0:1] | =ffffffffffffffff |");
    parses(SIM_GFX942, "s_mov_b64 s[0:1], 0x89abcdef", "s_mov_b64 | s[0:1] | =89abcdef |");
    parses(SIM_GFX942, "s_mov_b64 s[0:1], 0.5", "s_mov_b64 | s[0:1] | =3fe0000000000000 |");
    parses(SIM_GFX942, "s_ashr_i64 s[0:1], 0x89abcdef, 3", "s_ashr_i64 | s[0:1] | =ffffffff89abcdef =3 |");
    parses(SIM_GFX942, "v_add_f32_e32 v0, 1.0, v1", "v_add_f32 | v0 | =3f800000 v1 |");
    parses(SIM_GFX942, "v_add_f32_e32 v0, 0.15915494, v1", "v_add_f32 | v0 | =3e22f983 v1 |");
    parses(SIM_GFX942, "v_add_f32_e32 v0, 2, v1", "v_add_f32 | v0 | =2 v1 |");
    parses(SIM_GFX942, "v_add_f16_e32 v0, 1.0, v1", "v_add_f16 | v0 | =3c00 v1 |");
    parses(SIM_GFX942, "v_add_f16_e32 v0, -0.5, v1", "v_add_f16 | v0 | =b800 v1 |");
    parses(SIM_GFX942, "v_add_f16_e32 v0, 4.0, v1", "v_add_f16 | v0 | =4400 v1 |");
    parses(SIM_GFX942, "v_add_f16_e32 v0, 0.15915494, v1", "v_add_f16 | v0 | =3118 v1 |");
    parses(SIM_GFX942, "v_add_f16_e32 v0, -1, v1", "v_add_f16 | v0 | =ffff v1 |");
    parses(SIM_GFX942, "v_add_f16_e32 v0, 0x7bff, v1", "v_add_f16 | v0 | =7bff v1 |");
    parses(SIM_GFX1201, "v_add_bf16 v0, 1.0, 0.15915494", "v_add_bf16 | v0 | =3f80 =3e22 |");
    parses(SIM_GFX942, "v_add_u16_e32 v0, -1, v1", "v_add_u16 | v0 | =ffff v1 |");
    parses(SIM_GFX942, "v_add_u32_e32 v0, 1.0, v1", "v_add_u32 | v0 | =3f800000 v1 |");
    parses(SIM_GFX942, "v_add_f64 v[0:1], v[2:3], 1.0", "v_add_f64 | v[0:1] | v[2:3] =3ff0000000000000 |");
    parses(SIM_GFX942, "v_add_f64 v[0:1], v[2:3], 1", "v_add_f64 | v[0:1] | v[2:3] =1 |");
    parses(SIM_GFX1100, "v_add_f64 v[0:1], v[2:3], 0x40590000", "v_add_f64 | v[0:1] | v[2:3] =4059000000000000 |");
    parses(SIM_GFX1100, "v_add_f64 v[0:1], v[2:3], lit(0x5)", "v_add_f64 | v[0:1] | v[2:3] =500000000 |");
    parses(SIM_GFX942, "v_add_f64 v[0:1], v[2:3], 0.15915494309189532",
           "v_add_f64 | v[0:1] | v[2:3] =3fc45f306dc9c882 |");
    parses(SIM_GFX942, "v_pk_add_f16 v0, v1, 1.0", "v_pk_add_f16 | v0 | v1 =3c00 |");
    parses(SIM_GFX942, "v_pk_add_u16 v0, v1, -2 op_sel_hi:[1,0]", "v_pk_add_u16 | v0 | v1 =fffffffe | op_sel_hi fd");
    parses(SIM_GFX1100, "v_pk_add_f16 v0, v1, 0x3c004000", "v_pk_add_f16 | v0 | v1 =3c004000 |");
    parses(SIM_GFX942, "v_fmamk_f32 v0, v1, 0x40490fdb, v2", "v_fmamk_f32 | v0 | v1 =40490fdb v2 |");
}

static void numbers(void) {
    parses(SIM_GFX942, "s_movk_i32 s0, 0xff00", "s_movk_i32 | s0 | =ff00 |");
    parses(SIM_GFX942, "s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s3", "s_setreg_b32 | | =901 s3 |");
    parses(SIM_GFX1201, "s_getreg_b32 s0, hwreg(HW_REG_MODE)", "s_getreg_b32 | s0 | =f801 |");
    parses(SIM_GFX1100, "s_getreg_b32 s0, hwreg(HW_REG_SHADER_CYCLES, 0, 20)", "s_getreg_b32 | s0 | =981d |");
    parses(SIM_GFX942, "s_getreg_b32 s0, hwreg(57, 1, 3)", "s_getreg_b32 | s0 | =1079 |");
    parses(SIM_GFX1100, "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)", "s_sendmsg | | =3 |");
    parses(SIM_GFX942, "s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 1)", "s_sendmsg | | =122 |");
    parses(SIM_GFX942, "s_sendmsg sendmsg(11, 3, 0)", "s_sendmsg | | =3b |");
    parses(SIM_GFX942, "s_waitcnt vmcnt(0) lgkmcnt(0)", "s_waitcnt | | =0 |");
    parses(SIM_GFX1100, "s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)",
           "s_delay_alu | | =0 |");
    parses(SIM_GFX942, "s_endpgm", "s_endpgm | | =0 |");
    parses(SIM_GFX942, "s_branch 3", "s_branch | | =3 | to 1010");
    parses(SIM_GFX942, "s_branch 65535", "s_branch | | =ffff | to 1000");
    parses(SIM_GFX942, "s_cmp_eq_u32 s0, 1", "s_cmp_eq_u32 | | s0 =1 |");
}

static void modifiers(void) {
    parses(SIM_GFX942, "v_add_f32_e64 v0, v1, v2 clamp mul:4", "v_add_f32 | v0 | v1 v2 | clamp 1 omod 2");
    parses(SIM_GFX942, "v_add_f32_e64 v0, v1, v2 mul:2", "v_add_f32 | v0 | v1 v2 | omod 1");
    parses(SIM_GFX942, "v_add_f32_e64 v0, v1, v2 div:2", "v_add_f32 | v0 | v1 v2 | omod 3");
    parses(SIM_GFX942, "v_mad_i16 v0, v1, v2, v3 op_sel:[0,1,0,1]", "v_mad_i16 | v0 | v1 v2 v3 | op_sel a");
    parses(SIM_GFX942, "v_pk_add_f16 v0, v1, v2 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,1] neg_hi:[0,1]",
           "v_pk_add_f16 | v0 | v1 v2 | op_sel 1 op_sel_hi fe neg_lo 3 neg_hi 2");
    parses(SIM_GFX942, "v_pk_mul_f32 v[0:1], v[2:3], s[4:5] op_sel_hi:[1,0]",
           "v_pk_mul_f32 | v[0:1] | v[2:3] s[4:5] | op_sel_hi fd");
    parses(SIM_GFX942, "v_fma_mix_f32 v0, v1, v2, v3", "v_fma_mix_f32 | v0 | v1 v2 v3 | op_sel_hi 0");
    parses(SIM_GFX942, "v_fma_mix_f32 v0, v1, -v2, |v3| op_sel:[0,1,0] op_sel_hi:[0,1,0]",
           "v_fma_mix_f32 | v0 | v1 -v2 |v3| | op_sel 2 op_sel_hi fa");
    parses(SIM_GFX1201, "v_cvt_f32_fp8_e64 v0, v1 byte_sel:2", "v_cvt_f32_fp8 | v0 | v1 | byte_sel 2");
    parses(SIM_GFX90A,
           "v_add_f32_sdwa v0, -|v1|, sext(v2) clamp dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3 "
           "src1_sel:DWORD",
           "v_add_f32 | v0 | -|v1| sext v2 | clamp 1 sdwa 1 dst_sel 5 dst_unused 2 src_sel[0] 3");
    parses(SIM_GFX942, "v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15] cbsz:2 abid:1 blgp:4",
           "v_mfma_f32_32x32x8_f16 | a[0:15] | v[2:3] v[4:5] a[0:15] | cbsz 2 abid 1 blgp 4");
    parses(SIM_GFX942, "v_mfma_f64_4x4x4_4b_f64 v[0:1], v[2:3], v[4:5], v[6:7] neg:[1,0,1]",
           "v_mfma_f64_4x4x4_4b_f64 | v[0:1] | v[2:3] v[4:5] v[6:7] | neg_lo 5");
    parses(SIM_GFX1201, "v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[12:19], v20 index_key:1",
           "v_swmmac_f32_16x16x32_f16 | v[0:7] | v[8:11] v[12:19] v20 | abid 1");
}

static void lanes(void) {
    static const struct {
        const char *text;
        unsigned control;
    } controls[] = {
        {"quad_perm:[3,2,1,0]", 0x01b}, {"row_shl:15", 0x10f},      {"row_shr:1", 0x111},    {"row_ror:8", 0x128},
        {"wave_shl:1", 0x130},          {"wave_rol:1", 0x134},      {"wave_shr:1", 0x138},   {"wave_ror:1", 0x13c},
        {"row_mirror", 0x140},          {"row_half_mirror", 0x141}, {"row_bcast:15", 0x142}, {"row_bcast:31", 0x143},
        {"row_newbcast:5", 0x155},      {"row_share:5", 0x155},     {"row_xmask:6", 0x166},
    };
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
        char text[128], want[128];
        snprintf(text, sizeof text, "v_mov_b32_dpp v0, v1 %s row_mask:0xa bank_mask:0x5 bound_ctrl:1 fi:1",
                 controls[i].text);
        snprintf(want, sizeof want,
                 "v_mov_b32 | v0 | v1 | dpp 1 dpp_control %x row_mask a bank_mask 5 bound_ctrl 1 fi 1",
                 controls[i].control);
        parses(SIM_GFX1100, text, want);
    }
    parses(SIM_GFX1100, "v_add_f32_e64_dpp v0, -v1, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf",
           "v_add_f32 | v0 | -v1 v2 | dpp 1 dpp_control e4");
    parses(SIM_GFX1100, "v_add_f32_dpp v0, v1, v2 dpp8:[7,6,5,4,3,2,1,0]", "v_add_f32 | v0 | v1 v2 | dpp 2 dpp8 53977");
    parses(SIM_GFX942, "v_readlane_b32 s3, v1, m0", "v_readlane_b32 | s3 | v1 s124 |");
}

/* One order of operands for all forms of a mnemonic. */
static void forms(void) {
    parses(SIM_GFX942, "v_cmp_lt_f32_e32 vcc, v0, v1", "v_cmp_lt_f32 | s[106:107] | v0 v1 |");
    parses(SIM_GFX1100, "v_cmp_lt_f32_e64 s3, |v0|, 0", "v_cmp_lt_f32 | s3 | |v0| =0 |");
    parses(SIM_GFX942, "v_cmpx_lt_f32_e64 s[4:5], v0, v1", "v_cmpx_lt_f32 | s[4:5] | v0 v1 |");
    parses(SIM_GFX1030, "v_cmpx_lt_f32_e32 v0, v1", "v_cmpx_lt_f32 | s126 | v0 v1 |");
    parses(SIM_GFX942, "v_cndmask_b32_e32 v0, 1.0, v1, vcc", "v_cndmask_b32 | v0 | =3f800000 v1 s[106:107] |");
    parses(SIM_GFX942, "v_cndmask_b32_e64 v0, v1, v2, s[6:7]", "v_cndmask_b32 | v0 | v1 v2 s[6:7] |");
    parses(SIM_GFX1100, "v_cndmask_b32_dpp v0, -v1, -|v2, vcc_lo| row_mirror row_mask:0xf bank_mask:0xf",
           "v_cndmask_b32 | v0 | -v1 -|v2| s106 | dpp 1 dpp_control 140");
    parses(SIM_GFX942, "v_addc_co_u32_e32 v0, vcc, v1, v2, vcc", "v_addc_co_u32 | v0 s[106:107] | v1 v2 s[106:107] |");
    parses(SIM_GFX942, "v_div_fmas_f32 v0, v1, v2, v3", "v_div_fmas_f32 | v0 | v1 v2 v3 s[106:107] |");
    parses(SIM_GFX1201, "v_div_fmas_f32 v0, v1, v2, v3", "v_div_fmas_f32 | v0 | v1 v2 v3 s106 |");
    parses(SIM_GFX942, "v_fmac_f32_e32 v0, v1, v2", "v_fmac_f32 | v0 | v1 v2 |");
    parses(SIM_GFX942, "v_nop", "v_nop | | |");
    parses(SIM_GFX1100, "v_dual_mul_f32 v0, 0x40490fdb, v1 :: v_dual_cndmask_b32 v3, v4, v5",
           "v_mul_f32 | v0 | =40490fdb v1 | :: v_cndmask_b32 | v3 | v4 v5 s106 |");
    parses(SIM_GFX1201, "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, 0",
           "v_mov_b32 | v0 | v1 | :: v_mov_b32 | v3 | =0 |");
}

static void memory(void) {
    parses(SIM_GFX942, "s_load_dword s0, s[2:3], 0x1c", "s_load_dword | s0 | s[2:3] =1c |");
    parses(SIM_GFX942, "s_load_dword s0, s[2:3], s4 offset:0x10", "s_load_dword | s0 | s[2:3] s4 | offset 16");
    parses(SIM_GFX942, "global_load_dwordx2 v[0:1], v[2:3], off offset:-16",
           "global_load_dwordx2 | v[0:1] | v[2:3] none | offset -16");
    parses(SIM_GFX942, "global_load_dwordx2 a[0:1], v2, s[4:5] sc0 sc1 nt",
           "global_load_dwordx2 | a[0:1] | v2 s[4:5] | glc 1");
    parses(SIM_GFX90A, "global_load_dwordx2 v[2:3], off lds", "global_load_dwordx2 | none | v[2:3] none | lds 1");
    parses(SIM_GFX1030, "global_store_dword v[0:1], v2, off slc dlc", "global_store_dword | | v[0:1] v2 none |");
    parses(SIM_GFX90A, "global_atomic_add v0, v1, v2, s[4:5] glc", "global_atomic_add | v0 | v1 v2 s[4:5] | glc 1");
    parses(SIM_GFX90A, "global_atomic_add v1, v2, s[4:5] offset:8",
           "global_atomic_add | none | v1 v2 s[4:5] | offset 8");
    parses(SIM_GFX1201, "global_atomic_add_u32 v0, v1, v2, s[4:5] th:TH_ATOMIC_RETURN scope:SCOPE_DEV",
           "global_atomic_add_u32 | v0 | v1 v2 s[4:5] | glc 1 scope 2");
    parses(SIM_GFX1201, "global_atomic_add_u32 v1, v2, s[4:5] th:TH_ATOMIC_NT",
           "global_atomic_add_u32 | none | v1 v2 s[4:5] |");
    parses(SIM_GFX1201, "scratch_store_b32 off, v2, s32 offset:12 th:TH_STORE_RT",
           "scratch_store_b32 | | none v2 s32 | offset 12");
    parses(SIM_GFX90A, "buffer_load_dword v0, off, s[0:3], s32 offset:4",
           "buffer_load_dword | v0 | none s[0:3] s32 | offset 4");
    parses(SIM_GFX90A, "buffer_load_dword v0, v[1:2], s[0:3], 0 idxen offen",
           "buffer_load_dword | v0 | v[1:2] s[0:3] =0 | offen 1 idxen 1");
    parses(SIM_GFX90A, "buffer_load_dword v1, s[0:3], 0 offen lds",
           "buffer_load_dword | none | v1 s[0:3] =0 | offen 1 lds 1");
    parses(SIM_GFX942, "buffer_wbl2 sc1", "buffer_wbl2 | | |");
    parses(SIM_GFX1201, "global_wb scope:SCOPE_SYS", "global_wb | | | scope 3");
    parses(SIM_GFX942, "ds_write2_b32 v0, v1, v2 offset0:255 offset1:1 gds",
           "ds_write2_b32 | | v0 v1 v2 | offset0 ff offset1 1 gds 1");
    parses(SIM_GFX942, "ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,3,2,1,0)",
           "ds_swizzle_b32 | v0 | v1 | offset 32795");
    parses(SIM_GFX942, "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)", "ds_swizzle_b32 | v0 | v1 | offset 16415");
    parses(SIM_GFX942, "ds_swizzle_b32 v0, v1 offset:swizzle(REVERSE,8)", "ds_swizzle_b32 | v0 | v1 | offset 7199");
    parses(SIM_GFX942, "ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,8,3)", "ds_swizzle_b32 | v0 | v1 | offset 120");
    parses(SIM_GFX942, "ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,\"01pip\")",
           "ds_swizzle_b32 | v0 | v1 | offset 2311");
    parses(SIM_GFX942, "ds_swizzle_b32 v0, v1 offset:65535", "ds_swizzle_b32 | v0 | v1 | offset 65535");
}

static void refuses(const char *text, const char *why) { parses(SIM_GFX942, text, why); }

static void errors(void) {
    refuses("", "no mnemonic at ''");
    refuses("v_frobnicate_f32 v0, v1", "no such instruction: v_frobnicate_f32");
    refuses("v_add_bf17 v0, v1, v2 row_shr:1", "no such instruction: v_add_bf17");
    refuses("v_add_f32_e32 v0, v1, v2 saturate", "unknown modifier at 'saturate'");
    refuses("v_add_f32_e32 v0, v1, v2 clamp:1", "unknown modifier at ':1'");
    refuses("v_add_f32_e32 v0, v1, v2 clamp1", "unknown modifier at 'clamp1'");
    refuses("v_add_f32_e32 v0, v1, w2", "unknown operand at 'w2'");
    refuses("v_add_f32_e32 v0, v1,", "unknown operand at ''");
    refuses("v_add_f32_e32 v0, v1, v2x", "unknown modifier at 'x'");
    refuses("v_add_f32_e32 v0, v1, |v2", "not closed at ''");
    refuses("v_add_f32_e32 v0, v1, v600", "no such register at ''");
    refuses("v_add_f32_e32 v0, v1, v[3:2]", "no such register at ''");
    refuses("v_add_f32_e32 v0, v1", "2 operands, v_add_f32 takes 3");
    refuses("v_add_f32_e32 v0, v1, v2, v3", "4 operands, v_add_f32 takes 3");
    refuses("v_add_f32_e32 v0, v1, v[2:3]", "operand 2 has 2 registers, v_add_f32 takes 1");
    refuses("s_movk_i32 s0, s1", "operand 1 is not a number");
    refuses("v_mov_b32_dpp v0, v1 row_shr:16", "no such lane at ''");
    refuses("v_mov_b32_dpp v0, v1 quad_perm:[0,1,2]", "not 4 lanes at ''");
    refuses("v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,4]", "no such lane at ''");
    refuses("v_mov_b32_dpp v0, v1 dpp8:[0,1,2,3,4,5,6,7,8]", "not 8 lanes at '8]'");
    refuses("s_getreg_b32 s0, hwreg(HW_REG_NONSENSE)", "unknown name at 'HW_REG_NONSENSE)'");
    refuses("ds_write2_b32 v0, v1, v2 offset0:4294967296", "too large a number at ''");
    refuses("v_add_bf16 v0, v1, v2 mul:3", "unknown output modifier at ''");
    refuses("v_nop :: v_nop :: v_nop", "unknown operand at ':: v_nop'");
}

int main(void) {
    registers();
    constants();
    numbers();
    modifiers();
    lanes();
    forms();
    memory();
    errors();
    CHECK(!sim_op_find(SIM_GFX1100, "v_addc_co_u32"));
    CHECK(sim_op_find(SIM_GFX942, "v_addc_co_u32"));
    CHECK_INT(sim_target_of("gfx942:sramecc+:xnack-"), SIM_GFX942);
    CHECK_INT(sim_target_of("gfx1151"), SIM_GFX1100);
    CHECK_INT(sim_target_of("gfx94"), 0);
    CHECK_INT(sim_target_of("gfx9422"), 0);
    CHECK_TEXT(sim_target_name(SIM_GFX1100), "gfx1100");
    return test_end();
}
