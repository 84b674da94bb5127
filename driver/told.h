/* What a recorded program says of its barriers while it runs (record --watch, --warn), in words. */
#ifndef DRIVER_TOLD_H
#define DRIVER_TOLD_H

#include "support/support.h"

#include <stdio.h>

struct told {
    FILE *out;
    const char *const *watched; /* "all", names, FILE:LINE; NULL-terminated */
};
/* For hpcprof_record_options.told, with a struct told. */
void told_line(void *told, char *line);

#endif
