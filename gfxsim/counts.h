/* What a program may ask the simulated card's library for, where it finds these names in it: how `wick bench` knows
 * that times mean nothing there, and what it shows instead. */
#ifndef GFXSIM_COUNTS_H
#define GFXSIM_COUNTS_H

#include <stdint.h>

struct gfxsim_counts {
    uint64_t launches, waves;
    uint64_t instructions;   /* of all waves */
    uint64_t lanes;          /* that they ran for */
    uint64_t bytes;          /* of global memory that lanes read and wrote */
    uint64_t segments;       /* of 64 bytes that they did it in */
    uint64_t lds, conflicts; /* accesses of LDS, and cycles lost to banks */
};
/* Counts since the first call, which gives zeroes. */
void gfxsim_counts(struct gfxsim_counts *counts);

#endif
