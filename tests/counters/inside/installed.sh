#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The installed files instead of those in a build folder: the same as short.sh.
installed=$(find "$PWD/stage" -path '*/bin/hpcview')
[ -x "$installed" ] || { echo "Bail out! nothing is installed in $PWD/stage" && exit 99; }
. "$top_srcdir/tests/counters/inside/short.sh"
