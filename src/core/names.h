/* Names of users and groups, from /etc/passwd and /etc/group alone. The look-ups of the C library, which ask the
 * network too, load foreign code, and in glibc 2.36 end the process where they get no memory. */
#ifndef WICK_CORE_NAMES_H
#define WICK_CORE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The name of a user, cut where it is longer; the number where the file has none. Returns whether it has. */
bool wick__user_name(uid_t id, char *name, size_t size);

/* The same of a group; *member tells whether `user` is listed in it. `user` and `member` may be NULL. */
bool wick__group_name(gid_t id, char *name, size_t size, const char *user, bool *member);

#endif
