# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += \
	%D%/headers.sh %D%/dist.sh %D%/format.sh %D%/folders.sh %D%/run-golden.sh %D%/corpus.sh %D%/driver/manual.sh %D%/doc/counts.sh %D%/driver/completion.sh %D%/driver/doctor.sh %D%/driver/live.sh \
	%D%/e2e/example.sh %D%/e2e/tutorial.sh %D%/scale.sh %D%/e2e/bad-input.sh %D%/e2e/page.sh %D%/perf-compare.sh
dist_check_SCRIPTS += %D%/walkthrough/walkthrough.sh
dist_check_SCRIPTS += %D%/install/installed.sh
dist_check_SCRIPTS += %D%/build/bad-configuration.sh %D%/compare/compare.sh %D%/compare/pairs.sh %D%/print/schema.sh
EXTRA_DIST += %D%/compare/kernels.c %D%/compare/ten.c %D%/compare/trials.py %D%/print/validate.py
EXTRA_DIST += %D%/walkthrough/toy.c %D%/walkthrough/shown.mjs
EXTRA_DIST += %D%/mutation/run %D%/mutation/parts.txt %D%/mutation/equivalent.txt %D%/mutation/README.md
EXTRA_DIST += %D%/lib.sh %D%/README.md %D%/e2e/page.mjs

# what runs every test: limits on time and memory, and nothing may be left behind
check_PROGRAMS += %D%/limits
%C%_limits_SOURCES = %D%/limits.c
dist_check_SCRIPTS += %D%/limits.sh

check_LIBRARIES += %D%/libreplay.a
%C%_libreplay_a_SOURCES = %D%/replay.c

# what the root of a column must be, from the raw counts
check_PROGRAMS += %D%/e2e/sampled
%C%_e2e_sampled_SOURCES = %D%/e2e/sampled.c
%C%_e2e_sampled_LDADD = hpcprof/libhpcprof.a support/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS)

# databases of hand-made and of large experiments, for the tests of the page
check_PROGRAMS += %D%/fixtures/make_database
%C%_fixtures_make_database_SOURCES = %D%/fixtures/make_database.c %D%/fixtures/sample_experiments.c %D%/fixtures/sample_experiments.h
%C%_fixtures_make_database_LDADD = $(HTMLGEN_TEST_LIBS)

# ---- make bench -------------------------------------------------------------------
EXTRA_PROGRAMS += %D%/bench/decode %D%/bench/measure %D%/bench/scopes_at %D%/bench/make_many %D%/bench/diagnose_speed
BENCH_TOOLS += %D%/bench/decode %D%/bench/diagnose_speed %D%/bench/measure %D%/bench/scopes_at %D%/bench/make_many %D%/fixtures/make_database
%C%_bench_decode_SOURCES = %D%/bench/decode.c
%C%_bench_decode_LDADD = $(BLOOP_LDADD)
%C%_bench_scopes_at_SOURCES = %D%/bench/scopes_at.c
%C%_bench_scopes_at_LDADD = $(BLOOP_LDADD)
%C%_bench_make_many_SOURCES = %D%/bench/make_many.c
%C%_bench_make_many_LDADD = hpcprof/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)
%C%_bench_diagnose_speed_SOURCES = %D%/bench/diagnose_speed.c tests/fixtures/sample_experiments.c tests/fixtures/sample_experiments.h
%C%_bench_diagnose_speed_LDADD = $(ALL_LDADD)
%C%_bench_measure_SOURCES = %D%/bench/measure.c
EXTRA_DIST += %D%/bench/lib.sh %D%/bench/diagnose.sh %D%/bench/structure.sh %D%/bench/build.sh %D%/bench/page.sh %D%/bench/page.mjs %D%/bench/many.sh %D%/bench/quality.sh %D%/bench/phases_tables.sh %D%/bench/places.sh %D%/bench/formulas.sh \
	%D%/bench/quality_kernels.c %D%/bench/quality_measure.c

# ---- measurements from drawings: build, print -------------------------------------
check_PROGRAMS += %D%/print/make_measurement
%C%_print_make_measurement_SOURCES = %D%/print/make_measurement.c
%C%_print_make_measurement_LDADD = hpcprof/libhpcprof.a support/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS)

# ---- exactness of loops --------------------------------------------------------------
check_PROGRAMS += %D%/exactness/compare
%C%_exactness_compare_SOURCES = %D%/exactness/compare.c
%C%_exactness_compare_LDADD = $(BLOOP_LDADD)
EXTRA_DIST += %D%/exactness/README.md %D%/exactness/run.sh %D%/exactness/chains.py %D%/exactness/compiler.py %D%/exactness/src/loops.c %D%/exactness/src/inline.c %D%/exactness/src/templates.cc \
	%D%/exactness/src/forms.f90 %D%/exactness/src/omp.c %D%/exactness/src/hard.c %D%/exactness/src/paths.c %D%/exactness/src/returns.c %D%/exactness/src/beside.c %D%/exactness/src/first.c %D%/exactness/src/pairs.c %D%/exactness/src/nests.c %D%/exactness/src/nests.cc %D%/exactness/src/nests.f90 %D%/exactness/src/nests_omp.c %D%/exactness/src/jumps.c %D%/exactness/src/hard.cc \
	%D%/exactness/src/hard.f90 %D%/exactness/src/hard_omp.c %D%/exactness/src/hard_omp.cc %D%/exactness/src/hard_omp.f90

# ---- structure ---------------------------------------------------------------------------
TESTS += %D%/structure/formats.sh %D%/structure/chains.sh %D%/structure/golden.sh %D%/structure/exactness.sh %D%/structure/sweep_short.sh
EXTRA_DIST += %D%/structure/formats.sh %D%/structure/chains.sh %D%/structure/golden.sh %D%/structure/exactness.sh %D%/structure/sweep_short.sh \
	%D%/structure/sweep.sh %D%/structure/golden %D%/structure/objects

# ---- measurements to tables and databases -----------------------------------------------
dist_check_SCRIPTS += %D%/build/blocks.sh %D%/build/campaign.sh %D%/build/configuration.sh %D%/build/debuginfod.sh %D%/build/mpi.sh %D%/build/ranks.sh %D%/build/many-ranks.sh %D%/build/rebuilt.sh %D%/build/run.sh %D%/filters/filters.sh
EXTRA_DIST += \
	%D%/driver/info/cmd %D%/driver/info/out %D%/driver/words/cmd %D%/driver/words/out %D%/driver/operands/cmd %D%/driver/operands/out %D%/driver/init/cmd %D%/driver/init/out \
	%D%/print/app.drawing %D%/print/app.xml %D%/print/case.sh %D%/diagnose/forms \
	%D%/print/columns/cmd %D%/print/columns/out %D%/print/formats/cmd %D%/print/formats/out \
	%D%/print/hostile-names/cmd %D%/print/hostile-names/out %D%/print/paths/cmd %D%/print/paths/out %D%/print/levels/cmd %D%/print/levels/out \
	%D%/print/hpcview3/cmd %D%/print/hpcview3/out %D%/print/hpcview3/heat.psxml %D%/print/hpcview3/heat.xml \
	%D%/print/hpcview3/cyc.pxml %D%/print/hpcview3/miss.pxml \
	%D%/print/regions/cmd %D%/print/regions/out %D%/print/lines-alone/cmd %D%/print/lines-alone/out %D%/print/threads/cmd %D%/print/threads/out %D%/print/tables/cmd %D%/print/tables/out %D%/print/placement/cmd %D%/print/placement/out %D%/print/diff/cmd %D%/print/diff/out %D%/print/versions/cmd %D%/print/versions/out %D%/print/repetitions/cmd %D%/print/repetitions/out %D%/print/no-lines/cmd %D%/print/no-lines/out

# ---- what fails in turn -------------------------------------------------------------------
dist_check_SCRIPTS += %D%/torture/short.sh
EXTRA_DIST += %D%/parts.sh %D%/found.txt %D%/where.sh %D%/fuzz-coverage.sh %D%/torture/torture.sh %D%/torture/fail.c

# ---- hardware counters, in emulated processors ------------------------------------------------
dist_check_SCRIPTS += %D%/counters/counters.sh
EXTRA_DIST += %D%/counters/guest.sh %D%/counters/host.sh %D%/counters/init %D%/counters/arm64.mk %D%/counters/command.c %D%/counters/count.c \
	%D%/counters/shell %D%/counters/report %D%/counters/programs.list %D%/counters/programs %D%/counters/inside

# ---- quality of loops ----------------------------------------------------------------------
dist_check_SCRIPTS += %D%/quality/quality.sh %D%/quality/database.sh
EXTRA_DIST += %D%/quality/models.py %D%/quality/corpus/loops.c %D%/quality/corpus/make.sh \
	%D%/quality/corpus/aarch64-clang-O2-fast-sve.obj %D%/quality/corpus/aarch64-clang-O2-fast-sve.expected \
	%D%/quality/corpus/aarch64-gcc-O3.obj %D%/quality/corpus/aarch64-gcc-O3.expected %D%/quality/corpus/aarch64-gcc-O3.text %D%/quality/corpus/aarch64-gcc-O3.json \
	%D%/quality/corpus/x86-clang-O2-fast-avx2.obj %D%/quality/corpus/x86-clang-O2-fast-avx2.expected \
	%D%/quality/corpus/x86-clang-O3.obj %D%/quality/corpus/x86-clang-O3.expected \
	%D%/quality/corpus/loops.cc %D%/quality/corpus/loops.f90 \
	%D%/quality/corpus/x86-gxx-O2.obj %D%/quality/corpus/x86-gxx-O2.expected \
	%D%/quality/corpus/x86-gxx-O3.obj %D%/quality/corpus/x86-gxx-O3.expected %D%/quality/corpus/x86-gxx-O3.text %D%/quality/corpus/x86-gxx-O3.json \
	%D%/quality/corpus/x86-gfortran-O2.obj %D%/quality/corpus/x86-gfortran-O2.expected \
	%D%/quality/corpus/x86-gfortran-O3.obj %D%/quality/corpus/x86-gfortran-O3.expected %D%/quality/corpus/x86-gfortran-O3.text %D%/quality/corpus/x86-gfortran-O3.json \
	%D%/quality/corpus/x86-gcc-O2.obj %D%/quality/corpus/x86-gcc-O2.expected %D%/quality/corpus/x86-gcc-O2.text %D%/quality/corpus/x86-gcc-O2.json \
	%D%/quality/corpus/x86-gcc-O3-fast-avx512.obj %D%/quality/corpus/x86-gcc-O3-fast-avx512.expected

# ---- findings: planted problems, the papers' cases ----------------------------------------
dist_check_SCRIPTS += %D%/diagnose/cases.sh %D%/diagnose/papers.sh %D%/diagnose/planted.sh
EXTRA_DIST += %D%/diagnose/calibration.py \
	%D%/diagnose/pairs/alias_fields.c %D%/diagnose/pairs/balanced_tasks.c %D%/diagnose/pairs/coin.c %D%/diagnose/pairs/column_walk.c %D%/diagnose/pairs/compare_strings.cpp %D%/diagnose/pairs/copy_width.cpp \
	%D%/diagnose/pairs/counters_array.c %D%/diagnose/pairs/critical_update.f90 %D%/diagnose/pairs/debug_build.cpp %D%/diagnose/pairs/divide_by_invariant.f90 %D%/diagnose/pairs/dot_cached.c %D%/diagnose/pairs/dot_memory.c \
	%D%/diagnose/pairs/erase_front.cpp %D%/diagnose/pairs/false_share_threads.c %D%/diagnose/pairs/flushed_lines.cpp %D%/diagnose/pairs/forwarding.c %D%/diagnose/pairs/gather_random.c %D%/diagnose/pairs/hash_chains.c \
	%D%/diagnose/pairs/jacobi3d.cpp %D%/diagnose/pairs/large_blocks.c %D%/diagnose/pairs/large_sum.f90 %D%/diagnose/pairs/libm_exp.c %D%/diagnose/pairs/list_nodes.cpp %D%/diagnose/pairs/list_sum.c \
	%D%/diagnose/pairs/many_tasks.c %D%/diagnose/pairs/master_only.f90 %D%/diagnose/pairs/matmul_ikj.f90 %D%/diagnose/pairs/mmap_each.cpp %D%/diagnose/pairs/modulo.c %D%/diagnose/pairs/mutex_sum.cpp \
	%D%/diagnose/pairs/norm_float.cpp %D%/diagnose/pairs/omp_imbalance.c %D%/diagnose/pairs/oversubscribed.c %D%/diagnose/pairs/packing.f90 %D%/diagnose/pairs/pass_by_value.cpp %D%/diagnose/pairs/poll_flag.cpp \
	%D%/diagnose/pairs/pow_square.c %D%/diagnose/pairs/regex_loop.cpp %D%/diagnose/pairs/saxpy_scalar.c %D%/diagnose/pairs/serial_part.c %D%/diagnose/pairs/short_rows.c %D%/diagnose/pairs/small_writes.c \
	%D%/diagnose/pairs/sorted_branch.cpp %D%/diagnose/pairs/spin_wait.c %D%/diagnose/pairs/stencil_fast.f90 %D%/diagnose/pairs/stencil_rows.f90 %D%/diagnose/pairs/strings_grow.cpp %D%/diagnose/pairs/strlen_loop.c \
	%D%/diagnose/pairs/structs.c %D%/diagnose/pairs/taskloop_fine.cpp %D%/diagnose/pairs/tasks_at_end.cpp %D%/diagnose/pairs/tree_walk.cpp %D%/diagnose/pairs/triad_width.c %D%/diagnose/pairs/triangle_omp.f90 \
	%D%/diagnose/pairs/unoptimized.c %D%/diagnose/pairs/vector_libm.f90 %D%/diagnose/pairs/vector_sin.c %D%/diagnose/pairs/wall_clock.c %D%/diagnose/pairs/wall_math.f90 %D%/diagnose/pairs/workers_share.cpp
EXTRA_DIST += %D%/diagnose/sarif.mjs \
	%D%/diagnose/programs/false_sharing.c %D%/diagnose/programs/serial_region.c %D%/diagnose/programs/imbalance.c %D%/diagnose/programs/division.c %D%/diagnose/programs/scalar.c \
	%D%/diagnose/programs/gather.c %D%/diagnose/programs/branches.c %D%/diagnose/programs/critical.c %D%/diagnose/programs/page_faults.c %D%/diagnose/programs/small_reads.c \
	%D%/diagnose/programs/contention.c %D%/diagnose/programs/remainder.c %D%/diagnose/programs/recursion.c %D%/diagnose/programs/allocation.c %D%/diagnose/programs/strided.c \
	%D%/diagnose/programs/aliasing.c %D%/diagnose/programs/spills.c %D%/diagnose/programs/conversion.c %D%/diagnose/programs/calls.c %D%/diagnose/programs/slow_rank.c %D%/diagnose/programs/exceptions.cpp \
	%D%/diagnose/programs/rows.f90 %D%/diagnose/programs/temporary_strings.cpp %D%/diagnose/programs/triangle.f90 %D%/diagnose/programs/virtual_calls.cpp

# ---- the Python package ----
dist_check_SCRIPTS += %D%/python/python.sh
EXTRA_DIST += %D%/python/round_trip.py python/README.md python/pyproject.toml python/hpcview/__init__.py
