# SPDX-License-Identifier: BSD-3-Clause
# What the scripts of `make bench` share. They print ratios measured in one run and never fail on time.
#
#     . "$top_srcdir/tests/bench/lib.sh"
#     compare 5 "wave" "hpcview record -o '$scratch/m' -- wave" # rounds, first command, second command (for sh -c)
#     row "wave recorded" "$ratio" "$wall_2"                    # second over first: median of the pairs' ratios
#
# compare runs the two in turn (A B, B A, A B, ...), so that what the machine does meanwhile hits both. Afterwards: ratio and
# cpu_ratio (medians of the pairs' quotients), wall_1, wall_2, cpu_1, cpu_2 (medians, seconds), rss_1, rss_2 (largest, KiB).
# once ROUNDS COMMAND gives wall, cpu and rss of one command. Both return 1, with a word on the output, where the command fails.

: "${top_srcdir:?run through make bench}" "${top_builddir:?}"
hpcview=$top_builddir/driver/hpcview
examples=$top_builddir/share/examples
measure=$top_builddir/tests/bench/measure
LC_ALL=C
export LC_ALL hpcview
scratch=$(mktemp -d "${TMPDIR:-/tmp}/hpcview-bench.XXXXXX") || exit 1
XDG_CACHE_HOME=$scratch/cache
export XDG_CACHE_HOME
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP

# median: of the numbers on the input, one a line
median() {
    sort -n | awk '{ v[NR] = $1 } END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# field FILE N: the median of the N-th field
field() { awk -v n="$2" '{ print $n }' "$1" | median; }

largest() { awk -v n="$2" '$n > m { m = $n } END { print m + 0 }' "$1"; }

run_measured() { # FILE COMMAND
    "$measure" "$1" sh -c "exec $2" 2>"$scratch/stderr" || return 1
    [ "$(tail -n 1 "$1" | awk '{ print $4 }')" = 0 ] && return
    echo "  failed: $2: $(tail -n 1 "$scratch/stderr")"
    return 1
}

once() {
    rm -f "$scratch/1"
    once_round=0
    while [ "$once_round" -lt "$1" ]; do
        run_measured "$scratch/1" "$2" || return 1
        once_round=$((once_round + 1))
    done
    wall=$(field "$scratch/1" 1)
    cpu=$(field "$scratch/1" 2)
    rss=$(largest "$scratch/1" 3)
}

compare() {
    rm -f "$scratch/1" "$scratch/2"
    compare_round=0
    while [ "$compare_round" -lt "$1" ]; do
        if [ $((compare_round % 2)) = 0 ]; then
            run_measured "$scratch/1" "$2" && run_measured "$scratch/2" "$3"
        else
            run_measured "$scratch/2" "$3" && run_measured "$scratch/1" "$2"
        fi || return 1
        compare_round=$((compare_round + 1))
    done
    paste -d ' ' "$scratch/1" "$scratch/2" >"$scratch/pairs"
    ratio=$(awk '$1 > 0 { print $5 / $1 }' "$scratch/pairs" | median)
    cpu_ratio=$(awk '$2 > 0 { print $6 / $2 }' "$scratch/pairs" | median)
    wall_1=$(field "$scratch/1" 1)
    wall_2=$(field "$scratch/2" 1)
    cpu_1=$(field "$scratch/1" 2)
    cpu_2=$(field "$scratch/2" 2)
    rss_1=$(largest "$scratch/1" 3)
    rss_2=$(largest "$scratch/2" 3)
}

# A row of a table: the first column left, the others right.
row() {
    printf '%-42s' "$1"
    shift
    for row_cell; do printf ' %12s' "$row_cell"; done
    printf '\n'
}

# have COMMAND: does it exist? If not, prints that its measurements are skipped.
have() {
    command -v "$1" >/dev/null 2>&1 && return
    echo "  (without $1: it is not installed)"
    return 1
}

# number FORMAT EXPRESSION: number %.2f "3 / 7"; "-" if it has no value
number() { awk "BEGIN { d = ($2); printf \"$1\", d }" 2>/dev/null || printf -- -; }
