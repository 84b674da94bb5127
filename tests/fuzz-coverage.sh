#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How much of each parser the fuzz targets reach: every target runs over its corpus, and for a while on its own; prints by source file how
# many of its lines were run. Needs clang and llvm-cov.
#
#   fuzz-coverage.sh [-s SECONDS] [-m] [-b FOLDER] [TARGET...]
#       -s: how long each target looks for more (0: its corpus alone)
#       -m: the lines that were never run, too
#       -b: where it is built (build-coverage)
#       TARGET: measurement, filter, scope, ... (all)
#
# What is found is kept in FOLDER/found/TARGET for the next time; an input that crashes ends the script with status 1.
here=$(cd "$(dirname "$0")/.." && pwd)
seconds=0 missed='' build=$here/build-coverage
while getopts s:mb: opt; do
    case $opt in
    s) seconds=$OPTARG ;;
    m) missed=1 ;;
    b) build=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))

# target | the sources whose lines it covers | its initial inputs, besides its corpus
parsers='
elf|bloop/image/image.c bloop/image/elf.c bloop/image/ehframe.c bloop/image/reloc.c bloop/image/compress.c bloop/debug/lines.c bloop/debug/dwarf_file.c bloop/debug/die.c bloop/debug/ranges.c bloop/debug/units.c bloop/debug/unit_index.c bloop/debug/unit_names.c bloop/debug/debug.c bloop/functions/functions.c bloop/functions/gaps.c|tests/structure/objects
code|bloop/code/cfg.c bloop/code/jump_tables.c bloop/code/jump_values.c bloop/code/jump_frames.c bloop/code/jumptable.c bloop/code/loops.c|
scope|bloop/scope/xml.c bloop/scope/hpcstruct.c bloop/scope/build.c bloop/scope/check.c bloop/scope/outline.c bloop/cache.c support/xml.c|
measurement|hpcprof/format/read.c hpcprof/format/read_tables.c support/table.c|
maps|hpcprof/recorder/output/maps.c|
ring|hpcprof/recorder/sampling/perf.c hpcprof/recorder/output/paths.c|
unwind|hpcprof/recorder/unwind/unwind.c hpcprof/recorder/unwind/rows.c|
filter|filters/*.c filters/base/*.c filters/perf/*.c filters/callgrind/*.c support/text/json_read.c|tests/filters
hpctoolkit|filters/hpctoolkit/v4.c|
config|metrics/config/config_read.c metrics/config/config_elements.c metrics/config/config_hpcview3.c metrics/formula/mathml.c|share/metrics
expr|metrics/formula/expr_parse.c metrics/formula/expr_names.c metrics/formula/expr_functions.c|
database|htmlgen/read/read.c htmlgen/read/tables.c htmlgen/format/block.c htmlgen/format/head.c|
asl|diagnose/read/read.c diagnose/read/clauses.c diagnose/read/templates.c diagnose/read/tokens.c|
'

llvm() { # cov, profdata: whichever version clang has
    local version
    version=$(clang --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
    command -v "llvm-$1-$version" || command -v "llvm-$1"
}
cov=$(llvm cov) profdata=$(llvm profdata)
[ -n "$cov" ] && [ -n "$profdata" ] || { echo "fuzz-coverage.sh: llvm-cov and llvm-profdata are needed (apt-get install llvm)" >&2; exit 1; }

# Built once; the coverage of each run is added to the target's profile.
if [ ! -f "$build/Makefile" ]; then
    mkdir -p "$build" && (cd "$build" && "$here/configure" CC=clang --enable-fuzz --enable-developer \
        CFLAGS='-O1 -g -fprofile-instr-generate -fcoverage-mapping' LDFLAGS=-fprofile-instr-generate >configure.log 2>&1) ||
        { echo "fuzz-coverage.sh: $build/configure.log says why it cannot be built" >&2; exit 1; }
fi
make_one() { make -C "$build" "$1" >"$build/make.log" 2>&1 || { tail "$build/make.log" >&2; exit 1; }; }

# unpacked FOLDER NAME: returns the folder, with packed files unpacked
unpacked() {
    case $(ls "$here/$1") in *.gz*) ;; *) echo "$here/$1" && return ;; esac
    mkdir -p "$build/seeds/$2"
    for file in "$here/$1"/*.gz; do gzip -dc "$file" >"$build/seeds/$2/$(basename "$file" .gz)"; done
    echo "$build/seeds/$2"
}

# run_target NAME BINARY SEEDS: all inputs, then more for a while
run_target() {
    local -a limit=(-max_total_time="$seconds")
    [ "$seconds" != 0 ] || limit=(-runs=0)
    mkdir -p "$build/found/$1"
    LLVM_PROFILE_FILE=$build/$1.profraw "$build/$2" "${limit[@]}" -timeout=60 -rss_limit_mb=4096 \
        -artifact_prefix="$build/found/$1-" "$build/found/$1" "$here/tests/corpus/$1" ${3:+"$(unpacked "$3" "$1")"} >"$build/$1.log" 2>&1 ||
        { tail -n 30 "$build/$1.log"; exit 1; }
    "$profdata" merge -o "$build/$1.profdata" "$build/$1.profraw" || exit 1
}

# report NAME BINARY SOURCES: a row for each source; lines and lines run, as llvm-cov counts them
report() {
    "$cov" export -format=lcov -instr-profile="$build/$1.profdata" "$build/$2" >"$build/$1.info" 2>/dev/null || exit 1
    for source in $(cd "$here" && echo $3); do
        case $source in *_test.c | *_fuzz.c) continue ;; esac
        awk -F '[:,]' -v target="$1" -v source="$source" -v missed="$missed" '
            $1 == "SF" { here = length($2) >= length(source) && substr($2, length($2) - length(source) + 1) == source }
            here && $1 == "DA" { lines++; if ($3 > 0) run++; else never = never " " $2 }
            END {
                if (!lines) exit
                printf "| %s | %s | %d | %.0f%% |\n", target, source, lines, 100 * run / lines
                if (missed != "") print "    never:" never
            }' "$build/$1.info"
    done
}

printf '| target | source | lines | run |\n|---|---|---|---|\n'
printf '%s\n' "$parsers" | while IFS='|' read -r name sources seeds; do
    [ -n "$name" ] || continue
    case " $* " in '  ' | *" $name "*) ;; *) continue ;; esac
    binary=$(cd "$here" && ls -d */"$name"_fuzz.c */*/"$name"_fuzz.c 2>/dev/null | head -n 1)
    binary=${binary%.c}
    make_one "$binary"
    run_target "$name" "$binary" "$seeds"
    report "$name" "$binary" "$sources"
done
