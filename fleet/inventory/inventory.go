// Package inventory reads the inventories of Ansible: hosts, their groups and their variables. It
// reads INI, YAML, and JSON from programs, with the files of group_vars and host_vars beside them.
//
// Templates, plugins and vaults are not evaluated: using such a value is an error.
//
// Begin with [Read].
package inventory

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// An Inventory is hosts and groups of them.
type Inventory struct {
	groups map[string]*group
	hosts  map[string]*host
	order  []string // of hosts, by first mention
	names  []string // of groups, in the order of their definitions
}

// A group is hosts and other groups.
type group struct {
	name            string
	hosts, children []string
	vars, files     variables // of the inventory, and of group_vars
	defined         bool      // not only named as the child of another
	parents         []*group  // that named it as a child before it was defined
	at              string    // place of the first mention
}

type host struct{ vars, files variables }

// Variables by name.
type variables map[string]variable

// A variable is a value with its place.
type variable struct {
	value any // in the types of JSON, or an unknownValue
	at    string
}

// An unknownValue stands for a value that ccm cannot evaluate; its text is the reason.
type unknownValue string

// A Host is a selected host.
type Host struct {
	Name   string
	Groups []string // sorted, without all and ungrouped
	vars   variables
}

// Limits of an inventory.
const (
	maxHosts = 100_000
	maxFile  = 16 << 20
)

// A Check returns why a file is not trusted; runs reports that it is a program.
type Check func(path string, runs bool) error

// Read reads inventories, each a file or a directory of files. Later ones take precedence.
func Read(ctx context.Context, paths []string, check Check) (*Inventory, error) {
	inv := &Inventory{groups: make(map[string]*group), hosts: make(map[string]*host)}
	inv.group("all", "").define(inv)
	inv.group("ungrouped", "").define(inv)
	var varDirs []string // directories in which group_vars and host_vars may lie
	for _, path := range paths {
		files, dir, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if err := inv.read(ctx, file, check); err != nil {
				return nil, err
			}
		}
		if !slices.Contains(varDirs, dir) {
			varDirs = append(varDirs, dir)
		}
	}
	if err := inv.complete(); err != nil {
		return nil, err
	}
	for _, dir := range varDirs {
		if err := inv.readVariables(dir, check); err != nil {
			return nil, err
		}
	}
	return inv, nil
}

// leftOut are endings of names of files in a directory that are no inventories; Ansible ignores
// them too.
var leftOut = []string{".pyc", ".pyo", ".swp", ".bak", "~", ".rpm", ".md", ".txt", ".rst", ".orig", ".cfg", ".retry"}

// filesOf returns the files of an inventory, and their directory.
func filesOf(path string) (files []string, dir string, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, "", err
	}
	if !st.IsDir() {
		return []string{path}, filepath.Dir(path), nil
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") || slices.ContainsFunc(leftOut, func(end string) bool { return strings.HasSuffix(name, end) }) {
			continue
		}
		files = append(files, filepath.Join(path, name))
	}
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: %w", path, diag.None("inventory in this directory"))
	}
	return files, path, err
}

// read reads one file of any format.
func (inv *Inventory) read(ctx context.Context, file string, check Check) error {
	text, runs, err := readFile(file, check)
	switch {
	case err != nil:
		return err
	case runs:
		return inv.readProgram(ctx, file)
	case isYAML(file):
		return inv.readYAML(file, text)
	case bytes.HasPrefix(text, []byte("$ANSIBLE_VAULT;")):
		return fmt.Errorf("%s: encrypted with ansible-vault, which ccm cannot read", file)
	}
	return inv.readINI(file, text)
}

func isYAML(file string) bool {
	return slices.Contains([]string{".yml", ".yaml", ".json"}, filepath.Ext(file))
}

// readFile reads a trusted file, and reports whether it is a program. It does not read the text of
// a program.
func readFile(file string, check Check) (text []byte, runs bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if !st.Mode().IsRegular() {
		return nil, false, fmt.Errorf("%s: %w", file, diag.Expected("a file"))
	}
	if st.Mode()&0o111 != 0 {
		var begin [4]byte
		n, _ := f.ReadAt(begin[:], 0)
		runs = bytes.HasPrefix(begin[:n], []byte("#!")) || bytes.HasPrefix(begin[:n], []byte("\x7fELF"))
	}
	if err := check(file, runs); err != nil || runs {
		return nil, runs, err
	}
	text, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s: %w", file, diag.Exceeds("", "16 MiB"))
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), false, err // byte order mark of Windows editors
}

// group returns a group, and makes it if there is none.
func (inv *Inventory) group(name, at string) *group {
	g := inv.groups[name]
	if g == nil {
		g = &group{name: name, at: at, vars: make(variables), files: make(variables)}
		inv.groups[name] = g
	}
	return g
}

// host returns a host, and makes it if there is none.
func (inv *Inventory) host(name, at string) (*host, error) {
	h := inv.hosts[name]
	if h == nil {
		if strings.HasPrefix(name, "-") || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }) || name == "" {
			return nil, fmt.Errorf("%s: %w", at, diag.Expected("a host name").Got("%q", name))
		}
		if len(inv.order) == maxHosts {
			return nil, fmt.Errorf("%s: %w", at, diag.Exceeds("", "%d hosts", maxHosts))
		}
		h = &host{vars: make(variables), files: make(variables)}
		inv.hosts[name] = h
		inv.order = append(inv.order, name)
	}
	return h, nil
}

// define marks a group as defined. It becomes the last child of those that named it before, as in Ansible.
func (g *group) define(inv *Inventory) {
	if g.defined {
		return
	}
	g.defined = true
	inv.names = append(inv.names, g.name)
	for _, parent := range g.parents {
		parent.addChild(g.name)
	}
}

func (g *group) add(host string)       { g.hosts = append(g.hosts, host) }
func (g *group) addChild(child string) { g.children = append(g.children, child) }

// complete puts hosts and groups without a parent below all and ungrouped, and looks for mistakes
// in groups.
func (inv *Inventory) complete() error {
	below := make(map[string]bool) // groups that are children of others
	grouped := make(map[string]bool)
	for _, name := range sortedKeys(inv.groups) {
		g := inv.groups[name]
		if !g.defined {
			return fmt.Errorf("%s: %w", g.at, diag.Lacks("group "+name, "a section or hosts"))
		}
		g.hosts, g.children = distinct(g.hosts), distinct(g.children)
		if name != "all" {
			for _, c := range g.children {
				below[c] = true
			}
			for _, h := range g.hosts {
				grouped[h] = grouped[h] || name != "ungrouped"
			}
		}
	}
	all, ungrouped := inv.groups["all"], inv.groups["ungrouped"]
	all.hosts = nil
	ungrouped.hosts = slices.DeleteFunc(slices.Clone(inv.order), func(h string) bool { return grouped[h] })
	all.children = slices.DeleteFunc(all.children, func(name string) bool { return name == "ungrouped" })
	all.children = append([]string{"ungrouped"}, all.children...)
	for _, name := range inv.names {
		if name != "all" && !below[name] && !slices.Contains(all.children, name) {
			all.addChild(name)
		}
	}
	return inv.checkParents()
}

// checkParents returns an error if a group is above itself.
func (inv *Inventory) checkParents() error {
	const begun, done = 1, 2
	state := make(map[string]int)
	var visit func(name string) error
	visit = func(name string) error {
		switch state[name] {
		case begun:
			return fmt.Errorf("%s: %w", inv.groups[name].at, diag.SubjectCannot("group "+name, "be its own parent"))
		case done:
			return nil
		}
		state[name] = begun
		for _, c := range inv.groups[name].children {
			if err := visit(c); err != nil {
				return err
			}
		}
		state[name] = done
		return nil
	}
	for _, name := range sortedKeys(inv.groups) { // a cycle need not be below all
		if err := visit(name); err != nil {
			return err
		}
	}
	return nil
}

// members returns the hosts of a group and of all below it, in the order of Ansible: first those of the group, then
// those of its children, then those of their children.
func (inv *Inventory) members(name string) (list []string) {
	groups, seen := []string{name}, map[string]bool{name: true}
	for len(groups) > 0 {
		g := inv.groups[groups[0]]
		groups = groups[1:]
		list = append(list, g.hosts...)
		for _, c := range g.children {
			if !seen[c] {
				seen[c] = true
				groups = append(groups, c)
			}
		}
	}
	return distinct(list)
}

// distinct returns each text once.
func distinct(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
