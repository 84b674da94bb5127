#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Databases: time, memory and size of `hpcview build` from a measurement; against the recorded run, and against perf report.
. "$top_srcdir/tests/bench/lib.sh"

rounds=${ROUNDS-5}
row "example" "run s" "build s" "build/run" "peak MiB" "files" "database kB" "measured kB"
for name in heat particles wave; do
    program=$examples/$name/$name
    [ -x "$program" ] || continue
    once 1 "'$program'" || continue
    run=$wall
    for paths in "" --no-call-paths; do
        rm -rf "$scratch/m" "$scratch/db"
        # shellcheck disable=SC2086
        "$hpcview" record $paths -o "$scratch/m" -- "$program" >/dev/null || continue
        once "$rounds" "'$hpcview' build -o '$scratch/db' '$scratch/m'" || continue
        row "$name $paths" "$(number %.2f "$run")" "$(number %.3f "$wall")" "$(number %.3f "$wall / $run")" "$(number %.0f "$rss / 1024")" \
            "$(find "$scratch/db" -type f | wc -l)" "$(($(du -sb "$scratch/db" | cut -f 1) / 1000))" \
            "$(($(du -sb "$scratch/m" | cut -f 1) / 1000))"
    done
done

have perf || exit 0
echo
echo "lines of a profile, as text: hpcview print --by line against perf report --sort srcline (each on its own recording)"
row "example" "perf s" "hpcview s" "time ratio" "memory ratio"
for name in heat particles wave; do
    program=$examples/$name/$name
    [ -x "$program" ] || continue
    rm -rf "$scratch/m"
    perf record -q -e task-clock -F 250 -o "$scratch/perf.data" "$program" >/dev/null 2>&1 || continue
    "$hpcview" record -o "$scratch/m" -- "$program" >/dev/null || continue
    if compare "$rounds" "perf report -i '$scratch/perf.data' --stdio --sort srcline 2>/dev/null" \
        "'$hpcview' print --by line '$scratch/m'"; then
        row "$name" "$(number %.3f "$wall_1")" "$(number %.3f "$wall_2")" "$(number %.3f "$ratio")" "$(number %.3f "$rss_2 / $rss_1")"
    fi
done
