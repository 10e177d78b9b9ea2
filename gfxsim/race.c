/* Races between the blocks of a launch in device memory.
 *
 * For each four bytes of the range there is an entry: which of the bytes some block of the current launch has written,
 * which block, whether by an atomic; and which bytes were read, and by which block or by several. Entries are read and
 * written without locks: what is lost between two threads is a race not found. Entries of earlier launches count as
 * empty.
 *
 * A race is a plain write and another access to the same byte by another block. These are none:
 *  - two atomics; volatile accesses and atomic loads and stores, as far as the instruction tells them, count as atomics
 *  - a write of the value that is there already
 *  - the plain load in front of a loop with compare-and-swap
 *  - what happened before the later of the two blocks last acquired: ran an instruction that makes writes of other
 *    blocks visible, as fences and atomics with acquire do at the scope of the device. So writes before a counter that
 *    the last block looks at do not race with what that block reads. Whether the writer released is not asked.
 * Where an entry cannot hold what happened it forgets the older, so that no race is found that is none. */
#define _GNU_SOURCE /* madvise */
#include "check.h"
#include "memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* An entry from bit 0 on: launch (14 bits), bytes written and read (4 each), written by an atomic (1), the blocks that
 * wrote and read (15 each), acquires of the launch before the write and the read (5 each). */
enum {
    WRITTEN = 14,
    READ = 18,
    ATOMIC = 22,
    WRITER = 23,
    READER = 38,
    WRITE_TIME = 53,
    READ_TIME = 58,
    LAUNCHES = 1 << 14,
    SEVERAL = (1 << 15) - 1,
    LAST_TIME = 31
};
static inline unsigned field(u64 entry, unsigned shift, unsigned mask) { return (unsigned)(entry >> shift) & mask; }
static inline unsigned bytes_at(u64 entry, unsigned shift) { return field(entry, shift, 15); }
static inline unsigned block_at(u64 entry, unsigned shift) { return field(entry, shift, SEVERAL); }
static inline unsigned time_at(u64 entry, unsigned shift) { return field(entry, shift, LAST_TIME); }

/* A launch and a block for the time of one instruction. */
struct now {
    struct sim_wave *wave;
    u64 launch;
    unsigned block, time, acquired;
    int access;
    bool strict; /* instructions tell atomic stores from plain ones */
};

/* The number of launches is cut to 14 bits: when those begin anew, all entries are dropped. */
static void drop_old(u32 serial) {
    static _Atomic u32 rounds;
    u32 round = serial / LAUNCHES, old = atomic_load_explicit(&rounds, memory_order_relaxed);
    if (round > old && atomic_compare_exchange_strong(&rounds, &old, round))
        madvise(sim_races, sim_range_bytes * 2, MADV_DONTNEED);
}

static bool next_instructions(struct sim_wave *wave, unsigned n, const char *const words[]) {
    char why[256];
    u64 pc = wave->pc;
    for (unsigned i = 0; i < n; i++) {
        const struct sim_inst *inst = sim_code_inst(wave->code, pc, why);
        if (!inst) return false;
        for (unsigned w = 0; words[w]; w++)
            if (strstr(inst->text, words[w])) return true;
        pc += inst->nbytes;
    }
    return false;
}

bool sim_exchange_follows(struct sim_wave *wave) {
    static const char *const words[] = {"cmpswap", "ds_cmpst", NULL};
    return next_instructions(wave, 64, words);
}

/* gfx90a and gfx1030 have volatile stores that look like others, but are waited for at once. */
static bool volatile_store(struct sim_wave *wave) {
    static const char *const words[] = {"vmcnt(0)", "vscnt null, 0x0", NULL};
    return wave->target & (SIM_GFX90A | SIM_GFX1030) && next_instructions(wave, 1, words);
}

/* What one lane does. */
struct touch {
    unsigned lane, nbytes;
    u64 address;
    const struct sim_data *data;
};

static bool same_value(const struct touch *t) {
    if (!t->data->n) return false;
    for (unsigned i = 0; i < t->nbytes; i++)
        if (*(const u8 *)(uintptr_t)(t->address + i) != sim_data_byte(t->data, t->lane, i)) return false;
    return true;
}

static void report(const struct now *now, const struct touch *t, unsigned block, const char *did) {
    char other[32];
    const struct sim_launch *launch = now->wave->block->launch;
    u64 blocks = (u64)launch->grid[0] * launch->grid[1] * launch->grid[2];
    if (block == SEVERAL)
        snprintf(other, sizeof other, "several blocks");
    else if (blocks < SEVERAL)
        snprintf(other, sizeof other, "block number %u", block - 1);
    else
        snprintf(other, sizeof other, "another block");
    sim_doubt(now->wave, (int)t->lane, SIM_BLOCK_RACE, "race between blocks: %s at 0x%llx that %s %s in this launch",
              sim_say_access((char[40]){0}, now->access, t->nbytes), (unsigned long long)t->address, other, did);
}

/* What the entry tells of accesses that race with this one. */
static void conflict(const struct now *now, u64 e, unsigned bytes, const struct touch *t) {
    bool written =
        bytes_at(e, WRITTEN) & bytes && block_at(e, WRITER) != now->block && time_at(e, WRITE_TIME) >= now->acquired;
    bool read = now->access & (SIM_WRITE | SIM_ATOMIC) && bytes_at(e, READ) & bytes &&
                block_at(e, READER) != now->block && time_at(e, READ_TIME) >= now->acquired;
    bool by_atomic = e >> ATOMIC & 1;
    if (now->access & SIM_ATOMIC) {
        written = written && now->strict && !by_atomic;
        read = read && !(now->access & SIM_EXCHANGE);
    } else if (now->access & SIM_WRITE) {
        written = written && (now->strict || !by_atomic);
        if (written && (same_value(t) || volatile_store(now->wave))) written = false;
        if (read && same_value(t)) read = false;
    } else {
        written = written && !(by_atomic && sim_exchange_follows(now->wave));
    }
    if (written) report(now, t, block_at(e, WRITER), by_atomic ? "changed by an atomic" : "wrote");
    if (read) report(now, t, block_at(e, READER), "read");
}

static inline u64 with(u64 e, unsigned shift, unsigned mask, unsigned value) {
    return (e & ~((u64)mask << shift)) | (u64)value << shift;
}

/* The entry after this access. Bytes of an earlier one stay where what is said of both is true of each byte. */
static inline u64 after_write(const struct now *now, u64 e, unsigned bytes) {
    bool atomic = now->access & SIM_ATOMIC;
    if (block_at(e, WRITER) == now->block && time_at(e, WRITE_TIME) == now->time && (e >> ATOMIC & 1) == atomic)
        bytes |= bytes_at(e, WRITTEN);
    e = with(e, WRITTEN, 15, bytes);
    e = with(e, ATOMIC, 1, atomic);
    e = with(e, WRITER, SEVERAL, now->block);
    return with(e, WRITE_TIME, LAST_TIME, now->time);
}
static inline u64 after_read(const struct now *now, u64 e, unsigned bytes) {
    unsigned old = bytes_at(e, READ), before = block_at(e, READER), reader = now->block, time = now->time;
    if (old && before == SEVERAL) return e;
    if (before == now->block) {
        if (time_at(e, READ_TIME) == time) bytes |= old;
    } else if (old && !(bytes & ~old)) {
        reader = SEVERAL;
        if (time_at(e, READ_TIME) < time) time = time_at(e, READ_TIME);
    }
    e = with(e, READ, 15, bytes);
    e = with(e, READER, SEVERAL, reader);
    return with(e, READ_TIME, LAST_TIME, time);
}

static inline void check_entry(const struct now *now, u64 word, unsigned bytes, const struct touch *t) {
    u64 *at = sim_races + word, e = __atomic_load_n(at, __ATOMIC_RELAXED), old = e;
    if ((e & (LAUNCHES - 1)) != now->launch) e = now->launch;
    if (now->access & (SIM_WRITE | SIM_ATOMIC)) {
        if ((bytes_at(e, WRITTEN) & bytes && block_at(e, WRITER) != now->block) ||
            (bytes_at(e, READ) & bytes && block_at(e, READER) != now->block))
            conflict(now, e, bytes, t);
        e = after_write(now, e, bytes);
    } else {
        if (bytes_at(e, WRITTEN) & bytes && block_at(e, WRITER) != now->block) conflict(now, e, bytes, t);
        e = after_read(now, e, bytes);
    }
    if (e != old) __atomic_store_n(at, e, __ATOMIC_RELAXED);
}

void sim_check_races(struct sim_wave *wave, const struct sim_places *lanes, unsigned nbytes, int access,
                     const struct sim_data *data) {
    struct sim_launch *launch = wave->block->launch;
    u32 acquires = atomic_load_explicit(&launch->acquires, memory_order_relaxed);
    struct now now = {.wave = wave,
                      .launch = launch->serial % LAUNCHES,
                      .block = wave->block->number % (SEVERAL - 1) + 1,
                      .time = acquires < LAST_TIME ? acquires : LAST_TIME,
                      .acquired = wave->block->acquired,
                      .access = access,
                      .strict = wave->target & (SIM_GFX942 | SIM_GFX1201)};
    if (access & SIM_COHERENT) {
        if (!(access & SIM_WRITE)) return;
        now.access |= SIM_ATOMIC;
    }
    drop_old(launch->serial);
    for (unsigned i = 0; i < lanes->n; i++) {
        u64 address = lanes->at[i], offset = address - (u64)(uintptr_t)sim_range;
        struct touch touch = {lanes->lane[i], nbytes, address, data};
        if (offset % 4 == 0 && nbytes % 4 == 0) {
            for (unsigned b = 0; b < nbytes; b += 4) check_entry(&now, (offset + b) / 4, 15, &touch);
        } else {
            for (unsigned b = 0; b < nbytes;) { /* the part of each four bytes that the access has */
                unsigned first = (unsigned)(offset + b) % 4, n = 4 - first < nbytes - b ? 4 - first : nbytes - b;
                check_entry(&now, (offset + b) / 4, ((1u << n) - 1) << first, &touch);
                b += n;
            }
        }
    }
}
