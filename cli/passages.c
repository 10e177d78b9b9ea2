/* Cutting a text into passages that are worth showing on their own. */
#include "cli/passages.h"

#include <stdlib.h>
#include <string.h>

struct splitter {
    const char *text;
    struct passages *passages;
    int64_t max_words;
    struct passage open; /* the passage that is being put together */
    int64_t words;       /* in it; 0: there is none */
    bool heading;        /* it holds headings only */
    bool fence;          /* inside a fenced block */
    bool failed;
};

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* A lead byte from U+3000 on: scripts that put no spaces between words, and emoji. */
static bool stands_alone(char c) { return (unsigned char)c >= 0xE3; }

/* The end of the word that begins at `at`, which is not a space. */
static size_t word_end(const char *text, size_t at, size_t end) {
    if (stands_alone(text[at])) {
        for (at++; at < end && ((unsigned char)text[at] & 0xC0) == 0x80;) at++;
        return at;
    }
    while (at < end && !is_space(text[at]) && !stands_alone(text[at])) at++;
    return at;
}

static int64_t count_words(const char *text, size_t at, size_t end) {
    int64_t n = 0;
    while (at < end) {
        if (is_space(text[at])) {
            at++;
        } else {
            at = word_end(text, at, end);
            n++;
        }
    }
    return n;
}

static bool says_something(const char *text, size_t nbytes) {
    for (size_t i = 0; i < nbytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c >= 0x80) return true;
    }
    return false;
}

static void close_passage(struct splitter *splitter) {
    struct passages *passages = splitter->passages;
    bool keep = splitter->words > 0 && says_something(splitter->text + splitter->open.start, splitter->open.nbytes);
    splitter->words = 0;
    splitter->heading = false;
    if (!keep || splitter->failed) return;
    if (passages->n == passages->capacity) {
        int64_t capacity = passages->capacity * 2 + 64;
        struct passage *items = realloc(passages->items, (size_t)capacity * sizeof *items);
        splitter->failed = !items;
        if (!items) return;
        passages->items = items;
        passages->capacity = capacity;
    }
    passages->items[passages->n++] = splitter->open;
}

/* Adds the bytes [at, end), of so many words, to the open passage, or begins one. */
static void extend(struct splitter *splitter, size_t at, size_t end, int64_t line, int64_t words) {
    if (splitter->words == 0) splitter->open = (struct passage){at, 0, line};
    splitter->open.nbytes = end - splitter->open.start;
    splitter->words += words;
}

/* A line without its white space at both ends. */
static void add_line(struct splitter *splitter, size_t at, size_t end, int64_t line) {
    const char *text = splitter->text;
    int64_t words = count_words(text, at, end);
    if (splitter->words > 0 && splitter->words + words > splitter->max_words && !splitter->heading)
        close_passage(splitter);
    if (words <= splitter->max_words) {
        extend(splitter, at, end, line, words);
        return;
    }
    for (size_t from = at; from < end;) { /* a line too long in itself */
        size_t to = from;
        int64_t n = 0;
        for (; n < splitter->max_words && from < end; n++) {
            to = from = word_end(text, from, end);
            while (from < end && is_space(text[from])) from++;
        }
        extend(splitter, at, to, line, n);
        if (from < end) close_passage(splitter);
        at = from;
    }
}

static bool is_heading(const char *line, size_t nbytes) {
    size_t marks = 0;
    while (marks < nbytes && line[marks] == '#') marks++;
    return marks >= 1 && marks <= 6 && marks < nbytes && line[marks] == ' ';
}

static bool is_fence(const char *line, size_t nbytes) {
    return nbytes >= 3 && (memcmp(line, "```", 3) == 0 || memcmp(line, "~~~", 3) == 0);
}

static void take_line(struct splitter *splitter, size_t at, size_t end, int64_t line) {
    const char *text = splitter->text;
    while (at < end && is_space(text[at])) at++;
    while (end > at && is_space(text[end - 1])) end--;
    if (at == end) {
        if (!splitter->fence && !splitter->heading) close_passage(splitter);
        return;
    }
    if (is_fence(text + at, end - at)) splitter->fence = !splitter->fence;
    bool heading = !splitter->fence && is_heading(text + at, end - at);
    if (heading && !splitter->heading) close_passage(splitter);
    add_line(splitter, at, end, line);
    splitter->heading = heading;
}

bool passages_split(const char *text, size_t nbytes, int64_t max_words, struct passages *passages) {
    struct splitter splitter = {.text = text, .passages = passages, .max_words = max_words};
    int64_t line = 1;
    for (size_t at = 0; at < nbytes; line++) {
        const char *newline = memchr(text + at, '\n', nbytes - at);
        size_t end = newline ? (size_t)(newline - text) : nbytes;
        take_line(&splitter, at, end, line);
        at = end + 1;
    }
    close_passage(&splitter);
    return !splitter.failed;
}
