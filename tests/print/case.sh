# SPDX-License-Identifier: BSD-3-Clause
# For the cmd files: app makes the measurement app.hpcprof, measure FILE one from the drawing on its input.
measure() { "$top_builddir/tests/print/make_measurement" "$1" || exit 99; }
app() { measure app.hpcprof <"$top_srcdir/tests/print/app.drawing"; }
# Standard error after standard output, so that the two do not mix.
print() {
    "$hpcview" print -S "$top_srcdir/tests/print/app.xml" "$@" 2>err
    print_status=$?
    [ $print_status = 0 ] || echo "status $print_status"
    sed 's/^/stderr: /' err
}
