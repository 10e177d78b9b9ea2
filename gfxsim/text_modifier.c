/* What follows the operands: clamp, row_shr:1, op_sel:[0,1], offset:16, ... */
#include "text.h"

#include <stddef.h>
#include <string.h>

enum form {
    FLAG,      /* clamp */
    SWITCH,    /* fi:1 */
    NUMBER,    /* offset:16 */
    BITS,      /* op_sel:[0,1]: a bit an entry */
    CONTROL,   /* row_mirror: `code` is the whole control of DPP16 */
    CONTROL_N, /* row_shr:1: added to the code */
    SELECT,    /* src0_sel:WORD_1 */
    OTHER      /* read by its own branch below */
};

#define IN(field) offsetof(struct sim_inst, field), sizeof(((struct sim_inst *)0)->field)
#define NOWHERE 0, 0
static const struct modifier {
    const char *name;
    u8 form;
    u16 at, nbytes; /* of the field; 0: nothing depends on it */
    u16 code;
} modifiers[] = {
    {"clamp", FLAG, IN(clamp), 0},
    {"mul", OTHER, NOWHERE, 0},
    {"div", OTHER, NOWHERE, 0},
    {"op_sel", BITS, IN(op_sel), 0},
    {"op_sel_hi", BITS, IN(op_sel_hi), 0},
    {"neg_lo", BITS, IN(neg_lo), 0},
    {"neg_hi", BITS, IN(neg_hi), 0},
    {"neg", BITS, IN(neg_lo), 0}, /* of MFMA on f64 */
    {"byte_sel", NUMBER, IN(byte_sel), 0},

    {"quad_perm", OTHER, NOWHERE, 0},
    {"dpp8", OTHER, NOWHERE, 0},
    {"row_shl", CONTROL_N, NOWHERE, SIM_ROW_SHL},
    {"row_shr", CONTROL_N, NOWHERE, SIM_ROW_SHR},
    {"row_ror", CONTROL_N, NOWHERE, SIM_ROW_ROR},
    {"row_share", CONTROL_N, NOWHERE, SIM_ROW_SHARE},
    {"row_newbcast", CONTROL_N, NOWHERE, SIM_ROW_SHARE},
    {"row_xmask", CONTROL_N, NOWHERE, SIM_ROW_XMASK},
    {"row_mirror", CONTROL, NOWHERE, SIM_ROW_MIRROR},
    {"row_half_mirror", CONTROL, NOWHERE, SIM_ROW_HALF_MIRROR},
    {"row_bcast", OTHER, NOWHERE, 0},
    {"wave_shl", OTHER, NOWHERE, SIM_WAVE_SHL},
    {"wave_rol", OTHER, NOWHERE, SIM_WAVE_ROL},
    {"wave_shr", OTHER, NOWHERE, SIM_WAVE_SHR},
    {"wave_ror", OTHER, NOWHERE, SIM_WAVE_ROR},
    {"row_mask", NUMBER, IN(row_mask), 0},
    {"bank_mask", NUMBER, IN(bank_mask), 0},
    {"bound_ctrl", SWITCH, IN(bound_ctrl), 0}, /* 0 was an older assembler's way to say the same */
    {"fi", SWITCH, IN(fi), 0},

    {"dst_sel", SELECT, IN(dst_sel), 0},
    {"src0_sel", SELECT, IN(src_sel[0]), 0},
    {"src1_sel", SELECT, IN(src_sel[1]), 0},
    {"dst_unused", OTHER, NOWHERE, 0},

    {"cbsz", NUMBER, IN(cbsz), 0},
    {"abid", NUMBER, IN(abid), 0},
    {"blgp", NUMBER, IN(blgp), 0},
    {"index_key", NUMBER, IN(abid), 0},

    {"offset", OTHER, NOWHERE, 0},
    {"offset0", NUMBER, IN(offset0), 0},
    {"offset1", NUMBER, IN(offset1), 0},
    {"glc", FLAG, IN(glc), 0},
    {"sc0", FLAG, IN(glc), 0},
    {"offen", FLAG, IN(offen), 0},
    {"idxen", FLAG, IN(idxen), 0},
    {"addr64", FLAG, IN(addr64), 0},
    {"lds", FLAG, IN(lds), 0},
    {"tfe", FLAG, IN(tfe), 0},
    {"gds", FLAG, IN(gds), 0},
    {"slc", FLAG, IN(mode), SIM_SLC},
    {"dlc", FLAG, IN(mode), SIM_DLC},
    {"scc", FLAG, NOWHERE, 0},
    {"sc1", FLAG, IN(mode), SIM_SLC},
    {"nt", FLAG, IN(mode), SIM_NT},
    {"nv", FLAG, NOWHERE, 0},
    {"scope", OTHER, NOWHERE, 0},
    {"th", OTHER, NOWHERE, 0},
    {"wait_exp", NUMBER, NOWHERE, 0},
    {"wait_vdst", NUMBER, NOWHERE, 0},
    {"wait_va_vdst", NUMBER, NOWHERE, 0},
    {"wait_vm_vsrc", NUMBER, NOWHERE, 0},
};

/* Puts a number into the field, which must be able to hold it. */
static bool put(struct sim_reader *r, const struct modifier *m, struct sim_inst *inst, i64 number) {
    char *field = (char *)inst + m->at;
    if (m->nbytes && (number < 0 || number >> (8 * m->nbytes))) return sim_text_error(r, "too large a number");
    if (m->nbytes == 1) *(u8 *)field = (u8)number;
    if (m->nbytes == 2) memcpy(field, &(u16){(u16)number}, 2);
    if (m->nbytes == 4) memcpy(field, &(u32){(u32)number}, 4);
    return true;
}

static bool control(struct sim_reader *r, struct sim_inst *inst, i64 code, i64 added, i64 limit) {
    if (added < 0 || added >= limit) return sim_text_error(r, "no such lane");
    inst->dpp = SIM_DPP16;
    inst->dpp_control = (u16)(code + added);
    return true;
}

/* Index in a list of words that are divided by spaces; -1. */
static int choice(struct sim_reader *r, const char *list) {
    size_t length = sim_text_word(r);
    for (int i = 0; *list; i++) {
        size_t n = strcspn(list, " ");
        if (n == length && !memcmp(list, r->at, n)) {
            r->at += n;
            return i;
        }
        list += n + (list[n] == ' ');
    }
    return -1;
}

/* The offset field of ds_swizzle_b32 from swizzle(...). */
static bool swizzle(struct sim_reader *r, i64 *offset) {
    i64 n[4];
    if (sim_text_take(r, "QUAD_PERM")) {
        *offset = 0x8000;
        for (unsigned i = 0; i < 4; i++) {
            if (!sim_text_take(r, ",") || !sim_text_number(r, &n[i]) || n[i] < 0 || n[i] > 3) return false;
            *offset |= n[i] << 2 * i;
        }
    } else if (sim_text_take(r, "BITMASK_PERM")) { /* five letters, the highest bit first: 0, 1, p: keep, i: invert */
        i64 and = 0, or = 0, xor = 0;
        if (!sim_text_take(r, ",\"")) return false;
        for (unsigned i = 0; i < 5; i++, r->at++) {
            i64 bit = 16 >> i;
            switch (*r->at) {
            case '0': break;
            case '1': or |= bit; break;
            case 'p': and |= bit; break;
            case 'i': and |= bit, xor |= bit; break;
            default: return false;
            }
        }
        *offset = and | or << 5 | xor << 10;
        if (!sim_text_take(r, "\"")) return false;
    } else if (sim_text_take(r, "SWAP")) {
        if (!sim_text_take(r, ",") || !sim_text_number(r, &n[0])) return false;
        if (n[0] < 1 || n[0] > 31) return false;
        *offset = 0x1f | n[0] << 10;
    } else if (sim_text_take(r, "REVERSE")) {
        if (!sim_text_take(r, ",") || !sim_text_number(r, &n[0])) return false;
        if (n[0] < 1 || n[0] > 32) return false;
        *offset = 0x1f | (n[0] - 1) << 10;
    } else if (sim_text_take(r, "BROADCAST")) { /* size of the group, lane in it */
        if (!sim_text_take(r, ",") || !sim_text_number(r, &n[0])) return false;
        if (!sim_text_take(r, ",") || !sim_text_number(r, &n[1])) return false;
        if (n[0] < 1 || n[0] > 32 || n[1] < 0 || n[1] > 31) return false;
        *offset = (0x1f & ~(n[0] - 1)) | n[1] << 5;
    } else {
        return false;
    }
    return sim_text_take(r, ")");
}

/* th: a hint for caches, and whether an atomic returns. */
static bool hint(struct sim_reader *r, struct sim_inst *inst) {
    i64 number;
    size_t length = sim_text_word(r);
    if (sim_text_number(r, &number)) {
        inst->glc = number & 1;
        return true;
    }
    if (length < 3 || memcmp(r->at, "TH_", 3)) return sim_text_error(r, "unknown hint");
    if (length > 10 && !memcmp(r->at, "TH_ATOMIC_", 10)) inst->glc = !memcmp(r->at + length - 6, "RETURN", 6);
    if (!memcmp(r->at + length - 3, "_NT", 3)) inst->mode |= SIM_NT;
    r->at += length;
    return true;
}

static bool other(struct sim_reader *r, const struct modifier *m, struct sim_inst *inst) {
    i64 n[8];
    int i;
    if (!strcmp(m->name, "offset")) {
        if (sim_text_take(r, "swizzle(")) {
            if (!swizzle(r, n)) return sim_text_error(r, "unknown swizzle");
        } else if (!sim_text_number(r, n)) {
            return sim_text_error(r, "not an offset");
        }
        inst->offset = (i32)n[0];
        return true;
    }
    if (!strcmp(m->name, "mul") || !strcmp(m->name, "div")) {
        if (!sim_text_number(r, n)) return sim_text_error(r, "not a number");
        inst->omod = *m->name == 'd' ? 3 : n[0] == 2 ? 1 : 2;
        return n[0] == 2 || (n[0] == 4 && *m->name == 'm') || sim_text_error(r, "unknown output modifier");
    }
    if (!strcmp(m->name, "quad_perm")) {
        if (sim_text_list(r, n) != 4) return sim_text_error(r, "not 4 lanes");
        i64 code = 0;
        for (i = 0; i < 4; i++) {
            if (n[i] < 0 || n[i] > 3) return sim_text_error(r, "no such lane");
            code |= n[i] << 2 * i;
        }
        return control(r, inst, SIM_QUAD_PERM, code, 256);
    }
    if (!strcmp(m->name, "dpp8")) {
        if (sim_text_list(r, n) != 8) return sim_text_error(r, "not 8 lanes");
        inst->dpp = SIM_DPP8;
        for (i = 0; i < 8; i++) {
            if (n[i] < 0 || n[i] > 7) return sim_text_error(r, "no such lane");
            inst->dpp8 |= (u32)n[i] << 3 * i;
        }
        return true;
    }
    if (!strcmp(m->name, "row_bcast")) {
        if (!sim_text_number(r, n) || (n[0] != 15 && n[0] != 31)) return sim_text_error(r, "no such lane");
        return control(r, inst, n[0] == 15 ? SIM_ROW_BCAST15 : SIM_ROW_BCAST31, 0, 1);
    }
    if (!strncmp(m->name, "wave_", 5)) {
        if (!sim_text_number(r, n) || n[0] != 1) return sim_text_error(r, "no such distance");
        return control(r, inst, m->code, 0, 1);
    }
    if (!strcmp(m->name, "dst_unused")) {
        i = choice(r, "UNUSED_PAD UNUSED_SEXT UNUSED_PRESERVE");
        inst->dst_unused = (u8)i;
        return i >= 0 || sim_text_error(r, "unknown word");
    }
    if (!strcmp(m->name, "scope")) {
        i = choice(r, "SCOPE_CU SCOPE_SE SCOPE_DEV SCOPE_SYS");
        inst->scope = (u8)i;
        return i >= 0 || sim_text_error(r, "unknown scope");
    }
    return hint(r, inst);
}

bool sim_text_modifier(struct sim_reader *r, struct sim_inst *inst, bool *known) {
    size_t length = sim_text_word(r), i = 0, n = sizeof modifiers / sizeof *modifiers;
    while (i < n && (strlen(modifiers[i].name) != length || memcmp(modifiers[i].name, r->at, length))) i++;
    *known = i < n;
    if (i == n) return sim_text_error(r, "unknown modifier");

    const struct modifier *m = &modifiers[i];
    i64 number = 1, list[8];
    bool plain = m->form == FLAG || m->form == CONTROL;
    r->at += length;
    if ((*r->at == ':') == plain) return sim_text_error(r, "unknown modifier");
    if (!plain) r->at++;
    switch (m->form) {
    case FLAG: return put(r, m, inst, m->code ? inst->mode | m->code : 1);
    case SWITCH:
        if (!sim_text_number(r, &number) || number < 0 || number > 1) return sim_text_error(r, "not a switch");
        return put(r, m, inst, 1);
    case NUMBER: return sim_text_number(r, &number) ? put(r, m, inst, number) : sim_text_error(r, "not a number");
    case BITS:
        number = 0;
        n = sim_text_list(r, list);
        for (i = 0; i < n; i++) number |= (list[i] & 1) << i;
        if (m->at == offsetof(struct sim_inst, op_sel_hi)) number |= 0xff & ~((1 << n) - 1);
        return n && put(r, m, inst, number);
    case CONTROL: return control(r, inst, m->code, 0, 1);
    case CONTROL_N:
        return sim_text_number(r, &number) ? control(r, inst, m->code, number, 16) : sim_text_error(r, "not a number");
    case SELECT: {
        int select = choice(r, "BYTE_0 BYTE_1 BYTE_2 BYTE_3 WORD_0 WORD_1 DWORD");
        inst->sdwa = true;
        return select >= 0 ? put(r, m, inst, select) : sim_text_error(r, "unknown part of a register");
    }
    default: return other(r, m, inst);
    }
}
