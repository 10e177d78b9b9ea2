/* One wave with registers but no launch, and an instruction run on it. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "gfxsim/bits.h"
#include "gfxsim/gfxsim.h"
#include "tests/test.h"

enum { REGISTERS = 512, AGPRS = 256 }; /* rows; the AGPRs start at 256 */

struct fixture {
    struct sim_wave wave;
    u32 rows[REGISTERS][64];
    u64 defined[REGISTERS];
    struct sim_block block;
    struct sim_launch launch;
    struct sim_kernel kernel;
    struct sim_code code;
    jmp_buf failed;
};

/* All registers hold `fill` and are defined. */
static inline void fixture_start(struct fixture *f, enum sim_target target, u32 fill) {
    memset(f, 0, sizeof *f);
    f->code.target = target;
    f->kernel.name = "test";
    f->kernel.code = &f->code;
    f->launch.kernel = &f->kernel;
    f->launch.block[0] = sim_wave_size(target), f->launch.block[1] = f->launch.block[2] = 1;
    f->block.launch = &f->launch;
    memcpy(f->block.size, f->launch.block, sizeof f->block.size);
    f->block.failed = &f->failed;
    f->wave.v = f->rows;
    f->wave.v_defined = f->defined;
    f->wave.size = sim_wave_size(target);
    f->wave.lanes = f->wave.size == 64 ? ~(u64)0 : 0xffffffff;
    SIM_EXEC64(&f->wave) = f->wave.lanes;
    f->wave.n_v = REGISTERS;
    f->wave.n_arch = AGPRS;
    f->wave.block = &f->block;
    f->wave.code = &f->code;
    f->wave.target = target;
    for (unsigned n = 0; n < REGISTERS; n++) {
        f->defined[n] = ~(u64)0;
        for (unsigned l = 0; l < f->wave.size; l++) f->rows[n][l] = fill;
    }
}

/* Runs an instruction as LLVM prints it. False when it ended in a finding. */
static inline bool fixture_run(struct fixture *f, const char *text) {
    char why[256];
    struct sim_inst *inst = sim_parse(f->wave.target, text, 0, 8, why);
    bool good = false;
    if (!inst) {
        test_result(false, text, 0, why);
        printf("\n");
        return false;
    }
    f->wave.inst = inst;
    if (!setjmp(f->failed)) {
        inst->run(&f->wave, inst);
        good = true;
    }
    f->wave.inst = NULL;
    sim_inst_free(inst);
    return good;
}

static inline u32 random_u32(u64 *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (u32)(*state >> 33 ^ *state >> 20);
}

#endif
