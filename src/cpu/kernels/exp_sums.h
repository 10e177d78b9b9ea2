/* The largest element of a row and the sum of its exponentials, for one type. Included by files whose comment says what
 * SUFFIX, T, V, LANES, VECTOR(name) and EXP are. */
#define NAME(name) WICK__JOIN(name, SUFFIX)

/* NaN aside: one makes the sum NaN. */
static T NAME(largest)(const T *x, int64_t n) {
    V a = VECTOR(all)(-(T)INFINITY), b = a, c = a, d = a;
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        a = VECTOR(max)(VECTOR(load)(x + i), a);
        b = VECTOR(max)(VECTOR(load)(x + i + LANES), b);
        c = VECTOR(max)(VECTOR(load)(x + i + 2 * LANES), c);
        d = VECTOR(max)(VECTOR(load)(x + i + 3 * LANES), d);
    }
    for (; i + LANES <= n; i += LANES) a = VECTOR(max)(VECTOR(load)(x + i), a);
    if (i < n) b = VECTOR(max)(VECTOR(some)(x + i, n - i, -(T)INFINITY), b);
    return VECTOR(greatest)(VECTOR(max)(VECTOR(max)(a, b), VECTOR(max)(c, d)));
}

/* Writes y = exp(x - most), unless y is NULL, and returns its sum: four vectors in T, those in double. Longer chains in
 * T drift where few values repeat. What lies `ahead` elements further on is asked for. */
static double NAME(exps)(const T *x, T most, T *y, int64_t n, int64_t ahead) {
    wick__vd low = wick__vd_all(0), high = low;
    V less = VECTOR(all)(most), e[4];
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        for (int k = 0; k < 4; k++) {
            const T *at = x + i + k * LANES;
            __builtin_prefetch((const void *)((uintptr_t)at + (uintptr_t)ahead * sizeof(T)));
            e[k] = EXP(VECTOR(load)(at) - less);
            if (y) VECTOR(store)(y + i + k * LANES, e[k]);
        }
        V four = (e[0] + e[1]) + (e[2] + e[3]);
        low += VECTOR(part)(four, 0);
        if (sizeof(T) == 4) high += VECTOR(part)(four, 1);
    }
    for (; i < n; i += LANES) {
        int64_t left = n - i;
        e[0] = EXP((left < LANES ? VECTOR(some)(x + i, left, -(T)INFINITY) : VECTOR(load)(x + i)) - less);
        if (y && left < LANES) VECTOR(store_some)(y + i, e[0], left);
        if (y && left >= LANES) VECTOR(store)(y + i, e[0]);
        low += VECTOR(part)(e[0], 0);
        if (sizeof(T) == 4) high += VECTOR(part)(e[0], 1);
    }
    if (sizeof(T) == 4) low += high;
    return wick__vd_total(low);
}

#undef NAME
