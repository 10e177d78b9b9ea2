/* Recurrent cells and their gradients: an element of the state a thread. */
#include "dtype.h"
#include "layout.h"
#include "recurrent_cells.h"

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

/* What a gradient wants of a step; nothing where `gates` is NULL. */
template <typename C>
GPU_FN void put_gates(void *gates, i64 row, i64 column, const struct gpu_recurrent &p, const C (&gate)[4]) {
    if (!gates) return;
    GPU_UNROLL for (int k = 0; k < 4; k++) ((C *)gates)[at(row, column, 4, k, p)] = gate[k];
}
template <typename C>
GPU_FN void get_gates(const C *gates, i64 row, i64 column, const struct gpu_recurrent &p, C (&gate)[4]) {
    GPU_UNROLL for (int k = 0; k < 4; k++) gate[k] = gates[at(row, column, 4, k, p)];
}

template <typename T> struct gpu_rnn_cell {
    GPU_FN void step(u64 i, const struct gpu_recurrent &p) {
        typedef typename gpu_compute<T>::type C;
        C a = gpu_up(((const T *)p.in[0])[i]) + gpu_up(((const T *)p.in[1])[i]);
        ((T *)p.out[0])[i] = gpu_round<T>(cell_rnn(a, p.relu));
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
        cell_made<C> made = cell_lstm(a, ((const C *)p.in[2])[i]);
        ((T *)p.out[0])[i] = gpu_round<T>(made.h);
        ((C *)p.out[1])[i] = made.c;
        put_gates(p.out[2], row, column, p, made.gate);
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
        cell_made<C> made = cell_gru(x, y, h);
        ((T *)p.out[0])[i] = gpu_round<T>(made.h);
        put_gates(p.out[1], row, column, p, made.gate);
    }
};

template <typename T> struct gpu_rnn_cell_backward {
    GPU_FN void step(u64 i, const struct gpu_recurrent &p) {
        typedef typename gpu_compute<T>::type C;
        C d = gpu_up(((const T *)p.in[0])[i]) + given<T>(p.in[1], (i64)i), y = gpu_up(((const T *)p.in[2])[i]);
        ((T *)p.out[0])[i] = gpu_round<T>(cell_rnn_backward(d, y, p.relu));
    }
};

template <typename T> struct gpu_lstm_cell_backward {
    GPU_FN void step(u64 i, const struct gpu_recurrent &p) {
        typedef typename gpu_compute<T>::type C;
        i64 row = row_of(i, p), column = (i64)i - row * p.size, e = (i64)i;
        const C *gates = (const C *)p.in[3];
        T *out = (T *)p.out[0];
        C d = gpu_up(((const T *)p.in[0])[e]) + given<T>(p.in[1], e);
        C gate[4];
        get_gates(gates, row, column, p, gate);
        cell_slopes<C> s = cell_lstm_backward(d, given<C>(p.in[2], e), gate, ((const C *)p.in[4])[e],
                                              ((const C *)p.in[5])[e]);
        GPU_UNROLL for (int k = 0; k < 4; k++) out[at(row, column, 4, k, p)] = gpu_round<T>(s.gate[k]);
        ((C *)p.out[1])[e] = s.carry;
    }
};

template <typename T> struct gpu_gru_cell_backward {
    GPU_FN void step(u64 i, const struct gpu_recurrent &p) {
        typedef typename gpu_compute<T>::type C;
        i64 row = row_of(i, p), column = (i64)i - row * p.size, e = (i64)i;
        const C *gates = (const C *)p.in[3];
        T *input = (T *)p.out[0], *hidden = (T *)p.out[1];
        C d = gpu_up(((const T *)p.in[0])[e]) + given<T>(p.in[1], e) + given<C>(p.in[2], e);
        C gate[4];
        get_gates(gates, row, column, p, gate);
        cell_slopes<C> s = cell_gru_backward(d, gate, (C)gpu_up(((const T *)p.in[4])[e]));
        GPU_UNROLL for (int k = 0; k < 2; k++)
            input[at(row, column, 3, k, p)] = hidden[at(row, column, 3, k, p)] = gpu_round<T>(s.gate[k]);
        input[at(row, column, 3, 2, p)] = gpu_round<T>(s.gate[2]);
        hidden[at(row, column, 3, 2, p)] = gpu_round<T>(s.part);
        ((C *)p.out[2])[e] = s.carry;
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
