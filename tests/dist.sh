#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tarball has every file of the repository, as far as automake's list of its files shows.
. "$top_srcdir/tests/lib.sh"

git -C "$top_srcdir" ls-files >"$scratch/tracked" 2>/dev/null && [ -s "$scratch/tracked" ] || {
    echo "1..0 # SKIP not a git checkout"
    exit 0
}
# shellcheck disable=SC2016
printf 'show:\n\t$(foreach file,$(DISTFILES),$(info $(file)))\n' |
    MAKEFLAGS='' make -s -C "$top_builddir" -f Makefile -f - show >"$scratch/list"
check "make lists the files of the tarball" test "$(wc -l <"$scratch/list")" -gt 1000
# A folder in the list represents all files in it.
sed "s|^$top_srcdir/||; s|^[./]*/||" "$scratch/list" | # (srcdir may be relative)
    awk 'NR == FNR { listed[$0]; next }
        { for (path = $0; !(path in listed) && path ~ "/";) sub("/[^/]*$", "", path); if (!(path in listed)) print }' - "$scratch/tracked" |
    grep -vx .gitignore >"$scratch/missing"
check_equal "it has every tracked file" "$(cat "$scratch/missing")" ""
done_testing
