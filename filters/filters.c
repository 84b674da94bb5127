#include "filters/filters.h"

const struct filter filter_table[] = {
    {0},
};
