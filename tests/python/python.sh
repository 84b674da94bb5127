#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package: every table equals that of CSV, for a measurement and its database. round_trip.py has the checks.
. "$top_srcdir/tests/lib.sh"
need python3
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || skip_all "python3 is older than 3.9"
mkdir "$scratch/app.measurements"
"$top_builddir/tests/print/make_measurement" "$scratch/app.measurements/1.hpcprof" <<'drawing' || exit 99
event TIME 1234567 ns
event FAULTS 1 faults
process /opt/app/bin/app
module /opt/app/bin/app
from 2004
at 1000 TIME 5
at 1012 TIME 100
at 1020 TIME 300
at 1012 FAULTS 3
from 2004 1031
at 1055 TIME 40
cut a_stack_larger_than_the_copy 1062
at 1000 TIME 30
module /usr/lib/"libé,.so
from
at 10 TIME 7
drawing
"$hpcview" build -S "$top_srcdir/tests/print/app.xml" -o "$scratch/app.db" "$scratch/app.measurements" 2>"$scratch/err" || { cat "$scratch/err" && exit 99; }
tap_planned=1
PYTHONPATH=$top_srcdir/python PYTHONDONTWRITEBYTECODE=1 python3 "$top_srcdir/tests/python/round_trip.py" \
    "$hpcview" "$scratch/app.measurements" "$scratch/app.db" "$top_srcdir/tests/print/app.xml"
