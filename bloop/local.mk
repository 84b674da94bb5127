# SPDX-License-Identifier: BSD-3-Clause
# The library is one; each folder below adds its files to it, in the order in which they may use each other.
noinst_LIBRARIES += %D%/libbloop.a
bloop_libbloop_a_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CFLAGS)
bloop_libbloop_a_SOURCES = %D%/bloop.h %D%/binary.h %D%/bloop.c %D%/cache.c %D%/join.c %D%/symbolizer.c %D%/work.c

include bloop/arch/local.mk
include bloop/image/local.mk
include bloop/debug/local.mk
include bloop/functions/local.mk
include bloop/code/local.mk
include bloop/assemble/local.mk
include bloop/scope/local.mk

check_PROGRAMS += %D%/whole_test
TESTS += %D%/whole_test
%C%_whole_test_SOURCES = %D%/whole_test.c %D%/binary_test.h tests/chance.h tests/guarded.h
%C%_whole_test_LDADD = $(BLOOP_LDADD)

check_PROGRAMS += %D%/damage_test %D%/elf_fuzz
TESTS += %D%/damage_test
FUZZERS += %D%/elf_fuzz
%C%_damage_test_SOURCES = %D%/damage_test.c %D%/binary_test.h %D%/elf_fuzz.c
%C%_damage_test_LDADD = $(BLOOP_LDADD)
%C%_elf_fuzz_SOURCES = %D%/elf_fuzz.c
%C%_elf_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_elf_fuzz_LDADD = $(LIBFUZZER) $(BLOOP_LDADD)
EXTRA_DIST += tests/corpus/elf
