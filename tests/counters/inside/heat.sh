#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The heat example, by several events at once, for the host to make a database of.
. "$top_srcdir/tests/counters/inside/inside.sh"
paranoid -1
record heat -e PAPI_TOT_CYC@400009 -e CPU_CYCLES@500009 -e PAPI_TOT_INS@1000000007 -e perf::PAGE-FAULTS -- "$programs/heat" 150 3
check "heat is recorded" test "$status" = 0
is_whole "heat" PAPI_TOT_CYC 1
mkdir -p "$PWD/measured" && cp -r "$scratch/heat" "$PWD/measured/heat.$SAMPLER"
done_testing
