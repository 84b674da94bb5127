#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Recall and precision of loops (file, first line, depth) against the loops marked in tests/exactness/src, for each compiler, level and
# DWARF version at hand.
#
#   run.sh [-v] [-O LEVELS] [-c COMPILERS] [-d DWARF VERSIONS]      e.g. run.sh -v -O "-O0 -O1" -c gcc -d 5
#
# -v prints every difference. Needs: $top_builddir/tests/exactness/compare (make check-exactness builds it).
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
top_builddir=${top_builddir:-.}
levels="-O0 -O1 -O2 -O3"
compilers="gcc clang gfortran aarch64-linux-gnu-gcc"
dwarfs="4 5"
verbose=
while getopts vO:c:d: opt; do
    case $opt in
    v) verbose=1 ;;
    O) levels=$OPTARG ;;
    c) compilers=$OPTARG ;;
    d) dwarfs=$OPTARG ;;
    *) exit 2 ;;
    esac
done
compare=$top_builddir/tests/exactness/compare
src=$top_srcdir/tests/exactness/src
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# A compiler's own C++ or Fortran partner, and the sources it takes.
partner() {
    case $1 in
    *gcc) echo "${1%gcc}g++" ;;
    *clang) echo "${1%clang}clang++" ;;
    esac
}
compile() { # COMPILER FLAGS... SOURCE: makes $work/a.so
    local cc=$1
    shift
    # Undefined symbols are permitted: the library is only read, not run.
    "$cc" -g -fPIC -shared -nostdlib -Wl,--build-id=none "$@" -o "$work/a.so" 2>"$work/errors"
}
row() { # COMPILER LEVEL DWARF SOURCE EXTRA...
    local cc=$1 level=$2 dwarf=$3 source=$4 native=
    shift 4
    command -v "$cc" >/dev/null || return 0
    case "$level $cc" in
    "-O3 aarch64"*) native=-march=armv8.2-a ;;
    "-O3 "*) native=-march=native ;;
    esac
    # shellcheck disable=SC2086
    if ! compile "$cc" "$level" $native "-gdwarf-$dwarf" "$@" "$src/$source"; then
        echo "skip $cc $level dwarf$dwarf $source: does not compile: $(head -1 "$work/errors")"
        return 0
    fi
    "$compare" "$work/a.so" "$src/$source" >"$work/out" 2>"$work/errors" || { echo "FAILED $cc $level dwarf$dwarf $source: $(head -1 "$work/errors")"; return 0; }
    printf '%-24s %s dwarf%s %-13s %s\n' "$cc" "$level" "$dwarf" "$source" "$(tail -1 "$work/out")"
    [ -n "$verbose" ] && sed '$d; s/^/    /' "$work/out"
    return 0
}
for cc in $compilers; do
    for dwarf in $dwarfs; do
        for level in $levels; do
            case $cc in
            *gfortran)
                row "$cc" "$level" "$dwarf" forms.f90 -J "$work"
                row "$cc" "$level" "$dwarf" hard.f90
                [ "$level" = -O1 ] || row "$cc" "$level" "$dwarf" nests.f90
                row "$cc" "$level" "$dwarf" hard_omp.f90 -fopenmp
                ;;
            *)
                row "$cc" "$level" "$dwarf" loops.c
                row "$cc" "$level" "$dwarf" inline.c
                row "$(partner "$cc")" "$level" "$dwarf" templates.cc
                row "$cc" "$level" "$dwarf" omp.c -fopenmp
                row "$cc" "$level" "$dwarf" hard.c
                row "$(partner "$cc")" "$level" "$dwarf" hard.cc
                row "$cc" "$level" "$dwarf" hard_omp.c -fopenmp
                row "$(partner "$cc")" "$level" "$dwarf" hard_omp.cc -fopenmp
                if [ "$level" != -O1 ]; then # what misleads there only with optimization, and not all of which is right at -O1
                    row "$cc" "$level" "$dwarf" nests.c
                    row "$(partner "$cc")" "$level" "$dwarf" nests.cc
                    row "$cc" "$level" "$dwarf" nests_omp.c -fopenmp
                fi
                [ "$level" != -O0 ] || row "$cc" "$level" "$dwarf" first.c
                ;;
            esac
        done
    done
done
