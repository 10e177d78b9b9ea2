/* The longest token at a place: of all tokens that are not behind the text in the order of bytes, the last one begins
 * with every token that the text begins with. So it is found by halving, and the answer is above it in the tree of
 * beginnings. */
#include "text/added.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *a, const void *b) {
    const struct wick__added_token *left = ((const struct wick__added_node *)a)->token;
    const struct wick__added_token *right = ((const struct wick__added_node *)b)->token;
    size_t both = left->nbytes < right->nbytes ? left->nbytes : right->nbytes;
    int order = memcmp(left->content, right->content, both);
    if (order) return order;
    if (left->nbytes != right->nbytes) return left->nbytes < right->nbytes ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

static bool begins(const struct wick__added_token *whole, const struct wick__added_token *part) {
    return !part || (part->nbytes <= whole->nbytes && memcmp(whole->content, part->content, part->nbytes) == 0);
}

static size_t length(const struct wick__added_index *index, int i) { return i ? index->nodes[i].token->nbytes : 0; }

/* Puts node i, whose token is known, below the nodes before it. */
static void link_node(struct wick__added_index *index, int i) {
    struct wick__added_node *nodes = index->nodes;
    int parent = i - 1;
    while (!begins(nodes[i].token, nodes[parent].token)) parent = nodes[parent].parent;
    int jump = nodes[parent].jump, span = nodes[parent].depth - nodes[jump].depth;
    nodes[i].parent = parent;
    nodes[i].depth = nodes[parent].depth + 1;
    /* Two jumps of one length make one of twice that. */
    nodes[i].jump = parent > 0 && span == nodes[jump].depth - nodes[nodes[jump].jump].depth ? nodes[jump].jump : parent;
    index->first[(unsigned char)nodes[i].token->content[0]] = true;
}

enum wick_status wick__added_build(struct wick__added_index *index, int n, const struct wick__added_token *tokens,
                                   bool normalized, bool literal) {
    index->capacity = n + 1;
    index->nodes = wick__calloc((size_t)n + 1, sizeof *index->nodes);
    if (!index->nodes) return WICK_MEMORY;
    int found = 1;
    for (int i = 0; i < n; i++) {
        if (tokens[i].normalized != normalized || (literal && tokens[i].control)) continue;
        if (tokens[i].nbytes > WICK__ADDED_BYTES_MAX)
            return wick__fail(WICK_FORMAT, "token %d is looked for as a whole and has %zu bytes, more than %d",
                              (int)tokens[i].id, tokens[i].nbytes, WICK__ADDED_BYTES_MAX);
        index->nodes[found++].token = &tokens[i];
    }
    qsort(index->nodes + 1, (size_t)found - 1, sizeof *index->nodes, by_bytes);
    index->n = 1;
    for (int i = 1; i < found; i++) {
        const struct wick__added_token *token = index->nodes[i].token;
        if (index->n > 1 && length(index, index->n - 1) == token->nbytes &&
            begins(token, index->nodes[index->n - 1].token))
            continue;
        index->nodes[index->n].token = token;
        link_node(index, index->n++);
    }
    return WICK_OK;
}

void wick__added_free(struct wick__added_index *index) {
    wick__free(index->nodes, (size_t)index->capacity * sizeof *index->nodes);
    *index = (struct wick__added_index){0};
}

/* How many bytes a token and the text have in common, and whether the token is behind it. */
static size_t compare(const struct wick__added_token *token, const char *text, size_t nbytes, bool *behind) {
    size_t both = token->nbytes < nbytes ? token->nbytes : nbytes, same = 0;
    while (same < both && token->content[same] == text[same]) same++;
    *behind = same < both ? (unsigned char)token->content[same] > (unsigned char)text[same] : token->nbytes > nbytes;
    return same;
}

const struct wick__added_token *wick__added_find(const struct wick__added_index *index, const char *text,
                                                 size_t nbytes) {
    if (!index->first[(unsigned char)text[0]]) return NULL;
    int low = 0, high = index->n; /* the last node not behind the text is in low .. high - 1 */
    size_t same = 0;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        bool behind;
        size_t common = compare(index->nodes[middle].token, text, nbytes, &behind);
        if (behind) {
            high = middle;
        } else {
            low = middle;
            same = common;
        }
    }
    while (length(index, low) > same) {
        int jump = index->nodes[low].jump;
        low = length(index, jump) > same ? jump : index->nodes[low].parent;
    }
    return index->nodes[low].token;
}
