#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is installed, in place of what lies in a build folder: the same as short.sh.
installed=$(find "$PWD/stage" -path '*/bin/hpcview')
[ -x "$installed" ] || { echo "Bail out! nothing is installed in $PWD/stage" && exit 99; }
. "$top_srcdir/tests/counters/inside/short.sh"
