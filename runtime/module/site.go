package module

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/mod/semver"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/trust"
)

// A Site is a directory with a ccm.mod.lua, a ccm.lock, or both.
type Site struct {
	Dir  string // absolute
	File *File  // nil if there is no ccm.mod.lua
	Lock *Lock  // nil if there is no ccm.lock

	policy      *trust.Policy
	caches      []string
	messagePath func(file string) string // the name of a file in messages
	copies      map[string]Copy
	trees       *treeCache
	vendor      *bool // whether there is a directory vendor; nil until somebody asks

	asks    map[string]string        // the dependencies, once the lock was found to satisfy them
	exports map[string]*LockedModule // by exported name
}

// A Copy is a module of the lock on this machine.
type Copy struct {
	*LockedModule
	// Dir is its directory. Its files are verified against the lock, unless the module is replaced.
	Dir string

	files []file // nil if the module is replaced, and not verified
}

// Find returns the site of the scripts in a directory: the nearest directory, from there up, with a ccm.mod.lua or a
// ccm.lock, nil if there is none. The search ends at the top of a git repository, and before a directory that has
// another owner than dir or that everybody may write, such as /home and /tmp.
//
// found means that the user did not name dir: it is only the working directory, and the stricter p.CheckFound
// applies. shown returns the name of a file for messages; nil leaves names as they are.
func Find(p *trust.Policy, dir string, found bool, caches []string, shown func(file string) string) (*Site, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	top, err := owner(dir)
	if err != nil {
		return nil, nil // the error comes from reading the script
	}
	for at := dir; ; at = filepath.Dir(at) {
		if at != dir {
			found = true
			if st, err := owner(at); err != nil || st.Uid != top.Uid || st.Mode&0o002 != 0 {
				return nil, nil
			}
		}
		s, err := open(p, at, found, caches, shown)
		if s != nil || err != nil {
			return s, err
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			return nil, nil
		}
	}
}

func owner(dir string) (st syscall.Stat_t, err error) {
	err = safepath.IgnoringEINTR(func() error { return syscall.Stat(dir, &st) })
	return st, err
}

// Open returns the site in a directory, nil if the directory has neither a ccm.mod.lua nor a ccm.lock.
func Open(p *trust.Policy, dir string, caches []string) (*Site, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return open(p, dir, false, caches, nil)
}

func open(p *trust.Policy, dir string, found bool, caches []string, shown func(string) string) (*Site, error) {
	if shown == nil {
		shown = func(file string) string { return file }
	}
	s := &Site{Dir: dir, policy: p, caches: caches, messagePath: shown, copies: make(map[string]Copy)}
	text, err := readOwnFile(p, filepath.Join(dir, FileName), found)
	if err != nil {
		return nil, err
	}
	if text != nil {
		if s.File, err = ParseFile(s.shownPath(FileName), string(text)); err != nil {
			return nil, err
		}
	}
	if text, err = readOwnFile(p, filepath.Join(dir, LockName), found); err != nil {
		return nil, err
	}
	if text != nil {
		if s.Lock, err = ParseLock(s.shownPath(LockName), text); err != nil {
			return nil, err
		}
	}
	if s.File == nil && s.Lock == nil {
		return nil, nil
	}
	return s, nil
}

// readOwnFile reads a file of the site that the policy trusts; nil if it does not exist.
func readOwnFile(p *trust.Policy, file string, found bool) ([]byte, error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	check := p.Check
	if found {
		check = p.CheckFound
	}
	if err := check(file); err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s: %w", file, diag.Expected("a file")))
	}
	text, err := safepath.ReadUpTo(f, maxLock)
	if text == nil && err == nil {
		text = []byte{}
	}
	return text, err
}

// Check returns an error if the lock does not satisfy ccm.mod.lua, or if the file of signers no longer names a
// module's signer.
func (s *Site) Check() error {
	if err := s.checkLock(); err != nil {
		return err
	}
	return s.checkSigners(false)
}

// checkRun is Check for a run, where the file of signers may be missing: it is needed only on the machine on which
// versions are chosen.
func (s *Site) checkRun() error {
	if err := s.checkLock(); err != nil {
		return err
	}
	return s.checkSigners(true)
}

// checkLock returns an error if the lock does not satisfy the dependencies in ccm.mod.lua.
func (s *Site) checkLock() error {
	if s.File == nil {
		return diag.At(diag.Pos{File: s.shownPath(LockName)}, diag.Missing(FileName, "beside the lock file")).
			WithHint("create it with: ccm mod init")
	}
	for _, d := range s.File.Dependencies {
		var m *LockedModule
		if s.Lock != nil {
			m = s.Lock.Module(d.Name)
		}
		unfit := func(format string, args ...any) error {
			return diag.At(d.Pos,
				diag.Requires(FileName, "%s %s, but %s", d.Name, d.Version, fmt.Sprintf(format, args...))).
				WithHint("update the lock file with: ccm mod tidy")
		}
		switch replaced := s.File.Replace[d.Name]; {
		case s.Lock == nil:
			return unfit("%s does not exist", LockName)
		case m == nil:
			return unfit("%s lacks it", LockName)
		case m.Replace != replaced && replaced == "":
			return unfit("%s replaces it with directory %s", LockName, m.Replace)
		case m.Replace != replaced:
			return unfit("%s lacks directory %s, which replaces it", LockName, replaced)
		case replaced != "":
		case semver.Compare(m.Version, d.Version) < 0:
			return unfit("%s has %s", LockName, m.Version)
		case s.File.SignersOf(d.Name) != "" && m.Signer == "":
			return unfit("%s lacks its signer", LockName)
		case m.Source != d.Source && d.Source != (Source{}):
			return unfit("%s has it from %s", LockName, m.Source)
		}
	}
	return nil
}

func (s *Site) path(name string) string { return filepath.Join(s.Dir, name) }

// shownPath returns the name of a file of the site for messages.
func (s *Site) shownPath(name string) string { return s.messagePath(s.path(name)) }

// Copies returns all modules of the lock, sorted by name and verified. It serves to pack a site: with each Dir copied
// to vendor/NAME beside ccm.mod.lua and ccm.lock, a run finds the modules. A replaced module is a folder of the site
// already.
func (s *Site) Copies() ([]Copy, error) {
	if s.Lock == nil {
		return nil, s.checkUnlocked()
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	defer s.Remember()
	list := make([]Copy, 0, len(s.Lock.Modules))
	for i := range s.Lock.Modules {
		c, err := s.Open(s.Lock.Modules[i].Name)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// checkUnlocked returns an error if a site without a lock has dependencies.
func (s *Site) checkUnlocked() error {
	if s.File == nil || len(s.File.Dependencies) == 0 {
		return nil
	}
	return s.Check()
}

// Open returns a module of the lock by its name, verified.
func (s *Site) Open(name string) (Copy, error) {
	if c, ok := s.copies[name]; ok {
		return c, nil
	}
	m := s.own()
	if m == nil || m.Name != name {
		m = s.locked(name)
	}
	if m == nil {
		return Copy{}, diag.At(diag.Pos{File: s.shownPath(LockName)},
			diag.Not(fmt.Sprintf("module %s", name), "in the lock file"))
	}
	dir, err := s.locate(m)
	if err != nil {
		return Copy{}, err
	}
	c := Copy{LockedModule: m, Dir: dir}
	if m.Replace == "" {
		if c.files, err = s.verify(c); err != nil {
			return Copy{}, err
		}
	}
	s.copies[name] = c
	return c, nil
}

// locked returns the module of the lock with a name, nil if there is none.
func (s *Site) locked(name string) *LockedModule {
	if s.Lock == nil {
		return nil
	}
	return s.Lock.Module(name)
}

// locate returns the directory of a module's files: vendor, then the caches.
func (s *Site) locate(m *LockedModule) (string, error) {
	lock := diag.Pos{File: s.shownPath(LockName)}
	if m.Replace != "" {
		dir := m.Replace
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.Dir, dir)
		}
		if err := s.policy.Check(dir); err != nil {
			return "", fmt.Errorf("%s: %w", m, err)
		}
		return dir, nil
	}
	var candidates []string
	// Without a ccm.mod.lua the directory in vendor may only lead to another module, as vendor/example.org does.
	if dir := filepath.Join(s.Dir, VendorDir, filepath.FromSlash(m.Name)); s.hasVendor() && isFile(filepath.Join(dir, FileName)) {
		candidates = append(candidates, dir)
	}
	for _, cache := range s.caches {
		dir, err := TreeDir(cache, m.Hash)
		if err != nil {
			return "", diag.Errorf(lock, "%s: %w", m, err)
		}
		candidates = append(candidates, dir)
	}
	for _, dir := range candidates {
		switch err := s.check(dir); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", fmt.Errorf("%s: %w", m, err)
		default:
			return dir, nil
		}
	}
	return "", diag.Errorf(lock, "files of %s are neither in %s nor in the cache %s", m, s.shownPath(VendorDir), s.caches[0]).
		WithHint("fetch them with: ccm mod get")
}

// check returns an error if a directory does not exist or the policy does not trust it.
func (s *Site) check(dir string) error {
	if s.policy != nil {
		return s.policy.Check(dir)
	}
	_, err := os.Lstat(dir)
	return err
}

// hasVendor reports whether the site has a directory vendor.
func (s *Site) hasVendor() bool {
	if s.vendor == nil {
		has := isDir(s.path(VendorDir))
		s.vendor = &has
	}
	return *s.vendor
}

func isFile(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode().IsRegular()
}

// Dependent returns the sorted names of the modules that depend on a module, "" for the site.
func (s *Site) Dependent(name string) (list []string) {
	if s.File != nil && s.File.Dependency(name) != nil {
		list = append(list, "")
	}
	for i := range s.Lock.Modules {
		if _, ok := s.Lock.Modules[i].Dependencies[name]; ok {
			list = append(list, s.Lock.Modules[i].Name)
		}
	}
	slices.Sort(list)
	return list
}

// A TamperedError reports that the files of a module do not have the hash of the lock.
type TamperedError struct {
	Module *LockedModule
	Dir    string
	Hash   string // the hash of the files
}

// Error names the module, its directory and both hashes.
func (e *TamperedError) Error() string {
	return fmt.Sprintf("%s does not match the lock file: %s has hash %s instead of %s", e.Module, e.Dir, e.Hash, e.Module.Hash)
}

// verify compares the files of a copy with the hash of the lock, and returns them.
func (s *Site) verify(c Copy) ([]file, error) {
	t, err := readTree(c.Dir)
	if err == nil && t.open != "" {
		err = s.policy.Check(t.open)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.LockedModule, err)
	}
	if s.trees == nil {
		s.trees = readKnownTrees(s.caches[0])
	}
	if s.trees.has(c.Hash, t) {
		return t.files, nil
	}
	got, err := t.hash()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.LockedModule, err)
	}
	if got != c.Hash {
		e := diag.Errorf(diag.Pos{File: s.shownPath(LockName)}, "%w", &TamperedError{c.LockedModule, s.messagePath(c.Dir), got})
		if strings.HasPrefix(c.Dir, s.path(VendorDir)+"/") {
			return nil, e.WithHint("check who changed its files, or whether the lock file is newer; then remove %s and run ccm mod vendor", s.messagePath(c.Dir))
		}
		return nil, e.WithHint("check who changed its files, then fetch it again with: ccm mod get")
	}
	s.trees.add(c.Hash, t)
	return t.files, nil
}

// Forget drops all that is known of files, so that all are read and verified again.
func (s *Site) Forget() { s.trees, s.copies = newKnownTrees(s.caches[0]), make(map[string]Copy) }

// Remember saves which directories were verified, so that the next run does not read unchanged files again. Failing
// to save is not an error.
func (s *Site) Remember() {
	if s.trees != nil {
		s.trees.save()
	}
}
