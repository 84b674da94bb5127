noinst_LIBRARIES += %D%/libmhsim.a
%C%_libmhsim_a_SOURCES = %D%/mhsim.h %D%/aside.h %D%/aside.c %D%/engine.h %D%/engine.c %D%/cache.h %D%/cache.c %D%/full.h %D%/full.c %D%/lines.h %D%/lines.c %D%/state.h \
	%D%/store.h %D%/store.c %D%/machine.c \
	%D%/raw.h %D%/collect.h %D%/collect.c %D%/libraries.h %D%/libraries.c %D%/run.c

check_PROGRAMS += %D%/engine_test
TESTS += %D%/engine_test
%C%_engine_test_SOURCES = %D%/engine_test.c %D%/made_memory.h %D%/memory_world.h tests/tap.h %D%/store.c %D%/lines.c %D%/aside.c
%C%_engine_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/memory_world.h
%C%_engine_test_LDADD = %D%/libmhsim.a hpcprof/libhpcprof.a support/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS)

check_PROGRAMS += %D%/machine_test
TESTS += %D%/machine_test
%C%_machine_test_SOURCES = %D%/machine_test.c tests/tap.h
%C%_machine_test_LDADD = %D%/libmhsim.a hpcprof/libhpcprof.a support/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS)

check_PROGRAMS += %D%/collect_test
TESTS += %D%/collect_test
%C%_collect_test_SOURCES = %D%/collect_test.c tests/tap.h
%C%_collect_test_LDADD = %D%/libmhsim.a hpcprof/libhpcprof.a support/libsupport.a $(XML2_LIBS) $(IBERTY_LIBS) $(ZLIB_LIBS) -lm

check_PROGRAMS += %D%/run_test
TESTS += %D%/run_test
%C%_run_test_SOURCES = %D%/run_test.c tests/tap.h
%C%_run_test_LDADD = %D%/libmhsim.a hpcprof/libhpcprof.a support/libsupport.a $(XML2_LIBS) $(IBERTY_LIBS) $(ZLIB_LIBS) -lm

# ---- inside simulated programs: no other room, no library but libc ------------------------------------------------
INSIDE_SOURCES = %D%/mhsim.h %D%/raw.h %D%/aside.h %D%/aside.c %D%/engine.h %D%/engine.c %D%/cache.h %D%/cache.c %D%/full.h %D%/full.c %D%/lines.h %D%/lines.c %D%/state.h \
	%D%/store.h %D%/store.c %D%/inside.h %D%/inside.c \
	%D%/modules.h %D%/modules.c %D%/variables.h %D%/variables.c
# No sanitizer in here: it lives in programs that have none.
INSIDE_CFLAGS = -std=gnu11 -fvisibility=hidden $(HPCVIEW_CFLAGS) -fno-builtin

check_PROGRAMS += %D%/inside_test
TESTS += %D%/inside_test
%C%_inside_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/memory_world.h
%C%_inside_test_SOURCES = %D%/inside_test.c %D%/made_memory.h %D%/memory_world.h tests/chance.h tests/tap.h %D%/store.c %D%/modules.c %D%/variables.c
%C%_inside_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)

check_PROGRAMS += %D%/counting_test
TESTS += %D%/counting_test
%C%_counting_test_SOURCES = %D%/counting_test.c %D%/made_memory.h %D%/memory_world.h tests/chance.h tests/tap.h $(INSIDE_SOURCES)
%C%_counting_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/memory_world.h
%C%_counting_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)

# What hpcview-cc links programs with.
pkglib_LTLIBRARIES += libhpcview-simulate.la
libhpcview_simulate_la_SOURCES = $(INSIDE_SOURCES) %D%/hooks.c
libhpcview_simulate_la_CFLAGS = $(INSIDE_CFLAGS)
libhpcview_simulate_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,defs -Wl,-soname,libhpcview-simulate.so

wrappers = %D%/hpcview-cc %D%/hpcview-c++ %D%/hpcview-fc
bin_SCRIPTS = $(wrappers)
CLEANFILES += $(wrappers)
EXTRA_DIST += %D%/hpcview-cc.in %D%/heap_calls.inc
hooksdir = $(pkglibdir)
dist_hooks_DATA = %D%/hooks-x86_64.s %D%/hooks-aarch64.s
$(wrappers): %D%/hpcview-cc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && sed 's,[@]prefix[@],$(prefix),; s,[@]bindir[@],$(bindir),; s,[@]pkglibdir[@],$(pkglibdir),' $(srcdir)/%D%/hpcview-cc.in >$@.tmp && chmod 755 $@.tmp && mv $@.tmp $@

# (they stand in front of malloc and memcpy, as the sanitizers do)
if !ASAN
check_PROGRAMS += %D%/hooks_test %D%/qemu_test
TESTS += %D%/hooks_test %D%/qemu_test
endif
%C%_hooks_test_SOURCES = %D%/hooks_test.c %D%/inside_told.h tests/chance.h tests/tap.h %D%/hooks.c
%C%_hooks_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS) -fno-builtin
%C%_qemu_test_SOURCES = %D%/qemu_test.c %D%/inside_told.h %D%/decode.h %D%/qemu_api.h tests/chance.h tests/tap.h \
	%D%/qemu.c %D%/decode.c %D%/heap.c %D%/store.h %D%/store.c
%C%_qemu_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS) -fno-builtin
%C%_qemu_test_LDADD = $(ZYDIS_LIBS) $(CAPSTONE_LIBS)

# The plugin for QEMU, and what is preloaded into the programs that run there.
pkglib_LTLIBRARIES += libhpcview-simulate-qemu.la libhpcview-simulate-heap.la
libhpcview_simulate_qemu_la_SOURCES = $(INSIDE_SOURCES) %D%/decode.h %D%/decode.c %D%/qemu_api.h %D%/qemu.c
libhpcview_simulate_qemu_la_CFLAGS = $(INSIDE_CFLAGS)
libhpcview_simulate_qemu_la_LDFLAGS = -module -avoid-version -shared
libhpcview_simulate_qemu_la_LIBADD = $(ZYDIS_LIBS)
libhpcview_simulate_heap_la_SOURCES = %D%/raw.h %D%/heap.c
libhpcview_simulate_heap_la_CFLAGS = $(INSIDE_CFLAGS)
libhpcview_simulate_heap_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,defs

dist_check_SCRIPTS += tests/simulate/simulate.sh tests/simulate/sweep.sh
EXTRA_DIST += tests/simulate/programs/arrays.f90 tests/simulate/programs/avx512.c tests/simulate/programs/frames.c tests/simulate/programs/multiply.c \
	tests/simulate/programs/sharing.c tests/simulate/programs/table.c tests/simulate/programs/trouble.c tests/simulate/programs/words.cc \
	tests/bench/simulate.sh tests/bench/memory.c
