noinst_LIBRARIES += %D%/libphases.a
%C%_libphases_a_SOURCES = %D%/phases.h %D%/tables.h %D%/samples.c %D%/finish.c %D%/compare.c %D%/barrier_log.c

check_PROGRAMS += %D%/finish_test
TESTS += %D%/finish_test
%C%_finish_test_SOURCES = %D%/finish_test.c %D%/finish_world.h tests/guarded.h tests/tap.h $(%C%_libphases_a_SOURCES)
%C%_finish_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/finish_world.h
%C%_finish_test_LDADD = hpcprof/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)

# bloop's functions are the test's own
check_PROGRAMS += %D%/barrier_log_test
TESTS += %D%/barrier_log_test
%C%_barrier_log_test_SOURCES = %D%/barrier_log_test.c %D%/barrier_log.c bloop/symbolizer.c tests/tap.h
%C%_barrier_log_test_CPPFLAGS = $(AM_CPPFLAGS) -Dbloop_open=fake_open -Dbloop_scopes_at=fake_scopes_at -Dbloop_close=fake_close
%C%_barrier_log_test_LDADD = $(ROOM_LDADD)

# ---- inside measured programs: the recorder, and in front of it barriers and waits -------------------------------
pkglib_LTLIBRARIES += libhpcview-record-phases.la
libhpcview_record_phases_la_SOURCES = $(RECORDER_SOURCES) %D%/tables.h %D%/inside/inside.h %D%/inside/core.c %D%/inside/sites.c %D%/inside/episodes.c %D%/inside/meet.c %D%/inside/teams.c \
	%D%/inside/put.c %D%/inside/tell.c %D%/inside/pthreads.c %D%/inside/next.c %D%/inside/gomp.c %D%/inside/ompt.c %D%/inside/mpi.c
libhpcview_record_phases_la_CPPFLAGS = $(AM_CPPFLAGS) -DHPCREC_PHASES
libhpcview_record_phases_la_CFLAGS = $(libhpcview_record_la_CFLAGS)
libhpcview_record_phases_la_LDFLAGS = $(libhpcview_record_la_LDFLAGS)

dist_check_SCRIPTS += tests/phases/recorded.sh tests/phases/hangs.sh tests/phases/odd.sh tests/phases/paper.sh tests/phases/page.sh
EXTRA_DIST += tests/phases/programs/planned.h tests/phases/programs/pthreads.c tests/phases/programs/openmp.c \
	tests/phases/programs/own.c tests/phases/programs/hangs.c tests/phases/programs/mpi.f90 tests/phases/programs/mpi.c \
	tests/phases/programs/odd.c tests/phases/programs/odd_openmp.c tests/phases/lib.sh tests/phases/planned.sh \
	tests/phases/programs/radix.c tests/phases/programs/lu.c tests/phases/programs/water.c tests/phases/programs/passages.c \
	tests/phases/page.mjs tests/bench/phases.sh

check_PROGRAMS += %D%/meet_test
TESTS += %D%/meet_test
%C%_meet_test_SOURCES = %D%/meet_test.c %D%/inside_world.h %D%/test_maps.h tests/chance.h tests/guarded.h tests/tap.h %D%/inside/sites.c %D%/inside/episodes.c %D%/inside/meet.c
%C%_meet_test_CPPFLAGS = $(AM_CPPFLAGS) -DHPCREC_PHASES -Dsyscall=world_syscall -include $(top_srcdir)/%D%/inside_world.h
%C%_meet_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)

check_PROGRAMS += %D%/put_test
TESTS += %D%/put_test
%C%_put_test_SOURCES = %D%/put_test.c tests/chance.h tests/guarded.h tests/tap.h %D%/inside/put.c hpcprof/recorder/memory.c
%C%_put_test_CPPFLAGS = $(AM_CPPFLAGS) -DHPCREC_PHASES
%C%_put_test_LDADD = support/libsupport.a $(ZLIB_LIBS)

check_PROGRAMS += %D%/teams_test
TESTS += %D%/teams_test
%C%_teams_test_SOURCES = %D%/teams_test.c %D%/inside_world.h %D%/test_maps.h tests/chance.h tests/guarded.h tests/tap.h %D%/inside/teams.c
%C%_teams_test_CPPFLAGS = $(AM_CPPFLAGS) -DHPCREC_PHASES -Dsyscall=world_syscall -include $(top_srcdir)/%D%/inside_world.h

check_PROGRAMS += %D%/tell_test
TESTS += %D%/tell_test
%C%_tell_test_SOURCES = %D%/tell_test.c %D%/inside_world.h tests/tap.h %D%/inside/tell.c hpcprof/recorder/memory.c
%C%_tell_test_CPPFLAGS = $(AM_CPPFLAGS) -DHPCREC_PHASES -include $(top_srcdir)/%D%/inside_world.h

check_PROGRAMS += %D%/mpi_test
TESTS += %D%/mpi_test
%C%_mpi_test_SOURCES = %D%/mpi_test.c %D%/inside_world.h tests/chance.h tests/tap.h %D%/inside/mpi.c hpcprof/recorder/memory.c
%C%_mpi_test_CPPFLAGS = $(AM_CPPFLAGS) -DHPCREC_PHASES -Ddlsym=world_dlsym -include $(top_srcdir)/%D%/inside_world.h

# (its dlsym is of its own, which sanitizers would ask)
if !ASAN
check_PROGRAMS += %D%/openmp_test
TESTS += %D%/openmp_test
endif
%C%_openmp_test_SOURCES = %D%/openmp_test.c tests/tap.h %D%/inside/gomp.c %D%/inside/ompt.c
%C%_openmp_test_CPPFLAGS = $(AM_CPPFLAGS) -DHPCREC_PHASES

check_PROGRAMS += %D%/waits_test
TESTS += %D%/waits_test
%C%_waits_test_SOURCES = %D%/waits_test.c tests/chance.h tests/tap.h %D%/inside/pthreads.c %D%/inside/core.c %D%/inside/next.c hpcprof/recorder/memory.c
%C%_waits_test_CPPFLAGS = $(AM_CPPFLAGS) -DHPCREC_PHASES
