#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# At -O0 and -O1 every loop of the sources is found, at its line and depth, and nothing else is; for whichever compilers are here. The long form, with
# -O2 and -O3 and all differences, is tests/exactness/run.sh -v.
. "$top_srcdir/tests/lib.sh"
command -v bash >/dev/null || skip_all "no bash here"
for compiler in gcc clang gfortran aarch64-linux-gnu-gcc; do
    if ! command -v "$compiler" >/dev/null; then
        skip "$compiler" "not here"
        continue
    fi
    bash "$top_srcdir/tests/exactness/run.sh" -v -c "$compiler" -d "4 5" -O "-O0 -O1" >"$scratch/$compiler"
    while IFS= read -r line; do
        case $line in
        "    "*) comment "$line" ;;
        skip*) skip "${line#skip }" "see above" ;;
        *"recall 100.0 precision 100.0") ok "$line" ;;
        *) not_ok "$line" ;;
        esac
    done <"$scratch/$compiler"
    check "$compiler: something was compared" test -s "$scratch/$compiler"
done
done_testing
