#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# More events than counters, other users of the counters, and restrictions by the kernel.
. "$top_srcdir/tests/counters/inside/inside.sh"
paranoid -1

# ---- more events than counters (seven) -------------------------------------------------------------------------------------------------
set -- -e "PAPI_TOT_CYC@$PERIOD"
for event in INST_RETIRED CPU_CYCLES L1I_CACHE_REFILL L1D_CACHE_REFILL L1D_TLB_REFILL L1I_TLB_REFILL L2D_CACHE_REFILL; do
    set -- "$@" -e "$event@100000007"
done
if [ -n "$EXACT" ]; then
    record many "$@" -- "$programs/shares" 500
    check_match "too many events: says which fit" "$err" "fit together"
    check_match "too many events: names the ways out" "$err" "--multiplex"
    check "too many events: nothing is recorded" test ! -d "$scratch/many"
    record repeat "$@" --repeat -- "$programs/shares" 500
    check_equal "--repeat: a run for each group" "$(ls "$scratch/repeat" | grep -c hpcprof)" 2
    for event in PAPI_TOT_CYC CPU_CYCLES; do
        within "--repeat: $event is exact" "$(figure $event counted)" 16000000 100000
    done
    within "--repeat: and so are instructions" "$(figure INST_RETIRED counted)" 8000000 50000
    if [ "$SAMPLER" = papi ]; then
        record multiplex "$@" --multiplex -- "$programs/shares" 500
        check_match "--multiplex of more than PAPI can sample: which it can" "$err" "even in turn"
        shift 4
    fi
    record multiplex "$@" --multiplex -- "$programs/shares" 16000
    check "--multiplex: is recorded" test "$status" = 0
    check_match "--multiplex: marked as estimates" "$info" "estimate"
    within "--multiplex: CPU_CYCLES is estimated within a fifth" "$(figure CPU_CYCLES counted)" 512000000 102400000
    [ "$SAMPLER" = papi ] || within "--multiplex: PAPI_TOT_CYC, too" "$(figure PAPI_TOT_CYC counted)" 512000000 102400000
    echo "# multiplexed: $(figure CPU_CYCLES samples) samples of CPU_CYCLES, $(figure CPU_CYCLES counted) counted"
fi

# ---- events with a count of zero -------------------------------------------------------------------------------------
record nothing -e L1D_CACHE_REFILL@1009 -- "$programs/shares" 500
check "an event that counts 0 is recorded" test "$status" = 0
check_equal "an event that counts 0: no samples" "$(figure L1D_CACHE_REFILL samples)" 0
check_equal "an event that counts 0: its total" "$(figure L1D_CACHE_REFILL counted)" 0

# ---- another user of the counters ------------------------------------------------------------------------------------------------------
record shared -e "PAPI_TOT_CYC@$PERIOD" -- "$programs/hog" 8000 shared
is_whole "a program that counts for itself" PAPI_TOT_CYC 1
if [ -n "$EXACT" ]; then
    within "and it counts what it would" "$(printf '%s\n' "$out" | head -n 1)" 16000000 500000
    record pinned -e "PAPI_TOT_CYC@$PERIOD" -- "$programs/hog" 8000 pinned
    check "a program that takes all counters: is recorded" test "$status" = 0
    record late -e "PAPI_TOT_CYC@$PERIOD" -- "$programs/hog" 8000 late
    check "counters taken away in the middle: is recorded" test "$status" = 0
    check "counters taken away in the middle: what was before is there" test "$(figure PAPI_TOT_CYC samples)" -ge 30
    if [ "$SAMPLER" = ring ]; then # (PAPI keeps those that it has, until the thread is scheduled anew)
        check_match "counters taken away in the middle: the totals are estimates, says the measurement" "$info" "more events than counters"
        check_match "counters taken away in the middle: what was not sampled is warned of" "$err" "of the counts were sampled; the rest is not attributed"
    fi
fi
if [ -n "$EXACT" ]; then # (of one processor)
    : >"$scratch/held"
    "$programs/hog" 1 hold >"$scratch/held" &
    hog=$!
    until grep -q held "$scratch/held"; do sleep 0.1; done
    record held -e "PAPI_TOT_CYC@$PERIOD" -- "$programs/shares" 500
    if [ "$SAMPLER" = ring ]; then
        check "all counters held by another process: the program runs" test "$status" = 0
        check_match "all counters held by another process: that is said" "$info" "other users held all counters"
        check_equal "all counters held by another process: a total of 0 is not claimed" "$(figure PAPI_TOT_CYC counted)" ""
    else
        check_match "all counters held by another process: PAPI's words" "$err" "cannot be counted due to hardware resource limits"
    fi
    kill $hog
    wait $hog
fi

# ---- permissions -----------------------------------------------------------------------------------------------------
# as_user records to a folder of its own
permitted() {
    rm -rf "$scratch/permitted"
    chmod 755 "$scratch"
    mkdir -m 777 "$scratch/permitted"
    run as_user "$hpcview record --sampler $SAMPLER -o $scratch/permitted/m $*"
    info=$("$hpcview" info "$scratch/permitted/m" 2>/dev/null)
}
for level in -1 1 2; do
    paranoid $level
    permitted -e "PAPI_TOT_CYC@$PERIOD" -- "$programs/shares" 500
    is_whole "a user at paranoid $level" PAPI_TOT_CYC 1
    permitted -e perf::TASK-CLOCK -- "$programs/shares" 500
    if [ $level = 2 ]; then
        check_match "paranoid 2: the kernel's part is not sampled, and that is said" "$info" "in the kernel"
    else
        check "paranoid $level: time in the kernel is sampled" test "$status" = 0
    fi
done
paranoid 3
permitted -e PAPI_TOT_CYC -- "$programs/shares" 500
check "paranoid 3: refused" test "$status" = 1
check_match "paranoid 3: says what would permit it" "$err" "perf_event_paranoid"
permitted -- "$programs/shares" 2000
check "paranoid 3: without -e a timer" test "$status" = 0
check "paranoid 3: its samples" test "$(figure CPUTIME samples)" -gt 0
check_match "paranoid 3: with a warning" "$err" "perf events are not permitted here (/proc/sys/kernel/perf_event_paranoid is 3"
run as_user "$hpcview events"
check_match "paranoid 3: timers are listed" "$out" "CPUTIME"
check "paranoid 3: and no counter" test -z "$(printf '%s\n' "$out" | grep PAPI_TOT)"
# permitted when it was listed, forbidden when it is recorded
paranoid 2
run as_user "$hpcview events PAPI_TOT_CYC"
check "paranoid 2: cycles are listed" test "$status" = 0
paranoid 3
permitted -e PAPI_TOT_CYC -- "$programs/shares" 500
check "an event that vanished: refused before the program starts" test "$status" = 1
done_testing
