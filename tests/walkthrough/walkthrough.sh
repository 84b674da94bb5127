#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# CONTRIBUTING lists the files that a new input format with a table of its own touches. Here is one (toy.c), added exactly so: its counts
# and its table are printed, carried by a measurement, and shown by the page.
. "$top_srcdir/tests/lib.sh"
here=$top_srcdir/tests/walkthrough

command -v "${CC%% *}" >/dev/null || skip_all "no compiler"
# its row; its two functions are declared in formats.h
sed -e 's|^\(    {\)"perf", .*|    {"toy", "colours of lines", toy_sniff, toy_convert},\n&|' \
    -e 's|^const struct filter filter_table\[\].*|bool toy_sniff(const void *, size_t);\nint toy_convert(const struct filter_input *, struct hpcprof *, struct warnings *, struct err *);\n&|' \
    "$top_srcdir/filters/filters.c" >"$scratch/filters.c"
check "the table of filters has its row" grep -q '"toy"' "$scratch/filters.c"
# shellcheck disable=SC2086
(cd "$top_builddir" && $CC -std=gnu11 -D_GNU_SOURCE -I. -I"$top_srcdir" $HEADER_CFLAGS $CHECK_CFLAGS -o "$scratch/toyview" \
    "$here/toy.c" "$scratch/filters.c" driver/hpcview-*.o $ALL_LDADD) >"$scratch/log" 2>&1
check "it builds" test -x "$scratch/toyview"
[ -x "$scratch/toyview" ] || { comment "$(head -n 20 "$scratch/log")"; done_testing; exit; }

cd "$scratch" || exit 99
printf 'toy\n7 5 red\n9 2 blue\n7 3 red\n' >paint.toy
toyview=$scratch/toyview
run "$toyview" import paint.toy -o paint.hpcprof
check "its content says what it is" test "$status" = 0
run "$toyview" print --by line --format csv paint.hpcprof
check_match "its counts" "$out" "toy.c,7,*,8"
run "$toyview" print --table colours --format csv paint.hpcprof
check_match "its table" "$out" "red"
check_match "rows with equal keys are one" "$out" "8"
run "$hpcview" print --table colours --format csv paint.hpcprof
check_match "a hpcview that knows nothing of it prints it too" "$out" "blue"
run "$toyview" build --single-file -o paint.html paint.hpcprof
check "a database" test "$status" = 0

for browser in "${CHROMIUM-}" chromium chromium-browser google-chrome; do
    [ -n "$browser" ] && browser=$(command -v "$browser") && break
done
playwright=$top_builddir/templates/node_modules/playwright-core/index.mjs
if [ -z "$browser" ] || [ ! -e "$playwright" ]; then
    skip "the page shows it" "no chromium, or no playwright-core in the build folder"
else
    run timeout 120 node "$here/shown.mjs" "$playwright" "$browser" "$scratch/paint.html"
    check_match "the page shows it" "$out" "Colours*toy.c:7*red*8"
fi
done_testing
