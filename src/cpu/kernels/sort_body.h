/* Sorting by digits, least significant first, for one kind of item. Included with
 *
 *   SUFFIX  of the names made here
 *   ITEM    a key with the index of its element
 *   DIGIT   (item, shift): 8 bits of the key
 *   BEFORE  (a, b): whether a's key is less than b's */
#define FN(name) WICK__JOIN(name, SUFFIX)

static void FN(insertion_sort)(ITEM *items, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        ITEM item = items[i];
        int64_t j = i;
        for (; j > 0 && BEFORE(item, items[j - 1]); j--) items[j] = items[j - 1];
        items[j] = item;
    }
}

/* Sorts n items by `digits` bytes of their keys; the result is in a or in b, which is returned. */
static ITEM *FN(radix_sort)(ITEM *a, ITEM *b, int64_t n, int digits) {
    uint32_t counts[8][256];
    if (n <= FEW) {
        FN(insertion_sort)(a, n);
        return a;
    }
    memset(counts, 0, sizeof *counts * (size_t)digits);
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < digits; d++) counts[d][DIGIT(a[i], 8 * d)]++;
    for (int d = 0; d < digits; d++) {
        uint32_t *next = counts[d], sum = 0;
        if (next[DIGIT(a[0], 8 * d)] == (uint32_t)n) continue;
        for (int v = 0; v < 256; v++) {
            uint32_t count = next[v];
            next[v] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++) b[next[DIGIT(a[i], 8 * d)]++] = a[i];
        ITEM *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

/* The same on all threads, for one long line. Each chunk of it counts its digits, learns where its items of each digit
 * go, and moves them there: the order within a digit is kept. */
struct FN(pass) {
    const ITEM *from;
    ITEM *to;
    int64_t n, chunk;
    int shift;
    uint32_t (*counts)[256]; /* of each chunk: how many, then where the next one goes */
};

static void FN(count_chunks)(void *context, int worker, int64_t begin, int64_t end) {
    const struct FN(pass) *pass = context;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        uint32_t *counts = pass->counts[c];
        int64_t last = wick__min((c + 1) * pass->chunk, pass->n);
        memset(counts, 0, sizeof *pass->counts);
        for (int64_t i = c * pass->chunk; i < last; i++) counts[DIGIT(pass->from[i], pass->shift)]++;
    }
}

static void FN(move_chunks)(void *context, int worker, int64_t begin, int64_t end) {
    const struct FN(pass) *pass = context;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        uint32_t next[256];
        int64_t last = wick__min((c + 1) * pass->chunk, pass->n);
        memcpy(next, pass->counts[c], sizeof next);
        for (int64_t i = c * pass->chunk; i < last; i++)
            pass->to[next[DIGIT(pass->from[i], pass->shift)]++] = pass->from[i];
    }
}

static ITEM *FN(radix_sort_parallel)(ITEM *a, ITEM *b, int64_t n, int digits, uint32_t (*counts)[256]) {
    for (int d = 0; d < digits; d++) {
        struct FN(pass)
            pass = {.from = a, .to = b, .n = n, .chunk = (n + CHUNKS - 1) / CHUNKS, .shift = 8 * d, .counts = counts};
        uint32_t sum = 0;
        bool same = false;
        wick__parallel(CHUNKS, 1, FN(count_chunks), &pass);
        for (int v = 0; v < 256; v++) {
            uint32_t first = sum;
            for (int c = 0; c < CHUNKS; c++) {
                uint32_t count = counts[c][v];
                counts[c][v] = sum;
                sum += count;
            }
            same = same || sum - first == (uint32_t)n;
        }
        if (same) continue;
        wick__parallel(CHUNKS, 1, FN(move_chunks), &pass);
        ITEM *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

/* Elements begin .. end-1 of a line as items. */
#define ENCODE(dtype, type, key)                                                                                       \
    case WICK_DTYPE_##dtype:                                                                                           \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            type x = *(const type *)(const void *)(in + i * step);                                                     \
            items[i] = FN(item)((key) ^ flip, i);                                                                      \
        }                                                                                                              \
        break;

static void FN(encode)(const struct sort *s, const char *in, ITEM *items, int64_t begin, int64_t end) {
    int64_t step = s->inner * (int64_t)s->size;
    uint64_t flip = s->descending ? UINT64_MAX >> (64 - 8 * s->size) : 0;
    switch (s->dtype) {
        ENCODE(u8, uint8_t, (uint64_t)x)
        ENCODE(u32, uint32_t, (uint64_t)x)
        ENCODE(i16, uint16_t, x ^ UINT64_C(0x8000))
        ENCODE(i32, uint32_t, x ^ UINT64_C(0x80000000))
        ENCODE(i64, uint64_t, x ^ UINT64_C(0x8000000000000000))
        ENCODE(bf16, uint16_t, float_key(x, 16, 0x7f80))
        ENCODE(f16, uint16_t, float_key(x, 16, 0x7c00))
        ENCODE(f32, uint32_t, float_key(x, 32, 0x7f800000))
        ENCODE(f64, uint64_t, float_key(x, 64, UINT64_C(0x7ff0000000000000)))
        ENCODE(f8e4m3, uint8_t, float_key(x, 8, 0x7e))
    default: break;
    }
}

/* Writes results begin .. end-1 of the line that starts at element `first` of the input and `out` of the results. */
static void FN(emit)(const struct sort *s, const ITEM *items, int64_t first, int64_t out, int64_t begin, int64_t end) {
    const char *in = s->in + first * (int64_t)s->size;
    for (int64_t i = begin; s->indices && i < end; i++) s->indices[out + i * s->inner] = (uint32_t)INDEX(items[i]);
    if (!s->values) return;
    char *values = s->values + out * (int64_t)s->size;
    int64_t step = s->inner * (int64_t)s->size;
    switch (s->size) {
    case 1:
        for (int64_t i = begin; i < end; i++) values[i * step] = in[(int64_t)INDEX(items[i]) * step];
        break;
    case 2:
        for (int64_t i = begin; i < end; i++) memcpy(values + i * step, in + (int64_t)INDEX(items[i]) * step, 2);
        break;
    case 4:
        for (int64_t i = begin; i < end; i++) memcpy(values + i * step, in + (int64_t)INDEX(items[i]) * step, 4);
        break;
    default:
        for (int64_t i = begin; i < end; i++) memcpy(values + i * step, in + (int64_t)INDEX(items[i]) * step, 8);
        break;
    }
}

static void FN(sort_lines)(void *context, int worker, int64_t begin, int64_t end) {
    const struct sort *s = context;
    ITEM *a = (ITEM *)s->scratch + 2 * s->n * worker, *b = a + s->n;
    for (int64_t line = begin; line < end; line++) {
        int64_t first = line / s->inner * s->n * s->inner + line % s->inner;
        int64_t out = line / s->inner * s->k * s->inner + line % s->inner;
        FN(encode)(s, s->in + first * (int64_t)s->size, a, 0, s->n);
        FN(emit)(s, FN(radix_sort)(a, b, s->n, (int)s->size), first, out, 0, s->k);
    }
}

/* What the tasks of a long line need. */
struct FN(long_line) {
    const struct sort *s;
    ITEM *items;
    int64_t first, out;
};

static void FN(encode_task)(void *context, int worker, int64_t begin, int64_t end) {
    const struct FN(long_line) *line = context;
    (void)worker;
    FN(encode)(line->s, line->s->in + line->first * (int64_t)line->s->size, line->items, begin, end);
}

static void FN(emit_task)(void *context, int worker, int64_t begin, int64_t end) {
    const struct FN(long_line) *line = context;
    (void)worker;
    FN(emit)(line->s, line->items, line->first, line->out, begin, end);
}

static void FN(sort_long)(const struct sort *s, int64_t lines) {
    for (int64_t i = 0; i < lines; i++) {
        ITEM *a = s->scratch, *b = a + s->n;
        struct FN(long_line) line = {.s = s,
                                     .items = a,
                                     .first = i / s->inner * s->n * s->inner + i % s->inner,
                                     .out = i / s->inner * s->k * s->inner + i % s->inner};
        wick__parallel(s->n, GRAIN, FN(encode_task), &line);
        line.items = FN(radix_sort_parallel)(a, b, s->n, (int)s->size, s->counts);
        wick__parallel(s->k, GRAIN, FN(emit_task), &line);
    }
}

#undef ENCODE
#undef FN
#undef SUFFIX
#undef ITEM
#undef DIGIT
#undef BEFORE
#undef INDEX
