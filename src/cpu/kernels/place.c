/* Copies of any layout into any layout: cat, stack, slices that are written in place, flip, roll. */
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/kernels/stream.h"
#include "cpu/kernels/walk.h"

#include "core/checked.h"
#include "backend.h"

enum { PIECE = 64 * 1024 }; /* bytes of a long row that one unit of work copies */

struct place {
    struct wick__layout layout[2]; /* from, to */
    const char *in;
    char *out;
    int64_t size;   /* bytes of an element */
    int64_t pieces; /* of a row */
    int64_t piece;  /* elements of a piece but the last */
    bool stream;
};

#define RUN(type)                                                                                                      \
    do {                                                                                                               \
        const type *restrict in = from;                                                                                \
        type *restrict out = to;                                                                                       \
        if (from_step == -1 && to_step == 1)                                                                           \
            for (int64_t i = 0; i < n; i++) out[i] = in[-i];                                                           \
        else if (from_step == 0 && to_step == 1)                                                                       \
            for (int64_t i = 0; i < n; i++) out[i] = *in;                                                              \
        else if (to_step == 1)                                                                                         \
            for (int64_t i = 0; i < n; i++) out[i] = in[i * from_step];                                                \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++) out[i * to_step] = in[i * from_step];                                      \
    } while (0)

static void copy_run(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t n, int64_t size) {
    switch (size) {
    case 1: RUN(uint8_t); break;
    case 2: RUN(uint16_t); break;
    case 4: RUN(uint32_t); break;
    default: RUN(uint64_t); break;
    }
}

/* Units are the pieces of all rows, in order. */
static void place_pieces(void *context, int worker, int64_t begin, int64_t end) {
    const struct place *place = context;
    int last = place->layout[0].rank - 1;
    int64_t n = place->layout[0].shape[last], size = place->size, piece = begin % place->pieces;
    int64_t from_step = place->layout[0].stride[last], to_step = place->layout[1].stride[last];
    bool dense = from_step == 1 && to_step == 1;
    struct wick__walk walk = wick__walk_new(place->layout, 2, last);
    (void)worker;
    wick__walk_to(&walk, begin / place->pieces);
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = piece * place->piece, count = wick__min(place->piece, n - first);
        const char *from = place->in + (walk.at[0] + first * from_step) * size;
        char *to = place->out + (walk.at[1] + first * to_step) * size;
        if (!dense)
            copy_run(to, to_step, from, from_step, count, size);
        else if (place->stream)
            wick__stream_copy(to, from, (size_t)(count * size));
        else
            memcpy(to, from, (size_t)(count * size));
        if (++piece == place->pieces) {
            piece = 0;
            wick__walk_next(&walk);
        }
    }
    if (place->stream) wick__stream_end();
}

/* flip reads its dims backwards; every other op of the family copies in[0] as it is. */
enum wick_status WICK__ISA(wick__cpu_place)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_place)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick_tensor *y = call->out[0];
    int64_t count = wick__count(x), size = (int)wick__size(x->dtype);
    if (count == 0) return WICK_OK;
    struct place place = {.layout = {x->layout, y->layout}, .in = wick__data(x), .out = wick__data(y), .size = size};
    for (int d = 0; call->op == WICK_OP_flip && d < x->layout.rank; d++) {
        if (!(call->p.flip.dims >> d & 1)) continue;
        place.in += (x->layout.shape[d] - 1) * x->layout.stride[d] * size;
        place.layout[0].stride[d] = -x->layout.stride[d];
    }
    wick__layout_collapse(place.layout, 2);
    int64_t n = place.layout[0].shape[place.layout[0].rank - 1];
    place.piece = wick__min(n, PIECE / size);
    place.pieces = (n + place.piece - 1) / place.piece;
    place.stream = count * size >= WICK__STREAM_FROM;
    wick__parallel(count / n * place.pieces, wick__max(1, 32768 / (place.piece * size)), place_pieces, &place);
    return WICK_OK;
}
