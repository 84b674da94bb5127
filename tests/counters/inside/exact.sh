#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every program once, for the host, which counts the executions of each instruction.
. "$top_srcdir/tests/counters/inside/inside.sh"
paranoid -1
kept=$PWD/measured
mkdir -p "$kept"
while read -r program arguments; do
    # shellcheck disable=SC2086
    record "$program" -e PAPI_TOT_CYC@200003 -e PAPI_TOT_INS@1000000007 -- "$programs/$program" $arguments
    check "$program is recorded" test "$status" = 0
    # (PAPI reads a counter in its own thread alone, and OpenMP's do not end)
    [ "$SAMPLER $program" = "papi openmp" ] || is_whole "$program" PAPI_TOT_CYC 4
    cp -r "$scratch/$program" "$kept/$program.$SAMPLER"
done <"$top_srcdir/tests/counters/programs.list"
done_testing
