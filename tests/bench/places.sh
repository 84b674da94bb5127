#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A million sampled addresses on a hundred thousand lines, eight metrics: hpcview against perf report by source line, on one perf.data of a sample at each
# address, the events in turn, on one of samples of all events at each address, and against callgrind_annotate by line, on one callgrind.out of all events at
# each address. The files are made here, as no program leaves that; rounds end in them as perf ends them. PERF_SECONDS is how long perf, which asks addr2line for each address, may take; bytes are of memory at its peak, for each address
# and metric that has data there.
. "$top_srcdir/tests/bench/lib.sh"
cd "$scratch" || exit 1
addresses=${ADDRESSES-1000000} lines=${SOURCE_LINES-100000} patience=${PERF_SECONDS-100}
HPCVIEW_MACHINES=$top_srcdir/share/machines
export HPCVIEW_MACHINES

perl -e 'my $lines = shift; for my $f (0 .. $lines / 100 - 1) { print "long f$f(long a, long b) {\n";
    print "a = a * 3 + b * ($_ + a) - (b ^ a) + (a >> 3);\n" for 1 .. 100; print "return a;\n}\n" }
    print "int main(void) { return (int)f0(1, 2); }\n"' "$lines" >big.c
cc -g -O0 -no-pie -o big big.c || exit 1

perf_data() { # BINARY ADDRESSES EVENTS TIMES OUT: TIMES samples at each address
    perl -e 'use strict; my ($binary, $samples, $events, $times, $out) = @ARGV; my ($start, $offset, $bytes);
        for (`readelf -SW $binary`) { ($start, $offset, $bytes) = (hex $1, hex $2, hex $3) if /\.text\s+PROGBITS\s+(\w+)\s+(\w+)\s+(\w+)/ }
        my $step = int($bytes / $samples) or die "too few bytes of code";
        my $what = 1 | 2 | 4 | 256 | 65536; # IP, TID, TIME, PERIOD, IDENTIFIER
        my ($attrs, $ids) = ("", "");
        for my $e (0 .. $events - 1) {
            my $attr = pack "L< L< Q< Q< Q< Q< Q<", 1, 112, $e, 1000, $what, 0, 1 << 18; # a software event; sample_id_all
            $attrs .= $attr . "\0" x (112 - length $attr) . pack "Q< Q<", 104 + 8 * $e, 8;
            $ids .= pack "Q<", 100 + $e;
        }
        my $who = pack "L< L< Q< Q<", 7, 7, 1, 100;
        sub record { my ($kind, $body) = @_; pack("L< S< S<", $kind, 2, 8 + length $body) . $body }
        my $name = $binary . "\0" x (8 - length($binary) % 8);
        my $data = record(3, pack("L< L< a8", 7, 7, "big") . $who)
            . record(1, pack("L< L< Q< Q< Q<", 7, 7, $start & ~4095, $bytes + 8192, $offset & ~4095) . $name . $who);
        my ($round, $all) = (record(68, ""), $samples * $times);
        my $size = length($data) + 48 * $all + 8 * int(($all + 9999) / 10000);
        open my $file, ">:raw", $out or die; my $at = 104 + length $ids;
        print $file "PERFILE2", pack("Q<8", 104, 128, $at, length $attrs, $at + length $attrs, $size, 0, 0), "\0" x 32, $ids, $attrs, $data;
        for my $n (0 .. $all - 1) {
            my ($time, $i) = (int($n / $samples), $n % $samples);
            print $file record(9, pack "Q< Q< L< L< Q< Q<", 100 + ($i + $time) % $events, $start + $i * $step, 7, 7, 2 + $n, 1000);
            print $file $round if ($n + 1) % 10000 == 0 || $n == $all - 1;
        }' "$@"
}
callgrind_out() { # BINARY INSTRUCTIONS LINES OUT
    perl -e 'use strict; my ($binary, $n, $lines, $out) = @ARGV; my $each = int($n / $lines); open my $f, ">", $out or die;
        print $f "version: 1\ncreator: callgrind-3\npid: 7\ncmd: $binary\npart: 1\n\npositions: instr line\n",
            "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr\nsummary: ", join(" ", ($n) x 8), "\n\nob=$binary\nfl=big.c\n";
        for my $i (0 .. $n - 1) {
            my $line = int($i / $each);
            print $f "fn=f", $line / 100, "\n" if $i % (100 * $each) == 0;
            printf $f "0x%x %d 1 1 1 1 1 1 1 1\n", 0x401000 + 4 * $i, 2 + int($line / 100) * 103 + $line % 100;
        }
        print $f "\ntotals: ", join(" ", ($n) x 8), "\n";' "$@"
}
perf_data "$scratch/big" "$addresses" 8 1 perf.data && perf_data "$scratch/big" "$addresses" 8 8 all.data || exit 1
callgrind_out "$scratch/big" "$addresses" "$lines" callgrind.out || exit 1

measured() { # NAME VALUES COMMAND
    if once 1 "$3"; then
        row "$1" "$(number %.1f "$wall")" "$(number %.1f "$cpu")" "$(number %.0f "$rss / 1024")" "$(number %.0f "$rss * 1024 / $2")"
    else
        row "$1" "-" "-" "-" "-"
    fi
}
row "$addresses addresses, $lines lines, 8 metrics" "wall s" "CPU s" "peak MiB" "bytes each"
measured "hpcview print --by line perf.data" "$addresses" "'$hpcview' print --by line -o lines.txt perf.data"
measured "hpcview build perf.data" "$addresses" "'$hpcview' build -o perf.db perf.data"
if have perf; then
    measured "perf report --stdio --sort srcline" "$addresses" "timeout $patience perf report -i perf.data --stdio --sort srcline"
    echo "  (a row of '-': it took more than $patience s)"
fi
measured "hpcview print --by line all.data" "$((8 * addresses))" "'$hpcview' print --by line -o lines.txt all.data"
measured "hpcview build all.data" "$((8 * addresses))" "'$hpcview' build -o all.db all.data"
measured "hpcview print --by line callgrind.out" "$((8 * addresses))" "'$hpcview' print --by line -o lines.txt callgrind.out"
measured "hpcview build callgrind.out" "$((8 * addresses))" "'$hpcview' build -o callgrind.db callgrind.out"
if have callgrind_annotate; then
    measured "callgrind_annotate --auto=yes" "$((8 * addresses))" \
        "callgrind_annotate --auto=yes --threshold=100 --include='$scratch' callgrind.out"
fi
