/* Operators, as Python has them. Integers have 64 bits; a result that does not fit is an error. */
#define _GNU_SOURCE /* memmem */
#include "template/run.h"

#include <math.h>
#include <string.h>

static const char *const symbols[] = {[WICK__ADD] = "+",
                                      [WICK__SUBTRACT] = "-",
                                      [WICK__MULTIPLY] = "*",
                                      [WICK__DIVIDE_BY] = "/",
                                      [WICK__FLOOR_DIVIDE] = "//",
                                      [WICK__MODULO] = "%",
                                      [WICK__POWER] = "**",
                                      [WICK__CONCATENATE] = "~",
                                      [WICK__EQ] = "==",
                                      [WICK__NE] = "!=",
                                      [WICK__LT] = "<",
                                      [WICK__LE] = "<=",
                                      [WICK__GT] = ">",
                                      [WICK__GE] = ">=",
                                      [WICK__IN] = "in",
                                      [WICK__NOT_IN] = "not in"};

static struct wick__value unfit(struct wick__run *run, enum wick__operator op, struct wick__value a,
                                struct wick__value b) {
    if (a.kind == WICK__UNDEFINED || b.kind == WICK__UNDEFINED)
        return wick__run_fail(run, WICK_INVALID, "%s is undefined", a.kind == WICK__UNDEFINED ? a.text : b.text);
    return wick__run_fail(run, WICK_INVALID, "'%s' does not take a %s and a %s", symbols[op], wick__kind_name(a),
                          wick__kind_name(b));
}

static bool int_power(int64_t base, int64_t exponent, int64_t *result) {
    *result = 1;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 && __builtin_mul_overflow(*result, base, result)) return false;
        if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return false;
    }
    return true;
}

static struct wick__value operate_ints(struct wick__run *run, enum wick__operator op, int64_t a, int64_t b) {
    int64_t result = 0;
    bool good = true;
    switch (op) {
    case WICK__ADD: good = !__builtin_add_overflow(a, b, &result); break;
    case WICK__SUBTRACT: good = !__builtin_sub_overflow(a, b, &result); break;
    case WICK__MULTIPLY: good = !__builtin_mul_overflow(a, b, &result); break;
    case WICK__POWER:
        if (b < 0) return wick__float(pow((double)a, (double)b));
        good = int_power(a, b, &result);
        break;
    default: /* quotients, down; b is not 0 */
        good = !(a == INT64_MIN && b == -1);
        if (!good) break;
        result = op == WICK__MODULO ? a % b : a / b;
        if (a % b != 0 && (a < 0) != (b < 0)) result += op == WICK__MODULO ? b : -1;
    }
    if (good) return wick__int(result);
    return wick__run_fail(run, WICK_RANGE, "'%s': the result does not fit in 64 bits", symbols[op]);
}

static struct wick__value operate_floats(enum wick__operator op, double a, double b) {
    switch (op) {
    case WICK__ADD: return wick__float(a + b);
    case WICK__SUBTRACT: return wick__float(a - b);
    case WICK__MULTIPLY: return wick__float(a * b);
    case WICK__POWER: return wick__float(pow(a, b));
    case WICK__FLOOR_DIVIDE: return wick__float(floor(a / b));
    case WICK__MODULO: return wick__float(a - b * floor(a / b));
    default: return wick__float(a / b);
    }
}

static struct wick__value operate_numbers(struct wick__run *run, enum wick__operator op, struct wick__value a,
                                          struct wick__value b) {
    bool divides = op == WICK__DIVIDE_BY || op == WICK__FLOOR_DIVIDE || op == WICK__MODULO;
    if (divides && wick__real(b) == 0) return wick__run_fail(run, WICK_DIVIDE, "'%s': division by zero", symbols[op]);
    if (a.kind == WICK__FLOAT || b.kind == WICK__FLOAT || op == WICK__DIVIDE_BY)
        return operate_floats(op, wick__real(a), wick__real(b));
    return operate_ints(run, op, wick__integer(a), wick__integer(b));
}

static void put_escaped(struct wick__run *run, struct wick__buffer *buffer, struct wick__value x, bool escaped) {
    if (escaped && !x.markup && run->status == WICK_OK) x = wick__escape(run, x);
    wick__put_str(run, buffer, x);
}

/* "+" of strings: beside one that is marked as safe, the other one is escaped. "~" of anything marks and escapes
 * nothing. */
static struct wick__value concatenate(struct wick__run *run, struct wick__value a, struct wick__value b, bool markup) {
    struct wick__buffer buffer = {0};
    put_escaped(run, &buffer, a, markup);
    put_escaped(run, &buffer, b, markup);
    struct wick__value both = wick__take(run, &buffer);
    both.markup = markup;
    return both;
}

static struct wick__value join_lists(struct wick__run *run, struct wick__value a, struct wick__value b) {
    size_t n = a.list->n + b.list->n;
    struct wick__value both = wick__run_made(run, wick__list_new(&run->arena, a.kind, n));
    if (run->status != WICK_OK || !wick__run_step(run, n)) return wick__undefined("");
    for (size_t i = 0; i < n; i++)
        both.list->items[i] = i < a.list->n ? a.list->items[i] : b.list->items[i - a.list->n];
    both.list->n = n;
    return both;
}

static struct wick__value repeat(struct wick__run *run, struct wick__value x, int64_t times) {
    struct wick__buffer buffer = {0};
    struct wick__value list = wick__undefined("");
    if (times < 0) times = 0;
    if (x.kind != WICK__STRING) list = wick__run_made(run, wick__list_new(&run->arena, x.kind, 0));
    size_t n = x.kind == WICK__STRING ? x.n : x.list->n;
    for (int64_t i = 0; i < times && n > 0 && wick__run_step(run, 1 + n / 64); i++) {
        if (x.kind == WICK__STRING) {
            wick__put(run, &buffer, x.text, x.n);
            continue;
        }
        for (size_t j = 0; j < n; j++)
            if (!wick__list_add(&run->arena, list, x.list->items[j])) run->status = wick__latest();
    }
    return x.kind == WICK__STRING ? wick__take(run, &buffer) : list;
}

struct wick__value wick__operate(struct wick__run *run, enum wick__operator op, struct wick__value a,
                                 struct wick__value b) {
    if (op == WICK__CONCATENATE) return concatenate(run, a, b, false);
    if (wick__is_number(a) && wick__is_number(b)) return operate_numbers(run, op, a, b);
    if (op == WICK__ADD && a.kind == WICK__STRING && b.kind == WICK__STRING)
        return concatenate(run, a, b, a.markup || b.markup);
    if (op == WICK__ADD && wick__is_sequence(a) && a.kind == b.kind) return join_lists(run, a, b);
    if (op == WICK__MULTIPLY) {
        bool left = a.kind == WICK__STRING || wick__is_sequence(a),
             right = b.kind == WICK__STRING || wick__is_sequence(b);
        if (left && (b.kind == WICK__INT || b.kind == WICK__BOOL)) return repeat(run, a, wick__integer(b));
        if (right && (a.kind == WICK__INT || a.kind == WICK__BOOL)) return repeat(run, b, wick__integer(a));
    }
    return unfit(run, op, a, b);
}

static bool contains(struct wick__run *run, struct wick__value x, struct wick__value inside) {
    if (inside.kind == WICK__STRING && x.kind == WICK__STRING)
        return wick__run_step(run, 1 + inside.n / 64) && (x.n == 0 || memmem(inside.text, inside.n, x.text, x.n));
    if (inside.kind == WICK__DICT || inside.kind == WICK__NAMESPACE)
        return wick__run_step(run, inside.dict->n) && wick__dict_get(inside.dict, x) != NULL;
    if (wick__is_sequence(inside)) {
        for (size_t i = 0; i < inside.list->n; i++)
            if (wick__equal(inside.list->items[i], x, &run->steps)) return true;
        return false;
    }
    if (inside.kind != WICK__UNDEFINED) unfit(run, WICK__IN, x, inside);
    return false;
}

bool wick__compare(struct wick__run *run, enum wick__operator op, struct wick__value a, struct wick__value b) {
    int order = 0;
    if (op == WICK__EQ || op == WICK__NE) return wick__equal(a, b, &run->steps) == (op == WICK__EQ);
    if (op == WICK__IN || op == WICK__NOT_IN) return contains(run, a, b) == (op == WICK__IN);
    if (wick__is_number(a) && wick__is_number(b) && (isnan(wick__real(a)) || isnan(wick__real(b)))) return false;
    if (!wick__order(a, b, &order, &run->steps)) {
        unfit(run, op, a, b);
        return false;
    }
    return op == WICK__LT ? order < 0 : op == WICK__LE ? order <= 0 : op == WICK__GT ? order > 0 : order >= 0;
}
