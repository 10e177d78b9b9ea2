/* The arithmetic of recurrent cells and their gradients, of one element of the state. C is f32, f64 for f64. */
#ifndef WICK_KERNELS_RECURRENT_CELLS_H
#define WICK_KERNELS_RECURRENT_CELLS_H

#include "functions.h"
#include "sigmoid.h"

template <typename C> GPU_FN C cell_rnn(C a, bool relu) {
    return relu ? (a < 0 ? (C)0 : a) : gpu_hyperbolic_tangent(a);
}

/* gate: i, f, g and o of an LSTM, whose new c is `c`; r, z, n and the hidden part of n of a GRU. */
template <typename C> struct cell_made {
    C gate[4], c, h;
};

/* a: the sums of i f g o. */
template <typename C> GPU_FN cell_made<C> cell_lstm(const C (&a)[4], C c) {
    cell_made<C> m;
    m.gate[0] = gpu_sigmoid(a[0]);
    m.gate[1] = gpu_sigmoid(a[1]);
    m.gate[2] = gpu_hyperbolic_tangent(a[2]);
    m.gate[3] = gpu_sigmoid(a[3]);
    m.c = m.gate[1] * c + m.gate[0] * m.gate[2];
    m.h = m.gate[3] * gpu_hyperbolic_tangent(m.c);
    return m;
}

/* x: of the input, y: of the state, r z n. */
template <typename C> GPU_FN cell_made<C> cell_gru(const C (&x)[3], const C (&y)[3], C h) {
    cell_made<C> m;
    C r = gpu_sigmoid(x[0] + y[0]), z = gpu_sigmoid(x[1] + y[1]), n = gpu_hyperbolic_tangent(x[2] + r * y[2]);
    m.gate[0] = r;
    m.gate[1] = z;
    m.gate[2] = n;
    m.gate[3] = y[2];
    m.c = 0;
    m.h = (1 - z) * n + z * h;
    return m;
}

/* ---- gradients ---- */

/* Derivatives by the functions' results. */
template <typename C> GPU_FN C slope_of_sigmoid(C s) { return s * (1 - s); }
template <typename C> GPU_FN C slope_of_tanh(C t) { return (1 - t) * (1 + t); }

template <typename C> GPU_FN C cell_rnn_backward(C d, C y, bool relu) {
    return relu ? (y <= 0 ? (C)0 : d) : d * slope_of_tanh(y);
}

/* The gradients of the input's gates, of the hidden part of a GRU's n, and what the step before takes along. */
template <typename C> struct cell_slopes {
    C gate[4], part, carry;
};

/* before, c: the cell's c before and behind the step. */
template <typename C> GPU_FN cell_slopes<C> cell_lstm_backward(C d, C carry, const C (&gate)[4], C before, C c) {
    cell_slopes<C> s;
    C in = gate[0], forget = gate[1], g = gate[2], o = gate[3];
    C t = gpu_hyperbolic_tangent(c), of_c = carry + d * o * slope_of_tanh(t);
    s.gate[0] = of_c * g * slope_of_sigmoid(in);
    s.gate[1] = of_c * before * slope_of_sigmoid(forget);
    s.gate[2] = of_c * in * slope_of_tanh(g);
    s.gate[3] = d * t * slope_of_sigmoid(o);
    s.part = 0;
    s.carry = of_c * forget;
    return s;
}

template <typename C> GPU_FN cell_slopes<C> cell_gru_backward(C d, const C (&gate)[4], C h) {
    cell_slopes<C> s;
    C r = gate[0], z = gate[1], n = gate[2], part = gate[3];
    C of_n = d * (1 - z) * slope_of_tanh(n);
    s.gate[0] = of_n * part * slope_of_sigmoid(r);
    s.gate[1] = d * (h - n) * slope_of_sigmoid(z);
    s.gate[2] = of_n;
    s.gate[3] = 0;
    s.part = of_n * r;
    s.carry = d * z;
    return s;
}

#endif
