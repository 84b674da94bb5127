#!/bin/sh
# Outlines of small sources, compiled here, against those a person has looked at; addresses are left out. Another version of a compiler makes other
# code, so only the versions the goldens were made with are compared. GOLDEN=write rewrites them.
. "$top_srcdir/tests/lib.sh"
src=$top_srcdir/tests/exactness/src

version() { # COMPILER: its version, or nothing
    command -v "$1" >/dev/null 2>&1 && "$1" --version | sed -n '1s/[^0-9]*\([0-9][0-9.]*[0-9]\).*/\1/p'
}
golden() { # NAME COMPILER VERSION FLAGS... SOURCE
    name=$1 compiler=$2 wanted=$3
    shift 3
    case $(version "$compiler" | head -n 1) in
    "$wanted"*) ;;
    *)
        skip "$name" "wants $compiler $wanted"
        return
        ;;
    esac
    for source; do :; done
    (cd "$src" && "$compiler" -g -fPIC -shared -nostdlib -J "$scratch" -o "$scratch/a.so" "$@" 2>"$scratch/errors") ||
        (cd "$src" && "$compiler" -g -fPIC -shared -nostdlib -o "$scratch/a.so" "$@" 2>"$scratch/errors") || {
        skip "$name" "$compiler: $(head -n 1 "$scratch/errors")"
        return
    }
    "$hpcview" structure --no-cache -f outline --source "$source" "$scratch/a.so" |
        sed -e 's/  \[0x.*//' -e "s,$scratch/,," -e 's,/.*/\([^/]*\)$,\1,' >"$scratch/outline"
    [ "${GOLDEN-}" = write ] && cp "$scratch/outline" "$top_srcdir/tests/structure/golden/$name"
    check_same "$name" "$scratch/outline" "$top_srcdir/tests/structure/golden/$name"
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
golden hard-gfortran-O3 gfortran 12.2 -O3 hard.f90
golden hard-omp-gcc-O2 gcc 12.2 -O2 -fopenmp hard_omp.c
golden loops-clang-O2 clang 14.0 -O2 loops.c
done_testing
