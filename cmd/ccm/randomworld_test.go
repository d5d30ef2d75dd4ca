package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A declaration is a resource of a random site.
type declaration struct {
	kind, name string
	props      []string // names and values alternating, values in the syntax of Lua and YAML
	after      map[string][]string
	back       bool     // its dependencies declare the order, by before and notify
	lua        bool     // only a script can declare it
	in         string   // the script or manifest with the declaration, "" for the site
	set        []string // properties that ccm.resources sets, as props
	defaults   bool     // it has a tag from defaults
	health     string   // the command of a health check, "" for none
	unanswered bool     // only a run finds out that it is not available
}

func (d declaration) id() string { return d.kind + "#" + d.name }

// inLua returns the declaration in Lua.
func (d declaration) inLua() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s { %q", d.kind, d.name)
	for i := 0; i < len(d.props); i += 2 {
		fmt.Fprintf(&b, ", %s = %s", d.props[i], d.props[i+1])
	}
	if d.health != "" {
		fmt.Fprintf(&b, ", health_checks = { { command = %q } }", d.health)
	}
	for _, relation := range relations {
		if refs := d.refs(relation); len(refs) > 0 {
			fmt.Fprintf(&b, ", %s = { %s }", relation, strings.Join(refs, ", "))
		}
	}
	return b.String() + " }\n"
}

// inYAML returns the declaration in YAML.
func (d declaration) inYAML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "    - %s:\n", d.kind)
	if d.defaults {
		b.WriteString("        - defaults: { tags: [t0], tries: 2, try_sleep: 1ms, timeout: 30s }\n")
	}
	fmt.Fprintf(&b, "        - %s:\n", strconv.Quote(d.name))
	for i := 0; i < len(d.props); i += 2 {
		value := d.props[i+1]
		if list, ok := strings.CutPrefix(value, "{"); ok {
			value = "[" + strings.TrimSuffix(list, "}") + "]"
		}
		fmt.Fprintf(&b, "            %s: %s\n", d.props[i], value)
	}
	if d.health != "" {
		fmt.Fprintf(&b, "            health_checks: [{ command: %q }]\n", d.health)
	}
	for _, relation := range relations {
		if refs := d.refs(relation); len(refs) > 0 {
			fmt.Fprintf(&b, "            %s: [%s]\n", relation, strings.Join(refs, ", "))
		}
	}
	return b.String()
}

func (d declaration) refs(relation string) (refs []string) {
	for _, id := range d.after[relation] {
		refs = append(refs, strconv.Quote(id))
	}
	return refs
}

var relations = []string{"require", "subscribe", "before", "notify"}

// withBack returns declarations with before and notify for those that have back set.
func withBack(list []declaration) []declaration {
	all := slices.Clone(list)
	for i := range all {
		all[i].after = maps.Clone(all[i].after)
	}
	for i, d := range list {
		if !d.back {
			continue
		}
		for relation, other := range map[string]string{"require": "before", "subscribe": "notify"} {
			for _, id := range d.after[relation] {
				k := slices.IndexFunc(all, func(x declaration) bool { return x.id() == id })
				all[k].after[other] = append(slices.Clone(all[k].after[other]), d.id())
			}
			delete(all[i].after, relation)
		}
	}
	return all
}

// A randomWorld is a directory, and a site of all types that manages it.
type randomWorld struct {
	rnd       *rand.Rand
	dir       string
	url       string   // of an archive
	repo      string   // of a git repository
	rooted    bool     // the directory is the root of a machine
	populated bool     // it has a further user and group
	flags     []string // of plan and run
	list      []declaration
	start     entryList
	cloned    bool // there is a clone of repo
	refused   bool // the site was refused before the plan
	// expected counts what became of the resources that are pending and not certain, by outcome.
	expected map[string]int
	deeper   int // number of resources known only in a second step, see checkUnknown
}

// at returns the path on the machine for a path of the operating system.
func (w *randomWorld) at(path string) string {
	if w.rooted {
		return strings.TrimPrefix(path, w.dir)
	}
	return path
}

// newRandomWorld returns a world below a directory.
func newRandomWorld(seed uint64, where, url, repo string) *randomWorld {
	w := &randomWorld{rnd: rand.New(rand.NewPCG(seed, 9)), dir: filepath.Join(where, "D"), url: url, repo: repo}
	w.rooted = w.rnd.IntN(3) == 0
	w.flags = one(w.rnd, nil, nil, nil, nil, nil, nil, []string{"--tags", "t0", "--with-dependents"}, []string{"--skip-tags", "t0"})
	w.find()
	for range 2 + w.rnd.IntN(9) {
		w.declare()
	}
	w.settleEdits()
	return w
}

// settleEdits gives a file with edits its content only when it is new: a site with both is refused.
func (w *randomWorld) settleEdits() {
	for i, d := range w.list {
		whole := slices.Contains(d.props, "content") || slices.Contains(d.props, "source")
		if d.kind != "file" || !whole || !slices.ContainsFunc(w.list, func(e declaration) bool {
			return e.kind != d.kind && len(e.props) > 1 && e.props[0] == "path" && e.props[1] == strconv.Quote(d.name)
		}) {
			continue
		}
		w.list[i].props = append(slices.Clone(d.props), "content_once", "true")
	}
}

// An entry is a file with a text, a link with a target, or a directory that exists before the run.
type entry struct{ path, text, target string }

type entryList []entry

// String lists the entries.
func (f entryList) String() string {
	var b strings.Builder
	for _, e := range f {
		fmt.Fprintf(&b, "%s %q %s\n", e.path, e.text, e.target)
	}
	return b.String()
}

// one returns a random element.
func one[T any](rnd *rand.Rand, list ...T) T { return list[rnd.IntN(len(list))] }

// path returns a path that resources manage.
func (w *randomWorld) path() string {
	dir := one(w.rnd, "", "", "/d0", "/d1", "/d1/sub", "/new", "/new/deep", "/ud0", "/l0", "/scaf")
	return w.dir + dir + "/" + one(w.rnd, "a", "b", "c")
}

// free returns a path that no resource manages, and that commands change.
func (w *randomWorld) free() string {
	return w.dir + one(w.rnd, "", "", "/ud0", "/ud1") + "/" + one(w.rnd, "u0", "u1", "u2")
}

// any returns a path to read.
func (w *randomWorld) any() string {
	return one(w.rnd, w.path(), w.free(), w.dir+"/"+one(w.rnd, "d0", "d1", "new", "ud0", "ud1", "l0", "sys/share/alpha", "sys/share/gamma", "sys/units/beta"))
}

// find chooses the files that exist before the run.
func (w *randomWorld) find() {
	for _, dir := range []string{"/d0", "/d1/sub"} {
		w.start = append(w.start, entry{path: w.dir + dir})
	}
	w.start = append(w.start, entry{path: w.dir + "/templates/one", text: "one [[ 1 + 1 ]]\n"})
	for _, name := range []string{"/sys/repo/alpha", "/sys/repo/beta", "/sys/repo/beta-release", "/sys/repo/gamma"} {
		if w.rnd.IntN(3) > 0 {
			w.start = append(w.start, entry{path: w.dir + name, text: one(w.rnd, "1.0", "2.0")})
		}
	}
	for _, name := range []string{"/sys/installed/alpha", "/sys/installed/beta", "/sys/installed/gamma", "/sys/units/delta"} {
		if w.rnd.IntN(4) == 0 {
			w.start = append(w.start, entry{path: w.dir + name, text: one(w.rnd, "1.0", "2.0")})
			for file, text := range randomContents[filepath.Base(name)] {
				w.start = append(w.start, entry{path: w.dir + "/sys/" + file, text: text})
			}
		}
	}
	for _, name := range []string{"/sys/running/alpha", "/sys/held/beta", "/sys/enabled/beta", "/sys/running/delta"} {
		// A service cannot run without a unit.
		unit := w.dir + "/sys/units/" + filepath.Base(name)
		if w.rnd.IntN(3) == 0 && (!strings.Contains(name, "/running/") || slices.ContainsFunc(w.start, func(e entry) bool { return e.path == unit })) {
			w.start = append(w.start, entry{path: w.dir + name, text: "1"})
		}
	}
	for _, name := range []string{"/a", "/b", "/d0/a", "/d0/b", "/d1/c", "/d1/sub/a", "/u0", "/ud0/u1", "/scaf/one"} {
		if w.rnd.IntN(3) == 0 {
			w.start = append(w.start, entry{path: w.dir + name, text: one(w.rnd, "0\n", "1\n", "one 2\n")})
		}
	}
	if w.rnd.IntN(2) == 0 { // the package manager knows the files of packages
		w.start = append(w.start, entry{path: w.dir + "/sys/lists"})
	}
	w.cloned = w.rnd.IntN(3) == 0
	w.findShipped()
	if w.rnd.IntN(3) == 0 {
		w.start = append(w.start, entry{path: w.dir + "/l0", target: one(w.rnd, "d0", "d1", "nowhere", w.at(w.dir+"/d0"))})
	}
}

// populate makes the files that exist before the run.
func (w *randomWorld) populate(t *testing.T) {
	require.NoError(t, os.RemoveAll(w.dir))
	require.NoError(t, os.Mkdir(w.dir, 0o755))
	if w.cloned && slices.ContainsFunc(w.list, func(d declaration) bool { return d.kind == "git" }) {
		out, err := exec.Command("git", "clone", "-q", w.repo, w.dir+"/clone").CombinedOutput()
		require.NoError(t, err, string(out))
	}
	for _, e := range slices.Concat(w.accounts(), w.start) {
		dir := filepath.Dir(e.path)
		if e.text+e.target == "" {
			dir = e.path
		}
		require.NoError(t, os.MkdirAll(dir, 0o755))
		switch {
		case e.text != "":
			require.NoError(t, os.WriteFile(e.path, []byte(e.text), 0o644))
		case e.target != "":
			require.NoError(t, os.Symlink(e.target, e.path))
		}
	}
}

// site returns the site without some of its resources.
func (w *randomWorld) site(out map[string]bool) (name, text string) {
	name, lists := "site.yaml", w.units(out)
	if slices.ContainsFunc(w.list, func(d declaration) bool { return d.lua }) {
		name = "site.lua"
	}
	for _, in := range slices.Sorted(maps.Keys(lists)) {
		if in != "" {
			text += "\n-- " + in + "\n" + inUnit(in, lists[in])
		}
	}
	return name, inUnit(name, lists[""]) + text
}

// write writes the site without some of its resources to a directory, and returns the path of the script or manifest.
func (w *randomWorld) write(t *testing.T, dir string, out map[string]bool) string {
	name, _ := w.site(out)
	for in, list := range w.units(out) {
		file := name
		if in != "" {
			file = in
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(inUnit(file, list)), 0o600))
	}
	return filepath.Join(dir, name)
}

// units returns the declarations of the site, under "", and of each applied manifest, without the resources in out
// and references to them.
func (w *randomWorld) units(out map[string]bool) map[string][]declaration {
	gone := maps.Clone(out)
	if gone == nil {
		gone = make(map[string]bool)
	}
	lists := map[string][]declaration{"": nil}
	for _, d := range w.list {
		if d.kind == "apply" && !gone[d.id()] {
			lists[d.name] = nil
		}
	}
	for _, d := range w.list {
		if _, applied := lists[d.in]; !applied {
			gone[d.id()] = true
		}
	}
	list := slices.Clone(w.list)
	for i := len(list) - 1; i >= 0; i-- {
		if gone[list[i].id()] {
			list = without(list, i)
		}
	}
	if len(w.flags) > 0 {
		lists[""] = []declaration{tagged}
	}
	for _, d := range withBack(list) {
		lists[d.in] = append(lists[d.in], d)
	}
	return lists
}

// tagged has the tag in w.flags, so that the tag always exists. It is stable.
var tagged = declaration{kind: "exec", name: "tagged", props: []string{"command", `"true"`, "unless", `"true"`, "tags", `{"t0"}`}}

// inUnit returns the text of a script or manifest.
func inUnit(name string, list []declaration) string {
	var b strings.Builder
	if strings.HasSuffix(name, ".lua") {
		b.WriteString(scriptHead(list))
		for _, d := range list {
			if len(d.set) > 0 {
				fmt.Fprintf(&b, "ccm.resources { type = %q, name = %q }:set { %s = %s }\n", d.kind, d.name, d.set[0], d.set[1])
			}
		}
		for i, d := range list {
			if d.defaults && !slices.ContainsFunc(list[:i], func(x declaration) bool { return x.defaults }) {
				b.WriteString("ccm.defaults { tags = \"t0\", tries = 2, try_sleep = \"1ms\", timeout = \"30s\" }\n")
			}
			b.WriteString(d.inLua())
		}
		return b.String()
	}
	b.WriteString("ccm:\n  resources:\n")
	for _, d := range list {
		b.WriteString(d.inYAML())
	}
	if len(list) == 0 {
		b.WriteString("    []\n")
	}
	return b.String()
}
