#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Configurations: the schema agrees with the reader; init's output can be built; paths are relative to the file.
. "$top_srcdir/tests/lib.sh"

schema=$top_srcdir/share/schemas/configuration.rng
cd "$scratch" || exit 99
"$top_builddir/tests/print/make_measurement" app.hpcprof <"$top_srcdir/tests/print/app.drawing"
cp "$top_srcdir/tests/print/app.xml" .

valid() { xmllint --noout --relaxng "$schema" "$1" 2>/dev/null; }
schema_says() { # NAME WANTED FILE
    if command -v xmllint >/dev/null 2>&1; then
        if valid "$3"; then got=valid; else got=invalid; fi
        check "$1: the schema says $2" test "$got" = "$2"
    else
        skip "$1: the schema says $2" "no xmllint here"
    fi
}

# ---- init
run "$hpcview" init app.hpcprof
check "init: status 0" test "$status" = 0
schema_says "init" valid hpcview.xml
run "$hpcview" print --format csv --by program hpcview.xml
check_match "init's configuration prints" "$out" "program,,,,app,2000000000,1000"
run "$hpcview" init app.hpcprof
check "init leaves a file that is there" test "$status" = 1
check_match "and names the way out" "$err" "--force"
run "$hpcview" init --force app.hpcprof
check "init --force replaces it" test "$status" = 0
run "$hpcview" init
check "init without measurements: status 2" test "$status" = 2
run "$hpcview" init -o - nowhere
check "init of nothing: status 1" test "$status" = 1

# ---- paths relative to the file, from another folder
mkdir -p elsewhere conf/src
cp app.hpcprof app.xml conf
echo 'the text of heat' >conf/src/heat.f90
cat >conf/c.xml <<'END'
<hpcview version="1">
  <run measurements="app.hpcprof"/>
  <structure file="app.xml"/>
  <sources path="src"/>
</hpcview>
END
cd elsewhere || exit 99
run "$hpcview" build -o db ../conf/c.xml
check "build from another folder: status 0" test "$status" = 0
check_match "what text is missing is said" "$err" "source files with 94.0% of TASK-CLOCK (src/vec.h first)"
check "the database is there" test -f db/index.html
run "$hpcview" print --by line --top 1 --format csv ../conf/c.xml
check_match "print from another folder" "$out" "line,app,src/vec.h,13"
run "$hpcview" build --single-file -o one.html ../conf/c.xml
check "one file" test -f one.html
# the same input, the same bytes
"$hpcview" build -j 1 -o again ../conf/c.xml 2>/dev/null
check "built twice, the same bytes" diff -r db again
check "no folder of this machine in it" sh -c "! grep -rq '$scratch' db"
cd ..

# ---- schema and reader agree on valid and invalid configurations
case_number=0
agree() { # WANTED BODY
    case_number=$((case_number + 1))
    printf '<hpcview version="1"><run measurements="app.hpcprof"/>%s</hpcview>\n' "$2" >case.xml
    schema_says "case $case_number" "$1" case.xml
    run "$hpcview" print --by program case.xml
    if [ "$1" = valid ]; then wanted=0; else wanted=1; fi
    check "case $case_number: the reader says $1" test "$status" = "$wanted"
    [ "$1" = valid ] || check_match "case $case_number: file and line" "$err" "case.xml:1: "
}
agree valid '<title>x</title><sources path="a/*" show-as="b"/><replace in="" out="x"/><debug path="d"/>'
agree valid '<measured event="perf::PAGE-FAULTS" sort="yes"><description>d</description></measured>'
agree valid '<computed name="a" formula="1 / 2" evaluate="lines"/><computed name="b"><formula>a</formula></computed>'
agree valid '<computed name="a"><math xmlns="http://www.w3.org/1998/Math/MathML"><apply><plus/><cn>1</cn><cn>2</cn></apply></math></computed>'
agree invalid '<titel/>'
agree invalid '<sources/>'
agree invalid '<sources path="a" viewname="b"/>'
agree invalid '<run name="x"/>'
agree invalid '<run measurements="app.hpcprof">text</run>'
agree invalid '<measured/>'
agree invalid '<measured event="perf::PAGE-FAULTS" display="perhaps"/>'
agree invalid '<computed name="a"/>'
agree invalid '<computed name="a" formula=""/>'
agree invalid '<computed name="a" formula="1" evaluate="sometimes"/>'
agree invalid '<computed name="a" formula="1"><formula>2</formula></computed>'
agree invalid '<computed name="a"><math><apply><divide/><cn>1</cn></apply></math></computed>'
agree invalid '<computed name="a"><math><apply><sin/><cn>1</cn></apply></math></computed>'
printf '<hpcview><run measurements="x"/></hpcview>' >case.xml
schema_says "without a version" invalid case.xml

# ---- bad input: one sentence, status 1
for bad in 'nothing at all' '<hpcview version="1">' '<?xml version="1.0"?><a/>' '<hpcview version="7"/>'; do
    printf '%s' "$bad" >bad.xml
    run "$hpcview" build bad.xml
    check "'$bad': status 1" test "$status" = 1
    check "'$bad': one sentence" test "$(printf '%s\n' "$err" | grep -c .)" = 1
    check_match "'$bad': names the file" "$err" "bad.xml"
done

# ---- all errors at once
cat >bad.xml <<'END'
<hpcview version="1">
  <run name="a" measurements="gone.measurements"/>
  <run name="b" measurements="app.hpcprof"/>
  <run measurements="lost.measurements"/>
  <structure file="app.structure.xml"/>
</hpcview>
END
run "$hpcview" build bad.xml
check "files that are not there: status 1" test "$status" = 1
check "all are named at once" test "$(printf '%s\n' "$err" | sed 's/: cannot.*//' | tr '\n' ' ')" = \
    "hpcview: bad.xml:2: gone.measurements hpcview: bad.xml:4: lost.measurements hpcview: app.structure.xml "
cat >bad.xml <<'END'
<hpcview version="1">
  <run measurements="app.hpcprof"/>
  <computed name="A" formula="CLOCK * 2"/>
  <computed name="B" formula="A + 1"/>
  <computed name="C" formula="B / 'perf::PAGE-FAULT'"/>
  <measured event="perf::TASKCLOCK"/>
  <computed name="D" formula="'perf::PAGE-FAULT' + 1"/>
</hpcview>
END
run "$hpcview" build bad.xml
check "unknown metrics: all are named, those that follow from them are not" \
    test "$(printf '%s\n' "$err" | cut -d: -f3 | tr '\n' ' ')" = "3 6 7 "
cat >bad.xml <<'END'
<hpcview version="1">
  <run name="a" measurements="gone.measurements"/>
  <run name="later" measurements="planned.measurements" command="./app"/>
  <measured event="X" color="red"/>
  <computed name="A" formula="CLOCK * * 2"/>
</hpcview>
END
run "$hpcview" build bad.xml
check "what is wrong in it, and files that are not there: at once" \
    test "$(printf '%s\n' "$err" | cut -d: -f3 | tr '\n' ' ')" = "4 5 2 "
run "$hpcview" build app.hpcprof "$top_srcdir/tests/corpus/config/full.xml"
check "a configuration beside measurements: status 2" test "$status" = 2
mkdir mine && echo precious >mine/file
run "$hpcview" build -o mine app.hpcprof
check "a folder that is no database is left alone" test "$status" = 1 -a "$(cat mine/file)" = precious
done_testing
