/* The pickle machine: protocols 2 to 5, without whatever imports, calls or copies from elsewhere.
 * The opcodes are described in CPython's Lib/pickletools.py. */
#include "format/pickle.h"

#include "core/memory.h"

#include <stdio.h>

struct machine {
    struct wick_archive *archive;
    const unsigned char *at;
    size_t left, nbytes;
    struct wick__value **stack, **memo;
    size_t n, stack_room, n_memo, memo_room; /* rooms in bytes */
    size_t *marks;                           /* stack sizes at each MARK */
    size_t n_marks, marks_room;
};

static enum wick_status broken(const struct machine *m, const char *rule) {
    return wick__archive_fail(m->archive, WICK_FORMAT, NULL, "data.pkl, byte %zu: %s", m->nbytes - m->left, rule);
}

static enum wick_status cut_short(const struct machine *m) { return broken(m, "the pickle is cut short"); }

/* ---- values ---- */

struct wick__value *wick__value_new(struct wick_archive *archive, enum wick__value_kind kind) {
    struct wick__value *value = wick__arena_alloc(&archive->arena, sizeof *value);
    if (value) *value = (struct wick__value){.kind = kind};
    return value;
}

enum wick_status wick__value_append(struct wick_archive *archive, struct wick__value *list, struct wick__value *item) {
    if (list->list.n == list->list.room) {
        size_t room = list->list.room ? list->list.room * 2 : 4;
        struct wick__value **items = wick__arena_alloc(&archive->arena, room * sizeof(struct wick__value *));
        if (!items) return WICK_MEMORY;
        if (list->list.n > 0) memcpy(items, list->list.items, list->list.n * sizeof(struct wick__value *));
        list->list.items = items;
        list->list.room = room;
    }
    list->list.items[list->list.n++] = item;
    return WICK_OK;
}

/* ---- the stack ---- */

/* Makes room for one more of `size` bytes. */
static bool grow(void *list, size_t n, size_t *room, size_t size) {
    void *items, *grown;
    if ((n + 1) * size <= *room) return true;
    memcpy(&items, list, sizeof items);
    size_t wanted = (n + 1) * size > *room * 2 ? (n + 64) * size : *room * 2;
    grown = wick__realloc(items, *room, wanted);
    if (!grown) return false;
    memset((char *)grown + *room, 0, wanted - *room);
    *room = wanted;
    memcpy(list, &grown, sizeof grown);
    return true;
}

static enum wick_status push(struct machine *m, struct wick__value *value) {
    if (!value || !grow(&m->stack, m->n, &m->stack_room, sizeof *m->stack)) return WICK_MEMORY;
    m->stack[m->n++] = value;
    return WICK_OK;
}

/* What the innermost MARK, or nothing, lies under. */
static size_t floor_of(const struct machine *m) { return m->n_marks ? m->marks[m->n_marks - 1] : 0; }

static struct wick__value *top(const struct machine *m) { return m->n > floor_of(m) ? m->stack[m->n - 1] : NULL; }

static struct wick__value *pop(struct machine *m) { return m->n > floor_of(m) ? m->stack[--m->n] : NULL; }

/* Removes the innermost MARK: *n values from stack[m->n] on were above it. */
static bool pop_mark(struct machine *m, size_t *n) {
    if (m->n_marks == 0) return false;
    size_t begin = m->marks[--m->n_marks];
    *n = m->n - begin;
    m->n = begin;
    return true;
}

static enum wick_status push_mark(struct machine *m) {
    if (!grow(&m->marks, m->n_marks, &m->marks_room, sizeof *m->marks)) return WICK_MEMORY;
    m->marks[m->n_marks++] = m->n;
    return WICK_OK;
}

/* ---- arguments of opcodes ---- */

static bool number(struct machine *m, size_t nbytes, uint64_t *value) {
    if (m->left < nbytes) return false;
    *value = 0;
    memcpy(value, m->at, nbytes);
    m->at += nbytes;
    m->left -= nbytes;
    return true;
}

/* A line of text without its newline, for GLOBAL. */
static const char *line(struct machine *m) {
    const unsigned char *end = memchr(m->at, '\n', m->left);
    if (!end) return NULL;
    size_t n = (size_t)(end - m->at);
    const char *text = wick__arena_text(&m->archive->arena, m->at, n);
    m->at += n + 1;
    m->left -= n + 1;
    return text;
}

/* ---- opcodes, by what they are about; each sets *status and returns true when `op` is one of its ---- */

static enum wick_status push_integer(struct machine *m, enum wick__value_kind kind, int64_t integer) {
    struct wick__value *value = wick__value_new(m->archive, kind);
    if (value) value->integer = integer;
    return push(m, value);
}

static enum wick_status push_real(struct machine *m, double real) {
    struct wick__value *value = wick__value_new(m->archive, WICK__FLOAT);
    if (value) value->real = real;
    return push(m, value);
}

/* LONG1, LONG4: two's complement of any length; what has more than 64 bits becomes a float. */
static enum wick_status push_long(struct machine *m, size_t size) {
    uint64_t n = 0, bits = 0;
    if (!number(m, size, &n) || n > m->left) return cut_short(m);
    const unsigned char *bytes = m->at;
    m->at += n;
    m->left -= (size_t)n;
    bool negative = n > 0 && bytes[n - 1] & 0x80;
    if (n <= 8) {
        bits = negative ? UINT64_MAX : 0;
        memcpy(&bits, bytes, (size_t)n);
        return push_integer(m, WICK__INT, (int64_t)bits);
    }
    double real = negative ? -1 : 0;
    for (size_t i = (size_t)n; i-- > 0;) real = real * 256 + bytes[i];
    return push_real(m, real);
}

static enum wick_status push_binfloat(struct machine *m) {
    uint64_t bits;
    double real;
    if (!number(m, 8, &bits)) return cut_short(m);
    bits = __builtin_bswap64(bits);
    memcpy(&real, &bits, sizeof real);
    return push_real(m, real);
}

static bool numbers(struct machine *m, int op, enum wick_status *status) {
    size_t size = op == 'J' ? 4 : op == 'M' ? 2 : 1;
    uint64_t value = 0;
    switch (op) {
    case 'N': *status = push_integer(m, WICK__NONE, 0); return true;
    case 0x88: *status = push_integer(m, WICK__BOOL, 1); return true;
    case 0x89: *status = push_integer(m, WICK__BOOL, 0); return true;
    case 'J': /* BININT, BININT1, BININT2 */
    case 'K':
    case 'M':
        if (!number(m, size, &value))
            *status = cut_short(m);
        else
            *status = push_integer(m, WICK__INT, op == 'J' ? (int32_t)(uint32_t)value : (int64_t)value);
        return true;
    case 0x8a: *status = push_long(m, 1); return true;
    case 0x8b: *status = push_long(m, 4); return true;
    case 'G': *status = push_binfloat(m); return true;
    default: return false;
    }
}

static enum wick_status push_text(struct machine *m, enum wick__value_kind kind, size_t size) {
    uint64_t n = 0;
    if (!number(m, size, &n) || n > m->left) return cut_short(m);
    struct wick__value *value = wick__value_new(m->archive, kind);
    if (!value) return WICK_MEMORY;
    value->text.bytes = wick__arena_text(&m->archive->arena, m->at, (size_t)n);
    value->text.n = (size_t)n;
    if (!value->text.bytes) return WICK_MEMORY;
    m->at += n;
    m->left -= (size_t)n;
    return push(m, value);
}

static bool texts(struct machine *m, int op, enum wick_status *status) {
    switch (op) {
    case 'U': /* SHORT_BINSTRING, SHORT_BINUNICODE */
    case 0x8c: *status = push_text(m, WICK__TEXT, 1); return true;
    case 'T': /* BINSTRING, BINUNICODE */
    case 'X': *status = push_text(m, WICK__TEXT, 4); return true;
    case 0x8d: *status = push_text(m, WICK__TEXT, 8); return true;
    case 'C': *status = push_text(m, WICK__BINARY, 1); return true;
    case 'B': *status = push_text(m, WICK__BINARY, 4); return true;
    case 0x8e: /* BINBYTES8, BYTEARRAY8 */
    case 0x96: *status = push_text(m, WICK__BINARY, 8); return true;
    default: return false;
    }
}

/* A list of the n values from stack[m->n] on. */
static enum wick_status push_list(struct machine *m, enum wick__value_kind kind, size_t n) {
    struct wick__value *value = wick__value_new(m->archive, kind);
    if (!value) return WICK_MEMORY;
    if (kind == WICK__DICT && n % 2 != 0) return broken(m, "a dict has a key without a value");
    for (size_t i = 0; i < n; i++) WICK__TRY(wick__value_append(m->archive, value, m->stack[m->n + i]));
    return push(m, value);
}

static enum wick_status push_marked(struct machine *m, enum wick__value_kind kind) {
    size_t n = 0;
    return pop_mark(m, &n) ? push_list(m, kind, n) : broken(m, "there is no mark");
}

static enum wick_status push_tuple(struct machine *m, size_t n) {
    if (m->n - floor_of(m) < n) return broken(m, "the stack has too few values");
    m->n -= n;
    return push_list(m, WICK__TUPLE, n);
}

/* Adds the n values from stack[m->n] on to the list or dict under them. */
static enum wick_status extend(struct machine *m, enum wick__value_kind kind, size_t n) {
    struct wick__value *list = top(m);
    if (!list || list->kind != kind) return broken(m, "items are added to what is neither list nor dict");
    if (kind == WICK__DICT && n % 2 != 0) return broken(m, "a dict has a key without a value");
    for (size_t i = 0; i < n; i++) WICK__TRY(wick__value_append(m->archive, list, m->stack[m->n + i]));
    return WICK_OK;
}

static enum wick_status extend_marked(struct machine *m, enum wick__value_kind kind) {
    size_t n = 0;
    return pop_mark(m, &n) ? extend(m, kind, n) : broken(m, "there is no mark");
}

static enum wick_status extend_by(struct machine *m, enum wick__value_kind kind, size_t n) {
    if (m->n - floor_of(m) < n) return broken(m, "the stack has too few values");
    m->n -= n;
    return extend(m, kind, n);
}

static bool containers(struct machine *m, int op, enum wick_status *status) {
    switch (op) {
    case '(': *status = push_mark(m); return true;
    case ']': /* EMPTY_LIST, EMPTY_SET */
    case 0x8f: *status = push_list(m, WICK__LIST, 0); return true;
    case '}': *status = push_list(m, WICK__DICT, 0); return true;
    case ')': *status = push_list(m, WICK__TUPLE, 0); return true;
    case 't': *status = push_marked(m, WICK__TUPLE); return true;
    case 0x85: /* TUPLE1, TUPLE2, TUPLE3 */
    case 0x86:
    case 0x87: *status = push_tuple(m, (size_t)op - 0x84); return true;
    case 'l': /* LIST, FROZENSET */
    case 0x91: *status = push_marked(m, WICK__LIST); return true;
    case 'd': *status = push_marked(m, WICK__DICT); return true;
    case 'a': *status = extend_by(m, WICK__LIST, 1); return true;
    case 'e': /* APPENDS, ADDITEMS */
    case 0x90: *status = extend_marked(m, WICK__LIST); return true;
    case 's': *status = extend_by(m, WICK__DICT, 2); return true;
    case 'u': *status = extend_marked(m, WICK__DICT); return true;
    default: return false;
    }
}

static enum wick_status memo_put(struct machine *m, uint64_t at) {
    struct wick__value *value = top(m);
    if (!value) return broken(m, "the stack is empty");
    /* Each number that is used took a byte or more. */
    if (at >= m->nbytes) return broken(m, "the number of a memo is out of range");
    if (at >= m->n_memo) {
        if (!grow(&m->memo, (size_t)at, &m->memo_room, sizeof *m->memo)) return WICK_MEMORY;
        m->n_memo = (size_t)at + 1;
    }
    m->memo[at] = value;
    return WICK_OK;
}

static enum wick_status memo_get(struct machine *m, uint64_t at) {
    if (at >= m->n_memo || !m->memo[at]) return broken(m, "there is no memo of that number");
    return push(m, m->memo[at]);
}

static bool memos(struct machine *m, int op, enum wick_status *status) {
    uint64_t at = m->n_memo;
    size_t size = op == 'q' || op == 'h' ? 1 : 4;
    switch (op) {
    case 'q': /* BINPUT, LONG_BINPUT */
    case 'r': *status = number(m, size, &at) ? memo_put(m, at) : cut_short(m); return true;
    case 0x94: *status = memo_put(m, at); return true;
    case 'h': /* BINGET, LONG_BINGET */
    case 'j': *status = number(m, size, &at) ? memo_get(m, at) : cut_short(m); return true;
    default: return false;
    }
}

static enum wick_status push_global(struct machine *m, const char *module, const char *name) {
    char quoted_module[WICK__QUOTED], quoted_name[WICK__QUOTED];
    if (!module || !name) return broken(m, "the name of a global does not end");
    struct wick__value *value = wick__value_new(m->archive, WICK__GLOBAL);
    if (!value) return WICK_MEMORY;
    value->global = wick__torch_global(module, name);
    if (!value->global)
        return wick__archive_fail(m->archive, WICK_UNSUPPORTED, NULL,
                                  "data.pkl asks for %s.%s, which is not run; save a plain state dict instead",
                                  wick__quote(quoted_module, module), wick__quote(quoted_name, name));
    return push(m, value);
}

static enum wick_status stack_global(struct machine *m) {
    struct wick__value *name = pop(m), *module = pop(m);
    if (!name || !module || name->kind != WICK__TEXT || module->kind != WICK__TEXT)
        return broken(m, "the name of a global is not text");
    return push_global(m, module->text.bytes, name->text.bytes);
}

/* REDUCE, NEWOBJ: a global and its arguments. */
static enum wick_status call(struct machine *m) {
    struct wick__value *arguments = pop(m), *global = pop(m), *result = NULL;
    if (!arguments || !global || global->kind != WICK__GLOBAL || arguments->kind != WICK__TUPLE)
        return broken(m, "what is called is not a global, or its arguments are not a tuple");
    WICK__TRY(wick__torch_call(m->archive, global->global, arguments, &result));
    return push(m, result);
}

/* BUILD: attributes. Those of a dict, such as the versions that a state dict carries, are dropped. */
static enum wick_status build(struct machine *m) {
    struct wick__value *state = pop(m), *object = top(m);
    if (!state || !object || object->kind != WICK__DICT) return broken(m, "attributes are set on what is not a dict");
    return WICK_OK;
}

static enum wick_status push_persistent(struct machine *m) {
    struct wick__value *id = pop(m), *result = NULL;
    if (!id) return broken(m, "the stack is empty");
    WICK__TRY(wick__torch_storage(m->archive, id, &result));
    return push(m, result);
}

static bool objects(struct machine *m, int op, enum wick_status *status) {
    const char *module, *name;
    switch (op) {
    case 'c':
        module = line(m);
        name = module ? line(m) : NULL;
        *status = push_global(m, module, name);
        return true;
    case 0x93: *status = stack_global(m); return true;
    case 'R':
    case 0x81: *status = call(m); return true;
    case 'b': *status = build(m); return true;
    case 'Q': *status = push_persistent(m); return true;
    default: return false;
    }
}

static bool others(struct machine *m, int op, enum wick_status *status) {
    uint64_t value = 0;
    size_t n;
    switch (op) {
    case 0x80: /* PROTO */
        if (!number(m, 1, &value))
            *status = cut_short(m);
        else if (value < 2 || value > 5)
            *status = broken(m, "the protocol is none of 2 to 5");
        return true;
    case 0x95: *status = number(m, 8, &value) ? WICK_OK : cut_short(m); return true; /* FRAME */
    case '0': *status = pop(m) ? WICK_OK : broken(m, "the stack is empty"); return true;
    case '1': *status = pop_mark(m, &n) ? WICK_OK : broken(m, "there is no mark"); return true;
    case '2': *status = top(m) ? push(m, top(m)) : broken(m, "the stack is empty"); return true;
    default: return false;
    }
}

static enum wick_status run(struct machine *m, const struct wick__value **root) {
    enum wick_status status = WICK_OK;
    while (status == WICK_OK) {
        uint64_t op = 0;
        if (!number(m, 1, &op)) return cut_short(m);
        if (op == '.') {
            *root = pop(m);
            return *root ? WICK_OK : broken(m, "the stack is empty");
        }
        int code = (int)op;
        if (numbers(m, code, &status) || texts(m, code, &status) || containers(m, code, &status) ||
            memos(m, code, &status) || objects(m, code, &status) || others(m, code, &status))
            continue;
        char text[64];
        snprintf(text, sizeof text, "opcode 0x%02x is none that torch.save writes", (unsigned)code);
        return broken(m, text);
    }
    return status;
}

enum wick_status wick__pickle_read(struct wick_archive *archive, const unsigned char *data, size_t nbytes,
                                   const struct wick__value **root) {
    struct machine m = {.archive = archive, .at = data, .left = nbytes, .nbytes = nbytes};
    enum wick_status status = run(&m, root);
    wick__free(m.stack, m.stack_room);
    wick__free(m.memo, m.memo_room);
    wick__free(m.marks, m.marks_room);
    return status;
}
