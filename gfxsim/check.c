/* Checks of accesses to device memory: of the lanes of an instruction at once, lane by lane only once something is
 * wrong. */
#include "check.h"
#include "memory.h"

#include <stdio.h>
#include <string.h>

static const u64 EACH = 0x0101010101010101u;

const char *sim_say_access(char text[40], int access, unsigned nbytes) {
    snprintf(text, 40, "%s %u byte%s",
             access & SIM_ATOMIC  ? "an atomic on"
             : access & SIM_WRITE ? "a write of"
                                  : "a read of",
             nbytes, nbytes == 1 ? "" : "s");
    return text;
}

/* "byte 104 of an allocation of 100" and its like. */
static void say_where(u64 address, char *text, size_t size) {
    const void *base;
    size_t nbytes;
    bool live;
    const u8 *at = (const u8 *)(uintptr_t)address;
    if (address - (u64)(uintptr_t)sim_range >= sim_range_bytes || !sim_memory_find(at, &base, &nbytes, &live)) {
        snprintf(text, size, "0x%llx, where nothing was allocated", (unsigned long long)address);
        return;
    }
    const char *kind = live ? "an allocation" : "a freed allocation";
    size_t byte = (size_t)(at - (const u8 *)base);
    if (byte < nbytes)
        snprintf(text, size, "0x%llx, byte %zu of %s of %zu", (unsigned long long)address, byte, kind, nbytes);
    else
        snprintf(text, size, "0x%llx, %zu bytes behind the end of %s of %zu", (unsigned long long)address,
                 byte - nbytes, kind, nbytes);
}

static bool was_freed(u64 address) {
    const void *base;
    size_t nbytes;
    bool live;
    return sim_memory_find((const void *)(uintptr_t)address, &base, &nbytes, &live) && !live &&
           address - (u64)(uintptr_t)base < nbytes;
}

/* The finding of a lane, where there is one. */
static void check_lane(struct sim_wave *wave, int lane, u64 address, unsigned nbytes, int access) {
    for (unsigned i = 0; i < nbytes; i++) {
        u64 offset = address + i - (u64)(uintptr_t)sim_range;
        u8 state = offset < sim_range_bytes ? sim_shadow[offset] : SIM_OUTSIDE;
        const char *what = NULL;
        if (!sim_settings.check && offset < sim_range_bytes) continue;
        if (state == SIM_FREED || (state == SIM_OUTSIDE && offset < sim_range_bytes && was_freed(address + i)))
            what = "use after free";
        else if (state == SIM_OUTSIDE)
            what = "outside an allocation";
        else if (state == SIM_READ_ONLY && access & (SIM_WRITE | SIM_ATOMIC))
            what = "read-only memory";
        else if (state == SIM_UNDEFINED && access & (SIM_READ | SIM_ATOMIC))
            what = "memory never written";
        if (!what) continue;
        char where[160], did[40];
        say_where(address + i, where, sizeof where);
        sim_say_access(did, access, nbytes);
        if (state != SIM_UNDEFINED) sim_fail(wave, lane, 700, "%s: %s at %s", what, did, where);
        sim_doubt(wave, lane, SIM_MEMORY_UNWRITTEN, "%s: %s at %s", what, did, where);
    }
}

/* Of the bytes of shadow at s: those bits of `mask` in which they differ from `want`. */
static inline u64 differ(const u8 *s, unsigned nbytes, u64 mask, u64 want) {
    u64 first = 0, second = want & mask;
    if (nbytes == 1 || nbytes == 2 || nbytes == 4) {
        memcpy(&first, s, nbytes);
        return ((first & mask) ^ want) & (((u64)1 << 8 * nbytes) - 1);
    }
    memcpy(&first, s, 8);
    if (nbytes == 12) {
        u32 word;
        memcpy(&word, s + 8, 4);
        return ((first & mask) ^ want) | (((word & mask) ^ want) & 0xffffffff);
    }
    if (nbytes == 16) memcpy(&second, s + 8, 8);
    return ((first & mask) ^ want) | ((second & mask) ^ want);
}

static inline u64 states(const struct sim_places *lanes, unsigned nbytes, u64 mask, u64 want) {
    u64 wrong = 0;
    const u8 *shadow = sim_shadow - (uintptr_t)sim_range;
    for (unsigned i = 0; i < lanes->n; i++) wrong |= differ(shadow + lanes->at[i], nbytes, mask, want);
    return wrong;
}

static bool states_are_good(const struct sim_places *lanes, unsigned nbytes, int access) {
    u64 mask = 3 * EACH, want = 3 * EACH; /* enum sim_state: read what is defined, read-only or not */
    if (access & SIM_WRITE) mask = 6 * EACH, want = 2 * EACH;
    if (access & SIM_ATOMIC) mask = 7 * EACH, want = 3 * EACH;
    switch (nbytes) {
    case 1: return !states(lanes, 1, mask, want);
    case 2: return !states(lanes, 2, mask, want);
    case 4: return !states(lanes, 4, mask, want);
    case 8: return !states(lanes, 8, mask, want);
    case 12: return !states(lanes, 12, mask, want);
    case 16: return !states(lanes, 16, mask, want);
    default: return false;
    }
}

static inline void mark(const struct sim_places *lanes, unsigned nbytes) {
    u8 *shadow = sim_shadow - (uintptr_t)sim_range;
    for (unsigned i = 0; i < lanes->n; i++) memset(shadow + lanes->at[i], SIM_DEFINED, nbytes);
}

static void mark_written(const struct sim_places *lanes, unsigned nbytes, const struct sim_data *data) {
    switch (nbytes) {
    case 1: mark(lanes, 1); break;
    case 2: mark(lanes, 2); break;
    case 4: mark(lanes, 4); break;
    case 8: mark(lanes, 8); break;
    case 12: mark(lanes, 12); break;
    case 16: mark(lanes, 16); break;
    }
    for (unsigned r = 0; r < (nbytes + 3) / 4 && r < data->n; r++) {
        if (!(data->undefined[r] & lanes->mask)) continue;
        for (unsigned i = 0; i < lanes->n; i++)
            if (data->undefined[r] >> lanes->lane[i] & 1)
                memset(sim_shadow + (lanes->at[i] - (u64)(uintptr_t)sim_range) + 4 * r, SIM_UNDEFINED,
                       nbytes < 4 ? nbytes : 4);
    }
}

/* 64-byte segments that an instruction touches. */
static unsigned count_segments(const struct sim_places *lanes, unsigned nbytes) {
    u64 seen[128];
    unsigned n = 0;
    for (unsigned i = 0; i < lanes->n; i++) {
        for (u64 s = lanes->at[i] / 64; s <= (lanes->at[i] + nbytes - 1) / 64; s++) {
            unsigned k = n;
            while (k > 0 && seen[k - 1] != s) k--;
            if (!k) seen[n++] = s;
        }
    }
    return n;
}

void sim_check_global(struct sim_wave *wave, const struct sim_places *lanes, unsigned nbytes, int access,
                      const struct sim_data *data) {
    u64 base = (u64)(uintptr_t)sim_range, limit = sim_range_bytes - nbytes;
    bool good = sim_range_bytes >= nbytes;
    for (unsigned i = 0; i < lanes->n; i++) good &= lanes->at[i] - base <= limit;
    /* In the mode that HIP sets up, loads and stores of any width may have any address; atomics may not. */
    for (unsigned i = 0; access & SIM_ATOMIC && i < lanes->n; i++)
        if (lanes->at[i] % nbytes)
            sim_fail(wave, lanes->lane[i], 700, "misaligned: an atomic on %u bytes at 0x%llx", nbytes,
                     (unsigned long long)lanes->at[i]);
    if (sim_settings.check) good = good && states_are_good(lanes, nbytes, access);
    if (!good)
        for (unsigned i = 0; i < lanes->n; i++) check_lane(wave, lanes->lane[i], lanes->at[i], nbytes, access);
    if (sim_settings.check) {
        sim_check_races(wave, lanes, nbytes, access, data);
        if (access & (SIM_WRITE | SIM_ATOMIC)) mark_written(lanes, nbytes, data);
    }
    if (wave->counts) {
        unsigned segments = count_segments(lanes, nbytes);
        for (unsigned w = 0; w < 2; w++) {
            if (!(access & (w ? SIM_WRITE | SIM_ATOMIC : SIM_READ | SIM_ATOMIC))) continue;
            wave->counts->bytes[w] += (u64)lanes->n * nbytes;
            wave->counts->segments[w] += segments;
        }
    }
}

void sim_access(struct sim_wave *wave, unsigned lane, u64 address, unsigned nbytes, unsigned alignment, int access) {
    if (alignment && address % alignment)
        sim_fail(wave, (int)lane, 700, "misaligned: %s at 0x%llx", sim_say_access((char[40]){0}, access, nbytes),
                 (unsigned long long)address);
    check_lane(wave, (int)lane, address, nbytes, access);
    if (sim_settings.check) {
        static const struct sim_data none;
        struct sim_places one = {.n = 1, .mask = (u64)1 << lane % 64, .lane = {(u8)lane}};
        for (unsigned i = 0; i < nbytes; i += 4) {
            unsigned n = nbytes - i < 4 ? nbytes - i : 4;
            one.at[0] = address + i;
            sim_check_races(wave, &one, n, access, &none);
            if (access & (SIM_WRITE | SIM_ATOMIC)) mark_written(&one, n, &none);
        }
    }
    if (wave->counts) {
        unsigned w = access == SIM_READ ? 0 : 1;
        wave->counts->bytes[w] += nbytes;
        wave->counts->segments[w] += (address + nbytes - 1) / 64 - address / 64 + 1;
    }
}
