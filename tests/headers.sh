#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every header compiles alone.
. "$top_srcdir/tests/lib.sh"

for header in "$top_srcdir"/*/*.h "$top_srcdir"/*/*/*.h "$top_srcdir"/*/*/*/*.h; do
    [ -f "$header" ] || continue
    name=${header#"$top_srcdir/"}
    printf '#include "%s"\n' "$name" >"$scratch/alone.c"
    # shellcheck disable=SC2086
    run $CC -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-function -Wno-unused-variable -Werror -I"$top_builddir" -I"$top_srcdir" $HEADER_CFLAGS \
        -fsyntax-only "$scratch/alone.c"
    check "$name compiles alone" test "$status" = 0
done
done_testing
