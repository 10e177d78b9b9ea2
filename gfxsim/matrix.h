/* Matrix instructions: what matrix.c (registers), matrix_sums.c (arithmetic) and dot.c share.
 *
 * Layouts are those of AMD's matrix instruction calculator and of the RDNA3 and RDNA4 instruction set documents.
 *
 * Arithmetic. AMD does not publish how the sums of floats are rounded. For MFMA, gfxsim does what Xie et al., "MMA-Sim"
 * (arXiv:2511.10909), measured on an MI250X and an MI300X to the bit; where that leaves a choice, and for WMMA, which
 * nobody has published, the choice is said here.
 *   f32, f64        a chain of fused multiply-adds in order of k
 *   gfx90a f16, bf16   denormals of A, B and C are 0; groups of 4 terms (2 without _1k) are summed in f32 as
 *                   (p0 + p1) + (p2 + p3), the group is added to the sum, and each result that is denormal becomes 0.
 *                   (AMD documents this flushing for MI200 in MIOpen's manual.)
 *   gfx942 f16, bf16, xf32, fp8, bf8   groups of up to 8 terms (xf32 4, 8-bit floats 16) and the sum are aligned to
 *                   the largest exponent, cut, added, and rounded to f32 once; denormals count. xf32 drops the lower 13
 *                   bits of A and B first. Chosen: a term that is zero has no exponent.
 *   smfmac          chosen: as the dense instruction of its type, over the stored terms in order
 *   WMMA, SWMMAC    chosen: exact products, a chain of fused multiply-adds in f32 in order of k, denormals kept; f16
 *                   and bf16 sums are rounded to 16 bits once, at the end
 *   integers        exact, modulo 2^32, or saturated with clamp */
#ifndef GFXSIM_MATRIX_H
#define GFXSIM_MATRIX_H

#include "gfxsim/gfxsim.h"

enum sim_element {
    SIM_EL_F64,
    SIM_EL_F32,
    SIM_EL_XF32,
    SIM_EL_F16,
    SIM_EL_BF16,
    SIM_EL_FP8_FNUZ, /* gfx942: 4 exponent bits with bias 8, 0x80 is NaN, no infinities */
    SIM_EL_BF8_FNUZ, /* 5 exponent bits with bias 16 */
    SIM_EL_FP8,      /* gfx12, OCP: bias 7, 0x7f and 0xff are NaN, no infinities */
    SIM_EL_BF8,      /* bias 15, infinities and NaN as IEEE */
    SIM_EL_I32,
    SIM_EL_I8,
    SIM_EL_IU8, /* signed where neg_lo says so */
    SIM_EL_IU4
};
enum sim_matrix_layout { SIM_MFMA, SIM_SMFMAC, SIM_WMMA11, SIM_WMMA12, SIM_SWMMAC };
enum sim_matrix_sum { SIM_SUM_CHAIN, SIM_SUM_PAIRS, SIM_SUM_FUSED, SIM_SUM_FUSED8, SIM_SUM_INT };

struct sim_matrix {
    u8 layout;  /* enum sim_matrix_layout */
    u8 m, n, k; /* k before sparsity */
    u8 blocks;
    u8 a, b, d;    /* enum sim_element; c is d */
    u8 sum, group; /* enum sim_matrix_sum; terms in a group */
};

enum { SIM_TILE_AB = 1024, SIM_TILE_C = 2048 }; /* most elements of A or B, of C */

/* The stored terms of a row of A: how many, and which row of B each is multiplied with, rows of A after one another;
 * NULL when term p is multiplied with row p. */
struct sim_terms {
    unsigned n;
    const u8 *where;
};
/* One block: c[i][j] += sum of a[i][p] * b[where[i][p]][j] over the stored terms, in order. a is m x terms, b k x n, c
 * m x n. */
void sim_matrix_sum(const struct sim_matrix *x, struct sim_terms terms, const float *a, const float *b, float *c);
void sim_matrix_sum64(const struct sim_matrix *x, const double *a, const double *b, double *c);
void sim_matrix_sum_int(const struct sim_matrix *x, struct sim_terms terms, const i32 *a, const i32 *b, bool clamp,
                        i32 *c);

/* The value of the code of an element of up to 16 bits. */
float sim_element_value(enum sim_element type, u32 code);
void sim_half_values(unsigned n, const u32 *codes, float *values); /* of f16 */
u32 sim_f16_bits(float x);                                         /* to nearest even */
u32 sim_bf16_bits(float x);

sim_run sim_run_dot2_float, sim_run_dot2_half, sim_run_dot_int, sim_run_dot4_float;
/* The detail of a dot product. */
struct sim_dot {
    u8 bits;        /* of an integer element */
    bool is_signed; /* the elements, and the sum */
    bool by_neg;    /* the sum is signed, elements are where neg_lo says so */
    bool sums;      /* adds to the destination */
    u8 a, b;        /* of floats: enum sim_element */
};

#endif
