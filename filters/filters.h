/*
 * filters - other tools' output becomes measurement files.
 *
 * Knows:    other tools' formats.
 * Does not: structure, metrics, pages; print.
 *
 * A filter is one row: name, sniff (looks at content, never at the file's name), convert.
 */
#ifndef FILTERS_H
#define FILTERS_H

#include "hpcprof/hpcprof.h"

struct filter {
    const char *name, *description;
    bool (*sniff)(const void *bytes, size_t len);
    int (*convert)(const void *bytes, size_t len, const char *name, struct hpcprof *into, struct warnings *,
                   struct err *);
};
/* All filters; the last row has a NULL name. */
extern const struct filter filter_table[];

#endif
