/* Jinja's lexer with trim_blocks and lstrip_blocks, as chat templates are rendered with: the newline behind a block tag
 * and the blanks before it on its line are not part of the text. */
#include "template/lex.h"

#include "text/unicode.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum wick_status wick__template_fail(int line, const char *format, ...) {
    char why[256];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return wick__fail(WICK_FORMAT, "template:%d: %s", line, why);
}

static struct wick__token fail(struct wick__lexer *lexer, const char *why) {
    lexer->status = wick__template_fail(lexer->line, "%s", why);
    return (struct wick__token){.kind = WICK__T_END, .line = lexer->line};
}

static bool at_text(const struct wick__lexer *lexer, const char *what) {
    size_t n = strlen(what);
    return lexer->nbytes - lexer->at >= n && memcmp(lexer->text + lexer->at, what, n) == 0;
}

static void advance(struct wick__lexer *lexer, size_t n) {
    for (; n > 0; n--)
        if (lexer->text[lexer->at++] == '\n') lexer->line++;
}

static void skip_space(struct wick__lexer *lexer) {
    uint32_t c;
    while (lexer->at < lexer->nbytes) {
        size_t n = wick__utf8_get(lexer->text + lexer->at, lexer->nbytes - lexer->at, &c);
        if (!wick__is_space(c) && !(c >= 0x1C && c <= 0x1F)) break;
        advance(lexer, n);
    }
}

/* ---- text ---- */

/* Where the next tag begins, or the end. */
static size_t find_tag(const struct wick__lexer *lexer) {
    size_t at = lexer->at;
    for (; at + 1 < lexer->nbytes; at++)
        if (lexer->text[at] == '{' &&
            (lexer->text[at + 1] == '{' || lexer->text[at + 1] == '%' || lexer->text[at + 1] == '#'))
            return at;
    return lexer->nbytes;
}

/* Cuts the blanks before a tag: all white space for "-", those of its own line for a block or a comment. */
static size_t cut_end(const struct wick__lexer *lexer, size_t start, size_t end) {
    char kind = end + 1 < lexer->nbytes ? lexer->text[end + 1] : '\0';
    char sign = end + 2 < lexer->nbytes ? lexer->text[end + 2] : '\0';
    if (kind == '\0') return end;
    size_t at = end;
    if (sign == '-') {
        while (at > start) {
            uint32_t c;
            size_t before = wick__utf8_back(lexer->text, at);
            if (before < start) break;
            wick__utf8_get(lexer->text + before, at - before, &c);
            if (!wick__is_space(c) && !(c >= 0x1C && c <= 0x1F)) break;
            at = before;
        }
        return at;
    }
    if (kind == '{' || sign == '+') return end;
    while (at > start && (lexer->text[at - 1] == ' ' || lexer->text[at - 1] == '\t')) at--;
    bool own_line = at > start ? lexer->text[at - 1] == '\n' : lexer->line_start;
    return own_line ? at : end;
}

static void end_comment(struct wick__lexer *lexer) {
    size_t at = lexer->at + 2;
    while (at + 1 < lexer->nbytes && !(lexer->text[at] == '#' && lexer->text[at + 1] == '}')) at++;
    if (at + 1 >= lexer->nbytes) {
        fail(lexer, "a comment does not end");
        return;
    }
    char sign = at > lexer->at + 2 ? lexer->text[at - 1] : '\0';
    advance(lexer, at + 2 - lexer->at);
    lexer->line_start = false;
    if (sign == '-') {
        lexer->strip_next = true;
    } else if (sign != '+' && at_text(lexer, "\n")) {
        advance(lexer, 1);
        lexer->line_start = true;
    }
}

/* Behind a tag: what is not part of the text that follows. */
static void after_tag(struct wick__lexer *lexer) {
    if (!lexer->strip_next) return;
    size_t before = lexer->at;
    skip_space(lexer);
    lexer->line_start = lexer->at > before && lexer->text[lexer->at - 1] == '\n';
    lexer->strip_next = false;
}

static struct wick__token lex_raw(struct wick__lexer *lexer) {
    after_tag(lexer);
    size_t start = lexer->at;
    struct wick__token token = {.kind = WICK__T_TEXT, .line = lexer->line, .text = lexer->text + start};
    for (size_t at = start; at + 1 < lexer->nbytes; at++) {
        size_t word = at + 2;
        if (lexer->text[at] != '{' || lexer->text[at + 1] != '%') continue;
        if (word < lexer->nbytes && (lexer->text[word] == '-' || lexer->text[word] == '+')) word++;
        while (word < lexer->nbytes && isspace((unsigned char)lexer->text[word])) word++;
        if (lexer->nbytes - word < 6 || memcmp(lexer->text + word, "endraw", 6) != 0) continue;
        token.n = cut_end(lexer, start, at) - start;
        advance(lexer, at - start);
        lexer->raw = false;
        return token;
    }
    return fail(lexer, "a raw block does not end");
}

static struct wick__token lex_text(struct wick__lexer *lexer) {
    for (;;) {
        after_tag(lexer);
        if (lexer->status != WICK_OK || lexer->at == lexer->nbytes) break;
        size_t start = lexer->at, tag = find_tag(lexer), end = cut_end(lexer, start, tag);
        struct wick__token token = {
            .kind = WICK__T_TEXT, .line = lexer->line, .text = lexer->text + start, .n = end - start};
        if (tag > start) {
            advance(lexer, tag - start);
            lexer->line_start = false; /* asked for the tag, which begins here */
            if (token.n) return token;
        }
        if (lexer->at == lexer->nbytes) break;
        if (lexer->text[lexer->at + 1] == '#') {
            end_comment(lexer);
            continue;
        }
        token.kind = lexer->text[lexer->at + 1] == '%' ? WICK__T_BLOCK_BEGIN : WICK__T_PRINT_BEGIN;
        advance(lexer, 2);
        if (at_text(lexer, "-") || at_text(lexer, "+")) advance(lexer, 1);
        lexer->inside = token.kind;
        return token;
    }
    return (struct wick__token){.kind = WICK__T_END, .line = lexer->line};
}

/* ---- inside a tag ---- */

/* The end of the tag, "%}" or "}}", perhaps with a sign before it. */
static bool tag_end(struct wick__lexer *lexer, struct wick__token *token) {
    const char *plain = lexer->inside == WICK__T_BLOCK_BEGIN ? "%}" : "}}";
    bool strip = at_text(lexer, "-"), keep = at_text(lexer, "+");
    struct wick__lexer saved = *lexer;
    if (strip || keep) advance(lexer, 1);
    if (lexer->brackets > 0 || !at_text(lexer, plain)) {
        *lexer = saved;
        return false;
    }
    bool block = lexer->inside == WICK__T_BLOCK_BEGIN;
    token->kind = block ? WICK__T_BLOCK_END : WICK__T_PRINT_END;
    advance(lexer, 2);
    lexer->inside = 0;
    lexer->strip_next = strip;
    lexer->line_start = false;
    if (block && !strip && !keep && at_text(lexer, "\n")) {
        advance(lexer, 1);
        lexer->line_start = true;
    }
    return true;
}

static int hex_digits(const char *text, size_t n, uint32_t *value) {
    *value = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (!isxdigit(c)) return -1;
        *value = *value * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return 0;
}

/* One escape at text[at], behind the backslash; returns how many bytes it is, 0 for a wrong one. */
static size_t unescape(const char *text, size_t nbytes, char *out, size_t *n) {
    static const char from[] = "ntrabfv\\'\"", to[] = "\n\t\r\a\b\f\v\\'\"";
    const char *known = strchr(from, text[0]);
    uint32_t c;
    if (known && text[0]) {
        out[(*n)++] = to[known - from];
        return 1;
    }
    if (text[0] == '\n') return 1;
    size_t digits = text[0] == 'x' ? 2 : text[0] == 'u' ? 4 : text[0] == 'U' ? 8 : 0;
    if (digits) {
        if (nbytes <= digits || hex_digits(text + 1, digits, &c) != 0 || c > 0x10FFFF || (c >> 11) == 0x1B) return 0;
        *n += wick__utf8_put(c, out + *n);
        return digits + 1;
    }
    if (text[0] == '0') {
        out[(*n)++] = '\0';
        return 1;
    }
    out[(*n)++] = '\\'; /* Python keeps what it does not know */
    out[(*n)++] = text[0];
    return 1;
}

static struct wick__token lex_string(struct wick__lexer *lexer, struct wick__token token) {
    char quote = lexer->text[lexer->at];
    size_t start = lexer->at + 1, end = start, n = 0;
    while (end < lexer->nbytes && lexer->text[end] != quote) end += lexer->text[end] == '\\' ? 2 : 1;
    if (end >= lexer->nbytes) return fail(lexer, "a string does not end");
    char *out = wick__arena_alloc(lexer->arena, end - start + 1); /* no escape is shorter than what it stands for */
    if (!out) {
        lexer->status = wick__latest();
        return (struct wick__token){.kind = WICK__T_END};
    }
    for (size_t at = start; at < end;) {
        if (lexer->text[at] != '\\') {
            out[n++] = lexer->text[at++];
            continue;
        }
        size_t taken = unescape(lexer->text + at + 1, end - at - 1, out, &n);
        if (!taken) return fail(lexer, "a string has a wrong escape");
        at += taken + 1;
    }
    advance(lexer, end + 1 - lexer->at);
    token.kind = WICK__T_STRING;
    token.text = out;
    token.n = n;
    return token;
}

static struct wick__token lex_number(struct wick__lexer *lexer, struct wick__token token) {
    char digits[64];
    size_t n = 0, at = lexer->at;
    bool real = false;
    while (at < lexer->nbytes && n + 2 < sizeof digits) { /* a sign may follow an exponent */
        char c = lexer->text[at];
        bool fraction = c == '.' && !real && at + 1 < lexer->nbytes && isdigit((unsigned char)lexer->text[at + 1]);
        bool exponent =
            (c == 'e' || c == 'E') && at + 1 < lexer->nbytes &&
            (isdigit((unsigned char)lexer->text[at + 1]) || lexer->text[at + 1] == '-' || lexer->text[at + 1] == '+');
        if (!isdigit((unsigned char)c) && c != '_' && !fraction && !exponent) break;
        if (c != '_') digits[n++] = c;
        if (exponent) digits[n++] = lexer->text[++at];
        real |= fraction || exponent;
        at++;
    }
    digits[n] = '\0';
    advance(lexer, at - lexer->at);
    if (n + 2 >= sizeof digits) return fail(lexer, "a number is too long");
    json_error_t error;
    json_t *number = json_loads(digits, JSON_DECODE_ANY, &error); /* knows no locale */
    if (!number) return fail(lexer, "a number is out of range, or written in another way than in base ten");
    token.kind = json_is_real(number) ? WICK__T_FLOAT : WICK__T_INT;
    token.value = json_is_real(number) ? wick__float(json_real_value(number)) : wick__int(json_integer_value(number));
    json_decref(number);
    return token;
}

static struct wick__token lex_symbol(struct wick__lexer *lexer, struct wick__token token) {
    static const char *const two[] = {"==", "!=", "<=", ">=", "//", "**", NULL};
    token.kind = WICK__T_SYMBOL;
    token.n = 1;
    for (const char *const *symbol = two; *symbol; symbol++)
        if (at_text(lexer, *symbol)) token.n = 2;
    char c = lexer->text[lexer->at];
    if (token.n == 1 && !strchr("+-*/%~<>=()[]{},.:|", c))
        return fail(lexer, "a character has no meaning inside a tag");
    if (strchr("([{", c)) lexer->brackets++;
    if (strchr(")]}", c) && lexer->brackets > 0) lexer->brackets--;
    advance(lexer, token.n);
    return token;
}

struct wick__token wick__lex(struct wick__lexer *lexer) {
    if (lexer->raw) return lex_raw(lexer);
    if (!lexer->inside) return lex_text(lexer);
    skip_space(lexer);
    struct wick__token token = {.line = lexer->line, .text = lexer->text + lexer->at};
    if (lexer->at == lexer->nbytes) return fail(lexer, "a tag does not end");
    if (tag_end(lexer, &token)) return token;
    unsigned char c = (unsigned char)lexer->text[lexer->at];
    if (isalpha(c) || c == '_' || c >= 0x80) {
        size_t at = lexer->at;
        while (at < lexer->nbytes && (isalnum((unsigned char)lexer->text[at]) || lexer->text[at] == '_' ||
                                      (unsigned char)lexer->text[at] >= 0x80))
            at++;
        token.kind = WICK__T_NAME;
        token.n = at - lexer->at;
        advance(lexer, token.n);
        return token;
    }
    if (c == '"' || c == '\'') return lex_string(lexer, token);
    if (isdigit(c)) return lex_number(lexer, token);
    return lex_symbol(lexer, token);
}
