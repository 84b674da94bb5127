#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# doc/design/phases.md: its commands, and its claims about their output.
. "$top_srcdir/tests/lib.sh"
need_recording
cd "$scratch" || exit 99
"$hpcview" record -e perf::TASK-CLOCK -o probe -- /bin/true >/dev/null 2>&1 || skip_all "the task clock cannot be sampled here"
for p in radix lu water; do gcc -g -O2 -o $p "$top_srcdir/tests/phases/programs/$p.c" -lpthread -lm || skip_all "no compiler"; done
keep() { printf '%s\n' "$out" >"$(printf '%s' "$1" | cut -d ' ' -f 2-4 | tr ' ' '_')"; }
run_document "$top_srcdir/doc/design/phases.md" keep
check_equal "it has its commands" "$(wc -l <commands)" 11
check_equal "radix: three phases and the turn of the arrays, four times each" "$(awk '$1 == 4 { n++ } END { print n }' phases_radix-4)" 4
check_equal "two runs of it side by side" "$(grep -c 'pthread_barrier_wait *BASE *NEW' print_--table_barriers_compared)" 4
check "LU: a page of both" test -s lu-both/index.html
for kind in contiguous rows; do
    run "$hpcview" phases lu-$kind
    check_equal "LU, $kind: three phases for each of 16 blocks" "$(printf '%s\n' "$out" | awk '$1 == 16 { n++ } END { print n }')" 3
done
run "$hpcview" phases water-2
check_equal "water: five phases, twice each" "$(printf '%s\n' "$out" | awk '$1 == 2 { n++ } END { print n }')" 5
check "water: the loops of its phases" grep -Eq ' at water\.c:[0-9]+ +perf::TASK-CLOCK' print_--table_phase_loops
done_testing
