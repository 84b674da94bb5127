#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make.sh BUILD: takes the picture of README.md anew, of the bundled example, with the hpcview that is built in the folder BUILD. Needs chromium,
# ImageMagick and a Fortran compiler.
set -e
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?a build folder}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here/../../share/examples/heat" "$work/heat"
chmod -R u+w "$work/heat"
make -s -C "$work/heat"
cd "$work"
"$build/driver/hpcview" run --anonymize -o heat.db -- heat/heat 200 >heat.out
HOME=$work "${CHROMIUM:-chromium}" --headless --no-sandbox --hide-scrollbars --window-size=1280,800 --virtual-time-budget=10000 \
    --screenshot="$here/summary.png" "file://$work/heat.db/index.html" 2>chromium.log || cat chromium.log
convert "$here/summary.png" +dither -colors 96 -strip "$work/small.png" && cp "$work/small.png" "$here/summary.png"
