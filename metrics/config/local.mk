# SPDX-License-Identifier: BSD-3-Clause
metrics_libmetrics_a_SOURCES += \
	%D%/config.h %D%/config_reader.h %D%/config.c %D%/config_elements.c %D%/config_hpcview3.c %D%/config_read.c

check_PROGRAMS += %D%/config_test
TESTS += %D%/config_test
%C%_config_test_SOURCES = %D%/config_test.c tests/cases.h tests/tap.h
%C%_config_test_LDADD = $(METRICS_LDADD)
check_PROGRAMS += %D%/config_fuzz
FUZZERS += %D%/config_fuzz
%C%_config_fuzz_SOURCES = %D%/config_fuzz.c
%C%_config_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_config_fuzz_LDADD = $(LIBFUZZER) $(METRICS_LDADD)
EXTRA_DIST += tests/corpus/config tests/print/configurations.cases
