noinst_LIBRARIES += %D%/libfilters.a
%C%_libfilters_a_SOURCES = %D%/filters.h %D%/filters_int.h %D%/filters.c %D%/perf_script.c %D%/callgrind.c %D%/profile.c

check_PROGRAMS += %D%/filter_fuzz
FUZZERS += %D%/filter_fuzz
%C%_filter_fuzz_SOURCES = %D%/filter_fuzz.c
%C%_filter_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_filter_fuzz_LDADD = $(LIBFUZZER) %D%/libfilters.a hpcprof/libhpcprof.a support/libsupport.a $(XML2_LIBS) $(PAPI_LIBS)
EXTRA_DIST += \
	tests/corpus/filter/callgrind tests/corpus/filter/callgrind-bad-numbers tests/corpus/filter/perf-script \
	tests/corpus/filter/perf-script-overlaps tests/corpus/filter/profile tests/corpus/filter/profile-large-value
