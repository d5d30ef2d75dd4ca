package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// command returns a command that changes paths that no resource manages.
func (w *randomWorld) command() string {
	u := w.free()
	switch w.rnd.IntN(12) {
	case 11: // may be managed, and may be missing
		return fmt.Sprintf("/bin/sh -c 'mkdir -p %s'", w.dir+one(w.rnd, "/new", "/new/deep", "/d1/sub", "/ud0"))
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

// question returns a command that changes nothing.
func (w *randomWorld) question() string {
	p := w.any()
	return one(w.rnd, "test -e "+p, "test -f "+p, "test -d "+p, "grep -q 1 "+p, fmt.Sprintf("/bin/sh -c 'test -e %s'", p), "true", "false", p)
}

// declare adds a random resource.
func (w *randomWorld) declare() {
	owner, group := hosttest.Me()
	attr := []string{"owner", strconv.Quote(owner), "group", strconv.Quote(group), "mode", one(w.rnd, `"0644"`, `"0644"`, `"0755"`)}
	quoted := strconv.Quote
	d := declaration{after: make(map[string][]string)}
	switch n := w.rnd.IntN(42); {
	case n >= 30:
		w.declareShipped(&d)
	case n >= 27:
		d.kind, d.name = "package", one(w.rnd, "alpha", "beta", "gamma", "beta-release", "nowhere")
		d.props = []string{"ensure", quoted(one(w.rnd, "present", "present", "present", "1.0", "2.0", "absent", "latest", ">= 2.0", "< 2.0"))}
		if d.props[1] != `"absent"` {
			w.mayHave(&d, "hold", one(w.rnd, "true", "false"))
		}
	case n >= 24:
		d.kind, d.name = "service", one(w.rnd, "alpha", "beta", "delta")
		d.props = []string{"ensure", quoted(one(w.rnd, "running", "running", "stopped"))}
		if w.rnd.IntN(3) == 0 {
			d.props = append(d.props, "enable", one(w.rnd, "true", "false"))
		}
	case n < 8:
		d.kind, d.name, d.props = "file", w.at(w.path()), attr
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
		w.mayHave(&d, "parents", "true")
	case n < 10:
		d.kind, d.name = "file", w.at(w.dir+one(w.rnd, "/d0", "/d1/sub", "/new", "/new/deep", "/l0", "/d1", "/scaf"))
		d.props = append(slices.Clone(attr[:4]), "mode", `"0755"`, "ensure", `"directory"`)
		w.mayHave(&d, "parents", "true")
	case n < 12:
		d.kind, d.name, d.props = "file", w.at(one(w.rnd, w.path(), w.path(), w.dir+"/d1", w.dir+"/l0")), []string{"ensure", `"absent"`}
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
			d.props = []string{"command", quoted(fmt.Sprintf("/bin/sh -c 'mkdir -p %s && touch %s'", filepath.Dir(u), u)), "creates", quoted(w.at(u))}
		}
		w.varyExec(&d)
	case n < 20:
		d.kind, d.name = "scaffold", w.at(w.dir+one(w.rnd, "/scaf", "/new/scaf"))
		d.props = []string{"source", quoted(one(w.rnd, w.dir+"/templates", w.dir+"/templates", w.dir+"/d0", w.dir+"/new"))}
		if w.rnd.IntN(4) == 0 {
			d.props = append(d.props, "ensure", `"absent"`)
		}
		if w.rnd.IntN(4) == 0 {
			d.props = append(d.props, "purge", "true")
		}
		w.mayHave(&d, "parents", "false")
	case n < 22:
		d.kind, d.name = "archive", w.at(w.dir+one(w.rnd, "/x.tar.gz", "/new/x.tar.gz"))
		d.props = append(slices.Clone(attr[:4]), "url", quoted(w.url+"/x.tar.gz"))
		if d.unanswered = w.rnd.IntN(8) == 0; d.unanswered {
			d.props[5] = quoted(w.url + "/gone.tar.gz")
		}
		if to := w.at(w.dir + one(w.rnd, "/ex", "/d0", "/new/ex")); w.rnd.IntN(2) == 0 { // a plan does not know the content of archives
			inside := "/inside"
			if w.rnd.IntN(8) == 0 {
				d.unanswered, inside = true, "/nothing"
			}
			d.props = append(d.props, "extract_parent", quoted(to), "creates", quoted(to+inside))
			w.mayHave(&d, "strip", "1")
		}
		w.mayHave(&d, "parents", "true")
	default:
		d.kind, d.name, d.lua = "maker", fmt.Sprintf("m%d", len(w.list)), true
		d.props = []string{"file", quoted(w.at(w.free()))}
	}
	if slices.ContainsFunc(w.list, func(x declaration) bool { return x.id() == d.id() }) {
		return
	}
	for _, relation := range []string{"require", "subscribe"} {
		if len(w.list) > 0 && w.rnd.IntN(4) == 0 && (relation == "require" || d.kind == "exec" || d.kind == "service") {
			d.after[relation] = []string{one(w.rnd, w.list...).id()}
		}
	}
	d.back = w.rnd.IntN(3) == 0
	if len(w.flags) > 0 && w.rnd.IntN(3) == 0 {
		d.props = append(d.props, "tags", `{"t0"}`)
	}
	w.varyInScript(&d)
	if d.kind != "apply" && !d.lua {
		d.in = one(w.rnd, append(w.children(), "")...)
	}
	if w.list = append(w.list, d); w.isCircular() {
		d.in, d.after = "", make(map[string][]string)
		w.list[len(w.list)-1] = d
	}
}

// varyInScript sometimes gives a resource properties by other statements than its own, and a health check.
func (w *randomWorld) varyInScript(d *declaration) {
	if len(w.flags) > 0 {
		d.defaults = w.rnd.IntN(6) == 0 || slices.ContainsFunc(w.list, func(x declaration) bool { return x.defaults && x.lua })
	}
	if w.rnd.IntN(12) == 0 {
		d.health = one(w.rnd, "true", "/bin/sh -c 'exit 1'", "/bin/sh -c 'exit 2'")
	}
	isLazy := slices.ContainsFunc(d.props, func(value string) bool { return strings.HasPrefix(value, "ccm.lazy") })
	if isLazy || w.rnd.IntN(8) > 0 {
		return
	}
	switch {
	case d.kind == "file" && slices.Contains(d.props, "mode") && !slices.Contains(d.props, `"directory"`):
		d.set, d.lua = []string{"mode", `"0600"`}, true
	case d.kind == "exec" && len(d.props) == 2:
		d.set, d.lua = []string{"onlyif", strconv.Quote(w.question())}, true
	}
}

// isCircular reports whether the resources have a cycle. A manifest depends on its resources, and these on the
// dependencies of the manifest.
func (w *randomWorld) isCircular() bool {
	after := make(map[string][]string)
	for _, d := range w.list {
		after[d.id()] = slices.Concat(after[d.id()], d.after["require"], d.after["subscribe"])
		if i := slices.IndexFunc(w.list, func(x declaration) bool { return x.kind == "apply" && x.name == d.in }); i >= 0 {
			by := w.list[i]
			after[by.id()] = append(after[by.id()], d.id())
			after[d.id()] = slices.Concat(after[d.id()], by.after["require"], by.after["subscribe"])
		}
	}
	done := make(map[string]bool) // false while it is being visited
	var visit func(id string) bool
	visit = func(id string) bool {
		if is, seen := done[id]; seen {
			return !is
		}
		done[id] = false
		circular := slices.ContainsFunc(after[id], visit)
		done[id] = true
		return circular
	}
	return slices.ContainsFunc(w.list, func(d declaration) bool { return visit(d.id()) })
}
