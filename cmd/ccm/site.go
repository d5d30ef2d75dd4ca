package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/trust"
)

// siteFlags are the flags of every command that reads a script or manifest.
type siteFlags struct {
	root        string
	facts       []string
	factsFile   string
	evalTimeout time.Duration
	strict      bool
	targets     []string
	dialect     *choice
	dataFlags
}

func (f *siteFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.root, "root", "/", "converge the file system below `DIR`")
	fs.StringArrayVar(&f.facts, "fact", nil, "set the fact `NAME=VALUE` for this run (repeatable)")
	fs.StringVar(&f.factsFile, "facts", "", "read further facts from `FILE` (JSON or YAML)")
	fs.DurationVar(&f.evalTimeout, "eval-timeout", time.Minute, "how long a script may take to evaluate")
	fs.BoolVar(&f.strict, "strict", false, "take what a script or manifest is warned of for an error, such as a property that is nil")
	f.dialect = newChoice("", "ccm", "tinycm")
	fs.Var(f.dialect, "dialect", "of a manifest: ccm or tinycm (default: tinycm for *.cm.yml, else ccm)")
	f.dataFlags.add(fs)
	fs.StringArrayVar(&f.targets, "target", nil, "only this resource, as `TYPE#NAME`, and what it requires (repeatable)")
}

// check reports flags that can have no effect.
func (f *siteFlags) check(h *host.Host) error {
	if f.evalTimeout < 0 {
		return fmt.Errorf("--eval-timeout: want a duration such as 30s, got %s", f.evalTimeout)
	}
	if fi, err := os.Stat(h.Root()); err != nil || !fi.IsDir() {
		return fmt.Errorf("--root: %s is not a directory", f.root)
	}
	return nil
}

// A site is a script or manifest that was read and found good.
type site struct {
	registry *resource.Registry
	catalog  *catalog.Catalog
	facts    *facts.Facts
	host     *host.Host
	manifest *manifest.Manifest // nil if it is a script
	secrets  *secret.Keeper
	scripts  []*luaapi.Interp     // that were evaluated, or are
	prefetch *converge.Prefetcher // nil if nothing was looked at yet
	// unrecorded is what a site that was applied once had besides.
	unrecorded []unrecorded
}

// stdin is how messages speak of standard input.
const stdin = "stdin"

// readInput returns the text of a script or manifest and the name by which
// messages speak of it; - is standard input.
func (e *env) readInput(ctx context.Context, name string) (shown, text string, err error) {
	ctx, cancel := e.untilStopped(ctx)
	defer cancel()
	if name == "-" {
		all, err := trust.ReadStream(ctx, e.stdin, stdin)
		return stdin, string(all), e.ifStopped(ctx, err)
	}
	all, err := e.trust().ReadFile(ctx, name)
	return name, string(all), e.ifStopped(ctx, err)
}

// load reads a script or manifest and builds its catalog. Args are the
// arguments of the script.
func (e *env) load(ctx context.Context, h *host.Host, name string, args []string, f *siteFlags, noop bool) (*site, error) {
	if err := f.check(h); err != nil {
		return nil, err
	}
	e.reading.within(ctx)
	around := &surroundings{clock: e.clock, instead: e.instead}
	reg, err := registry(around)
	if err != nil {
		return nil, err
	}
	fs, err := e.gatherFacts(ctx, &h.View, f)
	if err != nil {
		return nil, err
	}
	around.facts = fs
	shown, text, err := e.readInput(ctx, name)
	if err != nil {
		return nil, err
	}
	s := &site{registry: reg, facts: fs, host: h, secrets: e.secrets}
	f.site = name
	l, err := e.newLoading(s, around, f, args, noop)
	if err != nil {
		return nil, err
	}
	if e.runner != nil {
		l.loader.Light = true // the manifest is not printed
		e.prefetch(ctx, l)
	}
	e.spent.enter(phaseEvaluate)
	if err = l.load(ctx, shown, text); err == nil {
		e.spent.enter(phaseOrder)
		err = s.build(&l.builder, f)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close ends what a site does in the background.
func (s *site) close() {
	if s.prefetch != nil {
		s.prefetch.Stop()
	}
}

// build orders what b holds, and takes the targets of it.
func (s *site) build(b *catalog.Builder, f *siteFlags) error {
	var errs diag.List
	for _, r := range b.Resources() {
		errs.Add(s.registry.CheckProvider(r))
	}
	errs.Add(catalog.Hide(s.secrets, b.Resources()))
	c, err := b.Build()
	errs.Add(err)
	if err := errs.Err(); err != nil {
		return err
	}
	if s.catalog = c; len(f.targets) == 0 {
		return nil
	}
	ids := make([]resource.ID, len(f.targets))
	for i, t := range f.targets {
		if ids[i], err = resource.ParseID(t); err != nil {
			return fmt.Errorf("--target: %w", err)
		}
	}
	s.catalog, err = c.Target(ids)
	return err
}

// isLua reports whether a text is Lua rather than YAML: by its suffix, or by
// what it begins with.
func isLua(name, text string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".lua":
		return true
	case ".yaml", ".yml", ".json":
		return false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "{"), strings.HasPrefix(line, "%YAML"):
			// A Lua comment begins with two dashes, a YAML document with three.
			return strings.HasPrefix(line, "---@") || strings.HasPrefix(line, "----")
		}
		key, rest, ok := strings.Cut(line, ":")
		return !ok || strings.HasPrefix(rest, ":") || strings.ContainsAny(key, " ({='\"[")
	}
	return true
}
