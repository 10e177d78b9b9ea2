/* Cases of the composed_einsum family. i[0] is the number of the case, whose text and shapes are below. */
#include "verify/elementwise.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

/* tests/golden/ops/index.py has the same texts. Sizes go by the letter. */
static const char *const texts[] = {
    "ij,jk->ik",
    "bij,bjk->bik",
    "ij->ji",
    "ij->",
    "ii->i",
    "i,j->ij",
    "ij,ij",
    "bhqd,bhkd->bhqk",
    "ab,bc,cd->ad",
    "aab,b->a",
    "i,i->",
    "ijz,jk->ik",
    "...ab,...bc->...ac",
    "...a,a...",
    "...ab,bc",
    "b...,...a->...a",
    "a...->a",
    "aba...b->...ab",
};
enum { TEXTS = sizeof texts / sizeof *texts, PLAIN = TEXTS - 6 };

/* The last of them with letters in place of "...". */
static const char *const spelt[TEXTS - PLAIN] = {
    "wuab,oubc->wuac", "wua,aou->wu", "wab,bc->wac", "bwu,ua->wua", "auw->a", "abawb->wab",
};

static const char *plain(int64_t k) { return k < PLAIN ? texts[k] : spelt[k - PLAIN]; }

static int64_t size_of(char label) {
    static const int64_t sizes[] = {3, 5, 2, 7, 4};
    return label == 'z' ? 0 : label == 'o' ? 1 : sizes[(label - 'a') % 5];
}

static int einsum_cases(enum wick_op op) {
    (void)op;
    return TEXTS;
}

static void einsum_make(enum wick_op op, int k, struct verify_case *c) {
    (void)op;
    c->i[0] = k;
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .low = -2, .high = 2};
    for (const char *p = plain(k); *p && *p != '-'; p++) {
        if (*p == ',')
            c->in[c->n_in++] = (struct verify_operand){.role = VERIFY_VALUE, .low = -2, .high = 2};
        else
            c->in[c->n_in - 1].shape[c->in[c->n_in - 1].rank++] = size_of(*p);
    }
}

static bool einsum_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    out[0] = wick_einsum(texts[c->i[0]], c->n_in, in);
    return out[0] != NULL;
}

/* The element of an operand whose labels are at p, at the letters' positions; *p moves behind the labels. */
static double element(const struct verify_array *x, const char **p, const int64_t *at) {
    int64_t place = 0;
    for (; **p >= 'a' && **p <= 'z'; ++*p) place = place * size_of(**p) + at[(int)**p];
    *p += **p == ',';
    return x->data[place];
}

/* The letters in `of` that `but` does not have, each once. */
static int letters(const char *of, const char *but, char *list) {
    int n = 0;
    for (; *of && *of != '-'; of++)
        if (*of != ',' && !strchr(but, *of) && !memchr(list, *of, (size_t)n)) list[n++] = *of;
    return n;
}

/* Sets the letters' positions to number `i` of all, and returns how many there are. */
static int64_t spread(const char *list, int n, int64_t i, int64_t *at) {
    int64_t count = 1;
    for (int k = n - 1; k >= 0; k--) {
        int64_t size = size_of(list[k]);
        at[(int)list[k]] = size > 0 ? i % size : 0;
        i = size > 0 ? i / size : 0;
        count *= size;
    }
    return count;
}

static bool einsum_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    const char *text = plain(c->i[0]), *arrow = strchr(text, '>'), *to = arrow ? arrow + 1 : "";
    char summed[16] = {0};
    int64_t shape[WICK_MAX_RANK], at[128] = {0};
    int rank = (int)strlen(to), n = letters(text, to, summed);
    for (int d = 0; d < rank; d++) shape[d] = size_of(to[d]);
    if (!verify_array_new(out, c->dtype, rank, shape, true)) return false;
    for (int64_t p = 0; p < out->count; p++) {
        long double sum = 0, terms = 0;
        verify_wide whole = 0;
        int64_t count = spread(summed, n, 0, at);
        spread(to, rank, p, at);
        for (int64_t j = 0; j < count; j++) {
            const char *from = text;
            long double product = 1;
            spread(summed, n, j, at);
            for (int k = 0; k < c->n_in; k++) product *= element(&in[k], &from, at);
            sum += product;
            terms += fabsl(product);
            if (!wick_dtype_is_float(c->dtype)) whole += (verify_wide)product;
        }
        out->data[p] = wick_dtype_is_float(c->dtype) ? (double)sum : verify_wrap(c->dtype, whole);
        out->scale[p] = verify_scale_products((double)terms, (double)count);
    }
    return true;
}

const struct verify_family verify_composed_einsum = {
    .name = "composed_einsum",
    .cases = einsum_cases,
    .make = einsum_make,
    .call = einsum_call,
    .reference = einsum_reference,
};
