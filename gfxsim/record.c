/* Launches written to files with the memory before and after them, by which another emulator can run them again.
 * README.md has the format. What other host threads launch meanwhile is in the record too. */
#define _POSIX_C_SOURCE 200809L
#include "gfxsim/launch.h"
#include "gfxsim/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 256 << 20, HOLE = 4096 };

struct sim_record {
    struct sim_piece *pieces;
    size_t n;
    u8 *before; /* of all pieces, one after the other */
    const struct sim_start *start;
    char path[];
};

static void record_free(struct sim_record *record) {
    if (!record) return;
    free(record->pieces);
    free(record->before);
    free(record);
}

/* With the path of the first record of the kernel that is not there; NULL when all are. */
static struct sim_record *unwritten(const struct sim_kernel *kernel) {
    const char *target = sim_target_name(kernel->code->target);
    size_t room = strlen(sim_settings.record) + strlen(target) + strlen(kernel->name) + 32;
    struct sim_record *record = calloc(1, sizeof *record + room);
    for (unsigned i = 1; record && i <= sim_settings.record_each; i++) {
        snprintf(record->path, room, "%s/%s-%s-%u", sim_settings.record, target, kernel->name, i);
        if (access(record->path, F_OK) != 0) return record;
    }
    free(record);
    return NULL;
}

/* What was never written gets a pattern, by which every write shows. Without checks nobody knows what was. */
static void fill_unwritten(const struct sim_piece *piece) {
    const u8 *known = sim_shadow + (piece->base - sim_range);
    for (size_t i = 0; i < piece->nbytes; i++)
        if (known[i] == SIM_UNDEFINED) piece->base[i] = 0xa5;
}

struct sim_record *sim_record_new(const struct sim_launch *launch, const struct sim_start *start) {
    struct sim_record *record = unwritten(launch->kernel);
    if (!record) return NULL;
    record->start = start;
    record->n = sim_memory_live(NULL, 0);
    record->pieces = calloc(record->n, sizeof *record->pieces);
    size_t n = record->pieces ? sim_memory_live(record->pieces, record->n) : 0, nbytes = 0;
    if (n < record->n) record->n = n;
    for (size_t i = 0; i < record->n; i++) nbytes += record->pieces[i].nbytes;
    record->before = nbytes <= MOST_BYTES ? malloc(nbytes) : NULL;
    if (!record->before) {
        record_free(record);
        return NULL;
    }
    u8 *to = record->before;
    for (size_t i = 0; i < record->n; to += record->pieces[i++].nbytes) {
        if (sim_settings.check) fill_unwritten(&record->pieces[i]);
        memcpy(to, record->pieces[i].base, record->pieces[i].nbytes);
    }
    return record;
}

static bool changed(const struct sim_record *record) {
    const u8 *before = record->before;
    for (size_t i = 0; i < record->n; before += record->pieces[i++].nbytes)
        if (memcmp(record->pieces[i].base, before, record->pieces[i].nbytes) != 0) return true;
    return false;
}

static unsigned long long address(const void *at) { return (unsigned long long)(uintptr_t)at; }

static void write_head(FILE *file, const struct sim_record *record, const struct sim_launch *launch) {
    const struct sim_kernel *kernel = launch->kernel;
    const u32 *grid = launch->grid, *block = launch->block;
    fprintf(file, "gfxsim launch 1\ntarget %s\nkernel %s\n", sim_target_name(kernel->code->target), kernel->name);
    fprintf(file, "grid %u %u %u\nblock %u %u %u\n", grid[0], grid[1], grid[2], block[0], block[1], block[2]);
    const u32 *rest = launch->rest;
    if (rest[0] || rest[1] || rest[2]) fprintf(file, "rest %u %u %u\n", rest[0], rest[1], rest[2]);
    const struct sim_start *start = record->start;
    fprintf(file, "shared %u\nkernarg 0x%llx\npacket 0x%llx\nqueue 0x%llx\n", launch->shared, address(start->kernarg),
            address(start->packet), address(start->queue));
    fprintf(file, "loaded 0x%llx\ncode %zu\n", address(kernel->code->memory), kernel->code->elf_bytes);
    const u8 *before = record->before;
    for (size_t i = 0; i < record->n; before += record->pieces[i++].nbytes) {
        const struct sim_piece *piece = &record->pieces[i];
        fprintf(file, "memory 0x%llx %zu %s\n", address(piece->base), piece->nbytes,
                memcmp(piece->base, before, piece->nbytes) != 0 ? "changed" : "same");
    }
    fputs("\n", file);
}

/* Zeros become holes of the file where its system has them: programs allocate much and use little. */
static void write_sparse(FILE *file, const u8 *from, size_t n) {
    static const u8 zeros[HOLE];
    for (size_t i = 0, part; i < n; i += part) {
        part = n - i < HOLE ? n - i : HOLE;
        if (memcmp(from + i, zeros, part) == 0)
            fseek(file, (long)part, SEEK_CUR);
        else
            fwrite(from + i, 1, part, file);
    }
}

static void write_bytes(FILE *file, const struct sim_record *record, const struct sim_launch *launch) {
    const u8 *before = record->before;
    fwrite(launch->kernel->code->elf, 1, launch->kernel->code->elf_bytes, file);
    for (size_t i = 0; i < record->n; before += record->pieces[i++].nbytes) {
        const struct sim_piece *piece = &record->pieces[i];
        write_sparse(file, before, piece->nbytes);
        if (memcmp(piece->base, before, piece->nbytes) != 0) write_sparse(file, piece->base, piece->nbytes);
    }
    fputs("\n", file); /* else a hole would not end the file */
}

void sim_record_end(struct sim_record *record, const struct sim_launch *launch, bool well) {
    if (record && well && changed(record)) {
        FILE *file = fopen(record->path, "wb");
        if (file) {
            write_head(file, record, launch);
            write_bytes(file, record, launch);
        }
        bool wrong = !file || ferror(file);
        if (file && fclose(file) != 0) wrong = true;
        if (wrong) fprintf(stderr, "gfxsim: %s can't be written\n", record->path);
    }
    record_free(record);
}
