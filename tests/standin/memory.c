/* Device memory and pinned memory: each allocation has its own pages, is filled with 0xff, and lies between guards. */
#include "standin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, GUARD = 256, PATTERN = 0xa5 };

static struct standin_allocation *table; /* by address */
static size_t count, room;

/* The first allocation that begins after p. */
static size_t after(const void *p) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)table[middle].base > (uintptr_t)p)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

const struct standin_allocation *standin_find(const void *p, size_t n) {
    size_t i = after(p);
    if (i == 0) return NULL;
    const struct standin_allocation *a = &table[i - 1];
    size_t offset = (size_t)((const char *)p - a->base);
    return offset <= a->size && n <= a->size - offset && (offset < a->size || n == 0) ? a : NULL;
}

static int depth;

/* Without STANDIN_PROTECT the processor can always reach device memory. */
void standin_access(bool open) {
    depth += open ? 1 : -1;
    if (!standin_settings.protect || depth != (open ? 1 : 0)) return;
    for (size_t i = 0; i < count; i++)
        if (!table[i].pinned) mprotect(table[i].map, table[i].mapped, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

int standin_malloc(struct standin_device *device, size_t size, bool pinned, void **memory) {
    *memory = NULL;
    if (size == 0) return pinned ? STANDIN_VALUE : STANDIN_OK;
    if (!pinned && (size > standin_settings.memory || device->used > standin_settings.memory - size))
        return STANDIN_MEMORY;
    if (count == room) {
        size_t more = room ? 2 * room : 64;
        struct standin_allocation *grown = realloc(table, more * sizeof *table);
        if (!grown) return STANDIN_MEMORY;
        table = grown;
        room = more;
    }
    size_t rounded = (size + GUARD - 1) / GUARD * GUARD; /* keeps the base at a multiple of 256 */
    size_t mapped = (2 * GUARD + rounded + PAGE - 1) / PAGE * PAGE;
    char *map = mmap(NULL, mapped + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return STANDIN_MEMORY;
    mprotect(map + mapped, PAGE, PROT_NONE);
    char *base = standin_settings.page ? map + mapped - rounded : map + GUARD;
    memset(map, PATTERN, (size_t)(base - map));
    memset(base, 0xff, size);
    memset(base + size, PATTERN, (size_t)(map + mapped - base) - size);
    size_t i = after(base);
    memmove(table + i + 1, table + i, (count - i) * sizeof *table);
    table[i] = (struct standin_allocation){base, size, device, pinned, map, mapped};
    count++;
    standin_live_of[pinned ? STANDIN_PINNED : STANDIN_ALLOCATION]++;
    if (!pinned) device->used += size;
    if (standin_settings.protect && !pinned && depth == 0) mprotect(map, mapped, PROT_NONE);
    *memory = base;
    return STANDIN_OK;
}

static void check(const struct standin_allocation *a) {
    const char *begin = a->map, *end = a->map + a->mapped;
    const char *before = begin, *behind = a->base + a->size;
    while (before < a->base && *before == (char)PATTERN) before++;
    while (behind < end && *behind == (char)PATTERN) behind++;
    const char *what = a->pinned ? "pinned" : "device";
    if (before < a->base) {
        standin_complain("%zu bytes of %s memory: something wrote %ld bytes before them", a->size, what,
                         (long)(a->base - before));
        memset(a->map, PATTERN, (size_t)(a->base - begin));
    }
    if (behind < end) {
        standin_complain("%zu bytes of %s memory: something wrote %ld bytes behind them", a->size, what,
                         (long)(behind - a->base - (long)a->size));
        memset(a->base + a->size, PATTERN, (size_t)(end - a->base) - a->size);
    }
}

void standin_check_guards(void) {
    standin_access(true);
    for (size_t i = 0; i < count; i++) check(&table[i]);
    standin_access(false);
}

int standin_free(void *memory, bool pinned) {
    if (!memory) return STANDIN_OK;
    size_t i = after(memory);
    if (i == 0 || table[i - 1].base != memory || table[i - 1].pinned != pinned) {
        standin_complain("free of %p, which is no %s memory in use", memory, pinned ? "pinned" : "device");
        return STANDIN_VALUE;
    }
    struct standin_allocation *a = &table[--i];
    standin_access(true);
    check(a);
    standin_access(false);
    if (!pinned) a->device->used -= a->size;
    munmap(a->map, a->mapped + PAGE);
    memmove(a, a + 1, (--count - i) * sizeof *a);
    standin_live_of[pinned ? STANDIN_PINNED : STANDIN_ALLOCATION]--;
    return STANDIN_OK;
}
