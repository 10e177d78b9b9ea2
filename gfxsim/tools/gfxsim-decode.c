/* gfxsim-decode TARGET FILE...: decodes all the code of code objects and lists what gfxsim cannot run: each mnemonic
 * without a row once, with how often it occurs and its first line, each line that is not understood, and each that
 * leaves out a bit of its instruction. Ends with 1 when there is any. -a prints all mnemonics. */
#include "gfxsim/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    char *key, *line;
    long count;
};

static void add(struct entry **list, const char *key, const char *line) {
    struct entry *entry = *list;
    while (entry && strcmp(entry->key, key)) entry = entry->next;
    if (!entry) {
        entry = malloc(sizeof *entry);
        if (!entry) exit(2);
        *entry = (struct entry){*list, strdup(key), strdup(line), 0};
        *list = entry;
    }
    entry->count++;
}

static char *read_file(const char *path, size_t *nbytes) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        perror(path);
        exit(2);
    }
    long size = ftell(file);
    char *bytes = malloc((size_t)size + 1);
    rewind(file);
    if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    *nbytes = (size_t)size;
    return bytes;
}

static void decode(struct sim_code *code, struct entry **known, struct entry **unknown) {
    u64 end = code->text + code->text_bytes;
    static const char missing[] = "no such instruction: ";
    char text[512], why[256];
    for (u64 pc = code->text; pc < end;) {
        size_t nbytes = sim_code_text(code, pc, text, why);
        const struct sim_inst *inst = nbytes ? sim_code_inst(code, pc, why) : NULL;
        pc += nbytes ? nbytes : 4; /* what fills the gaps between functions need not be an instruction */
        if (!nbytes) continue;
        char name[64], *row = strstr(why, missing);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(text, " "), text);
        if (inst)
            add(known, name, inst->text);
        else if (row)
            add(unknown, row + sizeof missing - 1, text);
        else
            add(unknown, text, why);
    }
}

int main(int argc, char **argv) {
    bool all = argc > 1 && !strcmp(argv[1], "-a");
    if (argc < 3 + all) {
        fprintf(stderr, "usage: gfxsim-decode [-a] TARGET FILE...\n");
        return 2;
    }
    struct entry *known = NULL, *unknown = NULL;
    enum sim_target target = sim_target_of(argv[1 + all]);
    long n = 0;
    for (int i = 2 + all; i < argc; i++) {
        char why[256];
        size_t nbytes;
        char *image = read_file(argv[i], &nbytes);
        struct sim_code *code = sim_code_load(target, image, nbytes, why);
        free(image);
        if (!code) {
            fprintf(stderr, "%s: %s\n", argv[i], why);
            return 2;
        }
        decode(code, &known, &unknown);
        sim_code_unload(code);
    }
    for (struct entry *e = known; e; e = e->next) {
        n += e->count;
        if (all) printf("%8ld  %s\n", e->count, e->line);
    }
    for (struct entry *e = unknown; e; e = e->next) printf("%8ld  %-24s %s\n", e->count, e->key, e->line);
    printf("%s: %ld instructions can run\n", argv[1 + all], n);
    return unknown != NULL;
}
