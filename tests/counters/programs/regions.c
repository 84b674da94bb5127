/* One region that is entered twice, with 2 parts each time, of 6. */
#include "programs.h"
#include "hpcview.h"

int main(int argc, char **argv)
{
    unsigned long unit = unit_of(argc, argv);
    for (int i = 0; i < 2; i++) {
        BLOCK(unit);
        hpcview_region_begin("inside");
        BLOCK(2 * unit);
        hpcview_region_end("inside");
    }
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
