//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// packages measures packages that are installed, from all over the list. Nothing is
// installed by it: a plan must first say that there is nothing to do.
func (b *bench) packages() ([]line, error) {
	work := fmt.Sprintf("%d installed packages", b.sizes.packages)
	out, err := exec.Command("dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n").Output()
	if err != nil {
		return nil, notMeasuredError{work, "there is no dpkg-query here"}
	}
	var names []string
	for text := range strings.Lines(string(out)) {
		if name, ok := strings.CutSuffix(strings.TrimSpace(text), " installed"); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	s, n := b.site("package"), min(len(names), b.sizes.packages)
	if n < b.sizes.packages {
		work = fmt.Sprintf("%d installed packages (there are no more)", n)
	}
	for i := range n {
		s.Items = append(s.Items, item{Name: names[i*len(names)/n], Own: []property{{"ensure", "present"}}})
	}
	return b.query(work, "packages", s)
}

// services measures services that are as they should be, where systemd runs.
func (b *bench) services() ([]line, error) {
	work := fmt.Sprintf("%d services", b.sizes.services)
	if b.lab {
		return b.servicesInLab(work)
	}
	state, _ := exec.Command("systemctl", "is-system-running").Output()
	if !slices.Contains([]string{"running", "degraded", "starting"}, strings.TrimSpace(string(state))) {
		return nil, notMeasuredError{work, "systemd does not run here; -lab measures it in a throw-away system (root)"}
	}
	if b.throwaway {
		start := []string{"systemctl", "start"}
		for i := range b.sizes.services {
			start = append(start, fmt.Sprintf("aaa-bench-%03d.service", i))
			text := "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n"
			if err := os.WriteFile(filepath.Join("/run/systemd/system", start[len(start)-1]), []byte(text), 0o644); err != nil {
				return nil, err
			}
		}
		if err := errors.Join(command("systemctl", "daemon-reload"), command(start...)); err != nil {
			return nil, err
		}
	}
	out, err := exec.Command("systemctl", "list-units", "--all", "--type=service", "--plain", "--no-legend", "--no-pager").Output()
	if err != nil {
		return nil, err
	}
	s := b.site("service")
	for text := range strings.Lines(string(out)) {
		f := strings.Fields(text)
		if len(f) < 4 || f[1] != "loaded" || strings.Contains(f[0], "@") || len(s.Items) == b.sizes.services {
			continue
		}
		if ensure := map[string]string{"active": "running", "inactive": "stopped"}[f[2]]; ensure != "" {
			s.Items = append(s.Items, item{Name: f[0], Own: []property{{"ensure", ensure}}})
		}
	}
	return b.query(fmt.Sprintf("%d services", len(s.Items)), "services", s)
}

// query measures resources that one question answers.
func (b *bench) query(work, mode string, s site) ([]line, error) {
	names := ""
	for _, i := range s.Items {
		names += i.Name + "\n"
	}
	list, err := b.write(mode+".list", names)
	if err != nil {
		return nil, err
	}
	c := comparison{work: work, floor: b.floorProgram(0, mode, list), limits: both(3)}
	if c.ccm, err = b.scripts(mode, s, func(file string) *program { return b.ccmProgram(b.mem, "run", file, allStable(len(s.Items))) }); err != nil {
		return nil, err
	}
	for _, p := range c.ccm {
		if _, err := b.once(b.ccmProgram(b.mem, "plan", p.argv[len(p.argv)-1], allStable(len(s.Items)))); err != nil {
			return nil, fmt.Errorf("they are not as they should be, and nothing was touched: %w", err)
		}
	}
	l, err := b.compare(c)
	return []line{l}, err
}

// servicesInLab boots a throw-away system and has a bench there measure.
func (b *bench) servicesInLab(work string) ([]line, error) {
	if os.Geteuid() != 0 {
		return nil, notMeasuredError{work, "a throw-away system needs root"}
	}
	dir, name := filepath.Join(b.scratch, "lab"), fmt.Sprintf("bench-%d", os.Getpid())
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	for _, argv := range [][]string{
		{"go", "build", "-o", filepath.Join(dir, "bench"), "./test/bench"}, {"cp", b.ccm, filepath.Join(dir, "ccm")}, {"cp", b.floor, filepath.Join(dir, "floor")},
		{"test/lab/lab", "build"}, {"test/lab/lab", "up", name, "--bind", dir + ":/opt/bench"},
	} {
		if err := command(argv...); err != nil {
			return nil, err
		}
	}
	defer command("test/lab/lab", "down", name)
	lines, err := b.elsewhere("test/lab/lab", "exec", name, "--", "/opt/bench/bench", "-only", "services", "-throwaway", "-ccm", "/opt/bench/ccm", "-floor", "/opt/bench/floor")
	for i := range lines {
		lines[i].Note = strings.TrimPrefix(lines[i].Note+"; in a throw-away system with systemd", "; ")
	}
	return lines, err
}

// guards makes n empty files.
func (b *bench) guards(n int) ([]string, error) {
	list := make([]string, n)
	err := os.MkdirAll(b.mem.path("guards"), 0o755)
	for i := range list {
		list[i] = b.mem.path("guards", fmt.Sprintf("g%06d", i))
		err = errors.Join(err, os.WriteFile(list[i], nil, 0o644))
	}
	return list, err
}

// execs measures commands that need not run, because what they create is there.
func (b *bench) execs() ([]line, error) {
	guards, err := b.guards(b.sizes.execs)
	if err != nil {
		return nil, err
	}
	s := b.site("exec")
	for i, guard := range guards {
		s.Items = append(s.Items, item{Name: fmt.Sprint("guarded-", i), Own: []property{{"command", "/bin/true"}, {"creates", guard}}})
	}
	names, err := b.write("guards.list", strings.Join(guards, "\n")+"\n")
	if err != nil {
		return nil, err
	}
	c := comparison{work: thousands(len(guards)) + " execs with `creates`", floor: b.floorProgram(0, "stat", names, "1"), limits: both(8), peers: b.peers("execs", s, false)}
	if c.ccm, err = b.scripts("execs", s, func(file string) *program { return b.ccmProgram(b.mem, "run", file, allStable(len(guards))) }); err != nil {
		return nil, err
	}
	l, err := b.compare(c)
	return []line{l}, err
}

// bigfile measures a large file that comes from another one: the same, and of
// another size.
func (b *bench) bigfile() ([]line, error) {
	source, target, short := b.mem.path("big.source"), b.mem.path("big.target"), b.mem.path("big.short")
	if err := errors.Join(bigFile(source, b.sizes.big), bigFile(target, b.sizes.big), bigFile(short, b.sizes.big-1)); err != nil {
		return nil, err
	}
	from := func(target string) site {
		s := b.site("file")
		s.Items = []item{{Name: target, Own: []property{{"source", source}}}}
		return s
	}
	mib := b.sizes.big >> 20
	c := comparison{
		work: fmt.Sprintf("%d MiB file from a local source, stable", mib), floor: b.floorProgram(0, "compare", source, target, "1"),
		parallel: b.floorProgram(0, "compare", source, target, fmt.Sprint(b.workers)), limits: both(1.3), peers: b.peers("big", from(target), false),
	}
	var err error
	if c.ccm, err = b.scripts("big", from(target), func(file string) *program { return b.ccmProgram(b.mem, "run", file, allStable(1)) }); err != nil {
		return nil, err
	}
	differing, err := b.scripts("short", from(short), func(file string) *program {
		return b.ccmProgram(b.mem, "plan", file, outcomeCounts{total: 1, pending: 1}, "--diff", "off")
	})
	if err != nil {
		return nil, err
	}
	empty, err := b.write("nothing.lua", "")
	if err != nil {
		return nil, err
	}
	nothing, sizes := b.ccmProgram(b.mem, "plan", empty, allStable(0)), b.floorProgram(1, "sizes", source, short)
	c.others = append(differing, nothing, sizes)
	l, err := b.compare(c)
	if err != nil {
		return nil, err
	}
	read := line{
		Work: fmt.Sprintf("bytes read if the sizes differ, beyond an empty plan (%d MiB)", mib),
		Note: fmt.Sprintf("a plan takes %s / %s then, an empty one %s, the floor %s", ms(differing[0]), ms(differing[1]), ms(nothing), ms(sizes)),
	}
	if nothing.median(bytesRead) < 0 {
		read.Note = "/proc does not tell how much a process reads; " + read.Note
		return []line{l, read}, nil
	}
	read.Floor, read.Limits, read.Unit = "0 KiB", both(64), "KiB"
	for i, cell := range []*string{&read.Lua, &read.YAML} {
		more := (differing[i].median(bytesRead) - nothing.median(bytesRead)) / 1024
		*cell, read.Value[i] = number(more)+" KiB", max(1, more)
	}
	return []line{l, read}, errors.Join(os.Remove(source), os.Remove(target), os.Remove(short))
}

// order measures what is between the declarations and the catalog: commands of which
// each requires three earlier ones.
func (b *bench) order() ([]line, error) {
	guards, err := b.guards(1)
	if err != nil {
		return nil, err
	}
	s, n := b.site("exec"), b.sizes.edges
	for i := range n {
		x := item{Name: fmt.Sprint("e", i), Own: []property{{"command", "/bin/true"}, {"creates", guards[0]}}}
		if i > 3 {
			for _, k := range []int{i / 2, i * 7 / 10, i - 1} {
				x.Requires = append(x.Requires, fmt.Sprint("exec#e", k))
			}
		}
		s.Items = append(s.Items, x)
	}
	ccm, err := b.scripts("edges", s, func(file string) *program { return b.ccmProgram(b.mem, "plan", file, allStable(n), "--profile") })
	if err == nil {
		err = b.measure(ccm...)
	}
	if err != nil {
		return nil, err
	}
	took := [2]float64{ccm[0].median(orderPhase), ccm[1].median(orderPhase)}
	return []line{{
		Work: fmt.Sprintf("%s resources with %s edges: order and references", thousands(n), thousands(3*n)),
		Lua:  number(took[0]) + " ms", YAML: number(took[1]) + " ms", Value: took, Limits: both(50), Unit: "ms", Note: "the phase order of `--profile`",
	}}, nil
}
