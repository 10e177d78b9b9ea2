/* Recurrent layers: RNN, LSTM and GRU, for inference and training.
 *
 * Letters: T steps, N sequences, I inputs of a step, H the hidden size, L layers, D directions (1 or 2), P the size of
 * a state h: H, or the projection of an LSTM. A mode has g gates, each with H rows of the weights, one after the other
 * in PyTorch's order:
 *
 *   RNN   g = 1   h' = tanh(a), or max(0, a), a = Wi x + bi + Wh h + bh
 *   LSTM  g = 4   i, f, g, o = sigmoid(ai), sigmoid(af), tanh(ag), sigmoid(ao); c' = f c + i g; h' = o tanh(c'), or
 *                 Wr (o tanh(c')) with a projection
 *   GRU   g = 3   r, z = sigmoid(ar), sigmoid(az); n = tanh(Wi x + bi + r (Wh h + bh)); h' = (1 - z) n + z h
 *
 * Floats. x, weights, h and the results have one dtype, in which h and the products Wi x + bi and Wh h + bh are
 * rounded. The c of an LSTM and what a gradient needs of the gates are f32, f64 for f64: c is a long sum, and a gate
 * near 1 would lose the digits of 1 - gate. */
#ifndef WICK_RECURRENT_H
#define WICK_RECURRENT_H

#include <wick/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

enum wick_recurrent_mode { WICK_RNN_TANH, WICK_RNN_RELU, WICK_LSTM, WICK_GRU };

/* ---- one step ---- the products are the caller's: input [N,gH] = Wi x + bi, hidden [N,gH] = Wh h + bh. WICK_SHAPE for
 * shapes that do not agree. */

/* tanh(input + hidden), or its positive part with `relu`: [N,H]. */
WICK_API struct wick_tensor *wick_rnn_cell(const struct wick_tensor *input, const struct wick_tensor *hidden,
                                           bool relu);
/* c [N,H] in f32 (f64 for f64) -> h' [N,H]. *next_c receives c' [N,H], and *gates, unless `gates` is NULL, i, f, g and
 * o as [N,4H]; both in the dtype of c, released like the result. A failure leaves them as they were. */
WICK_API struct wick_tensor *wick_lstm_cell(const struct wick_tensor *input, const struct wick_tensor *hidden,
                                            const struct wick_tensor *c, struct wick_tensor **next_c,
                                            struct wick_tensor **gates);
/* h [N,H] -> h' [N,H]. *gates, unless `gates` is NULL, receives r, z, n and the hidden part of n, before r, as [N,4H]
 * in f32 (f64 for f64), released like the result. A failure leaves it as it was. */
WICK_API struct wick_tensor *wick_gru_cell(const struct wick_tensor *input, const struct wick_tensor *hidden,
                                           const struct wick_tensor *h, struct wick_tensor **gates);

/* Their gradients. d = gradient + next is the gradient of h' [N,H]. */

/* What the step after this one hands back. `options` may be NULL, too. */
struct wick_cell_backward_options {
    const struct wick_tensor *next;  /* [N,H]: the part of d that comes from the next step's product; NULL: 0 */
    const struct wick_tensor *carry; /* [N,H], in the dtype of gates: of an LSTM the gradient of c', of a GRU added to
                                      * d; NULL: 0 */
    WICK_RESERVED;
};

/* The gradient of input, which is that of hidden: d (1 - result^2), or d where result > 0 with `relu`. `next` may be
 * NULL. */
WICK_API struct wick_tensor *wick_rnn_cell_backward(const struct wick_tensor *gradient, const struct wick_tensor *next,
                                                    const struct wick_tensor *result, bool relu);
/* The gradient of input, which is that of hidden, [N,4H]. gates, c and next_c are those of the step. *c_gradient
 * receives the gradient of c, in its dtype, released like the result. A failure leaves it as it was. */
WICK_API struct wick_tensor *wick_lstm_cell_backward(const struct wick_tensor *gradient,
                                                     const struct wick_tensor *gates, const struct wick_tensor *c,
                                                     const struct wick_tensor *next_c,
                                                     const struct wick_cell_backward_options *options,
                                                     struct wick_tensor **c_gradient);
/* The gradient of input [N,3H]. gates and h are those of the step. *hidden_gradient receives the gradient of hidden
 * [N,3H], and *carried that part of the gradient of h that does not go through hidden, d z, in the dtype of gates. They
 * are released like the result. A failure leaves them as they were. */
WICK_API struct wick_tensor *wick_gru_cell_backward(const struct wick_tensor *gradient, const struct wick_tensor *gates,
                                                    const struct wick_tensor *h,
                                                    const struct wick_cell_backward_options *options,
                                                    struct wick_tensor **hidden_gradient, struct wick_tensor **carried);

/* ---- layers over whole sequences ---- */

/* What the layers are. Zero: one layer, one direction, steps first, biases, no dropout, all sequences of T steps. */
struct wick_recurrent_options {
    enum wick_recurrent_mode mode;
    int64_t hidden;     /* H >= 1 */
    int64_t projection; /* of an LSTM: P, 1 <= P < H; 0: none */
    int layers;         /* L; 0: 1 */
    bool bidirectional; /* D = 2 */
    bool batch_first;   /* x is [N,T,I] and the result [N,T,DP] */
    bool no_bias;       /* there are no bi and bh */
    /* Between layers, 0 <= dropout < 1: an element is 0 with this probability, or else divided by 1 - dropout. The seed
     * and the position decide which. For training; 0 in inference. */
    double dropout;
    uint64_t seed;
    /* The steps of each sequence, 0 .. T, n_lengths = N of them in any order; NULL: T each. Elements of x behind the
     * end of a sequence have no effect, and the result is 0 there. The backward direction begins at the sequence's end.
     */
    const int64_t *lengths;
    int64_t n_lengths;
    const struct wick_tensor *h; /* the first states [LD,N,P], layer by layer, forward before backward; NULL: 0 */
    const struct wick_tensor *c; /* of an LSTM [LD,N,H], f32 (f64 for f64); NULL: 0 */
    /* If not NULL, they receive the last states, h' [LD,N,P] and c' [LD,N,H]; last_c of an LSTM alone. They are
     * released like the result. A failure leaves them as they were. */
    struct wick_tensor **last_h, **last_c;
    /* For training, a place for 3 tensors that the gradient needs: h' after each step [LD,S,P], the gates [LD,S,4H] of
     * LSTM and GRU, and c' [LD,S,H] of LSTM, where S is the sum of the lengths; NULL where the mode has none. They are
     * released like the result. NULL: inference. A failure leaves the place as it was. */
    struct wick_tensor **reserve;
    WICK_RESERVED;
};

/* x [T,N,I] -> the states h' of the last layer [T,N,DP], forward beside backward.
 *
 * weights are, layer by layer and forward before backward, in PyTorch's order: Wi [gH,I], of later layers [gH,DP]; Wh
 * [gH,P]; bi [gH] and bh [gH] unless no_bias; Wr [P,H] with a projection. n is their number.
 *
 * WICK_SHAPE for shapes that do not agree, WICK_INVALID for options that no layer has, WICK_RANGE for lengths outside
 * 0 .. T. */
WICK_API struct wick_tensor *wick_recurrent(const struct wick_tensor *x, int n, struct wick_tensor *const *weights,
                                            const struct wick_recurrent_options *options);

/* What goes into the gradient besides, and places for further gradients. */
struct wick_recurrent_backward_options {
    /* The gradients of the last states, as these; NULL: 0. */
    const struct wick_tensor *last_h, *last_c;
    /* If not NULL, they receive the gradients of the first states, and those of the n weights, as these. They are
     * released like the result. A failure leaves them as they were. */
    struct wick_tensor **h, **c, **weights;
    WICK_RESERVED;
};

/* The gradient of x, from that of the result, which may be NULL for 0. x, weights and options are those of the call
 * whose reserve this is; its last_h and last_c are not looked at. `places` may be NULL. Weight gradients are one
 * product over all steps. */
WICK_API struct wick_tensor *wick_recurrent_backward(const struct wick_tensor *x, const struct wick_tensor *gradient,
                                                     int n, struct wick_tensor *const *weights,
                                                     const struct wick_recurrent_options *options,
                                                     const struct wick_recurrent_backward_options *places);

/* ---- weights of others ---- */

/* Orders of gates. PyTorch, cuDNN: LSTM i f g o, GRU r z n; Keras and oneDNN have LSTM like them and GRU like MIOpen.
 * ONNX: i o f g, z r n. MIOpen: i f o g, z r n. */
enum wick_gate_order { WICK_GATES_PYTORCH, WICK_GATES_ONNX, WICK_GATES_MIOPEN };

/* A weight or bias [gH,...] of `mode` with its gates in another order. Any dtype of whole bytes.
 *
 * ONNX keeps W [D,gH,I], R [D,gH,H] and B [D,2gH]: select a direction, and take the halves of B as bi and bh. ONNX's
 * GRU with linear_before_reset = 0, its default, is another function, which no order of weights gives. cuDNN and MIOpen
 * keep all matrices, then all biases, in one buffer, in the order of wick_recurrent's weights. WICK_SHAPE unless g
 * divides the first dim, WICK_INVALID for values outside the enums. */
WICK_API struct wick_tensor *wick_gates_reorder(const struct wick_tensor *x, enum wick_recurrent_mode mode,
                                                enum wick_gate_order from, enum wick_gate_order to);

#ifdef __cplusplus
}
#endif
#endif
