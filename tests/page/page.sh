#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page in a headless Chromium, from file://, over hand-made and large databases. Leaves screenshots in the build folder's tests/page/.
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
src=$top_srcdir/templates
build=$top_builddir/templates
here=$top_builddir/tests/page
command -v node >/dev/null && command -v npm >/dev/null || skip "node or npm is not installed"
node -e "process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)" || skip "node is older than 18"
for browser in "${CHROMIUM-}" chromium chromium-browser google-chrome; do
    [ -n "$browser" ] && browser=$(command -v "$browser") && break
done
[ -n "$browser" ] || skip "no chromium is installed"
sh "$src/node-packages.sh" "$src" "$build" || skip "the npm packages cannot be had here"

mkdir -p "$here"
rm -rf "$here"/db-* "$here"/text "$here"/*.png
mkdir "$here/text"
make_database() {
    "$top_builddir/tests/fixtures/make_database" "$@" || { echo "Bail out! make_database failed"; exit 99; }
}
make_database heat "$here/text" "$here/db-heat"
make_database heat "$here/text" "$here/db-single.html" --single-file
make_database facts "$here/text" "$here/db-facts"
make_database memory "$here/text" "$here/db-memory"
make_database waits "$here/text" "$here/db-waits"
make_database runs "$here/text" "$here/db-runs"
make_database hostile "$here/text" "$here/db-hostile"
make_database unmeasured "$here/text" "$here/db-unmeasured"
# call paths of 120 frames
node -e 'const f = [...Array(120).keys()].map((i) => `procedure_number_${i}`);
for (let n = 10; n <= 120; n += 10) console.log(`${f.slice(0, n).join(";")} ${n}`);' >"$here/text/deep.folded"
"$top_builddir/driver/hpcview" build -o "$here/db-deep" "$here/text/deep.folded" 2>/dev/null || { echo "Bail out! build failed"; exit 99; }
# a profile of Python functions, as py-spy writes it
cat >"$here/text/python.json" <<'END'
{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"<module>","file":"run.py","line":40},
{"name":"simulate","file":"run.py","line":22},{"name":"relax","file":"grid.py","line":11},{"name":"neighbours","file":"grid.py","line":5}]},
"profiles":[{"type":"sampled","name":"python","unit":"seconds","startValue":0,"endValue":1,"samples":[[0,1,2,3],[0,1,2]],"weights":[0.7,0.3]}]}
END
"$top_builddir/driver/hpcview" build -o "$here/db-python" "$here/text/python.json" 2>/dev/null || { echo "Bail out! build failed"; exit 99; }
make_database empty "$here/text" "$here/db-empty"
make_database large "$here/text" "$here/db-large" "${PAGE_PLACES-100000}" 4
# a database of a later version, one that was copied without its data, and one without its source text
mkdir "$here/db-newer" "$here/db-torn"
sed 's/"version":[0-9]*,/"version":99,/' "$here/db-heat/index.html" >"$here/db-newer/index.html"
cp "$here/db-heat/index.html" "$here/db-torn/"
cp -R "$here/db-heat" "$here/db-textless"
rm "$here/db-textless/data/source-0.js"
# one without a metric's values, and one of version 1
cp -R "$here/db-heat" "$here/db-blind"
rm "$here/db-blind/data/metric-1.js"
node "$top_srcdir/tests/page/version1.mjs" "$here/db-heat" "$here/db-version1" || { echo "Bail out! version1.mjs failed"; exit 99; }

AXE=$build/node_modules/axe-core/axe.min.js PLAYWRIGHT=$build/node_modules/playwright-core/index.mjs CHROMIUM=$browser node "$top_srcdir/tests/page/page.mjs" "$here"
status=$?
rm -rf "${TMPDIR:-/nowhere}"/org.chromium.Chromium.* # a killed helper of the browser leaves its own
exit $status
