/* Names of users and groups. */
#define _GNU_SOURCE /* fgetpwent_r, fgetgrent_r */
#include "core/names.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

bool wick__user_name(uid_t id, char *name, size_t size) {
    char room[4096];
    struct passwd entry, *user;
    bool found = false;
    FILE *file = fopen("/etc/passwd", "re");
    snprintf(name, size, "%u", (unsigned)id);
    while (file && !found && fgetpwent_r(file, &entry, room, sizeof room, &user) == 0) {
        found = user->pw_uid == id;
        if (found) snprintf(name, size, "%s", user->pw_name);
    }
    if (file) fclose(file);
    return found;
}

bool wick__group_name(gid_t id, char *name, size_t size, const char *user, bool *member) {
    char room[16384];
    struct group entry, *group;
    bool found = false, listed = false;
    FILE *file = fopen("/etc/group", "re");
    snprintf(name, size, "%u", (unsigned)id);
    while (file && !found && fgetgrent_r(file, &entry, room, sizeof room, &group) == 0) {
        found = group->gr_gid == id;
        if (found) snprintf(name, size, "%s", group->gr_name);
        for (char **at = group->gr_mem; found && user && *at; at++) listed = listed || strcmp(*at, user) == 0;
    }
    if (file) fclose(file);
    if (member) *member = listed;
    return found;
}
