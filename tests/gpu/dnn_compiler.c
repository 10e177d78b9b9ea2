/* A MIOpen that starts a compiler for its kernels: it is used with one that works; without, convolutions are ours and
 * say why; neither is remembered once that changes; and nobody's chatter reaches the terminal. argv: the device and the
 * compiler's path, which is not there. Each process is a child. */
#include "tests/test.h"

#include <wick/conv.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *device_name, *compiler;
static char folder[64], said[256];

enum { GOOD = 1, WRONG, FAULT, WRONG_RESULT };

static int convolve(const char *choice) {
    const float ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    float sums[9] = {0};
    int bad = 0;
    setenv("WICK_DNN", choice, 1);
    struct wick_device *device = wick_device_open(device_name);
    struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(1, 1, 4, 4), ones, sizeof ones);
    struct wick_tensor *w = wick_from_data(device, WICK_F32, WICK_SHAPE(1, 1, 2, 2), ones, 4 * sizeof *ones);
    struct wick_tensor *y = wick_conv2d(x, w, NULL, NULL);
    if (wick_read(y, sums, sizeof sums) != WICK_OK) return WRONG_RESULT;
    for (int i = 0; i < 9; i++) bad += sums[i] != 4;
    struct wick_route_info info = {.verdict = ""};
    for (int i = 0; i < wick_route_count(device); i++)
        if (wick_route_describe(device, i, false, &info) == WICK_OK && strcmp(info.name, "DNN") == 0) break;
    int verdict = info.fault ? FAULT : strstr(info.verdict, "WRONG for f32") ? WRONG : info.used == 1 ? GOOD : 0;
    if (info.fault) printf("fault: %s\n", info.fault), fflush(stdout);
    wick_release(y);
    wick_release(x);
    wick_release(w);
    wick_device_close(device);
    return bad ? WRONG_RESULT : verdict;
}

/* What a process makes of the route of convolutions, with a library that computes well or wrongly. `said` is what it
 * printed. */
static int process(const char *library, const char *choice) {
    char path[128];
    snprintf(path, sizeof path, "%s/said", folder);
    pid_t child = fork();
    if (child == 0) {
        int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
        if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0) _exit(0);
        setenv("STANDIN_BLAS", library, 1);
        setenv("WICK_CACHE_DIR", folder, 1);
        _exit(convolve(choice));
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    FILE *file = fopen(path, "r");
    CHECK(file);
    size_t n = file ? fread(said, 1, sizeof said - 1, file) : 0;
    said[n] = 0;
    if (file) fclose(file);
    return WEXITSTATUS(status);
}

static int entries(bool remove) {
    char path[512];
    int n = 0;
    DIR *all = opendir(folder);
    for (struct dirent *entry; all && (entry = readdir(all));) {
        n += strncmp(entry->d_name, "route-", 6) == 0;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (remove) unlink(path);
    }
    if (all) closedir(all);
    return n;
}

/* A compiler of some second, that talks and exits with `status`. */
static void put_compiler(int status, time_t second) {
    const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    FILE *file = fopen(compiler, "w");
    CHECK(file);
    if (!file) return;
    fprintf(file, "#!/bin/sh\necho a compiler talks\necho a compiler talks >&2\nexit %d\n", status);
    fclose(file);
    CHECK_INT(chmod(compiler, 0700), 0);
    CHECK_INT(utimensat(AT_FDCWD, compiler, times, 0), 0);
}

int main(int argc, char **argv) {
    char fault[512];
    if (argc < 3) return 2;
    device_name = argv[1];
    compiler = argv[2];
    unlink(compiler);
    snprintf(folder, sizeof folder, "/tmp/wick-dnn-XXXXXX");
    CHECK(mkdtemp(folder));

    CHECK_INT(process("good", "vendor"), FAULT);
    snprintf(fault, sizeof fault, "fault: it compiles its kernels by %s, which is not there\n", compiler);
    CHECK_TEXT(said, fault);
    put_compiler(1, 1000);
    CHECK_INT(process("good", "vendor"), FAULT);
    snprintf(fault, sizeof fault, "fault: it compiles its kernels by %s, which fails to compile for gfx90a\n",
             compiler);
    CHECK_TEXT(said, fault);
    CHECK_INT(entries(false), 0);

    put_compiler(0, 1000);
    CHECK_INT(process("good", "auto"), FAULT);
    CHECK_TEXT(said, "fault: it compiles each kernel when it first needs it, so it is only used where it is chosen\n");
    CHECK_INT(process("good", "vendor"), GOOD);
    CHECK_TEXT(said, "");
    CHECK(entries(false) > 0);
    CHECK_INT(process("wrong", "own"), FAULT);
    CHECK_TEXT(said, "fault: own kernels are chosen\n");

    put_compiler(0, 2000); /* another, whose kernels are wrong */
    CHECK_INT(process("wrong", "vendor"), WRONG);
    CHECK_INT(process("good", "vendor"), WRONG); /* which is remembered */
    unlink(compiler);
    CHECK_INT(process("good", "vendor"), FAULT);
    put_compiler(0, 1000);
    CHECK_INT(process("good", "vendor"), GOOD);
    CHECK_TEXT(said, "");

    unlink(compiler);
    entries(true);
    CHECK_INT(rmdir(folder), 0);
    return test_end();
}
