/* The kernel store with a vendor that only pretends to compile: which route gives a module's code, what the cache does
 * with processes that race, folders that can't be written, entries that are damaged, and refusals by the driver. */
#include "tests/test.h"

#include "core/memory.h"
#include "gpu/code/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char work[] = "/tmp/wick-store-XXXXXX";
static char packs[64], cache[64], compiled[64];
static const char *version = "fake 1";
static bool compiler_fails;
static _Atomic int logged;

static void note(void *context, enum wick_log_level level, const char *text) {
    (void)context;
    (void)level;
    (void)text;
    logged++;
}

/* How often the vendor compiled, in all processes: the length of a file. */
static int compilations(void) {
    struct stat info;
    return stat(compiled, &info) == 0 ? (int)info.st_size : 0;
}

static enum wick_status fake_compile(const struct wick__source_job *job, void **image, size_t *nbytes) {
    struct timespec while_ = {.tv_nsec = 20000000};
    int fd = open(compiled, O_WRONLY | O_APPEND | O_CREAT, 0666);
    bool found = false;
    if (fd < 0 || write(fd, "x", 1) != 1) return wick__fail(WICK_IO, "the count of compilations can't be written");
    close(fd);
    if (compiler_fails) return wick__fail(WICK_DEVICE, "copy.hip:1: error: as asked for");
    for (int i = 0; i < job->n_headers; i++)
        found |= strcmp(job->header_names[i], "gpu.h") == 0 && strlen(job->headers[i]) > 1000;
    if (!found || strncmp(job->name, "copy.hip", 9) != 0 || strlen(job->source) < 100 ||
        strcmp(job->options[0], "-std=c++14") != 0)
        return wick__fail(WICK_INVALID, "not what is to be compiled");
    nanosleep(&while_, NULL);
    *nbytes = 10000 + strlen(job->target);
    *image = wick__alloc(*nbytes);
    if (!*image) return WICK_MEMORY;
    memset(*image, 'c', *nbytes);
    return WICK_OK;
}

static const char *fake_version(void) { return version; }

static const struct wick__vendor vendor = {
    .family = "rocm", .pack = "gfx", .compile = fake_compile, .compiler_version = fake_version};
static struct wick__properties device = {.target = "gfx942:sramecc+:xnack-", .wave = 64};

/* Finds the copy module's code: the route, or NONE after a failure. */
static enum wick__route find_after(enum wick__route after) {
    struct wick__image image = {0};
    wick_error_clear();
    if (wick__store_find(&vendor, &device, WICK__GPU_M_copy, after, &image) != WICK_OK) return WICK__ROUTE_NONE;
    enum wick__route route = image.route;
    if (route != WICK__ROUTE_PACK && (image.nbytes < 10000 || ((char *)image.data)[9999] != 'c')) route = 99;
    wick__store_release(&image);
    return route;
}
static enum wick__route find(void) { return find_after(WICK__ROUTE_NONE); }
static enum wick__route route(void) { return wick__store_route(&vendor, &device, WICK__GPU_M_copy); }

static void empty(const char *folder) {
    char path[400];
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (entries) closedir(entries);
}

/* Path of the one entry in the cache. */
static const char *entry(void) {
    static char path[400];
    DIR *entries = opendir(cache);
    int n = 0;
    for (struct dirent *e; entries && (e = readdir(entries));) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", cache, e->d_name);
        n++;
    }
    if (entries) closedir(entries);
    CHECK_INT(n, 1);
    return path;
}

static void write_pack(const char *target, int spoil) {
    char path[200], reason[200];
    struct wick__pack_module module = {.name = "copy", .data = "code", .nbytes = 4};
    wick__store_source_key(WICK__GPU_M_copy, module.key);
    module.key[0] ^= (unsigned char)spoil;
    snprintf(path, sizeof path, "%s/%s.pack", packs, strncmp(target, "compute_", 8) == 0 ? "ptx" : target);
    CHECK(wick__pack_write(path, target, &module, 1, reason, sizeof reason));
}

static enum wick__route on(const char *target) {
    snprintf(device.target, sizeof device.target, "%s", target);
    enum wick__route taken = find();
    CHECK_INT(route(), taken == WICK__ROUTE_COMPILE ? WICK__ROUTE_CACHE : taken);
    empty(cache);
    return taken;
}

static void check_targets(void) {
    write_pack("gfx942", 0);
    write_pack("sm_80", 0);
    write_pack("sm_90", 0);
    CHECK_INT(on("gfx942:sramecc+:xnack-"), WICK__ROUTE_PACK);
    CHECK_INT(on("gfx942"), WICK__ROUTE_PACK);
    CHECK_INT(on("gfx90a"), WICK__ROUTE_COMPILE);
    CHECK_INT(on("gfx9421"), WICK__ROUTE_COMPILE);
    CHECK_INT(on("sm_80"), WICK__ROUTE_PACK);
    CHECK_INT(on("sm_86"), WICK__ROUTE_PACK);
    CHECK_INT(on("sm_89"), WICK__ROUTE_PACK);
    CHECK_INT(on("sm_90"), WICK__ROUTE_PACK);
    CHECK_INT(on("sm_90a"), WICK__ROUTE_COMPILE);
    CHECK_INT(on("sm_75"), WICK__ROUTE_COMPILE);
    CHECK_INT(on("sm_120"), WICK__ROUTE_COMPILE);
    write_pack("compute_80", 0);
    CHECK_INT(on("sm_120"), WICK__ROUTE_PACK);
    CHECK_INT(on("sm_75"), WICK__ROUTE_COMPILE);
    CHECK_INT(on("../packs/gfx942"), WICK__ROUTE_COMPILE);
    CHECK_INT(on("gfx942:sramecc+:xnack-"), WICK__ROUTE_PACK);
}

/* A pack of other sources, a truncated one: one line in the log each, and the next route. */
static void check_bad_packs(void) {
    char path[200];
    write_pack("gfx942", 1);
    logged = 0;
    CHECK_INT(find(), WICK__ROUTE_COMPILE);
    CHECK_INT(find(), WICK__ROUTE_CACHE);
    CHECK_INT(logged, 1);
    write_pack("gfx942", 0);
    snprintf(path, sizeof path, "%s/gfx942.pack", packs);
    CHECK(truncate(path, 210) == 0);
    CHECK_INT(find(), WICK__ROUTE_CACHE);
    CHECK_INT(logged, 2);
    write_pack("gfx942", 0);
    CHECK_INT(find(), WICK__ROUTE_PACK);
    CHECK(chmod(packs, 0777) == 0); /* a shared folder: anybody may have put the pack there */
    CHECK_INT(find(), WICK__ROUTE_CACHE);
    CHECK(chmod(packs, 0755) == 0);
    empty(packs);
    empty(cache);
}

static void check_cache(void) {
    int before = compilations();
    logged = 0;
    CHECK_INT(route(), WICK__ROUTE_COMPILE);
    CHECK_INT(find(), WICK__ROUTE_COMPILE);
    CHECK_INT(route(), WICK__ROUTE_CACHE);
    CHECK_INT(find(), WICK__ROUTE_CACHE);
    version = "fake 2"; /* another compiler's entry is not ours, nor is ours deleted */
    CHECK_INT(find(), WICK__ROUTE_COMPILE);
    version = "fake 1";
    CHECK_INT(find(), WICK__ROUTE_CACHE);
    device.wave = 32; /* other options */
    CHECK_INT(find(), WICK__ROUTE_COMPILE);
    device.wave = 64;
    CHECK_INT(compilations(), before + 3);
    CHECK_INT(logged, 0);
    version = ""; /* without a compiler, what any has made */
    CHECK_INT(find(), WICK__ROUTE_CACHE);
    device.wave = 16;
    CHECK_INT(route(), WICK__ROUTE_NONE);
    device.wave = 64;
    version = "fake 1";
    empty(cache);
}

static void overwrite(const char *path, long at, const char *text) {
    FILE *file = fopen(path, "r+b");
    CHECK(file && fseek(file, at, SEEK_SET) == 0 && fputs(text, file) >= 0);
    if (file) fclose(file);
}

/* Whatever is wrong with an entry: one line in the log, compiled once, whole again. */
static void check_damage(void) {
    for (int kind = 0; kind < 7; kind++) {
        CHECK_INT(find(), WICK__ROUTE_COMPILE);
        const char *path = entry();
        if (kind == 0) overwrite(path, 5000, "x");
        if (kind == 1) CHECK(truncate(path, 5000) == 0);
        if (kind == 2) CHECK(truncate(path, 0) == 0);
        if (kind == 3) overwrite(path, 0, "\177ELF");
        if (kind == 4) overwrite(path, 40, "another key");
        if (kind == 5) CHECK(chmod(path, 0666) == 0);
        if (kind == 6) overwrite(path, 12, "\377\377\377\377\377\377\377\377");
        int before = compilations();
        logged = 0;
        CHECK_INT(find(), WICK__ROUTE_COMPILE);
        CHECK_INT(find(), WICK__ROUTE_CACHE);
        CHECK_INT(compilations(), before + 1);
        CHECK_INT(logged, 1);
        empty(cache);
    }
}

/* A file of that age, in seconds. */
static void leave(char path[400], const char *folder, const char *name, time_t age) {
    struct timespec times[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
    snprintf(path, 400, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0 && futimens(fd, times) == 0 && close(fd) == 0);
}

/* What killed writers left goes once it is old; nothing else does. */
static void check_stale(void) {
    static const struct {
        const char *name;
        bool in_packs, stays;
        time_t age;
    } left[] = {{".new-1-0-0", false, false, 7200},        {".lock-x", false, false, 7200},
                {".new-2-0-0", false, true, 60},           {"new-x", false, true, 7200},
                {"gfx942.pack.11.tmp", true, false, 7200}, {"gfx942.pack.12.tmp", true, true, 60},
                {"another.tmp", true, true, 7200}};
    enum { LEFT = sizeof left / sizeof *left };
    char path[LEFT][400];
    for (int i = 0; i < LEFT; i++) leave(path[i], left[i].in_packs ? packs : cache, left[i].name, left[i].age);
    CHECK_INT(find(), WICK__ROUTE_COMPILE);
    write_pack("gfx942", 0);
    for (int i = 0; i < LEFT; i++)
        TEST_CHECK_((access(path[i], F_OK) == 0) == left[i].stays, "%s %s", left[i].name,
                    left[i].stays ? "is gone" : "is still there");
    empty(packs);
    empty(cache);
}

static void check_refusals(void) {
    write_pack("gfx942", 0);
    CHECK_INT(find_after(WICK__ROUTE_PACK), WICK__ROUTE_COMPILE);
    CHECK_INT(find_after(WICK__ROUTE_PACK), WICK__ROUTE_CACHE);
    int before = compilations();
    CHECK_INT(find_after(WICK__ROUTE_CACHE), WICK__ROUTE_COMPILE);
    CHECK_INT(compilations(), before + 1);
    CHECK_INT(find_after(WICK__ROUTE_PACK), WICK__ROUTE_CACHE);
    struct wick__image image = {0};
    CHECK_FAILS(wick__store_find(&vendor, &device, WICK__GPU_M_copy, WICK__ROUTE_COMPILE, &image), WICK_DEVICE,
                "no code of kernel module copy for gfx942:sramecc+:xnack-: pack: refused by the driver; cache: refused "
                "by the driver; compiler: refused by the driver");
    empty(packs);
    empty(cache);
}

static void check_failures(void) {
    struct wick__image image = {0};
    char text[300];
    setenv("WICK_COMPILE", "never", 1);
    snprintf(text, sizeof text,
             "no code of kernel module copy for gfx942:sramecc+:xnack-: pack: no gfx942.pack; cache: not in %s; "
             "compiler: forbidden by WICK_COMPILE=never",
             cache);
    CHECK_FAILS(wick__store_find(&vendor, &device, WICK__GPU_M_copy, WICK__ROUTE_NONE, &image), WICK_DEVICE, text);
    CHECK_INT(route(), WICK__ROUTE_NONE);
    unsetenv("WICK_COMPILE");
    compiler_fails = true;
    snprintf(text, sizeof text,
             "no code of kernel module copy for gfx942:sramecc+:xnack-: pack: no gfx942.pack; cache: not in %s; "
             "compiler: copy.hip:1: error: as asked for",
             cache);
    CHECK_FAILS(wick__store_find(&vendor, &device, WICK__GPU_M_copy, WICK__ROUTE_NONE, &image), WICK_DEVICE, text);
    compiler_fails = false;
}

/* Runs a function in a process of its own, as nobody when we are root; its answer. */
static int elsewhere(int (*function)(void), bool nobody) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (nobody && geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(200);
        logged = 0;
        _exit(function());
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int compile_twice_one_line(void) {
    return find() == WICK__ROUTE_COMPILE && find() == WICK__ROUTE_COMPILE && logged == 1;
}
static int take_silently(void) { return find() == WICK__ROUTE_CACHE && logged == 0; }

static void check_folders(void) {
    char path[200];
    struct stat info;
    /* Made where it was not, for us alone. */
    unsetenv("WICK_CACHE_DIR");
    snprintf(path, sizeof path, "%s/xdg", work);
    setenv("XDG_CACHE_HOME", path, 1);
    CHECK_INT(find(), WICK__ROUTE_COMPILE);
    CHECK_INT(find(), WICK__ROUTE_CACHE);
    snprintf(path, sizeof path, "%s/xdg/wick/kernels", work);
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0700);
    empty(path);
    /* A HOME that can't be written, one that is not there, none. */
    unsetenv("XDG_CACHE_HOME");
    snprintf(path, sizeof path, "%s/home", work);
    CHECK(mkdir(path, 0555) == 0 && chmod(path, 0555) == 0);
    setenv("HOME", path, 1);
    CHECK_INT(elsewhere(compile_twice_one_line, true), 1);
    setenv("HOME", "/dev/null", 1);
    CHECK_INT(elsewhere(compile_twice_one_line, false), 1);
    unsetenv("HOME");
    CHECK_INT(elsewhere(compile_twice_one_line, false), 1);
    setenv("WICK_CACHE_DIR", cache, 1);
    /* A shared folder that only its owner can write, filled and not. */
    CHECK(chmod(cache, 0755) == 0);
    CHECK_INT(find(), WICK__ROUTE_COMPILE);
    CHECK(chmod(cache, 0555) == 0);
    CHECK_INT(elsewhere(take_silently, true), 1);
    CHECK(chmod(cache, 0755) == 0);
    empty(cache);
    CHECK(chmod(cache, 0555) == 0);
    CHECK_INT(elsewhere(compile_twice_one_line, true), 1);
    /* Where anybody can write, nothing is read or written. */
    CHECK(chmod(cache, 0755) == 0);
    CHECK_INT(find(), WICK__ROUTE_COMPILE);
    CHECK(chmod(cache, 0777) == 0);
    CHECK_INT(elsewhere(compile_twice_one_line, false), 1);
    CHECK(chmod(cache, 0700) == 0);
    empty(cache);
}

/* Many processes start at once: one compiles, the others take what it made. */
static void check_race(int processes) {
    pid_t children[64];
    int before = compilations(), bad = 0, pipes[2];
    char go;
    fflush(stdout);
    CHECK(pipe(pipes) == 0);
    for (int i = 0; i < processes; i++) {
        children[i] = fork();
        if (children[i] != 0) continue;
        close(pipes[1]);
        while (read(pipes[0], &go, 1) < 0 && errno == EINTR) {
        }
        enum wick__route taken = find();
        _exit(taken == WICK__ROUTE_COMPILE || taken == WICK__ROUTE_CACHE ? 0 : 1);
    }
    close(pipes[0]);
    close(pipes[1]);
    for (int i = 0; i < processes; i++) {
        int status = 1;
        bad += waitpid(children[i], &status, 0) != children[i] || status != 0;
    }
    CHECK_INT(bad, 0);
    CHECK_INT(compilations(), before + 1);
    (void)entry();
    empty(cache);
}

static void *find_in_thread(void *result) {
    *(enum wick__route *)result = find();
    return NULL;
}

static void check_threads(void) {
    pthread_t threads[4];
    enum wick__route taken[4];
    int before = compilations();
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, find_in_thread, &taken[i]) == 0);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(taken[i] == WICK__ROUTE_COMPILE || taken[i] == WICK__ROUTE_CACHE);
    }
    CHECK_INT(compilations(), before + 1);
    empty(cache);
}

int main(void) {
    if (!mkdtemp(work) || chmod(work, 0755) != 0) test_skip("no folder for temporary files");
    snprintf(packs, sizeof packs, "%s/packs", work);
    snprintf(cache, sizeof cache, "%s/cache", work);
    snprintf(compiled, sizeof compiled, "%s/compiled", work);
    CHECK(mkdir(packs, 0755) == 0 && mkdir(cache, 0700) == 0);
    close(open(compiled, O_WRONLY | O_CREAT, 0666));
    CHECK(chmod(compiled, 0666) == 0);
    setenv("WICK_KERNEL_PACK", packs, 1);
    setenv("WICK_CACHE_DIR", cache, 1);
    wick_log_set(note, NULL, WICK_LOG_WARNING);
    check_targets();
    empty(packs);
    check_bad_packs();
    check_cache();
    check_damage();
    check_stale();
    check_refusals();
    check_failures();
    check_folders();
    check_race(2);
    check_race(32);
    check_threads();
    CHECK_INT(wick_host_memory_used(), 0);
    return test_end();
}
