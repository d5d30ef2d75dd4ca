package inventory

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
)

// readFiles reads the files of a group or a host in group_vars or host_vars: NAME, NAME.yml and the
// like, or all files of the directory NAME.
func (v variables) readFiles(dir, name string, check Check) error {
	if strings.ContainsRune(name, '/') || name == ".." || name == "." {
		return nil
	}
	for _, end := range []string{"", ".yml", ".yaml", ".json"} {
		path := filepath.Join(dir, name+end)
		st, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG):
			continue
		case err != nil:
			return err
		case st.IsDir():
			return v.readFolder(path, check)
		}
		return v.readFile(path, check) // and no others, as in Ansible
	}
	return nil
}

func (v variables) readFolder(dir string, check Check) error {
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		left := strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(d.Name(), "~")
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != dir && (left || filepath.Ext(file) != ""):
			return fs.SkipDir
		case d.IsDir() || left || filepath.Ext(file) != "" && !isYAML(file):
			return nil
		}
		return v.readFile(file, check)
	})
}

func (v variables) readFile(file string, check Check) error {
	text, runs, err := readFile(file, check)
	if err != nil {
		return err
	}
	if runs {
		return fmt.Errorf("%s: %w", file, diag.SubjectCannot("executable files", "hold variables"))
	}
	if bytes.HasPrefix(text, []byte("$ANSIBLE_VAULT;")) {
		// The names of its variables are unknown, so any variable may be among them.
		v["("+filepath.Base(file)+")"] = variable{unknownValue("encrypted with ansible-vault"), file}
		return nil
	}
	y := &yamlFile{file: file}
	n, err := y.document(text)
	if err != nil || n == nil {
		return err
	}
	return y.variables(v, n)
}

// priority returns the place of a group among those of the same depth: later ones take precedence.
func (g *group) priority() int {
	if n, err := strconv.Atoi(fmt.Sprint(g.vars["ansible_group_priority"].value)); err == nil {
		return n
	}
	return 1
}

// groupsOf returns the groups of each host, with their parents: parents first, then by priority and name.
func (inv *Inventory) groupsOf() map[string][]*group {
	parents := make(map[string][]string)
	for name, g := range inv.groups {
		for _, c := range g.children {
			parents[c] = append(parents[c], name)
		}
	}
	depth := make(map[string]int)
	var measure func(name string) int
	measure = func(name string) int {
		d, ok := depth[name]
		if !ok {
			for _, p := range parents[name] {
				d = max(d, measure(p)+1)
			}
			depth[name] = d
		}
		return d
	}
	for name := range inv.groups {
		measure(name)
	}
	of := make(map[string][]*group)
	for _, name := range sortedKeys(inv.groups) {
		for _, h := range inv.members(name) {
			of[h] = append(of[h], inv.groups[name])
		}
	}
	for _, list := range of {
		slices.SortStableFunc(list, func(a, b *group) int {
			return cmp.Or(depth[a.name]-depth[b.name], cmp.Compare(a.priority(), b.priority()))
		})
	}
	return of
}

// resolve returns the variables of a host. Its own take precedence over those of its groups, and
// nearer groups over farther ones. But files of any of its groups take precedence over the
// inventory's variables of all its groups, and so for its own.
func (inv *Inventory) resolve(name string, groups []*group) variables {
	v := make(variables)
	lay := func(other variables) {
		maps.Copy(v, other)
	}
	for _, g := range groups {
		lay(g.vars)
	}
	for _, g := range groups {
		lay(g.files)
	}
	lay(inv.hosts[name].vars)
	lay(inv.hosts[name].files)
	return v
}

// Variable returns a variable of a host, nil if it has none. A variable with an unknown value is an
// error.
func (h *Host) Variable(name string) (any, error) {
	v := h.vars[name]
	if why := whyUnknown(v.value); why != "" {
		return nil, &UnknownError{At: fmt.Sprint(v.at), Variable: name, Host: h.Name, Reason: why}
	}
	return v.value, nil
}

// An UnknownError reports that the value of a variable is unknown.
type UnknownError struct {
	At       string // place of the variable
	Variable string
	Host     string
	Reason   string
}

// Error names variable and host.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s: %s of host %s: %s", e.At, e.Variable, e.Host, e.Reason)
}

// Facts returns all variables except those for which left is true and those with unknown values. It
// calls unknown with the place and the reason of each unknown value.
func (h *Host) Facts(left func(name string) bool, unknown func(*UnknownError)) map[string]any {
	facts := map[string]any{"inventory_hostname": h.Name, "group_names": h.Groups}
	for _, name := range sortedKeys(h.vars) {
		if left(name) {
			continue
		}
		value, err := h.Variable(name)
		if err != nil {
			if u, ok := errors.AsType[*UnknownError](err); ok {
				unknown(u)
			}
			continue
		}
		facts[name] = value
	}
	return facts
}

// whyUnknown returns why a value is unknown.
func whyUnknown(v any) string {
	switch v := v.(type) {
	case unknownValue:
		return string(v) + ", which ccm cannot read"
	case string:
		if strings.Contains(v, "{{") || strings.Contains(v, "{%") {
			return "a Jinja template, which ccm does not evaluate"
		}
	case []any:
		for _, x := range v {
			if why := whyUnknown(x); why != "" {
				return why
			}
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if why := whyUnknown(v[k]); why != "" {
				return why
			}
		}
	}
	return ""
}
