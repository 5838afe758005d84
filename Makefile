# SPDX-License-Identifier: GPL-2.0-or-later
#
# make                     build/exitmeter; exitmeter-report, -record, -serve and -probed beside it, build/lib/
# make static              the same without shared libraries, in build/static/
# make arm64               that and the workloads for arm64, in build/arm64/
# make check               unit and end-to-end tests (also check-unit, check-e2e, check-san)
# make check-model         random histories of processes against a plain model; HISTORIES=N, ACT=N acted out
# make check-engines       Prometheus, databases and schedulers that are started for it
# make check-browser       the HTML report and the live page in Chromium; SHOTS=DIR for screenshots
# make many soak          ten thousands at once; two hours of churn
# make check-faults        each call that can fail does, once (also SAN=1); a part is in check-e2e
# make vm                  exact on other kernels too: Debian's, under qemu
# make lint bench fuzz     style and static analysis; costs (also bench-plans); parsers against random input
# make install uninstall   PREFIX, DESTDIR and the folders below
# make dist                build/dist/: the sources, as one archive (also dist-static: programs that run anywhere)
# make deb                 build/deb/: Debian packages
# make check-packages      all of these, tried; check-install: the cheap part; check-long: all that tools/check leaves out
# make clean
#
# B=DIR      build folder (default build; test flavours lie beside it)
# V=1        show commands        DEBUG=1  little optimisation        SAN=1  ASan and UBSan
# ASSERT=1   check the model's own rules while it runs (what the tests are run with)
#
# A build needs neither root nor the kernel's BTF.

# The one place for it; NEWS.md says what it means, tools/check-docs that the others agree.
VERSION := 0.1.0

B      ?= build
SAN    ?=
DEBUG  ?=
ASSERT ?=

PREFIX     ?= /usr/local
bindir     ?= $(PREFIX)/bin
libexecdir ?= $(PREFIX)/libexec
datadir    ?= $(PREFIX)/share
mandir     ?= $(datadir)/man
libdir     ?= $(PREFIX)/lib
includedir ?= $(PREFIX)/include
pcdir      ?= $(libdir)/pkgconfig
unitdir    ?= $(PREFIX)/lib/systemd/system
docdir     ?= $(datadir)/doc/exitmeter
bashdir    ?= $(datadir)/bash-completion/completions
zshdir     ?= $(datadir)/zsh/site-functions
fishdir    ?= $(datadir)/fish/vendor_completions.d
sysusersdir ?= $(PREFIX)/lib/sysusers.d

ifeq ($(origin CC),default)
CC := gcc
endif
CLANG      ?= clang
NPM        ?= $(shell command -v npm)
BPFTOOL    ?= $(firstword $(wildcard /usr/sbin/bpftool /sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config

# --- what is built from what ---------------------------------------------------------------------

# libexitmeter, and a part of the programs.
LIB_SRC := $(wildcard user/lib/*.c)

# exitmeter: meters, writes the journal and the text, JSON and status reports.
EXITMETER_SRC := $(filter-out user/report_%.c user/record_%.c user/serve_%.c user/suggest_%.c user/probed_%.c, \
		$(wildcard user/*.c)) \
	$(filter-out user/capture/source_bpf_lend.c,$(wildcard user/capture/*.c)) \
	$(wildcard user/procfs/*.c user/model/*.c user/host/*.c user/session/*.c) \
	$(LIB_SRC) \
	$(wildcard user/doctor/*.c user/hostcmd/*.c) \
	$(wildcard user/journal/write*.c user/journal/room.c user/journal/json.c user/journal/spans.c user/journal/outbox.c \
		user/report/*.c)
EXITMETER_PKGS := libbpf libelf zlib libcap-ng

# exitmeter-probed: loads the programs for others; the only one that is made for privileges.
PROBED_SRC := $(wildcard user/probed_*.c user/probed/*.c) \
	$(filter-out %_probe.c %_probed.c %_ring.c,$(wildcard user/capture/source_bpf*.c)) \
	$(patsubst %,user/capture/%.c,source kernel_btf btf_cut lockdown) \
	$(patsubst %,user/%.c,log units options) $(wildcard user/procfs/*.c user/model/*.c) \
	$(LIB_SRC)
PROBED_PKGS := libseccomp $(EXITMETER_PKGS)

# Tables take libsmartcols, which Debian has as a shared library only.
COLUMNS_SRC  := user/format/columns.c
COLUMNS_NONE := user/format/columns_none.c
COLUMNS_PKGS := smartcols

# exitmeter-report: reads a journal and renders it; no privileges, no BPF.
REPORT_SRC := $(wildcard user/report_*.c) \
	$(patsubst %,user/%.c,log units output programs options kinds made terminal procfs/reading) \
	$(wildcard user/model/*.c user/journal/*.c user/report/*.c) \
	$(filter-out $(COLUMNS_SRC) $(COLUMNS_NONE),$(wildcard user/format/*.c)) \
	$(LIB_SRC)
REPORT_PKGS := json-c

# exitmeter-record: writes journals into databases; no privileges, no BPF.
RECORD_SRC := $(wildcard user/record_main.c user/log*.c user/units*.c user/output*.c user/url*.c) user/scheduler.c \
	$(wildcard user/options.c user/procfs/reading.c user/model/*.c user/journal/*.c) \
	$(wildcard user/report/*.c user/record/*.c) \
	$(LIB_SRC)
RECORD_PKGS := json-c sqlite3 libpq libcap-ng libcurl zlib

# exitmeter-serve: journals over HTTP.
SERVE_SRC := $(wildcard user/serve_*.c user/serve/*.c) \
	$(patsubst %,user/%.c,log units output options kinds made url scheduler) \
	$(patsubst %,user/record/%.c,sink ended statement pq) $(wildcard user/record/attempts*.c) \
	$(wildcard user/procfs/*.c user/model/*.c user/journal/*.c user/report/*.c) \
	$(wildcard user/format/metrics*.c) $(patsubst %,user/format/%.c,prometheus openmetrics) \
	$(LIB_SRC)
SERVE_PKGS := libmicrohttpd zlib json-c sqlite3 libpq

# exitmeter-suggest: asks them; exitmeter report --from too.
SUGGEST_SRC := user/suggest_main.c $(patsubst %,user/%.c,log units output options url) \
	$(wildcard user/query/*.c) user/journal/json.c \
	$(LIB_SRC)
SUGGEST_PKGS := json-c sqlite3 libpq

LIB_SONAME := libexitmeter.so.1
LIBS_      := $(B)/lib/libexitmeter.a $(B)/lib/$(LIB_SONAME)

# What unit tests and fuzz targets may call: everything that runs without BPF and without a main().
PURE_SRC := $(filter-out user/main.c user/%_main.c,$(wildcard user/*.c)) \
	$(patsubst %,user/record/%.c,table sql statement ended) user/query/suggest.c user/query/fleet.c \
	$(wildcard user/procfs/*.c user/model/*.c user/journal/*.c user/report/*.c user/host/*.c) \
	$(filter-out $(COLUMNS_NONE),$(wildcard user/format/*.c)) \
	$(patsubst %,user/serve/%.c,accept exited gunzip token) user/probed/sessions.c \
	$(LIB_SRC)
PURE_PKGS := json-c zlib $(COLUMNS_PKGS)

# Alone in seeing libbpf's skeletons and the wire format.
BPF_USERS := $(wildcard user/capture/source_bpf*.c user/capture/kernel_btf.c)

BPF_SRC   := $(wildcard bpf/*.bpf.c)
UNIT_SRC  := $(wildcard tests/unit/test_*.c)
UNIT_HELP := $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c))
# One for all flavours.
PAGE      ?= $(if $(NPM),$(if $(filter build%,$(B)),build,$(B))/web/page.html)
WORK_SRC  := $(wildcard tests/work/*.c)
E2E       := $(sort $(wildcard tests/e2e/*.bats))
FUZZ_SRC  := $(wildcard tests/fuzz/fuzz_*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)

obj = $(patsubst user/%.c,$(B)/obj/%.o,$(1))

SKELS  := $(BPF_SRC:bpf/%.bpf.c=$(B)/gen/%.skel.h)
UNIT   := $(UNIT_SRC:tests/unit/%.c=$(B)/unit/%)
WORK   := $(WORK_SRC:tests/work/%.c=$(B)/work/%) $(WORK_SRC:tests/work/%.c=$(B)/work/static/%)
FAULTS := $(B)/faults/errno.so
FUZZ   := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/fuzz/%)
BENCH  := $(BENCH_SRC:tests/bench/%.c=$(B)/bench/%)
STATIC := $(B)/static/exitmeter $(B)/static/exitmeter-report

# --- flags ---------------------------------------------------------------------------------------

WERROR ?= -Werror
WARN   := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 $(WERROR)

ifeq ($(DEBUG),)
CFLAGS ?= -O2 -g
else
CFLAGS ?= -Og -g3
endif

CFLAGS_   := -std=gnu17 $(WARN)
CPPFLAGS_ := -D_GNU_SOURCE -DEXITMETER_VERSION='"$(VERSION)"' -Iuser
# Generated code is not held to our warnings.
BPF_CPPFLAGS := -isystem $(B)/gen -Ibpf

# The folder of the build is in no object, nor in what the kernel is given.
MAP := -ffile-prefix-map=$(CURDIR)=.

# Unless whoever builds has flags of his own for it; FORTIFY needs optimisation.
OWN_HARDENING := $(foreach f,-O0 stack-protector FORTIFY,$(findstring $(f),$(CPPFLAGS) $(CFLAGS)))
ifeq ($(strip $(SAN)$(DEBUG)$(OWN_HARDENING)),)
HARDEN_C  := -D_FORTIFY_SOURCE=2 -fstack-protector-strong
HARDEN_LD := -Wl,-z,relro,-z,now
CFLAGS_   += $(HARDEN_C)
LDFLAGS_  := $(HARDEN_LD)
endif

ifneq ($(ASSERT),)
CPPFLAGS_ += -DEM_ASSERT=1
endif
ifneq ($(SAN),)
# gcc sees uninitialised variables that are none once it has added the checks.
CFLAGS_  += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
	-Wno-maybe-uninitialized
LDFLAGS_ := -fsanitize=address,undefined
endif

ifneq ($(filter-out clean,$(or $(MAKECMDGOALS),all)),)
PKG_CFLAGS     := $(shell $(PKG_CONFIG) --cflags $(PROBED_PKGS) $(REPORT_PKGS) $(RECORD_PKGS)) \
	$(shell $(PKG_CONFIG) --silence-errors --cflags $(COLUMNS_PKGS))
EXITMETER_LIBS := $(shell $(PKG_CONFIG) --libs $(EXITMETER_PKGS))
PROBED_LIBS     = $(EXITMETER_LIBS) $(shell $(PKG_CONFIG) --libs libseccomp)
# Where there are archives exitmeter takes the code it needs from them: it starts in half the time.
# "make SHARED=1" does without, as distributions want it.
ifneq ($(if $(SHARED),,$(filter /%,$(shell $(CC) -print-file-name=libbpf.a))),)
EXITMETER_LIBS := -Wl,-Bstatic $(EXITMETER_LIBS) -Wl,-Bdynamic
endif
SERVE_LIBS      = $(shell $(PKG_CONFIG) --libs $(SERVE_PKGS))
SUGGEST_LIBS   := $(shell $(PKG_CONFIG) --libs $(SUGGEST_PKGS))
RECORD_LIBS    := $(shell $(PKG_CONFIG) --libs $(RECORD_PKGS))
REPORT_LIBS    := $(shell $(PKG_CONFIG) --libs $(REPORT_PKGS) $(COLUMNS_PKGS))
PURE_LIBS      := $(shell $(PKG_CONFIG) --libs $(PURE_PKGS))
MACHINE        := $(shell uname -m)
endif

# Headers of libraries come after ours and are not held to our warnings.
SYS_CFLAGS := $(patsubst -I%,-isystem %,$(PKG_CFLAGS))

BPF_ARCH ?= $(or $(BPF_ARCH_$(MACHINE)),$(MACHINE))
BPF_ARCH_x86_64      := x86
BPF_ARCH_i686        := x86
BPF_ARCH_aarch64     := arm64
BPF_ARCH_armv7l      := arm
BPF_ARCH_ppc64le     := powerpc
BPF_ARCH_s390x       := s390
BPF_ARCH_riscv64     := riscv
BPF_ARCH_mips64      := mips
BPF_ARCH_loongarch64 := loongarch
BPFFLAGS := -g -O2 -mcpu=v3 -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -Ivmlinux -Ibpf -Wall -Werror

FUZZ_SECONDS ?= 10
FUZZ_CC      := $(CLANG) -std=gnu17 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all

# --- how -----------------------------------------------------------------------------------------

ifeq ($(V),)
Q   := @
say  = @printf '  %-6s %s\n' $(1) $(2)
else
Q   :=
say  =
endif

SUB := $(MAKE) --no-print-directory

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all static arm64 check check-unit check-e2e check-san check-faults check-model model check-browser check-engines vm lint lint-flags bench bench-plans bench-traced bench-record \
	bench-peers fuzz \
	install install-lib install-data install-static uninstall dist dist-static deb check-install check-packages \
	check-long many soak \
	clean run-tests run-faults FORCE

all: $(B)/exitmeter $(B)/exitmeter-report $(B)/exitmeter-record $(B)/exitmeter-serve $(B)/exitmeter-suggest \
	$(B)/exitmeter-probed $(LIBS_)
static: $(STATIC)

# Objects of one set of flags never end in a program of another.
FLAGS_NOW := $(CC) $(CPPFLAGS) $(CPPFLAGS_) $(CFLAGS) $(CFLAGS_) $(LDFLAGS) $(LDFLAGS_) $(BPFFLAGS)
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $@

# Refuses what kernels before 5.12 do.
$(B)/bpf/exitmeter_old.tmp.o: BPFFLAGS += -mcpu=v2

# BPF object -> linked (drops DWARF, keeps BTF) -> skeleton header
$(B)/bpf/%.tmp.o: bpf/%.bpf.c $(B)/flags
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPFFLAGS) $(MAP) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@

$(B)/bpf/%.bpf.o: $(B)/bpf/%.tmp.o
	$(call say,BPFLD,$@)
	$(Q)$(BPFTOOL) gen object $@ $<

$(B)/gen/%.skel.h: $(B)/bpf/%.bpf.o
	$(call say,SKEL,$@)
	@mkdir -p $(@D)
	$(Q){ echo '/* NOLINTBEGIN: generated */' && \
		$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf && \
		echo '/* NOLINTEND */'; } > $@.tmp
	$(Q)mv $@.tmp $@

# Both objects are used by the skeleton of the one: their variables must lie alike.
$(B)/gen/alike: $(SKELS)
	$(Q)sed -n '/__rodata {/,/} \*bss;/p' $(B)/gen/exitmeter.skel.h > $@
	$(Q)sed -n 's/exitmeter_old_bpf/exitmeter_bpf/; /__rodata {/,/} \*bss;/p' \
		$(B)/gen/exitmeter_old.skel.h | diff $@ -

$(call obj,$(BPF_USERS)): $(SKELS) $(B)/gen/alike
$(call obj,$(BPF_USERS)): CPPFLAGS_ += $(BPF_CPPFLAGS)

$(B)/obj/%.o: user/%.c $(B)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CPPFLAGS_) $(SYS_CFLAGS) $(CFLAGS) $(CFLAGS_) $(MAP) -MMD -MP -c $< -o $@

# Where the other programs are to be, for exitmeter that has none beside it.
$(call obj,user/programs.c): CPPFLAGS_ += -DEXITMETER_LIBEXECDIR='"$(libexecdir)/exitmeter"'
$(call obj,user/programs.c): $(B)/libexecdir
$(B)/libexecdir: FORCE
	@mkdir -p $(@D)
	@echo '$(libexecdir)' | cmp -s - $@ || echo '$(libexecdir)' > $@

# The HTML report's page.  Without npm, or where it cannot get its packages, there is none, and
# exitmeter-report says so when it is asked for one.  "make NPM=" does without, "make NPM= PAGE=FILE" takes
# one that was built elsewhere.
ifneq ($(and $(NPM),$(PAGE)),)
$(PAGE): $(wildcard user/format/web/*) tools/page
	$(call say,PAGE,$@)
	@mkdir -p $(@D)
	$(Q)NPM='$(NPM)' tools/page $@
endif

ifneq ($(PAGE),)
$(call obj,user/format/page.c): $(PAGE)
$(call obj,user/format/page.c): CPPFLAGS_ += -DPAGE_FILE='"$(abspath $(PAGE))"'
endif
$(call obj,user/format/page.c): $(B)/page.flags
$(B)/page.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(PAGE)' | cmp -s - $@ || echo '$(PAGE)' > $@

# The static program cannot load a library.
$(B)/static/energy_nvml.o: user/host/energy_nvml.c $(B)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CPPFLAGS_) -DEM_NO_DLOPEN $(CFLAGS) $(CFLAGS_) $(MAP) -MMD -MP -c $< -o $@

$(B)/exitmeter: $(call obj,$(EXITMETER_SRC))
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_) $(LDFLAGS) $(LDFLAGS_) $^ $(EXITMETER_LIBS) $(LDLIBS) -lm -o $@

$(B)/exitmeter-probed: $(call obj,$(PROBED_SRC))
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_) $(LDFLAGS) $(LDFLAGS_) $^ $(PROBED_LIBS) $(LDLIBS) -lm -o $@

$(B)/exitmeter-report: $(call obj,$(REPORT_SRC) $(COLUMNS_SRC))
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_) $(LDFLAGS) $(LDFLAGS_) $^ $(REPORT_LIBS) $(LDLIBS) -lm -o $@

$(B)/exitmeter-suggest: $(call obj,$(SUGGEST_SRC))
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_) $(LDFLAGS) $(LDFLAGS_) $^ $(SUGGEST_LIBS) $(LDLIBS) -lm -o $@

$(B)/exitmeter-record: $(call obj,$(RECORD_SRC))
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_) $(LDFLAGS) $(LDFLAGS_) $^ $(RECORD_LIBS) $(LDLIBS) -lm -o $@

$(B)/exitmeter-serve: $(call obj,$(SERVE_SRC))
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_) $(LDFLAGS) $(LDFLAGS_) $^ $(SERVE_LIBS) $(LDLIBS) -lm -o $@

$(B)/obj/serve/page.o: user/serve/page.html

$(B)/static/exitmeter: $(call obj,$(filter-out user/host/energy_nvml.c,$(EXITMETER_SRC))) \
		$(B)/static/energy_nvml.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(HARDEN_LD) -static -Wl,-Map=$@.map $^ \
		$$($(PKG_CONFIG) --static --libs $(EXITMETER_PKGS)) $(LDLIBS) -lm -o $@

$(B)/static/exitmeter-report: $(call obj,$(REPORT_SRC) $(COLUMNS_NONE))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(HARDEN_LD) -static -Wl,-Map=$@.map $^ \
		$$($(PKG_CONFIG) --static --libs $(REPORT_PKGS)) $(LDLIBS) -lm -o $@

# With Debian's cross compiler and its libraries for arm64; the busybox there is for tools/vm.
SYSROOT := $(abspath $(B)/arm64/sysroot)
$(SYSROOT)/packages:
	$(call say,FETCH,$@)
	$(Q)rm -rf $(SYSROOT)
	$(Q)tools/fetch "$$(. /etc/os-release && echo "$$VERSION_CODENAME")" arm64 $(SYSROOT) libbpf-dev \
		libelf-dev zlib1g-dev libcap-ng-dev libjson-c-dev busybox-static

arm64: export PKG_CONFIG_SYSROOT_DIR := $(SYSROOT)
arm64: export PKG_CONFIG_LIBDIR := $(SYSROOT)/usr/lib/aarch64-linux-gnu/pkgconfig
arm64: $(SYSROOT)/packages
	+$(Q)$(SUB) B=$(B)/arm64 CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar MACHINE=aarch64 \
		CPPFLAGS="-isystem $(SYSROOT)/usr/include" LDFLAGS=-L$(SYSROOT)/usr/lib/aarch64-linux-gnu \
		static
	+$(Q)$(SUB) -s -C tests/work OUT=$(abspath $(B)/arm64/work/static) CC=aarch64-linux-gnu-gcc STATIC=1

# The library is for others' programs: never sanitised, without the model's assertions.
LIB_FLAGS := -std=gnu17 -D_GNU_SOURCE -Iuser -fPIC $(WARN) $(HARDEN_C) $(CPPFLAGS) $(CFLAGS)

$(B)/lib/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(LIB_FLAGS)' | cmp -s - $@ || printf '%s\n' '$(CC) $(LIB_FLAGS)' > $@

$(B)/lib/%.o: user/lib/%.c $(B)/lib/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LIB_FLAGS) $(MAP) -MMD -MP -c $< -o $@

$(B)/lib/libexitmeter.a: $(LIB_SRC:user/lib/%.c=$(B)/lib/%.o)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(B)/lib/$(LIB_SONAME): $(LIB_SRC:user/lib/%.c=$(B)/lib/%.o) user/lib/exitmeter.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(LIB_SONAME) -Wl,--version-script=user/lib/exitmeter.map \
		-Wl,-z,defs $(CFLAGS) $(LDFLAGS) $(HARDEN_LD) $(filter %.o,$^) -lm -o $@

# --- tests ---------------------------------------------------------------------------------------

$(B)/libpure.a: $(call obj,$(PURE_SRC))
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(B)/unit/%: tests/unit/%.c $(UNIT_HELP) $(B)/libpure.a $(B)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CPPFLAGS_) $(SYS_CFLAGS) -Itests/unit $(CFLAGS) $(CFLAGS_) \
		-MMD -MP -MT $@ -MF $@.d $(LDFLAGS) $(LDFLAGS_) $< $(UNIT_HELP) $(B)/libpure.a \
		$(PURE_LIBS) $(LDLIBS) -lm -o $@

# Needs libbpf, but neither root nor the kernel.
$(B)/unit/test_kernels: $(BPF_SRC:bpf/%.bpf.c=$(B)/bpf/%.bpf.o)
$(B)/unit/test_kernels: private PURE_LIBS += $(EXITMETER_LIBS)

# Histories of processes told to the fold; sees the wire format, and needs neither root nor libbpf.
MODEL_SRC  := $(filter-out %/act_model.c,$(wildcard tests/model/*.c))
MODEL_REAL := $(call obj,$(patsubst %,user/capture/source_%.c,bpf_records bpf_living ptrace_reading))
$(B)/model/%.o: tests/model/%.c $(B)/flags $(SKELS)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CPPFLAGS_) $(BPF_CPPFLAGS) $(SYS_CFLAGS) $(CFLAGS) $(CFLAGS_) \
		-MMD -MP -c $< -o $@

$(B)/model/check_model: $(MODEL_SRC:tests/model/%.c=$(B)/model/%.o) $(MODEL_REAL) $(B)/libpure.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_) $(LDFLAGS) $(LDFLAGS_) $^ $(PURE_LIBS) $(LDLIBS) -lm -o $@

# The same acted out under exitmeter.
$(B)/model/act_model: $(patsubst %,$(B)/model/%.o,act_model history truth)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_) $(LDFLAGS) $(LDFLAGS_) $^ $(PURE_LIBS) $(LDLIBS) -lm -o $@

# Programs with a known cost: never sanitised, little optimised.
WORKFLAGS := -std=gnu17 -D_GNU_SOURCE -O1 -g -pthread -Wall -Wextra -Werror

$(B)/work/static/%: tests/work/%.c $(B)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(WORKFLAGS) -MMD -MP -MT $@ -MF $@.d -static $< -lm -o $@

$(B)/work/%: tests/work/%.c $(B)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(WORKFLAGS) -MMD -MP -MT $@ -MF $@.d $< -lm -o $@

# What is preloaded: for a sanitised program too it is not sanitised itself.
$(B)/faults/%.so: tests/faults/%.c $(B)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE -O2 -g -fno-builtin $(WARN) -Wno-missing-prototypes -fPIC -shared \
		-MMD -MP -MT $@ -MF $@.d $< -o $@

# Test flavours have a folder of their own: assertions on, or sanitisers too.
check: all
	+$(Q)$(SUB) B=$(B)-test ASSERT=1 TESTS="unit e2e" run-tests
check-unit:
	+$(Q)$(SUB) B=$(B)-test ASSERT=1 TESTS=unit run-tests
check-e2e:
	+$(Q)$(SUB) B=$(B)-test ASSERT=1 TESTS=e2e run-tests
# HISTORIES=1000000 FIRST=1: told to the fold; ACT=100 SOURCES=bpf: acted out by processes as well.
HISTORIES ?= 100000
FIRST     ?= 1
ACT       ?= 0
SOURCES   ?= bpf ptrace proc
check-model:
	+$(Q)$(SUB) B=$(B)-test ASSERT=1 model
ACTED     := $(if $(filter-out 0,$(ACT)),$(SOURCES))
model: $(B)/model/check_model $(if $(ACTED),all $(B)/model/act_model $(B)/work/static/act)
	$(Q)$(B)/model/check_model $(FIRST) $(HISTORIES)
	$(Q)cd $(B)/model && for source in $(ACTED); do \
		./act_model -s $$source ../exitmeter ../work/static/act $(FIRST) $(ACT) || exit; done
# Less those whose subject is what the kernel's side measures: the same code runs in the others.
KERNEL_SIDE := exactness memory plans twocpus threads cpu loss histories
check-san:
	+$(Q)$(SUB) B=$(B)-san ASSERT=1 SAN=1 TESTS="unit e2e" \
		E2E="$(filter-out $(KERNEL_SIDE:%=tests/e2e/%.bats),$(E2E))" run-tests

TEST_ENV := BATS_TEST_TIMEOUT=$${BATS_TEST_TIMEOUT:-300} LC_ALL=C.UTF-8
ifneq ($(SAN),)
TEST_ENV += EM_SAN=1 ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:exitcode=99 \
	UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
endif

# Most end-to-end tests measure, or look at the whole machine: one after the other.  These do not.
SIDE_BY_SIDE := attempts badinput compare completions control degrade doctor env formats html identity library \
		metrics progress recipes record repeat report serve scale shared split suggest timeformat
BESIDE_E2E = $(filter $(SIDE_BY_SIDE:%=tests/e2e/%.bats),$(E2E))
TESTS ?= unit e2e
ifneq ($(filter unit,$(TESTS)),)
BESIDE += $(UNIT) $(B)/model/check_model
run-tests: $(UNIT) $(B)/model/check_model
endif
ifneq ($(filter e2e,$(TESTS)),)
BESIDE += $(BESIDE_E2E)
RUN    += $(filter-out $(BESIDE_E2E),$(E2E))
run-tests: all $(WORK) $(B)/model/act_model $(FAULTS) $(if $(SAN),,$(STATIC))
endif
run-tests:
	$(Q)$(TEST_ENV) EXITMETER=$(abspath $(B)/exitmeter) WORK=$(abspath $(B)/work) \
		FAULT_LIBRARY=$(abspath $(FAULTS)) EXITMETER_STATIC=$(if $(SAN),,$(abspath $(B)/static/exitmeter)) \
		sh -c 'tools/tap-count -j "$$(nproc)" $(BESIDE); beside=$$?; tools/tap-count $(RUN) && exit "$$beside"'

check-faults:
	+$(Q)$(SUB) B=$(B)-$(if $(SAN),san,test) ASSERT=1 run-faults
run-faults: all $(WORK) $(FAULTS)
	$(Q)$(TEST_ENV) EXITMETER=$(abspath $(B)/exitmeter) WORK=$(abspath $(B)/work) \
		FAULT_LIBRARY=$(abspath $(FAULTS)) tools/tap-count tests/faults/run

# With npm's packages for it, which are not those of the page.
BROWSER := $(if $(filter build%,$(B)),build,$(B))/browser
$(BROWSER)/installed: $(wildcard tests/browser/package*.json)
	$(call say,NPM,$(BROWSER))
	@mkdir -p $(@D)
	@cp $^ $(@D)
	$(Q)cd $(@D) && $(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# What others run, with folders and ports of their own; tools/deps engines installs it.
# ENGINES="tests/engines/x.bats" selects.
ENGINES ?= $(sort $(wildcard tests/engines/*.bats))
check-engines: all $(WORK)
	$(Q)$(TEST_ENV) EXITMETER=$(abspath $(B)/exitmeter) WORK=$(abspath $(B)/work) \
		tools/tap-count $(ENGINES)

# Installing, Debian's packages, the static archive, the same bytes twice; tools/deps packages installs
# what it needs.  check-install is what of it takes seconds.
check-install: all
	$(Q)$(TEST_ENV) B=$(abspath $(B)) tools/tap-count tests/packages/install.bats
check-packages: all static
	$(Q)tools/deps packages
	$(Q)$(TEST_ENV) BATS_TEST_TIMEOUT=1200 B=$(abspath $(B)) tools/tap-count $(sort $(wildcard tests/packages/*.bats))

# What tools/check has no time for.
check-long: vm check-packages check-browser check-engines check-faults many soak

# Two hours of churn; SECONDS_LONG=600 for less, B=build-san SAN=1 under ASan.
soak: all
	$(Q)EXITMETER=$(abspath $(B)/exitmeter) tools/tap-count -v tests/soak/run

# What ten thousands that live at once cost.
many: all $(WORK)
	$(Q)EXITMETER=$(abspath $(B)/exitmeter) WORK=$(abspath $(B)/work) tools/tap-count -v tests/soak/many

check-browser: all $(WORK) $(BROWSER)/installed
	$(Q)EXITMETER=$(abspath $(B)/exitmeter) WORK=$(abspath $(B)/work) SHOTS=$(abspath $(SHOTS)) \
		MODULES=$(abspath $(BROWSER)/node_modules) tools/tap-count tests/browser/run tests/browser/live

# On Debian's other kernels, under qemu.  KERNELS="6.1 new" selects.
vm: $(B)/static/exitmeter
	$(Q)tools/tap-count tests/vm/run

# check-docs asks the built program for its --help.
lint: all
	$(Q)B=$(B) tools/tap-count -v tools/lint

# For tools/lint: what a file of user/ is compiled with.
lint-flags:
	@printf '%s\n' $(CPPFLAGS_) $(BPF_CPPFLAGS) $(SYS_CFLAGS)

# WORKLOADS="exec pipe" selects.
bench: all $(BENCH)
	$(Q)EXITMETER=$(abspath $(B)/exitmeter) BENCH=$(abspath $(B)/bench) tests/bench/run $(WORKLOADS)

# What each hook plan costs, under qemu.  KERNELS, PLANS and PAIRS select.
bench-plans: $(B)/static/exitmeter $(BENCH)
	$(Q)BENCH=$(abspath $(B)/bench) tests/bench/plans

# What tracing costs: the ptrace source, and one that stops at every system call.
bench-traced: all $(BENCH)
	$(Q)EXITMETER=$(abspath $(B)/exitmeter) BENCH=$(abspath $(B)/bench) tests/bench/traced $(WORKLOADS)

# Beside other tools, which tools/deps peers installs: what each says of ten works, what each costs.
bench-peers: all $(BENCH)
	$(Q)EXITMETER=$(abspath $(B)/exitmeter) BENCH=$(abspath $(B)/bench) tests/bench/peers $(PEERS)

# What databases cost: 100,000 rows.
bench-record: all
	$(Q)EXITMETER=$(abspath $(B)/exitmeter) tests/bench/record

$(B)/bench/nothing: LDFLAGS_BENCH := -static
$(B)/bench/load: LDFLAGS_BENCH := -static
$(B)/bench/truth: LDFLAGS_BENCH := -static
$(B)/bench/pairs: LDFLAGS_BENCH := -static
$(B)/bench/inside: LDFLAGS_BENCH := -static
$(B)/bench/%: tests/bench/%.c $(B)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE -O2 -g $(WARN) $(LDFLAGS_BENCH) $< -pthread -lm -o $@

$(B)/fuzz/obj/%.o: user/%.c $(B)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer-no-link $(CPPFLAGS) $(CPPFLAGS_) -DEM_ASSERT=1 $(SYS_CFLAGS) \
		-MMD -MP -c $< -o $@

$(B)/fuzz/libpure.a: $(patsubst user/%.c,$(B)/fuzz/obj/%.o,$(PURE_SRC))
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(B)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(B)/fuzz/libpure.a
	$(call say,CC,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer $(CPPFLAGS) $(CPPFLAGS_) $(SYS_CFLAGS) \
		-MMD -MP -MT $@ -MF $@.d $< $(B)/fuzz/libpure.a $(PURE_LIBS) -lm -o $@

fuzz: $(FUZZ)
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_PROGRAMS="$(FUZZ)" tools/tap-count -v tools/fuzz

# --- installing ----------------------------------------------------------------------------------

# $(call put,MODE,FOLDER,FILE...)
put = install -d '$(DESTDIR)$(2)' && install -m $(1) $(3) '$(DESTDIR)$(2)'

install-lib: $(LIBS_)
	$(call put,644,$(libdir),$(LIBS_))
	ln -sf $(LIB_SONAME) '$(DESTDIR)$(libdir)/libexitmeter.so'
	$(call put,644,$(includedir),user/lib/exitmeter.h)
	sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(libdir)|' -e 's|@includedir@|$(includedir)|' \
		-e 's|@version@|$(VERSION)|' user/lib/exitmeter.pc.in > $(B)/lib/libexitmeter.pc
	$(call put,644,$(pcdir),$(B)/lib/libexitmeter.pc)

# Made by the programs themselves.
$(B)/completions/made: tools/completions $(B)/exitmeter $(B)/exitmeter-report $(B)/exitmeter-record \
		$(B)/exitmeter-suggest $(B)/exitmeter-serve
	$(call say,GEN,$@)
	$(Q)tools/completions $(B) $(@D)
	@touch $@

# What is the same for any build of the programs.
install-data: $(B)/completions/made
	for page in $(wildcard doc/*.[1-8]); do \
		folder="$(DESTDIR)$(mandir)/man$${page##*.}" && install -d "$$folder" && \
			install -m 644 "$$page" "$$folder" || exit; \
	done
	$(call put,644,$(bashdir),$(B)/completions/exitmeter)
	$(call put,644,$(zshdir),$(B)/completions/_exitmeter)
	$(call put,644,$(fishdir),$(B)/completions/exitmeter.fish)
	$(call put,644,$(docdir),README.md NEWS.md LICENSE $(filter-out $(BUILDERS_DOC),$(wildcard doc/*.md)))
	$(call put,644,$(docdir)/LICENSES,LICENSES/*)
	$(call put,644,$(datadir)/exitmeter/schema,doc/*.schema.json)
	$(call put,644,$(datadir)/exitmeter/queries,doc/queries/*.sql)

# For whoever changes exitmeter.
BUILDERS_DOC := $(addprefix doc/,DESIGN.md KERNELS.md PLANS.md)

HELPERS := exitmeter-report exitmeter-record exitmeter-suggest exitmeter-serve exitmeter-probed

UNITS := exitmeter-serve exitmeter-probed

install: all install-lib install-data
	$(call put,755,$(bindir),$(B)/exitmeter)
	$(call put,755,$(libexecdir)/exitmeter,$(addprefix $(B)/,$(HELPERS)))
	for unit in $(UNITS); do \
		sed 's|@libexecdir@|$(libexecdir)|' systemd/$$unit.service.in > $(B)/$$unit.service || exit; \
	done
	$(call put,644,$(unitdir),$(UNITS:%=systemd/%.socket) $(UNITS:%=$(B)/%.service))
	$(call put,644,$(sysusersdir),systemd/exitmeter-probed.conf)

# For dist-static; no library, no units: what they start is not in it.
install-static: static install-data
	$(call put,755,$(bindir),$(B)/static/exitmeter)
	$(call put,755,$(libexecdir)/exitmeter,$(B)/static/exitmeter-report)

# Each file that "make install" with the same folders would make, and the folders that are named after us.
uninstall:
	rm -rf $(B)/uninstall
	+$(Q)$(SUB) -s install DESTDIR='$(abspath $(B)/uninstall)'
	cd $(B)/uninstall && find . ! -type d -exec sh -c 'for f; do rm -f "$$0/$$f"; done' '$(DESTDIR)/' {} +
	cd $(B)/uninstall && find . -depth -type d -path '*/exitmeter*' \
		-exec sh -c 'for f; do [ ! -d "$$0/$$f" ] || rmdir "$$0/$$f"; done' '$(DESTDIR)/' {} +
	rm -rf $(B)/uninstall

# --- packages ------------------------------------------------------------------------------------

dist:
	$(Q)tools/dist source $(VERSION) $(B)/dist

# Stripped; with the licences of what is linked in.
dist-static: static $(B)/completions/made
	+$(Q)EXITMETER_PAGE='$(PAGE)' MAKE='$(MAKE)' B='$(B)' tools/dist static $(VERSION) $(B)/dist

# The page is not among the sources and a package is built without network: it is handed in.
deb: $(PAGE)
	$(Q)EXITMETER_PAGE='$(abspath $(PAGE))' tools/dist deb $(VERSION) $(B)/deb

clean:
	rm -rf $(B) $(B)-test $(B)-san

-include $(shell find $(B) -type f -name '*.d' 2>/dev/null)
