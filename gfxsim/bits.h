/* Floats as their bits and back. */
#ifndef GFXSIM_BITS_H
#define GFXSIM_BITS_H

#include "gfxsim/gfxsim.h"

#include <string.h>

static inline float sim_f32(u32 bits) {
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static inline u32 sim_bits_f32(float f) {
    u32 bits;
    memcpy(&bits, &f, 4);
    return bits;
}
static inline double sim_f64(u64 bits) {
    double f;
    memcpy(&f, &bits, 8);
    return f;
}
static inline u64 sim_bits_f64(double f) {
    u64 bits;
    memcpy(&bits, &f, 8);
    return bits;
}

#endif
