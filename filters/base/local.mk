# SPDX-License-Identifier: BSD-3-Clause
filters_libfilters_a_SOURCES += \
	%D%/base.h %D%/builder.h %D%/builder.c %D%/call_edges.h %D%/call_edges.c %D%/image.h %D%/image.c %D%/interner.h %D%/interner.c \
	%D%/lines.c %D%/names.c %D%/unpack.c
