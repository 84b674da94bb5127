#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page's tab of phases: a column for each run, absolute and as shares of the total, the loops of each phase and the phases of a loop,
# episodes over time, and the wait matrix.
. "$top_srcdir/tests/lib.sh"
need_recording
for browser in "${CHROMIUM-}" chromium chromium-browser google-chrome; do
    [ -n "$browser" ] && browser=$(command -v "$browser") && break
done
playwright=$top_builddir/templates/node_modules/playwright-core/index.mjs
[ -n "$browser" ] && [ -e "$playwright" ] || skip_all "no chromium, or no playwright-core in the build folder"
cd "$scratch" || exit 99
programs=$top_srcdir/tests/phases/programs
gcc -g -O1 -o water "$programs/water.c" -lpthread -lm || skip_all "no compiler"
"$hpcview" record -e perf::TASK-CLOCK@f1000 --phases -o two -- ./water 2 2000 2 >/dev/null 2>&1
"$hpcview" record -e perf::TASK-CLOCK@f1000 --phases -o three -- ./water 3 1000 1 >/dev/null 2>&1
run "$hpcview" build --single-file -o page.html two three
check "a database" test "$status" = 0
run timeout 120 node "$top_srcdir/tests/phases/page.mjs" "$playwright" "$browser" "$scratch/page.html"
check_equal "no error" "$(printf '%s\n' "$out$err" | grep -i error)" ""
check_match "a column for each run" "$out" "runs two three"
check_match "the longest run has the whole height, the other a part of it" "$out" "absolute whole part"
check_match "each run as a whole" "$out" "normalized whole whole"
check_match "phase 1, barrier 1, ... of five barriers" "$out" "segments 10"
check_match "who waits for whom" "$out" "for thread 1"
check_match "and what ran before a barrier" "$out" "water.c:*pthread_barrier_wait*Hottest loops*loop at water.c"
check_match "episodes over time: waiting is coloured" "$out" "timeline coloured"
check_match "and they can be read" "$out" "Waited * thread 1 water.c:"
check_match "from a loop back to its phases" "$out" "back *loop at water.c*Phases of the selected place*m*TASK-CLOCK"
done_testing
