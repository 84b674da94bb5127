#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page's unit tests (test/*.test.ts), bundled and run in node. They speak TAP themselves.
src=$top_srcdir/templates
build=$top_builddir/templates
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
command -v node >/dev/null && command -v npm >/dev/null || skip "node or npm is not installed"
node -e "process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)" || skip "node is older than 18"
sh "$src/node-packages.sh" "$src" "$build" || skip "the npm packages are not available"
mkdir -p "$build/test"
"$build/node_modules/.bin/esbuild" "$src/test/all.test.ts" --bundle --platform=node --format=cjs --log-level=warning \
    --loader:.txt=text --loader:.cases=text \
    --outfile="$build/test/all.test.cjs" || exit 1
exec node "$build/test/all.test.cjs"
