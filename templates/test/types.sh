#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page's TypeScript passes the strict type checker.
src=$top_srcdir/templates
build=$top_builddir/templates
echo 1..1
command -v node >/dev/null && command -v npm >/dev/null || { echo "ok 1 - types # SKIP node or npm is not installed"; exit 0; }
node -e "process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)" || { echo "ok 1 - types # SKIP node is older than 18"; exit 0; }
sh "$src/node-packages.sh" "$src" "$build" || { echo "ok 1 - types # SKIP the npm packages cannot be had here"; exit 0; }
if "$build/node_modules/.bin/tsc" -p "$src/tsconfig.json" >"$build/types.log" 2>&1; then
    rm -f "$build/types.log"
    echo "ok 1 - tsc --strict finds nothing"
else
    sed 's/^/# /' "$build/types.log"
    echo "not ok 1 - tsc --strict finds nothing"
fi
