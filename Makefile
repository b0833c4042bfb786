# cpb measures cryptography. `make run` prints a first result; `make test` runs every test.

# Rust that scripts/setup.sh has just installed is not yet on the caller's PATH.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

.PHONY: help run test setup static deb firmware kmod kmod-check imxrt otfad xip bench fuzz

help:   ## this list
	@sed -n 's/^\([a-z-]*\): *## /  make \1\t/p' Makefile | expand -t 18

run:    ## measure this machine by the default plan; ARGS="..." is passed to `cpb run`
	@scripts/setup.sh run
	cargo build --release --locked --package cpb
	$(or $(CARGO_TARGET_DIR),target)/release/cpb run $(ARGS)

test:   ## every check and every test
	@scripts/setup.sh test
	cargo xtask test

setup:  ## install what this machine lacks, for `make test` too
	@scripts/setup.sh test

static: ## one static file for each target into dist/; ARGS="TARGET..." picks some
	@scripts/setup.sh static
	cargo xtask static $(ARGS)

deb:    ## a Debian package of cpb for this machine, into dist/
	@scripts/setup.sh run
	CPB_CARRIED_FIRMWARE=$(wildcard $(abspath $(or $(CARGO_TARGET_DIR),target))/firmware) \
	  cargo build --release --locked --package cpb
	scripts/deb.sh $(or $(CARGO_TARGET_DIR),target)/release/cpb dist

firmware: ## images for boards into target/firmware/; ARGS="[--opt O3] [--buffers ocram-nc] [BOARD...]"
	@scripts/setup.sh firmware
	cargo xtask firmware $(ARGS)

kmod:   ## cpb's runner inside the kernel (lab/kmod), for the kernel whose build folder is KDIR
	@test -n "$(KDIR)" || { echo "kmod: give the kernel's build folder, such as KDIR=/lib/modules/\$$(uname -r)/build"; exit 2; }
	$(MAKE) -C $(KDIR) M=$(CURDIR)/lab/kmod modules

kmod-check: ## the same module in a kernel that looks for mistakes, for MINUTES=10 minutes
	scripts/kmod-check.sh $(MINUTES)

imxrt:  ## published figures of two i.MX RT beside the simulator's: Mbed TLS by optimisation and placement, DCP, CAAM
	@scripts/setup.sh firmware
	@for opt in O0 O1 O2 O3 Os; do \
	  cargo xtask firmware --solo --opt $$opt imxrt1060-evk imxrt1170-evk && \
	  cargo xtask firmware --solo --opt $$opt --buffers ocram-nc imxrt1170-evk || exit 1; \
	done
	@for place in dtcm ocram ocram-nc; do \
	  cargo xtask firmware --buffers $$place imxrt1060-evk imxrt1170-evk || exit 1; \
	done
	cargo build --release --locked --package cpb
	bench/imxrt.py $(ARGS)

otfad:  ## NXP's table of reads from encrypted flash (AN13198) beside the simulator's
	@scripts/setup.sh firmware
	cargo xtask firmware imxrt1170-evk
	cargo build --release --locked --package cpb
	bench/otfad.py $(ARGS)

xip:  ## reads of flash, and code in it, at other clocks of the flash, without read-ahead, plain and encrypted (simulated)
	@scripts/setup.sh firmware
	cargo xtask firmware imxrt1170-evk
	@for clock in 60 100 133 166; do cargo xtask firmware --code flash --flash-clock $$clock imxrt1170-evk || exit 1; done
	cargo build --release --locked --package cpb
	bench/xip.py $(ARGS)

bench:  ## the benchmarks of the project itself, into bench/results; ARGS="NAME..." picks some
	@scripts/setup.sh run
	cargo build --release --locked --package cpb
	cargo xtask bench $(ARGS)

fuzz:   ## fuzz every target; ARGS="--seconds N TARGET..."
	@scripts/setup.sh run
	cargo xtask fuzz $(ARGS)
