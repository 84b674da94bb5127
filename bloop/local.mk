noinst_LIBRARIES += %D%/libbloop.a
%C%_libbloop_a_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CFLAGS)
%C%_libbloop_a_SOURCES = %D%/bloop.h %D%/bloop_int.h

# image.c, functions.c, debug.c
%C%_libbloop_a_SOURCES += \
	%D%/image_int.h %D%/image.c %D%/image_elf.c %D%/image_compress.c %D%/image_reloc.c %D%/image_debugfile.c \
	%D%/ehframe.h %D%/ehframe.c %D%/functions.c %D%/demangle.c %D%/debug.c
