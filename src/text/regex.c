/* A matcher that goes back. Repetition of a single character, which is nearly all that patterns do, takes no stack. */
#include "text/regex.h"

#include "core/arena.h"
#include "core/memory.h"
#include "text/unicode.h"

#include <string.h>
#include <utf8proc.h>

enum { MAX_DEPTH = 64, MAX_STACK = 2000, MANY = 1 << 30 };

/* ---- characters ---- */

enum item_kind { RANGE, SPACE, CATEGORIES };

/* One part of a class. */
struct item {
    enum item_kind kind;
    bool negated; /* \S, \P{..} */
    uint32_t first, last;
    uint64_t categories; /* bits of utf8proc's numbers */
    struct item *next;
};

#define BIT(category) (UINT64_C(1) << UTF8PROC_CATEGORY_##category)

static const struct {
    const char *name;
    uint64_t categories;
} properties[] = {{"L", BIT(LU) | BIT(LL) | BIT(LT) | BIT(LM) | BIT(LO)},
                  {"L&", BIT(LU) | BIT(LL) | BIT(LT)},
                  {"N", BIT(ND) | BIT(NL) | BIT(NO)},
                  {"M", BIT(MN) | BIT(MC) | BIT(ME)},
                  {"P", BIT(PC) | BIT(PD) | BIT(PS) | BIT(PE) | BIT(PI) | BIT(PF) | BIT(PO)},
                  {"S", BIT(SM) | BIT(SC) | BIT(SK) | BIT(SO)},
                  {"Z", BIT(ZS) | BIT(ZL) | BIT(ZP)},
                  {"Lu", BIT(LU)},
                  {"Ll", BIT(LL)},
                  {"Lt", BIT(LT)},
                  {"Lm", BIT(LM)},
                  {"Lo", BIT(LO)},
                  {"Nd", BIT(ND)},
                  {"Nl", BIT(NL)},
                  {"No", BIT(NO)},
                  {"Mn", BIT(MN)},
                  {"Mc", BIT(MC)},
                  {"Me", BIT(ME)},
                  {"Sc", BIT(SC)},
                  {"Sm", BIT(SM)}};

static bool item_has(const struct item *item, uint32_t c) {
    bool in = false;
    switch (item->kind) {
    case RANGE: in = c >= item->first && c <= item->last; break;
    case SPACE: in = wick__is_space(c); break;
    case CATEGORIES: in = item->categories >> utf8proc_category((utf8proc_int32_t)c) & 1; break;
    }
    return in != item->negated;
}

/* ---- programs ---- */

enum node_kind { CLASS, GROUP, AHEAD, NOT_AHEAD, START, END };

/* A part of a sequence, and how often it comes. */
struct node {
    enum node_kind kind;
    bool negated, fold; /* of a class: without its characters; in both cases */
    bool possessive;
    int least, most;
    struct item *items;     /* of a class */
    struct choice *choices; /* of a group or what is ahead */
    struct node *next;
};

/* An alternative of a group. */
struct choice {
    struct node *first;
    struct choice *next;
};

struct wick__regex {
    struct wick__arena arena;
    struct choice *choices;
};

static bool class_has(const struct node *node, uint32_t c) {
    bool in = false;
    uint32_t other = c;
    if (node->fold) {
        other = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
        if (other == c) other = (uint32_t)utf8proc_toupper((utf8proc_int32_t)c);
        if (c == 0x17F) other = 's'; /* the long s */
    }
    for (const struct item *item = node->items; item && !in; item = item->next)
        in = item_has(item, c) || (other != c && item_has(item, other));
    return in != node->negated;
}

/* ---- parsing ---- */

struct parser {
    struct wick__arena *arena;
    const char *at, *end;
    bool fold;
    int depth;
    enum wick_status status;
};

static void *fail(struct parser *parser, enum wick_status status, const char *why) {
    if (parser->status == WICK_OK) parser->status = wick__fail(status, "a pattern with %s", why);
    return NULL;
}

static void *make(struct parser *parser, size_t nbytes) {
    void *memory = parser->status == WICK_OK ? wick__arena_alloc(parser->arena, nbytes) : NULL;
    if (memory) return memset(memory, 0, nbytes);
    if (parser->status == WICK_OK) parser->status = wick__latest();
    return NULL;
}

static bool take(struct parser *parser, const char *text) {
    size_t n = strlen(text);
    if ((size_t)(parser->end - parser->at) < n || memcmp(parser->at, text, n) != 0) return false;
    parser->at += n;
    return true;
}

static bool property(struct parser *parser, struct item *item) {
    const char *open = parser->at;
    const char *close = take(parser, "{") ? memchr(parser->at, '}', (size_t)(parser->end - parser->at)) : NULL;
    for (size_t i = 0; close && i < sizeof properties / sizeof *properties; i++) {
        size_t n = strlen(properties[i].name);
        if ((size_t)(close - open) - 1 != n || memcmp(open + 1, properties[i].name, n) != 0) continue;
        item->kind = CATEGORIES;
        item->categories = properties[i].categories;
        parser->at = close + 1;
        return true;
    }
    fail(parser, WICK_UNSUPPORTED, "a property that is not known");
    return false;
}

/* What follows a backslash. */
static bool escape(struct parser *parser, struct item *item) {
    static const char from[] = "nrtfv", to[] = "\n\r\t\f\v";
    if (parser->at == parser->end) {
        fail(parser, WICK_FORMAT, "a backslash at its end");
        return false;
    }
    char c = *parser->at++;
    const char *control = strchr(from, c);
    item->negated = c == 'S' || c == 'P' || c == 'D';
    if (c == 's' || c == 'S') {
        item->kind = SPACE;
        return true;
    }
    if (c == 'd' || c == 'D') {
        item->kind = CATEGORIES;
        item->categories = BIT(ND);
        return true;
    }
    if (c == 'p' || c == 'P') return property(parser, item);
    item->kind = RANGE;
    if ((c >= 'a' && c <= 'z' && !control) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
        fail(parser, WICK_UNSUPPORTED, "an escape that is not known");
        return false;
    }
    item->first = item->last = (unsigned char)(control ? to[control - from] : c);
    return true;
}

/* One character, or an escape that stands for several. */
static struct item *item_of(struct parser *parser) {
    struct item *item = make(parser, sizeof *item);
    if (!item) return NULL;
    if (take(parser, "\\")) return escape(parser, item) ? item : NULL;
    parser->at += wick__utf8_get(parser->at, (size_t)(parser->end - parser->at), &item->first);
    item->last = item->first;
    return item;
}

static bool class_of(struct parser *parser, struct node *node) {
    struct item **last = &node->items;
    node->negated = take(parser, "^");
    while (parser->at < parser->end && !take(parser, "]")) {
        struct item *item = item_of(parser);
        if (!item) return false;
        bool range = item->kind == RANGE && parser->end - parser->at > 1 && *parser->at == '-' && parser->at[1] != ']';
        if (range) {
            parser->at++;
            struct item *high = item_of(parser);
            if (!high || high->kind != RANGE || high->first < item->first)
                return fail(parser, WICK_FORMAT, "a wrong range") != NULL;
            item->last = high->last;
        }
        *last = item;
        last = &item->next;
    }
    return parser->at[-1] == ']' || fail(parser, WICK_FORMAT, "a class that does not end") != NULL;
}

static struct choice *choices_of(struct parser *parser);

static bool group_of(struct parser *parser, struct node *node) {
    bool fold = parser->fold;
    node->kind = GROUP;
    if (take(parser, "?i:"))
        parser->fold = true;
    else if (take(parser, "?!"))
        node->kind = NOT_AHEAD;
    else if (take(parser, "?="))
        node->kind = AHEAD;
    else if (!take(parser, "?:") && parser->at < parser->end && *parser->at == '?')
        return fail(parser, WICK_UNSUPPORTED, "a group that is not known") != NULL;
    node->choices = choices_of(parser);
    parser->fold = fold;
    return take(parser, ")") || fail(parser, WICK_FORMAT, "a group that does not end") != NULL;
}

static bool number(struct parser *parser, int *value) {
    const char *start = parser->at;
    *value = 0;
    while (parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9' && *value < 10000)
        *value = *value * 10 + (*parser->at++ - '0');
    return parser->at > start;
}

static bool quantifier(struct parser *parser, struct node *node) {
    node->least = node->most = 1;
    if (take(parser, "?")) {
        node->least = 0;
    } else if (take(parser, "*")) {
        node->least = 0;
        node->most = MANY;
    } else if (take(parser, "+")) {
        node->most = MANY;
    } else if (take(parser, "{")) {
        if (!number(parser, &node->least)) return fail(parser, WICK_FORMAT, "a wrong quantifier") != NULL;
        node->most = node->least;
        if (take(parser, ",") && !number(parser, &node->most)) node->most = MANY;
        if (!take(parser, "}") || node->most < node->least)
            return fail(parser, WICK_FORMAT, "a wrong quantifier") != NULL;
    } else {
        return true;
    }
    node->possessive = take(parser, "+");
    if (node->possessive && node->kind != CLASS) return fail(parser, WICK_UNSUPPORTED, "a possessive group") != NULL;
    if (take(parser, "?")) return fail(parser, WICK_UNSUPPORTED, "a lazy quantifier") != NULL;
    bool once = node->kind != CLASS && node->kind != GROUP;
    return !once || fail(parser, WICK_FORMAT, "a quantifier behind nothing") != NULL;
}

static struct node *node_of(struct parser *parser) {
    struct node *node = make(parser, sizeof *node);
    if (!node) return NULL;
    node->fold = parser->fold;
    bool good = true;
    if (take(parser, "("))
        good = group_of(parser, node);
    else if (take(parser, "["))
        good = class_of(parser, node);
    else if (take(parser, "^"))
        node->kind = START;
    else if (take(parser, "$"))
        node->kind = END;
    else if (take(parser, ".")) {
        node->negated = true;
        good = (node->items = make(parser, sizeof *node->items)) != NULL;
        if (good) node->items->first = node->items->last = '\n';
    } else if (strchr("*+?{", *parser->at))
        good = fail(parser, WICK_FORMAT, "a quantifier behind nothing") != NULL;
    else
        good = (node->items = item_of(parser)) != NULL;
    return good && quantifier(parser, node) ? node : NULL;
}

static struct choice *choices_of(struct parser *parser) {
    struct choice *first = NULL, **last_choice = &first;
    if (parser->depth++ > MAX_DEPTH) return fail(parser, WICK_UNSUPPORTED, "groups in one another too deep");
    do {
        struct choice *choice = make(parser, sizeof *choice);
        if (!choice) return NULL;
        struct node **last = &choice->first;
        while (parser->at < parser->end && *parser->at != '|' && *parser->at != ')') {
            struct node *node = node_of(parser);
            if (!node) return NULL;
            *last = node;
            last = &node->next;
        }
        *last_choice = choice;
        last_choice = &choice->next;
    } while (take(parser, "|"));
    parser->depth--;
    return first;
}

struct wick__regex *wick__regex_new(const char *pattern, size_t nbytes) {
    struct wick__regex *regex = wick__calloc(1, sizeof *regex);
    if (!regex) return NULL;
    struct parser parser = {.arena = &regex->arena, .at = pattern, .end = pattern + nbytes};
    regex->choices = choices_of(&parser);
    if (parser.status == WICK_OK && parser.at < parser.end) fail(&parser, WICK_FORMAT, "a bracket too many");
    if (parser.status == WICK_OK) return regex;
    wick__regex_free(regex);
    return NULL;
}

void wick__regex_free(struct wick__regex *regex) {
    if (!regex) return;
    wick__arena_free(&regex->arena);
    wick__free(regex, sizeof *regex);
}

/* ---- matching ---- */

struct text {
    const char *data;
    size_t nbytes;
    int64_t steps; /* left for one match */
    int depth;
    bool failed;
};

/* Where a match goes on when a group is through: the groups around it, and how often each has come. */
struct frame {
    const struct node *group;
    const struct frame *outer;
    int count;
    size_t start; /* of this round: an empty one is the last */
};

static bool match(struct text *text, const struct node *node, const struct frame *frame, size_t at, size_t *end);

static bool spend(struct text *text) {
    if (--text->steps > 0 && text->depth < MAX_STACK) return true;
    text->failed = true;
    return false;
}

static bool match_any(struct text *text, const struct choice *choice, const struct frame *frame, size_t at,
                      size_t *end) {
    for (; choice; choice = choice->next)
        if (match(text, choice->first, frame, at, end)) return true;
    return false;
}

/* Another round of a group, or what comes behind it. */
static bool match_group(struct text *text, const struct frame *round, size_t at, size_t *end) {
    const struct node *group = round->group;
    bool empty = round->count > group->least && at == round->start;
    if (round->count < group->most && !empty) {
        struct frame next = {group, round->outer, round->count + 1, at};
        if (match_any(text, group->choices, &next, at, end)) return true;
    }
    return round->count >= group->least && match(text, group->next, round->outer, at, end);
}

static bool match_class(struct text *text, const struct node *node, const struct frame *frame, size_t at, size_t *end) {
    size_t stop = at;
    int n = 0;
    uint32_t c;
    while (n < node->most && stop < text->nbytes) {
        size_t length = wick__utf8_get(text->data + stop, text->nbytes - stop, &c);
        if (!class_has(node, c)) break;
        stop += length;
        n++;
        text->steps--;
    }
    for (; n >= node->least; n--) {
        if (match(text, node->next, frame, stop, end)) return true;
        if (node->possessive || stop == at || text->failed) break;
        stop = wick__utf8_back(text->data, stop);
    }
    return false;
}

/* Matches `node` and what follows it, through the ends of the groups around. */
static bool match(struct text *text, const struct node *node, const struct frame *frame, size_t at, size_t *end) {
    bool good;
    if (!node && !frame) {
        *end = at;
        return true;
    }
    if (!spend(text)) return false;
    text->depth++;
    size_t ignored;
    if (!node) {
        good = match_group(text, frame, at, end);
    } else if (node->kind == CLASS) {
        good = match_class(text, node, frame, at, end);
    } else if (node->kind == GROUP) {
        struct frame first = {node, frame, 0, at};
        good = match_group(text, &first, at, end);
    } else {
        if (node->kind == START)
            good = at == 0;
        else if (node->kind == END)
            good = at == text->nbytes;
        else
            good = match_any(text, node->choices, NULL, at, &ignored) == (node->kind == AHEAD);
        good = good && !text->failed && match(text, node->next, frame, at, end);
    }
    text->depth--;
    return good;
}

bool wick__regex_find(const struct wick__regex *regex, const char *data, size_t nbytes, size_t at, size_t span[2],
                      bool *failed) {
    /* Each character is looked at by some alternatives. */
    struct text text = {.data = data, .nbytes = nbytes, .steps = 1000 + 64 * (int64_t)(nbytes - at)};
    while (at < nbytes) {
        uint32_t c;
        if (match_any(&text, regex->choices, NULL, at, &span[1]) && span[1] > at) {
            span[0] = at;
            return true;
        }
        if (text.failed) {
            *failed = true;
            return false;
        }
        at += wick__utf8_get(data + at, nbytes - at, &c);
    }
    return false;
}
