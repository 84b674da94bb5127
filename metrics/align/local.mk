# SPDX-License-Identifier: BSD-3-Clause
metrics_libmetrics_a_SOURCES += \
	%D%/align.h %D%/align_int.h %D%/align_clones.c %D%/align_files.c %D%/align_lines.c %D%/align_loops.c %D%/align_places.c \
	%D%/align_runs.c %D%/line_diff.c

check_PROGRAMS += %D%/line_diff_test
TESTS += %D%/line_diff_test
%C%_line_diff_test_SOURCES = %D%/line_diff_test.c tests/cases.h tests/chance.h tests/tap.h
%C%_line_diff_test_LDADD = $(METRICS_LDADD)
EXTRA_DIST += tests/compare/lines.cases
