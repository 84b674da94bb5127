# SPDX-License-Identifier: BSD-3-Clause
metrics_libmetrics_a_SOURCES += \
	%D%/expr_int.h %D%/formula.h %D%/blocks.c %D%/expr.c %D%/expr_eval.c %D%/expr_functions.c %D%/expr_names.c \
	%D%/expr_parse.c %D%/expr_write.c %D%/mathml.c %D%/statistic_names.c

check_PROGRAMS += %D%/expr_test %D%/blocks_test
TESTS += %D%/expr_test %D%/blocks_test
%C%_expr_test_SOURCES = %D%/expr_test.c tests/cases.h tests/chance.h tests/tap.h
%C%_expr_test_LDADD = $(METRICS_LDADD)
%C%_blocks_test_SOURCES = %D%/blocks_test.c tests/tap.h
%C%_blocks_test_LDADD = $(METRICS_LDADD)
check_PROGRAMS += %D%/expr_fuzz
FUZZERS += %D%/expr_fuzz
%C%_expr_fuzz_SOURCES = %D%/expr_fuzz.c
%C%_expr_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_expr_fuzz_LDADD = $(LIBFUZZER) $(METRICS_LDADD)
EXTRA_DIST += \
	tests/corpus/expr/bad-numbers \
	tests/corpus/expr/bytes \
	tests/corpus/expr/chained \
	tests/corpus/expr/choice \
	tests/corpus/expr/comma-alone \
	tests/corpus/expr/definition \
	tests/corpus/expr/difference \
	tests/corpus/expr/functions \
	tests/corpus/expr/numbers \
	tests/corpus/expr/of-a-run \
	tests/corpus/expr/of-the-whole \
	tests/corpus/expr/of-threads \
	tests/corpus/expr/open-brackets \
	tests/corpus/expr/open-quote \
	tests/corpus/expr/quotes \
	tests/corpus/expr/signs \
	tests/corpus/expr/sum \
	tests/corpus/expr/too-large
EXTRA_DIST += tests/formulas/cases.txt tests/formulas/generate.py tests/formulas/messages.txt \
              tests/formulas/unfinished.cases
