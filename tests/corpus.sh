#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every fuzz target (FUZZERS in the makefile) reads every file of its corpus, tests/corpus/NAME/ for NAME_fuzz, without crash or hang.
. "$top_srcdir/tests/lib.sh"

for target in $FUZZERS; do
    name=$(basename "$target" _fuzz)
    corpus=$top_srcdir/tests/corpus/$name
    if [ ! -d "$corpus" ]; then
        not_ok "$name" "there is no corpus in tests/corpus/$name"
        continue
    fi
    run timeout 120 "$top_builddir/$target" "$corpus"
    if [ "$status" = 0 ]; then
        ok "$name: $(tail -n 1 "$scratch/out")"
    else
        not_ok "$name" "status $status at: $(tail -n 1 "$scratch/out")"
        comment "$(tail -n 30 "$scratch/err")"
    fi
done
[ "$tap_count" != 0 ] || skip_all "no fuzz targets"
done_testing
