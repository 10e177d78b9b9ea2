/* What fork leaves behind: a child has one thread and its parent's memory, whatever the other threads had in hand.
 *
 * The processor's pools of memory and threads work in a child: their locks are free there (cpu/pool.c, cpu/parallel.c).
 * A GPU's driver does not, whoever calls it: devices that a parent opened, and drivers that it loaded, are refused. */
#ifndef WICK_CORE_FORK_H
#define WICK_CORE_FORK_H

/* How many forks lie between the process that loaded the library and this one. */
unsigned wick__forks(void);

#endif
