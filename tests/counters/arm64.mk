# SPDX-License-Identifier: BSD-3-Clause
# What records, cross-built for the guest (guest.sh): the recorder, and a command with record, events and info.
#     make -f tests/counters/arm64.mk -C SOURCES OUT=FOLDER BUILD=FOLDER SYSTEM=FOLDER CC='aarch64-linux-gnu-gcc'
FLAGS := --sysroot=$(SYSTEM) -B$(SYSTEM)/usr/lib/aarch64-linux-gnu -std=gnu11 -D_GNU_SOURCE -DHAVE_CONFIG_H -O1 -g \
	-I$(OUT) -I. -I$(BUILD) -Ihpcprof/recorder/include -I$(SYSTEM)/usr/include/libxml2
recorder := $(shell find $(addprefix hpcprof/recorder/,base unwind output sampling process) -name '*.c' ! -name 'static_note.c' ! -name '*_test.c' ! -name '*_fuzz.c')
command := $(shell find support hpcprof -name '*.c' ! -path 'hpcprof/recorder/*' ! -name '*_test.c' ! -name '*_fuzz.c') \
	$(addprefix driver/,main.c operands.c options.c paths.c ranks.c cmd_record.c cmd_events.c cmd_info.c cmd_merge.c) bloop/symbolizer.c phases/barrier_log.c \
	$(shell find metrics -name 'blocks.c' -o -name 'expr*.c' ! -name '*_test.c' ! -name '*_fuzz.c' -o -name 'mathml.c') tests/counters/command.c
INSTALLED := '-DPREFIX="/nowhere"' '-DBINDIR="/nowhere/bin"' '-DPKGLIBDIR="/nowhere/lib/hpcview"' '-DPKGDATADIR="/nowhere/share/hpcview"'
programs := $(wildcard tests/counters/programs/*.c)

all: $(OUT)/driver/hpcview $(OUT)/libhpcview-record.so $(programs:tests/counters/programs/%.c=$(OUT)/programs/%)
.SECONDARY:

$(OUT)/driver/hpcview: $(command:%.c=$(OUT)/objects/%.o)
	$(CC) $(FLAGS) -Wl,--gc-sections -o $@ $^ -lxml2 -lpapi -lpfm -lz -lm
$(OUT)/libhpcview-record.so: $(recorder:%.c=$(OUT)/objects/%.o)
	$(CC) $(FLAGS) -shared -Wl,-z,defs -o $@ $^
$(OUT)/objects/hpcprof/recorder/%.o: hpcprof/recorder/%.c $(OUT)/config.h
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -fPIC -fvisibility=hidden -MMD -c -o $@ $<
$(OUT)/objects/%.o: %.c $(OUT)/config.h
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -ffunction-sections -fdata-sections $(INSTALLED) -MMD -c -o $@ $<
# (no instruction of a loop is to be guessed at: what the tests count is written there)
$(OUT)/programs/%: tests/counters/programs/%.c tests/counters/programs/programs.h tests/counters/arm64.mk
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -O2 -no-pie -mbranch-protection=standard -fopenmp -o $@ $< -lm

# (the example that the README shows; its modules are compiled in order)
heat: $(OUT)/programs/heat
$(OUT)/programs/heat: $(addprefix share/examples/heat/,sparse.f90 elements.f90 solver.f90 heat.f90 driver.c)
	$(FC) $(filter --sysroot% -B%,$(FLAGS)) -O3 -g -no-pie -static-libgfortran -J$(OUT)/programs -o $@ $^ -lm

-include $(shell find $(OUT)/objects -name '*.d' 2>/dev/null)
