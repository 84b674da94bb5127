#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Many processes, and many places: memory and time of `hpcview build` on generated measurements, compared with reading
# the same bytes (cksum). PROCESSES=4096 is a day's job on a cluster; fewer show the same memory, because it depends on
# the number of distinct code places.
. "$top_srcdir/tests/bench/lib.sh"

make_many=$top_builddir/tests/bench/make_many
rounds=${ROUNDS-1}
many() { # NAME FILES THREADS ADDRESSES EACH EVENTS OPTIONS...
    name=$1
    rm -rf "$scratch/many" "$scratch/db"
    mkdir "$scratch/many"
    "$make_many" "$scratch/many" "$2" "$3" "$4" "$5" "$6" || exit 1
    measured=$(($(du -sb "$scratch/many/m" | cut -f 1) / 1000000))
    shift 6
    once 1 "find '$scratch/many/m' -type f -exec cksum {} +" || return
    floor=$cpu
    once "$rounds" "'$hpcview' build $* -S '$scratch/many/app.xml' -o '$scratch/db' '$scratch/many/m'" || return
    row "$name" "$measured" "$(number %.2f "$floor")" "$(number %.2f "$wall")" "$(number %.2f "$cpu")" "$(number %.0f "$rss / 1024")" \
        "$(($(du -sb "$scratch/db" | cut -f 1) / 1000))"
}
p=${PROCESSES-4096}
row "measurement" "measured MB" "cksum CPU s" "build s" "CPU s" "peak MiB" "database kB"
many "$p processes, 16 threads, 2,000 addresses" "$p" 16 10000 2000 1
many "the same, with statistics over threads" "$p" 16 10000 2000 1 --statistics threads
many "$((16 * p)) processes, 1 thread, 2,000 addresses" $((16 * p)) 1 10000 2000 1
many "1,000,000 places, 80 metrics, each in 1 %" 1 1 1000000 1000000 80
