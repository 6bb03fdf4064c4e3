# The one command for each kind of work. Every target first installs what it lacks
# (tools/setup.sh), so none needs another to be run before it.
.POSIX:
.SUFFIXES:
.PHONY: help demo test test-all install lint document check check-jax check-pjrt check-anvl cross random fuzz sanitize bench bench-quick
.PHONY: vignettes site ops-lib clean

# One folder for all builds and for the package that tests and demo use; git ignores it.
LIB = .lib
R = R
FILTER =
COUNT = 20000
SEED = 1
SECONDS = 120
PARTS =
PJRT =
ANVL =
STABLEHLO =
PEERS =

help:
	@echo 'make demo       set up what is missing, build, and run StableHLO programs from R'
	@echo 'make test       set up what is missing, and test each capability (FILTER=lu runs tests named so)'
	@echo 'make test-all   every assertion, as continuous integration runs it'
	@echo 'make install    install the package, with its vignettes, into the default library of R'
	@echo 'make lint       rustfmt, clippy, lintr, shellcheck'
	@echo 'make document   wrappers, help pages and NAMESPACE from the sources'
	@echo 'make check      R CMD check --as-cran on the built tarball'
	@echo 'make bench      the speed figures of the README'
	@echo 'make bench-quick   three minutes: whether something has become slower by a factor of two'
	@echo 'make check-jax  programs that JAX exports beside JAX, and the sparse handlers under JAX'
	@echo 'make check-pjrt run the test suite of the package pjrt here (PJRT=checkout; tells what else it needs)'
	@echo 'make check-anvl the same of anvl, and functions to and from it (ANVL=checkout)'
	@echo 'make cross      Windows, arm64 and macOS from a Debian: crates, package, plugin (PARTS=; tools/cross.md)'
	@echo 'make random     random programs through every op beside jaxlib (COUNT=20000 SEED=1)'
	@echo 'make fuzz       random programs and derivatives beside R, garbage everywhere (SECONDS=120 SEED=1)'
	@echo 'make sanitize   loom, Miri, sanitizers, gctorture (PARTS=; tools/sanitize.md)'
	@echo 'make vignettes  knit the vignettes into inst/doc'
	@echo 'make site       the documentation as a site in target/site'
	@echo 'make ops-lib    the ops as a shared library without R; its path is the last line'
	@echo 'make clean      remove everything that was built'

demo:
	@tools/setup.sh run
	@tools/install.sh $(LIB)
	@tools/with-env.sh Rscript tools/demo/demo.R
	@tools/with-env.sh Rscript tools/demo/kepler.R

test:
	@tools/setup.sh test
	@tools/test.sh '$(FILTER)'

test-all:
	@tools/setup.sh test
	@tools/test.sh --all '$(FILTER)'

# The vignettes are knitted with the package in LIB, which has the same build; R installs what it
# finds in inst/doc.
install:
	@tools/setup.sh install
	@tools/install.sh --shipped $(LIB)
	@tools/with-env.sh Rscript tools/vignettes.R
	NOT_CRAN=true $(R) CMD INSTALL .

lint:
	@tools/setup.sh lint
	@tools/lint.sh

document:
	@tools/setup.sh document
	@tools/document.sh

check:
	@tools/setup.sh check
	@tools/check.sh

check-jax:
	@tools/setup.sh test
	@tools/install.sh $(LIB)
	@rm -rf target/jax && mkdir -p target
	@tools/with-env.sh Rscript tools/jax/run.R target/jax
	@tools/with-env.sh Rscript tools/jax/run-devices.R target/jax-devices
	@tools/with-env.sh sh -c '"$$XLAFFI_PYTHON" tools/ops-lib/check_jax.py "$$(tools/ops-lib/build.sh)" sparse'

check-pjrt:
	@tools/setup.sh test
	@tools/install.sh $(LIB)
	@tools/peers/check.sh pjrt '$(PJRT)' '$(PEERS)'

check-anvl:
	@tools/setup.sh test
	@tools/install.sh $(LIB)
	@tools/peers/check.sh anvl '$(ANVL)' '$(PEERS)' '$(STABLEHLO)'

cross:
	@tools/setup.sh test
	@tools/cross.sh $(PARTS)

random:
	@tools/setup.sh test
	@tools/random/run.sh $(COUNT) $(SEED)

fuzz:
	@tools/setup.sh test
	@tools/fuzz.sh $(SECONDS) $(SEED)

sanitize:
	@tools/setup.sh test
	@tools/sanitize.sh $(PARTS)

bench:
	@tools/setup.sh bench
	@tools/install.sh --shipped $(LIB)
	@tools/with-env.sh bash tools/bench/run.sh

bench-quick:
	@tools/setup.sh test
	@tools/install.sh --shipped $(LIB)
	@tools/with-env.sh Rscript tools/bench/quick.R

vignettes:
	@tools/setup.sh document
	@tools/install.sh $(LIB)
	@tools/with-env.sh Rscript tools/vignettes.R

site:
	@tools/setup.sh site
	@tools/install.sh $(LIB)
	@tools/site/build.sh

ops-lib:
	@tools/setup.sh run
	@tools/ops-lib/build.sh

clean:
	rm -rf $(LIB) target src/rust/target src/*.o src/*.so src/Makevars src/.cargo src/vendor
	rm -rf xlaffi.Rcheck xlaffi_*.tar.gz inst/doc
