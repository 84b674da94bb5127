#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A binary that was rebuilt or removed after its measurement is shown by the functions that record noted.
. "$top_srcdir/tests/lib.sh"

cd "$scratch" || exit 99
cat >spin.c <<'END'
#include <stdlib.h>
static volatile double kept;
__attribute__((noinline)) static void spin(long n)
{
    double x = 1;
    for (long i = 0; i < n; i++)
        x = x / 1.0000001 + STEP;
    kept = x;
}
int main(int argc, char **argv)
{
    spin(argc > 1 ? atol(argv[1]) : 0);
    return 0;
}
END
compile() { ${CC-cc} -g -O1 -Wl,--build-id "-DSTEP=$1" -o spin spin.c 2>spin.log; }
compile 1 || skip_all "the program does not compile"
command -v readelf >/dev/null && readelf -n spin 2>/dev/null | grep -q 'Build ID' || skip_all "this linker writes no build id"
"$hpcview" record -o spin.m -e perf::TASK-CLOCK@1000000 -- ./spin 20000000 >record.log 2>&1 || skip_all "no clock can be sampled here"
PMI_RANK=0 "$hpcview" record -o ranks.m -e perf::TASK-CLOCK@1000000 -- ./spin 20000000 >record.log 2>&1
run "$hpcview" info spin.m
check_match "the measurement is sound" "$out" '*all intact*'
check "and complete" test "$(printf '%s\n' "$out $err" | grep -cE 'was killed|not used')" = 0
run "$hpcview" print --table functions spin.m
check "what is noted is no table of the result" test "$status" -ne 0
run "$hpcview" print --by line --format csv spin.m
check_match "while the binary is there, lines" "$out" '*line,spin,*spin.c,7*'

by_function() { # NAME WHY MEASUREMENT
    run "$hpcview" print --by procedure --format csv "$3"
    check_match "$1: by function, with its file" "$out" '*procedure,spin,*spin.c,*,spin,*'
    check_match "$1: and why" "$err" "*spin: $2*shown by function only, from the measurement*"
    run "$hpcview" print --by line --format csv "$3"
    check "$1: and no line" test "$(printf '%s\n' "$out" | grep -c 'spin.c,7')" = 0
}
compile 2
by_function "rebuilt" "was rebuilt since it was measured" spin.m
by_function "of a rank" "was rebuilt since it was measured" ranks.m
rm spin
by_function "gone" "cannot be opened" spin.m
by_function "its file alone" "cannot be opened" "$(echo spin.m/*.hpcprof)"
done_testing
