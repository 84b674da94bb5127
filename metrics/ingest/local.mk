# SPDX-License-Identifier: BSD-3-Clause
metrics_libmetrics_a_SOURCES += \
	%D%/columns_int.h %D%/ingest.h %D%/columns.c %D%/columns_compared.c %D%/columns_computed.c %D%/columns_measured.c \
	%D%/columns_of_loops.c %D%/columns_statistics.c %D%/correlation.c %D%/event_columns.c %D%/ingest.c %D%/loop_counts.c \
	%D%/modules.c %D%/tables.c

check_PROGRAMS += %D%/ingest_test %D%/columns_test %D%/modules_test
TESTS += %D%/ingest_test %D%/columns_test %D%/modules_test
%C%_ingest_test_SOURCES = %D%/ingest_test.c tests/fixtures/experiment_outline.h tests/ranks.h tests/tap.h
%C%_ingest_test_LDADD = $(METRICS_LDADD)
%C%_columns_test_SOURCES = %D%/columns_test.c tests/fixtures/experiment_outline.h tests/tap.h
%C%_columns_test_LDADD = $(METRICS_LDADD)
%C%_modules_test_SOURCES = %D%/modules_test.c tests/chance.h tests/tap.h
%C%_modules_test_LDADD = $(METRICS_LDADD)
