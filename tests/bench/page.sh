#!/bin/sh
# The page: seconds of the main thread in a headless Chromium (first view, an arrow key, a sort, ten frames of scrolling, opening everything)
# and its heap, over databases of many places and of many metrics.
. "$top_srcdir/tests/bench/lib.sh"

build=$top_builddir/templates
for browser in "${CHROMIUM-}" chromium chromium-browser google-chrome; do
    [ -n "$browser" ] && browser=$(command -v "$browser") && break
done
[ -n "$browser" ] || { echo "no chromium is installed"; exit 0; }
command -v node >/dev/null && sh "$top_srcdir/templates/node-packages.sh" "$top_srcdir/templates" "$build" || { echo "no node packages"; exit 0; }

mkdir "$scratch/text"
for size in "400000 4" "1000000 8" "100000 80"; do
    set -- $size
    "$top_builddir/htmlgen/make_database" large "$scratch/text" "$scratch/$1x$2" "$1" "$2" || exit 1
done
PLAYWRIGHT=$build/node_modules/playwright-core/index.mjs CHROMIUM=$browser ROUNDS=${ROUNDS-3} node "$top_srcdir/tests/bench/page.mjs" \
    "$scratch/400000x4" "$scratch/1000000x8" "$scratch/100000x80"
