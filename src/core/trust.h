/* What may be believed of the world outside: whose files are read as code or as our own notes, and by whom. */
#ifndef WICK_CORE_TRUST_H
#define WICK_CORE_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether this process has rights that its caller lacks: a set-uid program, or one with capabilities of its file. It
 * believes neither the environment (secure_getenv) nor places that depend on where a file happens to lie. */
static inline bool wick__privileged(void) { return getauxval(AT_SECURE) != 0; }

/* Why a file or folder is not to be trusted; NULL when it is: it belongs to this user or root, and nobody else may
 * write it. Whoever can write machine code that we run, is us. */
static inline const char *wick__distrust(const struct stat *about) {
    if (about->st_uid != geteuid() && about->st_uid != 0) return "belongs to another user";
    return about->st_mode & (S_IWGRP | S_IWOTH) ? "can be written by others" : NULL;
}

#endif
