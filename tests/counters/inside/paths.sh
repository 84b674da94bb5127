#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs with call paths that are known. Their return addresses are signed where the processor can do that (max).
. "$top_srcdir/tests/counters/inside/inside.sh"
paranoid -1
mkdir -p "$PWD/measured"
check "the processor signs return addresses" grep -q paca /proc/cpuinfo
for program in path callers; do
    record $program -e PAPI_TOT_CYC@200003 -- "$programs/$program" 400
    check "$program is recorded" test "$status" = 0
    cp -r "$scratch/$program" "$PWD/measured/$program.$SAMPLER"
done
done_testing
