#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The runner of every test (tests/limits): a test that hangs, takes too much memory, or leaves something behind is an error.
. "$top_srcdir/tests/lib.sh"
limits=$top_builddir/tests/limits
cat >"$scratch/test" <<'EOT'
case $1 in
fine) echo "ok 1"; echo "1..1" ;;
fails) exit 3 ;;
hangs) sleep 600 ;;
eats) cat /dev/zero | tail -c 500000000 >/dev/null ;;
process) sleep 600 >/dev/null 2>&1 & ;;
daemon) (setsid sh -c 'sleep 600 & sleep 0.1' >/dev/null 2>&1 &) ;;
ending) sleep 0.3 >/dev/null 2>&1 & ;;
file) : >"$TMPDIR/left" ;;
esac
EOT
expect() { # HOW STATUS WORDS
    run env TMPDIR="$scratch" TEST_SECONDS="${4-60}" TEST_GRACE_MS="${5-10000}" TEST_MEGABYTES=200 "$limits" sh "$scratch/test" "$1"
    check_equal "$1: status" "$status" "$2"
    case $out in *"$3"*) ok "$1: words" ;; *) not_ok "$1: words" "$out" ;; esac
    check "$1: nothing is left" test "$(ls "$scratch" | grep -c 'hpcview-tests')" = 0
}
expect fine 0 "1..1"
check_match "the last line is the time" "$(printf '%s\n' "$out" | tail -n 1)" "# took: [0-9]*.[0-9] s, [0-9]*.[0-9] s of processors"
expect fails 3 ""
expect hangs 99 "more than 1 seconds" 1
expect eats 99 "more than 200 MB"
expect process 99 "left processes behind: sleep" 60 1000
expect daemon 99 "left processes behind: sleep" 60 1000
expect ending 0 ""
expect file 99 "left files behind: left"

# Memory that is not written is filled in tests in C, in no others.
printf '#!/bin/sh\necho "filled with ${MALLOC_PERTURB_-nothing}"\n' >"$scratch/c_test"
cp "$scratch/c_test" "$scratch/other"
chmod +x "$scratch/c_test" "$scratch/other"
for test in c_test:165 other:nothing; do
    run env -u MALLOC_PERTURB_ TMPDIR="$scratch" "$limits" "$scratch/${test%:*}"
    check_match "memory of ${test%:*}" "$out" "filled with ${test#*:}
"
done
done_testing
