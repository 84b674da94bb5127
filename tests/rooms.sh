#!/bin/sh
# Includes point one way: a room knows only the rooms above it in this table, and of these only the header named like the folder. A folder
# without a row belongs to the room above it. Tests, fuzz targets and what `make bench` measures may look anywhere.
. "$top_srcdir/tests/lib.sh"

cat >"$scratch/rooms" <<'END'
support
machines         support
hpcprof          support
hpcprof/format   support support/sort.h hpcprof
hpcprof/recorder
hpcprof/recorder/base      hpcprof/recorder hpcprof/recorder/protocol.h hpcprof/format
hpcprof/recorder/unwind    hpcprof/recorder/base hpcprof/format
hpcprof/recorder/output    hpcprof/recorder/base hpcprof/recorder/base/state.h hpcprof/recorder/base/syscalls.h hpcprof/recorder/unwind hpcprof/recorder/unwind/objects.h hpcprof/format
hpcprof/recorder/sampling  hpcprof/recorder/base hpcprof/recorder/base/state.h hpcprof/recorder/base/syscalls.h hpcprof/recorder/base/interpose.h hpcprof/recorder/output hpcprof/recorder/output/paths.h
hpcprof/recorder/process   hpcprof/recorder/protocol.h hpcprof/recorder/base hpcprof/recorder/base/state.h hpcprof/recorder/base/syscalls.h hpcprof/recorder/base/interpose.h hpcprof/recorder/output hpcprof/recorder/output/paths.h hpcprof/recorder/sampling hpcprof/format
hpcprof/recorder/barriers  hpcprof/recorder/base/state.h hpcprof/recorder/base/interpose.h hpcprof/recorder/output hpcprof/recorder/sampling hpcprof/recorder/process hpcprof/format phases/tables.h
hpcprof/launch   support hpcprof hpcprof/format/writer.h hpcprof/recorder/protocol.h
bloop/arch       support bloop/bloop.h
bloop/image      support support/sort.h bloop/bloop.h bloop/arch
bloop/debug      support support/demangle.h bloop/bloop.h bloop/image bloop/image/elf.h
bloop/functions  support support/sort.h bloop/bloop.h bloop/arch bloop/image bloop/debug
bloop/code       support bloop/bloop.h bloop/arch bloop/arch/ops.h bloop/arch/facts.h bloop/image bloop/functions
bloop/assemble   support bloop/bloop.h bloop/arch bloop/arch/facts.h bloop/image bloop/debug bloop/functions bloop/code
bloop/scope      support bloop/bloop.h
bloop            support bloop/arch bloop/image bloop/debug bloop/functions bloop/code bloop/assemble bloop/scope
quality          support machines machines/core.h bloop bloop/arch bloop/arch/facts.h bloop/arch/ops.h bloop/code
mhsim            support machines
mhsim/engine     mhsim
mhsim/runtime    mhsim mhsim/shared_layout.h mhsim/engine mhsim/engine/mmap_store.h
mhsim/instrument mhsim/shared_layout.h mhsim/runtime mhsim/engine/mmap_store.h
mhsim/collect    support support/demangle.h machines hpcprof mhsim mhsim/shared_layout.h
mhsim/launch     support hpcprof mhsim mhsim/shared_layout.h mhsim/collect
phases           support support/table.h hpcprof
filters/base     support support/demangle.h support/table.h hpcprof filters/filters.h
filters/perf     support hpcprof filters/filters.h filters/base filters/base/image.h filters/base/interner.h
filters/callgrind support hpcprof filters/filters.h filters/base filters/base/call_edges.h filters/base/interner.h
filters/hpctoolkit support hpcprof filters/filters.h filters/base filters/base/builder.h
filters          support hpcprof filters/base filters/base/builder.h filters/base/call_edges.h filters/base/image.h filters/perf filters/callgrind filters/hpctoolkit
metrics/formula  support metrics/metrics.h
metrics/config   support metrics/metrics.h metrics/formula quality
metrics/model    support metrics/metrics.h metrics/formula
metrics/ingest   support support/sort.h hpcprof filters metrics/metrics.h metrics/formula metrics/config metrics/model
metrics/code     support hpcprof bloop bloop/code filters quality metrics/metrics.h metrics/ingest
metrics/align    support metrics/metrics.h metrics/ingest
metrics/join     support support/sort.h hpcprof bloop mhsim phases filters metrics/metrics.h metrics/config metrics/ingest metrics/code metrics/align
metrics/report   support metrics/metrics.h metrics/formula metrics/model
metrics          support hpcprof bloop metrics/formula metrics/config metrics/model metrics/ingest metrics/code metrics/align metrics/join metrics/report
diagnose/read     support metrics diagnose/diagnose.h
diagnose/evaluate support metrics diagnose/diagnose.h diagnose/read
diagnose/search   support metrics diagnose/diagnose.h diagnose/read diagnose/evaluate
diagnose/report   support metrics diagnose/diagnose.h diagnose/evaluate
diagnose         support metrics diagnose/read diagnose/evaluate diagnose/search diagnose/report
campaign         support hpcprof mhsim metrics diagnose
export           support metrics
htmlgen/format   support metrics
htmlgen/write    support metrics diagnose htmlgen/htmlgen.h htmlgen/format
htmlgen/read     support metrics metrics/model htmlgen/htmlgen.h htmlgen/format
htmlgen          support metrics diagnose htmlgen/write htmlgen/read
driver           support campaign machines hpcprof bloop quality mhsim phases filters metrics diagnose export htmlgen
END

# Each line: file, header; from every include of a header by its folder.
list_includes() {
    (cd "$1" && find . -name build\* -prune -o \( -name '*.c' -o -name '*.h' \) -print | sed 's,^\./,,' | sort |
        grep -Ev '^tests/|_(test|fuzz)\.[ch]$|/(test_|bench_)[a-z_]*\.[ch]$' |
        while read -r file; do
            sed -n "s,^# *include \"\\([^\"]*/[^\"]*\\)\".*,$file \\1,p" "$file"
        done)
}

cat >"$scratch/check.awk" <<'END'
function room_of(path,   n) { # the longest row that the path begins with
    while (match(path, /\/[^\/]*$/)) {
        path = substr(path, 1, RSTART - 1)
        if (path in known)
            return path
    }
    return ""
}
function public(room,   parts, n) {
    n = split(room, parts, "/")
    return room "/" parts[n] ".h"
}
FNR == NR {
    for (i = 2; i <= NF; i++) {
        if ($i !~ /\.h$/ && !($i in known))
            print "the table: " $1 " is above " $i
        may[$1, $i ~ /\.h$/ ? $i : public($i)] = 1
    }
    known[$1] = 1
    next
}
{
    from = room_of($1)
    if (from == "")
        print $1 " is in no room of the table in tests/rooms.sh"
    else if (room_of($2) != from && !((from, $2) in may))
        print $1 " includes " $2 ": the table in tests/rooms.sh does not let " from " know that"
}
END

violations() {
    list_includes "$1" >"$scratch/includes"
    awk -f "$scratch/check.awk" "$scratch/rooms" "$scratch/includes"
}

violations "$top_srcdir" >"$scratch/found"
check "there are includes to look at" test "$(wc -l <"$scratch/includes")" -gt 100
check "includes point one way" test ! -s "$scratch/found"
[ ! -s "$scratch/found" ] || comment "$(cat "$scratch/found")"

# What it must see.
mkdir -p "$scratch/bad/bloop/code" "$scratch/bad/metrics" "$scratch/bad/attic" "$scratch/bad/hpcprof/recorder/unwind"
echo '#include "bloop/assemble/assemble.h"' >"$scratch/bad/bloop/code/up.c"
echo '#include "bloop/code/code.h"' >"$scratch/bad/metrics/private.c"
echo '#include "support/support.h"' >"$scratch/bad/attic/unknown.h"
echo '#include "hpcprof/format/format.h"' >"$scratch/bad/hpcprof/recorder/unwind/fine.c"
echo '#include "driver/driver.h"' >"$scratch/bad/metrics/metrics_test.c"
found=$(violations "$scratch/bad")
check_match "a room above" "$found" 'bloop/code/up.c includes bloop/assemble/assemble.h'
check_match "a header that is not the room's own" "$found" 'metrics/private.c includes bloop/code/code.h'
check_match "a folder that has no row" "$found" 'attic/unknown.h is in no room'
check "and nothing else" test "$(printf '%s\n' "$found" | wc -l)" = 3

# Nothing below driver/ prints, exits or reads the environment, but what lives in the measured program and what starts one.
outspoken() {
    (cd "$1" && find bloop campaign diagnose export filters hpcprof htmlgen machines metrics mhsim phases quality support -name '*.c' 2>/dev/null | sort |
        grep -Ev '_(test|fuzz)\.c$|/(bench|make|sample|drawing|build)[a-z_]*\.c$|^hpcprof/recorder/|^mhsim/(runtime|instrument)/' |
        while read -r file; do
            sed 's,"[^"]*","",g; s,//.*,,; s,/[*].*[*]/,,' "$file" |
                grep -oE '(^|[^a-zA-Z0-9_])(printf|puts|putchar|perror|exit|getenv|secure_getenv)\(' | sed "s,^[^a-z],,; s,^,$file ," | sort -u
        done) | grep -vE '^(campaign/runs|hpcprof/launch/record|mhsim/launch/run)\.c getenv'
}
found=$(outspoken "$top_srcdir")
check_equal "nothing below driver/ prints, exits or asks the environment" "$found" ""
printf 'int f(void)\n{\n    puts("getenv()");\n    exit(!getenv("HOME"));\n}\n' >"$scratch/bad/metrics/loud.c"
found=$(outspoken "$scratch/bad" | tr '\n' ' ')
check_equal "what it must see" "$found" "metrics/loud.c exit( metrics/loud.c getenv( metrics/loud.c puts( "
done_testing
