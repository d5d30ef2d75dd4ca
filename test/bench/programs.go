//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/test/bench/measure"
)

// A program is one of those that do the same work.
type program struct {
	name   string
	argv   []string
	before func() error        // brings the machine to where the work begins; not timed
	check  func(outcome) error // returns an error unless the work was done
	state  string              // where ccm has its state
	peer   *peer               // runs less often if it is slow, and may fail; nil for ccm and the floor
	rounds int
	runs   []outcome
	err    error // of a peer: why there are no runs
}

// An outcome is one run of a program.
type outcome struct {
	measure.Usage
	out string
}

// The limits of a run.
const (
	limit     = 120 * time.Second
	peerLimit = 20 * time.Second
)

// measure runs all programs in turn: each once, to see that it does what it should
// and to warm what can be warmed, and then as often as there are rounds. A slow peer
// runs less often; the first run of a very slow one has to do.
func (b *bench) measure(programs ...*program) error {
	programs = b.withBefore(programs)
	for k := -1; k < b.rounds; k++ {
		for _, p := range programs {
			if p.err != nil || k >= 0 && k >= p.rounds {
				continue
			}
			o, err := b.once(p)
			switch {
			case err != nil && p.peer == nil:
				return err
			case err != nil:
				p.err = err
			case k >= 0:
				p.runs = append(p.runs, o)
			case p.peer != nil && time.Duration(o.Wall) > 5*time.Second:
				p.runs = []outcome{o}
			case p.peer != nil && time.Duration(o.Wall) > time.Second:
				p.rounds = min(3, b.rounds)
			default:
				p.rounds = b.rounds
			}
		}
	}
	return nil
}

// once runs a program once and checks what it did.
func (b *bench) once(p *program) (o outcome, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", p.name, err)
		}
	}()
	if p.before != nil {
		if err := p.before(); err != nil {
			return o, err
		}
	}
	most, idle := limit, time.Duration(0)
	if p.peer != nil {
		most, idle = peerLimit, p.peer.idle
	}
	log := filepath.Join(b.scratch, "log")
	c := exec.Command(b.floor, append([]string{"once", log, strconv.Itoa(int(most.Seconds()))}, p.argv...)...)
	c.Dir, c.Stderr = b.scratch, os.Stderr
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "NO_COLOR=1", "ANSIBLE_LOCALHOST_WARNING=False", "ANSIBLE_RETRY_FILES_ENABLED=False")
	text, err := c.Output()
	if err == nil {
		err = json.Unmarshal(text, &o.Usage)
	}
	if err != nil {
		return o, err
	}
	said, err := os.ReadFile(log)
	if err != nil {
		return o, err
	}
	o.out, o.Wall = string(said), o.Wall-idle.Nanoseconds()
	end := o.out[max(0, len(o.out)-400):]
	switch {
	case o.Late:
		return o, fmt.Errorf("more than %s", most)
	case o.Status != 0:
		return o, fmt.Errorf("exit status %d: %s", o.Status, end)
	case p.check != nil:
		if err := p.check(o); err != nil {
			return o, fmt.Errorf("%w: %s", err, end)
		}
	}
	return o, nil
}

// wall returns how long a run took, in milliseconds.
func wall(o outcome) float64 { return float64(o.Wall) / 1e6 }

// rss returns the memory of a run, in bytes.
func rss(o outcome) float64 { return float64(o.RSS) }

// bytesRead returns what a run read, in bytes.
func bytesRead(o outcome) float64 { return float64(o.Read) }

// reported returns what finds a number in the report of a run; 0 if it is not there.
func reported(pattern string, scale float64) func(outcome) float64 {
	re := regexp.MustCompile(pattern)
	return func(o outcome) float64 {
		m := re.FindStringSubmatch(o.out)
		if m == nil {
			return 0
		}
		f, _ := strconv.ParseFloat(m[1], 64)
		return f * scale
	}
}

// inUse is the memory, and orderPhase the milliseconds, of a run with --profile.
var (
	inUse      = reported(`([0-9.]+) MiB in use when all was converged`, 1<<20)
	orderPhase = reported(`(?m)^  order +([0-9.]+) ms$`, 1)
)

// median returns the median of a figure of all runs.
func (p *program) median(of func(outcome) float64) float64 {
	list := make([]float64, len(p.runs))
	for i, o := range p.runs {
		list[i] = of(o)
	}
	return median(list)
}

// ms returns the median time of the runs, as the table has it.
func ms(p *program) string { return number(p.median(wall)) + " ms" }

// paired returns the median over the rounds of what is computed from the runs of
// one round, so that a machine that gets slower moves all programs.
func (b *bench) paired(of func(k int) float64) float64 {
	list := make([]float64, b.rounds)
	for k := range list {
		list[k] = of(k)
	}
	return median(list)
}

// ratio returns how much longer x takes than y.
func (b *bench) ratio(x, y *program) float64 {
	return b.paired(func(k int) float64 { return wall(x.runs[k]) / wall(y.runs[k]) })
}

// perItem returns what one more thing costs, in microseconds, from programs that do
// less and more things.
func (b *bench) perItem(less, more *program, nLess, nMore int) float64 {
	return b.paired(func(k int) float64 { return (wall(more.runs[k]) - wall(less.runs[k])) * 1e3 / float64(nMore-nLess) })
}

func median(list []float64) float64 {
	slices.Sort(list)
	switch n := len(list); {
	case n == 0:
		return 0
	case n%2 == 0:
		return (list[n/2-1] + list[n/2]) / 2
	default:
		return list[n/2]
	}
}

// floorProgram returns a mode of the floor, which must find that many things not as
// they are wanted.
func (b *bench) floorProgram(differ int, argv ...string) *program {
	return &program{name: "floor " + argv[0], argv: append([]string{b.floor}, argv...), check: func(o outcome) error {
		var n int
		_, err := fmt.Sscan(o.out, &n)
		if err == nil && n != differ {
			err = fmt.Errorf("%d are not as wanted, not %d", n, differ)
		}
		return err
	}}
}

// ccmProgram returns a run or plan of ccm, with its state in a directory of its own.
func (b *bench) ccmProgram(p *place, verb, file string, want outcomeCounts, flags ...string) *program {
	state := p.path("state-" + filepath.Base(file))
	argv := append([]string{b.ccm, verb, "--state-dir", filepath.Join(state, "ccm")}, flags...)
	return &program{name: strings.Join(append([]string{"ccm", filepath.Base(file)}, flags...), " "), argv: append(argv, file), check: want.check, state: state}
}

// fresh has each run begin with an empty directory of files and without state.
func (p *program) fresh(at *place, dir string) *program {
	p.before = func() error {
		err := at.reset(dir)
		if p.state != "" {
			err = errors.Join(err, at.reset(p.state))
		}
		return errors.Join(err, at.sync())
	}
	return p
}

// also adds a check.
func (p *program) also(check func() error) *program {
	first := p.check
	p.check = func(o outcome) error {
		if first != nil {
			if err := first(o); err != nil {
				return err
			}
		}
		return check()
	}
	return p
}

// counts are those in the last line of a report.
type outcomeCounts struct{ total, changed, pending int }

// allStable is the report of a run that finds nothing to do.
func allStable(n int) outcomeCounts { return outcomeCounts{total: n} }

var (
	nothingToDo = regexp.MustCompile(`(?m)^Nothing to do: (\d+) resources? (?:is|are) as wanted`)
	someChanged = regexp.MustCompile(`(?m)^(\d+) resources?: (?:(\d+) stable)?(?:, )?(?:(\d+) changed)?(?:(\d+) pending)? \(`)
)

func readCounts(out string) (c outcomeCounts, ok bool) {
	m := someChanged.FindStringSubmatch(out)
	if n := nothingToDo.FindStringSubmatch(out); n != nil {
		m = []string{"", n[1], "", "", ""}
	}
	if m == nil {
		return c, false
	}
	c.total, _ = strconv.Atoi(m[1])
	c.changed, _ = strconv.Atoi(m[3])
	c.pending, _ = strconv.Atoi(m[4])
	return c, true
}

func (want outcomeCounts) check(o outcome) error {
	switch have, ok := readCounts(o.out); {
	case !ok:
		return errors.New("its report does not end as expected")
	case have != want:
		return fmt.Errorf("%+v instead of %+v", have, want)
	}
	return nil
}

// A peer is another program that brings machines to a state.
type peer struct {
	name, binary string
	version      string        // its version
	single       bool          // it is one binary, which is copied like that of ccm
	fast         bool          // it is given 10,000 files too
	file         string        // the name of its site; the suffix matters to some
	argv         []string      // FILE and DIR stand for the site and a directory for its state
	idle         time.Duration // it waits that long at its end for nothing
}

// allPeers are the peers that are known, in the order of the table.
func allPeers(o options) []*peer {
	return []*peer{
		// It looks for sources below the repository.
		{name: "gru", binary: o.gru, single: true, fast: true, file: "gru.lua", argv: []string{"apply", "--siterepo", "/", "FILE"}},
		{name: "CFEngine", binary: "cf-agent", fast: true, file: "bench.cf", argv: []string{"-KIf", "FILE"}},
		{name: "Choria CCM", binary: o.choria, single: true, file: "choria.yaml", argv: []string{"apply", "FILE"}},
		{name: "mgmt", binary: "mgmt", file: "bench.mcl", idle: time.Second,
			argv: []string{"run", "--tmp-prefix", "--no-pgp", "--converger-timeout=1", "--converged-exit", "lang", "FILE"}},
		// A state of its own: it loads the record of everything it ever applied.
		{name: "Puppet", binary: "puppet", file: "bench.pp", argv: []string{"apply", "--vardir", "DIR", "FILE"}},
		{name: "Ansible", binary: "ansible-playbook", file: "bench.yml", argv: []string{"-c", "local", "-i", "localhost,", "FILE"}},
	}
}

// findPeers returns the peers that are installed.
func findPeers(o options) (list []*peer) {
	for _, p := range allPeers(o) {
		path, err := exec.LookPath(p.binary)
		if err != nil {
			continue
		}
		p.binary = path
		if out, err := exec.Command(path, "--version").Output(); err == nil {
			p.version, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
		}
		list = append(list, p)
	}
	return list
}

// peers returns the installed peers at some work, or only the fast ones.
func (b *bench) peers(name string, w site, onlyFast bool) (list []*program) {
	for _, p := range b.installed {
		if onlyFast && !p.fast {
			continue
		}
		file, err := b.write(name+"-"+p.file, w.text(p.name))
		argv := []string{p.binary}
		for _, arg := range p.argv {
			argv = append(argv, strings.NewReplacer("FILE", file, "DIR", b.mem.path("peer-state")).Replace(arg))
		}
		list = append(list, &program{name: p.name, peer: p, argv: argv, err: err})
	}
	return list
}

// peerTimes lists what peers took.
func peerTimes(programs []*program) string {
	var words []string
	for _, p := range programs {
		switch {
		case len(p.runs) > 0:
			words = append(words, p.name+" "+number(p.median(wall)))
		case p.err != nil && strings.Contains(p.err.Error(), "more than"):
			words = append(words, fmt.Sprintf("%s over %s", p.name, peerLimit))
		default:
			words = append(words, p.name+" failed")
		}
	}
	return strings.Join(words, ", ")
}
