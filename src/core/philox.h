/* Philox4x32-10: the random numbers of include/wick/random.h, in blocks. */
#ifndef WICK_CORE_PHILOX_H
#define WICK_CORE_PHILOX_H

#include <stdint.h>

enum { WICK__PHILOX_LANES = 16 }; /* blocks made side by side */

/* The outputs of counters c[0 .. 3][lane] for one key, in place. */
static inline void wick__philox_lanes(uint32_t c[4][WICK__PHILOX_LANES], uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < WICK__PHILOX_LANES; i++) {
            uint64_t a = (uint64_t)c[0][i] * 0xD2511F53u, b = (uint64_t)c[2][i] * 0xCD9E8D57u;
            c[0][i] = (uint32_t)(b >> 32) ^ c[1][i] ^ key0;
            c[1][i] = (uint32_t)b;
            c[2][i] = (uint32_t)(a >> 32) ^ c[3][i] ^ key1;
            c[3][i] = (uint32_t)a;
        }
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/* Blocks first .. first+n-1 of a seed, 4 words each; n is rounded up to a multiple of WICK__PHILOX_LANES. */
static inline void wick__philox(uint64_t seed, uint64_t first, int64_t n, uint32_t *words) {
    uint32_t c[4][WICK__PHILOX_LANES];
    for (int64_t block = 0; block < n; block += WICK__PHILOX_LANES) {
        for (int i = 0; i < WICK__PHILOX_LANES; i++) {
            uint64_t number = first + (uint64_t)(block + i);
            c[0][i] = (uint32_t)number;
            c[1][i] = (uint32_t)(number >> 32);
            c[2][i] = c[3][i] = 0;
        }
        wick__philox_lanes(c, (uint32_t)seed, (uint32_t)(seed >> 32));
        for (int i = 0; i < WICK__PHILOX_LANES; i++)
            for (int w = 0; w < 4; w++) words[4 * (block + i) + w] = c[w][i];
    }
}

#endif
