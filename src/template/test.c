/* Tests: what stands behind `is`. */
#include "template/run.h"

#include <string.h>

static bool whole(struct wick__value x) { return x.kind == WICK__INT; }

static bool iterable(struct wick__value x) {
    return x.kind == WICK__STRING || wick__is_sequence(x) || x.kind == WICK__DICT || x.kind == WICK__UNDEFINED;
}

static bool all_letters(struct wick__run *run, const struct wick__args *args, const char *method) {
    struct wick__args none = {0};
    struct wick__value x = wick__str(run, args->values[0]);
    if (run->status != WICK_OK) return false;
    return wick__truth(wick__method_call(run, x, method, &none));
}

/* Tests of one value. */
static bool kind_test(struct wick__run *run, const char *name, struct wick__value x, bool *result) {
    (void)run;
    const struct {
        const char *name;
        bool yes;
    } tests[] = {{"defined", x.kind != WICK__UNDEFINED},
                 {"undefined", x.kind == WICK__UNDEFINED},
                 {"none", x.kind == WICK__NONE},
                 {"boolean", x.kind == WICK__BOOL},
                 {"true", x.kind == WICK__BOOL && x.b},
                 {"false", x.kind == WICK__BOOL && !x.b},
                 {"integer", whole(x)},
                 {"float", x.kind == WICK__FLOAT},
                 {"number", wick__is_number(x)},
                 {"string", x.kind == WICK__STRING},
                 {"mapping", x.kind == WICK__DICT},
                 {"sequence",
                  x.kind == WICK__STRING || wick__is_sequence(x) || x.kind == WICK__DICT || x.kind == WICK__UNDEFINED},
                 {"iterable", iterable(x)},
                 {"callable", x.kind == WICK__MACRO || x.kind == WICK__BUILTIN}};
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(name, tests[i].name) == 0) {
            *result = tests[i].yes;
            return true;
        }
    return false;
}

/* Tests that compare with an argument, by any of their names. */
static enum wick__operator comparison(const char *name) {
    static const struct {
        const char *name;
        enum wick__operator op;
    } names[] = {{"==", WICK__EQ},          {"eq", WICK__EQ}, {"equalto", WICK__EQ}, {"!=", WICK__NE},
                 {"ne", WICK__NE},          {"<", WICK__LT},  {"lt", WICK__LT},      {"lessthan", WICK__LT},
                 {"<=", WICK__LE},          {"le", WICK__LE}, {">", WICK__GT},       {"gt", WICK__GT},
                 {"greaterthan", WICK__GT}, {">=", WICK__GE}, {"ge", WICK__GE},      {"in", WICK__IN}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i].name) == 0) return names[i].op;
    return 0;
}

static bool divisible(struct wick__run *run, struct wick__value x, struct wick__value by) {
    return wick__equal(wick__operate(run, WICK__MODULO, x, by), wick__int(0), &run->steps);
}

/* The very same value: Python's `is`. */
static bool same(struct wick__run *run, struct wick__value a, struct wick__value b) {
    if (wick__is_sequence(a)) return a.kind == b.kind && a.list == b.list;
    if (a.kind == WICK__DICT) return a.kind == b.kind && a.dict == b.dict;
    return a.kind == b.kind && wick__equal(a, b, &run->steps);
}

bool wick__test(struct wick__run *run, const char *name, const struct wick__args *args) {
    bool result = false;
    struct wick__value x = args->values[0], other = wick__arg(args, 1, NULL, wick__undefined("the argument of a test"));
    if (kind_test(run, name, x, &result)) return result;
    enum wick__operator op = comparison(name);
    if (op) return wick__compare(run, op, x, other);
    if (strcmp(name, "divisibleby") == 0) return divisible(run, x, other);
    if (strcmp(name, "even") == 0) return divisible(run, x, wick__int(2));
    if (strcmp(name, "odd") == 0) return !divisible(run, x, wick__int(2));
    if (strcmp(name, "sameas") == 0) return same(run, x, other);
    if (strcmp(name, "lower") == 0) return all_letters(run, args, "islower");
    if (strcmp(name, "upper") == 0) return all_letters(run, args, "isupper");
    wick__run_fail(run, WICK_UNSUPPORTED, "there is no test '%s'", name);
    return false;
}
