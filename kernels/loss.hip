/* Losses of elements and their gradients, an element a thread at a time. */
#include "dtype.h"
#include "sigmoid.h"

#include "loss.h"

/* An element: x, its target and their weights. */
template <typename C> struct loss_element {
    C x, target, weight, positive;
};
/* The derivatives by x and by the target. */
template <typename C> struct loss_slopes {
    C x, target;
};

template <typename C> GPU_FN C loss_sign(C d) { return d > 0 ? (C)1 : d < 0 ? (C)-1 : d; }
/* log(x), and no less than -100. NaN passes. */
template <typename C> GPU_FN C loss_log(C x) {
    C y = gpu_log(x);
    return y < -100 ? (C)-100 : y;
}
template <typename C> GPU_FN C loss_log_rest(C x) {
    C y = gpu_log1p(-x);
    return y < -100 ? (C)-100 : y;
}
/* log(1 + e^x), by `rest` = log(1 + e^-|x|). */
template <typename C> GPU_FN C loss_softplus(C x, C rest) { return (x < 0 ? (C)0 : x) + rest; }

template <typename C> GPU_FN C loss_kl_div(const loss_element<C> &e, u32 log) {
    C p = log ? gpu_exp(e.target) : e.target;
    if (p == 0) return 0;
    return p * ((log ? e.target : gpu_log(p)) - e.x);
}

template <typename C> GPU_FN C loss_of(const loss_element<C> &e, const struct gpu_loss &p) {
    C d = e.x - e.target, size = gpu_fabs(d), a = (C)p.a;
    switch (p.kind) {
    case GPU_LOSS_MSE: return d * d;
    case GPU_LOSS_L1: return size;
    case GPU_LOSS_SMOOTH_L1: return size < a ? (C)0.5 * size * (size / a) : size - (C)0.5 * a;
    case GPU_LOSS_HUBER: return size < a ? (C)0.5 * size * size : a * (size - (C)0.5 * a);
    case GPU_LOSS_KL_DIV: return loss_kl_div(e, p.log);
    case GPU_LOSS_BINARY: return -e.weight * (e.target * loss_log(e.x) + (1 - e.target) * loss_log_rest(e.x));
    default: {
        C rest = gpu_log1p(gpu_exp(-gpu_fabs(e.x)));
        C of_one = e.positive * e.target * loss_softplus(-e.x, rest);
        return e.weight * ((1 - e.target) * loss_softplus(e.x, rest) + of_one);
    }
    }
}

template <typename C> GPU_FN loss_slopes<C> loss_slopes_binary(const loss_element<C> &e) {
    C room = e.x * (1 - e.x), least = (C)1e-12;
    loss_slopes<C> s;
    s.x = e.weight * (e.x - e.target) / (room < least ? least : room);
    s.target = e.weight * (loss_log_rest(e.x) - loss_log(e.x));
    return s;
}

template <typename C> GPU_FN loss_slopes<C> loss_slopes_logits(const loss_element<C> &e) {
    C rest = gpu_log1p(gpu_exp(-gpu_fabs(e.x)));
    loss_slopes<C> s;
    s.x = e.weight * ((1 - e.target) * gpu_sigmoid(e.x) - e.positive * e.target * gpu_sigmoid(-e.x));
    s.target = e.weight * (e.positive * loss_softplus(-e.x, rest) - loss_softplus(e.x, rest));
    return s;
}

template <typename C> GPU_FN loss_slopes<C> loss_slopes_of(const loss_element<C> &e, const struct gpu_loss &p) {
    C d = e.x - e.target, size = gpu_fabs(d), a = (C)p.a;
    loss_slopes<C> s;
    switch (p.kind) {
    case GPU_LOSS_MSE: s.x = 2 * d; break;
    case GPU_LOSS_L1: s.x = loss_sign(d); break;
    case GPU_LOSS_SMOOTH_L1: s.x = size < a ? d / a : loss_sign(d); break;
    case GPU_LOSS_HUBER: s.x = size < a ? d : a * loss_sign(d); break;
    case GPU_LOSS_KL_DIV: {
        C q = p.log ? gpu_exp(e.target) : e.target;
        s.x = -q;
        s.target = !p.log ? gpu_log(q) + 1 - e.x : q == 0 ? (C)0 : q * (1 - d);
        return s;
    }
    case GPU_LOSS_BINARY: return loss_slopes_binary(e);
    default: return loss_slopes_logits(e);
    }
    s.target = -s.x;
    return s;
}

template <typename T> GPU_FN loss_element<typename gpu_compute<T>::type> loss_load(const struct gpu_loss &p, u64 i) {
    typedef typename gpu_compute<T>::type C;
    loss_element<C> e;
    e.x = gpu_up(((const T *)p.x)[i]);
    e.target = gpu_up(((const T *)p.target)[i]);
    e.weight = p.weight ? gpu_up(((const T *)p.weight)[i]) : (C)1;
    e.positive = p.pos_weight ? gpu_up(((const T *)p.pos_weight)[i]) : (C)1;
    return e;
}

template <typename T> GPU_FN void losses(const struct gpu_loss &p) {
    typedef typename gpu_compute<T>::type C;
    GPU_NO_UNROLL for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        C y = loss_of<C>(loss_load<T>(p, i), p);
        if (p.wide)
            ((C *)p.out)[i] = y;
        else
            ((T *)p.out)[i] = gpu_round<T>(y);
    }
}

template <typename T> GPU_FN void loss_gradients(const struct gpu_loss &p) {
    typedef typename gpu_compute<T>::type C;
    C scale = (C)p.scale;
    GPU_NO_UNROLL for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        loss_slopes<C> s = loss_slopes_of<C>(loss_load<T>(p, i), p);
        C g = gpu_up(((const T *)p.gradient)[p.single ? 0 : i]) * scale;
        ((T *)p.out)[i] = gpu_round<T>(g * s.x);
        if (p.of_target) ((T *)p.of_target)[i] = gpu_round<T>(g * s.target);
    }
}

#define LOSS(T)                                                                                                        \
    GPU_KERNEL(loss_##T, struct gpu_loss) { losses<T>(p); }                                                            \
    GPU_KERNEL(loss_backward_##T, struct gpu_loss) { loss_gradients<T>(p); }
GPU_FLOATS(LOSS)
