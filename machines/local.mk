# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libmachines.a
%C%_libmachines_a_SOURCES = %D%/machines.h %D%/file.h %D%/file.c %D%/memory.c %D%/core.h %D%/core.c %D%/processor.h %D%/processor.c

check_PROGRAMS += %D%/memory_test %D%/processor_test
TESTS += %D%/memory_test %D%/processor_test
%C%_memory_test_SOURCES = %D%/memory_test.c tests/tap.h
%C%_memory_test_LDADD = %D%/libmachines.a support/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS)
%C%_processor_test_SOURCES = %D%/processor_test.c tests/tap.h
%C%_processor_test_LDADD = %D%/libmachines.a support/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS)
