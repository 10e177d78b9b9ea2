/* A broken GPU driver: what it does when it is opened, BROKEN_DRIVER says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void open_driver(void) {
    const char *how = getenv("BROKEN_DRIVER");
    if (!how) return;
    if (strcmp(how, "crash") == 0) abort();
    if (strcmp(how, "exit") == 0) _exit(3);
    if (strcmp(how, "hang") == 0)
        for (;;) pause();
    if (strcmp(how, "talk") == 0) /* and go on, at length */
        for (;;) puts("driver \033[31mtalks\033[0m of card 1650522003820 at /home/someone/secret/card");
}
