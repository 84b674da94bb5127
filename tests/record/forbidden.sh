#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernel refuses perf events: the message names the setting and the remedy; without a requested event, a timer is measured.
. "$top_srcdir/tests/lib.sh"
programs=$top_srcdir/tests/record/programs
: "${CC:=cc}"
$CC -O1 -o "$scratch/forbids" "$programs/forbids.c" 2>"$scratch/errors" &&
    $CC -O1 -I"$programs" -o "$scratch/exits" "$programs/exits.c" 2>>"$scratch/errors" ||
    skip_all "cannot be compiled here: $(head -n 1 "$scratch/errors")"
"$scratch/forbids" true || skip_all "no seccomp filters here"
"$hpcview" events >"$scratch/events" 2>/dev/null || skip_all "built without the recorder"

run "$scratch/forbids" "$hpcview" record -e perf::TASK-CLOCK -o "$scratch/asked" -- "$scratch/exits" return
check_equal "an event that is forbidden: status" "$status" 1
check_match "the setting is named" "$err" "perf_event_paranoid"
check_match "and what needs no permission" "$err" "-e CPUTIME"
check "the program did not run" test ! -e "$scratch/asked"

run "$scratch/forbids" "$hpcview" events
check_match "events: what is left" "$out" "CPUTIME "
case $out in *perf::TASK-CLOCK*) not_ok "events: what is forbidden is not listed" "$out" ;; *) ok "events: what is forbidden is not listed" ;; esac
run "$scratch/forbids" "$hpcview" events --all TASK-CLOCK
check_match "events --all: why not" "$out" "does not permit"

run "$scratch/forbids" "$hpcview" record -o "$scratch/default" -- "$scratch/exits" return
check_match "nothing asked for: a warning" "$err" "using the timer CPUTIME"
run "$hpcview" info "$scratch/default"
check_match "and a measurement" "$out" "event CPUTIME"
done_testing
