/* LLVM's text of an instruction -> struct sim_inst. */
#include "text.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

bool sim_text_error(struct sim_reader *r, const char *what) {
    snprintf(r->why, 256, "%s at '%.*s'", what, 60, r->at);
    return false;
}

bool sim_text_take(struct sim_reader *r, const char *word) {
    size_t n = strlen(word);
    if (strncmp(r->at, word, n)) return false;
    if (isalnum((unsigned char)word[n - 1]) && (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')) return false;
    r->at += n;
    return true;
}

size_t sim_text_word(const struct sim_reader *r) {
    size_t n = 0;
    while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_') n++;
    return n;
}

bool sim_text_number(struct sim_reader *r, i64 *number) {
    const char *digits = r->at + (*r->at == '-');
    if (!isdigit((unsigned char)*digits)) return false;
    char *end;
    u64 n = strtoull(digits, &end, strncmp(digits, "0x", 2) ? 10 : 16);
    *number = (i64)(digits > r->at ? -n : n);
    r->at = end;
    return true;
}

unsigned sim_text_list(struct sim_reader *r, i64 numbers[8]) {
    unsigned n = 0;
    bool good = sim_text_take(r, "[");
    while (good && n < 8) {
        good = sim_text_number(r, &numbers[n++]);
        if (sim_text_take(r, "]")) return n;
        good = good && sim_text_take(r, ",");
    }
    sim_text_error(r, "not a list");
    return 0;
}

/* ---- rows by name ---- */

enum { BUCKETS = 4096 };
static struct row {
    struct row *next;
    const struct sim_op *op;
} * buckets[BUCKETS];

static unsigned bucket_of(const char *name) {
    u32 hash = 2166136261u; /* FNV-1a */
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619u;
    return (hash ^ hash >> 15) % BUCKETS;
}

static void index_table(const struct sim_op *op) {
    for (; op->name; op++) {
        struct row *row = malloc(sizeof *row), **bucket = &buckets[bucket_of(op->name)];
        if (!row) return;
        *row = (struct row){*bucket, op};
        *bucket = row;
    }
}

static void index_tables(void) {
    index_table(sim_scalar_ops);
    index_table(sim_access_ops);
    index_table(sim_lds_ops);
    index_table(sim_matrix_ops);
    for (const struct sim_op *const *table = sim_vector_tables(); *table; table++) index_table(*table);
}

const struct sim_op *sim_op_find(enum sim_target target, const char *name) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, index_tables);
    for (const struct row *row = buckets[bucket_of(name)]; row; row = row->next) {
        if (row->op->targets & target && !strcmp(row->op->name, name)) return row->op;
    }
    return NULL;
}

/* ---- one instruction ---- */

enum { NAME = 64 };

static bool starts(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

/* The mnemonic without what only tells its encoding. */
static bool read_name(struct sim_reader *r, char name[NAME]) {
    static const char *const suffixes[] = {"_e64_dpp", "_dpp8", "_dpp", "_sdwa", "_e64", "_e32"};
    size_t length = sim_text_word(r), dual = starts(r->at, "v_dual_") ? strlen("dual_") : 0;
    if (!length || length >= NAME || (r->at[length] && r->at[length] != ' ')) return sim_text_error(r, "no mnemonic");
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i]);
        if (length > n && !memcmp(r->at + length - n, suffixes[i], n)) {
            snprintf(name, NAME, "%.*s", (int)(length - n), r->at);
            break;
        }
        snprintf(name, NAME, "%.*s", (int)length, r->at);
    }
    if (dual) memmove(name + 2, name + 2 + dual, strlen(name + 2 + dual) + 1);
    r->at += length;
    while (*r->at == ' ') r->at++;
    return true;
}

/* Instructions whose numbers say what to wait for, in words of their own: the simulator has always waited. */
static bool only_waits(const char *name) {
    return !strcmp(name, "s_waitcnt") || !strcmp(name, "s_waitcnt_depctr") || !strcmp(name, "s_delay_alu") ||
           !strcmp(name, "s_wait_alu") || !strcmp(name, "s_wait_event") || !strcmp(name, "s_version");
}

static bool read_operands(struct sim_reader *r, const char *name, struct sim_operand operands[SIM_OPERANDS],
                          unsigned *n) {
    bool known;
    *n = 0;
    if (only_waits(name)) {
        r->at += strlen(r->at);
        operands[(*n)++].kind = SIM_CONSTANT;
        return true;
    }
    if (starts(name, "buffer_") || starts(name, "global_")) { /* buffer_inv sc1 */
        struct sim_reader ahead = *r;
        struct sim_inst scratch;
        sim_text_modifier(&ahead, &scratch, &known);
        if (known) return true;
    }
    if (!*r->at) return true;
    do {
        if (*n == SIM_OPERANDS) return sim_text_error(r, "too many operands");
        while (*r->at == ' ') r->at++;
        if (!sim_text_operand(r, &operands[(*n)++])) return false;
    } while (sim_text_take(r, ","));
    return true;
}

static bool read_modifiers(struct sim_reader *r, struct sim_inst *inst) {
    bool known;
    for (;;) {
        while (*r->at == ' ') r->at++;
        if (!*r->at) return true;
        if (!sim_text_modifier(r, inst, &known)) return false;
        if (*r->at && *r->at != ' ') return sim_text_error(r, "unknown modifier");
    }
}

/* ---- the order of a row ---- */

static void insert(struct sim_operand operands[], unsigned *n, unsigned at, struct sim_operand operand) {
    memmove(&operands[at + 1], &operands[at], (*n - at) * sizeof *operands);
    operands[at] = operand;
    ++*n;
}

/* Adds what LLVM does not print in some forms: see struct sim_op. */
static void complete(struct sim_reader *r, const char *name, const struct sim_inst *inst, unsigned wanted,
                     struct sim_operand operands[], unsigned *n) {
    u8 registers = r->target & SIM_GFX9 ? 2 : 1;
    struct sim_operand vcc = {.kind = SIM_SGPR, .index = SIM_VCC, .count = registers};
    struct sim_operand exec = {.kind = SIM_SGPR, .index = SIM_EXEC, .count = registers};
    if (*n + 1 != wanted) return;
    if (starts(name, "v_cmpx_")) {
        insert(operands, n, 0, exec);
    } else if (starts(name, "v_div_fmas_") || starts(name, "v_cndmask_")) {
        insert(operands, n, *n, vcc);
    } else if (strstr(name, "_atomic_") && !inst->glc) {
        insert(operands, n, 0, (struct sim_operand){.kind = SIM_ABSENT});
    } else if (strstr(name, "_load_") && inst->lds) {
        insert(operands, n, 0, (struct sim_operand){.kind = SIM_ABSENT});
    }
}

/* Registers that a type takes; 0: any number. */
static unsigned registers_of(enum sim_type type) {
    switch (type) {
    case SIM_NONE:
    case SIM_MASK:
    case SIM_ANY:
    case SIM_IMM: return 0;
    case SIM_V2F32:
    case SIM_V2B32:
    case SIM_B64:
    case SIM_U64:
    case SIM_I64:
    case SIM_F64: return 2;
    case SIM_B96: return 3;
    case SIM_B128: return 4;
    case SIM_B256: return 8;
    case SIM_B512: return 16;
    case SIM_B1024: return 32;
    default: return 1;
    }
}

static bool bind(struct sim_reader *r, const struct sim_inst *inst, struct sim_operand *operand, u8 type,
                 unsigned number) {
    unsigned registers = registers_of(type);
    bool is_register = operand->kind == SIM_VGPR || operand->kind == SIM_AGPR || operand->kind == SIM_SGPR;
    operand->type = type;
    if (type == SIM_IMM && operand->kind != SIM_CONSTANT) {
        snprintf(r->why, 256, "operand %u is not a number", number);
        return false;
    }
    if (is_register && registers && operand->count && operand->count != registers && !inst->tfe) {
        snprintf(r->why, 256, "operand %u has %u registers, %s takes %u", number, operand->count, inst->op->name,
                 registers);
        return false;
    }
    sim_bind_constant(operand);
    return true;
}

/* Finds the row and hands the operands out to its places. */
static bool place(struct sim_reader *r, const char *name, struct sim_inst *inst, struct sim_operand operands[],
                  unsigned n) {
    const struct sim_op *op = inst->op = sim_op_find(r->target, name);
    if (!op) {
        snprintf(r->why, 256, "no such instruction: %s", name);
        return false;
    }
    unsigned n_dst = 0, n_src = 0;
    while (n_dst < SIM_DSTS && op->dst[n_dst] != SIM_NONE) n_dst++;
    while (n_src < SIM_SRCS && op->src[n_src] != SIM_NONE) n_src++;
    complete(r, name, inst, n_dst + n_src, operands, &n);
    if (n + 1 == n_dst + n_src && op->src[n_src - 1] == SIM_IMM) operands[n++].kind = SIM_CONSTANT;
    if (n != n_dst + n_src) {
        snprintf(r->why, 256, "%u operands, %s takes %u", n, name, n_dst + n_src);
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        if (!bind(r, inst, &operands[i], i < n_dst ? op->dst[i] : op->src[i - n_dst], i)) return false;
    }
    memcpy(inst->dst, operands, n_dst * sizeof *operands);
    memcpy(inst->src, operands + n_dst, n_src * sizeof *operands);
    inst->n_dst = (u8)n_dst;
    inst->n_src = (u8)n_src;
    inst->run = op->run;
    return true;
}

/* `text` is the line to keep; the reader is at what is to be parsed of it. */
static struct sim_inst *parse_one(struct sim_reader *r, const char *text, u64 pc, unsigned nbytes) {
    struct sim_operand operands[SIM_OPERANDS + 1] = {0};
    struct sim_inst *inst = calloc(1, sizeof *inst);
    char name[NAME], *copy = strdup(text);
    unsigned n = 0;
    if (!inst || !copy) {
        free(inst);
        free(copy);
        snprintf(r->why, 256, "out of memory");
        return NULL;
    }
    *inst = (struct sim_inst){
        .pc = pc, .nbytes = (u8)nbytes, .text = copy, .op_sel_hi = 0xff, .row_mask = 0xf, .bank_mask = 0xf};
    inst->dst_sel = inst->src_sel[0] = inst->src_sel[1] = SIM_DWORD;
    bool good = read_name(r, name);
    if (good && (starts(name, "v_fma_mix") || starts(name, "v_mad_mix"))) inst->op_sel_hi = 0;
    good = good && read_operands(r, name, operands, &n) && read_modifiers(r, inst) && place(r, name, inst, operands, n);
    if (!good) {
        free(copy);
        free(inst);
        return NULL;
    }
    /* branches count instructions of 4 bytes from the one after them */
    if (inst->op->class == SIM_CLASS_BRANCH && inst->n_src && inst->src[inst->n_src - 1].type == SIM_IMM) {
        inst->target = pc + 4 + (u64)((i64)(i16)inst->src[inst->n_src - 1].value * 4);
    }
    return inst;
}

/* LLVM 19 prints the mask of v_cndmask_b32_dpp inside the bars of an absolute operand before it: |v1, vcc|. */
static void mend_bars(char *line) {
    for (char *bar = strstr(line, ", vcc"); bar; bar = strstr(bar + 1, ", vcc")) {
        size_t n = strspn(bar, ", vcclo_");
        if (bar[n] != '|') continue;
        memmove(bar + 1, bar, n);
        *bar = '|';
    }
}

void sim_inst_free(const struct sim_inst *inst) {
    if (!inst) return;
    sim_inst_free(inst->pair);
    free((void *)(uintptr_t)inst->text);
    free((void *)(uintptr_t)inst);
}

struct sim_inst *sim_parse(enum sim_target target, const char *text, u64 pc, unsigned nbytes, char why[256]) {
    while (isspace((unsigned char)*text)) text++;
    char *line = strdup(text);
    if (!line) {
        snprintf(why, 256, "out of memory");
        return NULL;
    }
    for (char *c = line; *c; c++) {
        if (*c == '\t') *c = ' ';
    }
    for (size_t n = strlen(line); n && line[n - 1] == ' '; n--) line[n - 1] = 0;
    mend_bars(line);
    char *second = strstr(line, " :: "); /* v_dual_* */
    struct sim_inst *inst, *pair = NULL;
    struct sim_reader r = {.target = target, .why = why};
    if (second) {
        r.at = second + 4;
        pair = parse_one(&r, second + 4, pc, nbytes);
        *second = 0;
        r.at = line;
        inst = pair ? parse_one(&r, text, pc, nbytes) : NULL;
        if (inst) {
            inst->pair = pair;
            inst->run = sim_run_pair;
        } else {
            sim_inst_free(pair);
        }
    } else {
        r.at = line;
        inst = parse_one(&r, text, pc, nbytes);
    }
    free(line);
    return inst;
}
