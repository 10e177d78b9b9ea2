/* Verdicts on vendors' libraries, kept on disk, so that a process need not run every check that another has run. */
#ifndef WICK_GPU_ROUTES_VERDICTS_H
#define WICK_GPU_ROUTES_VERDICTS_H

#include "gpu/routes/route.h"

/* The route's library as text: its file and those that it depends on, with their sizes and times. False
 * when there is no library, or it tells no version, or there is no room for all that. */
bool wick__verdict_library(const struct wick__gpu *gpu, const struct wick__vendor_route *route, char *text,
                           size_t size);
struct wick__cache_key;
/* The key of what is kept on disk of a route's library as it is now: `name` is for the file's name, `what` tells one
 * such thing from another, in lines. False as above. */
bool wick__verdict_key(const struct wick__gpu *gpu, const struct wick__vendor_route *route, const char *name,
                       const char *what, struct wick__cache_key *key);
/* The verdict of a check on this device by this very file of the library; UNCHECKED when none is kept. */
enum wick__verdict wick__verdict_find(const struct wick__gpu *gpu, const struct wick__vendor_route *route, int check);
/* Keeps a verdict, if it is one that lasts. */
void wick__verdict_keep(const struct wick__gpu *gpu, const struct wick__vendor_route *route, int check,
                        enum wick__verdict verdict);

#endif
