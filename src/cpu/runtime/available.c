/* Memory that is left, by /proc/meminfo, control groups of either version, and the limit of the address space. What
 * can't be read limits nothing. */
#define _GNU_SOURCE
#include "cpu/runtime/available.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH = 1024 };

/* The number behind `name` on a line of a file, or, without a name, the file's first one. UINT64_MAX: there is none,
 * as where a limit is "max". */
static uint64_t number_in(const char *path, const char *name) {
    char line[256], *end;
    uint64_t found = UINT64_MAX;
    size_t length = name ? strlen(name) : 0;
    FILE *file = fopen(path, "re");
    while (file && found == UINT64_MAX && fgets(line, sizeof line, file)) {
        if (name && strncmp(line, name, length) != 0) continue;
        uint64_t value = strtoull(line + length, &end, 10);
        if (end > line + length) found = value;
        if (!name) break;
    }
    if (file) fclose(file);
    return found;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t beyond(uint64_t whole, uint64_t part) { return whole > part ? whole - part : 0; }

/* What a group leaves: files of these names in `folder` tell its limit, what it uses, and its pages of files. */
static uint64_t left_by(const char *folder, const char *const names[4]) {
    char path[2 * PATH + 64];
    uint64_t files = 0;
    snprintf(path, sizeof path, "%s/%s", folder, names[0]);
    uint64_t limit = number_in(path, NULL);
    snprintf(path, sizeof path, "%s/%s", folder, names[1]);
    uint64_t used = number_in(path, NULL);
    if (limit == UINT64_MAX || used == UINT64_MAX) return UINT64_MAX;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    for (int i = 2; i < 4; i++) {
        uint64_t n = number_in(path, names[i]);
        if (n != UINT64_MAX) files += n;
    }
    return beyond(limit, beyond(used, files));
}

/* The groups of either version: /proc/self/cgroup has a line "0::/a/b" or "4:memory:/a/b". A group limits those below
 * it. In a container the name may lead nowhere; the container's own group is then the root. */
static const struct {
    const char *mark, *root, *names[4];
} versions[] = {{"0::", "/sys/fs/cgroup", {"memory.max", "memory.current", "inactive_file ", "active_file "}},
                {":memory:",
                 "/sys/fs/cgroup/memory",
                 {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ", "total_active_file "}}};

static uint64_t left_by_groups(void) {
    char line[PATH], folder[2 * PATH];
    uint64_t left = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
            const char *mark = strstr(line, versions[v].mark);
            if (!mark) continue;
            line[strcspn(line, "\n")] = 0;
            snprintf(folder, sizeof folder, "%s%s", versions[v].root, mark + strlen(versions[v].mark));
            while (strlen(folder) >= strlen(versions[v].root)) {
                left = least(left, left_by(folder, versions[v].names));
                *strrchr(folder, '/') = 0;
            }
            break;
        }
    }
    if (file) fclose(file);
    return left;
}

static uint64_t left_of_addresses(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    uint64_t pages = number_in("/proc/self/statm", NULL);
    return pages == UINT64_MAX ? UINT64_MAX : beyond(limit.rlim_cur, pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

size_t wick__host_available(void) {
    uint64_t kib = number_in("/proc/meminfo", "MemAvailable:");
    uint64_t left = kib == UINT64_MAX ? UINT64_MAX : kib * 1024;
    left = least(left, least(left_by_groups(), left_of_addresses()));
    return left == UINT64_MAX ? 0 : (size_t)left;
}
