package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// profile writes the profile that ccm is built with: of the same work that is
// measured, so much of it that there are enough samples.
func profile(w io.Writer, o options) error {
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer b.close()
	sides, err := b.profiled()
	if err != nil {
		return err
	}
	argv := []string{"tool", "pprof", "-proto", "-output", o.pgo}
	for i, s := range sides {
		name := filepath.Join(b.scratch, fmt.Sprintf("%d.prof", i))
		if err := os.Setenv("CCM_CPUPROFILE", name); err != nil {
			return err
		}
		for k := range 3 {
			if _, err := b.once(s); err != nil {
				return err
			}
			kept := fmt.Sprintf("%s.%d", name, k)
			if err := os.Rename(name, kept); err != nil {
				return err
			}
			argv = append(argv, kept)
		}
	}
	if err := os.Unsetenv("CCM_CPUPROFILE"); err != nil {
		return err
	}
	if out, err := exec.Command("go", argv...).CombinedOutput(); err != nil {
		return fmt.Errorf("go tool pprof: %w\n%s", err, out)
	}
	fi, err := os.Stat(o.pgo)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %d KiB, of %d runs\n", o.pgo, fi.Size()>>10, 3*len(sides))
	return nil
}

// profiled returns the runs that the profile is taken of.
func (b *bench) profiled() ([]*side, error) {
	n := b.sizes.large
	stable := files{b.mem.path("files"), n}
	if err := stable.fill(); err != nil {
		return nil, err
	}
	written := files{stable.dir, n / 5}
	made := files{b.mem.path("created"), n / 5}
	guards, err := b.guards(n / 5)
	if err != nil {
		return nil, err
	}
	var errs []error
	run := func(name, text string, want counts) *side {
		file, err := b.write(name, text)
		errs = append(errs, err)
		return b.run(name, file, want)
	}
	created := counts{total: made.n, changed: made.n}
	sides := []*side{
		run("loop.lua", b.loopSite(stable), allStable(n)),
		run("literal.lua", b.literalSite(written, lua), allStable(written.n)),
		run("literal.yaml", b.literalSite(written, yaml), allStable(written.n)),
		run("execs.lua", b.execSite(guards, lua), allStable(len(guards))),
		run("execs.yaml", b.execSite(guards, yaml), allStable(len(guards))),
		run("edges.lua", b.edgeSite(n/10, guards[0], lua), allStable(n/10)),
		run("create.lua", b.loopSite(made), created).fresh(b.mem, made.dir),
		run("create.yaml", b.literalSite(made, yaml), created).fresh(b.mem, made.dir),
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return sides, nil
}
