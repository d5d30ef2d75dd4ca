// Package resolve makes the lock of a site: it asks repositories for versions, downloads modules into the cache, and
// chooses one version of each.
//
// Begin with a [Resolver] and its Lock.
package resolve

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/semver"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/module"
	"github.com/luaccm/ccm/runtime/trust"
)

// A Resolver downloads modules and chooses versions. The function for progress is optional, all other fields are required. Close it at the end.
type Resolver struct {
	Host      *host.Host // runs git
	Transport http.RoundTripper
	Policy    *trust.Policy
	// Caches are the directories with modules. Downloads go to the first.
	Caches []string
	// Version is the version of ccm.
	Version string
	// Tell, if not nil, is called with a description of each slow step as it begins.
	Tell func(what string)

	tags         map[string][]string       // by address of the repository
	repositories map[string]string         // local directories by address of the repository
	fetched      map[[2]string]*fetchedTag // by address and tag
}

func (r *Resolver) tell(format string, args ...any) {
	if r.Tell != nil {
		r.Tell(fmt.Sprintf(format, args...))
	}
}

// A node is a module at one version.
type node struct{ name, version string }

// A graph has the dependencies of all modules at all versions that are asked for.
type graph struct {
	*Resolver
	ctx     context.Context
	dir     string // the directory of the site
	site    *module.File
	old     *module.Lock
	sources map[string]claim
	modules map[node]*module.LockedModule
}

// A claim is the source of a module, and the module that states it.
type claim struct {
	module.Source
	by string // "" for the site
}

// Lock chooses the versions for a ccm.mod.lua: for each module the greatest of the least versions that the site and
// its dependencies ask for. Newer versions are not considered, so that the same files give the same lock on every
// machine and at any time. This is minimal version selection: Russ Cox, "Minimal Version Selection", 2018,
// research.swtch.com/vgo-mvs, algorithm 1, without modules that only versions depend on that are not chosen.
//
// old is the previous lock or nil: a version that it has must still have the same hash and commit.
func (r *Resolver) Lock(ctx context.Context, dir string, site *module.File, old *module.Lock) (*module.Lock, error) {
	if old == nil {
		old = new(module.Lock)
	}
	g := &graph{Resolver: r, ctx: ctx, dir: dir, site: site, old: old, sources: make(map[string]claim), modules: make(map[node]*module.LockedModule)}
	for _, d := range site.Dependencies {
		g.sources[d.Name] = claim{Source: d.Source}
	}
	chosen := make(map[string]string)
	asked := make(map[string]string)
	for _, d := range site.Dependencies {
		asked[d.Name] = d.Version
	}
	if err := g.visit(asked, chosen); err != nil {
		return nil, err
	}
	lock := new(module.Lock)
	for _, name := range g.reachable(asked, chosen) {
		m := g.modules[node{name, chosen[name]}]
		if err := g.fits(m); err != nil {
			return nil, err
		}
		lock.Modules = append(lock.Modules, *m)
	}
	return lock, lock.CheckExports()
}

// visit downloads all modules that are asked for and their dependencies, and notes the greatest version of each in
// chosen.
func (g *graph) visit(asked, chosen map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		version := asked[name]
		if g.site.Replace[name] != "" {
			version = ""
		}
		if have, ok := chosen[name]; !ok || semver.Compare(version, have) > 0 {
			chosen[name] = version
		}
		n := node{name, version}
		if g.modules[n] != nil {
			continue
		}
		m, file, err := g.module(n)
		if err != nil {
			return err
		}
		g.modules[n] = m
		for _, d := range file.Dependencies {
			if err := g.claim(m, d); err != nil {
				return err
			}
		}
		if err := g.visit(m.Dependencies, chosen); err != nil {
			return err
		}
	}
	return nil
}

// claim notes the source that a module states for a dependency. The site's source wins; without it, all modules must
// state the same.
func (g *graph) claim(by *module.LockedModule, d module.Dependency) error {
	have, ok := g.sources[d.Name]
	switch {
	case !ok || have.by == "" && have.Source == (module.Source{}):
		g.sources[d.Name] = claim{d.Source, by.String()}
	case have.by == "" || have.Source == d.Source || d.Source == (module.Source{}):
	case have.Source == (module.Source{}):
		g.sources[d.Name] = claim{d.Source, by.String()}
	default:
		return diag.At(diag.Pos{},
			diag.Requires(have.by, "%s from %s, but %s from %s", d.Name, have.Source, by, d.Source)).
			WithHint("set its address in the %s of the site", module.FileName)
	}
	return nil
}

// reachable returns the sorted names of the modules that the site needs at the chosen versions.
func (g *graph) reachable(asked, chosen map[string]string) []string {
	seen := make(map[string]bool)
	var walk func(asked map[string]string)
	walk = func(asked map[string]string) {
		for name := range asked {
			if !seen[name] {
				seen[name] = true
				walk(g.modules[node{name, chosen[name]}].Dependencies)
			}
		}
	}
	walk(asked)
	return slices.Sorted(maps.Keys(seen))
}

// fits returns an error if a chosen module does not work here, such as with this version of ccm.
func (g *graph) fits(m *module.LockedModule) error {
	ok, err := m.CCM.Allows(g.Version)
	if err == nil && !ok {
		err = diag.Requires("", "ccm %s, this is %s", m.CCM, g.Version)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", m, err)
	}
	return nil
}

// module returns the entry for the lock of a module at a version, and its ccm.mod.lua.
func (g *graph) module(n node) (*module.LockedModule, *module.File, error) {
	m := &module.LockedModule{Name: n.name, Version: n.version}
	var dir string
	if folder := g.site.Replace[n.name]; folder != "" {
		m.Replace = filepath.ToSlash(folder)
		dir = folder
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(g.dir, dir)
		}
	} else {
		m.Source = g.sources[n.name].Source
		got, err := g.pinned(m)
		if err != nil {
			return nil, nil, About(m, err)
		}
		dir = got.Dir
		m.Hash, m.Tag, m.Commit, m.Signer = got.Hash, got.Tag, got.Commit, got.Signer
	}
	file, err := readFile(g.Policy, dir, m.String(), n.name)
	if err != nil {
		return nil, nil, err
	}
	m.CCM, m.Exports, m.Capabilities, m.Tests = file.CCM, file.Exports, file.Capabilities, file.Tests
	for _, d := range file.Dependencies {
		if m.Dependencies == nil {
			m.Dependencies = make(map[string]string)
		}
		m.Dependencies[d.Name] = d.Version
	}
	return m, file, nil
}

// About puts the name of a module before an error, and keeps the error's hint.
func About(m *module.LockedModule, err error) error {
	if e, ok := err.(*diag.Error); ok && e.Pos.IsZero() {
		named := *e
		named.Err = fmt.Errorf("%s: %w", m, e.Err)
		return &named
	}
	return fmt.Errorf("%s: %w", m, err)
}

// pinned downloads a module, which must equal the old lock's entry for that version.
func (g *graph) pinned(m *module.LockedModule) (*CachedModule, error) {
	if m.Source == (module.Source{}) {
		return nil, diag.At(diag.Pos{}, diag.None("address is known")).
			WithHint("add to %s: %s = { version = %q, git = \"https://...\" }", module.FileName, m.Name, m.Version)
	}
	old := g.old.Module(m.Name)
	locked := old != nil && old.Version == m.Version && old.Source == m.Source
	if file := g.site.SignersOf(m.Name); !locked && (file == "" || m.Git == "") {
		if err := g.Policy.CheckPlain(m.Git+m.URL, m.Source.String(), "use https or ssh, or set signers in "+module.FileName+" for signed tags, or --allow-insecure"); err != nil {
			return nil, err
		}
	}
	get := func() (*CachedModule, error) { return g.Get(g.ctx, m.Source, m.Version) }
	if locked {
		get = func() (*CachedModule, error) { return g.GetLocked(g.ctx, old) }
	}
	got, err := get()
	if err != nil {
		return nil, err
	}
	if file := g.site.SignersOf(m.Name); file != "" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(g.dir, file)
		}
		if got.Signer, err = g.signer(file, got); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// readFile reads the ccm.mod.lua of a module. name is the name that it must have, "" for any; shown names the file in
// errors.
func readFile(p *trust.Policy, dir, shown, name string) (*module.File, error) {
	at := filepath.Join(dir, module.FileName)
	if err := p.Check(at); err != nil {
		if os.IsNotExist(err) {
			return nil,
				fmt.Errorf("%s: %w", shown, diag.Not("", "a module: %s does not exist in %s", module.FileName, dir))
		}
		return nil, err
	}
	text, err := os.ReadFile(at)
	if err != nil {
		if os.IsNotExist(err) {
			err = fmt.Errorf("%s: %w", shown, diag.Not("", "a module: %s does not exist in it", module.FileName))
		}
		return nil, err
	}
	file, err := module.ParseFile(shown+"/"+module.FileName, string(text))
	switch {
	case err != nil:
		return nil, err
	case file.Name == "":
		return nil, diag.At(diag.Pos{File: shown + "/" + module.FileName},
			diag.SubjectCannot("module without a name", "be used by others")).
			WithHint(`ask its author to add name = "nginx"`)
	case name != "" && file.Name != name:
		return nil, diag.At(diag.Pos{}, diag.Contains(shown, "module %s, not %s", file.Name, name)).WithHint("name it %s in %s", file.Name, module.FileName)
	}
	for _, e := range file.Exports {
		if !module.Exports(dir, e) {
			return nil, diag.Errorf(diag.Pos{File: shown + "/" + module.FileName}, "export %q: %w", e, diag.Missing("the file", ""))
		}
	}
	return file, nil
}
