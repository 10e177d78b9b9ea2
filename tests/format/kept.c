/* What a writer of files promises: a file is flushed, then renamed, then its folder is flushed; and where memory runs
 * out, whichever allocation fails, the file is whole or the one that was there before. The linker gives fsync and
 * rename to this program first (--wrap). */
#include "tests/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char order[16]; /* what was called: f for a flushed file, r for a rename, d for a flushed folder */

static void note(char what) {
    size_t n = strlen(order);
    if (n + 1 < sizeof order) order[n] = what;
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
    struct stat about;
    note(fstat(fd, &about) == 0 && S_ISDIR(about.st_mode) ? 'd' : 'f');
    return __real_fsync(fd);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
    note('r');
    return __real_rename(from, to);
}

static long countdown; /* the allocation that fails; 0: none */

static void *failing_alloc(void *context, size_t nbytes, size_t alignment) {
    void *memory = NULL;
    (void)context;
    if (countdown > 0 && --countdown == 0) return NULL;
    return posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, nbytes) == 0 ? memory
                                                                                                         : NULL;
}

static void plain_free(void *context, void *memory, size_t nbytes) {
    (void)context;
    (void)nbytes;
    free(memory);
}

/* The file's bytes, to be freed. */
static unsigned char *content(const char *path, size_t *n) {
    struct stat about;
    int fd = open(path, O_RDONLY);
    *n = fd >= 0 && fstat(fd, &about) == 0 ? (size_t)about.st_size : 0;
    unsigned char *bytes = malloc(*n + 1);
    CHECK(fd >= 0 && bytes && read(fd, bytes, *n) == (ssize_t)*n);
    if (fd >= 0) close(fd);
    return bytes;
}

enum { TENSORS = 40 }; /* their headers outgrow buffers more than once */

static char names[TENSORS][24];
static const char *name_list[TENSORS];
static struct wick_tensor *tensors[TENSORS];

static enum wick_status save(const char *path, int form) {
    static const char *const metadata[] = {"format", "pt", NULL};
    const struct wick_tensor *const *list = (const struct wick_tensor *const *)tensors;
    switch (form) {
    case 0: return wick_safetensors_save(path, TENSORS, name_list, list, metadata);
    case 1: return wick_gguf_save(path, TENSORS, name_list, list, NULL, NULL);
    case 2: return wick_npz_save(path, TENSORS, name_list, list);
    default: return wick_npy_save(path, tensors[0]);
    }
}

/* Fails allocation after allocation until there is none left to fail. */
static void check_memory(const char *path, int form) {
    static const char before[] = "what was there before";
    size_t whole_size, n;
    CHECK_OK(save(path, form));
    unsigned char *whole = content(path, &whole_size);
    bool failed = true;
    long at = 1;
    for (; failed && at < 1000; at++) {
        int fd = open(path, O_WRONLY | O_TRUNC);
        CHECK(fd >= 0 && write(fd, before, sizeof before) == (ssize_t)sizeof before && close(fd) == 0);
        wick_error_clear();
        countdown = at;
        enum wick_status status = save(path, form);
        failed = countdown == 0;
        countdown = 0;
        CHECK_INT(status, failed ? WICK_MEMORY : WICK_OK);
        unsigned char *now = content(path, &n);
        bool same = status == WICK_OK ? n == whole_size && memcmp(now, whole, n) == 0
                                      : n == sizeof before && memcmp(now, before, n) == 0;
        TEST_CHECK_(same, "form %d, allocation %ld: %s, and the file has %zu bytes", form, at, wick_status_name(status),
                    n);
        free(now);
    }
    CHECK(at < 1000 && (form != 0 || at > 3));
    wick_error_clear();
    free(whole);
}

int main(void) {
    static const struct wick_allocator failing = {NULL, failing_alloc, plain_free};
    char folder[] = "/tmp/wick-kept-XXXXXX", path[64];
    CHECK_OK(wick_allocator_set(&failing));
    struct wick_device *cpu = wick_device_open("cpu");
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    for (int i = 0; i < TENSORS; i++) {
        snprintf(names[i], sizeof names[i], "layer.%d.weight", i);
        name_list[i] = names[i];
        tensors[i] = wick_ones(cpu, WICK_F32, WICK_SHAPE(2, i + 1));
    }
    for (int form = 0; form < 4; form++) {
        memset(order, 0, sizeof order);
        CHECK_OK(save(path, form));
        CHECK_TEXT(order, "frd");
        check_memory(path, form);
        unlink(path);
    }
    CHECK(rmdir(folder) == 0);
    for (int i = 0; i < TENSORS; i++) wick_release(tensors[i]);
    wick_device_close(cpu);
    return test_end();
}
