/* What `wick inspect --json` does for an array of strings is proportional to its length. Counted are the strings that
 * are read from the file's copy; the linker gives wick__gguf_string to this program first (--wrap). */
#include "tests/format/bytes.h"

#include "cli/command.h"
#include "format/gguf.h"

#include <fcntl.h>
#include <unistd.h>

enum { N = 4000 };

static int64_t reads;

bool __real_wick__gguf_string(struct wick__cursor *cursor, const char **text, uint64_t *nbytes);
bool __wrap_wick__gguf_string(struct wick__cursor *cursor, const char **text, uint64_t *nbytes);
bool __wrap_wick__gguf_string(struct wick__cursor *cursor, const char **text, uint64_t *nbytes) {
    reads++;
    return __real_wick__gguf_string(cursor, text, nbytes);
}

int command_fail(const char *command, const char *format, ...) {
    TEST_CHECK_(false, "%s: %s (%s)", command, format, wick_error());
    return 1;
}
int command_usage(const char *command, const char *format, ...) { return command_fail(command, "%s", format); }
void command_synopsis(const char *name, bool has_options) { (void)name, (void)has_options; }

static void put_string(struct bytes *bytes, const char *text) {
    put64(bytes, strlen(text));
    put_text(bytes, text);
}

static void write_file(int fd) {
    struct bytes bytes = {0};
    put_text(&bytes, "GGUF");
    put32(&bytes, 3);
    put64(&bytes, 0);
    put64(&bytes, 1);
    put_string(&bytes, "tokens");
    put32(&bytes, 9); /* an array */
    put32(&bytes, 8); /* of strings */
    put64(&bytes, N);
    for (int i = 0; i < N; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        put_string(&bytes, text);
    }
    CHECK(write(fd, bytes.data, bytes.n) == (ssize_t)bytes.n);
    free(bytes.data);
}

int main(void) {
    char path[] = "/tmp/wick-inspect-XXXXXX", json[] = "--json";
    int fd = mkstemp(path), out = dup(STDOUT_FILENO);
    CHECK(fd >= 0 && out >= 0);
    write_file(fd);
    close(fd);
    CHECK(freopen("/dev/null", "w", stdout) != NULL);
    CHECK_INT(command_inspect(2, (char *[]){json, path, NULL}), 0);
    fflush(stdout);
    CHECK(dup2(out, STDOUT_FILENO) >= 0);
    /* Each once for its length and once for its text. */
    TEST_CHECK_(reads >= N && reads <= 3 * N, "%lld reads of %d strings", (long long)reads, N);
    unlink(path);
    return test_end();
}
