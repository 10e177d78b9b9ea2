/* Taking out of a text what says whose machine it is from.
 *
 * The text is cut into words, at spaces, quotes, brackets and the like. A word is a path, a serial number, or is looked
 * through for names. */
#define _GNU_SOURCE /* gethostname, getgroups, secure_getenv */

#include "cli/redact.h"

#include "src/core/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NAMES = 96, NAME_SIZE = 256, SERIAL_DIGITS = 13, UUID = 36 };

struct names {
    int n;
    char name[MOST_NAMES][NAME_SIZE];
};

/* Names that every system has say nothing of this one, and a report without them would be hard to read. */
static bool is_common(const char *name) {
    static const char *const common[] = {"root",  "daemon", "adm",   "disk", "video",  "render", "users",
                                         "sudo",  "wheel",  "audio", "dip",  "nobody", "docker", "localhost",
                                         "input", "kvm",    "kmem",  "tty",  "bin",    "sys",    "nogroup"};
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (strcmp(name, common[i]) == 0) return true;
    return strlen(name) < 2;
}

static void add(struct names *names, const char *name) {
    if (!name || !*name || is_common(name) || names->n == MOST_NAMES) return;
    snprintf(names->name[names->n++], NAME_SIZE, "%s", name);
}

static void collect(struct names *names) {
    char host[NAME_SIZE] = "";
    gid_t groups[64];
    char name[NAME_SIZE];
    if (wick__user_name(getuid(), name, sizeof name)) add(names, name);
    add(names, secure_getenv("USER"));
    add(names, secure_getenv("LOGNAME"));
    add(names, secure_getenv("SUDO_USER"));
    gethostname(host, sizeof host - 1);
    add(names, host);
    host[strcspn(host, ".")] = '\0';
    add(names, host);
    int n = getgroups(sizeof groups / sizeof *groups, groups);
    for (int i = 0; i < n; i++) {
        if (wick__group_name(groups[i], name, sizeof name, NULL, NULL)) add(names, name);
    }
}

/* ---- words ---- */

static bool is_alnum(char c) {
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (unsigned char)c >= 0x80;
}

static bool ends_word(char c) { return !c || strchr(" \t\r\n\"'`()[]{}<>,;=|", c) != NULL; }

/* The length of a path at the start of a word; 0 when it is none. "I/O" and "GB/s" are none: they don't begin with /.
 */
static size_t path_length(const char *at, size_t length) {
    bool path = length >= 2 && (at[0] == '/' || (at[0] == '~' && at[1] == '/')) && at[1] != ' ';
    while (path && length > 1 && strchr(":.", at[length - 1])) length--;
    const char *colon = path ? memchr(at, ':', length) : NULL; /* "/a/b: reason", "/a:/b" */
    return !path ? 0 : colon ? (size_t)(colon - at) : length;
}

static void put_path(FILE *out, const char *path, size_t length) {
    size_t start = length;
    while (start > 0 && path[start - 1] != '/') start--;
    if (length >= 5 && strncmp(path, "/dev/", 5) == 0)
        fwrite(path, 1, length, out);
    else if (length - start > 3 && strncmp(path + start, "lib", 3) == 0)
        fprintf(out, "[path]/%.*s", (int)(length - start), path + start);
    else
        fputs("[path]", out);
}

static bool is_hex(char c) { return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f'); }

/* The length of a UUID, or of a long number, at `at`; 0 when there is none. */
static size_t serial_length(const char *at) {
    size_t i = 0;
    while (i < UUID && (i == 8 || i == 13 || i == 18 || i == 23 ? at[i] == '-' : is_hex(at[i]))) i++;
    if (i == UUID) return i;
    for (i = 0; at[i] >= '0' && at[i] <= '9';) i++;
    return i >= SERIAL_DIGITS && !is_alnum(at[i]) && at[i] != '.' ? i : 0;
}

static size_t name_length(const struct names *names, const char *at) {
    size_t longest = 0;
    for (int i = 0; i < names->n; i++) {
        size_t length = strlen(names->name[i]);
        if (length > longest && strncmp(at, names->name[i], length) == 0 && !is_alnum(at[length])) longest = length;
    }
    return longest;
}

/* Writes what stands at `at`, where a word or a part of one begins, and returns how much of the text that was. */
static size_t put(FILE *out, const struct names *names, const char *at, bool word) {
    size_t length = 0, taken;
    while (!ends_word(at[length])) length++;
    if (word && (taken = path_length(at, length)) > 0) {
        put_path(out, at, taken);
        return taken;
    }
    if ((taken = serial_length(at)) > 0) {
        fputs("[serial]", out);
        return taken;
    }
    if ((taken = name_length(names, at)) > 0) {
        fputs("[name]", out);
        return taken;
    }
    putc(*at, out);
    return 1;
}

char *redact(const char *text) {
    struct names *names = calloc(1, sizeof *names);
    char *clean = NULL;
    size_t nbytes = 0;
    FILE *out = names ? open_memstream(&clean, &nbytes) : NULL;
    if (names) collect(names);
    for (const char *at = text; out && *at;) {
        char before = at == text ? ' ' : at[-1];
        if (is_alnum(before)) /* inside of what was looked at already */
            putc(*at++, out);
        else
            at += put(out, names, at, ends_word(before) || before == ':');
    }
    free(names);
    bool good = out && !ferror(out);
    if (out && fclose(out) != 0) good = false;
    if (good) return clean;
    free(clean);
    return NULL;
}
