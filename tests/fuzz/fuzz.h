/* What the fuzz targets share. Each target is one file with the entry point of libFuzzer; built without libFuzzer it
 * gets a main that runs it on every file of the folders it is given (driver.c). */
#ifndef WICK_TESTS_FUZZ_H
#define WICK_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

/* The library gets no more than 64 MiB in one piece, so that a file that asks for much finds out soon. */
void fuzz_limit_memory(void);

/* Called at each of its allocations from fuzz_limit_memory on, unless it is NULL. */
extern void (*fuzz_at_allocation)(void);

/* Opens the bytes as an archive, strictly and leniently, describes and loads every tensor, prints all metadata, and
 * closes it. Ends the process when memory leaks. */
void fuzz_archive(const uint8_t *data, size_t nbytes);

#endif
