#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcview open: the address passed to the browser, and the messages without a database or a browser.
. "$top_srcdir/tests/lib.sh"

cat >"$scratch/browser" <<END
#!/bin/sh
printf '%s\n' "\$1" >"$scratch/opened"
END
chmod +x "$scratch/browser"
BROWSER=$scratch/browser
export BROWSER
home=$(cd "$scratch" && pwd -P)

mkdir -p "$scratch/a b#c%é"
: >"$scratch/a b#c%é/index.html"
run "$hpcview" open "$scratch/a b#c%é"
check "a database opens" test "$status" = 0
check_match "with an address in which nothing is special" "$(cat "$scratch/opened")" "file://$home/a%20b%23c%25%C3%A9/index.html"
: >"$scratch/single.html"
plain=azAZ09-_.~+,@
: >"$scratch/$plain\`{[^:|}.html"
run "$hpcview" open "$scratch/$plain\`{[^:|}.html"
check_match "each other character as two digits" "$(cat "$scratch/opened")" "file://$home/$plain%60%7B%5B%5E%3A%7C%7D.html"
run "$hpcview" open "$scratch/single.html"
check_match "a single file" "$(cat "$scratch/opened")" "file://$home/single.html"

run "$hpcview" open "$scratch/nothing"
check "no such folder: status 1" test "$status" = 1
check_match "and which" "$err" "nothing: cannot be opened"
mkdir "$scratch/other"
run "$hpcview" open "$scratch/other"
check_match "a folder that is no database" "$err" "other: not a database: no readable index.html in it"
run "$hpcview" open
check "no operand: status 2" test "$status" = 2

run env BROWSER="$scratch/none" PATH="$scratch/other" "$hpcview" open "$scratch/single.html"
check "no browser: status 1" test "$status" = 1
check_match "and the address to open" "$err" "a machine that has one: file://$home/single.html"

# ---- size ----
code=$top_builddir/templates/dist/hpcview.js
esbuild=$top_builddir/templates/node_modules/.bin/esbuild
if [ -e "$code" ] && [ -x "$esbuild" ]; then
    colours=$("$esbuild" "$top_srcdir/templates/logic/syntax.ts" --minify --charset=ascii | wc -c)
    check "the page's code is below 250,000 bytes without highlighting" test $(($(wc -c <"$code") - colours)) -lt 250000
else
    skip "the page's code is below 250,000 bytes without highlighting" "built from a tarball: the code came with it"
fi
done_testing
