# The front door. Meson builds the daemon (build/meson), phpize the extension (build/php<version>); the scripts named
# here can be run by hand as well. `make help` lists the targets.

.PHONY: all help setup run test test-all asan fuzz bench install uninstall format web clean
.DEFAULT_GOAL := all

export CC CFLAGS PHP_CONFIG PREFIX DESTDIR WERROR ONCE TESTS FUZZ_SECONDS NINJAFLAGS

# Make's own default must not override the build's choice of compiler.
ifeq ($(origin CC),default)
CC :=
endif

all:
	@scripts/build

help:
	@echo 'make                      build/strobe, and the extension for every PHP found (build/php<version>/strobe.so)'
	@echo 'make PHP_CONFIG=FILE      the same, only for the PHP of this php-config; PHP_CONFIG=none: only build/strobe'
	@echo 'make run                  a DokuWiki site under the profiler, from nothing to its flame graph; press Ctrl-C to stop'
	@echo 'make run ONCE=1           the same, but stop once the pictures var/demo/*.svg are written'
	@echo 'make test                 the tests of this machine; TESTS="unit cli" only these suites, or tests whose name contains a word'
	@echo '                          (suites: unit fuzz cli pipeline recording php web system; long and elsewhere only when named)'
	@echo 'make test-all             all suites: other PHP versions and builds, valgrind, arm64; takes hours'
	@echo 'make asan                 unit tests, goldens and fuzz corpora with ASan and UBSan'
	@echo 'make fuzz                 every fuzz target for FUZZ_SECONDS=10 (clang)'
	@echo 'make bench                the table of measurements'
	@echo 'make install              DESTDIR= PREFIX=/usr/local: binary, extension, man pages, completion, systemd units'
	@echo 'make uninstall            DESTDIR= PREFIX=: removes what `make install` has put there'
	@echo 'make format               formats the lines of C that this branch has changed (clang-format)'
	@echo 'make setup                installs the Debian packages that building, the demo and the tests need'
	@echo 'make web                  rebuilds the web page (npm) in web/dist, which is committed'
	@echo 'make clean                removes build/ and compile_commands.json (the state of the demo and of the tests stays in var/)'
	@echo
	@echo 'CC=clang, CFLAGS=… and WERROR=1 (warnings are errors) also apply.'

setup:
	@scripts/setup build run test

run:
	@scripts/setup build run
	@scripts/build
	@demo/run

test:
	@scripts/test $(TESTS)

test-all:
	@scripts/test --all

asan:
	@scripts/setup build test
	@scripts/sanitize

fuzz:
	@scripts/setup build test
	@scripts/fuzz

bench:
	@scripts/setup build run test
	@scripts/build
	@bench/run

install:
	@scripts/build
	@scripts/install

uninstall:
	@scripts/uninstall

format:
	@scripts/format

web:
	@web/build.sh

clean:
	rm -rf build compile_commands.json
