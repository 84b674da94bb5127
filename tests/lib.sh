# SPDX-License-Identifier: BSD-3-Clause
# Shell tests in TAP. Usual life:
#
#     . "$top_srcdir/tests/lib.sh"
#     run "$hpcview" print x                 # the words of a command; its status, out and err
#     check "says what is wrong" test "$status" = 1
#     check_match "names the file" "$err" "x: no such file"
#     skip "counts cache misses" "no hardware counters here"
#     done_testing
#
# $scratch is a folder of the test's own, removed at the end (kept where KEEP is set). $hpcview is the built command.
# To run one test by hand: make check TESTS=tests/area/name.sh

: "${top_srcdir:?run through make check TESTS=...}" "${top_builddir:?}"
hpcview=$top_builddir/driver/hpcview
examples=$top_builddir/share/examples
LC_ALL=C
export LC_ALL
unset HPCVIEW_RECORDER
tap_count=0
tap_failures=0
tap_planned=

scratch=$(mktemp -d "${TMPDIR:-/tmp}/hpcview-test.XXXXXX") || exit 99
# The tester's settings must not affect results, and no test may write to the home folder.
XDG_CACHE_HOME=$scratch/cache
export XDG_CACHE_HOME
tap_cleanup() {
    tap_status=$?
    if [ -n "${KEEP-}" ]; then echo "# kept: $scratch"; else rm -rf "$scratch"; fi
    if [ -z "$tap_planned" ]; then
        echo "Bail out! the test stopped early (status $tap_status)"
        [ "$tap_status" != 0 ] || tap_status=99
    fi
    exit "$tap_status"
}
trap tap_cleanup EXIT
trap 'exit 130' INT TERM HUP

# comment TEXT: lines for whoever reads the log.
comment() { printf '%s\n' "$*" | sed 's/^/# /'; }

ok() {
    tap_count=$((tap_count + 1))
    printf 'ok %d - %s\n' "$tap_count" "$1"
}

# not_ok NAME [WHY]
not_ok() {
    tap_count=$((tap_count + 1))
    tap_failures=$((tap_failures + 1))
    printf 'not ok %d - %s\n' "$tap_count" "$1"
    [ $# -lt 2 ] || comment "$2"
}

# skip NAME REASON
skip() {
    tap_count=$((tap_count + 1))
    printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# skip_all REASON: the whole test cannot run here.
skip_all() {
    tap_planned=1
    printf '1..0 # SKIP %s\n' "$1"
    exit 0
}

# need COMMAND...: skip the whole test if one of them is missing.
need() {
    for need_command; do
        command -v "$need_command" >/dev/null 2>&1 || skip_all "no $need_command here"
    done
}

# run COMMAND ARGS...: $status, $out and $err (also as files $scratch/out and $scratch/err).
run() {
    status=0
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    out=$(cat "$scratch/out")
    err=$(cat "$scratch/err")
}

# stolen_ms: time stolen from this machine since boot by others on the same processors, in ms over all CPUs (proc(5)).
# The kernel's task clock counts it but takes no samples in it; the program's own CPU clock excludes it.
stolen_ms() { awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%d", $9 * 1000 / hz; exit }' /proc/stat; }

# run_document FILE KEEP: runs the commands of a document ("    $ ..."), here, with our hpcview; each is a check. KEEP
# is called with the command, and $out and $err are set. Afterwards, the commands are in the file "commands".
run_document() {
    PATH=$(dirname "$hpcview"):$PATH
    sed -n 's/^    \$ //p' "$1" >commands
    while read -r command <&3; do
        run sh -c "$command"
        check "$command" test "$status" = 0
        "$2" "$command"
    done 3<commands
}

# undisturbed COMMAND ARGS...: retries a command that other load may spoil, up to three times. A bug of ours fails each
# time.
undisturbed() { "$@" || "$@" || "$@"; }

# check NAME COMMAND ARGS...: ok if the command succeeds. Otherwise shows the last run.
check() {
    check_name=$1
    shift
    if "$@"; then
        ok "$check_name"
    else
        not_ok "$check_name" "failed: $*"
        comment "last run: status ${status-none}"
        comment "stdout: $(printf '%s' "${out-}" | head -c 2000)"
        comment "stderr: $(printf '%s' "${err-}" | head -c 2000)"
    fi
}

# check_equal NAME GOT WANTED
check_equal() {
    if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got:    $2
wanted: $3"; fi
}

# check_match NAME TEXT PATTERN: a shell pattern found anywhere in the text.
check_match() {
    [ -n "$3" ] || {
        not_ok "$1" "the test looks for nothing, which is in every text"
        return
    }
    # shellcheck disable=SC2254
    case $2 in
    *$3*) ok "$1" ;;
    *) not_ok "$1" "'$3' is not in: $2" ;;
    esac
}

# check_same NAME GOT-FILE WANTED-FILE
check_same() {
    if cmp -s "$2" "$3"; then ok "$1"; else not_ok "$1" "$(diff -u "$3" "$2" 2>&1 | head -40)"; fi
}

# need_recording: skip the whole test if samples cannot be taken here.
need_recording() {
    [ -x "$hpcview" ] || skip_all "hpcview is not built"
    run "$hpcview" record -o "$scratch/need" -- /bin/true
    [ "$status" = 0 ] || skip_all "nothing can be recorded here: $(printf '%s' "$err" | head -n 1)"
    rm -rf "$scratch/need"
}

# csv_rows: CSV on the input, its fields on the output with tabs between them (quotes undone, for awk -F '\t').
csv_rows() {
    awk '{
        out = ""; field = ""; quoted = 0
        for (i = 1; i <= length($0); i++) {
            c = substr($0, i, 1)
            if (quoted && c == "\"" && substr($0, i + 1, 1) == "\"") { field = field c; i++ }
            else if (c == "\"") quoted = !quoted
            else if (c == "," && !quoted) { out = out field "\t"; field = "" }
            else field = field c
        }
        print out field
    }'
}

done_testing() {
    tap_planned=1
    printf '1..%d\n' "$tap_count"
    [ "$tap_failures" = 0 ]
    exit
}
