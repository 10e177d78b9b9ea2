/* The heap of pairs, and the table of merges. */
#include "text/merge.h"

#include "text/vocab.h"

/* ---- the table ---- */

static uint32_t slot_of(const struct wick__merges *merges, int32_t left, int32_t right) {
    uint64_t hash = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    hash = (hash + merges->seed) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return (uint32_t)(hash >> 32) & (merges->n_slots - 1);
}

enum wick_status wick__merges_reserve(struct wick__merges *merges, uint32_t n) {
    uint32_t n_slots = 16;
    if (n > 1u << 24) return wick__fail(WICK_FORMAT, "%u merges are too many", n);
    while (n_slots < 2 * n) n_slots *= 2;
    merges->slots = wick__alloc(n_slots * sizeof *merges->slots);
    if (!merges->slots) return WICK_MEMORY;
    merges->n_slots = n_slots;
    merges->seed = wick__hash_seed();
    for (uint32_t i = 0; i < n_slots; i++) merges->slots[i].left = -1;
    return WICK_OK;
}

void wick__merges_add(struct wick__merges *merges, const struct wick__merge *merge) {
    uint32_t at = slot_of(merges, merge->left, merge->right);
    for (;; at = (at + 1) & (merges->n_slots - 1)) {
        struct wick__merge *slot = &merges->slots[at];
        if (slot->left == merge->left && slot->right == merge->right) return;
        if (slot->left >= 0) continue;
        *slot = *merge;
        return;
    }
}

const struct wick__merge *wick__merges_find(const struct wick__merges *merges, int32_t left, int32_t right) {
    if (merges->n_slots == 0) return NULL;
    for (uint32_t at = slot_of(merges, left, right);; at = (at + 1) & (merges->n_slots - 1)) {
        const struct wick__merge *slot = &merges->slots[at];
        if (slot->left < 0) return NULL;
        if (slot->left == left && slot->right == right) return slot;
    }
}

void wick__merges_free(struct wick__merges *merges) {
    wick__free(merges->slots, merges->n_slots * sizeof *merges->slots);
    *merges = (struct wick__merges){0};
}

/* ---- merging ---- */

/* A pair that may merge: the position of its left part, and both ids as they were when it was found. */
struct candidate {
    int32_t rank, at, left, right, result;
};

/* A heap with the lowest rank on top, and of equal ones the leftmost. */
struct heap {
    struct candidate *items;
    size_t n, capacity;
};

static bool before(const struct candidate *a, const struct candidate *b) {
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static bool push(struct heap *heap, struct candidate item) {
    if (heap->n == heap->capacity) {
        size_t capacity = heap->capacity ? heap->capacity * 2 : 64;
        struct candidate *items = wick__realloc(heap->items, heap->capacity * sizeof *items, capacity * sizeof *items);
        if (!items) return false;
        heap->items = items;
        heap->capacity = capacity;
    }
    size_t at = heap->n++;
    for (; at > 0 && before(&item, &heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = item;
    return true;
}

static struct candidate pop(struct heap *heap) {
    struct candidate top = heap->items[0], last = heap->items[--heap->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->n; at = child) {
        if (child + 1 < heap->n && before(&heap->items[child + 1], &heap->items[child])) child++;
        if (!before(&heap->items[child], &last)) break;
        heap->items[at] = heap->items[child];
    }
    heap->items[at] = last;
    return top;
}

/* The pair that begins at a symbol, if it may merge. False without memory. */
static bool consider(struct heap *heap, const struct wick__symbol_link *symbols, int32_t at, wick__pair_fn *pair,
                     const void *context) {
    int32_t right = at < 0 ? -1 : symbols[at].next;
    if (right < 0) return true;
    struct candidate found = {.at = at, .left = symbols[at].id, .right = symbols[right].id};
    found.result = pair(context, found.left, found.right, &found.rank);
    return found.result < 0 || push(heap, found);
}

enum wick_status wick__merge_all(struct wick__symbol_link *symbols, int32_t n, wick__pair_fn *pair,
                                 const void *context) {
    struct heap heap = {0};
    bool good = true;
    for (int32_t i = 0; i + 1 < n && good; i++) good = consider(&heap, symbols, i, pair, context);
    while (good && heap.n > 0) {
        struct candidate best = pop(&heap);
        struct wick__symbol_link *left = &symbols[best.at];
        if (left->id != best.left || left->next < 0 || symbols[left->next].id != best.right)
            continue; /* merged since */
        int32_t gone = left->next;
        left->id = best.result;
        left->next = symbols[gone].next;
        if (left->next >= 0) symbols[left->next].previous = best.at;
        symbols[gone].id = -1;
        good =
            consider(&heap, symbols, left->previous, pair, context) && consider(&heap, symbols, best.at, pair, context);
    }
    wick__free(heap.items, heap.capacity * sizeof *heap.items);
    return good ? WICK_OK : WICK_MEMORY;
}
