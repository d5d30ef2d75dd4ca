package module

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// templates are the places of a module's code for require, below its directory and in this order. They are the same
// as for a site.
var templates = []string{"lib/?.lua", "lib/?/init.lua", "?.lua", "?/init.lua"}

// A CodeFile is a file of a module that require has found.
type CodeFile struct {
	Copy
	Path string // below the directory of the module, with slashes
}

// File returns the path of the file on this machine.
func (f *CodeFile) File() string { return filepath.Join(f.Dir, filepath.FromSlash(f.Path)) }

// Shown returns the name of the file for messages.
func (f *CodeFile) Shown() string {
	if f.Replace != "" {
		return filepath.ToSlash(filepath.Join(f.Replace, f.Path))
	}
	return f.String() + "/" + f.Path
}

// Require finds the file for a require of name. from is the module whose code requires it, "" for the code of the
// site. The result is nil if no module of the lock has to do with the name. The files of the module are verified
// against the lock.
//
// The code of a site can require what its dependencies export; the code of a module can require its own files and
// what its own dependencies export. So code never depends on a module that it did not declare.
func (s *Site) Require(from, name string) (*CodeFile, error) {
	if first, _, _ := strings.Cut(name, "."); first == "std" || first == "ccm" {
		return nil, nil
	}
	var asks map[string]string // the dependencies of the code that requires name
	if from == "" {
		if s.asks == nil {
			if err := s.checkRun(); err != nil {
				return nil, err
			}
			s.asks = s.dependencies()
		}
		asks = s.asks
	} else {
		c, err := s.Open(from)
		if err != nil {
			return nil, err
		}
		if found := c.find(name); found != nil {
			return found, nil
		}
		asks = c.Dependencies
	}
	if own := s.own(); own != nil && from == "" && slices.Contains(own.Exports, name) {
		return s.exported(own, name)
	}
	if s.Lock == nil {
		return nil, nil
	}
	if m := s.exporter(name); m != nil {
		if _, asked := asks[m.Name]; asked {
			return s.exported(m, name)
		}
	}
	for dependency := range asks {
		if s.locked(dependency) == nil {
			return nil, diag.At(diag.Pos{File: s.shownPath(LockName)},
				diag.Requires(from, "%s, which is not in the lock file", dependency)).
				WithHint("update the lock file with: ccm mod tidy")
		}
	}
	return nil, s.strange(from, name, asks)
}

// dependencies returns the dependencies of the site: names and least versions.
func (s *Site) dependencies() map[string]string {
	asks := make(map[string]string, len(s.File.Dependencies))
	for _, d := range s.File.Dependencies {
		asks[d.Name] = d.Version
	}
	return asks
}

// exporter returns the module of the lock that exports a name, nil if none does. A lock has at most one
// (CheckExports).
func (s *Site) exporter(name string) *LockedModule {
	if s.exports == nil {
		s.exports = make(map[string]*LockedModule)
		for i := range s.Lock.Modules {
			for _, e := range s.Lock.Modules[i].Exports {
				s.exports[e] = &s.Lock.Modules[i]
			}
		}
	}
	return s.exports[name]
}

// own returns the site itself as a module, nil if its ccm.mod.lua has no name. Specs and examples of a module require
// it by that name, like the sites that use it.
func (s *Site) own() *LockedModule {
	if s.File == nil || s.File.Name == "" {
		return nil
	}
	m := &LockedModule{Name: s.File.Name, Replace: ".", Exports: s.File.Exports, Capabilities: s.File.Capabilities, CCM: s.File.CCM, Dependencies: make(map[string]string)}
	for _, d := range s.File.Dependencies {
		m.Dependencies[d.Name] = d.Version
	}
	return m
}

// exported returns the file for a name that a module exports.
func (s *Site) exported(m *LockedModule, name string) (*CodeFile, error) {
	c, err := s.Open(m.Name)
	if err != nil {
		return nil, err
	}
	if found := c.find(name); found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%s: export %q: %w", m, name, diag.Missing("file "+strings.ReplaceAll(templates[0], "?", strings.ReplaceAll(name, ".", "/")), ""))
}

// find returns the file of the module for require of name, nil if the module has none.
func (c Copy) find(name string) *CodeFile {
	for part := range strings.SplitSeq(name, ".") {
		if !isNamePart(part) {
			return nil
		}
	}
	for _, t := range templates {
		at := strings.ReplaceAll(t, "?", strings.ReplaceAll(name, ".", "/"))
		if c.has(at) {
			return &CodeFile{c, at}
		}
	}
	return nil
}

// has reports whether the module has a file; name is a path below its directory.
func (c Copy) has(name string) bool {
	if c.files != nil {
		return slices.ContainsFunc(c.files, func(f file) bool { return f.name == name })
	}
	return isFile(filepath.Join(c.Dir, filepath.FromSlash(name)))
}

// Read returns the content of a file, given its path below the directory of the module. It fails if the file has
// changed since it was verified, so the content always has the hash of the lock. ok is false for a file that the
// module does not have, and for every file of a replaced module.
func (c Copy) Read(name string) (text []byte, ok bool, err error) {
	i := slices.IndexFunc(c.files, func(f file) bool { return f.name == name })
	if i < 0 {
		return nil, false, nil
	}
	text, err = c.files[i].read(c.Dir)
	return text, true, err
}

// Exports reports whether the module in a directory has a file for require of name.
func Exports(dir, name string) bool { return Copy{Dir: dir}.find(name) != nil }

// Requirable returns the sorted names that scripts of the site can require: the exports of its dependencies and its
// own.
func (s *Site) Requirable() (names []string) {
	if s.File == nil {
		return nil
	}
	for _, d := range s.File.Dependencies {
		if m := s.locked(d.Name); m != nil {
			names = append(names, m.Exports...)
		}
	}
	names = append(names, s.File.Exports...)
	slices.Sort(names)
	return names
}

// strange returns an error for a name that belongs to a module of the lock and that the code may not require, or that
// the module does not export. It returns nil for all other names.
func (s *Site) strange(from, name string, asks map[string]string) error {
	first, _, _ := strings.Cut(name, ".")
	for i := range s.Lock.Modules {
		m := &s.Lock.Modules[i]
		if ShortName(m.Name) != first {
			continue
		}
		if _, asked := asks[m.Name]; asked {
			e := diag.Errorf(diag.Pos{}, "%s does not export %q", m, name)
			e.Hint = diag.DidYouMean(name, m.Exports)
			if e.Hint == "" && len(m.Exports) > 0 {
				e.Hint = "it exports " + strings.Join(m.Exports, ", ")
			}
			return e
		}
		if slices.Contains(m.Exports, name) && from == "" {
			return diag.At(diag.Pos{}, diag.Not(m.String(), "a dependency of the site, but of %s", strings.Join(s.Dependent(m.Name), ", "))).
				WithHint("add it with: ccm mod get %s", m)
		}
		if slices.Contains(m.Exports, name) {
			return diag.At(diag.Pos{}, diag.Not("module "+m.Name, "a dependency of %s", from)).
				WithHint("add it to the dependencies in the %s of %s", FileName, from)
		}
	}
	return nil
}

// Denied returns an error if the code of a module may not use a global of scripts: a capability is missing that the
// module must declare and the site must allow.
func (s *Site) Denied(m *LockedModule, global string) error {
	capability := CapabilityOf(global)
	if capability == "" {
		return nil
	}
	var allowed []string
	if s.File != nil {
		allowed = s.File.Allow[m.Name]
		if m.Name == s.File.Name {
			allowed = m.Capabilities
		}
	}
	switch {
	case !slices.Contains(m.Capabilities, capability):
		return diag.Errorf(diag.Pos{}, "%s uses %s, but does not declare capability %q", m.Name, global, capability).
			WithHint("add to the %s of %s: capabilities = { %q }", FileName, m.Name, capability)
	case !slices.Contains(allowed, capability):
		return diag.Errorf(diag.Pos{}, "%s uses %s, but the site does not allow it capability %q", m.Name, global, capability).
			WithHint("add to %s: allow = { [%q] = { %q } }, if it may %s", s.shownPath(FileName), m.Name, capability, strings.Replace(Capabilities[capability].Doc, "s ", " ", 1))
	}
	return nil
}
