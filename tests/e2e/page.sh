#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page and hpcview print show the same numbers, to the last digit, for real measurements of two examples (page/agree.sh takes the third).
. "$top_srcdir/tests/lib.sh"

need node npm
for browser in "${CHROMIUM-}" chromium chromium-browser google-chrome; do
    [ -n "$browser" ] && browser=$(command -v "$browser") && break
done
[ -n "$browser" ] || skip_all "no chromium is installed"
sh "$top_srcdir/templates/node-packages.sh" "$top_srcdir/templates" "$top_builddir/templates" >/dev/null 2>&1 ||
    skip_all "the npm packages cannot be had here"
PLAYWRIGHT=$top_builddir/templates/node_modules/playwright-core/index.mjs
CHROMIUM=$browser
export PLAYWRIGHT CHROMIUM
need_recording
cd "$scratch" || exit 99
mkdir -p "$top_builddir/tests/e2e"

for name in heat wave; do
    if [ ! -x "$examples/$name/$name" ]; then
        skip "$name" "it is not built here"
        continue
    fi
    run "$hpcview" record -o "$name.m" -- "$examples/$name/$name"
    run "$hpcview" build -o "$name.db" "$name.m"
    check "$name: a database" test "$status" = 0
    # left for a person to look at
    run node "$top_srcdir/tests/e2e/page.mjs" "$name.db" "$top_builddir/tests/e2e/$name.png"
    check "$name: the page opens without complaint" test "$status" = 0
    cp out shown
    run "$hpcview" print --by program --format csv "$name.m"
    root=$(csv_rows <out | awk -F '\t' '$1 == "program" { print $6 }')
    check_equal "$name: the root" "$(sed -n 's/^root //p' shown)" "$root"
    # lines as the page has them: instances of one line are one row
    run "$hpcview" print --by line --format csv "$name.m"
    csv_rows <out | awk -F '\t' '$1 == "line" && $4 != "" { f = $3; sub(/.*\//, "", f); n[f ":" $4] += $6 } END { for (l in n) printf "%s %.0f\n", l, n[l] }' |
        sort >printed
    sed -n 's/^line //p' shown | grep ':[0-9]' | sort >lines
    check "$name: the page has lines" test -s lines
    check_equal "$name: the page's lines are those of print" "$(comm -23 lines printed)" ""
done
done_testing
