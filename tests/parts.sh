#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Attempts to break hpcview, part by part, and their results: a table of attempts, failures, skips, and fixed faults that each part has
# found (tests/found.txt names them).
#
#   parts.sh [-b FOLDER] [-s SECONDS] [-n CASES] [PART...]
#       -b: a built tree (build);  -s: for each fuzz target (10);  -n: for each command and kind of torture (5)
#       PART: fuzz page torture scale record zoo phases paths structure (all)
#
# Each row is what anyone can run alone: make fuzz, tests/torture/torture.sh, make check TESTS=... The table last time is in doc/design/robustness.md.
here=$(cd "$(dirname "$0")/.." && pwd)
build=$here/build seconds=10 cases=5
while getopts b:s:n: opt; do
    case $opt in
    b) build=$OPTARG ;;
    s) seconds=$OPTARG ;;
    n) cases=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
build=$(cd "$build" && pwd) || exit 1
parts=${*:-fuzz page torture scale record zoo phases paths structure}
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
status=0

# row PART NAME TRIED FAILED SKIPPED: a bug found is listed in the part's first row
row() {
    found=
    [ "$1" = "$before" ] || found=$(grep -c "^$1|" "$here/tests/found.txt")
    before=$1
    [ "$4" = 0 ] || status=1
    printf '| %s | %s | %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4" "$5" "$found"
}

# A target that stops ends the others: its row is printed, with 1.
fuzz() {
    local ended=0 word name value
    make -C "$build" fuzz FUZZ_SECONDS="$seconds" >"$log" 2>&1 || ended=1
    while read -r word name _ value _; do
        case $word in
        ==) row fuzz "$name, inputs" "$value" 0 "" ;;
        esac
    done <"$log"
    [ $ended = 0 ] || { row fuzz "$(sed -n 's|^the input is in .*/||p' "$log" | head -n 1)" "" 1 "" && tail -n 5 "$log"; }
}

torture() {
    top_builddir=$build top_srcdir=$here bash "$here/tests/torture/torture.sh" -n "$cases" >"$log" 2>&1
    # shellcheck disable=SC2046
    set -- $(sed -n 's/^tried \([0-9]*\), wrong \([0-9]*\)$/\1 \2/p' "$log")
    row torture "calls that fail, and kills, over the whole way" "${1:-0}" "${2:-1}" ""
}

# tests PART NAME TESTS: as make check runs them, by check
tests() {
    make -C "$build" check TESTS="$3" >"$log" 2>&1
    # shellcheck disable=SC2046
    set -- "$1" "$2" $(awk '/^# (PASS|FAIL|ERROR|SKIP):/ { n[$2] += $3 } END { print n["PASS:"] + n["FAIL:"] + n["ERROR:"], n["FAIL:"] + n["ERROR:"], n["SKIP:"] + 0 }' "$log")
    row "$1" "$2" "$3" "$4" "$5"
}

printf '| part | what | tried | failed | skipped | found and mended |\n|---|---|---|---|---|---|\n'
for part in $parts; do
    case $part in
    fuzz) fuzz ;;
    page) tests page "the page's code, and damaged databases in its decoders" templates/test/unit.sh ;;
    torture) torture ;;
    scale) tests scale "10^5 of each thing a format can hold; bad input" "tests/scale.sh tests/e2e/bad-input.sh tests/build/bad-configuration.sh" ;;
    record) tests record "situations of a recorded program, checks" "tests/record/situations.sh tests/record/misuse.sh tests/record/forbidden.sh" ;;
    zoo) tests zoo "programs of all kinds, checks" tests/record/zoo.sh ;;
    phases) tests phases "barriers, waits, programs that hang" "tests/phases/recorded.sh tests/phases/odd.sh tests/phases/hangs.sh" ;;
    paths) tests paths "call paths and stacks that make no sense" "tests/paths/known.sh tests/paths/real.sh tests/paths/limit.sh" ;;
    structure) tests structure "damaged binaries; the machine's own" "bloop/damage_test tests/structure/sweep_short.sh" ;;
    *) echo "parts.sh: there is no part '$part'" >&2 && exit 2 ;;
    esac
done
exit $status
