/* LDS: its checks, and the ds instructions that read and write it. Those between lanes alone, lds_lanes.c.
 *
 * Of each byte LDS knows who wrote it last and who read it: epoch << 10 | flags | wave + 1, where an epoch is the time
 * between two barriers of the block. Accesses of two waves in one epoch are a race when one of them writes, but not
 * when both are atomics, when a write changes nothing, or when the read is that in front of a loop with
 * compare-and-swap. */
#include "check.h"
#include "lds.h"

enum { WAVE = 255, SEVERAL = 255, ATOMIC = 256, DEFINED = 512, EPOCH = 10, SAME_EPOCH = 1 << EPOCH };

/* What one lane does. */
struct touch {
    unsigned lane, nbytes;
    u64 at;
    int access;
    const struct sim_data *data;
};

/* Who did it: `known` is of an access in this epoch. */
static void report(struct sim_wave *wave, const struct touch *t, u32 known, const char *did) {
    char text[40];
    int lane = (int)t->lane;
    sim_say_access(text, t->access, t->nbytes);
    if ((known & WAVE) == SEVERAL)
        sim_doubt(wave, lane, SIM_LDS_RACE, "race in LDS: %s at byte %llu that other waves %s since the last barrier",
                  text, (unsigned long long)t->at, did);
    else
        sim_doubt(wave, lane, SIM_LDS_RACE, "race in LDS: %s at byte %llu that wave %u %s since the last barrier", text,
                  (unsigned long long)t->at, (known & WAVE) - 1, did);
}

/* The finding of byte b of an access, where there is one. */
static void check_byte(struct sim_wave *wave, const struct touch *t, unsigned b) {
    const struct sim_lds_byte *known = &wave->block->lds_known[t->at + b];
    u32 mine = wave->block->epoch << EPOCH | (wave->id + 1);
    int access = t->access;
    bool written = (known->writer ^ mine) < SAME_EPOCH && (known->writer & WAVE) != (mine & WAVE);
    bool read = (known->reader ^ mine) < SAME_EPOCH && (known->reader & WAVE) != (mine & WAVE);
    bool by_atomic = known->writer & ATOMIC;
    if (access & (SIM_READ | SIM_ATOMIC) && !(known->writer & DEFINED))
        sim_doubt(wave, (int)t->lane, SIM_LDS_UNWRITTEN, "LDS never written: %s at byte %llu",
                  sim_say_access((char[40]){0}, access, t->nbytes), (unsigned long long)t->at);
    if (access & SIM_WRITE && wave->block->lds[t->at + b] == sim_data_byte(t->data, t->lane, b)) return;
    if (written && access & SIM_ATOMIC && by_atomic) written = false;
    if (written && access & SIM_READ && by_atomic && sim_exchange_follows(wave)) written = false;
    if (written) report(wave, t, known->writer, by_atomic ? "changed by an atomic" : "wrote");
    if (read && access & (SIM_WRITE | SIM_ATOMIC) && !(access & SIM_EXCHANGE)) report(wave, t, known->reader, "read");
}

/* Bits that are set when check_byte has something to look at. */
static inline u32 read_bytes(struct sim_lds_byte *known, unsigned nbytes, u32 mine) {
    u32 odd = 0;
    for (unsigned b = 0; b < nbytes; b++) {
        u32 writer = known[b].writer ^ mine, reader = known[b].reader ^ mine;
        odd |= (writer < SAME_EPOCH && writer & WAVE) | (~known[b].writer & DEFINED);
        known[b].reader = mine | (reader - 1 < SAME_EPOCH - 1 ? SEVERAL : 0);
    }
    return odd;
}
static inline u32 write_bytes(struct sim_lds_byte *known, unsigned nbytes, u32 mine) {
    u32 odd = 0;
    for (unsigned b = 0; b < nbytes; b++) {
        u32 writer = known[b].writer ^ mine, reader = known[b].reader ^ mine;
        odd |= (writer < SAME_EPOCH && writer & WAVE) | (reader < SAME_EPOCH && reader & WAVE);
    }
    return odd;
}
static inline u32 read_lanes(struct sim_lds_byte *known, const struct sim_places *lanes, unsigned nbytes, u32 mine) {
    u32 odd = 0;
    for (unsigned i = 0; i < lanes->n; i++) odd |= read_bytes(known + lanes->at[i], nbytes, mine);
    return odd;
}
static inline u32 write_lanes(struct sim_lds_byte *known, const struct sim_places *lanes, unsigned nbytes, u32 mine) {
    u32 odd = 0;
    for (unsigned i = 0; i < lanes->n; i++) odd |= write_bytes(known + lanes->at[i], nbytes, mine);
    return odd;
}

static bool looks_good(struct sim_lds_byte *known, const struct sim_places *lanes, unsigned nbytes, int access,
                       u32 mine) {
    if (access & SIM_ATOMIC) return false;
    switch (nbytes) {
    case 1: return !(access & SIM_READ ? read_lanes(known, lanes, 1, mine) : write_lanes(known, lanes, 1, mine));
    case 2: return !(access & SIM_READ ? read_lanes(known, lanes, 2, mine) : write_lanes(known, lanes, 2, mine));
    case 4: return !(access & SIM_READ ? read_lanes(known, lanes, 4, mine) : write_lanes(known, lanes, 4, mine));
    case 8: return !(access & SIM_READ ? read_lanes(known, lanes, 8, mine) : write_lanes(known, lanes, 8, mine));
    case 12: return !(access & SIM_READ ? read_lanes(known, lanes, 12, mine) : write_lanes(known, lanes, 12, mine));
    default: return !(access & SIM_READ ? read_lanes(known, lanes, 16, mine) : write_lanes(known, lanes, 16, mine));
    }
}

static void mark_written(struct sim_lds_byte *known, const struct sim_places *lanes, unsigned nbytes, u32 mine,
                         const struct sim_data *data) {
    for (unsigned i = 0; i < lanes->n; i++) {
        for (unsigned b = 0; b < nbytes; b++) {
            bool defined = b / 4 >= data->n || !(data->undefined[b / 4] >> lanes->lane[i] & 1);
            known[lanes->at[i] + b].writer = mine | (defined ? DEFINED : 0);
        }
    }
}

/* Cycles beyond the first of each group of lanes that LDS serves at once: as many as fill its 32 banks of 4 bytes. */
static unsigned count_conflicts(const struct sim_places *lanes, unsigned nbytes) {
    unsigned words = (nbytes + 3) / 4, group_lanes = words == 1 ? 32 : words == 2 ? 16 : 8, conflicts = 0;
    for (unsigned i = 0; i < lanes->n;) {
        unsigned group = lanes->lane[i] / group_lanes, used[32] = {0}, most = 0, n = 0;
        u64 seen[32];
        for (; i < lanes->n && lanes->lane[i] / group_lanes == group; i++) {
            for (unsigned w = 0; w < words; w++) {
                u64 word = lanes->at[i] / 4 + w;
                unsigned k = 0;
                while (k < n && seen[k] != word) k++;
                if (k < n) continue;
                seen[n++] = word;
                if (++used[word % 32] > most) most = used[word % 32];
            }
        }
        if (most > 1) conflicts += most - 1;
    }
    return conflicts;
}

void sim_check_lds(struct sim_wave *wave, const struct sim_places *lanes, unsigned nbytes, int access,
                   const struct sim_data *data) {
    struct sim_block *block = wave->block;
    for (unsigned i = 0; i < lanes->n; i++) {
        if (lanes->at[i] + nbytes > block->lds_bytes)
            sim_fail(wave, lanes->lane[i], 700, "outside LDS: %s at byte %llu of the block's %u",
                     sim_say_access((char[40]){0}, access, nbytes), (unsigned long long)lanes->at[i], block->lds_bytes);
        /* In the mode that HIP sets up, loads and stores of any width may have any address; atomics may not. */
        if (access & SIM_ATOMIC && lanes->at[i] % nbytes)
            sim_fail(wave, lanes->lane[i], 700, "misaligned: an atomic on %u bytes at byte %llu of LDS", nbytes,
                     (unsigned long long)lanes->at[i]);
    }
    if (block->lds_known) {
        u32 mine = block->epoch << EPOCH | (wave->id + 1);
        if (!looks_good(block->lds_known, lanes, nbytes, access, mine))
            for (unsigned i = 0; i < lanes->n; i++) {
                struct touch touch = {lanes->lane[i], nbytes, lanes->at[i], access, data};
                for (unsigned b = 0; b < nbytes; b++) check_byte(wave, &touch, b);
            }
        if (access & (SIM_WRITE | SIM_ATOMIC))
            mark_written(block->lds_known, lanes, nbytes, mine | (access & SIM_ATOMIC ? ATOMIC : 0), data);
    }
    if (wave->counts) {
        wave->counts->lds_accesses++;
        wave->counts->lds_conflicts += count_conflicts(lanes, nbytes);
    }
}

/* ---- instructions ---- */

/* The lanes in EXEC at address + offset. */
static bool take(struct sim_wave *wave, const struct sim_operand *address, u32 offset, struct sim_places *lanes) {
    u32 space[64];
    sim_places_take(wave, lanes);
    lanes->space = SIM_LDS;
    if (!lanes->n) return false;
    const u32 *row = sim_address_row(wave, address, 0, space);
    for (unsigned i = 0; i < lanes->n; i++) lanes->at[i] = row[lanes->lane[i]] + offset;
    return true;
}

/* gfx9 and gfx10: M0 + offset + 4 * lane. */
static bool take_addtid(struct sim_wave *wave, u32 offset, struct sim_places *lanes) {
    sim_places_take(wave, lanes);
    lanes->space = SIM_LDS;
    u32 base = sim_lds_base(wave);
    for (unsigned i = 0; i < lanes->n; i++) lanes->at[i] = base + offset + 4u * lanes->lane[i];
    return lanes->n != 0;
}

/* Takes away the lanes outside the block's LDS where that is not a finding, and returns them: they read 0 and write
 * nothing. */
static u64 drop_outside(const struct sim_wave *wave, struct sim_places *lanes, unsigned nbytes) {
    u64 before = lanes->mask;
    unsigned n = 0;
    if (!sim_settings.isa) return 0;
    for (unsigned i = 0; i < lanes->n; i++) {
        if (lanes->at[i] + nbytes > wave->block->lds_bytes) {
            lanes->mask &= ~((u64)1 << lanes->lane[i]);
            continue;
        }
        lanes->lane[n] = lanes->lane[i];
        lanes->at[n++] = lanes->at[i];
    }
    lanes->n = n;
    return before & ~lanes->mask;
}

static void load_inside(struct sim_wave *wave, struct sim_places *lanes, const struct sim_form *form,
                        const struct sim_operand *dst, unsigned first) {
    u64 outside = drop_outside(wave, lanes, form->nbytes);
    if (lanes->n) sim_load_lanes(wave, lanes, form, dst, first, SIM_READ);
    sim_load_zeros(wave, outside, form, dst, first);
}

static void load(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_places lanes;
    if (take(wave, &inst->src[0], (u32)inst->offset, &lanes)) load_inside(wave, &lanes, inst->op->detail, inst->dst, 0);
}

static void store(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_form *form = inst->op->detail;
    struct sim_places lanes;
    struct sim_data data;
    u32 space[4][64];
    if (!take(wave, &inst->src[0], (u32)inst->offset, &lanes)) return;
    sim_data_of(wave, &inst->src[1], form->nbytes, space, &data);
    drop_outside(wave, &lanes, form->nbytes);
    if (lanes.n) sim_store_lanes(wave, &lanes, form, &data, SIM_WRITE);
}

static void addtid_load(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_places lanes;
    if (take_addtid(wave, (u32)inst->offset, &lanes))
        sim_load_lanes(wave, &lanes, inst->op->detail, inst->dst, 0, SIM_READ);
}

static void addtid_store(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_places lanes;
    struct sim_data data;
    u32 space[1][64];
    if (!take_addtid(wave, (u32)inst->offset, &lanes)) return;
    sim_data_of(wave, &inst->src[0], 4, space, &data);
    sim_store_lanes(wave, &lanes, inst->op->detail, &data, SIM_WRITE);
}

/* Two elements a lane, at offsets in units of `unit` elements. */
static bool take_two(struct sim_wave *wave, const struct sim_inst *inst, u32 unit, struct sim_places lanes[2]) {
    if (!take(wave, &inst->src[0], 0, &lanes[0])) return false;
    const struct sim_form *form = inst->op->detail;
    u32 first = inst->offset0 * unit * form->nbytes, second = inst->offset1 * unit * form->nbytes;
    lanes[1] = lanes[0];
    for (unsigned i = 0; i < lanes[0].n; i++) {
        lanes[0].at[i] = (u32)(lanes[0].at[i] + first);
        lanes[1].at[i] = (u32)(lanes[1].at[i] + second);
    }
    return true;
}

static void load_two(struct sim_wave *wave, const struct sim_inst *inst, u32 unit) {
    const struct sim_form *form = inst->op->detail;
    struct sim_places lanes[2];
    if (!take_two(wave, inst, unit, lanes)) return;
    for (unsigned k = 0; k < 2; k++) load_inside(wave, &lanes[k], form, inst->dst, k * form->nbytes / 4);
}
static void load2(struct sim_wave *wave, const struct sim_inst *inst) { load_two(wave, inst, 1); }
static void load2_stride64(struct sim_wave *wave, const struct sim_inst *inst) { load_two(wave, inst, 64); }

static void store_two(struct sim_wave *wave, const struct sim_inst *inst, u32 unit) {
    const struct sim_form *form = inst->op->detail;
    struct sim_places lanes[2];
    struct sim_data data;
    u32 space[4][64];
    if (!take_two(wave, inst, unit, lanes)) return;
    for (unsigned k = 0; k < 2; k++) {
        sim_data_of(wave, &inst->src[1 + k], form->nbytes, space, &data);
        drop_outside(wave, &lanes[k], form->nbytes);
        if (lanes[k].n) sim_store_lanes(wave, &lanes[k], form, &data, SIM_WRITE);
    }
}
static void store2(struct sim_wave *wave, const struct sim_inst *inst) { store_two(wave, inst, 1); }
static void store2_stride64(struct sim_wave *wave, const struct sim_inst *inst) { store_two(wave, inst, 64); }

/* The values of the data operands, one after the other. */
static void values(struct sim_wave *wave, const struct sim_inst *inst, u32 space[4][64], struct sim_data *data) {
    const struct sim_form *form = inst->op->detail;
    sim_data_of(wave, &inst->src[1], form->nbytes, space, data);
    if (inst->n_src < 3) return;
    struct sim_data second;
    unsigned words = form->nbytes / 4u;
    sim_data_of(wave, &inst->src[2], form->nbytes, space + words, &second);
    for (unsigned r = 0; r < words; r++) {
        data->row[words + r] = second.row[r];
        data->undefined[r] |= second.undefined[r];
    }
    data->n = 2 * words;
}

static void atomic(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_places lanes;
    struct sim_data data;
    u32 space[4][64];
    if (!take(wave, &inst->src[0], (u32)inst->offset, &lanes)) return;
    values(wave, inst, space, &data);
    sim_atomic_lanes(wave, &lanes, inst->op->detail, &data, inst->n_dst ? inst->dst : NULL);
}

/* Both old values, then both new ones; the destination may be what they come from. */
static void exchange_two(struct sim_wave *wave, const struct sim_inst *inst, u32 unit) {
    const struct sim_form *form = inst->op->detail;
    struct sim_places lanes[2];
    struct sim_data data;
    u32 space[4][64], copy[4][64];
    if (!take_two(wave, inst, unit, lanes)) return;
    values(wave, inst, space, &data);
    unsigned words = form->nbytes / 4u;
    for (unsigned r = 0; r < 2 * words; r++) {
        for (unsigned i = 0; i < 64; i++) copy[r][i] = data.row[r][i];
        data.row[r] = copy[r];
    }
    for (unsigned k = 0; k < 2; k++) {
        struct sim_data one = {.n = words};
        struct sim_operand dst = inst->dst[0];
        dst.index = (u16)(dst.index + k * words);
        for (unsigned r = 0; r < words; r++) one.row[r] = data.row[k * words + r], one.undefined[r] = data.undefined[r];
        sim_atomic_lanes(wave, &lanes[k], form, &one, &dst);
    }
}
static void exchange2(struct sim_wave *wave, const struct sim_inst *inst) { exchange_two(wave, inst, 1); }
static void exchange2_stride64(struct sim_wave *wave, const struct sim_inst *inst) { exchange_two(wave, inst, 64); }

static void nothing(struct sim_wave *wave, const struct sim_inst *inst) { (void)wave, (void)inst; }

/* ---- the table ---- */

enum { OLD = SIM_GFX9 | SIM_GFX1030, NEW = SIM_GFX11_12, UP_TO_11 = OLD | SIM_GFX1100 };
#define FORM(...)                                                                                                      \
    &(const struct sim_form) { .nbytes = __VA_ARGS__ }
/* Everywhere the same but for its name: on gfx9 and gfx10, on gfx11 and gfx12. */
#define LOAD(old, new, type, ...)                                                                                      \
    {"ds_read_" old, OLD, SIM_CLASS_LDS, {type}, {SIM_B32}, load, FORM(__VA_ARGS__)}, {                                \
        "ds_load_" new, NEW, SIM_CLASS_LDS, {type}, {SIM_B32}, load, FORM(__VA_ARGS__)                                 \
    }
#define STORE(old, new, type, ...)                                                                                     \
    {"ds_write_" old, OLD, SIM_CLASS_LDS, {0}, {SIM_B32, type}, store, FORM(__VA_ARGS__)}, {                           \
        "ds_store_" new, NEW, SIM_CLASS_LDS, {0}, {SIM_B32, type}, store, FORM(__VA_ARGS__)                            \
    }
#define LOAD2(name, targets, type, n, run)                                                                             \
    { name, targets, SIM_CLASS_LDS, {type}, {SIM_B32}, run, FORM(n) }
#define STORE2(name, targets, type, n, run)                                                                            \
    { name, targets, SIM_CLASS_LDS, {0}, {SIM_B32, type, type}, run, FORM(n) }
#define EXCHANGE2(name, targets, type, two, n, run)                                                                    \
    { name, targets, SIM_CLASS_LDS, {two}, {SIM_B32, type, type}, run, FORM(n, 0, false, SIM_SWAP) }
/* An atomic that returns the old value, and one that does not. */
#define RETURNING(name, targets, type, n, op)                                                                          \
    { name, targets, SIM_CLASS_LDS, {type}, {SIM_B32, type}, atomic, FORM(n, 0, false, op) }
#define ATOMIC_(name, suffix, targets, type, n, op)                                                                    \
    {"ds_" name "_" suffix, targets, SIM_CLASS_LDS, {0}, {SIM_B32, type}, atomic, FORM(n, 0, false, op)},              \
        RETURNING("ds_" name "_rtn_" suffix, targets, type, n, op)
#define BOTH(name, letter, op)                                                                                         \
    ATOMIC_(name, letter "32", SIM_ALL, SIM_B32, 4, op), ATOMIC_(name, letter "64", SIM_ALL, SIM_B64, 8, op)
#define ATOMIC2(name, suffix, targets, type, n, op)                                                                    \
    {"ds_" name "_" suffix, targets, SIM_CLASS_LDS, {0}, {SIM_B32, type, type}, atomic, FORM(n, 0, false, op)}, {      \
        "ds_" name "_rtn_" suffix, targets, SIM_CLASS_LDS, {type}, {SIM_B32, type, type}, atomic,                      \
            FORM(n, 0, false, op)                                                                                      \
    }

const struct sim_op sim_lds_ops[] = {
    LOAD("u8", "u8", SIM_B32, 1),
    LOAD("i8", "i8", SIM_B32, 1, 0, true),
    LOAD("u16", "u16", SIM_B32, 2),
    LOAD("i16", "i16", SIM_B32, 2, 0, true),
    LOAD("b32", "b32", SIM_B32, 4),
    LOAD("b64", "b64", SIM_B64, 8),
    LOAD("b96", "b96", SIM_B96, 12),
    LOAD("b128", "b128", SIM_B128, 16),
    LOAD("u8_d16", "u8_d16", SIM_B32, 1, 1),
    LOAD("u8_d16_hi", "u8_d16_hi", SIM_B32, 1, 2),
    LOAD("i8_d16", "i8_d16", SIM_B32, 1, 1, true),
    LOAD("i8_d16_hi", "i8_d16_hi", SIM_B32, 1, 2, true),
    LOAD("u16_d16", "u16_d16", SIM_B32, 2, 1),
    LOAD("u16_d16_hi", "u16_d16_hi", SIM_B32, 2, 2),
    STORE("b8", "b8", SIM_B32, 1),
    STORE("b16", "b16", SIM_B32, 2),
    STORE("b32", "b32", SIM_B32, 4),
    STORE("b64", "b64", SIM_B64, 8),
    STORE("b96", "b96", SIM_B96, 12),
    STORE("b128", "b128", SIM_B128, 16),
    STORE("b8_d16_hi", "b8_d16_hi", SIM_B32, 1, 2),
    STORE("b16_d16_hi", "b16_d16_hi", SIM_B32, 2, 2),

    LOAD2("ds_read2_b32", OLD, SIM_B64, 4, load2),
    LOAD2("ds_read2_b64", OLD, SIM_B128, 8, load2),
    LOAD2("ds_read2st64_b32", OLD, SIM_B64, 4, load2_stride64),
    LOAD2("ds_read2st64_b64", OLD, SIM_B128, 8, load2_stride64),
    LOAD2("ds_load_2addr_b32", NEW, SIM_B64, 4, load2),
    LOAD2("ds_load_2addr_b64", NEW, SIM_B128, 8, load2),
    LOAD2("ds_load_2addr_stride64_b32", NEW, SIM_B64, 4, load2_stride64),
    LOAD2("ds_load_2addr_stride64_b64", NEW, SIM_B128, 8, load2_stride64),
    STORE2("ds_write2_b32", OLD, SIM_B32, 4, store2),
    STORE2("ds_write2_b64", OLD, SIM_B64, 8, store2),
    STORE2("ds_write2st64_b32", OLD, SIM_B32, 4, store2_stride64),
    STORE2("ds_write2st64_b64", OLD, SIM_B64, 8, store2_stride64),
    STORE2("ds_store_2addr_b32", NEW, SIM_B32, 4, store2),
    STORE2("ds_store_2addr_b64", NEW, SIM_B64, 8, store2),
    STORE2("ds_store_2addr_stride64_b32", NEW, SIM_B32, 4, store2_stride64),
    STORE2("ds_store_2addr_stride64_b64", NEW, SIM_B64, 8, store2_stride64),
    EXCHANGE2("ds_wrxchg2_rtn_b32", OLD, SIM_B32, SIM_B64, 4, exchange2),
    EXCHANGE2("ds_wrxchg2_rtn_b64", OLD, SIM_B64, SIM_B128, 8, exchange2),
    EXCHANGE2("ds_wrxchg2st64_rtn_b32", OLD, SIM_B32, SIM_B64, 4, exchange2_stride64),
    EXCHANGE2("ds_wrxchg2st64_rtn_b64", OLD, SIM_B64, SIM_B128, 8, exchange2_stride64),
    EXCHANGE2("ds_storexchg_2addr_rtn_b32", NEW, SIM_B32, SIM_B64, 4, exchange2),
    EXCHANGE2("ds_storexchg_2addr_rtn_b64", NEW, SIM_B64, SIM_B128, 8, exchange2),
    EXCHANGE2("ds_storexchg_2addr_stride64_rtn_b32", NEW, SIM_B32, SIM_B64, 4, exchange2_stride64),
    EXCHANGE2("ds_storexchg_2addr_stride64_rtn_b64", NEW, SIM_B64, SIM_B128, 8, exchange2_stride64),

    {"ds_read_addtid_b32", OLD, SIM_CLASS_LDS, {SIM_B32}, {0}, addtid_load, FORM(4)},
    {"ds_write_addtid_b32", OLD, SIM_CLASS_LDS, {0}, {SIM_B32}, addtid_store, FORM(4)},
    {"ds_load_addtid_b32", NEW, SIM_CLASS_LDS, {SIM_B32}, {0}, addtid_load, FORM(4)},
    {"ds_store_addtid_b32", NEW, SIM_CLASS_LDS, {0}, {SIM_B32}, addtid_store, FORM(4)},

    BOTH("add", "u", SIM_ADD),
    BOTH("sub", "u", SIM_SUB),
    BOTH("rsub", "u", SIM_RSUB),
    BOTH("inc", "u", SIM_INC),
    BOTH("dec", "u", SIM_DEC),
    BOTH("min", "i", SIM_SMIN),
    BOTH("max", "i", SIM_SMAX),
    BOTH("min", "u", SIM_UMIN),
    BOTH("max", "u", SIM_UMAX),
    BOTH("and", "b", SIM_AND),
    BOTH("or", "b", SIM_OR),
    BOTH("xor", "b", SIM_XOR),
    RETURNING("ds_wrxchg_rtn_b32", OLD, SIM_B32, 4, SIM_SWAP),
    RETURNING("ds_wrxchg_rtn_b64", OLD, SIM_B64, 8, SIM_SWAP),
    RETURNING("ds_storexchg_rtn_b32", NEW, SIM_B32, 4, SIM_SWAP),
    RETURNING("ds_storexchg_rtn_b64", NEW, SIM_B64, 8, SIM_SWAP),
    ATOMIC2("mskor", "b32", SIM_ALL, SIM_B32, 4, SIM_MSKOR),
    ATOMIC2("mskor", "b64", SIM_ALL, SIM_B64, 8, SIM_MSKOR),
    ATOMIC2("cmpst", "b32", OLD, SIM_B32, 4, SIM_CMPST),
    ATOMIC2("cmpst", "b64", OLD, SIM_B64, 8, SIM_CMPST),
    ATOMIC2("cmpst", "f32", OLD, SIM_B32, 4, SIM_FCMPST),
    ATOMIC2("cmpst", "f64", OLD, SIM_B64, 8, SIM_FCMPST),
    ATOMIC2("cmpstore", "b32", NEW, SIM_B32, 4, SIM_CMPSWAP),
    ATOMIC2("cmpstore", "b64", NEW, SIM_B64, 8, SIM_CMPSWAP),
    ATOMIC2("cmpstore", "f32", SIM_GFX1100, SIM_B32, 4, SIM_FCMPSWAP),
    ATOMIC2("cmpstore", "f64", SIM_GFX1100, SIM_B64, 8, SIM_FCMPSWAP),
    {"ds_wrap_rtn_b32",
     UP_TO_11,
     SIM_CLASS_LDS,
     {SIM_B32},
     {SIM_B32, SIM_B32, SIM_B32},
     atomic,
     FORM(4, 0, false, SIM_WRAP)},
    RETURNING("ds_condxchg32_rtn_b64", SIM_ALL, SIM_B64, 8, SIM_CONDXCHG),
    ATOMIC_("add", "f32", SIM_ALL, SIM_B32, 4, SIM_FADD),
    ATOMIC_("add", "f64", SIM_GFX9, SIM_B64, 8, SIM_FADD),
    ATOMIC_("min", "f32", UP_TO_11, SIM_B32, 4, SIM_FMIN),
    ATOMIC_("max", "f32", UP_TO_11, SIM_B32, 4, SIM_FMAX),
    ATOMIC_("min", "f64", UP_TO_11, SIM_B64, 8, SIM_FMIN),
    ATOMIC_("max", "f64", UP_TO_11, SIM_B64, 8, SIM_FMAX),
    ATOMIC_("min_num", "f32", SIM_GFX1201, SIM_B32, 4, SIM_FMIN_NUM),
    ATOMIC_("max_num", "f32", SIM_GFX1201, SIM_B32, 4, SIM_FMAX_NUM),
    ATOMIC_("min_num", "f64", SIM_GFX1201, SIM_B64, 8, SIM_FMIN_NUM),
    ATOMIC_("max_num", "f64", SIM_GFX1201, SIM_B64, 8, SIM_FMAX_NUM),
    ATOMIC_("pk_add", "f16", SIM_GFX942 | SIM_GFX1201, SIM_B32, 4, SIM_PK_ADD_F16),
    ATOMIC_("pk_add", "bf16", SIM_GFX942 | SIM_GFX1201, SIM_B32, 4, SIM_PK_ADD_BF16),
    ATOMIC_("cond_sub", "u32", SIM_GFX1201, SIM_B32, 4, SIM_COND_SUB),
    ATOMIC_("sub_clamp", "u32", SIM_GFX1201, SIM_B32, 4, SIM_CSUB),

    {"ds_append", SIM_ALL, SIM_CLASS_LDS, {SIM_B32}, {0}, sim_lds_append, NULL},
    {"ds_consume", SIM_ALL, SIM_CLASS_LDS, {SIM_B32}, {0}, sim_lds_consume, NULL},
    {"ds_swizzle_b32", SIM_ALL, SIM_CLASS_CROSS, {SIM_B32}, {SIM_B32}, sim_lds_swizzle, NULL},
    {"ds_permute_b32", SIM_ALL, SIM_CLASS_CROSS, {SIM_B32}, {SIM_B32, SIM_B32}, sim_lds_permute, NULL},
    {"ds_bpermute_b32", SIM_ALL, SIM_CLASS_CROSS, {SIM_B32}, {SIM_B32, SIM_B32}, sim_lds_bpermute, NULL},
    {"ds_bpermute_fi_b32", SIM_GFX1201, SIM_CLASS_CROSS, {SIM_B32}, {SIM_B32, SIM_B32}, sim_lds_bpermute_fi, NULL},
    {"ds_nop", SIM_ALL, SIM_CLASS_LDS, {0}, {0}, nothing, NULL},
    {0},
};
