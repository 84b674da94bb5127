# SPDX-License-Identifier: BSD-3-Clause
filters_libfilters_a_SOURCES += \
	%D%/perf.h %D%/attrs.c %D%/chain_cache.h %D%/chain_cache.c %D%/data.h %D%/data.c %D%/gperftools.c %D%/order.c %D%/records.c %D%/run.h %D%/run.c \
	%D%/script.c %D%/unpack.c

check_PROGRAMS += %D%/data_test
TESTS += %D%/data_test
%C%_data_test_SOURCES = %D%/data_test.c tests/fixtures/import_dump.h tests/chance.h tests/tap.h
%C%_data_test_LDADD = $(FILTERS_LDADD)
