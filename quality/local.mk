# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libquality.a
%C%_libquality_a_SOURCES = %D%/quality.h %D%/quality_int.h %D%/quality.c %D%/body/body.h %D%/body/body.c %D%/body/address.c %D%/body/mix.c \
	%D%/body/cost.c %D%/body/bounds.c %D%/body/trips.c %D%/body/waits.c %D%/roles.c %D%/checks_int.h %D%/checks.c \
	%D%/checks_vectors.c %D%/checks_memory.c %D%/checks_ways.c %D%/remedies.c %D%/write.c %D%/listing.c %D%/models.c

check_PROGRAMS += %D%/loops_test
TESTS += %D%/loops_test
%C%_loops_test_SOURCES = %D%/loops_test.c bloop/binary_test.h tests/cases.h tests/elf.h tests/tap.h %D%/quality.c
%C%_loops_test_CPPFLAGS = $(AM_CPPFLAGS) -Dbloop_producer=fake_producer
%C%_loops_test_LDADD = $(QUALITY_LDADD)

check_PROGRAMS += %D%/drawn_test
TESTS += %D%/drawn_test
%C%_drawn_test_SOURCES = %D%/drawn_test.c bloop/binary_test.h tests/chance.h tests/elf.h tests/tap.h
%C%_drawn_test_LDADD = $(QUALITY_LDADD)
EXTRA_DIST += tests/quality/loops.cases
