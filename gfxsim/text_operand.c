/* Operands: registers, constants and the numbers that LLVM spells as words. */
#include "bits.h"
#include "text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- registers with names ---- */

static const struct {
    const char *name;
    u8 kind, count; /* 0: as many as the instruction wants */
    u16 index;
} words[] = {
    {"off", SIM_ABSENT, 0, 0},
    {"vcc", SIM_SGPR, 2, SIM_VCC},
    {"vcc_lo", SIM_SGPR, 1, SIM_VCC},
    {"vcc_hi", SIM_SGPR, 1, SIM_VCC + 1},
    {"exec", SIM_SGPR, 2, SIM_EXEC},
    {"exec_lo", SIM_SGPR, 1, SIM_EXEC},
    {"exec_hi", SIM_SGPR, 1, SIM_EXEC + 1},
    {"m0", SIM_SGPR, 1, SIM_M0},
    {"null", SIM_SGPR, 0, SIM_NULL},
    {"flat_scratch", SIM_SGPR, 2, 102},
    {"flat_scratch_lo", SIM_SGPR, 1, 102},
    {"flat_scratch_hi", SIM_SGPR, 1, 103},
    {"xnack_mask", SIM_SGPR, 2, 104},
    {"xnack_mask_lo", SIM_SGPR, 1, 104},
    {"xnack_mask_hi", SIM_SGPR, 1, 105},
    {"scc", SIM_SCC, 1, 0},
    {"src_scc", SIM_SCC, 1, 0},
    {"src_shared_base", SIM_SPECIAL, 0, SIM_SHARED_BASE},
    {"src_shared_limit", SIM_SPECIAL, 0, SIM_SHARED_LIMIT},
    {"src_private_base", SIM_SPECIAL, 0, SIM_PRIVATE_BASE},
    {"src_private_limit", SIM_SPECIAL, 0, SIM_PRIVATE_LIMIT},
    {"src_vccz", SIM_SPECIAL, 1, SIM_VCCZ},
    {"src_execz", SIM_SPECIAL, 1, SIM_EXECZ},
    {"src_lds_direct", SIM_SPECIAL, 1, SIM_LDS_DIRECT},
    {"src_pops_exiting_wave_id", SIM_SPECIAL, 1, SIM_POPS},
};

/* ---- hwreg(...), sendmsg(...), gpr_idx(...) ---- */

struct name {
    const char *name;
    u8 targets;
    u8 number;
};

static const struct name hardware_registers[] = {
    {"MODE", SIM_ALL, 1},
    {"STATUS", SIM_ALL, 2},
    {"TRAPSTS", SIM_GFX9 | SIM_GFX10_11, 3},
    {"HW_ID", SIM_GFX9, 4},
    {"STATE_PRIV", SIM_GFX1201, 4},
    {"GPR_ALLOC", SIM_ALL, 5},
    {"LDS_ALLOC", SIM_ALL, 6},
    {"IB_STS", SIM_ALL, 7},
    {"PERF_SNAPSHOT_DATA", SIM_GFX1201, 10},
    {"PERF_SNAPSHOT_PC_LO", SIM_GFX1201, 11},
    {"PERF_SNAPSHOT_PC_HI", SIM_GFX1201, 12},
    {"SH_MEM_BASES", SIM_GFX9 | SIM_GFX10_11, 15},
    {"PERF_SNAPSHOT_DATA1", SIM_GFX1201, 15},
    {"PERF_SNAPSHOT_DATA2", SIM_GFX1201, 16},
    {"TBA_LO", SIM_GFX9 | SIM_GFX1030, 16},
    {"TBA_HI", SIM_GFX9 | SIM_GFX1030, 17},
    {"PERF_SNAPSHOT_PC_LO", SIM_GFX1100, 18},
    {"PERF_SNAPSHOT_PC_HI", SIM_GFX1100, 19},
    {"TMA_LO", SIM_GFX9 | SIM_GFX1030, 18},
    {"TMA_HI", SIM_GFX9 | SIM_GFX1030, 19},
    {"EXCP_FLAG_PRIV", SIM_GFX1201, 17},
    {"EXCP_FLAG_USER", SIM_GFX1201, 18},
    {"TRAP_CTRL", SIM_GFX1201, 19},
    {"XCC_ID", SIM_GFX942, 20},
    {"SQ_PERF_SNAPSHOT_DATA", SIM_GFX942, 21},
    {"SQ_PERF_SNAPSHOT_DATA1", SIM_GFX942, 22},
    {"SQ_PERF_SNAPSHOT_PC_LO", SIM_GFX942, 23},
    {"SQ_PERF_SNAPSHOT_PC_HI", SIM_GFX942, 24},
    {"FLAT_SCR_LO", SIM_GFX10_11, 20},
    {"FLAT_SCR_HI", SIM_GFX10_11, 21},
    {"SCRATCH_BASE_LO", SIM_GFX1201, 20},
    {"SCRATCH_BASE_HI", SIM_GFX1201, 21},
    {"HW_ID1", SIM_GFX10UP, 23},
    {"HW_ID2", SIM_GFX10UP, 24},
    {"POPS_PACKER", SIM_GFX1030, 25},
    {"PERF_SNAPSHOT_DATA", SIM_GFX1100, 27},
    {"SHADER_CYCLES", SIM_GFX10_11, 29},
    {"SHADER_CYCLES_LO", SIM_GFX1201, 29},
    {"SHADER_CYCLES_HI", SIM_GFX1201, 30},
    {"DVGPR_ALLOC_LO", SIM_GFX1201, 31},
    {"DVGPR_ALLOC_HI", SIM_GFX1201, 32},
    {NULL, 0, 0},
};
static const struct name messages[] = {
    {"INTERRUPT", SIM_ALL, 1},
    {"GS", SIM_GFX9 | SIM_GFX1030, 2},
    {"HS_TESSFACTOR", SIM_GFX11_12, 2},
    {"GS_DONE", SIM_GFX9 | SIM_GFX1030, 3},
    {"DEALLOC_VGPRS", SIM_GFX11_12, 3},
    {"SAVEWAVE", SIM_GFX9 | SIM_GFX1030, 4},
    {"STALL_WAVE_GEN", SIM_GFX9 | SIM_GFX10_11, 5},
    {"HALT_WAVES", SIM_GFX9 | SIM_GFX10_11, 6},
    {"ORDERED_PS_DONE", SIM_GFX9 | SIM_GFX10_11, 7},
    {"EARLY_PRIM_DEALLOC", SIM_GFX9 | SIM_GFX1030, 8},
    {"GS_ALLOC_REQ", SIM_ALL, 9},
    {"GET_DOORBELL", SIM_GFX9 | SIM_GFX1030, 10},
    {"GET_DDID", SIM_GFX1030, 11},
    {"SYSMSG", SIM_GFX9 | SIM_GFX1030, 15},
    {"RTN_GET_DOORBELL", SIM_GFX11_12, 128},
    {"RTN_GET_DDID", SIM_GFX11_12, 129},
    {"RTN_GET_TMA", SIM_GFX11_12, 130},
    {"RTN_GET_REALTIME", SIM_GFX11_12, 131},
    {"RTN_SAVE_WAVE", SIM_GFX11_12, 132},
    {"RTN_GET_TBA", SIM_GFX11_12, 133},
    {"RTN_GET_TBA_TO_PC", SIM_GFX11_12, 134},
    {"RTN_GET_SE_AID_ID", SIM_GFX1201, 135},
    {NULL, 0, 0},
};
static const struct name operations[] = {
    {"GS_OP_NOP", SIM_ALL, 0},
    {"GS_OP_CUT", SIM_ALL, 1},
    {"GS_OP_EMIT", SIM_ALL, 2},
    {"GS_OP_EMIT_CUT", SIM_ALL, 3},
    {"SYSMSG_OP_ECC_ERR_INTERRUPT", SIM_ALL, 1},
    {"SYSMSG_OP_REG_RD", SIM_ALL, 2},
    {"SYSMSG_OP_HOST_TRAP_ACK", SIM_ALL, 3},
    {"SYSMSG_OP_TTRACE_PC", SIM_ALL, 4},
    {NULL, 0, 0},
};
static const struct name index_modes[] = {
    {"SRC0", SIM_ALL, 1}, {"SRC1", SIM_ALL, 2}, {"SRC2", SIM_ALL, 4}, {"DST", SIM_ALL, 8}, {NULL, 0, 0},
};

static bool number_or_name(struct sim_reader *r, const struct name *names, const char *prefix, i64 *number) {
    if (sim_text_number(r, number)) return true;
    size_t length = sim_text_word(r), cut = strlen(prefix);
    if (length <= cut || memcmp(r->at, prefix, cut)) return sim_text_error(r, "unknown name");
    for (const struct name *n = names; n->name; n++) {
        if (n->targets & r->target && strlen(n->name) == length - cut && !memcmp(n->name, r->at + cut, length - cut)) {
            *number = n->number;
            r->at += length;
            return true;
        }
    }
    return sim_text_error(r, "unknown name");
}

/* Number of hwreg(name, first bit, bits), bits - 1 being what is encoded. */
static bool hwreg(struct sim_reader *r, i64 *number) {
    i64 id, first = 0, bits = 32;
    if (!number_or_name(r, hardware_registers, "HW_REG_", &id)) return false;
    if (sim_text_take(r, ", ") &&
        (!sim_text_number(r, &first) || !sim_text_take(r, ", ") || !sim_text_number(r, &bits))) {
        return sim_text_error(r, "not a hwreg");
    }
    if (id < 0 || id > 63 || first < 0 || first > 31 || bits < 1 || bits > 32) return sim_text_error(r, "not a hwreg");
    *number = id | first << 6 | (bits - 1) << 11;
    return sim_text_take(r, ")") || sim_text_error(r, "not a hwreg");
}

static bool sendmsg(struct sim_reader *r, i64 *number) {
    i64 operation = 0, stream = 0;
    if (!number_or_name(r, messages, "MSG_", number)) return false;
    if (sim_text_take(r, ", ") && !number_or_name(r, operations, "", &operation)) return false;
    if (sim_text_take(r, ", ") && !sim_text_number(r, &stream)) return sim_text_error(r, "not a message");
    if (*number >> 16 || operation >> 3 || stream >> 2) return sim_text_error(r, "not a message");
    *number |= operation << 4 | stream << 8;
    return sim_text_take(r, ")") || sim_text_error(r, "not a message");
}

static bool gpr_index(struct sim_reader *r, i64 *number) {
    *number = 0;
    while (!sim_text_take(r, ")")) {
        i64 bit;
        if (!number_or_name(r, index_modes, "", &bit)) return false;
        *number |= bit;
        sim_text_take(r, ",");
    }
    return true;
}

/* ---- operands ---- */

/* v7, s[2:3], ttmp[4:5], a0, v1.h: what comes after the letters. */
static bool registers(struct sim_reader *r, struct sim_operand *o, u8 kind, unsigned base, unsigned limit) {
    i64 first, last;
    if (sim_text_take(r, "[")) {
        if (!sim_text_number(r, &first)) return sim_text_error(r, "not a register");
        last = first;
        if (sim_text_take(r, ":") && !sim_text_number(r, &last)) return sim_text_error(r, "not a register");
        if (!sim_text_take(r, "]")) return sim_text_error(r, "not a register");
    } else {
        if (!sim_text_number(r, &first)) return sim_text_error(r, "not a register");
        last = first;
    }
    if (first < 0 || last < first || last >= limit || last - first >= 32) return sim_text_error(r, "no such register");
    o->kind = kind;
    o->index = (u16)(base + first);
    o->count = (u8)(last - first + 1);
    if (sim_text_take(r, ".h")) {
        o->high = true;
    } else {
        sim_text_take(r, ".l");
    }
    return true;
}

static bool constant(struct sim_reader *r, struct sim_operand *o) {
    const char *digits = r->at + (*r->at == '-');
    o->kind = SIM_CONSTANT;
    o->literal = !strncmp(digits, "0x", 2);
    if (!o->literal && digits[strspn(digits, "0123456789")] == '.') {
        char *end;
        o->is_float = true;
        o->real = strtod(r->at, &end);
        r->at = end;
        return true;
    }
    return sim_text_number(r, &o->integer) || sim_text_error(r, "not a number");
}

static bool group(struct sim_reader *r, struct sim_operand *o, const char *close) {
    return sim_text_operand(r, o) && (sim_text_take(r, close) || sim_text_error(r, "not closed"));
}

static bool encoded(struct sim_operand *o, bool good) {
    o->kind = SIM_CONSTANT;
    return good;
}

bool sim_text_operand(struct sim_reader *r, struct sim_operand *o) {
    if (!*r->at) return sim_text_error(r, "unknown operand");
    if (r->at[0] == '-' && !isdigit((unsigned char)r->at[1])) {
        r->at++;
        o->neg = true;
        return sim_text_operand(r, o);
    }
    if (sim_text_take(r, "neg(")) return o->neg = true, group(r, o, ")");
    if (sim_text_take(r, "abs(")) return o->abs = true, group(r, o, ")");
    if (sim_text_take(r, "sext(")) return o->sext = true, group(r, o, ")");
    if (sim_text_take(r, "|")) return o->abs = true, group(r, o, "|");
    if (sim_text_take(r, "lit(")) {
        if (!group(r, o, ")")) return false;
        o->literal = true;
        return true;
    }
    if (sim_text_take(r, "hwreg(")) return encoded(o, hwreg(r, &o->integer));
    if (sim_text_take(r, "sendmsg(")) return encoded(o, sendmsg(r, &o->integer));
    if (sim_text_take(r, "gpr_idx(")) return encoded(o, gpr_index(r, &o->integer));
    if (isdigit((unsigned char)r->at[0]) || r->at[0] == '-') return constant(r, o);

    size_t length = sim_text_word(r);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i].name) == length && !memcmp(words[i].name, r->at, length)) {
            o->kind = words[i].kind;
            o->index = words[i].index;
            o->count = words[i].count;
            r->at += length;
            return true;
        }
    }
    if (!strncmp(r->at, "ttmp", 4)) return r->at += 4, registers(r, o, SIM_SGPR, SIM_TTMP, 16);
    if (isdigit((unsigned char)r->at[1]) || (length == 1 && r->at[1] == '[')) {
        switch (*r->at++) {
        case 'v': return registers(r, o, SIM_VGPR, 0, r->target & SIM_GFX9 ? 512 : 256);
        case 'a': return registers(r, o, SIM_AGPR, 0, 256);
        case 's': return registers(r, o, SIM_SGPR, 0, 106);
        }
        r->at--;
    }
    return sim_text_error(r, "unknown operand");
}

/* ---- constants ---- */

/* What LLVM prints as a float is exact in every type but 1/(2 pi), where the hardware's is the nearest. */
static u16 half_bits(double x) {
    if (x == 0) return signbit(x) ? 0x8000 : 0;
    int exponent;
    double fraction = frexp(fabs(x), &exponent); /* in [0.5, 1) */
    int e = exponent + 14;
    u16 sign = x < 0 ? 0x8000 : 0;
    if (e <= 0) return (u16)(sign | (u16)nearbyint(ldexp(fabs(x), 24)));
    if (e >= 31) return sign | 0x7c00;
    return (u16)(sign + (u16)((e - 1) << 10) + (u16)nearbyint(ldexp(fraction, 11)));
}

static u64 float_bits(enum sim_type type, double x) {
    bool inv2pi = x == 0.15915494 || x == 0.15915494309189532;
    switch (type) {
    case SIM_F16:
    case SIM_V2F16: return half_bits(x);
    case SIM_BF16:
    case SIM_V2BF16: return sim_bits_f32((float)x) >> 16; /* 1/(2 pi) is cut off, the others are exact */
    case SIM_B16:
    case SIM_U16:
    case SIM_I16: return (u16)sim_bits_f32((float)x); /* integers of 16 bits get the low half of the single */
    case SIM_V2F32: return sim_bits_f32((float)x) * (u64)0x100000001;
    case SIM_B64:
    case SIM_U64:
    case SIM_I64:
    case SIM_F64: return inv2pi ? 0x3fc45f306dc9c882 : sim_bits_f64(x);
    default: return sim_bits_f32((float)x);
    }
}

void sim_bind_constant(struct sim_operand *o) {
    if (o->kind != SIM_CONSTANT) return;
    if (o->is_float) {
        o->value = float_bits(o->type, o->real);
        return;
    }
    u64 bits = (u64)o->integer;
    switch (o->type) {
    case SIM_B16:
    case SIM_U16:
    case SIM_I16:
    case SIM_F16:
    case SIM_BF16: o->value = (u16)bits; break;
    case SIM_F64: o->value = o->literal ? bits << 32 : bits; break;
    case SIM_I64: o->value = o->literal ? (u64)(i32)bits : bits; break;
    case SIM_V2F32: o->value = (u32)bits * (u64)0x100000001; break;
    case SIM_B64:
    case SIM_U64:
    case SIM_MASK:
    case SIM_IMM:
    case SIM_ANY: o->value = bits; break;
    default: o->value = (u32)bits;
    }
}
