/* Gradients of the largest elements of windows: each goes where its index points. */
#ifndef WICK_CPU_KERNELS_POINTED_H
#define WICK_CPU_KERNELS_POINTED_H

#include "cpu/runtime/isa.h"

#include "backend.h"

/* The elements begin .. end - 1 of a dim that a window covers. */
struct wick__reach {
    int64_t begin, end;
};

/* x is [planes,from..], y [planes,to..], both contiguous. Leading dims that are missing have one element. An index
 * that lies outside its window, or outside the plane, leads nowhere. */
struct wick__pointed {
    enum wick_dtype dtype;
    const char *x;
    const uint32_t *indices; /* of x: positions in a plane of y */
    char *y;
    int64_t planes, from[3], to[3];
    const struct wick__reach *reach[3]; /* [from] */
};

#ifdef WICK_ISA
/* Adds in f32 where at most 8 windows cover an element, else and for f64 in f64, in the order of x. WICK_MEMORY. */
enum wick_status WICK__ISA(wick__pointed_run)(const struct wick__pointed *p);
#endif

#endif
