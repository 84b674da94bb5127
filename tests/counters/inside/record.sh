#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Recording with counters that overflow: events, competing users of the counters, and activities of threads and processes.
. "$top_srcdir/tests/counters/inside/inside.sh"
paranoid -1

# ---- cycles, by any name of theirs -------------------------------------------------------------------------------------------
record default -- "$programs/shares" 8000
check_equal "by default cycles are sampled" "$(figure PAPI_TOT_CYC period)" 12000017
is_whole "default" PAPI_TOT_CYC 1
for event in PAPI_TOT_CYC cycles CPU_CYCLES perf::CYCLES; do
    if [ "$event" = CPU_CYCLES ] && ! "$hpcview" events CPU_CYCLES >"$scratch/events" 2>&1; then
        # (names of a processor's own events are libpfm's, which does not know the processor max)
        record cycles -e CPU_CYCLES -- "$programs/shares" 10
        check_match "$event, not listed here: refused by name" "$err" "no event 'CPU_CYCLES'"
        continue
    fi
    record cycles -e "$event@$PERIOD" -- "$programs/shares" 2000
    [ "$event" != cycles ] || event=PAPI_TOT_CYC
    is_whole "$event" "$event" 1
    [ -z "$EXACT" ] || within "$event: counted is two cycles for each instruction of the program" "$(figure "$event" counted)" 64000000 60000
done

# ---- several at once --------------------------------------------------------------------------------------------------------------
if [ -n "$EXACT" ]; then
    record both -e "PAPI_TOT_CYC@$PERIOD" -e PAPI_TOT_INS@100000007 -- "$programs/shares" 2000
    is_whole "cycles with instructions" PAPI_TOT_CYC 1
    within "instructions counted with cycles are half of them" "$((2 * $(figure PAPI_TOT_INS counted)))" "$(figure PAPI_TOT_CYC counted)" 6000
    within "and those of the program" "$(figure PAPI_TOT_INS counted)" 32000000 30000
    record group -e "PAPI_TOT_CYC@$PERIOD" -e PAPI_TOT_INS@100000007 -e perf::TASK-CLOCK -e perf::PAGE-FAULTS@1 -- "$programs/matrix" 6000
    is_whole "four events" PAPI_TOT_CYC 1
    check "four events: page faults, too" test "$(figure perf::PAGE-FAULTS samples)" -gt 0
    within "four events: time is a nanosecond for each cycle" "$(figure perf::TASK-CLOCK counted)" "$(figure PAPI_TOT_CYC counted)" 6000000
    if "$hpcview" events CPU_CYCLES >"$scratch/events" 2>&1; then
        record names -e "PAPI_TOT_CYC@$PERIOD" -e "CPU_CYCLES@1500007" -- "$programs/shares" 2000
        if [ "$status" = 0 ]; then
            is_whole "cycles by two names, the first" PAPI_TOT_CYC 1
            is_whole "cycles by two names, the second" CPU_CYCLES 1
        else # (PAPI's preset is this event: they would share a counter and a period)
            check_match "cycles by two names that share a counter: refused" "$err" "CPU_CYCLES does not fit with them"
        fi
    fi
fi

# ---- regions, delays ---------------------------------------------------------------------------------------------------------------
record region -e "PAPI_TOT_CYC@$PERIOD" --region inside -- "$programs/regions" 4000
[ -z "$EXACT" ] || within "a region's cycles, and no others" "$(figure PAPI_TOT_CYC samples)" 64 1
record region -e "PAPI_TOT_CYC@$PERIOD" --region inside@2 -- "$programs/regions" 4000
[ -z "$EXACT" ] || within "of the second time alone" "$(figure PAPI_TOT_CYC samples)" 32 1
record region -e "PAPI_TOT_CYC@$PERIOD" -- "$programs/regions" 4000
is_whole "regions that are measured with the rest" PAPI_TOT_CYC 1

# ---- threads and processes -----------------------------------------------------------------------------------------------------------
for kind in threads openmp; do
    record $kind -e "PAPI_TOT_CYC@$PERIOD" -- "$programs/threads" 3000 $kind
    [ -z "$EXACT" ] || within "$kind: all of their work is sampled" "$(figure PAPI_TOT_CYC sampled)" 72000000 4000000
    # (PAPI reads a counter in its own thread alone, and OpenMP's do not end)
    [ "$SAMPLER $kind" = "papi openmp" ] || is_whole "$kind" PAPI_TOT_CYC 4
done
record fork -e "PAPI_TOT_CYC@$PERIOD" -- "$programs/process" 6000 fork
check "fork: two processes" test "$(ls "$scratch/fork" | grep -c hpcprof)" = 2
[ -z "$EXACT" ] || within "fork: the work of both" "$(figure PAPI_TOT_CYC sampled)" 48000000 2000000
is_whole "fork" PAPI_TOT_CYC 2
record exec -e "PAPI_TOT_CYC@$PERIOD" -- "$programs/process" 6000 exec
check "exec: before and after" test "$(ls "$scratch/exec" | grep -c hpcprof)" = 2
[ -z "$EXACT" ] || within "exec: the work of both" "$(figure PAPI_TOT_CYC sampled)" 48000000 2000000
is_whole "exec" PAPI_TOT_CYC 2
record migrate -e "PAPI_TOT_CYC@$PERIOD" -- "$programs/process" 6000 migrate
is_whole "a thread that goes from processor to processor" PAPI_TOT_CYC 1
[ -z "$EXACT" ] || within "a thread that goes from processor to processor: its work" "$(figure PAPI_TOT_CYC counted)" 24000000 100000
check "a thread that goes from processor to processor: has samples" test "$(figure PAPI_TOT_CYC samples)" -gt 0
done_testing
