/* A destructor of a key of POSIX threads: it runs on the thread that ends, while its own variables are still there. */
#include "core/thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_key_t key;
static bool key_made;
static _Thread_local void (*ends[WICK__THREAD_PARTS])(void);

static void end_thread(void *unused) {
    (void)unused;
    for (int part = 0; part < WICK__THREAD_PARTS; part++) {
        void (*end)(void) = ends[part];
        ends[part] = NULL; /* a later destructor of the thread may ask for it again */
        if (end) end();
    }
}

__attribute__((constructor)) static void make_key(void) { key_made = pthread_key_create(&key, end_thread) == 0; }

/* No thread may run into code that was unloaded. */
__attribute__((destructor)) static void delete_key(void) {
    if (key_made) pthread_key_delete(key);
    key_made = false;
}

void wick__thread_at_end(enum wick__thread_part part, void (*end)(void)) {
    ends[part] = end;
    if (key_made) pthread_setspecific(key, ends); /* any value but NULL makes the destructor run */
}

const void *wick__thread_self(void) {
    static _Thread_local char self;
    return &self;
}
