package module

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// templates are where in the directory of a module a file for require is, in this order; it is
// that of a site.
var templates = []string{"lib/?.lua", "lib/?/init.lua", "?.lua", "?/init.lua"}

// A Found is the file that require finds in a module.
type Found struct {
	Copy
	Path string // below the directory of the module, with slashes
}

// File returns the whole path.
func (f *Found) File() string { return filepath.Join(f.Dir, filepath.FromSlash(f.Path)) }

// Shown returns how messages name the file.
func (f *Found) Shown() string {
	if f.Replace != "" {
		return filepath.ToSlash(filepath.Join(f.Replace, f.Path))
	}
	return f.String() + "/" + f.Path
}

// Require finds what require means in the code of a module, "" for that of the site. It is nil
// where the name belongs to no module of the lock. The files of the module that it is in were
// checked.
//
// The code of a site can require what its dependencies export, and that of a module what lies in
// it and what its own dependencies export. So nobody gets a module that nobody asked for.
func (s *Site) Require(from, name string) (*Found, error) {
	if first, _, _ := strings.Cut(name, "."); first == "std" || first == "ccm" {
		return nil, nil
	}
	var asks map[string]string // the dependencies of the code that asks
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
			return nil, diag.Errorf(diag.Pos{File: s.shownPath(LockName)}, "%s needs %s, which the lock does not have", from, dependency).
				WithHint("write the lock anew: ccm mod tidy")
		}
	}
	return nil, s.strange(from, name, asks)
}

// dependencies returns what the site asks for.
func (s *Site) dependencies() map[string]string {
	asks := make(map[string]string, len(s.File.Dependencies))
	for _, d := range s.File.Dependencies {
		asks[d.Name] = d.Version
	}
	return asks
}

// exporter returns the module of the lock that exports a name, of which there is one at most.
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

// own returns the module that the site itself is, nil if it is none. Its specs and examples
// require it as others do, from wherever they stand.
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

// exported returns the file of a module that is exported by a name.
func (s *Site) exported(m *LockedModule, name string) (*Found, error) {
	c, err := s.Open(m.Name)
	if err != nil {
		return nil, err
	}
	if found := c.find(name); found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%s exports %q, and has no file %s", m, name, strings.ReplaceAll(templates[0], "?", strings.ReplaceAll(name, ".", "/")))
}

// find returns the file of a copy for a name, nil if it has none.
func (c Copy) find(name string) *Found {
	for part := range strings.SplitSeq(name, ".") {
		if !isNamePart(part) {
			return nil
		}
	}
	for _, t := range templates {
		at := strings.ReplaceAll(t, "?", strings.ReplaceAll(name, ".", "/"))
		if c.has(at) {
			return &Found{c, at}
		}
	}
	return nil
}

// has reports whether a copy has a file.
func (c Copy) has(name string) bool {
	if c.files != nil {
		return slices.ContainsFunc(c.files, func(f file) bool { return f.name == name })
	}
	return isFile(filepath.Join(c.Dir, filepath.FromSlash(name)))
}

// Read returns what a file of a module holds, given its path below the directory. It is false of a module that is replaced,
// and of what is not in it. A file that is not as it was when it was checked is an error: so what is read has the hash of
// the lock, and its path need not be judged again.
func (c Copy) Read(name string) (text []byte, ok bool, err error) {
	i := slices.IndexFunc(c.files, func(f file) bool { return f.name == name })
	if i < 0 {
		return nil, false, nil
	}
	text, err = c.files[i].read(c.Dir)
	return text, true, err
}

// Exports reports whether the module in a directory has a file for a name that it exports.
func Exports(dir, name string) bool { return Copy{Dir: dir}.find(name) != nil }

// Requirable returns the names that scripts of the site can require: what their dependencies
// export, in order.
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

// strange returns an error if a name is like those of a module of the lock, and is none that
// the code may require; nil if the lock has nothing to do with it.
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
			return diag.Errorf(diag.Pos{}, "%s is locked for %s only, and the site does not ask for it", m, strings.Join(s.Dependent(m.Name), ", ")).
				WithHint("ccm mod get %s", m)
		}
		if slices.Contains(m.Exports, name) {
			return diag.Errorf(diag.Pos{}, "%s does not ask for %s", from, m.Name).
				WithHint("add it to the dependencies in the %s of %s", FileName, from)
		}
	}
	return nil
}

// Denied returns why the code of a module cannot use a global of scripts, nil if it can.
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
		return diag.Errorf(diag.Pos{}, "%s uses %s and does not declare the capability %q", m.Name, global, capability).
			WithHint("in the %s of %s: capabilities = { %q }", FileName, m.Name, capability)
	case !slices.Contains(allowed, capability):
		return diag.Errorf(diag.Pos{}, "%s uses %s, and the site does not allow it the capability %q", m.Name, global, capability).
			WithHint("in %s: allow = { [%q] = { %q } }, if it may %s", s.shownPath(FileName), m.Name, capability, strings.Replace(Capabilities[capability].Doc, "s ", " ", 1))
	}
	return nil
}
