/* Reads cases.txt and words.safetensors. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instructions.h"

u32 *words;
static size_t n_words;
struct test *tests;
size_t n_tests;
struct line macro_lines[64];
size_t n_macro_lines;

_Noreturn void die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

void *need(void *memory) {
    if (!memory) die("out of memory");
    return memory;
}

char *read_file(const char *path, size_t *nbytes) {
    FILE *file = fopen(path, "rb");
    if (!file) die("%s: cannot be read", path);
    fseek(file, 0, SEEK_END);
    *nbytes = (size_t)ftell(file);
    rewind(file);
    char *text = need(malloc(*nbytes + 1));
    if (fread(text, 1, *nbytes, file) != *nbytes) die("%s: cannot be read", path);
    text[*nbytes] = 0;
    fclose(file);
    return text;
}

/* ---- the files ---- */

static void read_words(const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/words.safetensors", folder);
    size_t nbytes;
    char *text = read_file(path, &nbytes);
    u64 header;
    memcpy(&header, text, 8);
    n_words = (nbytes - 8 - header) / 4;
    words = need(malloc(n_words * 4 + 4));
    memcpy(words, text + 8 + header, n_words * 4);
    free(text);
}

/* N columns from word k on. */
static void columns(size_t at[WORDS], bool has[WORDS], unsigned k, size_t offset, unsigned n) {
    if (offset + (size_t)n * LANES > n_words) die("cases.txt: beyond the words");
    for (; n && k < WORDS; n--, k++, offset += LANES) {
        at[k] = offset;
        has[k] = true;
    }
}

static void read_line(struct test *test, char *text) {
    unsigned k, mask, n;
    size_t offset;
    char how;
    int skip = 0;
    if (sscanf(text, "in %u %zu %u", &k, &offset, &n) == 3) {
        columns(test->in, test->has_in, k, offset, n);
    } else if (sscanf(text, "was %u %zu %u", &k, &offset, &n) == 3) {
        columns(test->was, test->has_was, k, offset, n);
    } else if (sscanf(text, "becomes %u %zu %u", &k, &offset, &n) == 3) {
        columns(test->becomes, test->has_becomes, k, offset, n);
    } else if (!strcmp(text, "memory")) {
        test->memory = true;
    } else if (sscanf(text, "scalars %zu %u", &offset, &n) == 2) {
        test->scalars = offset;
        test->n_scalars = n;
    } else if (sscanf(text, "out %x %c %u %zu %u", &mask, &how, &k, &offset, &n) == 5) {
        unsigned width = how == 'd' || how == 'w' ? 2 : 1;
        size_t end = how == 'm' ? offset + (n - 1) * LANES + 2 : offset + (size_t)n * width * LANES;
        if (!n || end > n_words) die("cases.txt: beyond the words");
        for (; n && test->n_outs < OUTS && k < WORDS; n--, k += width, offset += LANES * width)
            test->outs[test->n_outs++] = (struct out){mask, k, how, offset};
    } else if (sscanf(text, "%*s %x %n", &mask, &skip) == 1 && skip && test->n_lines < LINES) {
        int stage = !strncmp(text, "pre", 3) ? 0 : !strncmp(text, "asm", 3) ? 1 : 2;
        test->lines[test->n_lines++] = (struct line){mask, stage, text + skip};
    } else {
        die("cases.txt: %s", text);
    }
}

static void read_macro(const char *text) {
    unsigned targets = 0;
    int skip = 0;
    if (sscanf(text, "line %x %n", &targets, &skip) != 1 && sscanf(text, "macro %n", &skip) != 0) skip = 0;
    if (!skip || n_macro_lines == sizeof macro_lines / sizeof *macro_lines) die("cases.txt: %s", text);
    macro_lines[n_macro_lines++] = (struct line){.targets = targets, .text = text + skip};
}

static void read_tests(const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/cases.txt", folder);
    size_t nbytes, n = 0;
    char *text = read_file(path, &nbytes);
    for (const char *at = text; (at = strstr(at, "case ")); at++) n++;
    tests = need(calloc(n, sizeof *tests));
    for (char *at = strtok(text, "\n"); at; at = strtok(NULL, "\n")) {
        if (!strncmp(at, "case ", 5)) {
            struct test *test = &tests[n_tests++];
            if (sscanf(at, "case %63s %c %x %x %u %u", test->name, &test->kind, &test->targets, &test->mode, &test->lds,
                       &test->scratch) != 6)
                die("cases.txt: %s", at);
        } else if (!n_tests) {
            read_macro(at);
        } else {
            read_line(&tests[n_tests - 1], at);
        }
    }
}

void read_cases(const char *folder) {
    read_words(folder);
    read_tests(folder);
}
