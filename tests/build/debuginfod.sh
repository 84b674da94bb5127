#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A stripped binary, a rebuilt one, a removed one: files in the cache of debuginfod's client are used, except those of
# other builds.
. "$top_srcdir/tests/lib.sh"

cd "$scratch" || exit 99
cat >spin.c <<'END'
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile double x = argc;
    for (long i = 0; i < atol(argv[1]); i++)
        x = x / 1.0000001 + 1;
    return x < 0;
}
END
${CC-cc} -g -O1 -Wl,--build-id -o spin spin.c 2>spin.log || skip_all "the program does not compile"
command -v objcopy >/dev/null && command -v readelf >/dev/null || skip_all "no objcopy or readelf here"
id=$(readelf -n spin 2>/dev/null | sed -n 's/.*Build ID: //p')
test -n "$id" || skip_all "this linker writes no build id"

cp spin whole
objcopy --only-keep-debug whole debuginfo
strip -s spin
"$hpcview" record -o spin.m -e perf::TASK-CLOCK@1000000 -- ./spin 20000000 >record.log 2>&1 || skip_all "no clock can be sampled here"
unset DEBUGINFOD_CACHE_PATH

# lines: of the program's file, those that have time
lines() {
    run "$hpcview" print --by line --format csv "$@" spin.m
    printf '%s\n' "$out" | grep -c '^line,spin,[^,]*spin.c,[1-9]' || true
}
check "stripped: no line" test "$(lines)" = 0
mkdir -p fetched/$id "$XDG_CACHE_HOME/debuginfod_client"
cp debuginfo "fetched/$id/debuginfo"
check "its folder as --debug-dir" test "$(lines --debug-dir fetched)" -ge 1
DEBUGINFOD_CACHE_PATH=$scratch/fetched
export DEBUGINFOD_CACHE_PATH
check "in DEBUGINFOD_CACHE_PATH" test "$(lines)" -ge 1
run "$hpcview" structure spin
check_match "structure too" "$out" '*spin.c*'
unset DEBUGINFOD_CACHE_PATH
cp -r "fetched/$id" "$XDG_CACHE_HOME/debuginfod_client"
check "where the client puts it" test "$(lines)" -ge 1

# Another build's file under this build's name.
echo 'int main(void) { return 3; }' >other.c
${CC-cc} -g -O1 -Wl,--build-id -o other other.c
cp other "$XDG_CACHE_HOME/debuginfod_client/$id/debuginfo"
run "$hpcview" print --by line --format csv spin.m
check "another build's debug file is not used" test "$(printf '%s\n' "$out" | grep -c ',spin.c,[1-9]')" = 0
check_match "and named" "$err" '*debuginfo: has build id*'

# The binary was rebuilt, and is gone.
rm -r "$XDG_CACHE_HOME/debuginfod_client/$id"
cp other spin
run "$hpcview" print --by line --format csv spin.m
check_match "a rebuilt binary is named" "$err" '*spin: was rebuilt since it was measured*'
check "and not used" test "$(printf '%s\n' "$out" | grep -c 'other.c')" = 0
by_function() { # NAME OPTIONS...: where only the debug file is left
    by_function_name=$1
    shift
    run "$hpcview" print --by procedure --format csv "$@" spin.m
    check_match "$by_function_name: by function" "$out" '*procedure,spin,*,main,*'
    check_match "$by_function_name: and why" "$err" '*spin: was rebuilt since it was measured*shown by function only*'
}
mkdir -p "tree/.build-id/$(echo "$id" | cut -c 1-2)"
cp debuginfo "tree/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug"
by_function "its debug file in a tree of those" --debug-dir tree
rm "fetched/$id/executable" 2>/dev/null
by_function "its debug file as debuginfod keeps it" --debug-dir fetched
mkdir "$XDG_CACHE_HOME/debuginfod_client/$id"
cp whole "$XDG_CACHE_HOME/debuginfod_client/$id/executable"
check "the one that ran was fetched" test "$(lines)" -ge 1
rm spin
check "also where it is gone" test "$(lines)" -ge 1
cp other "$XDG_CACHE_HOME/debuginfod_client/$id/executable"
run "$hpcview" print --by line --format csv spin.m
check "a wrong one is not used" test "$(printf '%s\n' "$out" | grep -c 'other.c')" = 0
check_match "the reason is its own file" "$err" '*spin*No such file*'
done_testing
