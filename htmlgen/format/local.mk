# SPDX-License-Identifier: BSD-3-Clause
htmlgen_libhtmlgen_a_SOURCES += %D%/format.h %D%/block.c %D%/columns.c %D%/head.c
