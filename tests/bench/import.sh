#!/bin/sh
# Other tools' files: megabytes a second of hpcview import, and its time against the tool that reads the same file (where it is installed).
. "$top_srcdir/tests/bench/lib.sh"

rounds=${ROUNDS-3}
cd "$scratch" || exit 1
megabytes() { awk -v bytes="$(stat -c %s "$1")" 'BEGIN { printf "%.1f", bytes / 1000000 }'; }

# measured FILE COMMAND: a row; COMMAND is the other tool's
measured() {
    if [ -n "$2" ] && compare "$rounds" "$2" "'$hpcview' import -o out.hpcprof '$1'"; then
        row "$1" "$(megabytes "$1")" "$(number %.2f "$wall_2")" "$(number %.0f "$(megabytes "$1") / $cpu_2")" "$(number %.0f "$rss_2 / 1024")" \
            "$(number %.2f "$wall_1")" "$(number %.3f "$ratio")"
    elif once "$rounds" "'$hpcview' import -o out.hpcprof '$1'"; then
        row "$1" "$(megabytes "$1")" "$(number %.2f "$wall")" "$(number %.0f "$(megabytes "$1") / $cpu")" "$(number %.0f "$rss / 1024")" "-" "-"
    fi
}

row "file" "MB" "hpcview s" "MB/cpu s" "peak MiB" "other s" "hpcview/other"
load='i=0; while [ $i -lt 1500000 ]; do i=$((i+1)); done; ls -lR /usr >/dev/null'
if have perf && perf record -q -c 10000 -e cpu-clock:u -g -o perf.data sh -c "$load" >/dev/null 2>&1; then
    measured perf.data "perf report -i perf.data --stdio -g none"
    perf script -i perf.data --show-mmap-events -F comm,pid,tid,time,event,period,ip,sym,symoff,dso >perf.txt 2>/dev/null
    collapse=$(command -v stackcollapse-perf.pl || command -v stackcollapse-perf || :)
    measured perf.txt "${collapse:+$collapse perf.txt}"
fi
if have valgrind && valgrind --tool=callgrind --dump-instr=yes --callgrind-out-file=one.out ls -lR /usr/include >/dev/null 2>&1; then
    # parts add up: many of them are a large file
    cp one.out callgrind.out
    part=1
    while [ $part -lt 40 ]; do
        part=$((part + 1))
        sed "1d; s/^part: .*/part: $part/" one.out >>callgrind.out
    done
    annotate=$(command -v callgrind_annotate || :)
    measured callgrind.out ""
    measured one.out "${annotate:+$annotate one.out}"
fi
