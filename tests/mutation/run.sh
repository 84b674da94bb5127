#!/bin/bash
# Do the tests notice? Plants small bugs one by one in a copy of this tree, builds what changed, runs the tests of that room, and
# prints room by room how many were noticed, and below that those that were not.
#
#     tests/mutation/run.sh                     200 bugs over all rooms; about an hour
#     tests/mutation/run.sh -n 20 -s 7          20 of them, chosen by another seed
#     tests/mutation/run.sh -r metrics -n 40    in one room
#     tests/mutation/run.sh -f metrics/same.c   every one there is in a file
#     tests/mutation/run.sh -u -r code          by the tests in C alone where the room has some: less, in a fraction of the time
#     tests/mutation/run.sh -a ...              with the sanitizers, as CI's builds: reading one too far is noticed then
#     tests/mutation/run.sh -w FOLDER ...       builds there, and leaves what is built for the next time
#
# A bug is killed when a test fails, crashes, or takes ten times as long; it survives when all pass. One that does not build is
# replaced by the next. equivalent.txt lists those that change nothing anybody could see, with the reason.
# Needs perl and what `make check` needs; builds in ${TMPDIR:-/tmp}. Exit status 0 where every room has at least PERCENT (-p, 0) killed.
set -u
exec </dev/null
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
top=$PWD
number=200 seed=1 rooms= files= least=0 unit= sanitizers= work=
while getopts n:s:r:f:p:w:ua option; do
    case $option in
    n) number=$OPTARG ;;
    s) seed=$OPTARG ;;
    r) rooms="$rooms $OPTARG" ;;
    f) files="$files $OPTARG" ;;
    p) least=$OPTARG ;;
    w) mkdir -p "$OPTARG" && work=$(cd "$OPTARG" && pwd) || exit 1 ;;
    u) unit=1 ;;
    a) sanitizers=--enable-asan ;;
    *) exit 2 ;;
    esac
done

# room: where its code is: its tests, those first that take least
table='
support    support           support/support_test support/edges_test support/table_test support/json_test support/shrink_test support/ranks_test
image      bloop/image       bloop/image/image_test bloop/debug/debug_test bloop/damage_test tests/corpus.sh
functions  bloop/functions   bloop/functions/functions_test tests/structure/golden.sh
debug      bloop/debug       bloop/debug/debug_test tests/structure/golden.sh tests/structure/exactness.sh
arch       bloop/arch        bloop/arch/arch_test bloop/arch/facts_test bloop/code/cfg_test bloop/code/jumptable_test tests/structure/golden.sh
code       bloop/code        bloop/code/cfg_test bloop/code/loops_test bloop/code/jumptable_test tests/structure/golden.sh tests/structure/exactness.sh
scope      bloop/scope       bloop/scope/scope_test tests/structure/formats.sh tests/structure/golden.sh
assemble   bloop/assemble    bloop/assemble/assemble_test tests/structure/golden.sh tests/structure/exactness.sh
bloop      bloop             bloop/damage_test tests/structure/golden.sh tests/structure/formats.sh tests/structure/exactness.sh
hpcprof    hpcprof           hpcprof/read_test hpcprof/ended_test hpcprof/ranks_test tests/run-golden.sh tests/record/misuse.sh tests/e2e/example.sh
recorder   hpcprof/recorder  hpcprof/unwind_test hpcprof/counts_test tests/paths/known.sh tests/record/sampler_agree.sh tests/record/situations.sh
filters    filters           filters/filters_test filters/perf_data_test tests/filters/filters.sh
metrics    metrics           metrics/expr_test metrics/experiment_test metrics/config_test metrics/sources_test metrics/database_test metrics/conserve_test metrics/line_diff_test metrics/anonymize_test tests/run-golden.sh tests/print/schema.sh tests/build/configuration.sh tests/compare/compare.sh
export     export            tests/export/export.sh
htmlgen    htmlgen           htmlgen/htmlgen_test metrics/database_test tests/page/agree.sh
mhsim      mhsim             mhsim/engine_test mhsim/machine_test tests/simulate/simulate.sh
quality    quality           tests/quality/quality.sh tests/quality/database.sh
diagnose   diagnose          diagnose/read_test diagnose/library_test tests/run-golden.sh tests/diagnose/cases.sh
phases     phases            phases/finish_test tests/phases/recorded.sh
inside     phases/inside     phases/finish_test tests/phases/recorded.sh
driver     driver            tests/driver/manual.sh tests/e2e/bad-input.sh tests/run-golden.sh tests/e2e/example.sh
page       templates         templates/test/unit.sh tests/page/page.sh
'
room_rows() { printf '%s\n' "$table" | awk 'NF && (wanted == "" || index(" " wanted " ", " " $1 " "))' wanted="${rooms# }"; }
# The sources of a room: tests, fuzz targets and benches are not planted in; a folder's own files, not those of rooms below it.
sources_of() {
    grep -E "^$1/.*[.](c|ts)\$" "$work/files" | grep -vE '(_test|_fuzz|_reference)\.c$|/(bench|make|sample|drawing)[^/]*\.c$|/test/|\.d\.ts$' |
        if [ "$1" = templates ]; then cat; else awk -F/ -v n="$(echo "$1" | tr -cd / | wc -c)" 'NF == n + 2'; fi
}

trap 'exit 130' INT TERM
[ -n "$work" ] || { work=$(mktemp -d "${TMPDIR:-/tmp}/hpcview-mutation.XXXXXX") && trap 'rm -rf "$work"' EXIT || exit 1; }
build=$work/build${sanitizers:+-sanitizers}
mkdir -p "$work/src" "$build" "$work/list"
git ls-files >"$work/files"
changed_files() { while read -r file; do cmp -s "$file" "$work/src/$file" || echo "$file"; done <"$work/files"; }
changed_files >"$work/changed"
tar -T "$work/changed" -cf - | tar -C "$work/src" -xmf - || exit 1
echo "building in $work" >&2
{ [ -x "$work/src/configure" ] || (cd "$work/src" && autoreconf -i); } >"$work/log" 2>&1 &&
    (cd "$build" && { [ -f Makefile ] || ../src/configure $sanitizers CFLAGS='-O0 -g'; } && make -j"$(nproc)" && make -j"$(nproc)" check TESTS=) >>"$work/log" 2>&1 ||
    { tail -n 20 "$work/log" >&2; exit 1; }

# A test in C is built and run by itself, for most bugs end there; one of the shell gets all that is built, and goes through `make check`.
# 0: passed, 1: failed, 3: does not build.
run_test() { # SECONDS TEST
    case $2 in
    *.sh)
        make -s -j2 >"$work/log" 2>&1 || return 3
        timeout -k 5 "$1" make -s check check_PROGRAMS= check_DATA= TESTS="$2" >"$work/test.log" 2>&1 || return 1 ;;
    *)
        make -s -j2 "$2" >"$work/log" 2>&1 || return 3
        top_srcdir=$work/src top_builddir=$build timeout -k 5 "$1" tests/limits "./$2" >"$work/test.log" 2>&1 || return 1
        ! grep -q '^not ok' "$work/test.log" || return 1 ;;
    esac
}
run_tests() { # TEST:SECONDS...
    for test; do run_test "${test#*:}" "${test%:*}" || return; done
}
# What the tests take without a bug, and that they pass; one that fails here is not asked.
echo "$(room_rows | wc -l) rooms; their tests without a bug:" >&2
cd "$build" || exit 1
: >"$work/good"
while read -r -u 4 room folder tests; do
    good=
    case $unit:$tests in 1:*_test*) tests=$(printf '%s\n' $tests | grep '_test$') ;; esac
    for test in $tests; do
        start=$SECONDS
        if run_test 600 "$test"; then
            took=$((SECONDS - start))
            good="$good $test:$((took > 1 ? took * 10 : 20))"
        else
            echo "  $room: $test fails as it is, and is left out" >&2
        fi
    done
    echo "$room $folder$good" >>"$work/good"
done 4< <(room_rows)

# The list, in an order that the seed decides.
shuffled() { perl -e 'srand shift; my @l = <STDIN>; for my $i (reverse 1 .. $#l) { my $k = int rand($i + 1); @l[$i, $k] = @l[$k, $i] } print @l' "$1"; }
count=$(wc -l <"$work/good")
share=$(((number + count - 1) / count))
status=0 all_killed=0 all_planted=0
printf '%-10s %8s %8s %8s\n' room killed planted percent
while read -r -u 4 room folder tests; do
    list=$work/list/$room
    (cd "$work/src" && perl tests/mutation/mutants.pl $(sources_of "$folder")) | shuffled "$seed" >"$list"
    if [ -n "$files" ]; then
        (cd "$work/src" && perl tests/mutation/mutants.pl $files) | awk -F'\t' -v f="$folder" 'index($1, f "/") == 1' >"$list"
        share=$(wc -l <"$list")
    fi
    killed=0 planted=0
    : >"$work/survivors"
    while IFS=$'\t' read -r -u 3 file offset length new rule line text && [ "$planted" -lt "$share" ]; do
        grep -qxF "$file	$rule	$text" <(cut -f1-3 "$top/tests/mutation/equivalent.txt") && continue
        [ "$new" != NOTHING ] || new=
        cp -p "$work/src/$file" "$work/whole"
        perl -e 'my ($f, $o, $l, $n) = @ARGV; local $/; open my $i, "<", $f or die; my $t = <$i>; substr($t, $o, $l) = $n; open my $w, ">", $f or die; print $w $t' \
            "$work/src/$file" "$offset" "$length" "$new"
        run_tests $tests
        case $? in
        0)
            planted=$((planted + 1))
            printf '%s:%s\t%s\t%s\n' "$file" "$line" "$rule" "$text" >>"$work/survivors" ;;
        3) ;; # a compiler noticed
        *) planted=$((planted + 1)) killed=$((killed + 1)) ;;
        esac
        cp "$work/whole" "$work/src/$file"
    done 3<"$list"
    make -s -j2 >/dev/null 2>&1
    [ "$planted" = 0 ] || printf '%-10s %8d %8d %7d%%\n' "$room" "$killed" "$planted" $((100 * killed / planted))
    sed 's/^/    /' "$work/survivors"
    [ "$planted" = 0 ] || [ $((100 * killed / planted)) -ge "$least" ] || status=1
    all_killed=$((all_killed + killed)) all_planted=$((all_planted + planted))
done 4<"$work/good"
[ "$all_planted" = 0 ] || printf '%-10s %8d %8d %7d%%\n' all "$all_killed" "$all_planted" $((100 * all_killed / all_planted))
exit $status
