/* Sums of products by the labels of their dims, as products of matrices: operands are multiplied from the left, two at
 * a time, and dims that neither later operands nor the result have are summed as soon as they can be. */
#include "ops/dispatch.h"

enum { OPERANDS = 8 };

/* The labels of an operand's dims: letters, and for those of "..." the numbers up to WICK_MAX_RANK, which is the last
 * of them. */
struct term {
    int n, dots; /* where "..." stands among the labels; -1: nowhere */
    char label[WICK_MAX_RANK];
};

struct equation {
    int n;
    struct term in[OPERANDS], out;
    int64_t size[128];       /* of each label, 0 where it is not used and for no elements */
    uint32_t ones[OPERANDS]; /* dims of "..." that are 1 and broadcast, a bit each */
    int extra;               /* dims of "..." */
};

struct operand {
    struct wick_tensor *x; /* NULL after a failure */
    struct term term;      /* each label once */
};

static int find(const struct term *t, char label) {
    for (int i = 0; i < t->n; i++)
        if (t->label[i] == label) return i;
    return -1;
}

/* ---- the text ---- */

/* Reads labels; NULL if there are too many, else what follows them. */
static const char *parse_term(const char *text, struct term *t) {
    t->n = 0;
    t->dots = -1;
    for (;; text++) {
        if (text[0] == '.' && text[1] == '.' && text[2] == '.' && t->dots < 0) {
            t->dots = t->n;
            text += 2;
            continue;
        }
        bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
        if (!letter && *text != ' ') return text;
        if (!letter) continue;
        if (t->n == WICK_MAX_RANK) return NULL;
        t->label[t->n++] = *text;
    }
}

/* How often a label stands in the operands. */
static int uses(const struct equation *e, char label) {
    int count = 0;
    for (int k = 0; k < e->n; k++)
        for (int i = 0; i < e->in[k].n; i++) count += e->in[k].label[i] == label;
    return count;
}

/* Without an arrow the result has the dims of "...", and then the labels that stand there once, in alphabetical order.
 */
static bool imply(struct equation *e) {
    e->out.dots = 0;
    for (char label = 'A'; label <= 'z'; label++) {
        if (uses(e, label) != 1) continue;
        if (e->out.n == WICK_MAX_RANK) return false;
        e->out.label[e->out.n++] = label;
    }
    return true;
}

static bool parse(const char *text, struct equation *e) {
    for (int k = 0; k < e->n; k++) {
        text = parse_term(text, &e->in[k]);
        if (!text || (k + 1 < e->n && *text++ != ',')) return false;
    }
    if (*text == 0) return imply(e);
    if (text[0] != '-' || text[1] != '>') return false;
    text = parse_term(text + 2, &e->out);
    if (!text || *text != 0) return false;
    for (int i = 0; i < e->out.n; i++)
        if (uses(e, e->out.label[i]) == 0 || find(&e->out, e->out.label[i]) != i) return false;
    return true;
}

/* ---- "..." ---- */

/* Puts the labels of n dims where "..." stands. False if there are too many. */
static bool insert_dots(struct term *t, int n) {
    if (t->dots < 0 || n == 0) return true;
    if (t->n + n > WICK_MAX_RANK) return false;
    for (int i = t->n - 1; i >= t->dots; i--) t->label[i + n] = t->label[i];
    for (int i = 0; i < n; i++) t->label[t->dots + i] = (char)(WICK_MAX_RANK + 1 - n + i);
    t->n += n;
    return true;
}

static bool of_dots(char label) { return label <= WICK_MAX_RANK; }

/* ---- checks ---- */

static void drop_label(struct term *t, int at) {
    t->n--;
    for (int i = at; i < t->n; i++) t->label[i] = t->label[i + 1];
}

/* Whether label number d of operand k stands nowhere before. */
static bool is_first(const struct equation *e, int k, int d) {
    for (int j = 0; j <= k; j++)
        for (int i = 0; i < e->in[j].n && !(j == k && i >= d); i++)
            if (e->in[j].label[i] == e->in[k].label[d]) return false;
    return true;
}

static bool check_operand(const struct wick__call *call, struct equation *e, int k) {
    const struct wick__layout *layout = &call->in[call->n_in - 1]->layout;
    int extra = layout->rank - e->in[k].n;
    if (e->in[k].dots >= 0 && extra > 0) insert_dots(&e->in[k], extra);
    if (e->in[k].dots >= 0 && extra > e->extra) e->extra = extra;
    if (layout->rank != e->in[k].n) {
        wick__call_fail(call, WICK_SHAPE, "operand %d has %d dims and %d labels", k, layout->rank, e->in[k].n);
        return false;
    }
    for (int d = 0; d < layout->rank; d++) {
        char label = e->in[k].label[d];
        int64_t *size = &e->size[(int)label];
        if (is_first(e, k, d) || (of_dots(label) && *size == 1)) *size = layout->shape[d];
        if (*size == layout->shape[d] || (of_dots(label) && layout->shape[d] == 1)) continue;
        if (of_dots(label)) {
            wick__call_fail(call, WICK_SHAPE, "the dims of ... do not broadcast: %lld, and %lld in operand %d",
                            (long long)*size, (long long)layout->shape[d], k);
            return false;
        }
        wick__call_fail(call, WICK_SHAPE, "label %c is of size %lld, and of size %lld in operand %d", label,
                        (long long)*size, (long long)layout->shape[d], k);
        return false;
    }
    return true;
}

/* Leaves out the dims of "..." that broadcast: the label is another operand's. */
static void drop_ones(struct equation *e, int k, const struct wick__layout *layout) {
    for (int d = layout->rank - 1; d >= 0; d--) {
        char label = e->in[k].label[d];
        if (!of_dots(label) || layout->shape[d] == e->size[(int)label]) continue;
        e->ones[k] |= UINT32_C(1) << d;
        drop_label(&e->in[k], d);
    }
}

static bool check(const char *text, int n, struct wick_tensor *const *operands, struct equation *e) {
    struct wick__call call = {.op = WICK_OP_einsum, .n_in = 1, .in = {n > 0 && operands ? operands[0] : NULL}};
    if (n < 1 || n > OPERANDS || !operands || !text) {
        wick__fail(WICK_INVALID, "einsum: %d operands, or a text that is NULL: there may be 1 to %d", n, OPERANDS);
        return false;
    }
    *e = (struct equation){.n = n};
    if (!wick__call_check(&call)) return false;
    if (!parse(text, e)) {
        wick__call_fail(&call, WICK_INVALID, "\"%s\" is not the text of %d operands", text, n);
        return false;
    }
    for (int k = 0; k < n; k++) {
        struct wick__call both = call;
        if (k > 0) both.in[both.n_in++] = operands[k];
        if (!wick__call_check(&both) || !check_operand(&both, e, k)) return false;
    }
    for (int k = 0; k < n; k++) drop_ones(e, k, &operands[k]->layout);
    if (insert_dots(&e->out, e->extra)) return true;
    wick__call_fail(&call, WICK_SHAPE, "the result would have more than %d dims", WICK_MAX_RANK);
    return false;
}

/* ---- products ---- */

/* Dims of one label become their diagonal, the last dim. */
static void take_diagonals(struct operand *o) {
    for (int j = o->term.n - 1; j > 0; j--) {
        char label = o->term.label[j];
        int i = find(&o->term, label);
        if (i == j) continue;
        o->x = o->x ? wick_diagonal(o->x, 0, i, j) : NULL;
        drop_label(&o->term, j);
        drop_label(&o->term, i);
        o->term.label[o->term.n++] = label;
        j = o->term.n;
    }
}

/* Whether the result, or an operand after number k, has the label. */
static bool needed(const struct equation *e, int k, char label) {
    bool found = find(&e->out, label) >= 0;
    for (int j = k + 1; j < e->n && !found; j++) found = find(&e->in[j], label) >= 0;
    return found;
}

/* Sums the dims that nothing after operand k needs, nor `other` has, which may be NULL. */
static void sum_rest(struct operand *o, const struct equation *e, int k, const struct term *other) {
    int dims[WICK_MAX_RANK], n = 0;
    for (int i = 0; i < o->term.n; i++)
        if (!needed(e, k, o->term.label[i]) && (!other || find(other, o->term.label[i]) < 0)) dims[n++] = i;
    if (n == 0) return;
    o->x = wick_sum(o->x, n, dims, false);
    while (n-- > 0) drop_label(&o->term, dims[n]);
}

/* The operand with its dims in the order of three groups, each merged to one dim. */
static struct wick_tensor *merged(const struct operand *o, const struct equation *e, const struct term groups[3]) {
    int dims[WICK_MAX_RANK], n = 0;
    int64_t shape[3] = {1, 1, 1};
    for (int g = 0; g < 3; g++)
        for (int i = 0; i < groups[g].n; i++) {
            dims[n++] = find(&o->term, groups[g].label[i]);
            shape[g] *= e->size[(int)groups[g].label[i]];
        }
    struct wick_tensor *y = n > 0 ? wick_permute(o->x, n, dims) : o->x;
    return y ? wick_reshape(y, 3, shape) : NULL;
}

/* a b, of which b is operand k. False after a failure. */
static bool multiply(struct operand *a, const struct operand *b, const struct equation *e, int k) {
    struct term batch = {0}, left = {0}, right = {0}, inner = {0};
    for (int i = 0; i < a->term.n; i++) {
        char label = a->term.label[i];
        struct term *t = find(&b->term, label) < 0 ? &left : needed(e, k, label) ? &batch : &inner;
        t->label[t->n++] = label;
    }
    for (int i = 0; i < b->term.n; i++)
        if (find(&a->term, b->term.label[i]) < 0) right.label[right.n++] = b->term.label[i];
    if (batch.n + left.n + right.n > WICK_MAX_RANK) {
        wick__fail(WICK_SHAPE, "einsum: a product of the first %d operands has more than %d dims", k + 1,
                   WICK_MAX_RANK);
        return false;
    }
    struct wick_tensor *x = merged(a, e, (const struct term[]){batch, left, inner});
    struct wick_tensor *y = merged(b, e, (const struct term[]){batch, inner, right});
    struct wick_tensor *product = x && y ? wick_matmul(x, y) : NULL;
    const struct term *groups[3] = {&batch, &left, &right};
    int64_t shape[WICK_MAX_RANK];
    a->term.n = 0;
    for (int g = 0; g < 3; g++)
        for (int i = 0; i < groups[g]->n; i++) {
            shape[a->term.n] = e->size[(int)groups[g]->label[i]];
            a->term.label[a->term.n++] = groups[g]->label[i];
        }
    a->x = product ? wick_reshape(product, a->term.n, shape) : NULL;
    return a->x != NULL;
}

/* Operand k without what sums and diagonals can take from it alone. */
static struct operand begin(struct wick_tensor *const *operands, const struct equation *e, int k,
                            const struct term *other) {
    struct operand o = {operands[k], e->in[k]};
    for (int d = WICK_MAX_RANK - 1; d >= 0; d--)
        if (e->ones[k] >> d & 1) o.x = wick_squeeze(o.x, d);
    take_diagonals(&o);
    sum_rest(&o, e, k, other);
    return o;
}

struct wick_tensor *wick_einsum(const char *text, int n, struct wick_tensor *const *operands) {
    struct equation e;
    int dims[WICK_MAX_RANK];
    if (!check(text, n, operands, &e)) return NULL;
    wick_scope_begin();
    struct operand all = begin(operands, &e, 0, NULL);
    for (int k = 1; k < n && all.x; k++) {
        struct operand next = begin(operands, &e, k, &all.term);
        sum_rest(&all, &e, k, &next.term);
        if (!all.x || !next.x || !multiply(&all, &next, &e, k)) return wick_scope_end(NULL);
    }
    if (!all.x) return wick_scope_end(NULL);
    for (int i = 0; i < e.out.n; i++) dims[i] = find(&all.term, e.out.label[i]);
    struct wick_tensor *y = e.out.n > 0 ? wick_permute(all.x, e.out.n, dims) : all.x;
    return wick_scope_end(y ? wick_clone(y) : NULL);
}
