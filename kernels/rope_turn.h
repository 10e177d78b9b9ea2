/* A pair of elements turned by an angle. */
#ifndef WICK_KERNELS_ROPE_TURN_H
#define WICK_KERNELS_ROPE_TURN_H

#include "dtype.h"

template <typename T> GPU_FN void rope_turn(T *a, T *b, T cosine, T sine) {
    typedef typename gpu_compute<T>::type C;
    C x = gpu_up(*a), y = gpu_up(*b), c = gpu_up(cosine), s = gpu_up(sine);
    *a = gpu_round<T>(x * c - y * s);
    *b = gpu_round<T>(x * s + y * c);
}

#endif
