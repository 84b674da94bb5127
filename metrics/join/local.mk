# SPDX-License-Identifier: BSD-3-Clause
metrics_libmetrics_a_SOURCES += \
	%D%/join.h %D%/attribution_report.c %D%/build.c %D%/calls.c %D%/correlate.c %D%/environment.c %D%/mpi.c %D%/experiment.c \
	%D%/finished_run.c %D%/order.c %D%/sources.c %D%/start_config.c %D%/statistics.c

check_PROGRAMS += %D%/experiment_test %D%/conserve_test %D%/sources_test
TESTS += %D%/experiment_test %D%/conserve_test %D%/sources_test
%C%_experiment_test_SOURCES = %D%/experiment_test.c tests/fixtures/experiment_outline.h tests/tap.h
%C%_experiment_test_LDADD = $(METRICS_LDADD)
%C%_conserve_test_SOURCES = %D%/conserve_test.c tests/tap.h
%C%_conserve_test_LDADD = $(METRICS_LDADD)
%C%_sources_test_SOURCES = %D%/sources_test.c tests/cases.h tests/chance.h tests/tap.h
%C%_sources_test_LDADD = $(METRICS_LDADD)
EXTRA_DIST += tests/print/sources.cases
