# SPDX-License-Identifier: BSD-3-Clause
metrics_libmetrics_a_SOURCES += \
	%D%/report.h %D%/print.c %D%/print_calls.c %D%/print_code.c %D%/print_data.c %D%/print_diff.c %D%/print_memory.c %D%/print_paths.c \
	%D%/print_places.c %D%/print_rows.c %D%/print_table.c %D%/print_text.c %D%/print_tree.c

check_PROGRAMS += %D%/print_test
TESTS += %D%/print_test
%C%_print_test_SOURCES = %D%/print_test.c tests/fixtures/experiment_outline.h tests/fixtures/sample_experiments.c tests/fixtures/sample_experiments.h tests/fixtures/outline.c tests/fixtures/outline.h tests/cases.h tests/chance.h tests/elf.h tests/tap.h
%C%_print_test_LDADD = $(ALL_LDADD)
EXTRA_DIST += tests/print/print.cases tests/print/built.cases tests/print/outlines.cases
