/* The allocations that there are: device memory and pinned memory. */
#include "gfxsim/driver/driver.h"

#include <stdlib.h>
#include <string.h>

static struct driver_allocation *table; /* by address */
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

const struct driver_allocation *driver_find(const void *p, size_t n) {
    size_t i = after(p);
    if (i == 0) return NULL;
    const struct driver_allocation *a = &table[i - 1];
    size_t offset = (size_t)((const char *)p - a->base);
    return offset <= a->size && n <= a->size - offset && (offset < a->size || n == 0) ? a : NULL;
}

const struct driver_allocation *driver_allocations(size_t *n) {
    *n = count;
    return table;
}

int driver_malloc(struct driver_device *device, size_t size, bool pinned, unsigned flags, void **memory) {
    *memory = NULL;
    if (size == 0) return pinned ? DRIVER_VALUE : DRIVER_OK;
    if (!pinned && (size > device->memory || device->used > device->memory - size)) return DRIVER_MEMORY;
    if (count == room) {
        size_t more = room ? 2 * room : 64;
        struct driver_allocation *grown = realloc(table, more * sizeof *table);
        if (!grown) return DRIVER_MEMORY;
        table = grown;
        room = more;
    }
    char *base = engine_allocate(size, pinned);
    if (!base) return DRIVER_MEMORY;
    size_t i = after(base);
    memmove(table + i + 1, table + i, (count - i) * sizeof *table);
    table[i] = (struct driver_allocation){base, size, device, pinned, flags};
    count++;
    driver_live_of[pinned ? DRIVER_PINNED : DRIVER_ALLOCATION]++;
    if (!pinned) device->used += size;
    *memory = base;
    return DRIVER_OK;
}

int driver_free(void *memory, bool pinned) {
    if (!memory) return DRIVER_OK;
    size_t i = after(memory);
    if (i == 0 || table[i - 1].base != memory || table[i - 1].pinned != pinned) {
        driver_complain("free of %p, which is not a %s memory in use", memory, pinned ? "pinned" : "device");
        return DRIVER_VALUE;
    }
    struct driver_allocation *a = &table[--i];
    engine_free(a);
    if (!pinned) a->device->used -= a->size;
    memmove(a, a + 1, (--count - i) * sizeof *a);
    driver_live_of[pinned ? DRIVER_PINNED : DRIVER_ALLOCATION]--;
    return DRIVER_OK;
}
