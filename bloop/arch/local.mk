bloop_libbloop_a_SOURCES += %D%/arch.h %D%/ops.h %D%/x86_64.c %D%/aarch64.c %D%/packed.c

check_PROGRAMS += %D%/arch_test
TESTS += %D%/arch_test
%C%_arch_test_SOURCES = %D%/arch_test.c
%C%_arch_test_LDADD = $(ROOM_LDADD) $(CAPSTONE_LIBS)
