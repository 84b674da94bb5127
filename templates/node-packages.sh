#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# node-packages.sh SRC BUILD - the pinned packages of SRC/package-lock.json in BUILD/node_modules. Never writes into SRC unless it is
# BUILD. Prints one sentence and fails if they are not available. Several may run at once: the first works, the others wait.
src=$1
build=$2
mkdir -p "$build"
waited=0
until mkdir "$build/.packages.lock" 2>/dev/null; do
    waited=$((waited + 1))
    [ $waited -le 300 ] || { echo "hpcview: $build/.packages.lock is in the way; remove it" >&2; exit 1; }
    sleep 1
done
trap 'rmdir "$build/.packages.lock"' EXIT
trap 'exit 1' HUP INT TERM
done=$build/node_modules/.hpcview-lock
if cmp -s "$src/package-lock.json" "$done"; then
    exit 0
fi
if [ ! "$src/package.json" -ef "$build/package.json" ]; then
    cp -f "$src/package.json" "$src/package-lock.json" "$build/" && chmod u+w "$build/package.json" "$build/package-lock.json" || exit 1
fi
# No scripts of packages are run: esbuild's native program works without its own.
if ! (cd "$build" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error) >"$build/npm.log" 2>&1; then
    echo "hpcview: npm could not install the packages that bundle the page (no network, or no access to the npm registry?); see $build/npm.log" >&2
    grep -m 3 'npm' "$build/npm.log" >&2
    exit 1
fi
rm -f "$build/npm.log"
# The native program itself instead of the script that starts it: it runs with any version of node.
for native in "$build"/node_modules/@esbuild/*/bin/esbuild; do
    [ -x "$native" ] && ln -sf "../@esbuild/${native#"$build"/node_modules/@esbuild/}" "$build/node_modules/.bin/esbuild"
done
cp "$src/package-lock.json" "$done"
