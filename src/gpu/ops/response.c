/* Local response norm and its gradient by a vendor's library: of our own there are no kernels, but the ops that
 * src/ops/response.c makes it of. */
#include "gpu/routes/layer.h"

wick__kernel_fn wick__gpu_composed_response;
/* WICK_UNSUPPORTED, recorded nowhere, where no library runs it. */
enum wick_status wick__gpu_composed_response(const struct wick__call *call) {
    const bool backward = call->op == WICK_OP_local_response_norm_backward;
    const struct wick_tensor *x = call->in[backward];
    struct wick__dnn_layer layer = {.kind = backward ? WICK__LAYER_RESPONSE_BACKWARD : WICK__LAYER_RESPONSE,
                                    .dtype = x->dtype,
                                    .size = {x->layout.shape[0], x->layout.shape[1], 1, 1},
                                    .kernel = {call->p.response.size},
                                    .response = {call->p.response.alpha, call->p.response.beta, call->p.response.k},
                                    .in = {wick__data(call->in[0])},
                                    .out = {wick__data(call->out[0])}};
    if (backward) layer.in[1] = wick__data(x);
    for (int d = 2; d < x->layout.rank; d++) layer.size[3] *= x->layout.shape[d];
    bool done;
    WICK__TRY(wick__layer_run(wick__gpu_of(x), &layer, &done));
    return done ? WICK_OK : WICK_UNSUPPORTED;
}
