# SPDX-License-Identifier: BSD-3-Clause
# For the tests in the guest: tests/lib.sh, the programs, and values printed by `hpcview info`.
. "$top_srcdir/tests/lib.sh"
programs=$top_builddir/programs
hpcview=${installed-$hpcview}
PERIOD=1000003

# as_user COMMAND...: without root's rights
as_user() { su -s /bin/sh user -c "$*"; }
paranoid() { echo "$1" >/proc/sys/kernel/perf_event_paranoid; }

# record NAME ARGS...: a measurement in $scratch/NAME
record() {
    record_name=$1
    shift
    rm -rf "$scratch/$record_name"
    run "$hpcview" record --sampler "$SAMPLER" -o "$scratch/$record_name" "$@"
    info=$("$hpcview" info "$scratch/$record_name" 2>/dev/null)
}

# figure EVENT WORD: a value that info prints for an event: period, samples, sampled, counted; for all processes
# together
figure() {
    printf '%s\n' "$info" | awk -v event="$1" -v word="$2" '$1 == "event" { on = $2 == event } on && $1 == word { print $2; exit }'
}

# within NAME VALUE EXPECTED TOLERANCE
within() {
    if awk -v v="${2:-none}" -v e="${3:-none}" -v t="$4" 'BEGIN { exit !(v ~ /^[0-9]+$/ && e ~ /^[0-9]+$/ && v - e <= t && e - v <= t) }'; then
        ok "$1"
    else
        not_ok "$1" "$2 is not within $4 of $3"
        comment "status ${status-}; $err"
        comment "$info"
    fi
}

# is_whole NAME EVENT THREADS: sampled = samples x period = counter, within one period per thread. Without icount an
# emulated processor's cycles follow the host's time, and overflows while the host is busy are late or lost: then the
# sum is at most the counter.
is_whole() {
    within "$1: samples x period are the sampled total" "$(figure "$2" sampled)" "$(($(figure "$2" samples) * $(figure "$2" period)))" 0
    if [ -n "$EXACT" ]; then
        within "$1: the sampled total is the counter's within a period a thread" "$(figure "$2" sampled)" "$(figure "$2" counted)" "$(($(figure "$2" period) * $3))"
    else
        check "$1: the sampled total is not above the counter's by a period a thread" test "$(figure "$2" sampled)" -le "$(($(figure "$2" counted) + $(figure "$2" period) * $3))"
    fi
}
