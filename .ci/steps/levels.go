package main

import "time"

// A step is one command of CI.
type step struct {
	name    string
	lane    int           // steps of lane 0 run first; then those of the other lanes, the lanes side by side
	limit   time.Duration // the deadline, at least five times what the step needs on two cores with nothing beside it
	needs   string        // a command that fails, and prints why, where the step cannot be run
	command string
}

// Commands of steps that need something of the machine.
const (
	lab      = "test/lab/lab check"
	chromium = "command -v chromium >/dev/null || { echo chromium is not installed; exit 1; }"
	root     = `[ "$(id -u)" = 0 ] || { echo root is needed; exit 1; }`
)

// The levels, and the steps of each in their order. docs/testing.md says what belongs to which level.
var levels = map[string][]step{
	// The steps of lane 2 wait for servers, browsers and systems that boot, while those of lane 1 use the processors. The
	// deadlines of each lane add up to less than 85 minutes, so that the table is printed in any case.
	"change": {
		{name: "hello", limit: 4 * time.Minute, command: `CGO_ENABLED=0 go build -trimpath -o "$BUILD" ./cmd/ccm && "$BUILD" run examples/hello/site.lua "$(mktemp -d)/site"`},
		{name: "lint", lane: 1, limit: 15 * time.Minute, command: "make lint"},
		{name: "test-all", lane: 1, limit: 40 * time.Minute, command: "make test-all"},
		{name: "lua-diff", lane: 1, limit: 10 * time.Minute, command: "CCM_LUA_DIFF=required make lua-diff PROGRAMS=500 SEED=1"},
		{name: "package", lane: 1, limit: 14 * time.Minute, command: "make package"},
		{name: "fleet", lane: 2, limit: 20 * time.Minute, command: "make fleet-short"},
		{name: "browser", lane: 2, limit: 15 * time.Minute, needs: chromium, command: "CCM_BROWSER=required make browser-short"},
		{name: "integration", lane: 2, limit: 40 * time.Minute, needs: lab, command: "make integration-short"},
	},
	"night": {
		{name: "cross", limit: time.Hour, command: "make cross"},
		{name: "portable", limit: time.Hour, command: "make portable"},
		{name: "reproducible", limit: time.Hour, command: "make reproducible"},
		{name: "plans", limit: 2 * time.Hour, command: "make plans"},
		{name: "lua-diff", limit: 2 * time.Hour, command: "CCM_LUA_DIFF=required make lua-diff PROGRAMS=20000"},
		{name: "hostile", limit: time.Hour, command: "make hostile"},
		{name: "growth", limit: 3 * time.Hour, command: "make growth"},
		{name: "race", limit: 3 * time.Hour, command: "make race"},
		{name: "fleet", limit: 2 * time.Hour, command: "make fleet"},
		{name: "browser", limit: time.Hour, needs: chromium, command: "CCM_BROWSER=required make browser"},
		{name: "integration", limit: 2 * time.Hour, needs: lab, command: "make integration"},
		{name: "systems", limit: time.Hour, needs: lab, command: "make systems"},
		{name: "reliability", limit: 3 * time.Hour, needs: root, command: "CCM_TEST_NIGHTLY=1 make disks"},
		{name: "fleet-soak", limit: 3 * time.Hour, needs: lab, command: "make fleet-soak"},
		{name: "govulncheck", limit: time.Hour, command: "make vulnerabilities"},
	},
}
