# SPDX-License-Identifier: BSD-3-Clause
bloop_libbloop_a_SOURCES += \
	%D%/image.h %D%/elf.h %D%/image.c %D%/elf.c %D%/compress.c %D%/reloc.c %D%/debugfile.c %D%/ehframe.c

check_PROGRAMS += %D%/image_test
TESTS += %D%/image_test
%C%_image_test_SOURCES = %D%/image_test.c bloop/binary_test.h
%C%_image_test_LDADD = $(BLOOP_LDADD)

check_PROGRAMS += %D%/parts_test
TESTS += %D%/parts_test
%C%_parts_test_SOURCES = %D%/parts_test.c bloop/binary_test.h tests/chance.h tests/guarded.h
%C%_parts_test_LDADD = $(BLOOP_LDADD)

check_PROGRAMS += %D%/drawn_test
TESTS += %D%/drawn_test
%C%_drawn_test_SOURCES = %D%/drawn_test.c bloop/binary_test.h tests/chance.h
%C%_drawn_test_LDADD = $(BLOOP_LDADD)
