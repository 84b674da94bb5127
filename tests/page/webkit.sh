#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page in WebKit, from file://: WebKitWebDriver and MiniBrowser (Debian: webkit2gtk-driver) on Xvfb.
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
here=$top_builddir/tests/page/webkit
command -v node >/dev/null || skip "node is not installed"
node -e "process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)" || skip "node is older than 18"
command -v WebKitWebDriver >/dev/null || skip "WebKitWebDriver is not installed (Debian: webkit2gtk-driver)"
command -v Xvfb >/dev/null || skip "Xvfb is not installed"
for browser in "${MINIBROWSER-}" /usr/lib/*/webkit2gtk-4.1/MiniBrowser /usr/lib/*/webkitgtk-6.0/MiniBrowser /usr/lib/*/webkit2gtk-4.0/MiniBrowser /usr/libexec/webkit2gtk-4.*/MiniBrowser; do
    [ -x "$browser" ] && break
done
[ -x "$browser" ] || skip "WebKit's MiniBrowser is not installed"

rm -rf "$here"
mkdir -p "$here/text" "$here/home"
make_database() {
    "$top_builddir/tests/fixtures/make_database" "$@" || { echo "Bail out! make_database failed"; exit 99; }
}
make_database facts "$here/text" "$here/db-facts"
make_database heat "$here/text" "$here/db-single.html" --single-file
make_database hostile "$here/text" "$here/db-hostile"
make_database large "$here/text" "$here/db-large" 100000 4
HOME=$here/home XDG_RUNTIME_DIR=$here/home exec node "$top_srcdir/tests/page/webkit.mjs" "$browser" "$here"
