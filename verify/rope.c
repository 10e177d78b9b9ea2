/* Cases of the rope family. i[0]: interleaved; in[0] x, in[1] cosine, in[2] sine. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

/* b, h, t, d; table: a table for each batch. For rope_thd, t and h change places. */
static const struct {
    int64_t b, h, t, d;
    int table;
} shapes[] = {{1, 1, 1, 2, 0},   {2, 3, 5, 8, 0}, {2, 3, 5, 8, 1}, {3, 2, 7, 34, 1}, {1, 2, 3, 1026, 0},
              {2, 4, 33, 64, 0}, {0, 2, 3, 4, 0}, {2, 2, 0, 4, 1}, {1, 2, 3, 0, 0}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int rope_cases(enum wick_op op) {
    (void)op;
    return 2 * SHAPES;
}

static void rope_make(enum wick_op op, int k, struct verify_case *c) {
    int64_t b = shapes[k / 2].b, h = shapes[k / 2].h, t = shapes[k / 2].t, d = shapes[k / 2].d;
    bool thd = op == WICK_OP_rope_thd, table = shapes[k / 2].table;
    c->n_in = 3;
    c->n_out = 1;
    c->i[0] = k & 1;
    c->in[0] = (struct verify_operand){
        .role = VERIFY_VALUE, .rank = 4, .shape = {b, thd ? t : h, thd ? h : t, d}, .low = -8, .high = 8};
    for (int i = 1; i < 3; i++) {
        c->in[i] = (struct verify_operand){.role = VERIFY_VALUE, .rank = table ? 3 : 2, .low = -1, .high = 1};
        int64_t shape[3] = {b, t, d / 2};
        memcpy(c->in[i].shape, shape + !table, sizeof *shape * (size_t)c->in[i].rank);
    }
}

static bool rope_bench(enum wick_op op, struct verify_case *c) {
    bool thd = op == WICK_OP_rope_thd;
    rope_make(op, 2, c);
    verify_operand_resize(&c->in[0], 4, thd ? (const int64_t[]){4, 512, 32, 64} : (const int64_t[]){4, 32, 512, 64});
    for (int i = 1; i < 3; i++) verify_operand_resize(&c->in[i], 2, (const int64_t[]){512, 32});
    return true;
}

static bool rope_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    out[0] =
        c->op == WICK_OP_rope ? wick_rope(in[0], in[1], in[2], c->i[0]) : wick_rope_thd(in[0], in[1], in[2], c->i[0]);
    return out[0] != NULL;
}

static bool rope_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    bool thd = c->op == WICK_OP_rope_thd;
    if (!verify_array_new(out, c->dtype, 4, in[0].shape, true)) return false;
    int64_t n1 = in[0].shape[1], n2 = in[0].shape[2], d = in[0].shape[3], half = d / 2, t = thd ? n1 : n2;
    for (int64_t row = 0; d > 0 && row < in[0].count / d; row++) {
        int64_t time = thd ? row / n2 % n1 : row % n2;
        int64_t table = (in[1].rank == 3 ? row / n2 / n1 * t + time : time) * half;
        for (int64_t i = 0; i < half; i++) {
            int64_t p = row * d + (c->i[0] ? 2 * i : i), q = row * d + (c->i[0] ? 2 * i + 1 : i + half);
            double a = in[0].data[p], b = in[0].data[q], cosine = in[1].data[table + i], sine = in[2].data[table + i];
            out->data[p] = a * cosine - b * sine;
            out->data[q] = a * sine + b * cosine;
            out->scale[p] = verify_scale_turned(fabs(a * cosine), fabs(b * sine));
            out->scale[q] = verify_scale_turned(fabs(a * sine), fabs(b * cosine));
        }
    }
    return true;
}

static bool rope_exact(enum wick_op op) {
    (void)op;
    return true;
}

const struct verify_family verify_rope = {.name = "rope",
                                          .cases = rope_cases,
                                          .make = rope_make,
                                          .bench = rope_bench,
                                          .call = rope_call,
                                          .reference = rope_reference,
                                          .exact = rope_exact};
