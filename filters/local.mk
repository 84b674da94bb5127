FILTERS_LDADD = %D%/libfilters.a hpcprof/libhpcprof.a support/libsupport.a $(XML2_LIBS) $(ZSTD_LIBS) $(PAPI_LIBS) $(ZLIB_LIBS) -lm

noinst_LIBRARIES += %D%/libfilters.a
%C%_libfilters_a_SOURCES = %D%/filters.h %D%/filters_int.h %D%/filters.c %D%/sink.h %D%/sink.c %D%/call_edges.h %D%/call_edges.c %D%/caliper.c %D%/coverage.c %D%/folded.c %D%/gmon.c %D%/hpctoolkit.h %D%/hpctoolkit.c %D%/image.h %D%/image.c %D%/hpctoolkit_v4.c %D%/likwid.c %D%/papi.c %D%/pprof.c %D%/speedscope.c \
	%D%/table.c %D%/lines.c %D%/unpack.c \
	%D%/perf_run.h %D%/perf_run.c %D%/perf_steps.h %D%/perf_steps.c %D%/perf_data_int.h %D%/perf_data.c %D%/perf_unpack.c %D%/perf_order.c %D%/perf_records.c %D%/perf_attrs.c %D%/perf_script.c %D%/callgrind.c %D%/callgrind_spots.h %D%/callgrind_spots.c %D%/instr_loops.h %D%/instr_loops.c %D%/keys.h %D%/keys.c %D%/profile.c

check_PROGRAMS += %D%/filter_fuzz %D%/hpctoolkit_fuzz %D%/filters_test %D%/facts_test %D%/drawn_test %D%/files_test %D%/hpctoolkit_test %D%/perf_data_test %D%/callgrind_spots_test
TESTS += %D%/filters_test %D%/facts_test %D%/drawn_test %D%/files_test %D%/hpctoolkit_test %D%/perf_data_test %D%/callgrind_spots_test
%C%_callgrind_spots_test_SOURCES = %D%/callgrind_spots_test.c tests/tap.h
%C%_callgrind_spots_test_LDADD = $(FILTERS_LDADD)
%C%_perf_data_test_SOURCES = %D%/perf_data_test.c %D%/test_dump.h tests/chance.h tests/tap.h
%C%_perf_data_test_LDADD = $(FILTERS_LDADD)
%C%_files_test_SOURCES = %D%/files_test.c %D%/test_dump.h tests/tap.h
%C%_files_test_LDADD = $(FILTERS_LDADD)
%C%_hpctoolkit_test_SOURCES = %D%/hpctoolkit_test.c %D%/test_dump.h tests/guarded.h tests/tap.h
%C%_hpctoolkit_test_LDADD = $(FILTERS_LDADD)
%C%_facts_test_SOURCES = %D%/facts_test.c %D%/test_dump.h tests/cases.h tests/guarded.h tests/tap.h
%C%_facts_test_LDADD = $(FILTERS_LDADD)
EXTRA_DIST += tests/filters/facts.cases
%C%_drawn_test_SOURCES = %D%/drawn_test.c %D%/test_dump.h tests/chance.h tests/tap.h
%C%_drawn_test_LDADD = $(FILTERS_LDADD)
%C%_filters_test_SOURCES = %D%/filters_test.c %D%/test_dump.h tests/tap.h
%C%_filters_test_LDADD = $(FILTERS_LDADD)
FUZZERS += %D%/filter_fuzz
%C%_filter_fuzz_SOURCES = %D%/filter_fuzz.c
%C%_filter_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_filter_fuzz_LDADD = $(LIBFUZZER) $(FILTERS_LDADD)
EXTRA_DIST += \
	tests/corpus/filter/callgrind tests/corpus/filter/callgrind-instr tests/corpus/filter/callgrind-bad-numbers tests/corpus/filter/folded tests/corpus/filter/gcov tests/corpus/filter/gprof \
	tests/corpus/filter/lcov tests/corpus/filter/llvm-cov tests/corpus/filter/pprof tests/corpus/filter/pprof-sample-without-name tests/corpus/filter/speedscope tests/corpus/filter/perf-packed \
	tests/corpus/filter/perf-pipe tests/corpus/filter/perf-script \
	tests/corpus/filter/perf-script-overlaps tests/corpus/filter/profile tests/corpus/filter/profile-large-value
EXTRA_DIST += \
	tests/filters/folded.example tests/filters/folded.out \
	tests/filters/gcov.example tests/filters/gcov.out \
	tests/filters/gprof.example tests/filters/gprof.out \
	tests/filters/lcov.example tests/filters/lcov.out \
	tests/filters/llvm-cov.example tests/filters/llvm-cov.out \
	tests/filters/pprof.example tests/filters/pprof.out \
	tests/filters/speedscope.example tests/filters/speedscope.out \
	tests/filters/table.example tests/filters/table.out \
	tests/filters/perf.example tests/filters/perf.out tests/filters/perf-script.example tests/filters/perf-script.out \
	tests/filters/callgrind.example tests/filters/callgrind.out tests/filters/cachegrind.example tests/filters/cachegrind.out \
	tests/filters/profile.example tests/filters/profile.out tests/filters/covered.c
EXTRA_DIST += \
	tests/filters/caliper.example tests/filters/caliper.out tests/corpus/filter/caliper tests/corpus/filter/caliper-records \
	tests/filters/likwid.example tests/filters/likwid.out tests/corpus/filter/likwid \
	tests/filters/papi.example tests/filters/papi.out tests/corpus/filter/papi
FUZZERS += %D%/hpctoolkit_fuzz
%C%_hpctoolkit_fuzz_SOURCES = %D%/hpctoolkit_fuzz.c
%C%_hpctoolkit_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_hpctoolkit_fuzz_LDADD = $(LIBFUZZER) $(FILTERS_LDADD)
EXTRA_DIST += \
	tests/filters/hpctoolkit.example tests/filters/hpctoolkit.out tests/filters/hpctoolkit.py tests/corpus/filter/hpctoolkit tests/corpus/hpctoolkit/heat \
	tests/filters/hpctoolkit-database/meta.db tests/filters/hpctoolkit-database/profile.db tests/filters/hpctoolkit-database/damaged
EXTRA_DIST += tests/bench/import.sh
dist_check_SCRIPTS += tests/build/four-sources.sh tests/filters/tools.sh
