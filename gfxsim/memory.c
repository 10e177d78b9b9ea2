/* The device's memory: one reserved range of addresses, split into allocations, and beside it what is known of each
 * byte. Pages come into being when they are touched, and go back when what lay in them is freed.
 *
 * Allocations are placed one after the other until the range is full, and only then, oldest first, where others were:
 * so an access after a free mostly meets memory that nobody owns. */
#define _GNU_SOURCE /* MAP_NORESERVE, MAP_ANONYMOUS, madvise */
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RED_ZONE = SIM_ALIGN, KEPT = 1 << 16 };
static const size_t MOST = (size_t)1 << 38, LEAST = (size_t)1 << 24;

u8 *sim_range, *sim_shadow;
size_t sim_range_bytes;
u64 *sim_races;

struct record {
    u8 *base;
    size_t nbytes;
    bool live;
};
static struct {
    pthread_mutex_t lock;
    struct record *records; /* by address */
    size_t n, room, n_freed;
    size_t next; /* the record behind which the search for room goes on, once the range was full */
    bool full;
    size_t page;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Reserves the range, a byte of shadow for each of its bytes, and eight bytes about races for each four of them. Where
 * so much address space is refused (limits, strict overcommit, sanitizers), less. */
static bool reserve(void) {
    if (sim_range) return true;
    memory.page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t n = MOST; n >= LEAST; n /= 2) {
        void *all = mmap(NULL, 4 * n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) continue;
        madvise(all, 4 * n, MADV_DONTDUMP);
        sim_range_bytes = n;
        sim_shadow = (u8 *)all + n;
        sim_races = (u64 *)((u8 *)all + 2 * n);
        sim_range = all;
        return true;
    }
    return false;
}

/* The number of records that start at or before an address. */
static size_t records_to(const void *at) {
    size_t low = 0, high = memory.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory.records[middle].base <= (const u8 *)at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct record *record_at(void *base) {
    size_t i = records_to(base);
    return i && memory.records[i - 1].base == base && memory.records[i - 1].live ? &memory.records[i - 1] : NULL;
}

/* Forgets the older half of what was freed: those allocations are reported as no allocation from now on. */
static void forget(void) {
    size_t kept = 0, dropped = 0;
    for (size_t i = 0; i < memory.n; i++) {
        if (!memory.records[i].live && dropped < memory.n_freed / 2)
            dropped++;
        else
            memory.records[kept++] = memory.records[i];
    }
    memory.n = kept;
    memory.n_freed -= dropped;
    memory.next = 0;
}

static bool insert(size_t i, u8 *base, size_t nbytes) {
    if (memory.n == memory.room) {
        size_t room = memory.room ? 2 * memory.room : 256;
        struct record *grown = realloc(memory.records, room * sizeof *grown);
        if (!grown) return false;
        memory.records = grown;
        memory.room = room;
    }
    memmove(memory.records + i + 1, memory.records + i, (memory.n - i) * sizeof *memory.records);
    memory.records[i] = (struct record){base, nbytes, true};
    memory.n++;
    return true;
}

static void remove_records(size_t i, size_t n) {
    memmove(memory.records + i, memory.records + i + n, (memory.n - i - n) * sizeof *memory.records);
    memory.n -= n;
    memory.n_freed -= n;
}

/* Bytes of the range that an allocation takes: itself, and nothing behind it up to where the next may start. */
static size_t span(size_t nbytes) { return (nbytes + RED_ZONE + SIM_ALIGN - 1) / SIM_ALIGN * SIM_ALIGN; }
static u8 *range_end(void) { return sim_range + sim_range_bytes; }
static u8 *end_of(const struct record *record) { return record->base + span(record->nbytes); }

/* Behind the last allocation. */
static u8 *place_last(size_t nbytes) {
    u8 *base = memory.n ? end_of(&memory.records[memory.n - 1]) : sim_range + RED_ZONE;
    return (size_t)(range_end() - base) >= span(nbytes) && insert(memory.n, base, nbytes) ? base : NULL;
}

/* In the first gap behind record number `from` and between live allocations that is large enough; the records of what
 * was freed there go. */
static u8 *place_between(size_t from, size_t nbytes) {
    for (size_t i = from, end; i <= memory.n; i = end + 1) {
        for (end = i; end < memory.n && !memory.records[end].live;) end++;
        if (i && !memory.records[i - 1].live) continue;
        u8 *base = i ? end_of(&memory.records[i - 1]) : sim_range + RED_ZONE;
        u8 *limit = end < memory.n ? memory.records[end].base : range_end();
        if ((size_t)(limit - base) < span(nbytes)) continue;
        size_t gone = i;
        while (gone < end && memory.records[gone].base < base + span(nbytes)) gone++;
        remove_records(i, gone - i);
        if (!insert(i, base, nbytes)) return NULL;
        memory.next = i + 1;
        return base;
    }
    return NULL;
}

void *sim_memory_new(size_t nbytes, enum sim_state state) {
    u8 *base = NULL;
    pthread_mutex_lock(&memory.lock);
    if (reserve() && nbytes < sim_range_bytes) {
        if (memory.n_freed > KEPT) forget();
        if (!memory.full) base = place_last(nbytes);
        if (!base) {
            memory.full = true;
            base = place_between(memory.next, nbytes);
            if (!base) base = place_between(0, nbytes);
        }
        if (base) {
            memset(sim_shadow + (base - sim_range), SIM_OUTSIDE, span(nbytes));
            memset(sim_shadow + (base - sim_range), state, nbytes);
        }
    }
    pthread_mutex_unlock(&memory.lock);
    return base;
}

/* Gives the whole pages between two addresses back; they read as zeros from now on. */
static void give_back(u8 *from, u8 *to) {
    u8 *first = (u8 *)(((uintptr_t)from + memory.page - 1) / memory.page * memory.page);
    u8 *end = (u8 *)((uintptr_t)to / memory.page * memory.page);
    if (first < end) madvise(first, (size_t)(end - first), MADV_DONTNEED);
}

void sim_memory_free(void *at) {
    if (!at) return;
    pthread_mutex_lock(&memory.lock);
    struct record *record = record_at(at);
    if (record) {
        u8 *base = record->base;
        size_t offset = (size_t)(base - sim_range), n = record->nbytes;
        record->live = false;
        memory.n_freed++;
        /* Where whole pages of the shadow go back, the record alone says that there was an allocation. */
        size_t edge = n < memory.page ? n : memory.page;
        memset(sim_shadow + offset, SIM_FREED, edge);
        memset(sim_shadow + offset + n - edge, SIM_FREED, edge);
        give_back(base, base + n);
        give_back(sim_shadow + offset, sim_shadow + offset + n);
        give_back((u8 *)(sim_races + offset / 4), (u8 *)(sim_races + (offset + n) / 4));
    }
    pthread_mutex_unlock(&memory.lock);
}

bool sim_memory_find(const void *at, const void **base, size_t *nbytes, bool *live) {
    pthread_mutex_lock(&memory.lock);
    size_t i = records_to(at);
    if (i) {
        *base = memory.records[i - 1].base;
        *nbytes = memory.records[i - 1].nbytes;
        *live = memory.records[i - 1].live;
    }
    pthread_mutex_unlock(&memory.lock);
    return i != 0;
}

size_t sim_memory_live(struct sim_piece *pieces, size_t room) {
    size_t n = 0;
    pthread_mutex_lock(&memory.lock);
    for (size_t i = 0; i < memory.n; i++) {
        if (!memory.records[i].live) continue;
        if (n < room) pieces[n] = (struct sim_piece){memory.records[i].base, memory.records[i].nbytes};
        n++;
    }
    pthread_mutex_unlock(&memory.lock);
    return n;
}

static bool in_range(const void *at, size_t n) {
    uintptr_t offset = (uintptr_t)at - (uintptr_t)sim_range;
    return sim_range && offset < sim_range_bytes && n <= sim_range_bytes - offset;
}

void sim_memory_mark(const void *at, size_t n, enum sim_state state) {
    if (in_range(at, n)) memset(sim_shadow + ((const u8 *)at - sim_range), state, n);
}

/* What is known of a byte after a byte of which `source` is known was copied over it. */
static u8 copied(u8 known, u8 source) {
    u8 state = source == SIM_UNDEFINED ? SIM_UNDEFINED : SIM_DEFINED;
    return known == SIM_UNDEFINED || known == SIM_DEFINED ? state : known;
}

void sim_memory_copied(const void *to, const void *from, size_t n) {
    if (!in_range(to, n)) return;
    u8 *known = sim_shadow + ((const u8 *)to - sim_range);
    if (!in_range(from, n)) {
        for (size_t i = 0; i < n; i++) known[i] = copied(known[i], SIM_DEFINED);
        return;
    }
    const u8 *source = sim_shadow + ((const u8 *)from - sim_range);
    if (known <= source)
        for (size_t i = 0; i < n; i++) known[i] = copied(known[i], source[i]);
    else
        for (size_t i = n; i-- > 0;) known[i] = copied(known[i], source[i]);
}
