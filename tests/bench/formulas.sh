#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A hundred computed metrics over a million places: what they add to `hpcview print` of eight events, in CPU seconds and wall time. The
# events have data at every place, or each place has that of one of them; and a hundred that compare two runs.
. "$top_srcdir/tests/bench/lib.sh"

make_many=$top_builddir/tests/bench/make_many
addresses=${ADDRESSES-900000} # and a tenth as many loops, a hundredth as many procedures
formulas=${FORMULAS-100}

configuration() { # NUMBER RUN...
    perl -e 'my $n = shift; print "<hpcview version=\"1\">\n<structure file=\"app.xml\"/>\n";
        print "<run name=\"$_\" measurements=\"m\"/>\n" for @ARGV ? @ARGV : "one";
        my @forms = ("A / B", "A - B", "1 - A / B", "100 * share(A)", "(A + B) / (C + 1)", "max(A, B) - min(B, C)", "if(A > B, A, B) / C", "or(A, 0) + or(B, 0)",
            "A / B > 1.5 and share(A) > 5%", "sum(A, B, C) / total(A)");
        @forms = ("$ARGV[0].A - $ARGV[1].A", "$ARGV[0].A / $ARGV[1].B") if @ARGV > 1;
        for my $i (0 .. $n - 1) {
            my %e = (A => $i % 8, B => ($i + 1 + int($i / 8)) % 8, C => ($i + 3) % 8);
            (my $f = $forms[$i % @forms]) =~ s/\b([ABC])\b/EVENT_$e{$1}/g;
            $f =~ s/&/&amp;/g; $f =~ s/</&lt;/g;
            print "<computed name=\"F$i\" formula=\"$f\"/>\n";
        }
        print "</hpcview>\n"' "$@"
}
print_of() { # CONFIGURATION RUN...
    file=$scratch/$1.xml
    once "${ROUNDS-3}" "'$hpcview' print --by program -o '$scratch/out' '$file'"
}
formulas_of() { # NAME "RUN..." ALL
    rm -rf "$scratch/m"
    "$make_many" "$scratch" 1 1 "$addresses" "$addresses" 8 $3 || exit 1
    configuration 0 $2 >"$scratch/without.xml"
    configuration "$formulas" $2 >"$scratch/with.xml"
    print_of without || return
    wall_1=$wall cpu_1=$cpu rss_1=$rss
    print_of with || return
    row "$1" "$(number %.2f "$wall_1")" "$(number %.2f "$cpu_1")" "$(number %.2f "$wall - $wall_1")" "$(number %.2f "$cpu - $cpu_1")" \
        "$(number %.2f "($cpu - $cpu_1) * 1e9 / ($addresses * 1.11 * $formulas)")" "$(number %.0f "($rss - $rss_1) / 1024")"
}
row "$formulas formulas, 1,000,000 places" "events s" "CPU s" "formulas s" "CPU s" "ns a value" "MiB"
formulas_of "8 events everywhere" "" all
formulas_of "each place of one event" "" ""
formulas_of "two runs of 8 events" "one two" all
