package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
)

// A bench is one session of measuring.
type bench struct {
	options
	ccm, floor string // binaries
	mem, disk  *place // disk is nil if there is none besides mem
	user       string
	group      string
	workers    int // as many as ccm looks with
	peers      []*peer
	lines      []line
	one        []line // of some rows, on one processor
	hot        []figure
	others     []float64 // cores that other work had, while a row was measured
	scratch    string
}

// sizes are how much work there is in a workload.
type sizes struct {
	small, middle, large int // files
	literal              int
	created              int
	packages, services   int
	execs                int
	big                  int64 // bytes
	edges                int   // resources, with three edges each
}

var (
	fullSizes  = sizes{1000, 10_000, 100_000, 10_000, 1000, 200, 200, 1000, 256 << 20, 10_000}
	quickSizes = sizes{100, 500, 2000, 500, 50, 20, 20, 50, 4 << 20, 500}
)

func newBench(o options) (*bench, error) {
	if o.sizes == (sizes{}) {
		o.sizes = fullSizes
	}
	b := &bench{options: o, workers: min(max(2, runtime.GOMAXPROCS(0)), 8)}
	u, err := user.Current()
	if err != nil {
		return nil, err
	}
	g, err := user.LookupGroupId(u.Gid)
	if err != nil {
		return nil, err
	}
	b.user, b.group = u.Username, g.Name
	if b.scratch, err = os.MkdirTemp("", "ccm-bench-"); err != nil {
		return nil, err
	}
	if err := b.build(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.scratch))
	}
	if err := b.open(); err != nil {
		b.close()
		return nil, err
	}
	if o.peers && !o.lines {
		b.peers = findPeers(o)
		for i, p := range b.peers {
			if p.single {
				if p.binary, err = b.install(p.binary, fmt.Sprint("peer", i)); err != nil {
					return nil, errors.Join(err, os.RemoveAll(b.scratch))
				}
			}
		}
	}
	return b, nil
}

// build builds ccm as users get it, and the floor.
func (b *bench) build() (err error) {
	if b.ccm = b.options.ccm; b.ccm == "" {
		if err := command("make", "-s", "build"); err != nil {
			return err
		}
		b.ccm = "bin/ccm"
	}
	if b.floor = b.options.floor; b.floor == "" {
		b.floor = filepath.Join(b.scratch, "floor.built")
		if err := command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.floor, "./test/bench/floor"); err != nil {
			return err
		}
	}
	b.ccm, err = b.install(b.ccm, "ccm")
	if err == nil {
		b.floor, err = b.install(b.floor, "floor")
	}
	return err
}

// install copies a binary, as installing it does. The pages of a file that the
// linker has written are many small ones until it is read from disk again, which
// costs each start of a large binary a millisecond or two.
func (b *bench) install(binary, name string) (string, error) {
	text, err := os.ReadFile(binary)
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.scratch, name)
	return path, os.WriteFile(path, text, 0o755)
}

// command runs a command and shows what it says only if it fails.
func command(argv ...string) error {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", argv[0], err, out)
	}
	return nil
}

func (b *bench) close() {
	if b.keep {
		for _, p := range []*place{b.mem, b.disk} {
			if p != nil {
				fmt.Fprintln(os.Stderr, "left", p.dir)
			}
		}
		return
	}
	for _, p := range []*place{b.mem, b.disk} {
		if p != nil {
			_ = os.RemoveAll(p.dir)
		}
	}
	_ = os.RemoveAll(b.scratch)
}

// A row is one line of the list of targets; it gives one or more lines of the table.
type row struct {
	key     string
	work    string
	measure func(*bench) ([]line, error)
}

var rows = []row{
	{"empty", "empty runs", (*bench).empty},
	{"loop", "files of a loop", (*bench).loop},
	{"literal", "literal declarations", (*bench).literal},
	{"stable", "stable files", (*bench).stable},
	{"create", "files created", (*bench).create},
	{"drift", "drifted files", (*bench).drift},
	{"packages", "installed packages", (*bench).packages},
	{"services", "services", (*bench).services},
	{"execs", "execs with `creates`", (*bench).execs},
	{"bigfile", "a large file from a local source", (*bench).bigfile},
	{"order", "order and references", (*bench).order},
	{"data", "large tables of data", (*bench).data},
}

// row measures one row, and how much else went on meanwhile. A row that cannot
// be measured says so in the table.
func (b *bench) row(r row) error {
	waitForQuiet(b.patience)
	m := startMeter()
	lines, err := r.measure(b)
	others := m.others()
	b.others = append(b.others, others)
	if absent, ok := errors.AsType[notMeasured](err); ok {
		lines, err = append(lines, line{Work: absent.work, Note: absent.why}), nil
	} else if err != nil {
		lines = append(lines, line{Work: r.work, Note: "it failed: " + err.Error()})
	}
	for i := range lines {
		lines[i].Key = r.key
		if others > 0.2 {
			lines[i].Noisy = true
		}
	}
	b.lines = append(b.lines, lines...)
	return err
}

// A notMeasured says why a row has no figures.
type notMeasured struct{ work, why string }

// Error implements error.
func (n notMeasured) Error() string { return n.why }

// reset makes an empty directory of one that a workload starts with. The old one
// is moved away, not deleted: ext4 without a journal steps over inodes that were
// deleted a moment ago, one by one, and creating files would be slower than it is.
func (p *place) reset(dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		p.moved++
		if err := os.Rename(dir, filepath.Join(p.dir, fmt.Sprintf("old-%d", p.moved))); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o755)
}
