#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How the objects here were made: Debian 12's gcc, g++ and gfortran 12.2 and clang 14, for both processors. They are kept as files, so
# that expected results do not depend on the installed compiler.
cd "$(dirname "$0")" || exit 1
flags="-c -g1  -fdebug-prefix-map=$PWD=. -fno-asynchronous-unwind-tables -ffile-prefix-map=/usr=."
gcc $flags -O2 -o x86-gcc-O2.obj loops.c
gcc $flags -O3 -march=skylake-avx512 -ffast-math -o x86-gcc-O3-fast-avx512.obj loops.c
g++ $flags -O2 -o x86-gxx-O2.obj loops.cc
g++ $flags -O3 -o x86-gxx-O3.obj loops.cc
gfortran $flags -O2 -o x86-gfortran-O2.obj loops.f90
gfortran $flags -O3 -o x86-gfortran-O3.obj loops.f90
rm -f loops.mod
clang $flags -O3 -o x86-clang-O3.obj loops.c
clang $flags -O2 -march=haswell -ffast-math -o x86-clang-O2-fast-avx2.obj loops.c
aarch64-linux-gnu-gcc $flags -O3 -o aarch64-gcc-O3.obj loops.c
clang --target=aarch64-linux-gnu $flags -O2 -march=armv8.2-a+sve -ffast-math -mllvm -scalable-vectorization=on -I/usr/aarch64-linux-gnu/include -o aarch64-clang-O2-fast-sve.obj loops.c
