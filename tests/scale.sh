#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A hundred thousand of each thing that a format can hold: time and memory follow the length of the input, or a limit is named.
. "$top_srcdir/tests/lib.sh"
cd "$scratch" || exit 99
many=100000

# bounded NAME COMMAND...: the limit of twenty CPU seconds is a hundred times the slowest run; a linear table search for
# every row would exceed it.
bounded() {
    bounded_name=$1
    shift
    run sh -c 'ulimit -t 20 && ulimit -v 3000000 && exec "$@"' sh "$@"
    case $status in
    0) ok "$bounded_name" ;;
    1) check "$bounded_name: a limit" grep -q "more than\|LIMIT_" err ;;
    *) not_ok "$bounded_name" "status $status: $(head -c 300 err)" ;;
    esac
}

# ---- other tools' output ------------------------------------------------------------------------------------
sample() { awk -v n=$many "BEGIN { for (i = 1; i <= n; i++) printf \"$1\\n\", $2 }"; }
sample 'heat %d/%d 10.%06d: 1000 cycles: 401000 main+0x0 (/bin/heat)' 'i, i, i' >processes.perf-script
sample 'heat 1/%d 10.%06d: 1000 cycles: 401000 main+0x0 (/bin/heat)' 'i, i' >threads.perf-script
sample 'heat 1/1 10.%06d: 1000 event%d: 401000 main+0x0 (/bin/heat)' 'i, i' >events.perf-script
sample 'heat 1/1 10.%06d: 1000 cycles: %x f%d+0x0 (/lib/l%d.so)' 'i, 4198400 + i * 16, i, i' >modules.perf-script
sample 'heat 1/1 10.%06d: PERF_RECORD_MMAP2 1/1: [0x%x(0x1000) @ 0 fe:00 11 20]: r-xp /lib/l%d.so' 'i, 4096 * ((i * 7919) % 1000003), i' >maps.perf-script
sample 'heat 1/1 10.%06d: 1000 cycles: %x f+0x0 (/lib/l%d.so)' 'i, 4096 * ((i * 7919) % 1000003) + 16, i' >>maps.perf-script
{ printf 'version: 1\ncreator: c\nevents: Ir\n' && sample 'ob=(%d) /lib/l%d.so\nfl=(%d) f%d.c\nfn=(%d) p%d\n%d 10' 'i, i, i, i, i, i, i'; } >procedures.callgrind
{ printf 'version: 1\ncreator: c\nevents: Ir\n' && sample 'pid: %d\nthread: %d\nfl=(1) f.c\nfn=(1) p\n%d 10' 'i, i, i'; } >threads.callgrind
{ printf 'version: 1\ncreator: c\nevents: Ir\nfl=(1) f.c\nfn=(1) p\n' && sample '%d 10' i; } >lines.callgrind
pxml() { printf '<?xml version="1.0"?><PROFILE version="3.0"><PROFILEPARAMS><TARGET name="heat"/><METRICS><METRIC shortName="0" nativeName="CYC" period="1000"/>%s</METRICS></PROFILEPARAMS><PROFILESCOPETREE><PGM n="heat">\n%s\n</PGM></PROFILESCOPETREE></PROFILE>\n' "$1" "$2"; }
pxml "" "$(sample '<LM n=\"l%d\"><F n=\"f%d.c\"><P n=\"p%d\"><S b=\"%d\"><M n=\"0\" v=\"1000\"/></S></P></F></LM>' 'i, i, i, i')" >scopes.profile
pxml "$(sample '<METRIC shortName=\"m%d\" nativeName=\"C%d\"/>' 'i, i')" "" >metrics.profile
for file in *.perf-script *.callgrind *.profile; do
    bounded "import $file" "$hpcview" import "${file##*.}" "$file" -o m.hpcprof
    [ "$status" = 0 ] || continue
    bounded "print $file" "$hpcview" print --by procedure -o printed m.hpcprof
    bounded "info $file" "$hpcview" info --threads m.hpcprof
done

# ---- configurations -------------------------------------------------------------------------------------------
head -n 1000 threads.perf-script >few
run "$hpcview" import perf-script few -o few.hpcprof
rows() { # NAME ROW: a configuration with that many of it
    { printf '<hpcview version="1"><run name="r" measurements="few.hpcprof"/>\n' && sample "$2" "$3" && printf '</hpcview>\n'; } >"$1.xml"
    bounded "a configuration of $1" "$hpcview" print --by program -o printed "$1.xml"
}
rows "computed" '<computed name=\"M%d\" formula=\"cycles + %d\"/>' 'i, i'
rows "measured" '<measured name=\"M%d\" event=\"cycles\"/>' 'i'
rows "runs" '<run name=\"r%d\" measurements=\"few.hpcprof\"/>' 'i'
rows "replacements" '<replace in=\"/x%d\" out=\"/y%d\"/>' 'i, i'
rows "sources" '<sources path=\"/x%d\"/>' 'i'
rows "folders of debug files" '<debug path=\"/x%d\"/>' 'i'
{ printf '<hpcview version="1"><run name="r" measurements="few.hpcprof"/><computed name="S" formula="cycles' && sample '+ cycles%s' '""' && printf '"/></hpcview>\n'; } >sum.xml
bounded "a formula" "$hpcview" print --by program -o printed sum.xml
done_testing
