package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// A declaration is a resource of a random site.
type declaration struct {
	kind, name string
	props      []string // name and value by turns, the value as Lua and YAML write it
	after      map[string][]string
	lua        bool // only a script can declare it
}

func (d declaration) id() string { return d.kind + "#" + d.name }

// lua writes a declaration in Lua, without references to what is left out.
func (d declaration) inLua(out map[string]bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s { %q", d.kind, d.name)
	for i := 0; i < len(d.props); i += 2 {
		fmt.Fprintf(&b, ", %s = %s", d.props[i], d.props[i+1])
	}
	for _, relation := range []string{"require", "subscribe"} {
		if refs := d.refs(relation, out); len(refs) > 0 {
			fmt.Fprintf(&b, ", %s = { %s }", relation, strings.Join(refs, ", "))
		}
	}
	return b.String() + " }\n"
}

// inYAML is inLua for a manifest.
func (d declaration) inYAML(out map[string]bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "    - %s:\n        - %s:\n", d.kind, strconv.Quote(d.name))
	for i := 0; i < len(d.props); i += 2 {
		fmt.Fprintf(&b, "            %s: %s\n", d.props[i], d.props[i+1])
	}
	for _, relation := range []string{"require", "subscribe"} {
		if refs := d.refs(relation, out); len(refs) > 0 {
			fmt.Fprintf(&b, "            %s: [%s]\n", relation, strings.Join(refs, ", "))
		}
	}
	return b.String()
}

func (d declaration) refs(relation string, out map[string]bool) (refs []string) {
	for _, id := range d.after[relation] {
		if !out[id] {
			refs = append(refs, strconv.Quote(id))
		}
	}
	return refs
}

// A randomWorld is a directory, and a site of all types that manages it.
type randomWorld struct {
	rnd   *rand.Rand
	dir   string
	url   string
	list  []declaration
	start found
}

// newRandomWorld returns a world below a directory. A site with an edge that leads in
// a circle may come of it.
func newRandomWorld(seed uint64, where, url string) *randomWorld {
	w := &randomWorld{rnd: rand.New(rand.NewPCG(seed, 9)), dir: filepath.Join(where, "D"), url: url}
	w.find()
	for range 2 + w.rnd.IntN(9) {
		w.declare()
	}
	return w
}

// An entry is what stands at a path before: a file with a text, a link to a
// target or a directory.
type entry struct{ path, text, target string }

type found []entry

// String lists what is found.
func (f found) String() string {
	var b strings.Builder
	for _, e := range f {
		fmt.Fprintf(&b, "%s %q %s\n", e.path, e.text, e.target)
	}
	return b.String()
}

// one returns one of several.
func one[T any](rnd *rand.Rand, list ...T) T { return list[rnd.IntN(len(list))] }

// path returns a path that resources manage.
func (w *randomWorld) path() string {
	dir := one(w.rnd, "", "", "/d0", "/d1", "/d1/sub", "/new", "/new/deep", "/ud0", "/l0", "/scaf")
	return w.dir + dir + "/" + one(w.rnd, "a", "b", "c")
}

// free returns a path that nobody manages, and that commands change.
func (w *randomWorld) free() string {
	return w.dir + one(w.rnd, "", "", "/ud0", "/ud1") + "/" + one(w.rnd, "u0", "u1", "u2")
}

// any returns a path to look at.
func (w *randomWorld) any() string {
	return one(w.rnd, w.path(), w.free(), w.dir+"/"+one(w.rnd, "d0", "d1", "new", "ud0", "ud1", "l0", "sys/share/alpha", "sys/share/gamma", "sys/units/beta"))
}

// find says what is there before.
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
	for _, name := range []string{"/sys/running/alpha", "/sys/enabled/beta", "/sys/running/delta"} {
		if w.rnd.IntN(3) == 0 {
			w.start = append(w.start, entry{path: w.dir + name, text: "1"})
		}
	}
	for _, name := range []string{"/a", "/b", "/d0/a", "/d0/b", "/d1/c", "/d1/sub/a", "/u0", "/ud0/u1", "/scaf/one"} {
		if w.rnd.IntN(3) == 0 {
			w.start = append(w.start, entry{path: w.dir + name, text: one(w.rnd, "0\n", "1\n", "one 2\n")})
		}
	}
	if w.rnd.IntN(3) == 0 {
		w.start = append(w.start, entry{path: w.dir + "/l0", target: one(w.rnd, "d0", "d1", "nowhere", w.dir+"/d0")})
	}
}

// populate makes what is there before.
func (w *randomWorld) populate(t *testing.T) {
	require.NoError(t, os.RemoveAll(w.dir))
	require.NoError(t, os.Mkdir(w.dir, 0o755))
	for _, e := range w.start {
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

// command returns a command that changes paths which nobody manages.
func (w *randomWorld) command() string {
	u := w.free()
	switch w.rnd.IntN(11) {
	case 9:
		return fmt.Sprintf("/bin/sh -c 'mkdir -p %[1]s && ( test -e %[1]s/%[2]s || echo 2.0 > %[1]s/%[2]s )'", w.dir+"/sys/repo", one(w.rnd, "alpha", "gamma"))
	case 10:
		return fmt.Sprintf("/bin/sh -c 'mkdir -p %[1]s && echo unit > %[1]s/delta'", w.dir+"/sys/units")
	case 0:
		return "mkdir -p " + filepath.Dir(u)
	case 1, 2:
		return "mkdir -p " + w.dir + "/ud" + one(w.rnd, "0", "1")
	case 3:
		return fmt.Sprintf("/bin/sh -c 'rm -f %s'", u)
	case 4:
		return "date"
	case 5:
		return "touch " + w.dir + "/" + one(w.rnd, "u0", "u1")
	case 6:
		return "true"
	}
	return fmt.Sprintf("/bin/sh -c 'mkdir -p %s && echo %d > %s'", filepath.Dir(u), w.rnd.IntN(2), u)
}

// question returns a command that looks.
func (w *randomWorld) question() string {
	p := w.any()
	return one(w.rnd, "test -e "+p, "test -f "+p, "test -d "+p, "grep -q 1 "+p, fmt.Sprintf("/bin/sh -c 'test -e %s'", p), "true", "false", p)
}

// declare adds a resource.
func (w *randomWorld) declare() {
	owner, group := hosttest.Me()
	attr := []string{"owner", strconv.Quote(owner), "group", strconv.Quote(group), "mode", one(w.rnd, `"0644"`, `"0644"`, `"0755"`)}
	quoted := strconv.Quote
	d := declaration{after: make(map[string][]string)}
	switch n := w.rnd.IntN(30); {
	case n >= 27:
		d.kind, d.name = "package", one(w.rnd, "alpha", "beta", "gamma", "beta-release", "nowhere")
		d.props = []string{"ensure", quoted(one(w.rnd, "present", "present", "present", "1.0", "2.0", "absent"))}
	case n >= 24:
		d.kind, d.name = "service", one(w.rnd, "alpha", "beta", "delta")
		d.props = []string{"ensure", quoted(one(w.rnd, "running", "running", "stopped"))}
		if w.rnd.IntN(3) == 0 {
			d.props = append(d.props, "enable", one(w.rnd, "true", "false"))
		}
	case n < 8:
		d.kind, d.name, d.props = "file", w.path(), attr
		switch w.rnd.IntN(8) {
		case 0, 1, 2:
			d.props = append(d.props, "content", quoted(one(w.rnd, "0\n", "1\n", "#!/bin/sh\nexit 1\n")))
		case 3, 4:
			d.props = append(d.props, "source", quoted(one(w.rnd, w.path(), w.path(), w.free())))
		case 5:
			d.props = append(d.props, "content", quoted("1\n"), "validate", quoted(one(w.rnd, "grep -q 1 %s", "grep -q 2 %s", w.path()+" %s")))
		case 6:
			d.props = append(d.props, "content", "ccm.lazy(function() return \"1\\n\" end)")
			d.lua = true
		}
	case n < 10:
		d.kind, d.name = "file", w.dir+one(w.rnd, "/d0", "/d1/sub", "/new", "/new/deep", "/l0", "/d1", "/scaf")
		d.props = append(slices.Clone(attr[:4]), "mode", `"0755"`, "ensure", `"directory"`)
	case n < 12:
		d.kind, d.name, d.props = "file", one(w.rnd, w.path(), w.path(), w.dir+"/d1", w.dir+"/l0"), []string{"ensure", `"absent"`}
		if w.rnd.IntN(2) == 0 {
			d.props = append(d.props, "force", "true")
		}
	case n < 18:
		d.kind, d.name = "exec", fmt.Sprintf("e%d", len(w.list))
		d.props = []string{"command", quoted(w.command())}
		switch w.rnd.IntN(6) {
		case 0:
			d.props = append(d.props, "unless", quoted(w.question()))
		case 1, 2:
			d.props = append(d.props, "onlyif", quoted(w.question()))
		case 3:
			d.props = append(d.props, "refreshonly", "true")
		case 4:
			u := w.free()
			d.props = []string{"command", quoted(fmt.Sprintf("/bin/sh -c 'mkdir -p %s && touch %s'", filepath.Dir(u), u)), "creates", quoted(u)}
		}
	case n < 20:
		d.kind, d.name = "scaffold", w.dir+one(w.rnd, "/scaf", "/new/scaf")
		d.props = []string{"source", quoted(one(w.rnd, w.dir+"/templates", w.dir+"/templates", w.dir+"/d0", w.dir+"/new"))}
		if w.rnd.IntN(4) == 0 {
			d.props = append(d.props, "ensure", `"absent"`)
		}
		if w.rnd.IntN(4) == 0 {
			d.props = append(d.props, "purge", "true")
		}
	case n < 21:
		d.kind, d.name = "archive", w.dir+one(w.rnd, "/x.tar.gz", "/new/x.tar.gz")
		d.props = append(slices.Clone(attr[:4]), "url", quoted(w.url+"/x.tar.gz"))
		if w.rnd.IntN(2) == 0 {
			d.props = append(d.props, "extract_parent", quoted(w.dir+"/ex"), "creates", quoted(w.dir+"/ex/inside"))
		}
	case n < 22:
		d.kind, d.name, d.lua = "link", w.dir+one(w.rnd, "/l0", "/d0/c", "/new/a"), true
		d.props = []string{"target", quoted(one(w.rnd, w.dir+"/d0", "d1", w.dir+"/new", "nothing"))}
	case n < 23:
		d.kind, d.name, d.lua = "line", fmt.Sprintf("n%d", len(w.list)), true
		d.props = []string{"path", quoted(w.path()), "line", quoted(one(w.rnd, "0", "1", "2"))}
	default:
		d.kind, d.name, d.lua = "maker", fmt.Sprintf("m%d", len(w.list)), true
		d.props = []string{"file", quoted(w.free())}
	}
	if slices.ContainsFunc(w.list, func(x declaration) bool { return x.id() == d.id() }) {
		return
	}
	for _, relation := range []string{"require", "subscribe"} {
		if len(w.list) > 0 && w.rnd.IntN(4) == 0 && (relation == "require" || d.kind == "exec" || d.kind == "service") {
			d.after[relation] = []string{one(w.rnd, w.list...).id()}
		}
	}
	w.list = append(w.list, d)
}

// site returns the site without some of its resources.
func (w *randomWorld) site(out map[string]bool) (name, text string) {
	inLua := slices.ContainsFunc(w.list, func(d declaration) bool { return d.lua })
	var b strings.Builder
	if !inLua {
		b.WriteString("ccm:\n  resources:\n")
	} else {
		b.WriteString(`local link, line = require "std.link", require "std.line"
local maker = ccm.type {
  name = "maker",
  properties = { name = { name = true }, file = { type = "path" }, ensure = { enum = { "present" }, default = "present" } },
  status = function(want, host) return { ensure = host.stat(want.file) and "present" or "absent" } end,
  perform = function(action, want, have, host) host.run { "mkdir", "-p", path.dir(want.file) } host.run { "touch", want.file } end,
}
`)
	}
	n := 0
	for _, d := range w.list {
		if out[d.id()] {
			continue
		}
		n++
		if inLua {
			b.WriteString(d.inLua(out))
		} else {
			b.WriteString(d.inYAML(out))
		}
	}
	if inLua {
		return "site.lua", b.String()
	}
	if n == 0 {
		b.WriteString("    []\n")
	}
	return "site.yaml", b.String()
}
