# SPDX-License-Identifier: BSD-3-Clause
metrics_libmetrics_a_SOURCES += \
	%D%/model.h %D%/anonymize.c %D%/check.c %D%/code_tables.c %D%/compare.c %D%/derived.c %D%/lookup.c \
	%D%/source_identity.c %D%/thread_values.c %D%/trees.c %D%/values.c

check_PROGRAMS += %D%/anonymize_test
TESTS += %D%/anonymize_test
%C%_anonymize_test_SOURCES = %D%/anonymize_test.c tests/chance.h tests/tap.h
%C%_anonymize_test_LDADD = $(METRICS_LDADD)
