# SPDX-License-Identifier: GPL-2.0-only
# The module, the BPF programs, the command. `make help` lists the targets.

KDIR ?= /lib/modules/$(shell uname -r)/build
O ?= build
override O := $(abspath $(O))
# To the kernel's own make it would say something else.
MAKEOVERRIDES := $(filter-out O=%,$(MAKEOVERRIDES))

CLANG ?= clang
LLVM_STRIP ?= llvm-strip
BPFTOOL ?= bpftool
KSELFTEST ?= /usr/src/kselftest
BPF_CFLAGS := -g -O2 -Wall -target bpf -mcpu=v3 -fms-extensions -fno-builtin \
	      -Wno-microsoft-anon-tag -Wno-missing-declarations -I$(O) -Iuapi -Ibpf

programs := $(patsubst bpf/%.bpf.c,$(O)/%.bpf.o,$(wildcard bpf/*.bpf.c))
headers := uapi/linux/bpf_relay.h $(wildcard bpf/*.h)

all: module programs userspace

help:
	@echo 'all (default)  module, programs and userspace, for this machine'
	@echo 'module         bpf_relay.ko for the kernel whose headers are in KDIR='
	@echo 'programs       build/*.bpf.o: the BPF programs'
	@echo 'userspace      build/bpfrelay: the command; build/libbpfrelay.*: the library'
	@echo 'demo           see TCP events that a BPF program left behind: in a virtual'
	@echo '               machine, or with HERE=1 on this one'
	@echo 'check          all tests, in a virtual machine on both kernels;'
	@echo '               T=a,b only these, T=list names them'
	@echo 'check-debug    the same tests on debug kernels (KASAN, lockdep, KCSAN and more), which'
	@echo '               are built first; hours. K=debug-stable,kcsan only these; T= as above'
	@echo 'install        command, programs and headers below PREFIX=/usr/local, the module in'
	@echo '               /lib/modules, all below DESTDIR=; uninstall removes them'
	@echo 'check-readme   runs what README.md and Documentation/guide.rst say is to be run, in a'
	@echo '               virtual machine, in a copy of this tree where nothing was built'
	@echo 'bench          what a record costs, here and by everything else that BPF programs can'
	@echo '               record with, in a virtual machine on both kernels'
	@echo 'check-model    every schedule of the ring in small scenarios, on weak memory'
	@echo 'check-mutants  broken rings: each must be caught'
	@echo 'fuzz           every parser for PARSER_SECONDS=300, random operations on a debug kernel'
	@echo '               for OPS_SECONDS=600; SEED= does these again, K= takes another kernel'
	@echo 'stress         every context at once, on both kernels, until STRESS_RECORDS=20000000'
	@echo '               are stored on each'
	@echo 'check-packages Debian packages: built, installed, upgraded and removed on both kernels,'
	@echo '               and a boot with the unit; K=stable on one'
	@echo 'clean          remove what was built'

module:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

programs: $(programs)

userspace:
	$(MAKE) -C userspace O=$(O)

# ---- Installing ---------------------------------------------------------------
# bpfrelay finds programs in ../lib/bpfrelay from where it is itself.

PREFIX ?= /usr/local
dest := $(DESTDIR)$(PREFIX)
doc := $(dest)/share/doc/bpfrelay
release = $(shell $(MAKE) -s -C $(KDIR) kernelrelease)
# modules_install leaves it out where the headers come without System.map.
depmod = $(if $(DESTDIR),,depmod $(release))

install: install-user install-module

install-user: programs userspace
	$(MAKE) -C userspace O=$(O) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) install
	install -d $(dest)/lib/bpfrelay $(dest)/include/linux $(dest)/lib/systemd/system \
		$(doc)/examples
	install -m 644 dist/modprobe.conf dist/modules-load.conf $(doc)/examples
	install -m 644 $(programs) $(dest)/lib/bpfrelay
	sed 's|@PREFIX@|$(PREFIX)|g' dist/bpfrelay@.service.in \
		> $(dest)/lib/systemd/system/bpfrelay@.service
	install -m 644 bpf/bpf_relay.h bpf/bpf_relay_hints.h $(dest)/include
	install -m 644 uapi/linux/bpf_relay.h $(dest)/include/linux

install-module: module
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(DESTDIR) modules_install
	$(depmod)

uninstall:
	$(MAKE) -C userspace O=$(O) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) uninstall
	rm -f $(programs:$(O)/%=$(dest)/lib/bpfrelay/%)
	rm -f $(dest)/include/bpf_relay.h $(dest)/include/bpf_relay_hints.h
	rm -f $(dest)/include/linux/bpf_relay.h $(dest)/lib/systemd/system/bpfrelay@.service
	rm -f $(doc)/examples/modprobe.conf $(doc)/examples/modules-load.conf
	-rmdir $(dest)/lib/bpfrelay $(doc)/examples $(doc)
	rm -f $(DESTDIR)/lib/modules/$(release)/updates/bpf_relay.ko*
	$(depmod)

# BTF of the kernel whose headers we build with, or of the one that runs.
vmlinux_btf := $(firstword $(wildcard $(KDIR)/vmlinux /sys/kernel/btf/vmlinux))

$(O)/vmlinux.h:
	@mkdir -p $(@D)
	$(BPFTOOL) btf dump file $(or $(vmlinux_btf),$(KDIR)/vmlinux) format c > $@.new
	mv $@.new $@

# Without DWARF, which nobody reads; BTF stays.
$(O)/%.bpf.o: bpf/%.bpf.c $(headers) $(O)/vmlinux.h
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@
	$(LLVM_STRIP) -g $@

# ---- Tests ------------------------------------------------------------------
# Inside the machine image everything is built once, but the module per kernel;
# two kernels' objects cannot share a tree, so each gets a copy.

tests := $(patsubst selftests/%.c,$(O)/selftests/%,\
	   $(filter-out selftests/relay_test.c,$(wildcard selftests/*.c)))
test_programs := $(patsubst selftests/bpf/%.bpf.c,$(O)/selftests/%.bpf.o,\
		   $(wildcard selftests/bpf/*.bpf.c))
test_headers := $(wildcard selftests/*.h selftests/bpf/*.h) uapi/linux/bpf_relay.h

selftests: $(tests) $(test_programs)

$(O)/selftests/%.bpf.o: selftests/bpf/%.bpf.c $(headers) $(test_headers) $(O)/vmlinux.h
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -Iselftests/bpf -c $< -o $@

$(O)/selftests/%: selftests/%.c selftests/relay_test.c $(test_headers)
	@mkdir -p $(@D)
	$(CC) -g -O2 -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Iuapi -Iselftests \
		-isystem $(KSELFTEST) $< selftests/relay_test.c -o $@ -lbpf -lpthread

$(O)/%/bpf_relay.ko: Kbuild $(wildcard kernel/*.[ch]) uapi/linux/bpf_relay.h
	rm -rf $(@D)/tree
	mkdir -p $(@D)/tree
	cp -r Kbuild kernel uapi $(@D)/tree
	$(MAKE) -C /lib/modules/$*/build M=$(@D)/tree W=1 modules
	cp $(@D)/tree/bpf_relay.ko $@

# ---- Measuring ----------------------------------------------------------------

bench_sources := $(wildcard bench/*.c)
bench_cflags := -g -O2 -Wall -Wextra -Wno-sign-compare -Wno-missing-field-initializers

$(O)/bench/bench.bpf.o $(O)/bench/events.bpf.o: $(O)/bench/%.bpf.o: bench/%.bpf.c bench/bench.h \
		$(headers) $(O)/vmlinux.h
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -Ibench -c $< -o $@

$(O)/bench/bench: $(filter-out %.bpf.c,$(bench_sources)) selftests/relay_test.c $(wildcard bench/*.h) \
		selftests/relay_test.h uapi/linux/bpf_relay.h
	@mkdir -p $(@D)
	$(CC) $(bench_cflags) -Iuapi -Iselftests -Ibench $(filter %.c,$^) -o $@ -lbpf -lpthread

$(O)/%/bench_peers.ko: $(wildcard bench/module/*) kernel/compat.h
	rm -rf $(@D)/bench
	mkdir -p $(@D)/bench/kernel
	cp bench/module/* $(@D)/bench
	cp kernel/compat.h $(@D)/bench/kernel
	$(MAKE) -C /lib/modules/$*/build M=$(@D)/bench W=1 modules
	cp $(@D)/bench/bench_peers.ko $@

bench:
	@bench/run

bench-build: $(O)/bench/bench $(O)/bench/bench.bpf.o $(O)/bench/events.bpf.o \
	$(KERNELS:%=$(O)/%/bench_peers.ko)

# KERNELS: of the image, as in /lib/modules.
image-build: programs userspace selftests bench-build $(KERNELS:%=$(O)/%/bpf_relay.ko)

# On any machine with a C++20 compiler; herd7 is asked, too, where it can be had.
check-model:
	@$(MAKE) -s -C selftests/model O=$(O) check

check-mutants:
	@$(MAKE) -s -C selftests/model O=$(O) check-mutants

check:
	@selftests/check $(if $(T),-t $(T))

# As long as that takes: some minutes on each kernel, emulated, on a machine that is free.
STRESS_RECORDS ?= 20000000

stress:
	@kernels=$$(vm/kernels) || exit; set -- $$kernels; \
	vm/chroot make -s KDIR=/lib/modules/$$2/build KERNELS="$$2 $$4" image-build && \
	exec vm/run --host selftests/nmi-host --timeout 7200 -- \
		env STRESS_RECORDS=$(STRESS_RECORDS) TEST_TIMEOUT=7000 selftests/run stress

PARSER_SECONDS ?= 300
OPS_SECONDS ?= 600

fuzz:
	@selftests/fuzz/long -p $(PARSER_SECONDS) -o $(OPS_SECONDS) $(if $(K),-k $(K)) $(if $(SEED),-s $(SEED))

check-packages:
	@selftests/packages/check $(K)

check-readme:
	@selftests/readme/check

check-debug:
	@selftests/check -k $(or $(K),debug-stable,debug-backports,kcsan) $(if $(T),-t $(T))

ifdef HERE
demo: all
	@demo/run
else
demo:
	@echo 'building, then booting a virtual machine ...'
	@kernels=$$(vm/kernels) || exit; set -- $$kernels; \
	vm/chroot make -s KDIR=/lib/modules/$$2/build KERNELS=$$2 image-build && \
	exec vm/run -k stable -- demo/run
endif

clean:
	rm -rf $(O)
	rm -f bpf_relay.o bpf_relay.mod.o .*.cmd *.ko *.mod *.mod.c kernel/*.o kernel/.*.cmd Module.symvers modules.order
	rm -f .module-common.o

.PHONY: all help module programs userspace install install-user install-module uninstall \
	selftests image-build bench bench-build check check-debug check-model check-mutants check-packages check-readme fuzz stress demo clean
.DELETE_ON_ERROR:
