noinst_LIBRARIES += %D%/libmetrics.a
%C%_libmetrics_a_SOURCES = \
	%D%/metrics.h %D%/metrics_int.h \
	%D%/match.c %D%/line_diff.c %D%/expr.c %D%/expr_functions.c \
	%D%/expr_int.h %D%/expr_parse.c %D%/expr_names.c %D%/expr_eval.c %D%/expr_write.c %D%/blocks.c %D%/config.c %D%/config_hpcview3.c %D%/config_write.c %D%/mathml.c %D%/columns.c %D%/feeds.c %D%/gather.c %D%/modules.c %D%/correlate.c \
	%D%/structure.c %D%/functions.c %D%/loops.c %D%/instructions.c %D%/ideal.c %D%/print_code.c %D%/sources.c %D%/read.c %D%/experiment.c %D%/facts.c %D%/order.c %D%/same.c %D%/values.c %D%/trees.c %D%/formulas.c \
	%D%/database_int.h %D%/database.c %D%/database_tables.c %D%/database_run.c \
	%D%/calls.c %D%/tables.c %D%/compare.c %D%/find.c %D%/statistics.c %D%/thread_values.c %D%/lost.c %D%/anonymize.c %D%/check.c %D%/print_int.h %D%/print.c %D%/print_paths.c %D%/print_calls.c %D%/print_text.c %D%/print_table.c %D%/print_memory.c %D%/print_tree.c

check_PROGRAMS += %D%/blocks_test %D%/columns_test %D%/gathered_test %D%/conserve_test %D%/line_diff_test %D%/expr_test %D%/config_test %D%/experiment_test %D%/sources_test %D%/anonymize_test %D%/expr_fuzz %D%/config_fuzz
TESTS += %D%/blocks_test %D%/columns_test %D%/gathered_test %D%/conserve_test %D%/line_diff_test %D%/expr_test %D%/config_test %D%/experiment_test %D%/sources_test %D%/anonymize_test
FUZZERS += %D%/expr_fuzz %D%/config_fuzz
%C%_blocks_test_SOURCES = %D%/blocks_test.c tests/tap.h
%C%_blocks_test_LDADD = $(ROOM_LDADD)
%C%_columns_test_SOURCES = %D%/columns_test.c %D%/test_drawing.h tests/tap.h
%C%_columns_test_LDADD = $(ROOM_LDADD)
%C%_gathered_test_SOURCES = %D%/gathered_test.c %D%/test_drawing.h tests/ranks.h tests/tap.h
%C%_gathered_test_LDADD = $(ROOM_LDADD)
%C%_conserve_test_SOURCES = %D%/conserve_test.c tests/tap.h
%C%_conserve_test_LDADD = $(ROOM_LDADD)
%C%_line_diff_test_SOURCES = %D%/line_diff_test.c tests/cases.h tests/chance.h tests/tap.h
%C%_line_diff_test_LDADD = $(ROOM_LDADD)
%C%_expr_test_SOURCES = %D%/expr_test.c tests/cases.h tests/chance.h tests/tap.h
%C%_expr_test_LDADD = $(ROOM_LDADD)
%C%_config_test_SOURCES = %D%/config_test.c tests/cases.h tests/tap.h
%C%_config_test_LDADD = $(ROOM_LDADD)
%C%_experiment_test_SOURCES = %D%/experiment_test.c %D%/test_drawing.h tests/tap.h
%C%_experiment_test_LDADD = $(ROOM_LDADD)
%C%_sources_test_SOURCES = %D%/sources_test.c tests/cases.h tests/chance.h tests/tap.h
%C%_sources_test_LDADD = $(ROOM_LDADD)
%C%_anonymize_test_SOURCES = %D%/anonymize_test.c tests/chance.h tests/tap.h
%C%_anonymize_test_LDADD = $(ROOM_LDADD)
%C%_expr_fuzz_SOURCES = %D%/expr_fuzz.c
%C%_expr_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_expr_fuzz_LDADD = $(LIBFUZZER) $(ROOM_LDADD)
%C%_config_fuzz_SOURCES = %D%/config_fuzz.c
%C%_config_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_config_fuzz_LDADD = $(LIBFUZZER) $(ROOM_LDADD)
EXTRA_DIST += tests/corpus/config \
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
EXTRA_DIST += tests/formulas/cases.txt tests/formulas/generate.py tests/formulas/unfinished.cases
check_PROGRAMS += %D%/facts_test
TESTS += %D%/facts_test
%C%_facts_test_SOURCES = %D%/facts_test.c %D%/facts.c tests/tap.h
%C%_facts_test_CPPFLAGS = $(AM_CPPFLAGS) -Dinstructions_choose=fake_choose -Dbloop_producer=fake_producer
%C%_facts_test_LDADD = $(ROOM_LDADD)
check_PROGRAMS += %D%/loops_test
TESTS += %D%/loops_test
%C%_loops_test_SOURCES = %D%/loops_test.c %D%/loops.c %D%/test_drawing.h tests/chance.h tests/tap.h
%C%_loops_test_CPPFLAGS = $(AM_CPPFLAGS) -Dbloop_is_aarch64=fake_is_aarch64 -Dmachine_core_read=fake_machine_read \
	-Dmachine_core_here=fake_machine_here -Dmachine_core_free=fake_machine_free -Dcorrelate_trips=fake_trips \
	-Dquality_analyze=fake_analyze
%C%_loops_test_LDADD = $(ROOM_LDADD)
check_PROGRAMS += %D%/modules_test
TESTS += %D%/modules_test
%C%_modules_test_SOURCES = %D%/modules_test.c tests/chance.h tests/tap.h
%C%_modules_test_LDADD = $(ROOM_LDADD)
check_PROGRAMS += %D%/functions_test
TESTS += %D%/functions_test
%C%_functions_test_SOURCES = %D%/functions_test.c %D%/functions.c %D%/test_drawing.h tests/chance.h tests/tap.h
%C%_functions_test_CPPFLAGS = $(AM_CPPFLAGS) -Dbloop_open=fake_open -Dbloop_close=fake_close -Dbloop_build_id=fake_build_id \
	-Dbloop_scopes_at=fake_scopes_at -Dstructures_add_kept=fake_add_kept
%C%_functions_test_LDADD = $(ROOM_LDADD)
check_PROGRAMS += %D%/database_fuzz %D%/database_test %D%/print_test
TESTS += %D%/database_test %D%/print_test
%C%_print_test_SOURCES = %D%/print_test.c %D%/test_drawing.h htmlgen/sample.c htmlgen/sample.h diagnose/drawing.c diagnose/drawing.h tests/cases.h tests/chance.h tests/elf.h tests/tap.h
%C%_print_test_LDADD = $(ROOM_LDADD)
EXTRA_DIST += tests/print/print.cases tests/print/built.cases tests/print/outlines.cases tests/print/damage.cases tests/print/configurations.cases tests/compare/lines.cases tests/print/sources.cases
%C%_database_test_SOURCES = %D%/database_test.c htmlgen/sample.c htmlgen/sample.h tests/cases.h tests/tap.h
%C%_database_test_LDADD = $(ROOM_LDADD)
FUZZERS += %D%/database_fuzz
%C%_database_fuzz_SOURCES = %D%/database_fuzz.c
%C%_database_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_database_fuzz_LDADD = $(LIBFUZZER) $(ROOM_LDADD)
EXTRA_DIST += tests/corpus/database/nothing-of-no-values tests/corpus/database/version-1.html tests/corpus/database/version-2.html tests/corpus/database/version-2-paths.html tests/corpus/database/version-3.html
