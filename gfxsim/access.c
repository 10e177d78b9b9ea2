/* Global, flat, scratch and buffer instructions: addresses, and the table. What they move, move.c and atomic.c. */
#include "access.h"

#include <stdatomic.h>
#include <string.h>

void sim_places_take(const struct sim_wave *wave, struct sim_places *lanes) {
    lanes->space = SIM_GLOBAL;
    lanes->mask = SIM_EXEC64(wave);
    lanes->n = 0;
    for (u64 left = lanes->mask; left; left &= left - 1) lanes->lane[lanes->n++] = (u8)__builtin_ctzll(left);
}

const u32 *sim_address_row(struct sim_wave *wave, const struct sim_operand *operand, unsigned n, u32 space[64]) {
    u64 defined;
    const u32 *row = sim_row(wave, operand, n, space, &defined);
    u64 undefined = SIM_EXEC64(wave) & ~defined;
    if (undefined && sim_settings.check)
        sim_fail(wave, __builtin_ctzll(undefined), 719, "an address is taken from a register never written");
    return row;
}

u64 sim_scalar_address(struct sim_wave *wave, const struct sim_operand *operand) {
    if (sim_settings.check && !sim_scalar_defined(wave, operand))
        sim_fail(wave, -1, 719, "an address is taken from a scalar register never written");
    return operand->count > 1 ? sim_scalar_read64(wave, operand) : sim_scalar_read(wave, operand, 0);
}

/* vaddr (64 bits, or 32 with saddr) + saddr + offset */
static void add_addresses(struct sim_wave *wave, const struct sim_operand *vaddr, const struct sim_operand *saddr,
                          i64 offset, struct sim_places *lanes) {
    u32 space[2][64];
    u64 base = (u64)offset;
    const u32 *low = NULL, *high = NULL;
    if (saddr && saddr->kind != SIM_ABSENT) base += sim_scalar_address(wave, saddr);
    if (vaddr->kind != SIM_ABSENT) {
        low = sim_address_row(wave, vaddr, 0, space[0]);
        if (vaddr->count > 1) high = sim_address_row(wave, vaddr, 1, space[1]);
    }
    for (unsigned i = 0; i < lanes->n; i++) lanes->at[i] = base;
    if (low)
        for (unsigned i = 0; i < lanes->n; i++) lanes->at[i] += low[lanes->lane[i]];
    if (high)
        for (unsigned i = 0; i < lanes->n; i++) lanes->at[i] += (u64)high[lanes->lane[i]] << 32;
}

static void scratch_addresses(struct sim_wave *wave, const struct sim_operand *vaddr, const struct sim_operand *saddr,
                              i64 offset, struct sim_places *lanes) {
    lanes->space = SIM_SCRATCH;
    add_addresses(wave, vaddr, saddr, offset, lanes);
    for (unsigned i = 0; i < lanes->n; i++) lanes->at[i] = (u32)lanes->at[i];
}

/* Whether an instruction says that its access is volatile or atomic. On gfx90a and gfx1030 stores never do, on gfx1100
 * only volatile ones. */
static int coherence(const struct sim_wave *wave, const struct sim_inst *inst) {
    bool is;
    if (wave->target == SIM_GFX1201)
        is = inst->scope != 0;
    else if (wave->target == SIM_GFX942)
        is = inst->glc || inst->mode & SIM_SLC;
    else /* with slc they are non-temporal */
        is = (inst->glc || inst->mode & SIM_DLC) && !(inst->mode & SIM_SLC);
    return is ? SIM_COHERENT : 0;
}

/* The lanes of flat addresses by kind of memory: at[] becomes what that kind counts. */
static unsigned split(const struct sim_places *lanes, struct sim_places parts[3]) {
    for (unsigned k = 0; k < 3; k++) parts[k] = (struct sim_places){.space = (u8)k};
    for (unsigned i = 0; i < lanes->n; i++) {
        u64 at = lanes->at[i], window = at >> 32;
        unsigned k = window == SIM_SHARED_APERTURE >> 32    ? SIM_LDS
                     : window == SIM_PRIVATE_APERTURE >> 32 ? SIM_SCRATCH
                                                            : SIM_GLOBAL;
        struct sim_places *part = &parts[k];
        part->lane[part->n] = lanes->lane[i];
        part->at[part->n++] = k == SIM_GLOBAL ? at : (u32)at;
        part->mask |= (u64)1 << lanes->lane[i];
    }
    return 3;
}

/* ---- global, flat, scratch ---- */

/* Each lane's four bytes, or its smaller element made four, go to LDS at M0 + offset + 4 * lane. */
static void load_to_lds(struct sim_wave *wave, const struct sim_inst *inst, struct sim_places *lanes) {
    const struct sim_form *form = inst->op->detail;
    if (sim_settings.check && wave->s_known[SIM_M0] != ~(u32)0)
        sim_fail(wave, -1, 719, "an LDS address is taken from M0, which was never written");
    u32 rows[4][64] = {{0}};
    unsigned words = (form->nbytes + 3u) / 4, stride = 4 * words;
    sim_check_global(wave, lanes, form->nbytes, SIM_READ | coherence(wave, inst), NULL);
    struct sim_data data = {.n = words};
    for (unsigned r = 0; r < words; r++) data.row[r] = rows[r];
    for (unsigned i = 0; i < lanes->n; i++) {
        const void *from = (const void *)(uintptr_t)lanes->at[i];
        unsigned lane = lanes->lane[i];
        u32 word[4] = {0};
        memcpy(word, from, form->nbytes);
        if (form->is_signed) word[0] = form->nbytes == 1 ? (u32)(i8)word[0] : (u32)(i16)word[0];
        for (unsigned r = 0; r < words; r++) rows[r][lane] = word[r];
        lanes->at[i] = (wave->s[SIM_M0] & 0xffff) + (u32)inst->offset + lane * stride;
    }
    lanes->space = SIM_LDS;
    sim_store_lanes(wave, lanes, &(struct sim_form){.nbytes = (u8)stride}, &data, SIM_WRITE);
}

static void global_load(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_places lanes;
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    add_addresses(wave, &inst->src[0], &inst->src[1], inst->offset, &lanes);
    if (inst->lds || inst->dst[0].kind == SIM_ABSENT)
        load_to_lds(wave, inst, &lanes);
    else
        sim_load_lanes(wave, &lanes, inst->op->detail, inst->dst, 0, SIM_READ | coherence(wave, inst));
}

static void global_store(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_form *form = inst->op->detail;
    struct sim_places lanes;
    struct sim_data data;
    u32 space[4][64];
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    add_addresses(wave, &inst->src[0], &inst->src[2], inst->offset, &lanes);
    sim_data_of(wave, &inst->src[1], form->nbytes, space, &data);
    sim_store_lanes(wave, &lanes, form, &data, SIM_WRITE | coherence(wave, inst));
}

/* Bytes of data of an atomic: of a compare-and-swap there are two values. */
static unsigned operand_bytes(const struct sim_form *form) {
    return form->atomic == SIM_CMPSWAP || form->atomic == SIM_FCMPSWAP ? 2u * form->nbytes : form->nbytes;
}

static void global_atomic(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_form *form = inst->op->detail;
    struct sim_places lanes;
    struct sim_data data;
    u32 space[4][64];
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    add_addresses(wave, &inst->src[0], &inst->src[2], inst->offset, &lanes);
    sim_data_of(wave, &inst->src[1], operand_bytes(form), space, &data);
    sim_atomic_lanes(wave, &lanes, form, &data, inst->glc ? inst->dst : NULL);
}

/* gfx10 and later: saddr + offset + 4 * lane */
static void addtid_addresses(struct sim_wave *wave, const struct sim_operand *saddr, i64 offset,
                             struct sim_places *lanes) {
    static const struct sim_operand absent;
    add_addresses(wave, &absent, saddr, offset, lanes);
    for (unsigned i = 0; i < lanes->n; i++) lanes->at[i] += 4u * lanes->lane[i];
}

static void addtid_load(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_places lanes;
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    addtid_addresses(wave, &inst->src[0], inst->offset, &lanes);
    sim_load_lanes(wave, &lanes, inst->op->detail, inst->dst, 0, SIM_READ | coherence(wave, inst));
}

static void addtid_store(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_places lanes;
    struct sim_data data;
    u32 space[1][64];
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    addtid_addresses(wave, &inst->src[1], inst->offset, &lanes);
    sim_data_of(wave, &inst->src[0], 4, space, &data);
    sim_store_lanes(wave, &lanes, inst->op->detail, &data, SIM_WRITE | coherence(wave, inst));
}

static void flat_load(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_places lanes, parts[3];
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    add_addresses(wave, &inst->src[0], NULL, inst->offset, &lanes);
    unsigned n = split(&lanes, parts);
    for (unsigned k = 0; k < n; k++)
        if (parts[k].n)
            sim_load_lanes(wave, &parts[k], inst->op->detail, inst->dst, 0, SIM_READ | coherence(wave, inst));
}

static void flat_store(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_form *form = inst->op->detail;
    struct sim_places lanes, parts[3];
    struct sim_data data;
    u32 space[4][64];
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    add_addresses(wave, &inst->src[0], NULL, inst->offset, &lanes);
    sim_data_of(wave, &inst->src[1], form->nbytes, space, &data);
    unsigned n = split(&lanes, parts);
    for (unsigned k = 0; k < n; k++)
        if (parts[k].n) sim_store_lanes(wave, &parts[k], form, &data, SIM_WRITE | coherence(wave, inst));
}

static void flat_atomic(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_form *form = inst->op->detail;
    struct sim_places lanes, parts[3];
    struct sim_data data;
    u32 space[4][64];
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    add_addresses(wave, &inst->src[0], NULL, inst->offset, &lanes);
    sim_data_of(wave, &inst->src[1], operand_bytes(form), space, &data);
    unsigned n = split(&lanes, parts);
    for (unsigned k = 0; k < n; k++)
        if (parts[k].n) sim_atomic_lanes(wave, &parts[k], form, &data, inst->glc ? inst->dst : NULL);
}

static void scratch_load(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_places lanes;
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    scratch_addresses(wave, &inst->src[0], &inst->src[1], inst->offset, &lanes);
    sim_load_lanes(wave, &lanes, inst->op->detail, inst->dst, 0, SIM_READ);
}

static void scratch_store(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_form *form = inst->op->detail;
    struct sim_places lanes;
    struct sim_data data;
    u32 space[4][64];
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    scratch_addresses(wave, &inst->src[0], &inst->src[2], inst->offset, &lanes);
    sim_data_of(wave, &inst->src[1], form->nbytes, space, &data);
    sim_store_lanes(wave, &lanes, form, &data, SIM_WRITE);
}

/* ---- buffers ---- */

static void buffer_load(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_form *form = inst->op->detail;
    struct sim_places lanes;
    u64 beyond;
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    sim_buffer_addresses(wave, inst, form->nbytes, &lanes, &beyond);
    if (inst->lds || inst->dst[0].kind == SIM_ABSENT) {
        if (lanes.n) load_to_lds(wave, inst, &lanes);
        return;
    }
    if (lanes.n) sim_load_lanes(wave, &lanes, form, inst->dst, 0, SIM_READ | coherence(wave, inst));
    sim_load_zeros(wave, beyond, form, inst->dst, 0);
}

static void buffer_store(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_form *form = inst->op->detail;
    struct sim_places lanes;
    struct sim_data data;
    u32 space[4][64];
    u64 beyond;
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    sim_buffer_addresses(wave, inst, form->nbytes, &lanes, &beyond);
    sim_data_of(wave, &inst->src[0], form->nbytes, space, &data);
    if (lanes.n) sim_store_lanes(wave, &lanes, form, &data, SIM_WRITE | coherence(wave, inst));
}

static void buffer_atomic(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_form *form = inst->op->detail;
    struct sim_places lanes;
    struct sim_data data;
    u32 space[4][64];
    u64 beyond;
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    sim_buffer_addresses(wave, inst, form->nbytes, &lanes, &beyond);
    sim_data_of(wave, &inst->src[0], operand_bytes(form), space, &data);
    if (lanes.n) sim_atomic_lanes(wave, &lanes, form, &data, inst->glc ? &inst->src[0] : NULL);
}

/* ---- caches ---- */

static void nothing(struct sim_wave *wave, const struct sim_inst *inst) { (void)wave, (void)inst; }

/* Makes what other blocks wrote visible, when it does so for the whole device: sc1 on gfx942, the scope on gfx12. */
static void acquire(struct sim_wave *wave, const struct sim_inst *inst) {
    if (wave->target == SIM_GFX942 && !(inst->mode & SIM_SLC)) return;
    if (wave->target == SIM_GFX1201 && inst->scope < 2) return;
    atomic_thread_fence(memory_order_seq_cst);
    wave->block->acquired = atomic_fetch_add(&wave->block->launch->acquires, 1) + 1;
}

/* ---- the table ---- */

enum { OLD = SIM_GFX9 | SIM_GFX1030, NEW = SIM_GFX11_12 };
#define FORM(...)                                                                                                      \
    &(const struct sim_form) { .nbytes = __VA_ARGS__ }

#define LOAD(name, targets, type, ...)                                                                                   \
    {"global_load_" name, targets, SIM_CLASS_GLOBAL, {type}, {SIM_ANY, SIM_ANY}, global_load, FORM(__VA_ARGS__)},        \
        {"flat_load_" name, targets, SIM_CLASS_GLOBAL, {type}, {SIM_B64}, flat_load, FORM(__VA_ARGS__)},                 \
        {"scratch_load_" name, targets, SIM_CLASS_SCRATCH, {type}, {SIM_ANY, SIM_ANY}, scratch_load, FORM(__VA_ARGS__)}, \
    {                                                                                                                    \
        "buffer_load_" name, targets, SIM_CLASS_GLOBAL, {type}, {SIM_ANY, SIM_B128, SIM_B32}, buffer_load,               \
            FORM(__VA_ARGS__)                                                                                            \
    }
#define STORE(name, targets, type, ...)                                                                                \
    {"global_store_" name, targets, SIM_CLASS_GLOBAL, {0}, {SIM_ANY, type, SIM_ANY}, global_store, FORM(__VA_ARGS__)}, \
        {"flat_store_" name, targets, SIM_CLASS_GLOBAL, {0}, {SIM_B64, type}, flat_store, FORM(__VA_ARGS__)},          \
        {"scratch_store_" name,    targets,       SIM_CLASS_SCRATCH, {0},                                              \
         {SIM_ANY, type, SIM_ANY}, scratch_store, FORM(__VA_ARGS__)},                                                  \
    {                                                                                                                  \
        "buffer_store_" name, targets, SIM_CLASS_GLOBAL, {0}, {type, SIM_ANY, SIM_B128, SIM_B32}, buffer_store,        \
            FORM(__VA_ARGS__)                                                                                          \
    }
#define LOAD_LDS(name, ...)                                                                                            \
    { "global_load_lds_" name, SIM_GFX942, SIM_CLASS_GLOBAL, {0}, {SIM_ANY, SIM_ANY}, global_load, FORM(__VA_ARGS__) }
#define BUFFER_LDS(name, ...)                                                                                          \
    {                                                                                                                  \
        "buffer_load_lds_" name, SIM_GFX1100, SIM_CLASS_GLOBAL, {0}, {SIM_ANY, SIM_B128, SIM_B32}, buffer_load,        \
            FORM(__VA_ARGS__)                                                                                          \
    }
/* The targets of each address space differ for a few. */
#define ATOMIC_SPACES(name, global, flat, buffer, type, data, nbytes, op)                                                \
    {"global_atomic_" name,    global,        SIM_CLASS_GLOBAL,          {type},                                         \
     {SIM_ANY, data, SIM_ANY}, global_atomic, FORM(nbytes, 0, false, op)},                                               \
        {"flat_atomic_" name, flat, SIM_CLASS_GLOBAL, {type}, {SIM_B64, data}, flat_atomic, FORM(nbytes, 0, false, op)}, \
    {                                                                                                                    \
        "buffer_atomic_" name, buffer, SIM_CLASS_GLOBAL, {0}, {data, SIM_ANY, SIM_B128, SIM_B32}, buffer_atomic,         \
            FORM(nbytes, 0, false, op)                                                                                   \
    }
#define ATOMIC_OF(name, targets, type, data, nbytes, op)                                                               \
    ATOMIC_SPACES(name, targets, targets, targets, type, data, nbytes, op)
#define ATOMIC(name, targets, op) ATOMIC_OF(name, targets, SIM_B32, SIM_B32, 4, op)
#define ATOMIC64(name, targets, op) ATOMIC_OF(name, targets, SIM_B64, SIM_B64, 8, op)
/* gfx9 and gfx10 name the 64-bit one x2, gfx11 and gfx12 both by types. */
#define BOTH(old, new, type, op)                                                                                       \
    ATOMIC(old, OLD, op), ATOMIC64(old "_x2", OLD, op), ATOMIC(new "_" type "32", NEW, op),                            \
        ATOMIC64(new "_" type "64", NEW, op)
#define CACHE(name, targets, run)                                                                                      \
    { name, targets, SIM_CLASS_WAIT, {0}, {0}, run, NULL }

const struct sim_op sim_access_ops[] = {
    LOAD("ubyte", OLD, SIM_B32, 1),
    LOAD("sbyte", OLD, SIM_B32, 1, 0, true),
    LOAD("ushort", OLD, SIM_B32, 2),
    LOAD("sshort", OLD, SIM_B32, 2, 0, true),
    LOAD("dword", OLD, SIM_B32, 4),
    LOAD("dwordx2", OLD, SIM_B64, 8),
    LOAD("dwordx3", OLD, SIM_B96, 12),
    LOAD("dwordx4", OLD, SIM_B128, 16),
    LOAD("ubyte_d16", OLD, SIM_B32, 1, 1),
    LOAD("ubyte_d16_hi", OLD, SIM_B32, 1, 2),
    LOAD("sbyte_d16", OLD, SIM_B32, 1, 1, true),
    LOAD("sbyte_d16_hi", OLD, SIM_B32, 1, 2, true),
    LOAD("short_d16", OLD, SIM_B32, 2, 1),
    LOAD("short_d16_hi", OLD, SIM_B32, 2, 2),
    LOAD("u8", NEW, SIM_B32, 1),
    LOAD("i8", NEW, SIM_B32, 1, 0, true),
    LOAD("u16", NEW, SIM_B32, 2),
    LOAD("i16", NEW, SIM_B32, 2, 0, true),
    LOAD("b32", NEW, SIM_B32, 4),
    LOAD("b64", NEW, SIM_B64, 8),
    LOAD("b96", NEW, SIM_B96, 12),
    LOAD("b128", NEW, SIM_B128, 16),
    LOAD("d16_u8", NEW, SIM_B32, 1, 1),
    LOAD("d16_hi_u8", NEW, SIM_B32, 1, 2),
    LOAD("d16_i8", NEW, SIM_B32, 1, 1, true),
    LOAD("d16_hi_i8", NEW, SIM_B32, 1, 2, true),
    LOAD("d16_b16", NEW, SIM_B32, 2, 1),
    LOAD("d16_hi_b16", NEW, SIM_B32, 2, 2),

    STORE("byte", OLD, SIM_B32, 1),
    STORE("short", OLD, SIM_B32, 2),
    STORE("dword", OLD, SIM_B32, 4),
    STORE("dwordx2", OLD, SIM_B64, 8),
    STORE("dwordx3", OLD, SIM_B96, 12),
    STORE("dwordx4", OLD, SIM_B128, 16),
    STORE("byte_d16_hi", OLD, SIM_B32, 1, 2),
    STORE("short_d16_hi", OLD, SIM_B32, 2, 2),
    STORE("b8", NEW, SIM_B32, 1),
    STORE("b16", NEW, SIM_B32, 2),
    STORE("b32", NEW, SIM_B32, 4),
    STORE("b64", NEW, SIM_B64, 8),
    STORE("b96", NEW, SIM_B96, 12),
    STORE("b128", NEW, SIM_B128, 16),
    STORE("d16_hi_b8", NEW, SIM_B32, 1, 2),
    STORE("d16_hi_b16", NEW, SIM_B32, 2, 2),

    LOAD_LDS("ubyte", 1),
    LOAD_LDS("sbyte", 1, 0, true),
    LOAD_LDS("ushort", 2),
    LOAD_LDS("sshort", 2, 0, true),
    LOAD_LDS("dword", 4),

    BUFFER_LDS("u8", 1),
    BUFFER_LDS("i8", 1, 0, true),
    BUFFER_LDS("u16", 2),
    BUFFER_LDS("i16", 2, 0, true),
    BUFFER_LDS("b32", 4),

    {"global_load_dword_addtid", SIM_GFX1030, SIM_CLASS_GLOBAL, {SIM_B32}, {SIM_ANY}, addtid_load, FORM(4)},
    {"global_store_dword_addtid", SIM_GFX1030, SIM_CLASS_GLOBAL, {0}, {SIM_B32, SIM_ANY}, addtid_store, FORM(4)},
    {"global_load_addtid_b32", NEW, SIM_CLASS_GLOBAL, {SIM_B32}, {SIM_ANY}, addtid_load, FORM(4)},
    {"global_store_addtid_b32", NEW, SIM_CLASS_GLOBAL, {0}, {SIM_B32, SIM_ANY}, addtid_store, FORM(4)},

    BOTH("swap", "swap", "b", SIM_SWAP),
    BOTH("add", "add", "u", SIM_ADD),
    BOTH("sub", "sub", "u", SIM_SUB),
    BOTH("smin", "min", "i", SIM_SMIN),
    BOTH("umin", "min", "u", SIM_UMIN),
    BOTH("smax", "max", "i", SIM_SMAX),
    BOTH("umax", "max", "u", SIM_UMAX),
    BOTH("and", "and", "b", SIM_AND),
    BOTH("or", "or", "b", SIM_OR),
    BOTH("xor", "xor", "b", SIM_XOR),
    BOTH("inc", "inc", "u", SIM_INC),
    BOTH("dec", "dec", "u", SIM_DEC),
    ATOMIC_OF("cmpswap", OLD, SIM_B32, SIM_B64, 4, SIM_CMPSWAP),
    ATOMIC_OF("cmpswap_x2", OLD, SIM_B64, SIM_B128, 8, SIM_CMPSWAP),
    ATOMIC_OF("cmpswap_b32", NEW, SIM_B32, SIM_B64, 4, SIM_CMPSWAP),
    ATOMIC_OF("cmpswap_b64", NEW, SIM_B64, SIM_B128, 8, SIM_CMPSWAP),
    ATOMIC_OF("fcmpswap", SIM_GFX1030, SIM_B32, SIM_B64, 4, SIM_FCMPSWAP),
    ATOMIC_OF("fcmpswap_x2", SIM_GFX1030, SIM_B64, SIM_B128, 8, SIM_FCMPSWAP),
    ATOMIC_OF("cmpswap_f32", SIM_GFX1100, SIM_B32, SIM_B64, 4, SIM_FCMPSWAP),
    ATOMIC_SPACES("csub", SIM_GFX1030, 0, SIM_GFX1030, SIM_B32, SIM_B32, 4, SIM_CSUB),
    ATOMIC_SPACES("csub_u32", SIM_GFX1100, 0, SIM_GFX1100, SIM_B32, SIM_B32, 4, SIM_CSUB),
    ATOMIC("sub_clamp_u32", SIM_GFX1201, SIM_CSUB),
    ATOMIC("cond_sub_u32", SIM_GFX1201, SIM_COND_SUB),
    ATOMIC_SPACES("add_f32", SIM_GFX9 | NEW, SIM_GFX942 | NEW, SIM_GFX9 | NEW, SIM_B32, SIM_B32, 4, SIM_FADD),
    ATOMIC_SPACES("pk_add_f16", SIM_GFX9 | SIM_GFX1201, SIM_GFX942 | SIM_GFX1201, SIM_GFX9 | SIM_GFX1201, SIM_B32,
                  SIM_B32, 4, SIM_PK_ADD_F16),
    ATOMIC_SPACES("pk_add_bf16", SIM_GFX942 | SIM_GFX1201, SIM_GFX942 | SIM_GFX1201, SIM_GFX1201, SIM_B32, SIM_B32, 4,
                  SIM_PK_ADD_BF16),
    ATOMIC64("add_f64", SIM_GFX9, SIM_FADD),
    ATOMIC64("min_f64", SIM_GFX9, SIM_FMIN),
    ATOMIC64("max_f64", SIM_GFX9, SIM_FMAX),
    ATOMIC("fmin", SIM_GFX1030, SIM_FMIN),
    ATOMIC("fmax", SIM_GFX1030, SIM_FMAX),
    ATOMIC64("fmin_x2", SIM_GFX1030, SIM_FMIN),
    ATOMIC64("fmax_x2", SIM_GFX1030, SIM_FMAX),
    ATOMIC("min_f32", SIM_GFX1100, SIM_FMIN),
    ATOMIC("max_f32", SIM_GFX1100, SIM_FMAX),
    ATOMIC("min_num_f32", SIM_GFX1201, SIM_FMIN_NUM),
    ATOMIC("max_num_f32", SIM_GFX1201, SIM_FMAX_NUM),

    CACHE("buffer_wbinvl1", SIM_GFX90A, acquire),
    CACHE("buffer_wbinvl1_vol", SIM_GFX90A, acquire),
    CACHE("buffer_invl2", SIM_GFX90A, acquire),
    CACHE("buffer_wbl2", SIM_GFX9, nothing),
    CACHE("buffer_inv", SIM_GFX942, acquire),
    CACHE("buffer_gl0_inv", SIM_GFX10_11, nothing),
    CACHE("buffer_gl1_inv", SIM_GFX10_11, acquire),
    CACHE("global_inv", SIM_GFX1201, acquire),
    CACHE("global_wb", SIM_GFX1201, nothing),
    CACHE("global_wbinv", SIM_GFX1201, acquire),
    {0},
};
