noinst_LIBRARIES += %D%/libmhsim.a
%C%_libmhsim_a_SOURCES = %D%/mhsim.h %D%/engine.h %D%/engine.c %D%/store.h %D%/store.c %D%/machine.c
# -fPIC: the engine is in the plugin and the runtime too, and they are nothing without speed
%C%_libmhsim_a_CFLAGS = $(AM_CFLAGS) -O2 -fPIC

check_PROGRAMS += %D%/engine_test
TESTS += %D%/engine_test
%C%_engine_test_SOURCES = %D%/engine_test.c tests/tap.h
%C%_engine_test_LDADD = %D%/libmhsim.a support/libsupport.a $(XML2_LIBS)

check_PROGRAMS += %D%/machine_test
TESTS += %D%/machine_test
%C%_machine_test_SOURCES = %D%/machine_test.c tests/tap.h
%C%_machine_test_LDADD = %D%/libmhsim.a support/libsupport.a $(XML2_LIBS)
