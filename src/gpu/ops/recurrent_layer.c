/* A direction of a recurrent layer by one launch for all steps, whose blocks keep the weight in LDS. */
#include "gpu/ops/recurrent_layer.h"

#include "core/checked.h"
#include "gpu/runtime/target.h"
#include "kernels/recurrent_layer.h"

#include <wick/recurrent.h>

enum { COLUMNS = 4, MOST_SIZE = 1 << 14 };

/* A layer, and how its blocks share the work. */
struct plan {
    int64_t rows, terms, columns, tasks; /* N; K; of a task; of a group */
    int64_t element;                     /* bytes */
    int64_t taken, groups, blocks, each; /* rows at a time; blocks of a group, and tasks of one */
    int64_t chunks, turns;               /* as the kernels have them */
    size_t shared;
    double cost; /* of a step, about, in us */
};

/* Measured on an H200 (bench/NOTES.md), in us: what a step takes in any case, words that all blocks and that one reads,
 * instructions of all waves of a unit, and of one wave alone. */
static const double EACH = 1.155, PER_MEGABYTE = 0.06, PER_TURN = 0.115, ISSUED = 1.79, ALONE = 0.864;

/* From so many on, products and cells are faster; those of 16 bits whose rows are no whole pieces are slow. */
static double dear(const struct wick__steps *sizes) {
    const int64_t element = (int64_t)wick__size(sizes->dtype);
    if (element > 2) return 20;
    return sizes->size * element % 16 ? 25 : sizes->backward ? 21 : 12;
}

/* What a step takes when `taken` rows go at a time, and blocks are in `groups`. False where the weight does not fit. */
static bool weigh(const struct wick__gpu *gpu, struct plan *p, int64_t taken, int64_t groups) {
    const int64_t wave = gpu->properties.wave, waves = GPU_LAYER_THREADS / wave, piece = 16 / p->element;
    const int64_t room = wick__max((int64_t)wick__mma_shared(gpu), (int64_t)gpu->properties.shared);
    p->taken = taken;
    p->groups = groups;
    p->each = wick__div_up(p->tasks, wick__min(gpu->properties.units / groups, p->tasks));
    p->blocks = wick__div_up(p->tasks, p->each);
    p->chunks = wick__div_up(wick__div_up(p->rows, taken), groups);
    p->turns = wick__div_up(p->terms, piece * wave);
    const int64_t weight = p->each * p->columns * p->turns * wave * 16, values = taken * p->turns * wave * piece * 4;
    if (weight + values > room) return false;
    p->shared = (size_t)(weight + values);
    const double clocks = 1980, words = (double)(wick__min(taken, p->rows) * p->terms);
    const double dots = 1.3 * (double)(p->turns * piece * p->columns * taken), joins = taken == 1 ? 6 : 31;
    const double all = (double)p->each * (dots + 6 * joins + 150) / (4 * clocks);
    const double one = (double)wick__div_up(p->each, waves) * (dots + 12 * joins + 600) / clocks;
    p->cost = EACH + PER_MEGABYTE * (double)(p->blocks * groups) * words * 8e-6 + PER_TURN * words / GPU_LAYER_THREADS +
              ISSUED * all + ALONE * one;
    p->cost *= (double)p->chunks;
    return true;
}

/* The cheapest way. False where there is none, or it is dear. */
static bool choose(const struct wick__gpu *gpu, const struct wick__steps *sizes, struct plan *best) {
    const int64_t gates = wick__recurrent_gates((enum wick_recurrent_mode)sizes->mode);
    const bool each = sizes->backward || gates == 1; /* a task is four elements, not the gates of one */
    const struct plan plan = {.rows = sizes->rows,
                              .terms = sizes->backward ? gates * sizes->size : sizes->size,
                              .columns = each ? COLUMNS : gates,
                              .tasks = each ? wick__div_up(sizes->size, COLUMNS) : sizes->size,
                              .element = (int64_t)wick__size(sizes->dtype)};
    *best = plan;
    best->cost = dear(sizes);
    if (!gpu->properties.together || wick__gpu_records(gpu)) return false;
    if (sizes->dtype != WICK_F32 && sizes->dtype != WICK_F16 && sizes->dtype != WICK_BF16) return false;
    if (sizes->steps < 2 || sizes->rows == 0 || sizes->size == 0 || sizes->size > MOST_SIZE) return false;
    for (int64_t taken = 1; taken <= GPU_LAYER_ROWS; taken += GPU_LAYER_ROWS - 1) {
        const int64_t most = wick__min(wick__div_up(sizes->rows, taken), gpu->properties.units);
        for (int64_t groups = 1; groups <= most; groups++) {
            struct plan p = plan;
            if (weigh(gpu, &p, taken, groups) && p.cost < best->cost) *best = p;
        }
    }
    return best->cost < dear(sizes);
}

static enum wick__gpu_kernel kernel_of(enum wick_recurrent_mode mode, bool backward, int64_t taken,
                                       enum wick_dtype dtype) {
    enum wick__gpu_kernel first = WICK__GPU_K_rnn_layer_1_bf16;
    if (mode == WICK_LSTM) first = WICK__GPU_K_lstm_layer_1_bf16;
    if (mode == WICK_GRU) first = WICK__GPU_K_gru_layer_1_bf16;
    if (backward) first += WICK__GPU_K_rnn_layer_backward_1_bf16 - WICK__GPU_K_rnn_layer_1_bf16;
    if (taken != 1) first += WICK__GPU_K_rnn_layer_8_bf16 - WICK__GPU_K_rnn_layer_1_bf16;
    return wick__gpu_of_floats(first, dtype);
}

static void *data_of(const struct wick_tensor *x) { return x ? wick__data(x) : NULL; }

static enum wick_status clear(struct wick__gpu *gpu, const struct gpu_layer_way *way, int64_t terms) {
    struct gpu_layer_clear p = {way->words, 2 * (int64_t)way->rows * terms};
    struct wick__launch launch = {.kernel = WICK__GPU_K_layer_clear, .grid = {wick__gpu_blocks(gpu, p.count, 1)}};
    return wick__gpu_launch(gpu, &launch, &p);
}

static enum wick_status launch(const struct wick__call *call, enum wick_recurrent_mode mode, const struct plan *p,
                               const struct gpu_layer_way *way) {
    const bool backward = call->op == WICK_OP_recurrent_backward, lstm = mode == WICK_LSTM, gru = mode == WICK_GRU;
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    const struct wick_tensor *const *in = call->in;
    struct wick_tensor *const *out = call->out;
    struct wick__launch launch = {.kernel = kernel_of(mode, backward, p->taken, out[0]->dtype),
                                  .grid = {(unsigned)p->blocks, (unsigned)p->groups},
                                  .threads = GPU_LAYER_THREADS,
                                  .shared = (unsigned)p->shared,
                                  .most = wick__mma_shared(gpu),
                                  .together = true};
    if (!backward) {
        struct gpu_recurrent_layer params = {.way = *way,
                                             .input = data_of(in[WICK__STEPS_INPUT]),
                                             .weight = data_of(in[WICK__STEPS_WEIGHT]),
                                             .bias = data_of(in[WICK__STEPS_BIAS]),
                                             .h = data_of(in[WICK__STEPS_H]),
                                             .c = data_of(in[WICK__STEPS_C]),
                                             .out = data_of(out[0]),
                                             .next_c = lstm ? data_of(out[1]) : NULL,
                                             .gates = call->n_out > 1 + lstm ? data_of(out[1 + lstm]) : NULL};
        return wick__gpu_launch(gpu, &launch, &params);
    }
    struct gpu_recurrent_layer_backward params = {.way = *way,
                                                  .gradient = data_of(in[WICK__STEPS_GRADIENT]),
                                                  .weight = data_of(in[WICK__STEPS_TURNED]),
                                                  .last = data_of(in[WICK__STEPS_LAST]),
                                                  .gates = data_of(in[WICK__STEPS_GATES]),
                                                  .state = data_of(in[WICK__STEPS_STATES]),
                                                  .c = data_of(in[WICK__STEPS_C_BEFORE]),
                                                  .next_c = data_of(in[WICK__STEPS_C_BEHIND]),
                                                  .carry = data_of(in[WICK__STEPS_CARRY]),
                                                  .of_input = data_of(out[0]),
                                                  .of_hidden = gru ? data_of(out[1]) : NULL,
                                                  .of_carry = lstm || gru ? data_of(out[1 + gru]) : NULL};
    return wick__gpu_launch(gpu, &launch, &params);
}

enum wick_status wick__gpu_recurrent_layer(const struct wick__call *call, const struct wick__steps *sizes) {
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    struct plan p;
    if (!choose(gpu, sizes, &p)) return WICK_UNSUPPORTED;
    struct gpu_layer_way way = {.steps = (u32)sizes->steps,
                                .rows = (u32)p.rows,
                                .size = (u32)sizes->size,
                                .tasks = (u32)p.each,
                                .chunks = (u32)p.chunks,
                                .turns = (u32)p.turns,
                                .backwards = call->p.steps.backwards != sizes->backward,
                                .relu = sizes->mode == WICK_RNN_RELU};
    const size_t nbytes = (size_t)(2 * p.rows * p.terms) * sizeof *way.words;
    void *words = NULL;
    wick__gpu_divisor(&way.by_column, (uint32_t)p.terms);
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &words));
    way.words = words;
    enum wick_status status = clear(gpu, &way, p.terms);
    if (status == WICK_OK) status = launch(call, (enum wick_recurrent_mode)sizes->mode, &p, &way);
    wick__gpu_release(gpu, words, nbytes);
    return status;
}
