/* SHA-256 (FIPS 180-4), for the keys of kernel packs and cache entries. */
#ifndef WICK_GPU_CODE_HASH_H
#define WICK_GPU_CODE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { WICK__HASH = 32 };

struct wick__hash {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    unsigned char block[64];
};

void wick__hash_begin(struct wick__hash *hash);
void wick__hash_add(struct wick__hash *hash, const void *data, size_t nbytes);
void wick__hash_end(struct wick__hash *hash, unsigned char digest[WICK__HASH]);

/* Lower-case hexadecimal digits of `nbytes` bytes, and a 0. */
void wick__hash_text(const unsigned char *digest, size_t nbytes, char *text);

#endif
