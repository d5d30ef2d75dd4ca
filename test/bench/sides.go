package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// floorSide returns a mode of the floor program. What it says of things that are
// not as wanted must be differ.
func (b *bench) floorSide(name string, differ int, argv ...string) *side {
	return &side{name: name, argv: append([]string{b.floor}, argv...), check: func(o outcome) error {
		n, _, err := floorSaid(o)
		if err == nil && n != differ {
			err = fmt.Errorf("%d are not as wanted, not %d", n, differ)
		}
		return err
	}}
}

// floorSaid reads what the floor says: how many things were not as wanted, and
// how long looking at them took, in milliseconds.
func floorSaid(o outcome) (differ int, ms float64, err error) {
	var ns int64
	_, err = fmt.Sscanf(o.out, "%d %d", &differ, &ns)
	return differ, float64(ns) / 1e6, err
}

// run returns a run of ccm, with its state in a directory of its own.
func (b *bench) run(name, file string, want counts, flags ...string) *side {
	return b.ccmSide(b.mem, "run", name, file, want, flags...)
}

// plan returns a plan of ccm.
func (b *bench) plan(name, file string, want counts, flags ...string) *side {
	return b.ccmSide(b.mem, "plan", name, file, want, flags...)
}

func (b *bench) ccmSide(p *place, verb, name, file string, want counts, flags ...string) *side {
	argv := append([]string{b.ccm, verb, "--state-dir", p.path("state-" + name)}, flags...)
	return &side{name: "ccm " + name, argv: append(argv, file), check: want.check, state: argv[3]}
}

// counts are what the last line of a report says.
type counts struct{ total, changed, pending int }

var (
	nothingToDo = regexp.MustCompile(`(?m)^Nothing to do: (\d+) resources? (?:is|are) as wanted`)
	someChanged = regexp.MustCompile(`(?m)^(\d+) resources?: (?:(\d+) stable)?(?:, )?(?:(\d+) changed)?(?:(\d+) pending)? \(`)
)

func readCounts(out string) (c counts, ok bool) {
	if m := nothingToDo.FindStringSubmatch(out); m != nil {
		c.total, _ = strconv.Atoi(m[1])
		return c, true
	}
	m := someChanged.FindStringSubmatch(out)
	if m == nil {
		return c, false
	}
	c.total, _ = strconv.Atoi(m[1])
	c.changed, _ = strconv.Atoi(m[3])
	c.pending, _ = strconv.Atoi(m[4])
	return c, true
}

func (want counts) check(o outcome) error {
	have, ok := readCounts(o.out)
	if !ok {
		return fmt.Errorf("its report does not end as expected")
	}
	if have != want {
		return fmt.Errorf("%+v instead of %+v", have, want)
	}
	return nil
}

// allStable is the report of a run that finds nothing to do.
func allStable(n int) counts { return counts{total: n} }

// phase returns how long a phase of a run with --profile took, in milliseconds.
func phase(o outcome, name string) float64 {
	m := regexp.MustCompile(`(?m)^  ` + name + ` +([0-9.]+) ms$`).FindStringSubmatch(o.out)
	if m == nil {
		return 0
	}
	ms, _ := strconv.ParseFloat(m[1], 64)
	return ms
}

// inUse returns how much memory a run with --profile had in use at its end, in
// bytes.
func inUse(o outcome) float64 {
	m := regexp.MustCompile(`([0-9.]+) MiB in use when all was converged`).FindStringSubmatch(o.out)
	if m == nil {
		return 0
	}
	mib, _ := strconv.ParseFloat(m[1], 64)
	return mib * (1 << 20)
}

// fresh has each run of a side begin with an empty directory of files and without
// state, and leave something to look at.
func (s *side) fresh(p *place, dir string) *side {
	s.before = func() error {
		if err := p.reset(dir); err != nil {
			return err
		}
		if s.state != "" {
			if err := p.reset(s.state); err != nil {
				return err
			}
		}
		return p.sync()
	}
	return s
}

// guards makes n empty files.
func (b *bench) guards(n int) ([]string, error) {
	dir := b.mem.path("guards")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	list := make([]string, n)
	for i := range list {
		list[i] = filepath.Join(dir, fmt.Sprintf("g%06d", i))
		if err := os.WriteFile(list[i], nil, 0o644); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// perItem returns what one more costs, in microseconds, from two sides that have
// as many things to do as is said.
func perItem(less, more outcome, nLess, nMore int) float64 {
	return float64(time.Duration(more.Wall-less.Wall).Nanoseconds()) / 1e3 / float64(nMore-nLess)
}
