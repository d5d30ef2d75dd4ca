package module

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// lockFormat is the version of the lock's format that this program reads and writes.
const lockFormat = 1

// maxLock limits the size of a ccm.lock and of a ccm.mod.lua, in bytes.
const maxLock = 8 << 20

// A Lock is the content of a ccm.lock: one version of each module.
type Lock struct {
	Format  int            `json:"format"`
	Modules []LockedModule `json:"modules"` // sorted by name
	// Sum is the SHA-256 of the file's text with an empty Sum. It detects damage such as an unfinished merge of git;
	// it is not a protection against somebody who can write the file.
	Sum string `json:"sum"`
}

// A LockedModule is a module in a lock.
type LockedModule struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"` // "" if the module is replaced
	Source
	Tag    string `json:"tag,omitempty"`    // the tag of git
	Commit string `json:"commit,omitempty"` // the commit of git
	// Signer is the name of the tag's signer in the file of signers.
	Signer string `json:"signer,omitempty"`
	// Hash is the hash of all files of the module (Hash1 of golang.org/x/mod/sumdb/dirhash, with paths relative to
	// the module).
	Hash string `json:"hash,omitempty"`
	// Replace is the local folder that is used instead of the module, relative to the lock. It belongs to the site
	// and has no hash.
	Replace string `json:"replace,omitempty"`

	CCM          Rule     `json:"ccm,omitempty"`
	Exports      []string `json:"exports,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Tests        []string `json:"tests,omitempty"`
	// Dependencies has the least version of each module that this one depends on.
	Dependencies map[string]string `json:"dependencies,omitempty"`
}

// String returns name and version for messages.
func (m *LockedModule) String() string {
	if m.Replace != "" {
		return m.Name + " => " + m.Replace
	}
	return m.Name + "@" + m.Version
}

// Module returns the module with a name, nil if the lock has none.
func (l *Lock) Module(name string) *LockedModule {
	i, ok := slices.BinarySearchFunc(l.Modules, name, func(m LockedModule, name string) int { return strings.Compare(m.Name, name) })
	if !ok {
		return nil
	}
	return &l.Modules[i]
}

// Text returns the text of the lock's file. Equal locks have equal texts.
func (l *Lock) Text() []byte {
	c := Lock{Format: lockFormat, Modules: slices.Clone(l.Modules)}
	if c.Modules == nil {
		c.Modules = []LockedModule{}
	}
	slices.SortFunc(c.Modules, func(a, b LockedModule) int { return strings.Compare(a.Name, b.Name) })
	sum := sha256.Sum256(c.marshal())
	c.Sum = hex.EncodeToString(sum[:])
	return c.marshal()
}

func (l *Lock) marshal() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(l); err != nil {
		panic(err) // all fields can be encoded
	}
	return b.Bytes()
}

// fits reports whether Sum is the sum of the text.
func (l *Lock) fits(text []byte) bool {
	body, ok := bytes.CutSuffix(text, []byte(l.Sum+"\"\n}\n"))
	if !ok || len(l.Sum) != 2*sha256.Size {
		return false
	}
	sum := sha256.Sum256(append(slices.Clone(body), "\"\n}\n"...))
	return hex.EncodeToString(sum[:]) == l.Sum
}

// ParseLock reads the text of a lock. file names it in errors. A text that differs in any byte from what Text returns
// is refused.
func ParseLock(file string, text []byte) (*Lock, error) {
	damaged := func(format string, args ...any) error {
		return diag.Errorf(diag.Pos{File: file}, format, args...).WithHint("restore it from version control, or remove it and run: ccm mod tidy")
	}
	if len(text) > maxLock {
		return nil, damaged("lock file exceeds the limit of %d MiB", maxLock>>20)
	}
	var l Lock
	if err := json.Unmarshal(text, &l); err != nil {
		if bytes.Contains(text, []byte("<<<<<<<")) {
			return nil, damaged("lock file contains merge conflict markers")
		}
		syntax, ok := errors.AsType[*json.SyntaxError](err)
		if ok && int(syntax.Offset) == len(text) {
			return nil, damaged("lock file is truncated")
		}
		if ok {
			line := bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n")) + 1
			return nil, diag.At(diag.Pos{File: file, Line: line}, diag.Damaged("lock file", err)).
				WithHint("restore it from version control, or remove it and run: ccm mod tidy")
		}
		return nil, damaged("lock file is damaged: %w", err)
	}
	if l.Format != lockFormat {
		return nil, diag.At(diag.Pos{File: file}, diag.OtherFormat("lock file", l.Format, lockFormat)).
			WithHint("use a newer ccm")
	}
	if !l.fits(text) {
		return nil, damaged("lock file was edited by hand or is damaged: checksum mismatch")
	}
	for i := range l.Modules {
		if err := l.Modules[i].check(); err != nil {
			return nil, damaged("%s: %w", l.Modules[i].Name, err)
		}
		if i > 0 && l.Modules[i].Name == l.Modules[i-1].Name {
			return nil, damaged("duplicate %s", l.Modules[i].Name)
		}
	}
	if err := l.CheckExports(); err != nil {
		return nil, damaged("%w", err)
	}
	// Another program could read a duplicate or unknown key in its own way, so that a reviewer and ccm would see
	// different locks.
	if !bytes.Equal(l.Text(), text) {
		return nil, damaged("lock file is not in the format of ccm mod")
	}
	return &l, nil
}

// check returns an error if a field of a locked module is not valid.
func (m *LockedModule) check() error {
	if err := CheckName(m.Name); err != nil {
		return err
	}
	for _, e := range m.Exports {
		if err := CheckExport(m.Name, e); err != nil {
			return err
		}
	}
	for _, c := range m.Capabilities {
		if err := checkCapability(c); err != nil {
			return err
		}
	}
	if _, err := m.CCM.terms(); err != nil {
		return err
	}
	for name, version := range m.Dependencies {
		if err := CheckName(name); err != nil {
			return err
		}
		if v, err := CleanVersion(version); err != nil || v != version {
			return diag.Not(strconv.Quote(version), "a version")
		}
	}
	if m.Replace != "" {
		return checkPath(m.Replace)
	}
	if v, err := CleanVersion(m.Version); err != nil || v != m.Version {
		return diag.Not(strconv.Quote(m.Version), "a version")
	}
	if m.Git == "" == (m.URL == "") {
		return diag.Expected("either git or url")
	}
	if m.Git != "" {
		if err := CheckGit(m.Git); err != nil {
			return err
		}
	} else if err := CheckURL(m.URL); err != nil {
		return err
	}
	if m.Folder != "" {
		if err := checkFolder(m.Folder); err != nil {
			return err
		}
	}
	_, err := HashKey(m.Hash)
	return err
}

// CheckExports returns an error if two modules export the same name.
func (l *Lock) CheckExports() error {
	of := make(map[string]string)
	for _, m := range l.Modules {
		for _, e := range m.Exports {
			if other := of[e]; other != "" {
				return diag.Duplicate("export %q of %s and %s", e, other, m.Name)
			}
			of[e] = m.Name
		}
	}
	return nil
}
