package site

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/module"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/trust"
)

// LockedSite returns the site of the scripts in a directory, as ccm.mod.lua and ccm.lock describe
// it; nil if there is neither. Found means that nobody has named the directory.
func (f *Files) LockedSite(dir string, found bool) (*module.Site, error) {
	return f.lockedSite(f.Trust(), dir, found)
}

// lockedSite is [Files.LockedSite] with a policy that may cache its checks.
func (f *Files) lockedSite(policy *trust.Policy, dir string, found bool) (*module.Site, error) {
	return module.Find(policy, dir, found, f.ModuleCaches(), f.Bundle.fileShown)
}

// ModuleCaches returns the directories that are searched for modules. The first is the one that
// ccm mod writes.
func (f *Files) ModuleCaches() []string {
	return module.Caches(state.CacheDir(), f.Trust(), os.Geteuid(), os.Getenv)
}

// packages are the modules in the lock of a script. The lock is searched for when the script
// first requires a module, so that other scripts pay nothing.
type packages struct {
	process *Process
	dir     string
	found   bool // nobody has named the directory

	looked bool
	policy *trust.Policy // cached, because one load reads many files of few directories
	site   *module.Site  // nil for none
	err    error
	byName map[string]*luaapi.Package
}

// newPackages returns the modules of others for scripts in a directory. Script is the name that
// the user gave.
func (p *Process) newPackages(dir, script string) *packages {
	return &packages{process: p, dir: dir, found: isUnnamed(script), byName: make(map[string]*luaapi.Package)}
}

// open searches for the lock.
func (x *packages) open() error {
	if x.looked {
		return x.err
	}
	x.looked, x.policy = true, x.process.Files.Trust()
	if !x.found { // a prompt reads over a long time and must not cache checks
		x.policy = x.policy.Remembering()
	}
	if x.site, x.err = x.process.Files.lockedSite(x.policy, x.dir, x.found); x.err != nil || x.site == nil || x.site.File == nil {
		return x.err
	}
	x.err = CheckVersion(x.site.File.CCM, x.process.Version, x.process.Files.Bundle.fileShown(filepath.Join(x.site.Dir, module.FileName)))
	return x.err
}

// CheckVersion returns an error unless a rule in a file allows this version of ccm.
func CheckVersion(rule module.Rule, version, file string) error {
	ok, err := rule.Allows(version)
	if err == nil && !ok {
		err = diag.At(diag.Pos{File: file}, diag.Requires("", "ccm %s, this is %s", rule, version))
	}
	return err
}

// Find implements luaapi.Packages.
func (x *packages) Find(from *luaapi.Package, name string) (*luaapi.PackageFile, error) {
	if err := x.open(); err != nil || x.site == nil {
		return nil, err
	}
	of := ""
	if from != nil {
		of = from.Name
	}
	found, err := x.site.Require(of, name)
	if err != nil || found == nil {
		return nil, err
	}
	if err := CheckVersion(found.CCM, x.process.Version, found.String()); err != nil {
		return nil, err
	}
	p := x.byName[found.Name]
	if p == nil {
		m := found.LockedModule
		p = &luaapi.Package{Name: m.Name, Dir: found.Dir, Denial: func(global string) error { return x.site.Denied(m, global) }}
		x.byName[m.Name] = p
	}
	return &luaapi.PackageFile{
		Owner: p, Path: found.Path, Key: fmt.Sprintf("%s: %s", found.Name, name),
		File: found.File(), ShownPath: found.Shown(), Dir: filepath.Dir(found.File()),
	}, nil
}

// Read implements luaapi.Packages.
func (x *packages) Read(f *luaapi.PackageFile) ([]byte, error) {
	if c, err := x.site.Open(f.Owner.Name); err != nil {
		return nil, err
	} else if text, ok, err := c.Read(f.Path); ok {
		return text, err
	}
	if x.found {
		if err := x.policy.CheckFound(f.File); err != nil {
			return nil, err
		}
	}
	return x.process.Files.readBy(x.policy, f.File)
}

// remember saves the checked hashes of module files for the next run.
func (x *packages) remember() {
	if x.site != nil {
		x.site.Remember()
	}
}
