/* Device memory and pinned memory: each allocation has its own pages, is filled with 0xff, and lies between guards. */
#include "standin.h"

#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, GUARD = 256, PATTERN = 0xa5, KEPT = 16, KEPT_SIZE = 4 << 20 };

/* The pages of an allocation: its base is at a multiple of 256. */
struct pages {
    char *map;
    size_t mapped;
};
static size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }
static size_t mapped_for(size_t size) { return round_up(2 * GUARD + round_up(size, GUARD), PAGE); }
static struct pages pages_of(const struct driver_allocation *a) {
    size_t mapped = mapped_for(a->size);
    char *map = standin_settings.page ? a->base + round_up(a->size, GUARD) - mapped : a->base - GUARD;
    return (struct pages){map, mapped};
}

/* Pages of freed allocations, out of reach, for ones of the same size: new pages cost more than all else. */
static struct pages kept[KEPT];
static int kept_next;

/* A page at the end can't be reached. */
static char *map_pages(size_t mapped) {
    for (int i = 0; i < KEPT; i++) {
        char *map = kept[i].map;
        if (!map || kept[i].mapped != mapped) continue;
        if (mprotect(map, mapped, PROT_READ | PROT_WRITE) != 0) break;
        kept[i].map = NULL;
        return map;
    }
    char *map = mmap(NULL, mapped + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return NULL;
    mprotect(map + mapped, PAGE, PROT_NONE);
    return map;
}

static void unmap_pages(struct pages pages) {
    bool keep = pages.mapped <= KEPT_SIZE && mprotect(pages.map, pages.mapped, PROT_NONE) == 0;
    struct pages *place = &kept[kept_next], gone = keep ? *place : pages;
    if (keep) {
        *place = pages;
        kept_next = (kept_next + 1) % KEPT;
    }
    if (gone.map) munmap(gone.map, gone.mapped + PAGE);
}

static int depth;

/* Without STANDIN_PROTECT the processor can always reach device memory. */
void engine_access(bool open) {
    depth += open ? 1 : -1;
    if (!standin_settings.protect || depth != (open ? 1 : 0)) return;
    size_t n;
    const struct driver_allocation *all = driver_allocations(&n);
    for (size_t i = 0; i < n; i++) {
        struct pages pages = pages_of(&all[i]);
        if (!all[i].pinned) mprotect(pages.map, pages.mapped, open ? PROT_READ | PROT_WRITE : PROT_NONE);
    }
}

void *engine_allocate(size_t size, bool pinned) {
    size_t mapped = mapped_for(size);
    char *map = map_pages(mapped);
    if (!map) return NULL;
    char *base = standin_settings.page ? map + mapped - round_up(size, GUARD) : map + GUARD;
    memset(map, PATTERN, (size_t)(base - map));
    memset(base, 0xff, size);
    memset(base + size, PATTERN, (size_t)(map + mapped - base) - size);
    if (standin_settings.protect && !pinned && depth == 0) mprotect(map, mapped, PROT_NONE);
    return base;
}

static void check(const struct driver_allocation *a) {
    struct pages pages = pages_of(a);
    const char *begin = pages.map, *end = begin + pages.mapped;
    const char *before = begin, *behind = a->base + a->size;
    while (before < a->base && *before == (char)PATTERN) before++;
    while (behind < end && *behind == (char)PATTERN) behind++;
    const char *what = a->pinned ? "pinned" : "device";
    if (before < a->base) {
        driver_complain("%zu bytes of %s memory: something wrote %ld bytes before them", a->size, what,
                        (long)(a->base - before));
        memset(pages.map, PATTERN, (size_t)(a->base - begin));
    }
    if (behind < end) {
        driver_complain("%zu bytes of %s memory: something wrote %ld bytes behind them", a->size, what,
                        (long)(behind - a->base - (long)a->size));
        memset(a->base + a->size, PATTERN, (size_t)(end - a->base) - a->size);
    }
}

long engine_check(bool end) {
    (void)end;
    size_t n;
    const struct driver_allocation *all = driver_allocations(&n);
    engine_access(true);
    for (size_t i = 0; i < n; i++) check(&all[i]);
    engine_access(false);
    return 0;
}

void engine_free(const struct driver_allocation *a) {
    struct pages pages = pages_of(a);
    engine_access(true);
    check(a);
    engine_access(false);
    unmap_pages(pages);
}

/* Nothing is known of bytes here. */
void engine_copied(void *to, const void *from, size_t n) { (void)to, (void)from, (void)n; }
void engine_set(void *to, size_t n) { (void)to, (void)n; }
