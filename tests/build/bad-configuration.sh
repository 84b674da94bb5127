# SPDX-License-Identifier: BSD-3-Clause
# Hostile configurations and measurements produce an error message and nothing else.
. "$top_srcdir/tests/lib.sh"
cd "$scratch" || exit 99
head='<?xml version="1.0"?>'
mkdir m
"$top_builddir/tests/print/make_measurement" m/a.hpcprof <"$top_srcdir/tests/print/app.drawing"

# refused NAME PATTERN: c.xml, in good time and memory, with a sentence
refused() {
    run sh -c 'ulimit -v 4000000; ulimit -t 20; exec "$0" "$@"' "$hpcview" print --format csv c.xml
    check "$1: status 1" test "$status" = 1
    check_match "$1: a sentence" "$err" "$2"
}

{
    printf '%s<!DOCTYPE hpcview [<!ENTITY a "aaaaaaaaaa">' "$head"
    before=a
    for e in b c d e f g h i j; do
        printf '<!ENTITY %s "&%s;&%s;&%s;&%s;&%s;&%s;&%s;&%s;&%s;&%s;">' $e $before $before $before $before $before $before $before $before $before $before
        before=$e
    done
    printf ']><hpcview version="1"><title>&j;</title><run measurements="m"/></hpcview>'
} >c.xml
refused "an entity bomb" "c.xml:1: *"

echo secret >secret
printf '%s<!DOCTYPE hpcview [<!ENTITY s SYSTEM "file://%s/secret">]><hpcview version="1"><title>&s;</title><run measurements="m"/></hpcview>' "$head" "$PWD" >c.xml
refused "an external entity" "c.xml:1: *"
check "it is not fetched" sh -c '! grep -q secret' <<END
$out$err
END

{ printf '%s' "$head" && yes '<hpcview>' | head -n 100000 | tr -d '\n'; } >c.xml
refused "deep nesting" "c.xml:1: *"

{ printf '%s<hpcview version="1"><run measurements="m"/><computed name="A" formula="' "$head" && head -c 3000000 /dev/zero | tr '\0' 1 && echo '"/></hpcview>'; } >c.xml
refused "an attribute of megabytes" "c.xml:1: *LIMIT_EXPR_BYTES*"

{ printf '%s<hpcview version="1"><run measurements="m"/>' "$head" && seq 10000 | sed 's|.*|<computed name="M&" formula="CPUTIME + &"/>|' && echo '</hpcview>'; } >c.xml
refused "ten thousand metrics" "*LIMIT_METRICS*"
check_equal "which is said once" "$(printf '%s\n' "$err" | grep -c LIMIT_METRICS)" 1

cat >c.xml <<'END'
<hpcview version="1">
  <run name="x" measurements="no/such"/><run name="y" measurements="nor/this"/>
  <structure file="nor.xml"/><run measurements="m"/>
</hpcview>
END
refused "files that are not there" "*no/such*nor/this*nor.xml*"

cat >c.xml <<'END'
<hpcview version="1"><run measurements="m"/>
  <computed name="A" formula="B + 1"/><computed name="B" formula="A + 1"/>
</hpcview>
END
refused "a circle of metrics" "c.xml:2: A: 'B' is defined below it (c.xml:*); a formula can only use metrics above it*"

# Invalid formulas, and names that are unknown only once the measurement is read: all are reported at once, and no error
# causes another.
cat >c.xml <<'END'
<hpcview version="1"><run measurements="m"/>
  <computed name="A" formula="1 +"/>
  <computed name="B" formula="NOSUCH * 2"/>
  <computed name="C" formula="A + B"/>
  <measured name="D" event="NEITHER"/>
  <nonsense/>
</hpcview>
END
refused "all errors at once" "*c.xml:2: A: *"
check_equal "each once" "$(printf '%s\n' "$err" | sed -n 's/^hpcview: c.xml:\([0-9]*\):.*/\1/p' | sort | tr '\n' ' ')" "2 3 5 6 "
check_match "a name" "$err" "*c.xml:3: B: no metric 'NOSUCH'*"
check_match "an event" "$err" "*c.xml:5: no event 'NEITHER' was measured*"
run "$hpcview" run c.xml
check_match "nor is anything run with it" "$status $err" "1 *c.xml:2: A: *"

# invalid numbers
for number in nan inf -5 1e400 18446744073709551616; do
    printf 'a.c 1 f %s\na.c 2 f 7\n' "$number" >t.txt
    run "$hpcview" import table --columns file,line,procedure,C -o t.hpcprof t.txt
    check_match "a count of $number is refused" "$status $err" "1 *t.txt:1: *$number*"
done
# counts whose sum exceeds 64 bits, though each of them fits
printf 'a.c %s f 9000000000000000000\n' 1 2 3 >t.txt
run "$hpcview" import table --columns file,line,procedure,C -o t.hpcprof t.txt
run "$hpcview" print t.hpcprof
check_match "a sum of more than 64 bits is refused" "$status $err" "1 *exceed 64 bits*"
done_testing
