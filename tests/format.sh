#!/bin/sh
# Every C file is as clang-format makes it with the file at the top, whose version decides details: another one is no judge. Test
# programs whose line numbers count, and examples, are laid out by hand.
. "$top_srcdir/tests/lib.sh"

version=14
clang-format --version 2>/dev/null | grep -q "version $version\\." || skip_all "no clang-format $version"
cd "$top_srcdir" || exit 99
for file in */*.[ch] */*/*.[ch]; do
    case $file in
    tests/*/* | share/* | htmlgen/bundle.c | build*/*) continue ;;
    esac
    run clang-format --dry-run -Werror "$file"
    [ "$status" = 0 ] || not_ok "$file" "$(printf '%s\n' "$err" | head -n 6; echo "clang-format -i $file")"
done
check "every C file is formatted" test "$tap_failures" = 0
done_testing
