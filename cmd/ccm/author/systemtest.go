package author

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/testsystem"
	"github.com/luaccm/ccm/runtime/testsystem/stages"
	"github.com/luaccm/ccm/site/bundles"
)

// systemFlags are the flags of test for throw-away systems. try has the first two.
type systemFlags struct {
	systems      []string
	driver       string
	from, shard  string
	reports      []string
	reboot, keep bool
	refresh      bool
	parallel     int
}

func (f *systemFlags) add(fl *pflag.FlagSet) {
	fl.StringSliceVar(&f.systems, "system", nil, "test on throw-away `SYSTEMS`, such as debian:12,rocky:9")
	f.addDriver(fl)
	fl.StringVar(&f.from, "from", "", "with --system: first apply `VERSION`, a git commit or folder")
	fl.BoolVar(&f.reboot, "reboot", false, "with --system: also reboot; nothing may change afterwards")
	fl.BoolVar(&f.keep, "keep", false, "with --system: leave the systems running")
	fl.StringVar(&f.shard, "shard", "", "with --system: only test part `N/M` of the systems")
	fl.IntVarP(&f.parallel, "parallel", "j", 2, "with --system: at most `N` systems at a time")
	fl.StringSliceVar(&f.reports, "report", nil, "with --system: also write a report to `FILE` (.html, or .xml for JUnit)")
}

func (f *systemFlags) addDriver(fl *pflag.FlagSet) {
	fl.BoolVar(&f.refresh, "refresh", false, "rebuild the images of the systems, and download packages again")
	fl.StringVar(&f.driver, "driver", "", "`DRIVER`: nspawn, podman, docker, incus, lxd (default: first usable)")
}

// needsSystem returns the name of a flag that was given although it is of no use without --system.
func (f *systemFlags) needsSystem(cmd *cobra.Command) string {
	for _, name := range []string{"driver", "refresh", "from", "reboot", "keep", "shard", "parallel", "report"} {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// targets returns the systems that the flags ask for.
func (f *systemFlags) targets() ([]testsystem.Target, error) {
	var list []testsystem.Target
	for _, name := range f.systems {
		t, err := testsystem.ParseTarget(name)
		if err != nil {
			return nil, fmt.Errorf("--system: %w", err)
		}
		list = append(list, t)
	}
	if f.shard == "" {
		return list, nil
	}
	text, of, _ := strings.Cut(f.shard, "/")
	n, err := strconv.Atoi(text)
	m, bad := strconv.Atoi(of)
	if err != nil || bad != nil || n < 1 || n > m {
		return nil, diag.At(diag.Pos{}, fmt.Errorf("--shard: %w", diag.Expected("a part such as 1/4").Got("%q", f.shard)))
	}
	var part []testsystem.Target
	for i := n - 1; i < len(list); i += m {
		part = append(part, list[i])
	}
	return part, nil
}

// newPool returns the pool of systems, without those of processes that were killed.
func newPool(e *cli.Env, refresh bool) *testsystem.Pool {
	p := testsystem.NewPool(filepath.Join(state.CacheDir(), "systems"), testsystem.Drivers())
	p.Log = e.Stderr
	if p.Oldest = e.Clock.Now(); !refresh {
		p.Oldest = p.Oldest.Add(-testsystem.Lifetime)
	}
	removed, err := p.Reclaim()
	for _, name := range removed {
		terminal.Fprintf(e.Stderr, "ccm: removed %s, which an earlier test left behind\n", name)
	}
	if err != nil {
		terminal.Fprintf(e.Stderr, "ccm: cannot remove an earlier system: %s\n", err)
	}
	return p
}

// imageNote describes the image that is made.
var imageNote = fmt.Sprintf("an image, which is used for %d days (--refresh makes it again)", testsystem.Lifetime/(24*time.Hour))

// startedWith describes a system that was started.
func startedWith(d testsystem.Driver, r *testsystem.Record) string {
	if r.ImageTime.IsZero() {
		return d.Name()
	}
	return d.Name() + ", image of " + r.ImageTime.Local().Format(time.DateOnly)
}

// packSite returns the bundle of a site, and its folder.
func packSite(ctx context.Context, e *cli.Env, name string) ([]byte, bundle.Folder, error) {
	folder, err := bundles.Folder(e.Files, name, nil)
	if err != nil {
		return nil, folder, err
	}
	var b bytes.Buffer
	if _, err = bundle.Write(ctx, &b, folder); err != nil {
		if _, ok := errors.AsType[*bundle.NoEntryError](err); ok {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return nil, folder, err
	}
	return b.Bytes(), folder, nil
}

// packEarlier returns the bundle of another version of a site.
func packEarlier(ctx context.Context, e *cli.Env, folder bundle.Folder, version string) (_ []byte, err error) {
	entry := folder.Entry
	if entry == "" {
		if entry, err = bundle.FindEntry(os.DirFS(folder.Dir)); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "ccm-test-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file, err := cli.OtherVersion(ctx, filepath.Join(folder.Dir, entry), version, dir)
	if err != nil {
		return nil, err
	}
	text, _, err := packSite(ctx, e, file)
	return text, err
}

func openProgram() (io.ReadCloser, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(own)
}

// testSystems tests a site on systems.
func testSystems(ctx context.Context, e *cli.Env, f *testFlags, args []string) error {
	targets, err := f.system.targets()
	if err != nil {
		return err
	}
	switch {
	case len(args) > 1:
		return diag.At(diag.Pos{}, diag.Expected("one site with --system").Got("%d", len(args)))
	case f.system.parallel < 1:
		return diag.Errorf(diag.Pos{}, "-j: %w", diag.MustBe("at least 1").Got("%d", f.system.parallel))
	case slices.ContainsFunc(f.system.reports, func(name string) bool { return reportForms[filepath.Ext(name)] == nil }):
		return diag.At(diag.Pos{},
			fmt.Errorf("--report: %w", diag.Expected("a file name that ends with .html or .xml (JUnit)")))
	case f.output.Value == "tap" || f.output.Value == "json":
		return diag.At(diag.Pos{}, diag.Requires("--system", "--output text or junit"))
	}
	for _, name := range f.system.reports {
		if _, err := os.Stat(filepath.Dir(name)); err != nil { // before the test, which takes a while
			return fmt.Errorf("--report: %w", err)
		}
	}
	ctx, cancel := e.Stop.Context(ctx)
	defer cancel()
	name := "."
	if len(args) == 1 {
		name = args[0]
	}
	m := &matrix{e: e, flags: f, live: e.Stdout, width: widest(targets)}
	if f.output.Value == "junit" {
		m.live = e.Stderr
	}
	site, folder, err := packSite(ctx, e, name)
	if err != nil {
		return err
	}
	m.test = stages.Test{Open: openProgram, Bundle: site, Reboot: f.system.reboot, Now: e.Clock.Now}
	if f.system.from != "" {
		if m.test.From, err = packEarlier(ctx, e, folder, f.system.from); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
	}
	if m.specs, err = lint.FilesBelow(folder.Dir, "_spec.lua", nil); err != nil {
		return err
	}
	if m.wanted, err = f.wanted(); err != nil {
		return err
	}
	m.pool = newPool(e, f.system.refresh)
	m.pool.Making = func(t testsystem.Target) { m.print(t, "making   "+imageNote) }
	drivers := make([]testsystem.Driver, len(targets))
	for i, t := range targets {
		if drivers[i], err = m.pool.DriverFor(t, f.system.driver); err != nil {
			return err
		}
	}
	start := e.Clock.Now()
	runs := make([]systemRun, len(targets))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(f.system.parallel, len(targets)) {
		workers.Go(func() {
			for i := range next {
				runs[i] = m.run(ctx, targets[i], drivers[i])
			}
		})
	}
	for i := range targets {
		next <- i
	}
	close(next)
	workers.Wait()
	if err := m.report(runs, e.Clock.Now().Sub(start)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return cli.Status(cli.ExitInterrupted)
	}
	if slices.ContainsFunc(runs, func(r systemRun) bool { return r.err != nil || len(r.failed()) > 0 }) {
		return cli.Status(cli.ExitUsage)
	}
	return nil
}
