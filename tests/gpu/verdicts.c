/* Verdicts on a vendor's library that outlive a process: the second process takes the first one's, for as long as the
 * entry is whole; a check that is asked for runs anew. argv: the device. Each process is a child with a stand-in of its
 * own. */
#include "tests/test.h"

#include <wick/conv.h>

#include <dirent.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *device_name;
static char folder[64];

enum { GOOD = 1, WRONG, NEITHER };

/* What a process thinks of convolutions of f32 after one of them, or after a check that was asked for, with a library
 * that is good or wrong. */
static int process(const char *library, bool check) {
    pid_t child = fork();
    if (child == 0) {
        const float ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        setenv("STANDIN_BLAS", library, 1);
        setenv("WICK_DNN", "vendor", 1);
        setenv("WICK_CACHE_DIR", folder, 1);
        struct wick_device *device = wick_device_open(device_name);
        struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(1, 1, 4, 4), ones, sizeof ones);
        struct wick_tensor *w = wick_from_data(device, WICK_F32, WICK_SHAPE(1, 1, 2, 2), ones, 4 * sizeof *ones);
        if (!check) wick_release(wick_conv2d(x, w, NULL, NULL));
        struct wick_route_info info = {.verdict = ""};
        for (int i = 0; i < wick_route_count(device); i++)
            if (wick_route_describe(device, i, check, &info) == WICK_OK && strcmp(info.name, "DNN") == 0) break;
        const char *right = strstr(info.verdict, "right for"), *wrong = strstr(info.verdict, "WRONG for");
        int verdict = right && !wrong && strstr(right, "f32") ? GOOD : wrong && strstr(wrong, "f32") ? WRONG : NEITHER;
        wick_release(x);
        wick_release(w);
        wick_device_close(device);
        _exit(verdict);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Writes a byte into the code of each entry, or deletes all; the number of them. */
static int spoil(bool remove) {
    char path[512];
    int n = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        if (strncmp(entry->d_name, "route-", 6) != 0 && !remove) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (remove) {
            n += unlink(path) == 0;
            continue;
        }
        FILE *file = fopen(path, "r+");
        if (!file) continue;
        n += fseek(file, -1, SEEK_END) == 0 && fputc(WRONG + 100, file) != EOF;
        fclose(file);
    }
    if (entries) closedir(entries);
    return n;
}

int main(int argc, char **argv) {
    device_name = argc > 1 ? argv[1] : "cuda:0";
    snprintf(folder, sizeof folder, "/tmp/wick-verdicts-XXXXXX");
    CHECK(mkdtemp(folder));
    CHECK_INT(process("good", false), GOOD);
    CHECK_INT(process("wrong", false), GOOD); /* as the first one found */
    CHECK_INT(process("wrong", true), WRONG); /* asked for, and kept */
    CHECK_INT(process("good", false), WRONG);
    CHECK(spoil(false) > 0);
    CHECK_INT(process("good", false), GOOD); /* a damaged entry is none */
    CHECK(spoil(true) > 0);
    CHECK_INT(process("wrong", false), WRONG);
    spoil(true);
    CHECK_INT(rmdir(folder), 0);
    return test_end();
}
