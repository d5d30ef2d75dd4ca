# make            build bin/ccm
# make cross      build bin/ccm-SYSTEM for each of SYSTEMS, vet the code for those that are not Linux, and try 386 (root)
# make package    build deb, rpm, apk and an archive for ARCH, with SBOM and checksums, into dist/
# make reproducible  build the packages twice and compare (a minute)
# make portable   test on Linux the code for systems without O_PATH and openat2
# make test       on each save: tests that need no root and no network
# make test-all   these and the long ones: hostile input, limits, growth, kills
# make lint       the linters of .golangci.yml
# make nightly    what .ci/run leaves out, with one table at the end (hours)
# make stress     make test-all, fleet and browser ROUNDS times under load, and what failed how often
# make race       make test-all with the race detector (needs a C compiler)
# make vulnerabilities  govulncheck
# make generate   write the files that are derived from declarations
# make demo       record the picture of the README (root)
# make plans-roles  figures of docs/plans.md: the plans of examples/roles on fresh machines (needs root and a Debian mirror)
# make plans      compare plans of SITES random sites with their runs
# make lua-diff   compare PROGRAMS generated programs in ccm and in lua5.1
# make hostile    print hostile text with all commands, in pipes and on terminals
# make integration  real apt, dnf and systemd in throw-away systems (root)
# make fleet      tests with real nats-servers: keys, objects, and a fleet
# make integration-short fleet-short browser-short  the part of these that runs for each change
# make systems    the drivers of ccm test --system, podman too if it is installed (root)
# make disks      full disks, quotas, little memory, power cuts (root)
# make bench-fleet  measure fleets of NODES simulated nodes, and write test/fleet/bench.md (eight minutes)
# make fleet-soak  the long forms of make fleet, with random faults for SOAK (10m; half an hour in all, root, nft)
# make browser    test the pages of ccm in headless Chromium
# make studio-vendor  bundle the libraries of the page of ccm studio again (needs npm)
# make fuzz       each fuzz target for FUZZTIME, one after the other
# make reliability  run the tests that count their tries, and write test/reliability/counts.md (root)
# make growth     compare the costs of 1,000 and of up to 100,000 resources (many minutes)
# make bench      measure against the floor programs and installed peers (docs/performance.md)
# make bench-go   the Go benchmarks, COUNT times each; benchstat compares two outputs

GOLANGCI = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.1.4
VERSION ?= $(shell .ci/version)
export CGO_ENABLED = 0

# Tests, binaries and packages share the compiled code, which paths of this machine would divide.
GOFLAGS ?= -trimpath
export GOFLAGS

# make lint vets. .ci/steps sets TESTFLAGS to -json.
TEST = go test -vet=off $(TESTFLAGS) $(SHORT)

# The systems in the README, each as GOOS-GOARCH; armv7 is arm with GOARM=7.
SYSTEMS ?= linux-amd64 linux-arm64 linux-armv7 linux-riscv64 darwin-amd64 darwin-arm64 freebsd-amd64

# The code that is vetted for each of OTHERS, which cannot be run here.
OTHERS = darwin freebsd
VETTED = ./cmd/... ./luaapi/... ./providers/... ./resources/... ./runtime/... ./site/... ./stdlib/...

SITES ?= 2000
SEED ?= $(shell date +%Y%m%d)0000

FUZZTIME ?= 10m
FUZZ ?= $(shell git grep -E '^func Fuzz' -- '*_test.go' | sed -E 's,^(.*)/[^/]*:func (Fuzz[A-Za-z]*).*,./\1:\2,')

BUILD = go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"

# Architectures for make package: amd64, arm64, armv7, riscv64; or with a system, such as darwin-arm64.
ARCH ?= $(shell go env GOARCH)
PACKAGE = go -C .ci/package

.PHONY: plans-roles build cross package share reproducible portable test test-all lint nightly stress race vulnerabilities generate integration integration-short systems disks fleet fleet-short bench-fleet fleet-soak browser browser-short studio-vendor reliability growth bench bench-go fuzz plans hostile lua-diff demo

build:
	$(BUILD) -o bin/ccm ./cmd/ccm

cross:
	@for s in $(SYSTEMS); do \
		arch=$${s#*-}; [ $$arch != armv7 ] || arch=arm; \
		echo "bin/ccm-$$s"; \
		GOOS=$${s%%-*} GOARCH=$$arch GOARM=7 $(BUILD) -o bin/ccm-$$s ./cmd/ccm || exit 1; \
	done
	@for s in $(OTHERS); do echo "go vet, $$s"; GOOS=$$s GOARCH=amd64 go vet $(VETTED) || exit 1; done
	CCM_TEST_NIGHTLY=1 $(TEST) -count=1 ./cmd/ccm -run '^TestField32Bits$$'

# The files of packages besides the program. make package calls this.
share: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)
share:
	rm -rf bin/share
	mkdir -p bin/share/doc bin/share/completions
	go build -trimpath -o bin/share/ccm ./cmd/ccm
	bin/share/ccm docs --man bin/share/man
	gzip -9n bin/share/man/*
	for s in bash fish; do bin/share/ccm completion $$s > bin/share/completions/ccm.$$s || exit 1; done
	bin/share/ccm completion zsh > bin/share/completions/_ccm
	gzip -9nc CHANGELOG.md > bin/share/doc/CHANGELOG.md.gz
	rm bin/share/ccm

package:
	VERSION='$(VERSION)' $(PACKAGE) run . -out ../../dist $(ARCH)

reproducible:
	$(PACKAGE) test $(TESTFLAGS) -count=1 ./...

portable:
	$(TEST) -timeout 60m -tags portable ./runtime/safepath ./runtime/host ./runtime/host/unpack

# /dev/shm, if tests can have 2 GiB there and execute what they write.
MEMORY = $(shell [ -w /dev/shm ] && ! grep -q ' /dev/shm [^ ]* [^ ]*noexec' /proc/mounts && \
	df -Pm /dev/shm | awk 'END { exit $$4 < 2048 }' && echo /dev/shm)

# Temporary files of these tests are in memory: syncing to a disk takes much of their time. What go builds is not.
test: export GOTMPDIR ?= /tmp
test: export TMPDIR ?= $(or $(MEMORY),/tmp)

# The timeout is for machines ten times slower than usual ones.
test:
	$(TEST) -short -timeout 60m ./... ./.ci/steps

test-all:
	$(TEST) -timeout 60m ./... ./.ci/steps

nightly:
	go run ./.ci/steps night

ROUNDS ?= 4

stress:
	go run ./.ci/steps stress $(ROUNDS)

# cgo is needed by the detector.
race:
	CGO_ENABLED=1 $(TEST) -race -timeout 3h ./...

vulnerabilities:
	go run $(GOVULNCHECK) ./...
	cd test/fleet && go run $(GOVULNCHECK) ./...

# Fewer collections of garbage save a third of the processor time.
lint: export GOGC ?= 400

lint:
	go run $(GOLANGCI) run ./... ./.ci/steps
	cd .ci/package && go run $(GOLANGCI) run ./...
	cd test/fleet && go run $(GOLANGCI) run ./...

generate:
	go generate ./...

demo:
	go run ./docs/website/demo docs/website/demo.svg

plans:
	CCM_PLANS=$(SITES) CCM_PLANS_SEED=$(SEED) go test ./cmd/ccm -count=1 -v -timeout 2h -run '^TestPlansComeTrue$$'

plans-roles:
	test/lab/lab check
	test/lab/lab build
	$(TEST) -tags integration -count=1 -v -timeout 60m -parallel 2 ./test/integration -run '^TestPlansOfRoles$$'

PROGRAMS ?= 500

lua-diff:
	CCM_LUA_DIFF_PROGRAMS=$(PROGRAMS) CCM_LUA_DIFF_SEED=$(SEED) $(TEST) ./test/luadiff -count=1 -v -timeout 2h -run '^TestPrograms$$'

hostile:
	CCM_TEST_TERMINAL=all $(TEST) ./cmd/ccm -count=1 -run '^TestHostileTextInReports$$'

# The short forms skip what docs/testing.md lists as nightly.
integration-short fleet-short browser-short: SHORT = -short

integration integration-short:
	test/lab/lab check
	test/lab/lab build
	$(TEST) -tags integration -count=1 -timeout 60m -parallel 4 ./test/integration

systems:
	test/lab/lab check
	test/lab/lab build
	CCM_TEST_NIGHTLY=1 $(TEST) -count=1 -timeout 60m ./runtime/testsystem

# Much more of each test with CCM_TEST_NIGHTLY=1.
disks:
	$(TEST) -tags integration -count=1 -timeout 3h ./test/reliability

fleet fleet-short:
	cd test/fleet && go vet ./... && $(TEST) -count=1 -timeout 60m -parallel 4 ./...

# See test/fleet/bench. 1,000 nodes take three minutes on a machine with two cores.
NODES ?= 1000,10000
SOAK ?= 10m

bench-fleet:
	cd test/fleet && go run ./bench -nodes $(NODES) -out bench.md

fleet-soak:
	cd test/fleet && CCM_FLEET_SOAK=$(SOAK) go test -count=1 -v -timeout 0 -parallel 1 -run Soak .
	CCM_FLEET_SOAK=$(SOAK) go test -tags integration -count=1 -v -timeout 2h -run '^TestFleetOfTwenty$$' ./test/integration

browser browser-short:
	cd test/browser && go vet ./... && $(TEST) -count=1 -timeout 60m -parallel 3 ./...

studio-vendor:
	cd studio/bundle && npm ci && node build.mjs

reliability:
	go run ./test/tally/table $(if $(RUN),-run '$(RUN)') $(if $(COUNTS),-counts '$(COUNTS)') $(LAB)

growth:
	CCM_TEST_GROWTH=100000 CCM_TEST_HEAP=1 go test ./cmd/ccm -count=1 -v -timeout 2h \
		-run '^(TestPlansGrowLinearly|TestCommandsGrowLinearly|TestHeapOfCommands|TestPeakOfMemory|TestPeakOfEdits|TestEditsGrowLinearly|TestSequential)$$'

bench:
	go run ./test/bench -out docs/performance.md $(BENCH)

COUNT ?= 1

bench-go:
	go test -run '^$$' -bench . -benchmem -count $(COUNT) ./...

fuzz:
	@for t in $(FUZZ); do \
		echo "$$t for $(FUZZTIME)"; \
		go test -run '^$$' -fuzz "^$${t##*:}\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s "$${t%:*}" || exit 1; \
	done
