#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page: size and cost of the same 150,000 lines as a database and as other tools' pages (seconds, bytes, files); then
# seconds of the main thread in a headless Chromium (first view, an arrow key, a sort, ten frames of scrolling, opening
# everything) and its heap, over that database and over others of many places and of many metrics.
. "$top_srcdir/tests/bench/lib.sh"

# sources DIR: 25 files of 6,000 lines, 21,425 of which cost something, in a file of callgrind's and in one of lcov's; and
# main.c, which runs all of them for a second or two
sources() {
    mkdir -p "$1/src"
    awk -v dir="$1" 'BEGIN {
        call = dir "/callgrind.out"; cov = dir "/lines.info"; main = dir "/src/main.c"
        print "static double a[6001], x[300], y[300];\nint main(void) {\n  for (int round = 0; round < 150; round++) {" >main
        print "# callgrind format\nversion: 1\ncreator: bench\ncmd: ./large\nevents: Ir Dr Dw Bc\n" >call
        print "TN:" >cov
        for (f = 0; f < 25; f++) {
            file = dir "/src/unit" f ".c"
            print "fl=" file >call
            print "SF:" file >cov
            for (line = 1; line <= 6000; line++) {
                i = (line - 1) % 280
                if (i == 0) text = "double apply_" f "_" int(line / 280) "(const double *a, const double *x, double *y, long n) {"
                else if (i == 279) text = "}"
                else if (i % 7 == 1) text = "  for (long i = " line % 13 "; i < n; i++) y[i] += a[" line "] * x[i]; /* row " line " */"
                else text = "  /* " line * 7919 % 10007 ": what the next lines do, and why this way */"
                print text >file
                if (i == 0) {
                    print "fn=apply_" f "_" int(line / 280) >call
                    print "    double apply_" f "_" int(line / 280) "(); apply_" f "_" int(line / 280) "(a, x, y, 300l);" >main
                }
                if (i % 7 != 1) continue
                n = (line + f) * 48271 % 99733 + 1
                print line, n * 12, n * 4 + line % 7, n, n % 97 >call
                print "DA:" line "," n >cov
            }
            print "end_of_record" >cov
            print "}" >file # the last one is cut off by the end of the file
            close(file)
        }
        print "  }\n  return 0;\n}" >main
    }'
}

# written NAME OUT COMMAND: a row with the output size of a command
written() {
    rm -rf "$2"
    once "${ROUNDS-3}" "sh -c 'rm -rf $2; $3'" || return 0
    row "$1" "$(number %.2f "$cpu")" "$(du -sb "$2" | awk '{ printf "%.1f", $1 / 1e6 }')" "$(find "$2" -type f | wc -l | tr -d ' ')"
}

echo "150,000 lines of source, 21,425 measured:"
sources "$scratch/lines"
row "" "CPU s" MB files
written "hpcview build, 4 metrics" "$scratch/lines.db" "$hpcview build -o $scratch/lines.db $scratch/lines/callgrind.out"
have genhtml && written "genhtml, 1 metric" "$scratch/genhtml" "genhtml -q -o $scratch/genhtml $scratch/lines/lines.info"
if have gcovr; then
    awk -F '[:,]' -v q='"' '/^SF:/ { printf "%s{%sfile%s: %s%s%s, %slines%s: [", n++ ? "], " q "functions" q ": []}, " : "{" q "gcovr/format_version" q ": " q "0.3" q ", " q "files" q ": [", q, q, q, $2, q, q, q; m = 0 }
        /^DA:/ { printf "%s{%sline_number%s: %d, %scount%s: %d, %sbranches%s: [], %sgcovr/noncode%s: false, %sgcovr/excluded%s: false}", m++ ? ", " : "", q, q, $2, q, q, $3, q, q, q, q, q, q }
        END { print "], " q "functions" q ": []}]}" }' "$scratch/lines/lines.info" | sed "s|$scratch/lines/||g" >"$scratch/lines/gcovr.json"
    mkdir -p "$scratch/gcovr"
    written "gcovr --html-details, 1 metric" "$scratch/gcovr" \
        "mkdir $scratch/gcovr; cd $scratch/lines; gcovr -a gcovr.json --html-details $scratch/gcovr/index.html"
fi
echo

echo "the same sources as a program, sampled:"
# "gprofng display html" of binutils 2.40 rejects an option that it passes itself; the program it starts works.
if have gp-display-html && have gprofng &&
    (cd "$scratch/lines/src" && cc -g -O1 -o ../program ./*.c) 2>"$scratch/stderr" &&
    gprofng collect app -O "$scratch/lines/gprofng.er" "$scratch/lines/program" >/dev/null 2>"$scratch/stderr" &&
    "$hpcview" record -o "$scratch/lines/measurements" -- "$scratch/lines/program" >/dev/null 2>"$scratch/stderr"; then
    row "" "CPU s" MB files
    written "hpcview build" "$scratch/sampled.db" "$hpcview build -o $scratch/sampled.db $scratch/lines/measurements"
    written "gprofng display html" "$scratch/gprofng" "cd $scratch; gp-display-html -o gprofng lines/gprofng.er"
else
    tail -n 1 "$scratch/stderr" 2>/dev/null
fi
echo

build=$top_builddir/templates
for browser in "${CHROMIUM-}" chromium chromium-browser google-chrome; do
    [ -n "$browser" ] && browser=$(command -v "$browser") && break
done
[ -n "$browser" ] || { echo "no chromium is installed"; exit 0; }
command -v node >/dev/null && sh "$top_srcdir/templates/node-packages.sh" "$top_srcdir/templates" "$build" || { echo "no node packages"; exit 0; }

mkdir "$scratch/text"
for size in "400000 4" "1000000 8" "100000 80"; do
    set -- $size
    "$top_builddir/tests/fixtures/make_database" large "$scratch/text" "$scratch/$1x$2" "$1" "$2" || exit 1
done
PLAYWRIGHT=$build/node_modules/playwright-core/index.mjs CHROMIUM=$browser ROUNDS=${ROUNDS-3} node "$top_srcdir/tests/bench/page.mjs" \
    "$scratch/lines.db" "$scratch/400000x4" "$scratch/1000000x8" "$scratch/100000x80"
