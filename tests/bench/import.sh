#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Other tools' files: megabytes a second of hpcview import and its memory, and the time and memory of the tool that reads the same file.
. "$top_srcdir/tests/bench/lib.sh"

rounds=${ROUNDS-3}
cd "$scratch" || exit 1
megabytes() { awk -v bytes="$(stat -c %s "$1")" 'BEGIN { printf "%.1f", bytes / 1000000 }'; }

# measured FILE [COMMAND]: a row; COMMAND is the other tool's
measured() {
    if [ -n "${2-}" ] && compare "$rounds" "$2" "'$hpcview' import -o out.hpcprof '$1'"; then
        row "$1" "$(megabytes "$1")" "$(number %.2f "$wall_2")" "$(number %.0f "$(megabytes "$1") / $cpu_2")" "$(number %.0f "$rss_2 / 1024")" \
            "$(basename "${2%% *}")" "$(number %.2f "$wall_1")" "$(number %.0f "$rss_1 / 1024")" "$(number %.3f "$ratio")"
    elif once "$rounds" "'$hpcview' import -o out.hpcprof '$1'"; then
        row "$1" "$(megabytes "$1")" "$(number %.2f "$wall")" "$(number %.0f "$(megabytes "$1") / $cpu")" "$(number %.0f "$rss / 1024")" "-" "-" "-" "-"
    fi
}

# Repeats the samples of a recording TIMES times; process and mapping records are not repeated.
grow() { # FROM TO TIMES
    perl -e 'use strict; my ($from, $to, $times) = @ARGV; local $/;
        open my $in, "<:raw", $from or die; my $file = <$in>; my ($at, $size, $samples) = (unpack("x40 Q< Q<", $file), "");
        my $features = unpack("%32b*", substr($file, 72, 32));
        for (my $p = $at; $p < $at + $size;) {
            my ($type, $n) = unpack("L< x2 S<", substr($file, $p, 8));
            $samples .= substr($file, $p, $n) if $type == 9 || $type == 68;
            $p += $n;
        }
        my $more = $times * length $samples;
        my $behind = substr($file, $at + $size);
        for my $i (0 .. $features - 1) {
            substr($behind, 16 * $i, 8) = pack("Q<", $more + unpack("Q<", substr($behind, 16 * $i, 8)));
        }
        substr($file, 48, 8) = pack("Q<", $size + $more);
        open my $out, ">:raw", $to or die;
        print $out substr($file, 0, $at + $size), $samples x $times, $behind;' "$@"
}

# The header of a part and its costs, PARTS over: they add up
parts() { # FROM TO PARTS
    cp "$1" "$2"
    part=1
    while [ $part -lt "$3" ]; do
        part=$((part + 1))
        sed "1d; s/^part: .*/part: $part/" "$1" >>"$2"
    done
}

row "file" "MB" "hpcview s" "MB/cpu s" "peak MiB" "other" "other s" "its MiB" "hpcview/other"
load='i=0; while [ $i -lt 1500000 ]; do i=$((i+1)); done; ls -lR /usr >/dev/null'
times=${IMPORT_TIMES-5}
collapse=$(command -v stackcollapse-perf.pl || command -v stackcollapse-perf || :)
annotate=$(command -v callgrind_annotate || :)
if have perf && perf record -q -c 20000 -e cpu-clock -g -o chains.data sh -c "$load" >/dev/null 2>&1; then
    grow chains.data perf.data "$times" && measured perf.data "perf report -i perf.data --stdio -g none"
    zstd -1 -q perf.data -o perf.data.zst 2>/dev/null && measured perf.data.zst
    perf record -q -c 20000 -e cpu-clock -o flat.data sh -c "$load" >/dev/null 2>&1
    grow flat.data perf-flat.data "$times" && measured perf-flat.data "perf report -i perf-flat.data --stdio"
    perf script -i chains.data --show-mmap-events -F comm,pid,tid,time,event,period,ip,sym,symoff,dso >perf.txt 2>/dev/null
    measured perf.txt "${collapse:+$collapse perf.txt}"
    perf script -i flat.data --show-mmap-events -F comm,pid,tid,time,event,period,ip,sym,symoff,dso >perf-flat.txt 2>/dev/null
    measured perf-flat.txt "${collapse:+$collapse perf-flat.txt}"
fi
if have valgrind && valgrind --tool=callgrind --dump-instr=yes --callgrind-out-file=instructions.out ls -lR /usr/include >/dev/null 2>&1; then
    measured instructions.out "${annotate:+$annotate instructions.out}"
    parts instructions.out parts.out 100 && measured parts.out
fi
# One part of three million instructions, each executed once: nothing is repeated.
perl -e 'my ($n, $at, $line) = (shift, 0x400000, 10);
    print "version: 1\ncreator: callgrind-3.19.0\npid: 7\ncmd: /bin/sh\npart: 1\n\npositions: instr line\nevents: Ir\nsummary: $n\n\nob=/bin/sh\nfl=a.c\n";
    for my $i (0 .. $n - 1) {
        my $step = 1 + $i * 7919 % 7; $at += $step; $line += $i % 3 == 2;
        if ($i % 150 == 0) { printf "\nfn=(%d) f%d\n0x%x %d %d\n", $i / 150 + 1, $i / 150, $at, $line, 1000 }
        else { printf "+%d %s %d\n", $step, $i % 3 == 2 ? "+1" : "*", 1 + $i * 104729 % 100000 }
    }
    print "\ntotals: $n\n"' 3000000 >one-part.out && measured one-part.out
if have valgrind && valgrind --tool=cachegrind --cachegrind-out-file=cachegrind.out ls -lR /usr/include >/dev/null 2>&1; then
    cg=$(command -v cg_annotate || :)
    measured cachegrind.out "${cg:+$cg cachegrind.out}"
fi
if have valgrind && valgrind --tool=callgrind --cache-sim=yes --branch-sim=yes --callgrind-out-file=lines.out ls -lR /usr/include >/dev/null 2>&1; then
    measured lines.out "${annotate:+$annotate lines.out}"
    parts lines.out line-parts.out 100 && measured line-parts.out
fi
