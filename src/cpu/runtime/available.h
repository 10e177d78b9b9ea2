/* How much memory this process may still take. */
#ifndef WICK_CPU_RUNTIME_AVAILABLE_H
#define WICK_CPU_RUNTIME_AVAILABLE_H

#include <stddef.h>

/* The least of what the machine has left, what its control groups leave it, and what is left of its address space
 * (ulimit -v). Pages of files count as free, because the system takes them back. 0: not known. */
size_t wick__host_available(void);

#endif
