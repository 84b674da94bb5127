# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libhpcprof.a
%C%_libhpcprof_a_SOURCES = %D%/hpcprof.h %D%/format/tables.h %D%/format/writer.h %D%/format/format.h %D%/format/table.c %D%/format/gather.c %D%/format/jobs.c %D%/format/merge.c %D%/format/ranks.c %D%/format/reader.h %D%/format/read.c %D%/format/read_tables.c %D%/format/write.c %D%/format/write_tables.c \
	%D%/launch/events.h %D%/launch/events.c %D%/launch/exit_status.h %D%/launch/exit_status.c %D%/launch/program.h %D%/launch/program.c %D%/launch/record.c %D%/recorder/protocol.h

check_PROGRAMS += %D%/format/read_test
TESTS += %D%/format/read_test
%C%_format_read_test_SOURCES = %D%/format/read_test.c tests/tap.h
%C%_format_read_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)

check_PROGRAMS += %D%/format/ranks_test
TESTS += %D%/format/ranks_test
%C%_format_ranks_test_SOURCES = %D%/format/ranks_test.c tests/tap.h tests/ranks.h
%C%_format_ranks_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)

check_PROGRAMS += %D%/format/random_test
TESTS += %D%/format/random_test
%C%_format_random_test_SOURCES = %D%/format/random_test.c tests/tap.h tests/chance.h
%C%_format_random_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)

check_PROGRAMS += %D%/launch/exit_status_test
TESTS += %D%/launch/exit_status_test
%C%_launch_exit_status_test_SOURCES = %D%/launch/exit_status_test.c tests/tap.h
%C%_launch_exit_status_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)

check_PROGRAMS += %D%/launch/events_test
TESTS += %D%/launch/events_test
%C%_launch_events_test_SOURCES = %D%/launch/events_test.c tests/tap.h
%C%_launch_events_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(PAPI_LIBS) $(PFM_LIBS) $(ZLIB_LIBS)

check_PROGRAMS += %D%/launch/events_fake_test
TESTS += %D%/launch/events_fake_test
%C%_launch_events_fake_test_SOURCES = %D%/launch/events_fake_test.c tests/tap.h
%C%_launch_events_fake_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)

check_PROGRAMS += %D%/launch/record_test
TESTS += %D%/launch/record_test
%C%_launch_record_test_SOURCES = %D%/launch/record_test.c tests/tap.h
%C%_launch_record_test_LDADD = %D%/libhpcprof.a support/libsupport.a $(PAPI_LIBS) $(PFM_LIBS) $(ZLIB_LIBS)

FUZZERS += %D%/format/measurement_fuzz
check_PROGRAMS += %D%/format/measurement_fuzz
%C%_format_measurement_fuzz_SOURCES = %D%/format/measurement_fuzz.c
%C%_format_measurement_fuzz_LDADD = $(LIBFUZZER) %D%/libhpcprof.a support/libsupport.a $(ZLIB_LIBS)
%C%_format_measurement_fuzz_LDFLAGS = $(FUZZER_FLAGS)
EXTRA_DIST += tests/corpus/measurement
