#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make screenshots: databases of the examples and of tests/page/programs, measured here, and pictures of all their views (light, dark, 360
# pixels) in the build folder's tests/page/screenshots. A database that needs something this machine lacks is skipped.
src=$(cd "$top_srcdir" && pwd)
out=$top_builddir/tests/page/screenshots
for browser in "${CHROMIUM-}" chromium chromium-browser google-chrome; do
    [ -n "$browser" ] && browser=$(command -v "$browser") && break
done
[ -n "$browser" ] || { echo "screenshots: no chromium is installed" >&2; exit 1; }
sh "$src/templates/node-packages.sh" "$src/templates" "$top_builddir/templates" || exit 1

mkdir -p "$out"
out=$(cd "$out" && pwd)
hpcview=$(cd "$top_builddir" && pwd)/driver/hpcview
playwright=$(cd "$top_builddir" && pwd)/templates/node_modules/playwright-core/index.mjs
cd "$out" || exit 1
rm -rf examples programs measurements db-* *.png
cp -R "$src/share/examples" examples
cp -R "$src/tests/page/programs" programs
chmod -R u+w examples programs
mkdir measurements
OMP_NUM_THREADS=${OMP_NUM_THREADS-2} OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMP_NUM_THREADS OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM

# database NAME INPUT...: of measurements, a foreign file or a configuration
database() {
    name=$1
    shift
    "$hpcview" build -I examples -I examples/particles -I programs -o "db-$name" "$@" >>log 2>&1 || echo "screenshots: db-$name was not made (see $out/log)" >&2
}
have() { command -v "$1" >/dev/null || { echo "screenshots: $1 is not installed: some databases are left out" >&2; false; }; }
record() { "$hpcview" record "$@" >>log 2>&1; }

: >log
make -C examples/heat >>log 2>&1 && record -o measurements/heat -- examples/heat/heat 300 && database heat measurements/heat
# with hardware counters of an emulated processor (doc/counters.md)
counted() (
    . "$src/tests/counters/guest.sh"
    guest_prepare && guest_build && guest_make heat && mkdir -p "$out/counted" && guest_run "$out/counted" "neoverse-n1 -icount shift=1" "
        echo -1 >/proc/sys/kernel/perf_event_paranoid
        $arm64/driver/hpcview record -e PAPI_TOT_CYC@400009 -e PAPI_TOT_INS@12000017 -o heat-arm64 -- $arm64/programs/heat 150 3"
)
have qemu-system-aarch64 && counted >>log 2>&1 && database counted -m 'CPI = run(heat-arm64).PAPI_TOT_CYC / run(heat-arm64).PAPI_TOT_INS' counted/heat-arm64 measurements/heat
g++ -O2 -g -o deep programs/deep.cpp && record -o measurements/deep -- ./deep 1000000 && database deep measurements/deep
cp deep stripped && strip stripped && record -o measurements/stripped -- ./stripped 500000 && database stripped measurements/stripped
gcc -O2 -g -fopenmp -o triangle programs/triangle.c && record --phases -o measurements/triangle -- ./triangle 100 &&
    database threads measurements/triangle
have mpicc && mpicc -O2 -g -o ranks programs/ranks.c &&
    mpirun --oversubscribe -n 4 "$hpcview" record --phases -o measurements/ranks -- ./ranks 200 >>log 2>&1 && database ranks measurements/ranks
make -C examples/sweep >>log 2>&1 && "$hpcview" simulate -o measurements/sweep -- examples/sweep/sweep >>log 2>&1 && database memory measurements/sweep
have perf && perf record -q -g -o perf.data ./deep 300000 >>log 2>&1 && database perf perf.data
have valgrind && valgrind --tool=callgrind --dump-instr=yes --callgrind-out-file=callgrind.out examples/heat/heat 40 >>log 2>&1 &&
    database callgrind callgrind.out
have clang++ && g++ -O3 -g -o particles.gcc examples/particles/particles.cpp && clang++ -O3 -g -o particles.clang examples/particles/particles.cpp &&
    record -o measurements/gcc -- ./particles.gcc && record -o measurements/clang -- ./particles.clang && cat >compilers.xml <<'END' &&
<hpcview version="1">
  <title>particles: gcc and clang</title>
  <run name="gcc" measurements="measurements/gcc"/>
  <run name="clang" measurements="measurements/clang"/>
  <measured name="gcc.TIME" event="perf::TASK-CLOCK" run="gcc" unit="ns" sort="yes"/>
  <measured name="clang.TIME" event="perf::TASK-CLOCK" run="clang" unit="ns"/>
  <computed name="DIFF" formula="clang.TIME - gcc.TIME" unit="ns"/>
</hpcview>
END
    database compilers compilers.xml

PLAYWRIGHT=$playwright CHROMIUM=$browser node "$src/tests/page/screenshots.mjs" "$out" db-*
