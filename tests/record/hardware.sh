#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests that need a processor with counters; skipped, with the reason, if there are none (virtual machines).
. "$top_srcdir/tests/lib.sh"
need_recording
programs=$top_srcdir/tests/record/programs
: "${CC:=cc}"
$CC -O1 -g -I"$programs" -o "$scratch/exits" "$programs/exits.c" || skip_all "no C compiler here"
run "$hpcview" events
case $out in *PAPI_TOT_CYC*PAPI_TOT_INS*) ;; *) skip_all "this machine has no counter for cycles and instructions, or does not permit it" ;; esac

# total MEASUREMENT EVENT: samples x period; counted MEASUREMENT EVENT: the counter's value
field() { "$hpcview" info "$1" | awk -v event="$2" -v field="$3" '$1 == "event" { here = $2 == event } here && $1 == field { print $2; exit }'; }
near() { awk -v a="$1" -v b="$2" -v share="$3" 'BEGIN { exit !(a > 0 && b > 0 && a > b * (1 - share) && a < b * (1 + share)) }'; }

run "$hpcview" record -o "$scratch/default" -- "$scratch/exits"
run "$hpcview" info "$scratch/default"
check_match "cycles are what is sampled when nothing was asked for" "$out" "event PAPI_TOT_CYC"

for sampler in ring papi; do
    run "$hpcview" record -o "$scratch/$sampler" --sampler $sampler -e PAPI_TOT_CYC -e PAPI_TOT_INS -- "$scratch/exits"
    check_equal "$sampler: two hardware events, the program's status" "$status" 10
    for event in PAPI_TOT_CYC PAPI_TOT_INS; do
        sampled=$(field "$scratch/$sampler" $event sampled) counted=$(field "$scratch/$sampler" $event counted)
        check "$sampler: $event sampled ($sampled) as counted ($counted)" near "$sampled" "$counted" 0.1
    done
done

run "$hpcview" record -o "$scratch/frequency" -e PAPI_TOT_CYC@f500 -- "$scratch/exits"
check "a frequency: sampled as counted" near "$(field "$scratch/frequency" PAPI_TOT_CYC sampled)" "$(field "$scratch/frequency" PAPI_TOT_CYC counted)" 0.2

run "$hpcview" print --format csv --by program -m "CPI = PAPI_TOT_CYC / PAPI_TOT_INS" "$scratch/ring"
check "a metric of two hardware events" test "$(printf '%s\n' "$out" | awk -F, 'NR == 2 && $NF > 0.05 && $NF < 50 { print "yes" }')" = yes

# Events are added until they do not fit; the error lists those that fit, and both workarounds work.
presets=$("$hpcview" events PAPI_ | awk '/^PAPI_/ { print $1 }')
events=
for event in $presets; do
    set -- $events
    [ $# -lt 8 ] || break # as many as are taken at once
    events="$events $event"
done
options=
for event in $events; do options="$options -e $event"; done
# shellcheck disable=SC2086
run "$hpcview" record -o "$scratch/many" $options -- "$scratch/exits"
if [ "$status" = 10 ]; then
    skip "events that do not fit" "all of them fit together here:$events"
else
    check_match "events that do not fit: which do" "$err" "fit together"
    # shellcheck disable=SC2086
    run "$hpcview" record -o "$scratch/repeated" --repeat $options -- "$scratch/exits"
    check_equal "--repeat: the program's status" "$status" 10
    for event in $events; do
        check "--repeat: $event was counted" test -n "$(field "$scratch/repeated" "$event" period)"
    done
    # shellcheck disable=SC2086
    run "$hpcview" record -o "$scratch/shared" --multiplex $options -- "$scratch/exits"
    check_equal "--multiplex: the program's status" "$status" 10
    run "$hpcview" info "$scratch/shared"
    check_match "--multiplex: said to be estimates" "$out" "estimate"
fi
done_testing
