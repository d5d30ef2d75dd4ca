package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// mostUnknown is how many of a hundred resources of random sites may be unknown in
// a plan. It may only go down.
const mostUnknown = 30

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
	rnd     *rand.Rand
	dir     string
	url     string
	list    []declaration
	managed map[string]bool
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
	return one(w.rnd, w.path(), w.free(), w.dir+"/"+one(w.rnd, "d0", "d1", "new", "ud0", "ud1", "l0"))
}

// populate makes what is there before.
func (w *randomWorld) populate(t *testing.T) {
	put := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	for _, dir := range []string{"/d0", "/d1/sub", "/templates"} {
		require.NoError(t, os.MkdirAll(w.dir+dir, 0o755))
	}
	put(w.dir+"/templates/one", "one [[ 1 + 1 ]]\n")
	for _, name := range []string{"/a", "/b", "/d0/a", "/d0/b", "/d1/c", "/d1/sub/a", "/u0", "/ud0/u1", "/scaf/one"} {
		if w.rnd.IntN(3) == 0 {
			put(w.dir+name, one(w.rnd, "0\n", "1\n", "one 2\n"))
		}
	}
	if w.rnd.IntN(3) == 0 {
		require.NoError(t, os.Symlink(one(w.rnd, "d0", "d1", "nowhere", w.dir+"/d0"), w.dir+"/l0"))
	}
}

// script returns a command that changes paths which nobody manages.
func (w *randomWorld) command() string {
	u := w.free()
	switch w.rnd.IntN(9) {
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
	switch n := w.rnd.IntN(24); {
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
		if len(w.list) > 0 && w.rnd.IntN(4) == 0 && (relation == "require" || d.kind == "exec") {
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

// A told is what is said of one resource.
type told struct {
	Type, Name, Outcome string
	Because             []string
	Errors              []string
	Reason              string
	Forecast            *struct {
		Outcome string
		Once    bool
		Errors  []string
	}
}

// tell runs a command and returns what it says of each resource.
func (w *randomWorld) tell(t *testing.T, where, command string, out map[string]bool) (map[string]told, int, string) {
	name, text := w.site(out)
	file := filepath.Join(where, name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	stdout, stderr, status := ccm(t, nil, command, "--output", "json", file)
	all := make(map[string]told)
	for line := range strings.Lines(stdout) {
		var x told
		require.NoError(t, json.Unmarshal([]byte(line), &x), "%s\n%s", line, stderr)
		if x.Type != "" {
			all[x.Type+"#"+x.Name] = x
		}
	}
	return all, status, text + stderr
}

func archiveServer(t *testing.T) string {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "inside", Mode: 0o644, Size: 2, Typeflag: tar.TypeReg}))
	_, err := w.Write([]byte("1\n"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write(buf.Bytes()) }))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestPlansComeTrue makes random sites on random machines, and compares what a plan
// says with what a run does. CCM_PLANS says how many, CCM_PLANS_SEED where to begin.
func TestPlansComeTrue(t *testing.T) {
	isolate(t)
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	url := archiveServer(t)
	unknown, total := 0, 0
	first := number("CCM_PLANS_SEED", 1)
	for seed := first; seed < first+number("CCM_PLANS", 60); seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			u, n := checkPlan(t, uint64(seed), url)
			unknown, total = unknown+u, total+n
		})
	}
	t.Logf("%d of %d resources unknown, %.1f %%", unknown, total, 100*float64(unknown)/float64(total))
	if total > 200 {
		require.LessOrEqual(t, 100*unknown, mostUnknown*total, "more is unknown than was")
	}
}

// checkPlan makes one site, and returns how many of its resources a plan could not
// tell.
func checkPlan(t *testing.T, seed uint64, url string) (unknown, total int) {
	t.Setenv("CCM_STATE_DIR", filepath.Join(t.TempDir(), "state"))
	where := t.TempDir()
	w := &randomWorld{rnd: rand.New(rand.NewPCG(seed, 9)), dir: filepath.Join(where, "D"), url: url, managed: make(map[string]bool)}
	require.NoError(t, os.Mkdir(w.dir, 0o755))
	w.populate(t)
	for range 2 + w.rnd.IntN(9) {
		w.declare()
	}
	sites := t.TempDir()
	before := treeOf(t, w.dir)
	plan, planned, text := w.tell(t, sites, "plan", nil)
	require.Equal(t, before, treeOf(t, w.dir), "a plan changes nothing")
	if planned == 1 {
		return 0, 0 // an edge leads in a circle, or a path is declared twice
	}
	for _, id := range w.ids() {
		if plan[id].Outcome == "unknown" {
			unknown++
			w.checkUnknown(t, sites, id, plan, text)
		}
	}
	run, ran, _ := w.tell(t, sites, "run", nil)
	w.compare(t, plan, run, text)
	if unknown == 0 && !t.Failed() {
		require.Equal(t, planned, ran, text)
	}
	return unknown, len(plan)
}

// treeOf returns what stands below a directory, by path.
func treeOf(t *testing.T, dir string) map[string]string {
	all := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		all[path] = d.Type().String()
		switch d.Type() {
		case 0:
			text, err := os.ReadFile(path)
			all[path] += string(text)
			return err
		case os.ModeSymlink:
			target, err := os.Readlink(path)
			all[path] += target
			return err
		}
		return nil
	}))
	return all
}

func (w *randomWorld) ids() (ids []string) {
	for _, d := range w.list {
		ids = append(ids, d.id())
	}
	return ids
}

// checkUnknown checks that a resource is known without those that it is unknown
// because of.
func (w *randomWorld) checkUnknown(t *testing.T, sites, id string, plan map[string]told, text string) {
	because := plan[id].Because
	require.NotEmpty(t, because, "%s is unknown because of nothing\n%s", id, text)
	out := make(map[string]bool)
	for _, b := range because {
		require.Contains(t, []string{"pending", "unknown"}, plan[b].Outcome, "%s because of %s\n%s", id, b, text)
		out[b] = true
	}
	without, _, _ := w.tell(t, sites, "plan", out)
	require.NotEqual(t, "unknown", without[id].Outcome, "%s because of %v, without which because of %v\n%s", id, because, without[id].Because, text)
}

// compare compares what a plan said with what a run did.
func (w *randomWorld) compare(t *testing.T, plan, run map[string]told, text string) {
	for _, d := range w.list {
		p, r := plan[d.id()], run[d.id()]
		where := fmt.Sprintf("%s: plan %s %v, run %s %v\n%s", d.id(), p.Outcome, p.Errors, r.Outcome, r.Errors, text)
		if r.Outcome == "skipped" && w.mayBeSkipped(d, plan, run) {
			continue
		}
		switch p.Outcome {
		case "stable":
			require.Equal(t, "stable", r.Outcome, where)
		case "pending":
			require.Equal(t, "changed", r.Outcome, where)
		case "failed", "skipped":
			require.Equal(t, p.Outcome, r.Outcome, where)
		case "unknown":
			if p.Forecast == nil || slices.ContainsFunc(p.Because, func(b string) bool { return run[b].Outcome != "stable" && run[b].Outcome != "skipped" }) {
				continue
			}
			want := map[string]string{"stable": "stable", "pending": "changed", "failed": "failed"}[p.Forecast.Outcome]
			require.Equal(t, want, r.Outcome, where)
		}
	}
}

// mayBeSkipped reports whether a resource comes after something unknown that has
// failed, or was skipped for that reason.
func (w *randomWorld) mayBeSkipped(d declaration, plan, run map[string]told) bool {
	for _, ids := range d.after {
		for _, id := range ids {
			i := slices.IndexFunc(w.list, func(x declaration) bool { return x.id() == id })
			if plan[id].Outcome == "unknown" && run[id].Outcome == "failed" || run[id].Outcome == "skipped" && w.mayBeSkipped(w.list[i], plan, run) {
				return true
			}
		}
	}
	return false
}
