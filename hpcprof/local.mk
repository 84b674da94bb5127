noinst_LIBRARIES += %D%/libhpcprof.a
%C%_libhpcprof_a_SOURCES = %D%/hpcprof.h %D%/hpcprof_int.h %D%/format.h %D%/table.c %D%/read.c %D%/write.c \
	%D%/events.h %D%/events.c %D%/record.c %D%/recorder/protocol.h

check_PROGRAMS += %D%/read_test
TESTS += %D%/read_test
%C%_read_test_SOURCES = %D%/read_test.c tests/tap.h
%C%_read_test_LDADD = %D%/libhpcprof.a support/libsupport.a

# ---- the recorder: in the measured program, on its own (no other room, no library but libc) ------------------
RECORDER_SOURCES = \
	%D%/recorder/rec.h %D%/recorder/real.h %D%/recorder/protocol.h %D%/recorder/config.c %D%/recorder/counts.c \
	%D%/recorder/facts.c %D%/recorder/file.c %D%/recorder/main.c %D%/recorder/maps.c %D%/recorder/memory.c \
	%D%/recorder/papi.c %D%/recorder/perf.c %D%/recorder/signals.c %D%/recorder/system.c %D%/recorder/threads.c \
	%D%/recorder/timers.c %D%/recorder/wrap.c

pkglib_LTLIBRARIES += libhpcview-record.la
libhpcview_record_la_SOURCES = $(RECORDER_SOURCES)
# No sanitizer in here: it lives in programs that have none.
libhpcview_record_la_CFLAGS = -std=gnu11 -fvisibility=hidden $(HPCVIEW_CFLAGS)
libhpcview_record_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,defs
