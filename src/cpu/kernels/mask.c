/* masked_fill and one_hot. */
#include "core/convert.h"
#include "cpu/kernels/ids.h"
#include "cpu/runtime/isa.h"

#include "core/memory.h"

struct mask {
    struct wick__layout layout[3]; /* out, x, mask */
    char *out;
    const char *x;
    const uint8_t *mask;
    int64_t size;
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } value;
};

#define FILL(type, member)                                                                                             \
    do {                                                                                                               \
        const type *restrict from = x;                                                                                 \
        type *restrict to = out;                                                                                       \
        type value = m->value.member;                                                                                  \
        if (x_step == 1 && mask_step == 1)                                                                             \
            for (int64_t i = 0; i < n; i++) to[i] = mask[i] ? value : from[i];                                         \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++) to[i] = mask[i * mask_step] ? value : from[i * x_step];                    \
    } while (0)

static void fill_run(const struct mask *m, void *out, const void *x, const uint8_t *mask, int last) {
    const int64_t x_step = m->layout[1].stride[last], mask_step = m->layout[2].stride[last];
    const int64_t n = m->layout[0].shape[last];
    switch (m->size) {
    case 1: FILL(uint8_t, u8); break;
    case 2: FILL(uint16_t, u16); break;
    case 4: FILL(uint32_t, u32); break;
    default: FILL(uint64_t, u64); break;
    }
}

static void fill_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct mask *m = context;
    int last = m->layout[0].rank - 1;
    struct wick__walk walk = wick__walk_new(m->layout, 3, last);
    (void)worker;
    wick__walk_to(&walk, begin);
    for (int64_t row = begin; row < end; row++, wick__walk_next(&walk))
        fill_run(m, m->out + walk.at[0] * m->size, m->x + walk.at[1] * m->size, m->mask + walk.at[2], last);
}

/* in[1] has been broadcast to the shape of x. */
enum wick_status WICK__ISA(wick__cpu_masked_fill)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_masked_fill)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *mask = call->in[1];
    struct wick_tensor *y = call->out[0];
    int64_t count = wick__count(x);
    if (count == 0) return WICK_OK;
    struct mask m = {.layout = {y->layout, x->layout, mask->layout},
                     .out = wick__data(y),
                     .x = wick__data(x),
                     .mask = wick__data(mask),
                     .size = (int)wick__size(x->dtype)};
    wick__store_number(x->dtype, call->p.number[0], &m.value);
    wick__layout_collapse(m.layout, 3);
    int last = m.layout[0].rank - 1;
    int64_t n = m.layout[0].shape[last], rows = count / n, cut = 8192;
    if (rows == 1 && n > cut && n % cut == 0) { /* one long row: cut it for the threads */
        for (int i = 0; i < 3; i++) {
            m.layout[i].rank = 2;
            m.layout[i].stride[1] = m.layout[i].stride[0];
            m.layout[i].stride[0] *= cut;
            m.layout[i].shape[0] = rows = n / cut;
            m.layout[i].shape[1] = cut;
        }
        n = cut;
    }
    wick__parallel(rows, wick__max(1, 8192 / n), fill_rows, &m);
    return WICK_OK;
}

struct one_hot {
    char *out;
    const int64_t *list;
    int64_t classes, size;
    _Alignas(8) char one[8];
};

static void one_hot_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct one_hot *o = context;
    (void)worker;
    memset(o->out + begin * o->classes * o->size, 0, (size_t)((end - begin) * o->classes * o->size));
    for (int64_t i = begin; i < end; i++)
        if (o->list[i] >= 0) memcpy(o->out + (i * o->classes + o->list[i]) * o->size, o->one, (size_t)o->size);
}

enum wick_status WICK__ISA(wick__cpu_one_hot)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_one_hot)(const struct wick__call *call) {
    const struct wick_tensor *ids = call->in[0];
    struct wick_tensor *y = call->out[0];
    int64_t count = wick__count(ids), classes = y->layout.shape[y->layout.rank - 1];
    if (count == 0 || classes == 0) return wick__ids_scan(call, ids, classes, NULL);
    int64_t *list = wick__calloc((size_t)count, sizeof *list);
    if (!list) return wick__latest();
    struct one_hot o = {.out = wick__data(y), .list = list, .classes = classes, .size = (int)wick__size(y->dtype)};
    enum wick_status status = wick__ids_scan(call, ids, classes, list);
    wick__store_f64(y->dtype, 1, o.one);
    if (status == WICK_OK) wick__parallel(count, wick__max(1, 8192 / classes), one_hot_rows, &o);
    wick__free(list, (size_t)count * sizeof *list);
    return status;
}
