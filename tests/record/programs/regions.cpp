// The same header in C++.
#include "burn.h"
#include <hpcview.h>

int main()
{
    hpcview_region_begin("outer");
    burn(200);
    hpcview_region_end("outer");
    say_burned(200);
    return 0;
}
// SPDX-License-Identifier: BSD-3-Clause
