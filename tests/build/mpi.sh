#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks of MPI build byte for byte the same database as one process, for any number of them. Only driver/ranks.c differs from a plain
# hpcview: it is compiled here, for each installed MPI, and linked with the rest.
. "$top_srcdir/tests/lib.sh"
cd "$scratch" || exit 99

kinds=
for kind in .mpich .openmpi; do
    command -v "mpicc$kind" >/dev/null && command -v "mpirun$kind" >/dev/null && kinds="$kinds $kind"
done
if [ -z "$kinds" ]; then
    need mpicc mpirun
    kinds=/
fi
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader
ASAN_OPTIONS=detect_leaks=0 # the libraries of MPI have some
HPCVIEW_SHARE=$top_srcdir/share HPCVIEW_MACHINES=$top_srcdir/share/machines
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_btl ASAN_OPTIONS HPCVIEW_SHARE HPCVIEW_MACHINES

# build_with KIND: ./hpcview of that MPI
build_with() {
    flags=$("mpicc$1" -show | tr ' ' '\n' | grep '^-[IDLl]' | tr '\n' ' ')
    objects=$(ls "$top_builddir"/driver/hpcview-*.o | grep -v hpcview-ranks.o)
    (cd "$top_builddir" && $CC $CHECK_CFLAGS -DHAVE_MPI -D_GNU_SOURCE -std=gnu11 -I. -I"$top_srcdir" -o "$scratch/hpcview" "$top_srcdir/driver/ranks.c" \
        $objects $ALL_LDADD $flags) >compiled 2>&1
}

# ---- eleven processes of one to three threads; some places are in all of them, some in one, and one file is invalid
# ---------------
mkdir -p many/1 many/2
for process in 1 2 3 4 5 6 7 8 9 10 11; do
    awk -v p=$process 'BEGIN {
        for (t = 0; t <= p % 3; t++)
            for (i = 0; i < 40; i++) {
                printf "heat %d/%d 10.%06d: %d cycles:\n", p, p + t, i, 1000 + i * p * t
                printf "\t%x f%d+0x0 (/bin/heat)\n\t%x main+0x0 (/bin/heat)\n\n", 4198400 + 16 * ((i * p) % 23), (i * p) % 23, 4198300 + t
            }
    }' >samples
    "$hpcview" import perf-script samples -o "many/$((process % 2 + 1))/$process.hpcprof" 2>/dev/null || not_ok "a measurement can be made"
done
echo nonsense >many/1/99.hpcprof
"$hpcview" build -o sent.db many/1 >sent.log 2>&1 || not_ok "a database can be made" "$(tail -n 1 sent.log)"
set -- --statistics threads --statistics ranks --statistics repetitions many many/1/2.hpcprof many/2 sent.db
run "$hpcview" build -o one.db "$@"
check "one process builds it" test "$status" = 0
said=$(grep warning err)

for kind in $kinds; do
    name=${kind#.}
    if ! build_with "${kind%/}"; then
        not_ok "driver/ranks.c compiles and links with $name" "$(head -n 5 compiled)"
        continue
    fi
    for ranks in 2 3 5 8; do
        rm -rf ranks.db
        run timeout 100 "mpirun${kind%/}" -n "$ranks" ./hpcview build -o ranks.db "$@"
        check "$ranks ranks of $name: the same bytes" diff -r one.db ranks.db
        check_equal "$ranks ranks of $name: each warning once" "$(grep warning err)" "$said"
    done
    run timeout 100 "mpirun${kind%/}" -n 3 ./hpcview build -o not.db nothing
    check "$name: an error is a failure" test "$status" != 0
    check_equal "$name: said once" "$(grep -c 'hpcview: nothing: cannot be opened' err)" 1
    check "$name: and leaves nothing" test ! -e not.db
done
done_testing
