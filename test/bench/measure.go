package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/test/bench/once"
)

// A side is one of the programs that do the same work.
type side struct {
	name   string
	argv   []string
	before func() error        // brings the machine to where the work begins; not timed
	check  func(outcome) error // says whether the work was done
	state  string              // where ccm has its state
	peer   bool                // runs less often if it is slow, and may fail
	idle   time.Duration       // that it waits at its end for nothing
	rounds int
	runs   []outcome
	fault  error // of a peer: why there are no runs
}

// An outcome is one run of a program.
type outcome struct {
	once.Took
	out string // what it said
}

// limits of a run.
const (
	limit     = 120 * time.Second
	peerLimit = 20 * time.Second
)

// measure runs all sides in turn: each once, to see that it does what it should
// and to warm what can be warmed, and then as often as there are rounds.
func (b *bench) measure(sides ...*side) error {
	for _, s := range sides {
		if s.fault != nil {
			continue
		}
		first, err := b.once(s)
		switch {
		case err != nil && s.peer:
			s.fault = err
		case err != nil:
			return err
		default:
			s.plan(first, b.rounds)
		}
	}
	for k := range b.rounds {
		for _, s := range sides {
			if s.fault != nil || k >= s.rounds {
				continue
			}
			o, err := b.once(s)
			if err != nil && !s.peer {
				return err
			}
			if s.fault = err; err == nil {
				s.runs = append(s.runs, o)
			}
		}
	}
	return nil
}

// plan decides how often a side runs, after its first run. A slow peer runs less
// often; the first run of a very slow one has to do.
func (s *side) plan(first outcome, rounds int) {
	s.rounds = rounds
	if !s.peer {
		return
	}
	switch took := time.Duration(first.Wall); {
	case took > 5*time.Second:
		s.rounds, s.runs = 0, []outcome{first}
	case took > time.Second:
		s.rounds = min(3, rounds)
	}
}

// once runs a side once and checks what it did.
func (b *bench) once(s *side) (outcome, error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return outcome{}, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	most := limit
	if s.peer {
		most = peerLimit
	}
	log := filepath.Join(b.scratch, "log")
	argv := append([]string{"once", log, strconv.Itoa(int(most.Seconds()))}, s.argv...)
	c := exec.Command(b.floor, argv...)
	c.Dir = b.scratch
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "NO_COLOR=1", "ANSIBLE_LOCALHOST_WARNING=False", "ANSIBLE_RETRY_FILES_ENABLED=False")
	c.Stderr = os.Stderr
	text, err := c.Output()
	var o outcome
	if err != nil {
		return o, fmt.Errorf("%s: %w", s.name, err)
	}
	if err := json.Unmarshal(text, &o.Took); err != nil {
		return o, err
	}
	said, err := os.ReadFile(log)
	if err != nil {
		return o, err
	}
	o.out = string(said)
	o.Wall -= s.idle.Nanoseconds()
	switch {
	case o.Late:
		return o, fmt.Errorf("%s: more than %s", s.name, most)
	case o.Status != 0:
		return o, fmt.Errorf("%s: exit status %d: %s", s.name, o.Status, tail(o.out))
	case s.check != nil:
		if err := s.check(o); err != nil {
			return o, fmt.Errorf("%s: %w: %s", s.name, err, tail(o.out))
		}
	}
	return o, nil
}

// tail returns the end of what a program said.
func tail(out string) string {
	out = strings.TrimSpace(out)
	if len(out) > 400 {
		out = "..." + out[len(out)-400:]
	}
	return out
}

// all joins checks.
func all(checks ...func(outcome) error) func(outcome) error {
	return func(o outcome) error {
		var errs []error
		for _, c := range checks {
			errs = append(errs, c(o))
		}
		return errors.Join(errs...)
	}
}

// wall returns how long a run took, in milliseconds.
func wall(o outcome) float64 { return float64(o.Wall) / 1e6 }

// rss returns the memory of a run, in bytes.
func rss(o outcome) float64 { return float64(o.RSS) }

// bytesRead returns what a run read, in bytes.
func bytesRead(o outcome) float64 { return float64(o.Read) }

// median returns the median of a figure of all runs.
func (s *side) median(of func(outcome) float64) float64 {
	list := make([]float64, len(s.runs))
	for i, o := range s.runs {
		list[i] = of(o)
	}
	return median(list)
}

// ms returns the median time of the runs.
func (s *side) ms() float64 { return s.median(wall) }

// paired returns the median over the rounds of what is computed from the runs of
// one round, so that a machine that gets slower moves both sides.
func (b *bench) paired(of func(k int) float64) float64 {
	list := make([]float64, b.rounds)
	for k := range list {
		list[k] = of(k)
	}
	return median(list)
}

// ratio returns how much longer x takes than y.
func (b *bench) ratio(x, y *side) float64 {
	return b.paired(func(k int) float64 { return wall(x.runs[k]) / wall(y.runs[k]) })
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	if n := len(list); n%2 == 0 {
		return (list[n/2-1] + list[n/2]) / 2
	}
	return list[len(list)/2]
}
