/* Recurrent layers on families that have a kernel for all steps of a direction. */
#include "ops/recurrent.h"

#include "ops/record.h"
#include "recurrence.h"

bool wick__recurrent_is_whole(const struct wick__recurrent *r) {
    const struct wick_recurrent_options *o = r->options;
    if (!r->device->backend->kernels[WICK_OP_recurrent].run || o->lengths || o->projection) return false;
    if (wick__records() || wick__device_records(r->device)) return false; /* who sees calls wants cells */
    return r->rows > 0 && r->rows <= INT32_MAX;
}

/* Adds a result [rows,columns]. False when there is no memory for it. */
static bool add(struct wick__call *call, enum wick_dtype dtype, int64_t rows, int64_t columns) {
    return wick__call_out(call, dtype, 2, (int64_t[]){rows, columns});
}

static void set(const struct wick__recurrent *r, int ld, struct wick__call *call) {
    call->p.steps.mode = (int)r->options->mode;
    call->p.steps.steps = r->steps;
    call->p.steps.backwards = ld % r->directions == 1;
}

bool wick__recurrent_whole(const struct wick__recurrent *r, int ld, const struct wick__whole *in,
                           struct wick__whole *out) {
    const bool lstm = r->options->mode == WICK_LSTM, gates = r->saved && r->options->reserve;
    struct wick__call call = {.op = WICK_OP_recurrent, .n_in = WICK__STEPS_OPERANDS};
    call.in[WICK__STEPS_INPUT] = in->input;
    call.in[WICK__STEPS_WEIGHT] = wick__recurrent_weight(r, ld, WICK__OF_STATE);
    call.in[WICK__STEPS_BIAS] = wick__recurrent_weight(r, ld, WICK__BIAS_STATE);
    call.in[WICK__STEPS_H] = in->h;
    call.in[WICK__STEPS_C] = lstm ? in->c : NULL;
    set(r, ld, &call);
    if (!in->input || !in->h || (lstm && !in->c)) return false;
    if (!add(&call, r->dtype, r->rows, r->hidden) || (lstm && !add(&call, r->wide, r->rows, r->hidden)) ||
        (gates && !add(&call, r->wide, r->rows, 4 * r->hidden)))
        return false;
    if (!wick__call_run(&call)) return false;
    *out = (struct wick__whole){.h = call.out[0], .c = lstm ? call.out[1] : NULL};
    if (gates) out->gates = call.out[1 + lstm];
    return true;
}

bool wick__recurrent_whole_backward(const struct wick__recurrent *r, int ld, const struct wick__whole_backward *in,
                                    struct wick__whole_slopes *out) {
    const bool lstm = r->options->mode == WICK_LSTM, gru = r->options->mode == WICK_GRU;
    const int64_t columns = r->gates * r->hidden;
    struct wick_tensor *turned = wick_contiguous(wick_t(wick__recurrent_weight(r, ld, WICK__OF_STATE)));
    struct wick__call call = {.op = WICK_OP_recurrent_backward, .n_in = WICK__STEPS_BACKWARD_OPERANDS};
    call.in[WICK__STEPS_GRADIENT] = in->gradient;
    call.in[WICK__STEPS_TURNED] = turned;
    call.in[WICK__STEPS_GATES] = in->gates;
    call.in[WICK__STEPS_STATES] = gru ? in->h_before : lstm ? NULL : in->h;
    call.in[WICK__STEPS_C_BEFORE] = in->c_before;
    call.in[WICK__STEPS_C_BEHIND] = in->c;
    call.in[WICK__STEPS_LAST] = in->last;
    call.in[WICK__STEPS_CARRY] = in->carry;
    set(r, ld, &call);
    if (!turned || !in->last || !add(&call, r->dtype, r->rows, columns) ||
        (gru && !add(&call, r->dtype, r->rows, columns)) ||
        ((lstm || gru) && !add(&call, r->wide, r->batch, r->hidden)))
        return false;
    if (!wick__call_run(&call)) return false;
    wick__scope_drop(turned);
    out->input = call.out[0];
    out->hidden = call.out[gru];
    out->carry = lstm || gru ? call.out[1 + gru] : NULL;
    return true;
}
