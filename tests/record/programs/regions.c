/* Regions: outer 300 ms of which inner 100; and 100 that are not measured at all. */
#include "burn.h"
#include <hpcview.h>

int main(void)
{
    burn(50);
    hpcview_region_begin("outer");
    burn(100);
    hpcview_region_begin("inner");
    burn(100);
    hpcview_region_end("inner");
    burn(100);
    hpcview_region_end("outer");
    hpcview_stop();
    burn(100);
    hpcview_start();
    burn(50);
    say_burned(400);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
