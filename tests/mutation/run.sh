#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Mutation testing: plants small bugs one by one in a copy of this tree, builds what changed, runs the tests of that folder, and prints
# folder by folder how many were noticed, and below that the survivors.
#
#     tests/mutation/run.sh                     200 bugs over all parts; about an hour
#     tests/mutation/run.sh -n 20 -s 7          20 of them, chosen by another seed
#     tests/mutation/run.sh -r join -n 40       in one part
#     tests/mutation/run.sh -f metrics/model/values.c   every one there is in a file
#     tests/mutation/run.sh -u -r code          by the tests in C alone where the part has some: less, in a fraction of the time
#     tests/mutation/run.sh -t 20 ...           without tests of the shell that take longer than 20 seconds
#     tests/mutation/run.sh -a ...              with the sanitizers, as CI's builds: reading one too far is noticed then
#     tests/mutation/run.sh -o OUTPUT ...       those that survived in an earlier output; by -a: those that only sanitizers could notice
#     tests/mutation/run.sh -w FOLDER ...       builds there, and leaves what is built for the next time
#
#     tests/mutation/run.sh -j 4 ...            four at a time
#
# A bug is killed when a test fails, crashes, or takes 4 GB, four times as long on the processor (and five seconds), or 10 times as long by
# the clock; it survives when all pass. One that does not build,
# warnings being errors, or of which the optimizing compiler makes the same machine code as without it, is replaced by the next.
# equivalent.txt lists those that change nothing anybody could see, with the reason.
# Only the file with the bug is compiled, only what holds it is linked again, in a folder beside the finished build, and only those tests
# are run that go to that line when there is no bug (gcov); "no test reaches it" stands beside survivors that no test goes to.
# Needs perl and what `make check` needs; builds in ${TMPDIR:-/tmp}. Exit status 0 where every part has at least PERCENT (-p, 0) killed.
set -u
{ # (read whole before it runs: it may be changed meanwhile)
exec </dev/null
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
top=$PWD
number=200 seed=1 parts= files= survivors=/dev/null least=0 unit= sanitizers= work= jobs=1 longest=600
while getopts n:s:r:f:o:p:w:j:t:ua option; do
    case $option in
    n) number=$OPTARG ;;
    s) seed=$OPTARG ;;
    r) parts="$parts $OPTARG" ;;
    f) files="$files $OPTARG" ;;
    o) survivors=$(realpath "$OPTARG") && files="$files $(sed -n 's/^    \(.*\):[0-9]*\t.*/\1/p' "$OPTARG" | sort -u)" ;;
    p) least=$OPTARG ;;
    w) mkdir -p "$OPTARG" && work=$(cd "$OPTARG" && pwd) || exit 1 ;;
    j) jobs=$OPTARG ;;
    t) longest=$OPTARG ;;
    u) unit=1 ;;
    a) sanitizers=--enable-asan ;;
    *) exit 2 ;;
    esac
done

# part: where its code is: its tests, those first that take least
table='
support    support           support/support_test support/edges_test support/table_test support/text/json_test support/shrink_test support/ranks_test support/sort_test support/files_test support/calls_test support/text/xml_test support/drawn_test bloop/functions/functions_test
image      bloop/image       bloop/image/drawn_test bloop/image/parts_test bloop/image/image_test bloop/debug/debug_test bloop/damage_test tests/corpus.sh
functions  bloop/functions   bloop/functions/drawn_test bloop/functions/gaps_test bloop/functions/functions_test tests/structure/golden.sh
debug      bloop/debug       bloop/debug/lines_test bloop/debug/go_drawn_test bloop/debug/entries_test bloop/debug/made_test bloop/debug/go_lines_test bloop/debug/debug_test tests/structure/golden.sh tests/structure/exactness.sh
arch       bloop/arch        bloop/arch/arch_test bloop/arch/facts_test bloop/arch/run_test bloop/code/cfg_test bloop/code/jumptable_test tests/structure/golden.sh
code       bloop/code        bloop/code/cfg_test bloop/code/drawn_test bloop/code/jump_drawn_test bloop/code/loops_test bloop/code/jumptable_test tests/structure/golden.sh tests/structure/exactness.sh
scope      bloop/scope       bloop/scope/scope_test bloop/scope/drawn_test tests/structure/formats.sh tests/structure/golden.sh
assemble   bloop/assemble    bloop/assemble/assemble_test tests/structure/golden.sh tests/structure/exactness.sh
bloop      bloop             bloop/whole_test phases/barrier_log_test bloop/damage_test tests/structure/golden.sh tests/structure/formats.sh tests/structure/exactness.sh
format     hpcprof/format             hpcprof/format/read_test hpcprof/format/random_test hpcprof/format/ranks_test hpcprof/launch/exit_status_test hpcprof/launch/record_test metrics/report/print_test tests/run-golden.sh tests/e2e/example.sh
launch     hpcprof/launch             hpcprof/launch/exit_status_test hpcprof/launch/events_test hpcprof/launch/events_fake_test hpcprof/launch/record_test tests/record/misuse.sh tests/e2e/example.sh
base       hpcprof/recorder/base      hpcprof/recorder/base/bytes_test hpcprof/recorder/base/system_test hpcprof/recorder/recorder_test hpcprof/recorder/process/main_test hpcprof/recorder/unwind/unwind_test tests/paths/known.sh tests/record/sampler_agree.sh tests/record/situations.sh
unwind     hpcprof/recorder/unwind    hpcprof/recorder/unwind/unwind_test hpcprof/recorder/unwind/random_test hpcprof/recorder/unwind/objects_test tests/paths/known.sh tests/record/sampler_agree.sh tests/record/situations.sh
output     hpcprof/recorder/output    hpcprof/recorder/output/counts_test hpcprof/recorder/output/maps_test hpcprof/recorder/output/paths_test hpcprof/recorder/recorder_test hpcprof/recorder/process/threads_test tests/paths/known.sh tests/record/sampler_agree.sh tests/record/situations.sh
sampling   hpcprof/recorder/sampling  hpcprof/recorder/sampling/perf_test hpcprof/recorder/sampling/samplers_test hpcprof/recorder/process/wrap_test hpcprof/recorder/recorder_test tests/paths/known.sh tests/record/sampler_agree.sh tests/record/situations.sh
process    hpcprof/recorder/process   hpcprof/recorder/process/environment_test hpcprof/recorder/process/wrap_test hpcprof/recorder/process/main_test hpcprof/recorder/process/threads_test hpcprof/recorder/recorder_test tests/paths/known.sh tests/record/sampler_agree.sh tests/record/situations.sh
filters    filters           filters/filters_test filters/files_test filters/random_test filters/contents_test tests/filters/filters.sh
filters-base filters/base    filters/filters_test filters/files_test filters/random_test filters/contents_test tests/filters/filters.sh
perf       filters/perf      filters/perf/data_test filters/random_test filters/filters_test filters/files_test filters/contents_test tests/filters/filters.sh
callgrind  filters/callgrind filters/callgrind/cost_positions_test filters/callgrind/jumps_test filters/random_test filters/filters_test filters/contents_test tests/filters/filters.sh
hpctoolkit filters/hpctoolkit filters/hpctoolkit/hpctoolkit_test filters/filters_test filters/contents_test tests/filters/filters.sh
formula    metrics/formula   metrics/formula/expr_test metrics/formula/blocks_test metrics/config/config_test metrics/ingest/columns_test metrics/report/print_test tests/run-golden.sh
config     metrics/config    metrics/config/config_test metrics/ingest/columns_test metrics/join/experiment_test metrics/report/print_test tests/run-golden.sh tests/build/configuration.sh
model      metrics/model     metrics/model/anonymize_test metrics/ingest/columns_test metrics/ingest/ingest_test metrics/join/experiment_test metrics/join/conserve_test htmlgen/read/read_test metrics/report/print_test tests/run-golden.sh tests/compare/compare.sh
ingest     metrics/ingest    metrics/ingest/columns_test metrics/ingest/ingest_test metrics/ingest/modules_test metrics/code/loops_test metrics/join/experiment_test metrics/join/conserve_test metrics/report/print_test tests/run-golden.sh tests/compare/compare.sh
sampled    metrics/code      metrics/code/trip_counts_test tests/filters/trip_counts.sh metrics/code/loops_test metrics/code/functions_test metrics/code/compilers_test metrics/join/experiment_test metrics/report/print_test tests/run-golden.sh
align      metrics/align     metrics/align/line_diff_test metrics/join/experiment_test metrics/report/print_test tests/compare/compare.sh
join       metrics/join      metrics/ingest/ingest_test metrics/join/experiment_test metrics/join/sources_test metrics/join/conserve_test metrics/report/print_test tests/run-golden.sh tests/build/configuration.sh tests/compare/compare.sh
report     metrics/report    metrics/report/print_test tests/run-golden.sh tests/print/schema.sh
export     export            export/export_test tests/export/export.sh
database   htmlgen/format    htmlgen/write/write_test htmlgen/read/read_test
write      htmlgen/write     htmlgen/write/write_test htmlgen/read/read_test tests/page/agree.sh
read       htmlgen/read      htmlgen/read/read_test metrics/report/print_test
engine     mhsim/engine               mhsim/engine/engine_test mhsim/runtime/runtime_test tests/simulate/simulate.sh
runtime    mhsim/runtime              mhsim/runtime/modules_test mhsim/runtime/runtime_test tests/simulate/simulate.sh
instrument mhsim/instrument           mhsim/instrument/hooks_test mhsim/instrument/qemu_test tests/simulate/simulate.sh
collect    mhsim/collect              mhsim/collect/collect_test tests/simulate/simulate.sh
simulate   mhsim/launch               mhsim/launch/run_test tests/simulate/simulate.sh
machines   machines          machines/memory_test machines/processor_test quality/loops_test
body       quality/body      quality/drawn_test quality/loops_test tests/quality/quality.sh
quality    quality           quality/drawn_test quality/loops_test tests/quality/quality.sh tests/quality/database.sh
diagnose   diagnose          diagnose/library_test tests/run-golden.sh tests/diagnose/cases.sh
properties diagnose/read     diagnose/read/read_test diagnose/library_test tests/diagnose/cases.sh
evaluate   diagnose/evaluate diagnose/library_test diagnose/search/findings_test tests/run-golden.sh tests/diagnose/cases.sh
search     diagnose/search   diagnose/search/findings_test tests/run-golden.sh tests/diagnose/cases.sh
findings   diagnose/report   diagnose/search/findings_test tests/run-golden.sh tests/diagnose/cases.sh
phases     phases            phases/finish_test phases/barrier_log_test tests/phases/recorded.sh
barriers   hpcprof/recorder/barriers  hpcprof/recorder/barriers/barrier_test hpcprof/recorder/barriers/write_test hpcprof/recorder/barriers/teams_test hpcprof/recorder/barriers/notify_test hpcprof/recorder/barriers/mpi_test hpcprof/recorder/barriers/openmp_test hpcprof/recorder/barriers/pthreads_test phases/finish_test tests/phases/recorded.sh
campaign   campaign          campaign/experiments_test tests/driver/live.sh tests/build/campaign.sh
compare    compare           compare/compare_test tests/compare/pairs.sh
driver     driver            driver/phases_test driver/commands_test tests/driver/manual.sh tests/driver/live.sh tests/run-golden.sh tests/build/bad-configuration.sh tests/build/rebuilt.sh tests/build/blocks.sh tests/build/configuration.sh tests/build/campaign.sh tests/build/run.sh tests/build/debuginfod.sh tests/page/open.sh tests/structure/formats.sh tests/print/schema.sh tests/export/export.sh tests/quality/quality.sh tests/quality/database.sh tests/compare/compare.sh tests/filters/filters.sh tests/diagnose/cases.sh tests/e2e/bad-input.sh tests/record/misuse.sh tests/simulate/simulate.sh tests/phases/recorded.sh tests/e2e/example.sh tests/diagnose/planted.sh
page       templates         templates/test/unit.sh
'
for test in $(git ls-files '*_test.c' | sed 's/\.c$//'); do
    case " $(echo $table) " in *" $test "*) ;; *) echo "run.sh: $test is in no row of the table" >&2 && exit 2 ;; esac
done
part_rows() { printf '%s\n' "$table" | awk 'NF && (wanted == "" || index(" " wanted " ", " " $1 " "))' wanted="${parts# }"; }
# The sources of a part: no bugs are planted in tests, fuzz targets and benchmarks, nor in code that only a browser runs
# (the page's views, its loading); only files of the folder itself, not of parts below it.
sources_of() {
    grep -E "^$1/.*[.](c|ts)\$" "$work/files" | grep -vE '(_test|_fuzz|_reference)\.c$|/(bench|make|sample|drawing)[^/]*\.c$|/test/|/views/|/load\.ts$|\.d\.ts$' |
        if [ "$1" = templates ]; then cat; else awk -F/ -v n="$(echo "$1" | tr -cd / | wc -c)" 'NF == n + 2'; fi |
        if [ -z "$files" ]; then cat; else grep -xF "$(printf '%s\n' $files)"; fi
}

trap 'exit 130' INT TERM
[ -n "$work" ] || { work=$(mktemp -d "${TMPDIR:-/tmp}/hpcview-mutation.XXXXXX") && trap 'rm -rf "$work"' EXIT || exit 1; }
build=$work/build${sanitizers:+-sanitizers}
rm -rf "$work/try" "$work/made" || exit 1 # (of an earlier run)
mkdir -p "$work/src" "$work/list" "$work/try" "$work/made"
git ls-files >"$work/files"
changed_files() { while read -r file; do cmp -s "$file" "$work/src/$file" || echo "$file"; done <"$work/files"; }
changed_files >"$work/changed"
# Objects do not depend on the options they are compiled with.
! grep -qE '(\.mk|Makefile\.am|configure\.ac)$' "$work/changed" || rm -rf "$work/build" "$work/build-sanitizers" "$work/src/configure"
mkdir -p "$build"
tar -T "$work/changed" -cf - | tar -C "$work/src" -xmf - || exit 1
echo "building in $work" >&2
{ [ -x "$work/src/configure" ] || (cd "$work/src" && autoreconf -i); } >"$work/log" 2>&1 &&
    (cd "$build" && { [ -f Makefile ] || ../src/configure --enable-coverage $sanitizers CFLAGS='-O0 -g'; } && make -j"$(nproc)" && make -j"$(nproc)" check TESTS=) >>"$work/log" 2>&1 ||
    { tail -n 20 "$work/log" >&2; exit 1; }
cd "$build" || exit 1

# ---- building one thing again: the words that make would use, without their outcome ------------------------------------------------
# Dependencies of each object, from automake's notes: "OBJECT FILE".
find . -path '*/.deps/*' -name '*.P*o' -exec perl -0777 -ne 's/\\\n/ /g; print "$1 $2\n" if m{^(\S+):\s+(?:\.\./src/)?(\S+)}' {} + >"$work/made/objects"
# compiler_of OBJECT FILE: the compiler command without its input, cached by folder and product.
compiler_of() {
    local base=${1##*/} key
    case $base in *-*) key=${1%/*}/${base%-*} ;; *) key=${1%/*}/ ;; esac
    key=$work/made/compile:${key//\//:}
    [ -s "$key" ] || make -n V=1 -W "../src/$2" "$1" |
        perl -0777 -ne 's/\\\n/ /g; for (split /[\n;]/) { next if !/^\s*(.*?) -MT \S+ -MD/; my $c = $1; my $shared = $c =~ s/^.*--mode=compile //; print $c, $shared ? " -fPIC -DPIC" : ""; last }' >"$key"
    cat "$key"
}
# linker_of PRODUCT: the command that links it; libtool's own command for a library is visible only while linking.
linker_of() {
    local key=$work/made/link:${1//\//:}
    [ -s "$key" ] || case $1 in
    *.la) rm -f "$1" && make V=1 "$1" 2>/dev/null | sed -n 's/^libtool: link: \(.* -o .*\)/\1/p' | head -n 1 >"$key" ;;
    *) make -n V=1 -W ../src/tests/tap.h -W ../src/driver/driver.h "$1" | sed -n 's/.*--mode=link //p' | head -n 1 >"$key" ;;
    esac
    cat "$key"
}

# The program of a C test, or the programs that shell tests may run.
products='driver/hpcview libhpcview-record.la libhpcview-record-phases.la libhpcview-simulate.la libhpcview-simulate-qemu.la libhpcview-simulate-heap.la'
is_shell() { case $1 in *.sh) ;; *) false ;; esac }
for name in CC CXX FC NODE NPM CHECK_CFLAGS; do export "$name=$(sed -n "s/^$name = //p" Makefile)"; done
export TEST_MEGABYTES=4000

# run_test SOURCES BUILD SECONDS TEST [PROGRAM]: 0 passed, 124 or 137 timed out, otherwise failed. CPU time
# distinguishes an endless loop from a busy machine.
run_test() {
    local command=${5:-$2/$4} status
    ! is_shell "$4" || command="${SHELL:-/bin/bash} $1/$4"
    (cd "$2" && ulimit -t $(($3 * 4 / 10 + 5)) && GCOV_PREFIX=${2%/*}/reached top_srcdir=$1 top_builddir=$2 TMPDIR=$2 timeout -k 5 "$3" "$build/tests/limits" $command) >"$2/test.log" 2>&1 4<&-
    status=$?
    [ "$status" = 0 ] || return "$status"
    ! grep -q '^not ok' "$2/test.log"
}

# archive_of OBJECT WORDS...: that of the archives among the words that has the object; it is of a folder above it.
archive_of() {
    local object=$1 word
    shift
    for word; do
        case $word in *.a) case $object in "${word%/*}"/*) ar t "$word" | grep -qxF "${object##*/}" && echo "$word" && return ;; esac ;; esac
    done
    return 1
}

# link_again FOLDER PRODUCT [AS]: links the product in FOLDER/b, or as AS, with the objects in FOLDER/o replacing those
# of the same name, also in a copy of an archive. Returns 2 if it contains none of them.
link_again() {
    local command archive out object found=
    command="$(linker_of "$2") "
    out=$(expr "$command" : '.* -o \([^ ]*\)')
    for object in $(cd "$1/o" && find . -name '*.o' | cut -c3-); do
        case $command in
        *" $object "*) command=${command/ $object / $1/o/$object } && found=1 ;;
        *) archive=$(archive_of "$object" $command) && cp "$archive" "$1/o/$object.a" && ar r "$1/o/$object.a" "$1/o/$object" &&
            command=${command/ $archive / $1/o/$object.a } && found=1 ;;
        esac
    done
    [ -n "$found" ] || return 2
    rm -f "${3:-$1/b/$out}"
    eval "${command/ -o $out / -o ${3:-$1/b/$out} }" >"$1/link.log" 2>&1
}

# The finished build with space for other products: links to its files, except folders of products and the products themselves.
beside_build() { # FOLDER
    local folder
    mkdir -p "$1/b" && ln -s "$build"/* "$1/b/"
    for folder in driver .libs; do
        rm -f "$1/b/$folder" && mkdir "$1/b/$folder" && ln -s "$build/$folder"/* "$1/b/$folder/"
    done
    rm -f "$1/b/driver/hpcview" "$1/b/test.log" && ln "$build/driver/hpcview" "$1/b/driver/hpcview"
}

# ---- lines that a test reaches
# -----------------------------------------------------------------------------------------------------
# note_lines PART FOLDER NAME: (here, where sources are found by the names in the objects) lists the lines of a part's
# files reached by the test run in try/none, as "FILE LINE TIMES" in reach/PART/NAME.
note_lines() {
    local counted=$work/try/none/reached$build notes
    mkdir -p "$work/reach/$1/${3%/*}"
    (find "$counted/$2" -name '*.gcda' | while read -r data; do
        notes=${data#"$counted/"}
        notes=$build/${notes%.gcda}.gcno
        [ ! -f "$notes" ] || { ln -sf "$notes" "${data%.gcda}.gcno" && gcov -t "$data"; }
    done) 2>/dev/null | awk -F: '{ gsub(/[ *]/, "", $1) } $2 + 0 == 0 && $3 == "Source" { file = $4; sub(/.*\/src\//, "", file) }
        $2 + 0 && $1 != "-" { print file, $2 + 0, $1 + 0 }' >"$work/reach/$1/$3"
    rm -rf "$work/try/none/reached"
}
# goes_there PART/TEST FILE LINE: may the test reach it? A line between two counted lines belongs to one of them; files
# that are not counted (the recorder, whose library is the normal one in programs; pages) may be reached.
goes_there() {
    case $2 in *.ts) return ;; esac
    local object with= without=
    for object in $(awk -v f="$2" '$2 == f { print $1 }' "$work/made/objects"); do
        if [ -f "${object%.*}.gcno" ]; then with=1; else without=1; fi
    done
    if is_shell "$1"; then [ -z "$without" ]; else [ -n "$with" ]; fi || return 0
    awk -v f="$2" -v l="$3" '$1 == f { if ($2 <= l && $2 >= below) { times = ($2 == below ? times : 0) + $3; below = $2 }
        if ($2 >= l && (!above || $2 <= above)) { more = ($2 == above ? more : 0) + $3; above = $2 } }
        END { exit !(times || more) }' "$work/reach/$1"
}

# changes_code FOLDER OBJECT FILE: does FOLDER/FILE compile to different machine code than before? (NDEBUG: asserts
# contain the folder.)
changes_code() {
    local key=$work/made/code:${2//\//:}.o command
    command=$(compiler_of "$2" "$3")
    command="${command/--coverage/} -O2 -g0 -w -DNDEBUG -fno-sanitize=all -frandom-seed=0 -c"
    [ -s "$key" ] || { eval "$command -o $key.$BASHPID $work/src/$3" && mv "$key.$BASHPID" "$key"; } 2>/dev/null || return 0
    eval "$command -o $1/code.o $1/$3" 2>/dev/null && ! cmp -s "$key" "$1/code.o"
}

# try_bug FOLDER FILE LINE TESTS...: tests the bug in FOLDER/FILE. 0: survives, 1: killed, 3: does not build, or changes
# nothing.
try_bug() {
    local folder=$1 file=$2 line=$3 sources=$work/src test object made product linked= changed= tests=
    shift 3
    for test; do ! goes_there "$part/${test%:*}" "$file" "$line" || tests="$tests $test"; done
    [ -n "$tests" ] || echo "no test reaches it" >"$folder/by"
    case $file in
    *.ts) # (links to sources would be followed to those without the bug)
        mkdir "$folder/s" && ln -s "$work/src"/* "$folder/s/" && rm "$folder/s/templates" && cp -r "$work/src/templates" "$folder/s/" &&
            cp "$folder/$file" "$folder/s/$file" && sources=$folder/s ;;
    *)
        for object in $(awk -v f="$file" '$2 == f { print $1 }' "$work/made/objects"); do
            made=$object # (what libtool calls x.lo is .libs/x.o)
            case $object in *.lo) made=${object%/*}/.libs/${object##*/} && made=${made%.lo}.o ;; esac
            mkdir -p "$folder/o/${made%/*}"
            eval "$(compiler_of "$object" "$file") -Werror -c -o $folder/o/$made $folder/$file" >"$folder/log" 2>&1 || return 3
            [ -n "$changed" ] || ! changes_code "$folder" "$object" "$file" || changed=1
        done
        [ -n "$changed" ] || return 3 ;;
    esac
    for test in $tests; do
        if [ -d "$folder/o" ] && is_shell "${test%:*}"; then
            [ -n "$linked" ] || for product in $products; do
                link_again "$folder" "$product" || [ $? = 2 ] || return 3
            done
            linked=1
        elif [ -d "$folder/o" ]; then
            link_again "$folder" "${test%:*}" "$folder/test" || { [ $? = 2 ] && continue; } || return 3
        fi
        run_test "$sources" "$folder/b" "${test##*:}" "${test%:*}" "$folder/test" || { echo "${test%:*}" >"$folder/by"; return 1; }
    done
}

# Runs the tests without a bug, to measure their time; tests that fail here are not used.
part_rows | while read -r part folder tests; do [ -z "$(sources_of "$folder")" ] || echo "$part $folder $tests"; done >"$work/parts"
echo "$(wc -l <"$work/parts") parts; their tests without a bug:" >&2
mkdir "$work/try/none" && beside_build "$work/try/none"
: >"$work/good"
while read -r -u 4 part folder tests; do
    good=
    case $unit:$tests in 1:*_test*) tests=$(printf '%s\n' $tests | grep '_test$') ;; esac
    for test in $tests; do
        start=$SECONDS limit=600
        ! is_shell "$test" || limit=$longest
        run_test "$work/src" "$work/try/none/b" "$limit" "$test"
        case $? in
        0)
            took=$((SECONDS - start))
            good="$good $test:$((took > 1 ? took * 10 : 10))"
            note_lines "$part" "$folder" "$test"
            ;;
        124 | 137) echo "  $part: $test takes longer than $limit s, and is left out" >&2 ;;
        *) echo "  $part: $test fails as it is, and is left out: $(grep -m 1 '^not ok' "$work/try/none/b/test.log")" >&2 ;;
        esac
    done
    [ -n "$good" ] || { echo "no test of $part passes without a bug" >&2; exit 1; }
    echo "$part $folder$good" >>"$work/good"
done 4<"$work/parts"
for product in $products $(tr ' ' '\n' <"$work/good" | sed -n 's/_test:.*/_test/p'); do linker_of "$product" >/dev/null; done

# The list, in an order that the seed decides.
shuffled() { perl -e 'srand shift; my @l = <STDIN>; for my $i (reverse 1 .. $#l) { my $k = int rand($i + 1); @l[$i, $k] = @l[$k, $i] } print @l' "$1"; }
# one_bug PART NUMBER TESTS...: the result of a bug of the list goes to result.NUMBER in the part's folder.
one_bug() {
    local part=$1 number=$2 here=$work/try/$1.$2 file offset length new rule line rest
    shift 2
    IFS=$'\t' read -r file offset length new rule line rest < <(sed -n "${number}p" "$work/list/$part")
    [ "$new" != NOTHING ] || new=
    mkdir -p "$here/${file%/*}" && beside_build "$here"
    perl -e 'my ($f, $o, $l, $n) = @ARGV; local $/; open my $i, "<", $f or die; my $t = <$i>; substr($t, $o, $l) = $n; print $t' \
        "$work/src/$file" "$offset" "$length" "$new" >"$here/$file"
    try_bug "$here" "$file" "$line" "$@"
    echo "$? $(cat "$here/by" 2>/dev/null)" >"$work/list/$part.results/$number.new" && mv "$work/list/$part.results/$number.new" "$work/list/$part.results/$number"
    rm -rf "$here"
}
# of_part PART WHAT: the numbers of the bugs that survived (0) or were killed (1), or both (01): the first ones, up to
# the requested share
of_part() { (cd "$work/list/$1.results" && grep -l "^[01] " -- * 2>/dev/null | sort -n | head -n "$share" | xargs -r grep -l "^[$2] "); }

count=$(wc -l <"$work/good")
share=$(((number + count - 1) / count))
status=0 all_killed=0 all_planted=0
printf '%-10s %8s %8s %8s\n' part killed planted percent
while read -r -u 4 part folder tests; do
    list=$work/list/$part
    (cd "$work/src" && perl tests/mutation/mutants.pl $(sources_of "$folder")) |
        awk -F'\t' 'NR == FNR { seen[$1, $2, $3] = 1; next } !seen[$1, $5, $7]' "$top/tests/mutation/equivalent.txt" - |
        awk -F'\t' 'FILENAME != "-" { if (sub(/^    /, "")) { sub(/:[0-9]+$/, "", $1); asked[$1, $2, $3] = only = 1 } next }
            !only || asked[$1, $5, $7]' "$survivors" - | shuffled "$seed" >"$list"
    [ -z "$files" ] || share=$(wc -l <"$list")
    rm -rf "$list.results" && mkdir "$list.results"
    for ((n = 1; n <= $(wc -l <"$list"); n++)); do
        while [ "$(jobs -r | wc -l)" -ge "$jobs" ]; do wait -n; done
        [ "$(of_part "$part" 01 | wc -l)" -lt "$share" ] || break
        one_bug "$part" "$n" $tests &
    done
    wait
    planted=$(of_part "$part" 01 | wc -l) killed=$(of_part "$part" 1 | wc -l)
    [ "$planted" = 0 ] || printf '%-10s %8d %8d %7d%%\n' "$part" "$killed" "$planted" $((100 * killed / planted))
    for n in $(of_part "$part" 0); do
        sed -n "${n}p" "$list" | awk -F'\t' -v by="$(cut -d ' ' -f 2- "$list.results/$n")" '{ printf "    %s:%s\t%s\t%s\t%s\n", $1, $6, $5, $7, by }'
    done
    [ "$planted" = 0 ] || [ $((100 * killed / planted)) -ge "$least" ] || status=1
    all_killed=$((all_killed + killed)) all_planted=$((all_planted + planted))
done 4<"$work/good"
[ "$all_planted" = 0 ] || printf '%-10s %8d %8d %7d%%\n' all "$all_killed" "$all_planted" $((100 * all_killed / all_planted))
exit $status
}
