/* Losses of elements and their gradients. */
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

/* ---- 16 bytes at a time ---- elements leave and enter a vector at its ends, so that loops over them stay loops, and the
 * vector stays in registers */

template <int size> struct loss_bits;
template <> struct loss_bits<1> { typedef u8 type; };
template <> struct loss_bits<2> { typedef u16 type; };
template <> struct loss_bits<4> { typedef u32 type; };
template <> struct loss_bits<8> { typedef u64 type; };

struct alignas(16) loss_vector {
    u64 low, high;
};

/* Part number `v` of an operand: a vector, or element v behind them alone. */
template <typename T> GPU_FN loss_vector loss_load(const void *from, u64 v, bool whole) {
    typedef typename loss_bits<sizeof(T)>::type B;
    if (!from) return loss_vector{0, 0};
    return whole ? ((const loss_vector *)from)[v] : loss_vector{(u64)((const B *)from)[v], 0};
}

/* Moves the vector down by an element's bits, and fills it up with others. */
template <typename B> GPU_FN void loss_move(loss_vector *v, u64 next) {
    enum { BITS = 8 * sizeof(B) % 64 };
    if (sizeof(B) == 8) {
        v->low = v->high;
        v->high = next;
    } else {
        v->low = v->low >> BITS | v->high << (64 - BITS) % 64;
        v->high = v->high >> BITS | next << (64 - BITS) % 64;
    }
}

/* The first element, in whose place the next one comes. */
template <typename T> GPU_FN typename gpu_compute<T>::type loss_pop(loss_vector *v) {
    typedef typename loss_bits<sizeof(T)>::type B;
    T x = gpu_bits<T>((B)v->low);
    loss_move<B>(v, 0);
    return gpu_up(x);
}

/* An element behind the others. */
template <typename T> GPU_FN void loss_push(loss_vector *v, T x) {
    typedef typename loss_bits<sizeof(T)>::type B;
    loss_move<B>(v, (u64)gpu_bits<B>(x));
}

/* ---- the kernels ---- */

/* What a thread takes at a time: a vector, or one of the elements behind those. */
struct loss_part {
    bool whole;
    u64 at; /* the vector, or the element */
    u32 n;  /* elements */
};

template <typename T> GPU_FN bool loss_find(const struct gpu_loss &p, u64 i, loss_part *part) {
    enum { N = 16 / sizeof(T) };
    u64 vectors = p.aligned ? (u64)p.count / N : 0;
    part->whole = i < vectors;
    part->at = part->whole ? i : i + vectors * (N - 1);
    part->n = part->whole ? N : 1;
    return part->whole || part->at < (u64)p.count;
}

struct loss_operands {
    loss_vector x, target, weight, positive;
};

template <typename T> GPU_FN loss_operands loss_operands_of(const struct gpu_loss &p, const loss_part &part) {
    return {loss_load<T>(p.x, part.at, part.whole), loss_load<T>(p.target, part.at, part.whole),
            loss_load<T>(p.weight, part.at, part.whole), loss_load<T>(p.pos_weight, part.at, part.whole)};
}

template <typename T>
GPU_FN loss_element<typename gpu_compute<T>::type> loss_next(const struct gpu_loss &p, loss_operands *o) {
    typedef typename gpu_compute<T>::type C;
    loss_element<C> e;
    e.x = loss_pop<T>(&o->x);
    e.target = loss_pop<T>(&o->target);
    e.weight = p.weight ? loss_pop<T>(&o->weight) : (C)1;
    e.positive = p.pos_weight ? loss_pop<T>(&o->positive) : (C)1;
    return e;
}

template <typename T> GPU_FN void losses(const struct gpu_loss &p) {
    typedef typename gpu_compute<T>::type C;
    enum { N = 16 / sizeof(T), WIDE = 16 / sizeof(C) };
    loss_part part;
    GPU_NO_UNROLL for (u64 i = gpu_global(); loss_find<T>(p, i, &part); i += gpu_stride()) {
        loss_operands o = loss_operands_of<T>(p, part);
        loss_vector out = {0, 0};
        GPU_NO_UNROLL for (u32 j = 0; j < part.n; j++) {
            C y = loss_of<C>(loss_next<T>(p, &o), p);
            if (p.wide && part.whole) {
                loss_push<C>(&out, y);
                if (j % WIDE == WIDE - 1) ((loss_vector *)p.out)[part.at * (N / WIDE) + j / WIDE] = out;
            } else if (p.wide) {
                ((C *)p.out)[part.at] = y;
            } else if (part.whole) {
                loss_push<T>(&out, gpu_round<T>(y));
            } else {
                ((T *)p.out)[part.at] = gpu_round<T>(y);
            }
        }
        if (part.whole && !p.wide) ((loss_vector *)p.out)[part.at] = out;
    }
}

template <typename T> GPU_FN void loss_store(void *out, const loss_part &part, const loss_vector &v, T last) {
    if (!out) return;
    if (part.whole)
        ((loss_vector *)out)[part.at] = v;
    else
        ((T *)out)[part.at] = last;
}

template <typename T> GPU_FN void loss_gradients(const struct gpu_loss &p) {
    typedef typename gpu_compute<T>::type C;
    C scale = (C)p.scale;
    loss_part part;
    GPU_NO_UNROLL for (u64 i = gpu_global(); loss_find<T>(p, i, &part); i += gpu_stride()) {
        loss_operands o = loss_operands_of<T>(p, part);
        loss_vector out = {0, 0}, of_target = {0, 0};
        loss_vector gradient = loss_load<T>(p.single ? (const void *)0 : p.gradient, part.at, part.whole);
        T last_x, last_target;
        GPU_NO_UNROLL for (u32 j = 0; j < part.n; j++) {
            loss_slopes<C> s = loss_slopes_of<C>(loss_next<T>(p, &o), p);
            C g = (p.single ? gpu_up(*(const T *)p.gradient) : loss_pop<T>(&gradient)) * scale;
            last_x = gpu_round<T>(g * s.x);
            last_target = gpu_round<T>(g * s.target);
            loss_push<T>(&out, last_x);
            loss_push<T>(&of_target, last_target);
        }
        loss_store<T>(p.out, part, out, last_x);
        loss_store<T>(p.of_target, part, of_target, last_target);
    }
}

#define LOSS(T)                                                                                                        \
    GPU_KERNEL(loss_##T, struct gpu_loss) { losses<T>(p); }                                                            \
    GPU_KERNEL(loss_backward_##T, struct gpu_loss) { loss_gradients<T>(p); }
GPU_FLOATS(LOSS)
