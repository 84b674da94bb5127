#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every C file is formatted by clang-format with the file at the top. Details depend on its version, so other versions
# are not used. Test programs whose line numbers matter, and examples, are formatted by hand.
. "$top_srcdir/tests/lib.sh"

version=14
clang-format --version 2>/dev/null | grep -q "version $version\\." || skip_all "no clang-format $version"
cd "$top_srcdir" || exit 99
files=$(ls */*.[ch] */*/*.[ch] */*/*/*.[ch] | grep -vE '^(tests/.*/|share/|htmlgen/bundle\.c|build)')
# All at once; if any is wrong, each alone, to identify it. (Names of files here have no blanks.)
# shellcheck disable=SC2086
clang-format --dry-run -Werror $files 2>/dev/null || for file in $files; do
    run clang-format --dry-run -Werror "$file"
    [ "$status" = 0 ] || not_ok "$file" "$(printf '%s\n' "$err" | head -n 6; echo "clang-format -i $file")"
done
check "every C file is formatted" test "$tap_failures" = 0
done_testing
