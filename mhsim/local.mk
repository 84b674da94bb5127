# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libmhsim.a
%C%_libmhsim_a_SOURCES = %D%/mhsim.h %D%/engine/worker.h %D%/engine/worker.c %D%/engine/engine.h %D%/engine/engine.c %D%/engine/cache.h %D%/engine/cache.c %D%/engine/fully_assoc.h %D%/engine/fully_assoc.c %D%/engine/line_engine.h %D%/engine/line_engine.c %D%/engine/state.h \
	%D%/engine/mmap_store.h %D%/engine/mmap_store.c \
	%D%/shared_layout.h %D%/collect/collect.h %D%/collect/collect.c %D%/launch/libraries.h %D%/launch/libraries.c %D%/launch/run.c

check_PROGRAMS += %D%/engine/engine_test
TESTS += %D%/engine/engine_test
%C%_engine_engine_test_SOURCES = %D%/engine/engine_test.c tests/fakes/fake_mmap_memory.h tests/fakes/fake_mmap.h tests/tap.h %D%/engine/mmap_store.c %D%/engine/line_engine.c %D%/engine/worker.c
%C%_engine_engine_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_mmap.h
%C%_engine_engine_test_LDADD = %D%/libmhsim.a hpcprof/libhpcprof.a machines/libmachines.a support/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS)

check_PROGRAMS += %D%/collect/collect_test
TESTS += %D%/collect/collect_test
%C%_collect_collect_test_SOURCES = %D%/collect/collect_test.c tests/tap.h
%C%_collect_collect_test_LDADD = %D%/libmhsim.a hpcprof/libhpcprof.a machines/libmachines.a support/libsupport.a $(XML2_LIBS) $(IBERTY_LIBS) $(ZLIB_LIBS) -lm

check_PROGRAMS += %D%/launch/run_test
TESTS += %D%/launch/run_test
%C%_launch_run_test_SOURCES = %D%/launch/run_test.c tests/tap.h
%C%_launch_run_test_LDADD = %D%/libmhsim.a hpcprof/libhpcprof.a machines/libmachines.a support/libsupport.a $(XML2_LIBS) $(IBERTY_LIBS) $(ZLIB_LIBS) -lm

# ---- in simulated programs: no other folder, no library but libc ------------------------------------------------
RUNTIME_SOURCES = %D%/mhsim.h %D%/shared_layout.h %D%/engine/worker.h %D%/engine/worker.c %D%/engine/engine.h %D%/engine/engine.c %D%/engine/cache.h %D%/engine/cache.c %D%/engine/fully_assoc.h %D%/engine/fully_assoc.c %D%/engine/line_engine.h %D%/engine/line_engine.c %D%/engine/state.h \
	%D%/engine/mmap_store.h %D%/engine/mmap_store.c %D%/runtime/runtime.h %D%/runtime/runtime.c %D%/runtime/state.h %D%/runtime/access.c %D%/runtime/frames.c %D%/runtime/lock.c \
	%D%/runtime/objects.c %D%/runtime/state.c %D%/runtime/window.c \
	%D%/runtime/modules.h %D%/runtime/modules.c %D%/runtime/variables.h %D%/runtime/variables.c
# No sanitizer in here: it is loaded into programs that have none.
RUNTIME_CFLAGS = -std=gnu11 -fPIC -fvisibility=hidden $(HPCVIEW_CFLAGS) -fno-builtin

check_PROGRAMS += %D%/runtime/modules_test
TESTS += %D%/runtime/modules_test
%C%_runtime_modules_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_mmap.h
%C%_runtime_modules_test_SOURCES = %D%/runtime/modules_test.c tests/fakes/fake_mmap_memory.h tests/fakes/fake_mmap.h tests/chance.h tests/tap.h %D%/engine/mmap_store.c %D%/runtime/modules.c %D%/runtime/variables.c
%C%_runtime_modules_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)

check_PROGRAMS += %D%/runtime/runtime_test
TESTS += %D%/runtime/runtime_test
%C%_runtime_runtime_test_SOURCES = %D%/runtime/runtime_test.c tests/fakes/fake_mmap_memory.h tests/fakes/fake_mmap.h tests/chance.h tests/tap.h $(RUNTIME_SOURCES)
%C%_runtime_runtime_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_mmap.h
%C%_runtime_runtime_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS)

# The library that hpcview-cc links into programs.
noinst_PROGRAMS += libhpcview-simulate.so
modules_DATA += libhpcview-simulate.so
libhpcview_simulate_so_SOURCES = $(RUNTIME_SOURCES) %D%/instrument/hooks.c
libhpcview_simulate_so_CFLAGS = $(RUNTIME_CFLAGS)
libhpcview_simulate_so_LDFLAGS = -shared -Wl,-z,defs -Wl,-soname,libhpcview-simulate.so
libhpcview_simulate_so_LDADD =

wrappers = %D%/hpcview-cc %D%/hpcview-c++ %D%/hpcview-fc
bin_SCRIPTS = $(wrappers)
CLEANFILES += $(wrappers)
EXTRA_DIST += %D%/launch/hpcview-cc.in %D%/instrument/heap_calls.inc
hooksdir = $(pkglibdir)
dist_hooks_DATA = %D%/instrument/hooks-x86_64.s %D%/instrument/hooks-aarch64.s
$(wrappers): %D%/launch/hpcview-cc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && sed 's,[@]prefix[@],$(prefix),; s,[@]bindir[@],$(bindir),; s,[@]pkglibdir[@],$(pkglibdir),' $(srcdir)/%D%/launch/hpcview-cc.in >$@.tmp && chmod 755 $@.tmp && mv $@.tmp $@

# (they stand in front of malloc and memcpy, as the sanitizers do)
if !ASAN
check_PROGRAMS += %D%/instrument/hooks_test %D%/instrument/qemu_test
TESTS += %D%/instrument/hooks_test %D%/instrument/qemu_test
endif
%C%_instrument_hooks_test_SOURCES = %D%/instrument/hooks_test.c tests/fakes/fake_runtime.h tests/chance.h tests/tap.h %D%/instrument/hooks.c
%C%_instrument_hooks_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS) -fno-builtin
%C%_instrument_qemu_test_SOURCES = %D%/instrument/qemu_test.c tests/fakes/fake_runtime.h %D%/instrument/decode.h %D%/instrument/qemu_api.h tests/chance.h tests/tap.h \
	%D%/instrument/qemu.c %D%/instrument/decode.c %D%/instrument/heap.c %D%/engine/mmap_store.h %D%/engine/mmap_store.c
%C%_instrument_qemu_test_CFLAGS = -std=gnu11 $(HPCVIEW_CFLAGS) $(CHECK_CFLAGS) -fno-builtin
%C%_instrument_qemu_test_LDADD = $(ZYDIS_LIBS) $(CAPSTONE_LIBS)

# The plugin for QEMU, and the library preloaded into programs that run there.
noinst_PROGRAMS += libhpcview-simulate-qemu.so libhpcview-simulate-heap.so
modules_DATA += libhpcview-simulate-qemu.so libhpcview-simulate-heap.so
libhpcview_simulate_qemu_so_SOURCES = $(RUNTIME_SOURCES) %D%/instrument/decode.h %D%/instrument/decode.c %D%/instrument/qemu_api.h %D%/instrument/qemu.c
libhpcview_simulate_qemu_so_CFLAGS = $(RUNTIME_CFLAGS)
libhpcview_simulate_qemu_so_LDFLAGS = -shared
libhpcview_simulate_qemu_so_LDADD = $(ZYDIS_LIBS)
libhpcview_simulate_heap_so_SOURCES = %D%/shared_layout.h %D%/instrument/heap.c
libhpcview_simulate_heap_so_CFLAGS = $(RUNTIME_CFLAGS)
libhpcview_simulate_heap_so_LDFLAGS = -shared -Wl,-z,defs
libhpcview_simulate_heap_so_LDADD =

dist_check_SCRIPTS += tests/simulate/simulate.sh tests/simulate/sweep.sh
EXTRA_DIST += tests/simulate/programs/arrays.f90 tests/simulate/programs/avx512.c tests/simulate/programs/frames.c tests/simulate/programs/multiply.c \
	tests/simulate/programs/sharing.c tests/simulate/programs/table.c tests/simulate/programs/trouble.c tests/simulate/programs/words.cc \
	tests/bench/simulate.sh tests/bench/memory.c
