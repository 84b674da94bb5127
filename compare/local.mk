# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libcompare.a
%C%_libcompare_a_SOURCES = %D%/compare.h %D%/statistics.c %D%/pairs.c %D%/scopes.c %D%/report.c

check_PROGRAMS += %D%/compare_test
TESTS += %D%/compare_test
%C%_compare_test_SOURCES = %D%/compare_test.c tests/tap.h
%C%_compare_test_LDADD = compare/libcompare.a $(METRICS_LDADD)
