# SPDX-License-Identifier: BSD-3-Clause
htmlgen_libhtmlgen_a_SOURCES += %D%/write.h %D%/write.c %D%/encode.c %D%/sources.c

check_PROGRAMS += %D%/write_test
TESTS += %D%/write_test
%C%_write_test_SOURCES = %D%/write_test.c tests/fixtures/sample_experiments.c tests/fixtures/sample_experiments.h tests/chance.h tests/tap.h
%C%_write_test_LDADD = $(HTMLGEN_TEST_LIBS)
