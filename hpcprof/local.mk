noinst_LIBRARIES += %D%/libhpcprof.a
%C%_libhpcprof_a_SOURCES = %D%/hpcprof.h %D%/hpcprof_int.h %D%/write_int.h %D%/format.h %D%/table.c %D%/merge.c %D%/ranks.c %D%/read_int.h %D%/read.c %D%/read_tables.c %D%/write.c %D%/write_tables.c \
	%D%/events.h %D%/events.c %D%/ended.h %D%/ended.c %D%/record.c %D%/recorder/protocol.h

check_PROGRAMS += %D%/read_test
TESTS += %D%/read_test
%C%_read_test_SOURCES = %D%/read_test.c tests/tap.h
%C%_read_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)

check_PROGRAMS += %D%/ranks_test
TESTS += %D%/ranks_test
%C%_ranks_test_SOURCES = %D%/ranks_test.c tests/tap.h tests/ranks.h
%C%_ranks_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)

check_PROGRAMS += %D%/drawn_test
TESTS += %D%/drawn_test
%C%_drawn_test_SOURCES = %D%/drawn_test.c tests/tap.h tests/chance.h
%C%_drawn_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)

check_PROGRAMS += %D%/ended_test
TESTS += %D%/ended_test
%C%_ended_test_SOURCES = %D%/ended_test.c tests/tap.h
%C%_ended_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)

check_PROGRAMS += %D%/events_test
TESTS += %D%/events_test
%C%_events_test_SOURCES = %D%/events_test.c tests/tap.h
%C%_events_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(PAPI_LIBS) $(PFM_LIBS) $(ZLIB_LIBS)

check_PROGRAMS += %D%/events_world_test
TESTS += %D%/events_world_test
%C%_events_world_test_SOURCES = %D%/events_world_test.c tests/tap.h
%C%_events_world_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)

check_PROGRAMS += %D%/record_test
TESTS += %D%/record_test
%C%_record_test_SOURCES = %D%/record_test.c tests/tap.h
%C%_record_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(PAPI_LIBS) $(PFM_LIBS) $(ZLIB_LIBS)

# ---- the recorder: in the measured program, on its own (no other room, no library but libc) ------------------
RECORDER_SOURCES = \
	%D%/recorder/rec.h %D%/recorder/real.h %D%/recorder/raw.h %D%/recorder/apart.c %D%/recorder/bytes.c %D%/recorder/protocol.h %D%/recorder/config.c %D%/recorder/counts.c \
	%D%/recorder/facts.c %D%/recorder/file.c %D%/recorder/main.c %D%/recorder/maps.c %D%/recorder/memory.c \
	%D%/recorder/papi.c %D%/recorder/perf.c %D%/recorder/signals.c %D%/recorder/system.c %D%/recorder/threads.c \
	%D%/recorder/timers.c %D%/recorder/waits.c %D%/recorder/wrap.c %D%/recorder/paths.h %D%/recorder/paths.c \
	%D%/recorder/unwind.h %D%/recorder/unwind.c %D%/recorder/unwind_rows.c %D%/recorder/unwind_objects.c

pkglib_LTLIBRARIES += libhpcview-record.la
libhpcview_record_la_SOURCES = $(RECORDER_SOURCES)
# No sanitizer in here: it lives in programs that have none.
libhpcview_record_la_CFLAGS = -std=gnu11 -fvisibility=hidden $(HPCVIEW_CFLAGS)
libhpcview_record_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,defs

# The same for static programs: the linker's --wrap in place of interposition (link-flags).
pkglib_LIBRARIES = libhpcview-record.a
libhpcview_record_a_SOURCES = $(RECORDER_SOURCES) %D%/recorder/note.c
libhpcview_record_a_CPPFLAGS = $(AM_CPPFLAGS) -DHPCREC_STATIC
libhpcview_record_a_CFLAGS = -std=gnu11 -fvisibility=hidden $(HPCVIEW_CFLAGS)

include_HEADERS += %D%/include/hpcview.h
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = %D%/hpcview.pc
dist_pkgdata_DATA = share/static-flags
fortrandir = $(pkgdatadir)/fortran
dist_fortran_DATA = share/fortran/hpcview.f90

# The unwinder's rows and walk work outside of the recorder too.
UNWINDER_SOURCES = %D%/recorder/unwind.h %D%/recorder/unwind.c %D%/recorder/unwind_rows.c %D%/recorder/memory.c
check_PROGRAMS += %D%/unwind_test
TESTS += %D%/unwind_test
%C%_unwind_test_SOURCES = %D%/unwind_test.c tests/tap.h $(UNWINDER_SOURCES)
%C%_unwind_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/threads_test
TESTS += %D%/threads_test
EXTRA_DIST += tests/record/threads.cases
%C%_threads_test_SOURCES = %D%/threads_test.c %D%/threads_world.h tests/tap.h tests/cases.h tests/steps.h %D%/recorder/threads.c %D%/recorder/memory.c
%C%_threads_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/threads_world.h
%C%_threads_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_threads_test_LDADD = support/libsupport.a $(ZLIB_LIBS)
check_PROGRAMS += %D%/maps_test
TESTS += %D%/maps_test
EXTRA_DIST += tests/record/maps.cases
%C%_maps_test_SOURCES = %D%/maps_test.c %D%/objects_world.h tests/chance.h tests/guarded.h tests/tap.h tests/cases.h %D%/recorder/maps.c %D%/recorder/memory.c
%C%_maps_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/objects_world.h
%C%_maps_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_maps_test_LDADD = support/libsupport.a $(ZLIB_LIBS)
check_PROGRAMS += %D%/perf_test
TESTS += %D%/perf_test
EXTRA_DIST += tests/record/perf.cases
%C%_perf_test_SOURCES = %D%/perf_test.c %D%/perf_world.h tests/tap.h tests/cases.h tests/steps.h %D%/recorder/perf.c
%C%_perf_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/perf_world.h
%C%_perf_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_perf_test_LDADD = support/libsupport.a $(ZLIB_LIBS)
check_PROGRAMS += %D%/objects_test
TESTS += %D%/objects_test
%C%_objects_test_SOURCES = %D%/objects_test.c %D%/objects_world.h tests/tap.h tests/chance.h tests/guarded.h %D%/recorder/unwind_objects.c %D%/recorder/unwind_rows.c %D%/recorder/memory.c
%C%_objects_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/objects_world.h
%C%_objects_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/unwind_drawn_test
TESTS += %D%/unwind_drawn_test
%C%_unwind_drawn_test_SOURCES = %D%/unwind_drawn_test.c tests/tap.h tests/chance.h $(UNWINDER_SOURCES)
%C%_unwind_drawn_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/counts_test
TESTS += %D%/counts_test
%C%_counts_test_SOURCES = %D%/counts_test.c %D%/objects_world.h tests/tap.h tests/chance.h tests/guarded.h %D%/recorder/counts.c %D%/recorder/memory.c
%C%_counts_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/objects_world.h
%C%_counts_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/recorder_test
TESTS += %D%/recorder_test
%C%_recorder_test_SOURCES = %D%/recorder_test.c tests/tap.h %D%/recorder/apart.c %D%/recorder/config.c %D%/recorder/counts.c %D%/recorder/facts.c %D%/recorder/file.c \
	%D%/recorder/maps.c %D%/recorder/memory.c %D%/recorder/perf.c %D%/recorder/system.c %D%/recorder/threads.c
%C%_recorder_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_recorder_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)
check_PROGRAMS += %D%/paths_test
TESTS += %D%/paths_test
%C%_paths_test_SOURCES = %D%/paths_test.c tests/tap.h %D%/recorder/paths.c %D%/recorder/memory.c
%C%_paths_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/bytes_test
TESTS += %D%/bytes_test
%C%_bytes_test_SOURCES = %D%/bytes_test.c tests/chance.h tests/guarded.h tests/tap.h %D%/recorder/bytes.c
%C%_bytes_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/facts_test
TESTS += %D%/facts_test
%C%_facts_test_SOURCES = %D%/facts_test.c tests/tap.h %D%/recorder/facts.c %D%/recorder/memory.c
%C%_facts_test_CPPFLAGS = $(AM_CPPFLAGS) -Dsyscall=world_syscall -Duname=world_uname -Dreadlink=world_readlink -Dgetenv=world_getenv -Dsched_getaffinity=world_sched_getaffinity
%C%_facts_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_facts_test_LDADD = support/libsupport.a $(ZLIB_LIBS)
check_PROGRAMS += %D%/system_test
TESTS += %D%/system_test
%C%_system_test_SOURCES = %D%/system_test.c %D%/test_told.h tests/chance.h tests/tap.h %D%/recorder/system.c
%C%_system_test_CPPFLAGS = $(AM_CPPFLAGS) -Dsyscall=world_syscall -Dgetrlimit=world_getrlimit
%C%_system_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/samplers_test
TESTS += %D%/samplers_test
%C%_samplers_test_SOURCES = %D%/samplers_test.c %D%/test_told.h tests/tap.h %D%/recorder/papi.c %D%/recorder/timers.c
%C%_samplers_test_CPPFLAGS = $(AM_CPPFLAGS) -Ddlopen=fake_dlopen -Ddlsym=fake_dlsym
%C%_samplers_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/wrap_test
TESTS += %D%/wrap_test
%C%_wrap_test_SOURCES = %D%/wrap_test.c %D%/wrap_world.h tests/tap.h %D%/recorder/wrap.c %D%/recorder/signals.c %D%/recorder/waits.c %D%/recorder/bytes.c %D%/recorder/memory.c
%C%_wrap_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/wrap_world.h
%C%_wrap_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += %D%/main_test
TESTS += %D%/main_test
EXTRA_DIST += tests/record/main.cases
%C%_main_test_SOURCES = %D%/main_test.c %D%/main_world.h tests/tap.h tests/cases.h tests/steps.h %D%/recorder/main.c %D%/recorder/config.c %D%/recorder/memory.c
%C%_main_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/main_world.h
%C%_main_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_main_test_LDADD = support/libsupport.a $(ZLIB_LIBS)
FUZZERS += %D%/unwind_fuzz
check_PROGRAMS += %D%/unwind_fuzz
%C%_unwind_fuzz_SOURCES = %D%/unwind_fuzz.c $(UNWINDER_SOURCES)
%C%_unwind_fuzz_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_unwind_fuzz_LDADD = $(LIBFUZZER)
%C%_unwind_fuzz_LDFLAGS = $(FUZZER_FLAGS)

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

# What stands in /proc/self/maps, and what stands in a thread's ring: each with a world around it that the target makes.
FUZZERS += %D%/maps_fuzz %D%/ring_fuzz
check_PROGRAMS += %D%/maps_fuzz %D%/ring_fuzz
%C%_maps_fuzz_SOURCES = %D%/maps_fuzz.c %D%/recorder/maps.c %D%/recorder/memory.c
%C%_maps_fuzz_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_maps_fuzz_LDADD = $(LIBFUZZER)
%C%_maps_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_ring_fuzz_SOURCES = %D%/ring_fuzz.c %D%/recorder/perf.c %D%/recorder/paths.h %D%/recorder/paths.c $(UNWINDER_SOURCES)
%C%_ring_fuzz_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)
%C%_ring_fuzz_LDADD = $(LIBFUZZER)
%C%_ring_fuzz_LDFLAGS = $(FUZZER_FLAGS)
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

FUZZERS += %D%/measurement_fuzz
check_PROGRAMS += %D%/measurement_fuzz
%C%_measurement_fuzz_SOURCES = %D%/measurement_fuzz.c
%C%_measurement_fuzz_LDADD = $(LIBFUZZER) %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)
%C%_measurement_fuzz_LDFLAGS = $(FUZZER_FLAGS)
EXTRA_DIST += \
	tests/corpus/measurement/count-of-nothing tests/corpus/measurement/cut tests/corpus/measurement/empty \
	tests/corpus/measurement/flipped tests/corpus/measurement/full tests/corpus/measurement/header-alone \
	tests/corpus/measurement/length-beyond-limit tests/corpus/measurement/parent-is-itself \
	tests/corpus/measurement/rows-beyond-bytes tests/corpus/measurement/string-beyond-end \
	tests/corpus/measurement/sums-overflow tests/corpus/measurement/two-processes tests/corpus/measurement/unknown-block

# ---- each situation a program may get into, recorded for real -------------------------------------------------
dist_check_SCRIPTS += tests/record/situations.sh tests/record/zoo.sh tests/record/sampler_agree.sh tests/record/misuse.sh tests/record/forbidden.sh tests/record/hardware.sh
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
