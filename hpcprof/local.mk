noinst_LIBRARIES += %D%/libhpcprof.a
%C%_libhpcprof_a_SOURCES = %D%/hpcprof.h %D%/hpcprof_int.h %D%/format.h %D%/table.c %D%/read.c %D%/write.c

check_PROGRAMS += %D%/read_test
TESTS += %D%/read_test
%C%_read_test_SOURCES = %D%/read_test.c tests/tap.h
%C%_read_test_LDADD = %D%/libhpcprof.a support/libsupport.a
