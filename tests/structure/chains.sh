#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Chains of inlined calls, address by address, compared with llvm-symbolizer's; tests/exactness/chains.py lists permitted differences.
. "$top_srcdir/tests/lib.sh"
src=$top_srcdir/tests/exactness/src
command -v python3 >/dev/null || skip_all "no python3 here"

chains() { # COMPILER FLAGS... SOURCE
    for source; do :; done
    name="$1 ${source##*/}"
    if ! command -v "$1" >/dev/null || ! "$@" -g -fPIC -shared -nostdlib -o a.so 2>errors; then
        skip "$name" "does not compile here"
        return
    fi
    "$hpcview" structure --no-cache -o a.xml a.so
    run python3 "$top_srcdir/tests/exactness/chains.py" a.so a.xml -v
    comment "$out"
    if [ "$status" = 77 ]; then
        skip "$name" "no llvm-symbolizer here"
        return
    fi
    check "$name: as llvm-symbolizer has them" test "$status" = 0
    check_match "$name: there were some" "$out" "[0-9][0-9] same"
}
chains gcc -O2 "$src/inline.c"
chains g++ -O2 "$src/templates.cc"
chains gcc -O3 "$src/hard.c"
chains clang -O2 "$src/inline.c"
chains clang++ -O2 "$src/templates.cc"
done_testing
