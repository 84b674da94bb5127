#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcview print and the page show the same values of a recorded program, to the last digit; and the root is samples x period.
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
src=$top_srcdir/templates
build=$top_builddir/templates
here=$top_builddir/tests/page/agree
hpcview=$top_builddir/driver/hpcview
command -v node >/dev/null && command -v npm >/dev/null || skip "node or npm is not installed"
node -e "process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)" || skip "node is older than 18"
for browser in "${CHROMIUM-}" chromium chromium-browser google-chrome; do
    [ -n "$browser" ] && browser=$(command -v "$browser") && break
done
[ -n "$browser" ] || skip "no chromium is installed"
${CXX:-g++} --version >/dev/null 2>&1 || skip "no C++ compiler"
sh "$src/node-packages.sh" "$src" "$build" || skip "the npm packages cannot be had here"

rm -rf "$here"
mkdir -p "$here"
${CXX:-g++} -O3 -g -o "$here/particles" "$top_srcdir/share/examples/particles/particles.cpp" || skip "the example does not compile here"
"$hpcview" record -e perf::TASK-CLOCK -o "$here/m" "$here/particles" >/dev/null 2>"$here/record.log" || skip "nothing can be recorded here: $(head -n 1 "$here/record.log")"
"$hpcview" build -o "$here/db" "$here/m" 2>"$here/build.log" || { echo "Bail out! build failed"; cat "$here/build.log"; exit 99; }
for level in program module file procedure loop line; do
    "$hpcview" print --by $level --format csv "$here/m" >"$here/$level.csv" 2>/dev/null || { echo "Bail out! print --by $level failed"; exit 99; }
done
"$hpcview" info "$here/m" >"$here/info.txt" 2>/dev/null
# the same without debug information
strip -o "$here/bare" "$here/particles" && "$hpcview" record -e perf::TASK-CLOCK -o "$here/bare.m" "$here/bare" >/dev/null 2>&1 &&
    "$hpcview" build -o "$here/bare.db" "$here/bare.m" 2>"$here/build.log" || { echo "Bail out! build failed"; cat "$here/build.log"; exit 99; }
PLAYWRIGHT=$build/node_modules/playwright-core/index.mjs CHROMIUM=$browser exec node "$top_srcdir/tests/page/agree.mjs" "$here"
