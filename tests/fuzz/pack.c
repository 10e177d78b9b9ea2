/* Hostile kernel packs. The check of header and index is put right first, so that what lies behind it is reached, and
 * the query is for whatever the first row of the index says. */
#define _GNU_SOURCE
#include "tests/fuzz/fuzz.h"

#include "core/memory.h"
#include "gpu/code/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum { HEADER = 96, ENTRY = 112, MOST = 1 << 20 };

static void look(const struct wick__pack_query *query) {
    void *data = NULL;
    size_t nbytes = 0;
    char reason[200];
    enum wick__pack_result result = wick__pack_find(query, &data, &nbytes, reason, sizeof reason);
    if (data && (result != WICK__PACK_FOUND || ((char *)data)[nbytes] != 0)) abort();
    if (data) wick__free(data, nbytes + 1);
    if (wick_host_memory_used() != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    static unsigned char pack[MOST];
    static int fd = -1;
    static char path[40];
    char target[65] = "", module[49] = "";
    struct wick__pack_query query = {.path = path, .target = target, .module = module};
    fuzz_limit_memory();
    if (fd < 0) fd = memfd_create("pack", 0);
    if (fd < 0 || nbytes > sizeof pack) return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (nbytes) memcpy(pack, data, nbytes);
    if (nbytes >= HEADER + ENTRY) {
        size_t modules = pack[12] | (size_t)pack[13] << 8, index = HEADER + modules * ENTRY;
        memset(pack + 88, 0, 4);
        uint32_t check = (uint32_t)crc32(crc32(0, NULL, 0), pack, (uInt)(index < nbytes ? index : nbytes));
        memcpy(pack + 88, &check, 4);
        memcpy(target, pack + 24, 64);
        memcpy(module, pack + HEADER, 48);
        memcpy(query.key, pack + HEADER + 48, 32);
    }
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pack, nbytes, 0) != (ssize_t)nbytes) abort();
    look(&query);
    query.look = true;
    look(&query);
    if (wick__pack_target(path, target, module, sizeof module) && !*target) abort();
    if (wick_host_memory_used() != 0) abort();
    query.target = NULL;
    query.ptx = 90;
    query.look = false;
    look(&query);
    return 0;
}
