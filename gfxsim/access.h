/* What the memory instructions share: the lanes of an access, what is moved, and the checks of each kind of memory. */
#ifndef GFXSIM_ACCESS_H
#define GFXSIM_ACCESS_H

#include "gfxsim/gfxsim.h"

enum sim_space { SIM_GLOBAL, SIM_LDS, SIM_SCRATCH };

/* The lanes of an access that reach one kind of memory, packed. */
struct sim_places {
    u8 space; /* enum sim_space */
    unsigned n;
    u64 mask;
    u8 lane[64];
    u64 at[64]; /* device address; byte of the block's LDS; byte of the lane's scratch */
};

/* What a store or an atomic puts into memory: up to four rows, from a bit of them on. */
struct sim_data {
    const u32 *row[4];
    u64 undefined[4]; /* lanes of a row that were never written */
    unsigned n, shift;
};

/* Kinds of access beyond enum sim_access: a load or store that is atomic or volatile, and a compare-and-swap. */
enum { SIM_COHERENT = 8, SIM_EXCHANGE = 16 };

/* What an instruction of a table moves and does. */
struct sim_form {
    u8 nbytes;
    u8 half;        /* of the register: 0: all of it; 1, 2: the lower, upper half. The other stays, on gfx9 it gets 0 */
    bool is_signed; /* extends its sign */
    u8 atomic;      /* enum sim_atomic */
};
enum sim_atomic {
    SIM_NOT_ATOMIC,
    SIM_SWAP,
    SIM_CMPSWAP,  /* data: the new value, then what it is compared with */
    SIM_CMPST,    /* the same, in the other order */
    SIM_FCMPSWAP, /* as CMPSWAP and CMPST, comparing floats */
    SIM_FCMPST,
    SIM_ADD,
    SIM_SUB,
    SIM_RSUB,
    SIM_CSUB,     /* subtracts what is there to subtract: stops at 0 */
    SIM_COND_SUB, /* subtracts when the result is not negative */
    SIM_SMIN,
    SIM_UMIN,
    SIM_SMAX,
    SIM_UMAX,
    SIM_AND,
    SIM_OR,
    SIM_XOR,
    SIM_MSKOR,
    SIM_INC,
    SIM_DEC,
    SIM_WRAP,
    SIM_CONDXCHG,
    SIM_FADD,
    SIM_FMIN,
    SIM_FMAX,
    SIM_FMIN_NUM, /* as IEEE 754-2019: a number rather than a NaN, -0 below 0 */
    SIM_FMAX_NUM,
    SIM_PK_ADD_F16,
    SIM_PK_ADD_BF16
};

/* The lanes in EXEC, with no addresses yet. */
void sim_places_take(const struct sim_wave *wave, struct sim_places *lanes);
/* Checks an access of each lane, counts it, and marks what it writes as written. */
void sim_check_global(struct sim_wave *wave, const struct sim_places *lanes, unsigned nbytes, int access,
                      const struct sim_data *data);
void sim_check_lds(struct sim_wave *wave, const struct sim_places *lanes, unsigned nbytes, int access,
                   const struct sim_data *data);
/* undefined[r] gets the lanes for which not all of register r was ever written. */
void sim_check_scratch(struct sim_wave *wave, const struct sim_places *lanes, unsigned nbytes, int access,
                       const struct sim_data *data, u64 undefined[4]);

/* The rows of an operand, and which lanes of EXEC are undefined in them. */
void sim_data_of(struct sim_wave *wave, const struct sim_operand *operand, unsigned nbytes, u32 space[][64],
                 struct sim_data *data);
/* The row of an address; undefined lanes of EXEC are a finding. */
const u32 *sim_address_row(struct sim_wave *wave, const struct sim_operand *operand, unsigned n, u32 space[64]);
/* The same of one or two scalar registers. */
u64 sim_scalar_address(struct sim_wave *wave, const struct sim_operand *operand);
/* The lanes of a buffer instruction with their addresses. Those beyond the records are in `beyond`: they read 0, and
 * write nothing. */
void sim_buffer_addresses(struct sim_wave *wave, const struct sim_inst *inst, unsigned nbytes, struct sim_places *lanes,
                          u64 *beyond);

/* Checks and moves. Operands are read before this is called, so that a destination may be an address too; `first` is
 * the number of the destination's first register. */
void sim_load_lanes(struct sim_wave *wave, const struct sim_places *lanes, const struct sim_form *form,
                    const struct sim_operand *dst, unsigned first, int access);
/* The same of lanes that read nothing, and so 0. */
void sim_load_zeros(struct sim_wave *wave, u64 lanes, const struct sim_form *form, const struct sim_operand *dst,
                    unsigned first);
void sim_store_lanes(struct sim_wave *wave, const struct sim_places *lanes, const struct sim_form *form,
                     const struct sim_data *data, int access);
/* dst NULL: does not return the old values. */
void sim_atomic_lanes(struct sim_wave *wave, const struct sim_places *lanes, const struct sim_form *form,
                      const struct sim_data *data, const struct sim_operand *dst);

#endif
