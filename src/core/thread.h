/* What is to be done when a thread ends. */
#ifndef WICK_CORE_THREAD_H
#define WICK_CORE_THREAD_H

enum wick__thread_part { WICK__THREAD_RECORD, WICK__THREAD_SCOPES, WICK__THREAD_PARTS };

/* Has `end` called when this thread ends, for the part; once for each call, and as often as is wanted. Parts end in
 * the order of the enum. Where the system can keep no more such calls, nothing happens. */
void wick__thread_at_end(enum wick__thread_part part, void (*end)(void));

/* An address of this thread's own: it tells threads apart. */
const void *wick__thread_self(void);

#endif
