bloop_libbloop_a_SOURCES += %D%/assemble.h %D%/assemble_int.h %D%/names.c %D%/places.c %D%/control.c %D%/copies.c %D%/assemble.c

check_PROGRAMS += %D%/assemble_test
TESTS += %D%/assemble_test
%C%_assemble_test_SOURCES = %D%/assemble_test.c bloop/code/test_image.h tests/guarded.h
%C%_assemble_test_LDADD = $(ROOM_LDADD)
EXTRA_DIST += %D%/made.trees
