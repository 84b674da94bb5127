#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Both samplers agree: the share of each function, from PAPI's signals and from the kernel's ring, within the statistical error.
. "$top_srcdir/tests/lib.sh"
need_recording
programs=$top_srcdir/tests/record/programs
: "${CC:=cc}"
$CC -O1 -g -I"$programs" -o "$scratch/shares" "$programs/shares.c" || skip_all "no C compiler here"

# distribution NAME OPTIONS...: "function samples" lines in $scratch/NAME; $samples is their sum
distribution() {
    name=$1
    shift
    run "$hpcview" record -o "$scratch/$name.m" "$@" -- "$scratch/shares"
    check "$name: recorded" test "$status" = 0
    run "$hpcview" print --by procedure --format csv "$scratch/$name.m"
    printf '%s\n' "$out" | awk -F, '$5 ~ /^"?(one|two|three|four|burn)"?$/ { gsub(/"/, "", $5); v = $6; print ($5 == "one" ? "burn" : $5), v }' |
        awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort >"$scratch/$name"
    comment "$(tr '\n' ';' <"$scratch/$name")"
    check "$name: all four functions are there" test "$(wc -l <"$scratch/$name")" = 4
}

# alike FIRST SECOND UNIT: shares differ by less than four standard deviations and two hundredths
alike() {
    join "$scratch/$1" "$scratch/$2" >"$scratch/joined"
    awk -v unit="$3" '{ f[NR] = $1; a[NR] = $2 / unit; b[NR] = $3 / unit; n += a[NR]; m += b[NR] }
        END {
            for (i = 1; i <= NR; i++) {
                p = a[i] / n; q = b[i] / m; mean = (a[i] + b[i]) / (n + m)
                limit = 4 * sqrt(mean * (1 - mean) * (1 / n + 1 / m)) + 0.02
                printf "# %-6s %5.2f%% and %5.2f%%, %.2f%% allowed\n", f[i], p * 100, q * 100, limit * 100
                if (p - q > limit || q - p > limit) bad = 1
            }
            exit bad || NR != 4
        }' "$scratch/joined"
}
# agree FIRST SECOND UNIT
agree() { if alike "$@"; then ok "$1 and $2 show the same distribution"; else not_ok "$1 and $2 show the same distribution"; fi; }

distribution ring --sampler ring -e perf::TASK-CLOCK@1000000
if "$hpcview" record -o "$scratch/try" --sampler papi -- true 2>/dev/null; then
    distribution papi --sampler papi -e perf::TASK-CLOCK@1000000
    agree ring papi 1000000
else
    skip "papi agrees with ring" "PAPI cannot sample here"
fi
# The kernel looks at such timers at its ticks: whoever shares a processor with others may be at the same place at many of them.
for try in 1 2 3; do
    distribution cputime -e CPUTIME@4000
    awk '{ print $1, $2 * 1000 }' "$scratch/cputime" >"$scratch/timer"
    ! alike ring timer 4000000 || break
done
agree ring timer 4000000
done_testing
