#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Outlines of small sources, compiled once and kept (objects/NAME.so.gz), compared with reviewed ones, without addresses;
# and the complete output for the same objects, to the last address and line (NAME.xml): changes in it must be reviewed
# too. exactness.sh tests the output of this machine's compilers for the same sources. GOLDEN=write rewrites both,
# OBJECTS=write the objects of those compilers that are installed in the version named.
. "$top_srcdir/tests/lib.sh"
src=$top_srcdir/tests/exactness/src
objects=$top_srcdir/tests/structure/objects

version() { # COMPILER: its version, or nothing
    command -v "$1" >/dev/null 2>&1 && "$1" --version | sed -n '1s/^[^ ]* //; 1s/[^0-9]*\([0-9][0-9.]*[0-9]\).*/\1/p'
}
make_object() { # NAME COMPILER VERSION FLAGS... SOURCE
    object=$1 compiler=$2
    case $(version "$2" | head -n 1) in "$3"*) ;; *) return ;; esac
    shift 3
    case $compiler in gfortran) set -- -J "$scratch" "$@" ;; esac
    (cd "$src" && "$compiler" -g -fPIC -shared -nostdlib -ffile-prefix-map="$PWD"=. -Wl,-z,noseparate-code,--build-id=none -o "$scratch/a.so" "$@") &&
        gzip -9nc "$scratch/a.so" >"$objects/$object.so.gz"
}
golden() { # NAME COMPILER VERSION FLAGS... SOURCE
    name=$1
    [ "${OBJECTS-}" = write ] && make_object "$@"
    for source; do :; done
    case " $* " in *" -s "*) set -- ;; *.f90*.f90*) set -- --source '*.f90' ;; *) set -- --source "${source##*/}" ;; esac
    gzip -dc "$objects/$name.so.gz" >"$scratch/a.so"
    "$hpcview" structure --no-cache -f outline "$@" "$scratch/a.so" |
        sed -e 's/  \[0x.*//' -e "s,$scratch/,," -e 's,[^ ]*/\([^/ ]*\)$,\1,' >"$scratch/outline"
    [ "${GOLDEN-}" = write ] && cp "$scratch/outline" "$top_srcdir/tests/structure/golden/$name"
    check_same "$name" "$scratch/outline" "$top_srcdir/tests/structure/golden/$name"
    "$hpcview" structure --no-cache "$@" "$scratch/a.so" | sed -e "s,$scratch/,," >"$scratch/xml"
    [ "${GOLDEN-}" = write ] && cp "$scratch/xml" "$top_srcdir/tests/structure/golden/$name.xml"
    check_same "$name: every address" "$scratch/xml" "$top_srcdir/tests/structure/golden/$name.xml"
}
golden inline-gcc-O2 gcc 12.2 -O2 inline.c
golden inline-clang-O2 clang 14.0 -O2 inline.c
golden templates-gcc-O2 g++ 12.2 -O2 templates.cc
golden templates-clang-O1 clang++ 14.0 -O1 templates.cc
golden forms-gfortran-O1 gfortran 12.2 -O1 forms.f90
golden forms-gfortran-O3 gfortran 12.2 -O3 forms.f90
golden omp-gcc-O1 gcc 12.2 -O1 -fopenmp omp.c
golden loops-gcc-O3 gcc 12.2 -O3 loops.c
golden hard-gcc-O3 gcc 12.2 -O3 hard.c
golden pairs-gcc-O3 gcc 12.2 -O3 pairs.c
golden paths-gcc-O2 gcc 12.2 -O2 paths.c
golden returns-gcc-O2 gcc 12.2 -O2 returns.c
golden beside-gcc-O3 gcc 12.2 -O3 beside.c
golden beside-clang-O2 clang 14.0 -O2 beside.c
golden hard-clang-O2 clang 14.0 -O2 hard.c
golden hard-gfortran-O3 gfortran 12.2 -O3 hard.f90
golden hard-omp-gcc-O2 gcc 12.2 -O2 -fopenmp hard_omp.c
golden hard-omp-g++-O2 g++ 12.2 -O2 -fopenmp hard_omp.cc
golden hard-omp-gfortran-O2 gfortran 12.2 -O2 -fopenmp hard_omp.f90
golden nests-gcc-O2 gcc 12.2 -O2 nests.c
golden nests-gfortran-O3 gfortran 12.2 -O3 nests.f90
golden nests-omp-gcc-O2 gcc 12.2 -O2 -fopenmp nests_omp.c
golden nests-g++-O2 g++ 12.2 -O2 nests.cc
golden nests-clang++-O2 clang++ 14.0 -O2 nests.cc
golden loops-clang-O2 clang 14.0 -O2 loops.c
golden loops-gcc-O0 gcc 12.2 -O0 loops.c
golden hard-g++-O2 g++ 12.2 -O2 hard.cc
golden omp-clang-O2 clang 14.0 -O2 -fopenmp omp.c
golden jumps-gcc-O2 gcc 12.2 -O2 jumps.c
golden jumps-clang-O2 clang 14.0 -O2 jumps.c
golden jumps-aarch64-O1 aarch64-linux-gnu-gcc 12.2 -O1 --param case-values-threshold=4 jumps.c
golden unrolled-gcc-O2 gcc 12.2 -O2 -funroll-loops loops.c
golden loops-aarch64-O3 aarch64-linux-gnu-gcc 12.2 -O3 loops.c
golden hard-aarch64-O2 aarch64-linux-gnu-gcc 12.2 -O2 hard.c
# sources of the examples and of tests/quality's loops: Fortran in several files, C++ templates, stencils, OpenMP
golden heat-gfortran-O2 gfortran 12.2 -O2 ../../../share/examples/heat/sparse.f90 ../../../share/examples/heat/elements.f90 \
    ../../../share/examples/heat/solver.f90 ../../../share/examples/heat/heat.f90
golden particles-g++-O2 g++ 12.2 -O2 ../../../share/examples/particles/particles.cpp
golden wave-gcc-O3 gcc 12.2 -O3 -fopenmp ../../../share/examples/wave/wave.c
golden sweep-clang-O1 clang 14.0 -O1 -fopenmp ../../../share/examples/sweep/sweep.c
golden quality-gcc-O1 gcc 12.2 -O1 ../../quality/corpus/loops.c
golden quality-clang-O3 clang 14.0 -O3 ../../quality/corpus/loops.c
golden quality-gcc-O3 gcc 12.2 -O3 -mavx2 ../../quality/corpus/loops.c
golden quality-gfortran-O3 gfortran 12.2 -O3 ../../quality/corpus/loops.f90
golden quality-aarch64-O2 aarch64-linux-gnu-gcc 12.2 -O2 -ftree-vectorize ../../quality/corpus/loops.c
# without names, and without any table of where functions begin
golden templates-stripped g++ 12.2 -O2 -s templates.cc
golden loops-gaps gcc 12.2 -O2 -s -fvisibility=hidden -fno-asynchronous-unwind-tables loops.c
golden hard-gaps-aarch64 aarch64-linux-gnu-gcc 12.2 -O2 -s -fvisibility=hidden -fno-asynchronous-unwind-tables hard.c
done_testing
