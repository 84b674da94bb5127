# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libphases.a
%C%_libphases_a_SOURCES = %D%/phases.h %D%/tables.h %D%/samples.c %D%/finish.c %D%/compare.c %D%/barrier_log.c

check_PROGRAMS += %D%/finish_test
TESTS += %D%/finish_test
%C%_finish_test_SOURCES = %D%/finish_test.c tests/fakes/fake_tables.h tests/guarded.h tests/tap.h $(%C%_libphases_a_SOURCES)
%C%_finish_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_tables.h
%C%_finish_test_LDADD = hpcprof/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)

# bloop's functions are the test's own
check_PROGRAMS += %D%/barrier_log_test
TESTS += %D%/barrier_log_test
%C%_barrier_log_test_SOURCES = %D%/barrier_log_test.c %D%/barrier_log.c bloop/symbolizer.c tests/tap.h
%C%_barrier_log_test_CPPFLAGS = $(AM_CPPFLAGS) -Dbloop_open=fake_open -Dbloop_scopes_at=fake_scopes_at -Dbloop_close=fake_close
%C%_barrier_log_test_LDADD = $(BLOOP_LDADD)

dist_check_SCRIPTS += tests/phases/recorded.sh tests/phases/hangs.sh tests/phases/odd.sh tests/phases/paper.sh tests/phases/page.sh
EXTRA_DIST += tests/phases/programs/planned.h tests/phases/programs/pthreads.c tests/phases/programs/openmp.c \
	tests/phases/programs/own.c tests/phases/programs/hangs.c tests/phases/programs/mpi.f90 tests/phases/programs/mpi.c \
	tests/phases/programs/odd.c tests/phases/programs/odd_openmp.c tests/phases/lib.sh tests/phases/planned.sh \
	tests/phases/programs/radix.c tests/phases/programs/lu.c tests/phases/programs/water.c tests/phases/programs/passages.c \
	tests/phases/page.mjs tests/bench/phases.sh
