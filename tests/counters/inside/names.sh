#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Events by name, and their samplers: those that PAPI supports, their kernel equivalents, and those that the processor lacks.
. "$top_srcdir/tests/counters/inside/inside.sh"
paranoid -1
run "$hpcview" events --all
listed=$out
# listed_as EVENT: its sampler's column, or "not here"
listed_as() { printf '%s\n' "$listed" | awk -v event="$1" '$1 == event { line = $0 } line != "" && /not here/ && seen { print "not here"; exit } line != "" { if (seen) exit; seen = 1 } END { if (line != "") print substr(line, 56, 10) }' | head -n 1 | sed 's/ *$//'; }
papi_works=
"$hpcview" record --sampler papi -e perf::TASK-CLOCK -o "$scratch/try" -- "$programs/shares" 1 2>/dev/null && papi_works=1

if [ -z "$papi_works" ]; then
    # PAPI does not support the counters of this processor
    check_equal "without PAPI's perf events: cycles by the ring" "$(listed_as PAPI_TOT_CYC)" ring
    if [ "$SAMPLER" = papi ]; then
        record default -- "$programs/shares" 1000
        check "without PAPI's perf events: its sampler works, by the timer" test "$(figure CPUTIME samples)" -gt 0
        check_match "without PAPI's perf events: and says why" "$err" "CPUTIME, a timer, is measured: PAPI"
        record refused -e PAPI_TOT_CYC -- "$programs/shares" 10
        check "without PAPI's perf events: cycles are refused" test "$status" = 1
        check_match "without PAPI's perf events: with the way out" "$err" "use --sampler ring"
        done_testing
    fi
else
    check_equal "cycles by both samplers" "$(listed_as PAPI_TOT_CYC)" "ring, papi"
fi
check_equal "timers by no sampler" "$(listed_as CPUTIME)" timer
for event in cycles PAPI_TOT_CYC @cpi; do
    [ "$event" != @cpi ] || [ -n "$EXACT" ] || continue # (instructions are counted with icount alone)
    record name -e "$event" -- "$programs/shares" 2000
    check "-e $event is recorded" test "$status" = 0
    check "-e $event: has samples of cycles" test "$(figure PAPI_TOT_CYC samples)" -gt 0
done
for event in PAPI_L3_TCM PAPI_BR_MSP; do
    record name -e "$event" -- "$programs/shares" 10
    if [ "$(listed_as $event)" = "not here" ] || [ -z "$(listed_as $event)" ]; then
        check "$event is not listed, and refused" test "$status" = 1
        check_match "$event: with the reason" "$err" "cannot be sampled"
    else
        check "$event is listed, and recorded" test "$status" = 0
    fi
done
record name -e PAPI_TOT_CYCL -- "$programs/shares" 10
check_match "a misspelt event: the nearest" "$err" "PAPI_TOT_CYC"
done_testing
