/* Hostile safetensors files. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    fuzz_archive(data, nbytes);
    return 0;
}
