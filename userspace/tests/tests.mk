# SPDX-License-Identifier: GPL-2.0-only
# The unit tests: user space only, no module needed.

CLANG ?= clang
sanitize := -fsanitize=address,undefined -fno-sanitize-recover=undefined
test_objs := $(objs)/tests
test_srcs := $(lib_srcs)
tests := $(test_objs)/test_fields $(test_objs)/test_shapes
cli_test_objs := $(test_objs)/log.bpf.o $(test_objs)/nolog.bpf.o $(test_objs)/targets.bpf.o

check: $(tests) $(test_objs)/shapes_gen $(test_objs)/bpfrelay $(cli_test_objs)
	$(test_objs)/test_fields
	SHAPES_GEN=$(test_objs)/shapes_gen SRC=tests UAPI=../uapi CC=$(CC) CLANG=$(CLANG) \
		$(test_objs)/test_shapes $(test_objs)/shapes
	tests/test_cli.sh $(test_objs)/bpfrelay $(cli_test_objs)

# Library and test as one, all of it under the sanitizers.
$(tests): $(test_objs)/%: tests/%.c tests/ktap.h $(test_srcs) lib/bpfrelay.h Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(CC) $(filter-out -M%,$(cflags)) -O1 -g $(sanitize) -o $@ $< $(test_srcs) $(libs)

$(test_objs)/bpfrelay: $(cli_srcs) $(lib_srcs) $(wildcard cli/*.h lib/*.h) Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(CC) $(filter-out -M%,$(cflags)) -O1 -g $(sanitize) -o $@ $(cli_srcs) $(lib_srcs) $(libs)

$(test_objs)/shapes_gen: tests/shapes_gen.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(warnings) -O1 -g -o $@ $<

bpf_cflags := -g -O2 -target bpf -mcpu=v3 -Wall -Werror -I../uapi -I../bpf \
	      -idirafter /usr/include/$(shell uname -m)-linux-gnu

$(test_objs)/log.bpf.o: defines := -DLOG
$(test_objs)/targets.bpf.o: defines := -DLOG -DTARGETS

$(cli_test_objs): tests/objects.bpf.c ../bpf/bpf_relay.h tests/tests.mk
	@mkdir -p $(@D)
	$(CLANG) $(bpf_cflags) $(defines) -c -o $@ $<

# ---- Reading --------------------------------------------------------------------

read_tests := $(test_objs)/test_metadata $(test_objs)/test_reader $(test_objs)/test_mem \
	      $(test_objs)/test_hostile $(test_objs)/test_filter

check: check-read

check-read: all $(read_tests) $(test_objs)/trace_make $(test_objs)/bpfrelay
	$(test_objs)/test_metadata
	$(test_objs)/test_reader
	$(test_objs)/test_mem
	$(test_objs)/test_hostile
	$(test_objs)/test_filter
	tests/test_read_cli.sh $(test_objs)/bpfrelay $(test_objs)/trace_make
	tests/test_export.sh $(test_objs)/bpfrelay $(test_objs)/trace_make
	tests/test_library.sh $(O) $(test_objs)/trace_make
	$(test_objs)/trace_make $(test_objs)/small.trace 3 10 0 > /dev/null
	tests/test_doctor.sh $(test_objs)/bpfrelay $(test_objs)/small.trace
	tests/test_man.sh $(O)/bpfrelay ../man $(RST2MAN)
	tests/test_completion.sh $(test_objs)/bpfrelay ../completion/bpfrelay.bash $(test_objs)/small.trace

$(read_tests): $(test_objs)/%: tests/%.c tests/trace_gen.c tests/trace_gen.h tests/filter_log.h \
		tests/ktap.h $(lib_srcs) \
		$(wildcard lib/*.h) Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(CC) $(filter-out -M%,$(cflags)) -O1 -g $(sanitize) -o $@ $< tests/trace_gen.c $(lib_srcs) $(libs) -lpthread

$(test_objs)/trace_make: tests/trace_make.c tests/trace_gen.c tests/trace_gen.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -M%,$(cflags)) -O1 -g -o $@ tests/trace_make.c tests/trace_gen.c

.PHONY: check-read

# ---- Fuzzing: make fuzz FUZZ_SECONDS=60 -------------------------------------------

FUZZ_SECONDS ?= 60

$(test_objs)/fuzz_trace: fuzz/fuzz_trace.c tests/trace_gen.c $(lib_srcs) $(wildcard lib/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(filter-out -M% -Wno-maybe%,$(cflags)) -O1 -g -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -o $@ $< tests/trace_gen.c $(lib_srcs) $(libs)

$(test_objs)/fuzz_filter: fuzz/fuzz_filter.c tests/filter_log.h $(lib_srcs) $(wildcard lib/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(filter-out -M% -Wno-maybe%,$(cflags)) -O1 -g -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -o $@ $< $(lib_srcs) $(libs)

fuzz: $(test_objs)/fuzz_trace $(test_objs)/fuzz_filter $(test_objs)/trace_make
	fuzz/seeds.sh $(test_objs)/trace_make $(test_objs)/corpus
	$(test_objs)/fuzz_trace -max_total_time=$(FUZZ_SECONDS) -max_len=20000 -timeout=10 \
		-artifact_prefix=$(test_objs)/ $(test_objs)/corpus
	mkdir -p $(test_objs)/corpus_filter
	$(test_objs)/fuzz_filter -max_total_time=$(FUZZ_SECONDS) -max_len=4000 -timeout=10 \
		-dict=fuzz/filter.dict -artifact_prefix=$(test_objs)/ $(test_objs)/corpus_filter

.PHONY: fuzz
