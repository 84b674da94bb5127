#!/bin/sh
# The page's tab of phases: a bar for each barrier, absolute and as parts, and who waits for whom.
. "$top_srcdir/tests/lib.sh"
need_recording
for browser in "${CHROMIUM-}" chromium chromium-browser google-chrome; do
    [ -n "$browser" ] && browser=$(command -v "$browser") && break
done
playwright=$top_builddir/templates/node_modules/playwright-core/index.mjs
[ -n "$browser" ] && [ -e "$playwright" ] || skip_all "no chromium, or no playwright-core in the build folder"
cd "$scratch" || exit 99
gcc -g -O1 -o pthreads "$top_srcdir/tests/phases/programs/pthreads.c" -lpthread || skip_all "no compiler"
run "$hpcview" run --phases --single-file -o page.html -- ./pthreads 3 5 2
check "a database" test "$status" = 0
run timeout 120 node "$top_srcdir/tests/phases/page.mjs" "$playwright" "$browser" "$scratch/page.html"
check_match "both barriers" "$out" "pthread_barrier_wait*pthread_barrier_wait"
check_match "with their numbers" "$out" "Phase ms*Barrier ms"
check_match "who waits for whom" "$out" "for *#"
check_match "the longest phase has the whole width, the other a part of it" "$out" "absolute whole part"
check_match "each phase as a whole" "$out" "normalized whole whole"
done_testing
