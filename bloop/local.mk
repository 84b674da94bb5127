noinst_LIBRARIES += %D%/libbloop.a
%C%_libbloop_a_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CFLAGS)
%C%_libbloop_a_SOURCES = %D%/bloop.h %D%/bloop_int.h

# image.c, functions.c, debug.c
%C%_libbloop_a_SOURCES += \
	%D%/image_int.h %D%/image.c %D%/image_elf.c %D%/image_compress.c %D%/image_reloc.c %D%/image_debugfile.c \
	%D%/ehframe.h %D%/ehframe.c %D%/functions.c %D%/gaps.h %D%/gaps.c %D%/demangle.c \
	%D%/debug_int.h %D%/debug.c %D%/debug_die.c %D%/debug_lines.c

check_PROGRAMS += %D%/image_test %D%/functions_test %D%/debug_test %D%/damage_test %D%/elf_fuzz
TESTS += %D%/image_test %D%/functions_test %D%/debug_test %D%/damage_test
FUZZERS += %D%/elf_fuzz
%C%_image_test_SOURCES = %D%/image_test.c %D%/binary_test.h
%C%_image_test_LDADD = $(ROOM_LDADD)
%C%_functions_test_SOURCES = %D%/functions_test.c %D%/binary_test.h
%C%_functions_test_LDADD = $(ROOM_LDADD)
%C%_debug_test_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CFLAGS)
%C%_debug_test_SOURCES = %D%/debug_test.c %D%/binary_test.h
%C%_debug_test_LDADD = $(ROOM_LDADD)
%C%_damage_test_SOURCES = %D%/damage_test.c %D%/binary_test.h %D%/elf_fuzz.c
%C%_damage_test_LDADD = $(ROOM_LDADD)
%C%_elf_fuzz_SOURCES = %D%/elf_fuzz.c
%C%_elf_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_elf_fuzz_LDADD = $(LIBFUZZER) $(ROOM_LDADD)
EXTRA_DIST += \
	tests/corpus/elf/cut \
	tests/corpus/elf/exec-clang5 \
	tests/corpus/elf/exec-gcc5 \
	tests/corpus/elf/exec-split \
	tests/corpus/elf/nosections \
	tests/corpus/elf/obj-arm \
	tests/corpus/elf/obj-clang4 \
	tests/corpus/elf/obj-fortran \
	tests/corpus/elf/obj-try \
	tests/corpus/elf/obj-zlib \
	tests/corpus/elf/pie-gcc4 \
	tests/corpus/elf/rnglists-damaged \
	tests/corpus/elf/text \
	tests/corpus/elf/zstd-claims-4-gigabytes

# decoders, cfg.c, loops.c
%C%_libbloop_a_SOURCES += \
	%D%/arch/arch.h %D%/arch/x86_64.c %D%/arch/aarch64.c %D%/cfg_int.h %D%/cfg.c %D%/jumptable.c \
	%D%/noreturn.c %D%/loops.c

check_PROGRAMS += %D%/loops_test %D%/arch_test %D%/cfg_test %D%/jumptable_test %D%/code_fuzz
TESTS += %D%/loops_test %D%/arch_test %D%/cfg_test %D%/jumptable_test
FUZZERS += %D%/code_fuzz
%C%_loops_test_SOURCES = %D%/loops_test.c
%C%_loops_test_LDADD = $(ROOM_LDADD)
%C%_arch_test_SOURCES = %D%/arch_test.c
%C%_arch_test_LDADD = $(ROOM_LDADD) $(CAPSTONE_LIBS)
%C%_cfg_test_SOURCES = %D%/cfg_test.c %D%/test_image.h
%C%_cfg_test_LDADD = $(ROOM_LDADD)
%C%_jumptable_test_SOURCES = %D%/jumptable_test.c
%C%_jumptable_test_LDADD = $(ROOM_LDADD)
%C%_code_fuzz_SOURCES = %D%/code_fuzz.c %D%/test_image.h
%C%_code_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_code_fuzz_LDADD = $(LIBFUZZER) $(ROOM_LDADD)

# the scope tree, assemble.c, bloop.c
%C%_libbloop_a_SOURCES += \
	%D%/scope_int.h %D%/scope_tree.c %D%/scope_build.c %D%/scope_check.c %D%/scope_xml.c %D%/scope_hpcstruct.c \
	%D%/scope_outline.c %D%/assemble_int.h %D%/assemble.c %D%/assemble_loops.c %D%/assemble_names.c %D%/assemble_copies.c %D%/arch/packed.c %D%/bloop.c %D%/cache.c

EXTRA_PROGRAMS += %D%/bench_decode
BENCH_TOOLS += %D%/bench_decode
%C%_bench_decode_SOURCES = %D%/bench_decode.c
%C%_bench_decode_LDADD = $(ROOM_LDADD)

check_PROGRAMS += %D%/scope_test %D%/assemble_test
TESTS += %D%/scope_test %D%/assemble_test
%C%_assemble_test_SOURCES = %D%/assemble_test.c
%C%_assemble_test_LDADD = $(ROOM_LDADD)
%C%_scope_test_SOURCES = %D%/scope_test.c
%C%_scope_test_LDADD = $(ROOM_LDADD)
EXTRA_DIST += tests/corpus/code
