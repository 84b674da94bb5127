#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page in a headless Firefox, from file://.
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
here=$top_builddir/tests/page/firefox
command -v node >/dev/null || skip "node is not installed"
node -e "process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)" || skip "node is older than 18"
for browser in "${FIREFOX-}" firefox firefox-esr; do
    [ -n "$browser" ] && browser=$(command -v "$browser") && break
done
[ -n "$browser" ] || skip "no firefox is installed"
# Ubuntu's is a snap, which cannot access hidden and temporary folders or our profile.
case $(readlink -f "$browser") in */snap*) skip "this firefox is a snap, which cannot read the build folder" ;; esac

rm -rf "$here"
mkdir -p "$here/text"
make_database() {
    "$top_builddir/tests/fixtures/make_database" "$@" || { echo "Bail out! make_database failed"; exit 99; }
}
make_database heat "$here/text" "$here/db-heat"
make_database heat "$here/text" "$here/db-single.html" --single-file
make_database hostile "$here/text" "$here/db-hostile"
make_database large "$here/text" "$here/db-large" "${PAGE_PLACES-100000}" 4
exec node "$top_srcdir/tests/page/firefox.mjs" "$browser" "$here"
