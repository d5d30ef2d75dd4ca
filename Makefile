# make            build bin/ccm
# make test       all tests that need no root and no network
# make lint       gofmt, go vet, staticcheck
# make generate   write what is derived from the declarations
# make integration  real apt, dnf and systemd in throw-away systems (root)
# make fuzz       every fuzz target for FUZZTIME, one after the other
# make reliability  run the tests that count what they try, and write docs/reliability.md (root)
# make bench      measure against the floor programs and installed peers (docs/performance.md)
# make bench-go   the Go benchmarks

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
export CGO_ENABLED = 0

FUZZTIME ?= 10m
FUZZ ?= $(shell git grep -E '^func Fuzz' -- '*_test.go' | sed -E 's,^(.*)/[^/]*:func (Fuzz[A-Za-z]*).*,./\1:\2,')

.PHONY: build test lint generate integration reliability bench bench-go fuzz

build:
	go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/ccm ./cmd/ccm

test:
	go test ./...

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not gofmt'ed:"; echo "$$unformatted"; exit 1; fi
	go vet -tags integration ./...
	go run $(STATICCHECK) -tags integration ./...

generate:
	go generate ./...

integration:
	test/lab/lab check
	test/lab/lab build
	go test -tags integration -count=1 -timeout 20m -parallel 4 ./test/integration
	go test -tags integration -count=1 -timeout 60m ./test/reliability

reliability:
	go run ./test/tally/table $(if $(RUN),-run '$(RUN)') $(LAB)

bench:
	go run ./test/bench -out docs/performance.md $(BENCH)

bench-go:
	go test -run '^$$' -bench . -benchmem ./...

fuzz:
	@for t in $(FUZZ); do \
		echo "$$t for $(FUZZTIME)"; \
		go test -run '^$$' -fuzz "^$${t##*:}\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s "$${t%:*}" || exit 1; \
	done
