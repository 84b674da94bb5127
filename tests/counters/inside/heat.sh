#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The heat example, by cycles and instructions, for the host to make a database of. (The emulator notices an overflow of instructions at the next tick,
# within two million of them: the period is longer.)
. "$top_srcdir/tests/counters/inside/inside.sh"
paranoid -1
record heat -e PAPI_TOT_CYC@400009 -e PAPI_TOT_INS@12000017 -e perf::PAGE-FAULTS -- "$programs/heat" 150 3
check "heat is recorded" test "$status" = 0
is_whole "heat" PAPI_TOT_CYC 1
mkdir -p "$PWD/measured" && cp -r "$scratch/heat" "$PWD/measured/heat.$SAMPLER"
done_testing
