# SPDX-License-Identifier: BSD-3-Clause
# print's JSON is valid by the schema, at every level and for every table.
. "$top_srcdir/tests/lib.sh"
command -v python3 >/dev/null || skip_all "no python3 here"
cd "$scratch" || exit 99
valid() { python3 "$top_srcdir/tests/print/validate.py" "$top_srcdir/share/schemas/print.json"; }
print_json() { "$hpcview" print -S "$top_srcdir/tests/print/app.xml" --format json "$@" 2>err || comment "$(cat err)"; }
# fits NAME OPTIONS...
fits() {
    name=$1
    shift
    if print_json "$@" >out.json && valid <out.json >wrong; then ok "$name"; else not_ok "$name" "$(cat wrong)"; fi
}
"$top_builddir/tests/print/make_measurement" app.hpcprof <"$top_srcdir/tests/print/app.drawing"
"$top_builddir/tests/print/make_measurement" paths.hpcprof <<'END'
event CPUTIME 100 us
process /opt/app/bin/app
module /opt/app/bin/app
from 2004
at 1012 CPUTIME 4
from 2004 1031
at 1000 CPUTIME 5
thread worker
at 2000 CPUTIME 3
END
for level in program module file procedure loop line function; do
    fits "--by $level" --by "$level" app.hpcprof
done
for level in path caller calls; do
    fits "--by $level" --by "$level" paths.hpcprof
done
fits "two runs" --diff --by loop app.hpcprof paths.hpcprof
fits "several levels are a list" --by loop --by function --by path paths.hpcprof
check_match "and are one" "$(head -c 1 out.json)" "\["
for table in placement thread_values; do
    fits "the table $table" --table "$table" paths.hpcprof
done
if command -v "${CC-cc}" >/dev/null && printf 'int main(void){volatile int x=0;for(int i=0;i<99000000;i++)x+=i;return 0;}' >x.c &&
    "${CC-cc}" -g -O1 -o x x.c && "$hpcview" record -e perf::TASK-CLOCK@1000000 -o x.m -- ./x >/dev/null 2>&1; then
    fits "--by instruction" --by instruction x.m
else
    skip "--by instruction" "nothing can be sampled here"
fi
print_json --by loop app.hpcprof | sed 's/"title":"[^"]*",//' | valid >wrong
check_match "what lacks a member does not fit" "$(cat wrong)" "lacks 'title'"
print_json --by loop app.hpcprof | sed 's/"line":[0-9]*/"line":"x"/' | valid >wrong
check_match "a text where a number belongs does not fit" "$(cat wrong)" "is no integer"
done_testing
