/* The tables of filters. */
#ifndef WICK_TEMPLATE_FILTER_H
#define WICK_TEMPLATE_FILTER_H

#include "template/run.h"

struct wick__filter {
    const char *name;
    struct wick__value (*call)(struct wick__run *run, const struct wick__args *args);
};

/* Filters of lists and dicts, up to a row without a name (filter_list.c). */
extern const struct wick__filter wick__list_filters[];

#endif
