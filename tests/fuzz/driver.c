/* Runs a fuzz target once on each file of the folders in its arguments, where there is no libFuzzer: so every compiler
 * runs the corpus. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    /* Exactly as large as the file, so that a sanitizer sees a read past its end. */
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    size_t nbytes = data && size > 0 ? fread(data, 1, (size_t)size, file) : 0;
    fclose(file);
    if (data) LLVMFuzzerTestOneInput(data, nbytes);
    free(data);
    return 1;
}

int main(int argc, char **argv) {
    int runs = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (!folder) {
            fprintf(stderr, "%s can't be read\n", argv[i]);
            return 1;
        }
        for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
            char path[4096];
            if (entry->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            runs += run_file(path);
        }
        closedir(folder);
    }
    printf("%d inputs\n", runs);
    return runs == 0;
}
