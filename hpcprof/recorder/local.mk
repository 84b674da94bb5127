# SPDX-License-Identifier: BSD-3-Clause
# ---- the recorder: in the measured program, on its own (no other folder, no library but libc) ------------------
RECORDER_SOURCES = hpcprof/format/format.h %D%/recorder.h %D%/protocol.h \
	%D%/base/base.h %D%/base/state.h %D%/base/syscalls.h %D%/base/interpose.h %D%/base/bytes.c %D%/base/config.c %D%/base/identity.c \
	%D%/base/memory.c %D%/base/private_fds.c %D%/base/state.c %D%/base/system.c \
	%D%/unwind/unwind.h %D%/unwind/unwind.c %D%/unwind/rows.c %D%/unwind/objects.h %D%/unwind/objects.c \
	%D%/output/output.h %D%/output/counts.c %D%/output/file.c %D%/output/maps.c %D%/output/paths.h %D%/output/paths.c %D%/output/queue.c \
	%D%/sampling/sampling.h %D%/sampling/interrupted_syscalls.c %D%/sampling/papi.c %D%/sampling/perf.c %D%/sampling/regions.c \
	%D%/sampling/signals.c %D%/sampling/timers.c \
	%D%/process/process.h %D%/process/environment.c %D%/process/main.c %D%/process/threads.c %D%/process/wrap.c

noinst_PROGRAMS += libhpcview-record.so
modules_DATA += libhpcview-record.so
libhpcview_record_so_SOURCES = $(RECORDER_SOURCES)
# No sanitizer in here: it is loaded into programs that have none.
libhpcview_record_so_CFLAGS = -std=gnu11 -fPIC -fvisibility=hidden $(HPCVIEW_CFLAGS)
libhpcview_record_so_LDFLAGS = -shared -Wl,-z,defs
libhpcview_record_so_LDADD =

# The same for static programs: the linker's --wrap instead of interposition (link-flags).
pkglib_LIBRARIES = libhpcview-record.a
libhpcview_record_a_SOURCES = $(RECORDER_SOURCES) %D%/process/static_note.c
libhpcview_record_a_CPPFLAGS = $(AM_CPPFLAGS) -DHPCREC_STATIC
libhpcview_record_a_CFLAGS = -std=gnu11 -fvisibility=hidden $(HPCVIEW_CFLAGS)

include_HEADERS += %D%/include/hpcview.h
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = %D%/include/hpcview.pc
dist_pkgdata_DATA = share/static-flags
fortrandir = $(pkgdatadir)/fortran
dist_fortran_DATA = share/fortran/hpcview.f90

# The unwinder's rows and walk work outside of the recorder too.
UNWINDER_SOURCES = %D%/unwind/unwind.h %D%/unwind/unwind.c %D%/unwind/rows.c %D%/base/memory.c
check_PROGRAMS += %D%/unwind/unwind_test
TESTS += %D%/unwind/unwind_test
%C%_unwind_unwind_test_SOURCES = %D%/unwind/unwind_test.c tests/tap.h $(UNWINDER_SOURCES)
%C%_unwind_unwind_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/process/threads_test
TESTS += %D%/process/threads_test
EXTRA_DIST += tests/record/threads.cases
%C%_process_threads_test_SOURCES = %D%/process/threads_test.c tests/fakes/fake_process.h tests/tap.h tests/cases.h tests/steps.h %D%/base/state.c %D%/base/memory.c %D%/output/queue.c %D%/sampling/regions.c %D%/process/threads.c
%C%_process_threads_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_process.h
%C%_process_threads_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_process_threads_test_LDADD = support/libsupport.a $(ZLIB_LIBS)
check_PROGRAMS += %D%/output/maps_test
TESTS += %D%/output/maps_test
EXTRA_DIST += tests/record/maps.cases
%C%_output_maps_test_SOURCES = %D%/output/maps_test.c tests/fakes/fake_loader.h tests/chance.h tests/guarded.h tests/tap.h tests/cases.h %D%/output/maps.c %D%/base/memory.c
%C%_output_maps_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_loader.h
%C%_output_maps_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_output_maps_test_LDADD = support/libsupport.a $(ZLIB_LIBS)
check_PROGRAMS += %D%/sampling/perf_test
TESTS += %D%/sampling/perf_test
EXTRA_DIST += tests/record/perf.cases
%C%_sampling_perf_test_SOURCES = %D%/sampling/perf_test.c tests/fakes/fake_perf.h tests/tap.h tests/cases.h tests/steps.h %D%/sampling/perf.c
%C%_sampling_perf_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_perf.h
%C%_sampling_perf_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_sampling_perf_test_LDADD = support/libsupport.a $(ZLIB_LIBS)
check_PROGRAMS += %D%/unwind/objects_test
TESTS += %D%/unwind/objects_test
%C%_unwind_objects_test_SOURCES = %D%/unwind/objects_test.c tests/fakes/fake_loader.h tests/tap.h tests/chance.h tests/guarded.h %D%/unwind/objects.c %D%/unwind/rows.c %D%/base/memory.c
%C%_unwind_objects_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_loader.h
%C%_unwind_objects_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/unwind/random_test
TESTS += %D%/unwind/random_test
%C%_unwind_random_test_SOURCES = %D%/unwind/random_test.c tests/tap.h tests/chance.h $(UNWINDER_SOURCES)
%C%_unwind_random_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/output/counts_test
TESTS += %D%/output/counts_test
%C%_output_counts_test_SOURCES = %D%/output/counts_test.c tests/fakes/fake_loader.h tests/tap.h tests/chance.h tests/guarded.h %D%/output/counts.c %D%/base/memory.c
%C%_output_counts_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_loader.h
%C%_output_counts_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/recorder_test
TESTS += %D%/recorder_test
%C%_recorder_test_SOURCES = %D%/recorder_test.c tests/tap.h %D%/base/private_fds.c %D%/base/config.c %D%/base/state.c %D%/output/counts.c %D%/process/environment.c %D%/output/file.c %D%/output/queue.c %D%/sampling/regions.c \
	%D%/output/maps.c %D%/base/memory.c %D%/sampling/perf.c %D%/base/system.c %D%/process/threads.c
%C%_recorder_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_recorder_test_LDADD = hpcprof/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)
check_PROGRAMS += %D%/output/paths_test
TESTS += %D%/output/paths_test
%C%_output_paths_test_SOURCES = %D%/output/paths_test.c tests/tap.h %D%/output/paths.c %D%/base/memory.c
%C%_output_paths_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/base/bytes_test
TESTS += %D%/base/bytes_test
%C%_base_bytes_test_SOURCES = %D%/base/bytes_test.c tests/chance.h tests/guarded.h tests/tap.h %D%/base/bytes.c
%C%_base_bytes_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/process/environment_test
TESTS += %D%/process/environment_test
%C%_process_environment_test_SOURCES = %D%/process/environment_test.c tests/tap.h %D%/process/environment.c %D%/base/memory.c
%C%_process_environment_test_CPPFLAGS = $(AM_CPPFLAGS) -Dsyscall=fake_syscall -Duname=fake_uname -Dreadlink=fake_readlink -Dgetenv=fake_getenv -Dsched_getaffinity=fake_sched_getaffinity
%C%_process_environment_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_process_environment_test_LDADD = support/libsupport.a $(ZLIB_LIBS)
check_PROGRAMS += %D%/base/system_test
TESTS += %D%/base/system_test
%C%_base_system_test_SOURCES = %D%/base/system_test.c tests/fixtures/recorded_calls.h tests/chance.h tests/tap.h %D%/base/system.c
%C%_base_system_test_CPPFLAGS = $(AM_CPPFLAGS) -Dsyscall=fake_syscall -Dgetrlimit=fake_getrlimit
%C%_base_system_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/sampling/samplers_test
TESTS += %D%/sampling/samplers_test
%C%_sampling_samplers_test_SOURCES = %D%/sampling/samplers_test.c tests/fixtures/recorded_calls.h tests/tap.h %D%/sampling/papi.c %D%/sampling/timers.c
%C%_sampling_samplers_test_CPPFLAGS = $(AM_CPPFLAGS) -Ddlopen=fake_dlopen -Ddlsym=fake_dlsym
%C%_sampling_samplers_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/process/wrap_test
TESTS += %D%/process/wrap_test
%C%_process_wrap_test_SOURCES = %D%/process/wrap_test.c tests/fakes/fake_libc.h tests/tap.h %D%/process/wrap.c %D%/sampling/signals.c %D%/sampling/interrupted_syscalls.c %D%/base/bytes.c %D%/base/memory.c
%C%_process_wrap_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_libc.h
%C%_process_wrap_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/process/main_test
TESTS += %D%/process/main_test
EXTRA_DIST += tests/record/main.cases
%C%_process_main_test_SOURCES = %D%/process/main_test.c tests/fakes/fake_start.h tests/tap.h tests/cases.h tests/steps.h %D%/process/main.c %D%/base/config.c %D%/base/identity.c %D%/base/memory.c %D%/base/state.c
%C%_process_main_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_start.h
%C%_process_main_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_process_main_test_LDADD = support/libsupport.a $(ZLIB_LIBS)
FUZZERS += %D%/unwind/unwind_fuzz
check_PROGRAMS += %D%/unwind/unwind_fuzz
%C%_unwind_unwind_fuzz_SOURCES = %D%/unwind/unwind_fuzz.c $(UNWINDER_SOURCES)
%C%_unwind_unwind_fuzz_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_unwind_unwind_fuzz_LDADD = $(LIBFUZZER)
%C%_unwind_unwind_fuzz_LDFLAGS = $(FUZZER_FLAGS)

EXTRA_DIST += \
	tests/corpus/unwind/aarch64 \
	tests/corpus/unwind/aarch64-signal \
	tests/corpus/unwind/advance-beyond \
	tests/corpus/unwind/cie-of-nothing \
	tests/corpus/unwind/damaged-00 \
	tests/corpus/unwind/damaged-01 \
	tests/corpus/unwind/damaged-02 \
	tests/corpus/unwind/damaged-03 \
	tests/corpus/unwind/damaged-04 \
	tests/corpus/unwind/damaged-05 \
	tests/corpus/unwind/damaged-06 \
	tests/corpus/unwind/damaged-07 \
	tests/corpus/unwind/damaged-08 \
	tests/corpus/unwind/damaged-09 \
	tests/corpus/unwind/damaged-10 \
	tests/corpus/unwind/damaged-11 \
	tests/corpus/unwind/debug-frame \
	tests/corpus/unwind/overlapping \
	tests/corpus/unwind/restore-without-remember \
	tests/corpus/unwind/self-referring-cfa \
	tests/corpus/unwind/wide-length \
	tests/corpus/unwind/x86-64

# Contents of /proc/self/maps, and of a thread's ring: each with a fake environment from the target.
FUZZERS += %D%/output/maps_fuzz %D%/sampling/ring_fuzz
check_PROGRAMS += %D%/output/maps_fuzz %D%/sampling/ring_fuzz
%C%_output_maps_fuzz_SOURCES = %D%/output/maps_fuzz.c %D%/output/maps.c %D%/base/memory.c
%C%_output_maps_fuzz_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_output_maps_fuzz_LDADD = $(LIBFUZZER)
%C%_output_maps_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_sampling_ring_fuzz_SOURCES = %D%/sampling/ring_fuzz.c %D%/sampling/perf.c %D%/output/paths.h %D%/output/paths.c $(UNWINDER_SOURCES)
%C%_sampling_ring_fuzz_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_sampling_ring_fuzz_LDADD = $(LIBFUZZER)
%C%_sampling_ring_fuzz_LDFLAGS = $(FUZZER_FLAGS)
EXTRA_DIST += \
	tests/corpus/maps/backslash-without-octal \
	tests/corpus/maps/cut-lines \
	tests/corpus/maps/elf32 \
	tests/corpus/maps/loaded-and-gone \
	tests/corpus/maps/long-name \
	tests/corpus/maps/many-headers \
	tests/corpus/maps/mapped-again \
	tests/corpus/maps/no-headers \
	tests/corpus/maps/no-order \
	tests/corpus/maps/not-elf \
	tests/corpus/maps/note-beyond-end \
	tests/corpus/maps/program \
	tests/corpus/ring/by-frequency \
	tests/corpus/ring/call-chain-of-many \
	tests/corpus/ring/head-behind-tail \
	tests/corpus/ring/head-far-ahead \
	tests/corpus/ring/not-measuring \
	tests/corpus/ring/one-event \
	tests/corpus/ring/path-cut \
	tests/corpus/ring/path-short \
	tests/corpus/ring/path-stack-beyond-record \
	tests/corpus/ring/path-without-registers \
	tests/corpus/ring/paths \
	tests/corpus/ring/short-records \
	tests/corpus/ring/size-beyond-end \
	tests/corpus/ring/size-not-of-eights \
	tests/corpus/ring/size-of-nothing \
	tests/corpus/ring/tail-is-odd \
	tests/corpus/ring/three-events \
	tests/corpus/ring/wraps

# ---- each situation a program may get into, recorded for real -------------------------------------------------
dist_check_SCRIPTS += tests/record/situations.sh tests/record/zoo.sh tests/record/sampler_agree.sh tests/record/misuse.sh tests/record/rules.sh tests/record/forbidden.sh tests/record/hardware.sh
EXTRA_DIST += \
	tests/record/programs/burn.h tests/record/programs/clones.c tests/record/programs/closes.c tests/record/programs/daemon.c tests/record/programs/execs.c \
	tests/record/programs/exits.c tests/record/programs/forbids.c tests/record/programs/forks.c tests/record/programs/generated.c \
	tests/record/programs/killed.c \
	tests/record/programs/library.c tests/record/programs/main_leaves_first.c tests/record/programs/many_threads.c \
	tests/record/programs/moves.c tests/record/programs/namespaces.c tests/record/programs/openmp.c \
	tests/record/programs/own_timer.c tests/record/programs/paced.c tests/record/programs/ranks.c tests/record/programs/raw_ends.c tests/record/programs/reads.c tests/record/programs/regions.c \
	tests/record/programs/regions.cpp tests/record/programs/regions.f90 tests/record/programs/reload.c \
	tests/record/programs/shares.c tests/record/programs/signals.c tests/record/programs/spawns.c tests/record/programs/threads.c tests/record/programs/traces.c tests/record/programs/uring.c \
	tests/record/programs/waits.c tests/record/programs/workers.c tests/bench/record.sh

# ---- call paths --------------------------------------------------------------------------------------------------
dist_check_SCRIPTS += tests/paths/limit.sh tests/paths/known.sh tests/paths/real.sh tests/paths/aarch64.sh
check_PROGRAMS += tests/paths/dump
tests_paths_dump_SOURCES = tests/paths/dump.c
tests_paths_dump_LDADD = hpcprof/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)
EXTRA_DIST += tests/paths/perf.sh tests/paths/known.awk tests/paths/programs/known.h tests/paths/programs/known.c tests/paths/programs/calls.c \
	tests/paths/programs/calls.cc tests/paths/programs/tasks.c tests/paths/programs/plug.c tests/paths/programs/plugs.c \
	tests/paths/programs/solve.f90 tests/paths/programs/names.c tests/paths/programs/many.c \
	tests/paths/programs/astray.c tests/paths/programs/resumed.cc tests/bench/paths.sh

# ---- inside measured programs: the recorder, and in front of it barriers and waits -------------------------------
noinst_PROGRAMS += libhpcview-record-phases.so
modules_DATA += libhpcview-record-phases.so
libhpcview_record_phases_so_SOURCES = $(RECORDER_SOURCES) phases/tables.h %D%/barriers/barriers.h %D%/barriers/registration.c %D%/barriers/core.c %D%/barriers/sites.c %D%/barriers/episodes.c %D%/barriers/barrier.c %D%/barriers/teams.c \
	%D%/barriers/write.c %D%/barriers/notify.c %D%/barriers/pthreads.c %D%/barriers/real_symbol.c %D%/barriers/gomp.c %D%/barriers/ompt.c %D%/barriers/mpi.c
libhpcview_record_phases_so_CFLAGS = $(libhpcview_record_so_CFLAGS)
libhpcview_record_phases_so_LDFLAGS = $(libhpcview_record_so_LDFLAGS)
libhpcview_record_phases_so_LDADD =

check_PROGRAMS += %D%/barriers/barrier_test
TESTS += %D%/barriers/barrier_test
%C%_barriers_barrier_test_SOURCES = %D%/barriers/barrier_test.c tests/fakes/fake_clock.h tests/fakes/fake_recorder_memory.h tests/chance.h tests/guarded.h tests/tap.h %D%/barriers/sites.c %D%/barriers/episodes.c %D%/barriers/barrier.c
%C%_barriers_barrier_test_CPPFLAGS = $(AM_CPPFLAGS) -Dsyscall=fake_syscall -include $(top_srcdir)/tests/fakes/fake_clock.h
%C%_barriers_barrier_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)

check_PROGRAMS += %D%/barriers/write_test
TESTS += %D%/barriers/write_test
%C%_barriers_write_test_SOURCES = %D%/barriers/write_test.c tests/chance.h tests/guarded.h tests/tap.h %D%/barriers/write.c %D%/base/memory.c
%C%_barriers_write_test_LDADD = support/libsupport.a $(ZLIB_LIBS)

check_PROGRAMS += %D%/barriers/teams_test
TESTS += %D%/barriers/teams_test
%C%_barriers_teams_test_SOURCES = %D%/barriers/teams_test.c tests/fakes/fake_clock.h tests/fakes/fake_recorder_memory.h tests/chance.h tests/guarded.h tests/tap.h %D%/barriers/teams.c
%C%_barriers_teams_test_CPPFLAGS = $(AM_CPPFLAGS) -Dsyscall=fake_syscall -include $(top_srcdir)/tests/fakes/fake_clock.h

check_PROGRAMS += %D%/barriers/notify_test
TESTS += %D%/barriers/notify_test
%C%_barriers_notify_test_SOURCES = %D%/barriers/notify_test.c tests/fakes/fake_clock.h tests/tap.h %D%/barriers/notify.c %D%/base/memory.c
%C%_barriers_notify_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_clock.h

check_PROGRAMS += %D%/barriers/mpi_test
TESTS += %D%/barriers/mpi_test
%C%_barriers_mpi_test_SOURCES = %D%/barriers/mpi_test.c tests/fakes/fake_clock.h tests/chance.h tests/tap.h %D%/barriers/mpi.c %D%/base/memory.c
%C%_barriers_mpi_test_CPPFLAGS = $(AM_CPPFLAGS) -Ddlsym=fake_dlsym -include $(top_srcdir)/tests/fakes/fake_clock.h

# (its dlsym is of its own, which sanitizers would ask)
if !ASAN
check_PROGRAMS += %D%/barriers/openmp_test
TESTS += %D%/barriers/openmp_test
endif
%C%_barriers_openmp_test_SOURCES = %D%/barriers/openmp_test.c tests/tap.h %D%/barriers/gomp.c %D%/barriers/ompt.c

check_PROGRAMS += %D%/barriers/pthreads_test
TESTS += %D%/barriers/pthreads_test
%C%_barriers_pthreads_test_SOURCES = %D%/barriers/pthreads_test.c tests/chance.h tests/tap.h %D%/barriers/pthreads.c %D%/barriers/core.c %D%/barriers/real_symbol.c %D%/base/memory.c
