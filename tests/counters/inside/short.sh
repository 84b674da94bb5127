#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A few of the other tests' checks, in seconds.
. "$top_srcdir/tests/counters/inside/inside.sh"
paranoid -1
record default -- "$programs/shares" 1000
check_equal "by default cycles are sampled" "$(figure PAPI_TOT_CYC period)" 12000017
is_whole "default" PAPI_TOT_CYC 1
record callers -e PAPI_TOT_CYC@200003 -- "$programs/callers" 500
mkdir -p "$PWD/measured" && cp -r "$scratch/callers" "$PWD/measured/callers.$SAMPLER"
if [ -n "$EXACT" ]; then
    record both -e "PAPI_TOT_CYC@$PERIOD" -e PAPI_TOT_INS@100000007 -- "$programs/shares" 500
    within "instructions counted with cycles are half of them" "$((2 * $(figure PAPI_TOT_INS counted)))" "$(figure PAPI_TOT_CYC counted)" 20000
    within "and those of the program" "$(figure PAPI_TOT_INS counted)" 8000000 100000
fi
record threads -e "PAPI_TOT_CYC@$PERIOD" -- "$programs/threads" 400 threads
is_whole "threads" PAPI_TOT_CYC 4
record fork -e "PAPI_TOT_CYC@$PERIOD" -- "$programs/process" 1000 fork
check "fork: two processes" test "$(ls "$scratch/fork" | grep -c hpcprof)" = 2
run "$hpcview" events PAPI_TOT_CYC
check_match "events: cycles by both samplers" "$out" "ring, papi"
paranoid 3
run as_user "$hpcview record --sampler $SAMPLER -e PAPI_TOT_CYC -o /tmp/refused -- $programs/shares 500"
check_match "paranoid 3: says what would permit it" "$err" "perf_event_paranoid"
done_testing
