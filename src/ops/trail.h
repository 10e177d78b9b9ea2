/* The trail of doubts through a graph that a family recorded itself: which results of a launch depend on which suspects
 * and on which buffers from outside. Each launch goes along it, and leaves its own doubts at the results. */
#ifndef WICK_OPS_TRAIL_H
#define WICK_OPS_TRAIL_H

#include "backend.h"
#include "core/tensor.h"

/* A value is what is in doubt at a point of the graph: values of earlier steps together, a suspect of the launch, or
 * what is in doubt about a buffer when the launch begins. */
struct wick__step {
    int a, b;                      /* values of earlier steps, -1: none */
    struct wick__suspect *suspect; /* of the recording, counted; NULL: none */
    struct wick__storage *from;    /* counted; NULL: none */
};

/* A result of the graph. Its storage is not counted: it names this place, and clears it when it ends. */
struct wick__role {
    struct wick__storage *storage; /* first, since storages know this place */
    struct wick__trail *trail;
    struct wick__role *next;
    int value;
};

struct wick__trail {
    struct wick__step *steps;
    int n, room;
    struct wick__role *roles;
    struct wick__target {              /* buffers from outside that the graph writes */
        struct wick__storage *storage; /* counted */
        int value;
    } * targets;
    int n_targets, targets_room;
    struct wick__doubt **values; /* n of them, while a launch goes along */
};

/* Adds a call that was recorded. `keeps`: of an op in place, whether the target keeps elements it had. */
enum wick_status wick__trail_add(struct wick__trail *trail, const struct wick__call *call, bool keeps);

/* Forgets results that are gone. */
void wick__trail_end(struct wick__trail *trail);

/* Works out what a launch puts in doubt; the launch is to be queued between the two. Nothing changes when begin fails;
 * leave takes back what begin made when `launched` is false. One thread at a time. */
enum wick_status wick__trail_begin(struct wick__trail *trail);
void wick__trail_leave(struct wick__trail *trail, bool launched);

void wick__trail_free(struct wick__trail *trail);

#endif
