#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every command has a manual page, and the options in --help are those in its manual.
. "$top_srcdir/tests/lib.sh"

# long_options: the options a text has rows for, one a line
from_help() { sed -n 's/^  ..[, ]*--\([a-z-]*\).*/\1/p' | sort; }

# In the manual a row is a line after .TP (man) or .It (mdoc).
from_manual() {
    sed -e 's/\\-/-/g' -e 's/\\f.//g' "$1" |
        awk '/^\.TP/ { getline; print } /^\.It / { gsub(/Fl -/, "--"); print }' |
        sed -n 's/.*--\([a-z][a-z-]*\).*/\1/p' | sort
}

run "$hpcview" --help
check "hpcview --help works" test "$status" = 0
commands=$(printf '%s\n' "$out" | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
check "there are commands" test -n "$commands"
printf '%s\n' "$commands" >"$scratch/commands"
for command in $commands; do
    page=$top_srcdir/doc/man/hpcview-$command.1
    if [ ! -f "$page" ]; then
        not_ok "$command has a manual page" "no doc/man/hpcview-$command.1"
        continue
    fi
    run "$hpcview" "$command" --help
    printf '%s\n' "$out" | from_help | grep -vx help >"$scratch/help"
    from_manual "$page" | grep -vx help >"$scratch/manual"
    check_same "$command: the manual's options are those of --help" "$scratch/manual" "$scratch/help"
    check "$command: the main manual page names it" grep -q "hpcview.*-$command" "$top_srcdir/doc/man/hpcview.1"
    check "$command: its page is installed" grep -q "man/hpcview-$command\.1" "$top_srcdir/doc/local.mk"
done
for page in "$top_srcdir"/doc/man/hpcview-*.1; do
    [ -f "$page" ] || continue
    command=${page##*/hpcview-}
    command=${command%.1}
    [ "$command" != cc ] || continue # a program of its own
    check "$command.1 is about a command there is" grep -qx "$command" "$scratch/commands"
done

grep -ho '[a-z/-]*\.md' "$top_srcdir"/doc/man/*.1 | sort -u >"$scratch/documents"
check "manual pages refer to documents" test -s "$scratch/documents"
while read -r document; do
    check "$document is installed" grep -q "^dist_[a-z]*_DATA.*%D%/${document#share/doc/hpcview/}" "$top_srcdir/doc/local.mk"
done <"$scratch/documents"

run "$hpcview" --version
check_match "--version" "$out" "hpcview "
run "$hpcview"
check "no command: status 2" test "$status" = 2
run "$hpcview" structur
check "a misspelt command: status 2" test "$status" = 2
done_testing
