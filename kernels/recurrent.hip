/* Recurrent cells and their gradients: an element of the state a thread. */
#include "dtype.h"
#include "functions.h"
#include "layout.h"
#include "sigmoid.h"

#include "recurrent.h"

/* The row of element i. */
GPU_FN i64 row_of(u64 i, const struct gpu_recurrent &p) {
    return p.narrow ? (i64)gpu_divide((u32)i, p.by_size) : (i64)i / p.size;
}

/* Gate k of `gates` of the element at column `column` of a row. */
GPU_FN i64 at(i64 row, i64 column, i64 gates, i64 k, const struct gpu_recurrent &p) {
    return (row * gates + k) * p.size + column;
}

/* An operand that may be left out, which is then 0. */
template <typename T> GPU_FN typename gpu_compute<T>::type given(const void *in, i64 i) {
    return in ? gpu_up(((const T *)in)[i]) : (typename gpu_compute<T>::type)0;
}

/* Derivatives by the functions' results. */
template <typename C> GPU_FN C slope_of_sigmoid(C s) { return s * (1 - s); }
template <typename C> GPU_FN C slope_of_tanh(C t) { return (1 - t) * (1 + t); }

template <typename T> struct gpu_rnn_cell {
    GPU_FN void step(u64 i, const struct gpu_recurrent &p) {
        typedef typename gpu_compute<T>::type C;
        C a = gpu_up(((const T *)p.in[0])[i]) + gpu_up(((const T *)p.in[1])[i]);
        ((T *)p.out[0])[i] = gpu_round<T>(p.relu ? (a < 0 ? (C)0 : a) : gpu_hyperbolic_tangent(a));
    }
};

template <typename T> struct gpu_lstm_cell {
    GPU_FN void step(u64 i, const struct gpu_recurrent &p) {
        typedef typename gpu_compute<T>::type C;
        i64 row = row_of(i, p), column = (i64)i - row * p.size;
        C a[4];
        GPU_UNROLL for (int k = 0; k < 4; k++) {
            i64 j = at(row, column, 4, k, p);
            a[k] = gpu_up(((const T *)p.in[0])[j]) + gpu_up(((const T *)p.in[1])[j]);
        }
        C in = gpu_sigmoid(a[0]), forget = gpu_sigmoid(a[1]), g = gpu_hyperbolic_tangent(a[2]), o = gpu_sigmoid(a[3]);
        C c = forget * ((const C *)p.in[2])[i] + in * g;
        ((T *)p.out[0])[i] = gpu_round<T>(o * gpu_hyperbolic_tangent(c));
        ((C *)p.out[1])[i] = c;
        if (!p.out[2]) return;
        C *gates = (C *)p.out[2];
        gates[at(row, column, 4, 0, p)] = in;
        gates[at(row, column, 4, 1, p)] = forget;
        gates[at(row, column, 4, 2, p)] = g;
        gates[at(row, column, 4, 3, p)] = o;
    }
};

template <typename T> struct gpu_gru_cell {
    GPU_FN void step(u64 i, const struct gpu_recurrent &p) {
        typedef typename gpu_compute<T>::type C;
        i64 row = row_of(i, p), column = (i64)i - row * p.size;
        C x[3], y[3], h = gpu_up(((const T *)p.in[2])[i]);
        GPU_UNROLL for (int k = 0; k < 3; k++) {
            i64 j = at(row, column, 3, k, p);
            x[k] = gpu_up(((const T *)p.in[0])[j]);
            y[k] = gpu_up(((const T *)p.in[1])[j]);
        }
        C r = gpu_sigmoid(x[0] + y[0]), z = gpu_sigmoid(x[1] + y[1]), n = gpu_hyperbolic_tangent(x[2] + r * y[2]);
        ((T *)p.out[0])[i] = gpu_round<T>((1 - z) * n + z * h);
        if (!p.out[1]) return;
        C *gates = (C *)p.out[1];
        gates[at(row, column, 4, 0, p)] = r;
        gates[at(row, column, 4, 1, p)] = z;
        gates[at(row, column, 4, 2, p)] = n;
        gates[at(row, column, 4, 3, p)] = y[2];
    }
};

template <typename T> struct gpu_rnn_cell_backward {
    GPU_FN void step(u64 i, const struct gpu_recurrent &p) {
        typedef typename gpu_compute<T>::type C;
        C d = gpu_up(((const T *)p.in[0])[i]) + given<T>(p.in[1], (i64)i), y = gpu_up(((const T *)p.in[2])[i]);
        ((T *)p.out[0])[i] = gpu_round<T>(p.relu ? (y <= 0 ? (C)0 : d) : d * slope_of_tanh(y));
    }
};

template <typename T> struct gpu_lstm_cell_backward {
    GPU_FN void step(u64 i, const struct gpu_recurrent &p) {
        typedef typename gpu_compute<T>::type C;
        i64 row = row_of(i, p), column = (i64)i - row * p.size, e = (i64)i;
        const C *gates = (const C *)p.in[3];
        T *out = (T *)p.out[0];
        C d = gpu_up(((const T *)p.in[0])[e]) + given<T>(p.in[1], e);
        C in = gates[at(row, column, 4, 0, p)], forget = gates[at(row, column, 4, 1, p)];
        C g = gates[at(row, column, 4, 2, p)], o = gates[at(row, column, 4, 3, p)];
        C t = gpu_hyperbolic_tangent(((const C *)p.in[5])[e]), of_c = given<C>(p.in[2], e) + d * o * slope_of_tanh(t);
        out[at(row, column, 4, 0, p)] = gpu_round<T>(of_c * g * slope_of_sigmoid(in));
        out[at(row, column, 4, 1, p)] = gpu_round<T>(of_c * ((const C *)p.in[4])[e] * slope_of_sigmoid(forget));
        out[at(row, column, 4, 2, p)] = gpu_round<T>(of_c * in * slope_of_tanh(g));
        out[at(row, column, 4, 3, p)] = gpu_round<T>(d * t * slope_of_sigmoid(o));
        ((C *)p.out[1])[e] = of_c * forget;
    }
};

template <typename T> struct gpu_gru_cell_backward {
    GPU_FN void step(u64 i, const struct gpu_recurrent &p) {
        typedef typename gpu_compute<T>::type C;
        i64 row = row_of(i, p), column = (i64)i - row * p.size, e = (i64)i;
        const C *gates = (const C *)p.in[3];
        T *input = (T *)p.out[0], *hidden = (T *)p.out[1];
        C d = gpu_up(((const T *)p.in[0])[e]) + given<T>(p.in[1], e) + given<C>(p.in[2], e);
        C r = gates[at(row, column, 4, 0, p)], z = gates[at(row, column, 4, 1, p)];
        C n = gates[at(row, column, 4, 2, p)], part = gates[at(row, column, 4, 3, p)];
        C of_n = d * (1 - z) * slope_of_tanh(n), of_z = d * (gpu_up(((const T *)p.in[4])[e]) - n) * slope_of_sigmoid(z);
        C of_r = of_n * part * slope_of_sigmoid(r);
        input[at(row, column, 3, 0, p)] = hidden[at(row, column, 3, 0, p)] = gpu_round<T>(of_r);
        input[at(row, column, 3, 1, p)] = hidden[at(row, column, 3, 1, p)] = gpu_round<T>(of_z);
        input[at(row, column, 3, 2, p)] = gpu_round<T>(of_n);
        hidden[at(row, column, 3, 2, p)] = gpu_round<T>(of_n * r);
        ((C *)p.out[2])[e] = d * z;
    }
};

#define CELL(name, T)                                                                                                  \
    GPU_KERNEL(name##_##T, struct gpu_recurrent) {                                                                     \
        GPU_NO_UNROLL for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) gpu_##name<T>::step(i, p);       \
    }
#define CELLS(T)                                                                                                       \
    CELL(rnn_cell, T)                                                                                                  \
    CELL(lstm_cell, T)                                                                                                 \
    CELL(gru_cell, T)                                                                                                  \
    CELL(rnn_cell_backward, T)                                                                                         \
    CELL(lstm_cell_backward, T)                                                                                        \
    CELL(gru_cell_backward, T)
GPU_FLOATS(CELLS)
