#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Golden cases: tests/COMMAND/CASE/cmd is a shell script, run in a folder of its own; its output (and its status if that
# is not 0) must equal the file `out` next to it. GOLDEN=write make check TESTS=tests/run-golden.sh rewrites; git diff is the review.
# ONLY=COMMAND/CASE runs one (a shell pattern). In cmd: $hpcview, $case_dir (the case's folder), $top_srcdir, $top_builddir.
. "$top_srcdir/tests/lib.sh"

# Replaces the values that may differ between machines with names.
normalise() {
    sed -e "s|$scratch|SCRATCH|g" -e "s|$top_builddir|BUILD|g" -e "s|$top_srcdir|SOURCE|g"
}

for cmd in "$top_srcdir"/tests/*/*/cmd; do
    [ -f "$cmd" ] || continue
    case_dir=${cmd%/cmd}
    name=${case_dir#"$top_srcdir/tests/"}
    # shellcheck disable=SC2254
    case $name in ${ONLY-*}) ;; *) continue ;; esac
    work=$scratch/here
    mkdir "$work"
    (
        cd "$work" && export hpcview case_dir top_srcdir top_builddir && sh "$cmd" </dev/null
        golden_status=$?
        [ $golden_status = 0 ] || echo "status $golden_status"
    ) >"$scratch/raw" 2>&1
    normalise <"$scratch/raw" >"$scratch/got"
    rm -rf "$work"
    if grep -q '^SKIP ' "$scratch/got"; then
        skip "$name" "$(sed -n 's/^SKIP //p' "$scratch/got" | head -n 1)"
    elif [ "${GOLDEN-}" = write ]; then
        cp "$scratch/got" "$case_dir/out"
        ok "$name (written)"
    else
        check_same "$name" "$scratch/got" "$case_dir/out"
    fi
done
[ "$tap_count" != 0 ] || skip_all "no golden cases"
done_testing
