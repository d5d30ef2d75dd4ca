package main

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/stdlib"
)

// maker is a type whose effects a plan does not know.
const maker = `local maker = ccm.type {
  name = "maker",
  properties = { name = { name = true }, file = { type = "path" }, ensure = { enum = { "present" }, default = "present" } },
  status = function(want, host) return { ensure = host.stat(want.file) and "present" or "absent" } end,
  perform = function(action, want, have, host)
    host.run { "mkdir", "-p", host.real(path.dir(want.file)) }
    host.run { "touch", host.real(want.file) }
  end,
}
`

// scriptHead returns the first lines of a script that declares resources.
func scriptHead(list []declaration) string {
	head, kinds := maker, make(map[string]bool)
	for _, d := range list {
		file := "std/" + d.kind + ".lua"
		if _, err := stdlib.Library.Open(file); err == nil && !kinds[d.kind] {
			head += fmt.Sprintf("local %s = require \"std.%[1]s\"\n", d.kind)
		}
		kinds[d.kind] = true
	}
	return head
}

// shipped declare resources of types outside the engine: those of the standard library, and applied manifests.
var shipped = []func(w *randomWorld, d *declaration){
	edit("line", func(w *randomWorld) []string { return []string{"line", quoteOne(w, "0", "1", "2")} }),
	edit("kv", func(w *randomWorld) []string { return []string{"value", quoteOne(w, "0", "1")} }),
	edit("ini", func(w *randomWorld) []string {
		return []string{"section", quoteOne(w, "s", "t"), "value", quoteOne(w, "0", "1")}
	}),
	edit("json_setting", func(w *randomWorld) []string { return []string{"value", quoteOne(w, "0", "1")} }),
	edit("yaml_setting", func(w *randomWorld) []string { return []string{"value", quoteOne(w, "0", "1")} }),
	edit("toml_setting", func(w *randomWorld) []string { return []string{"value", quoteOne(w, "0", "1")} }),
	edit("block", func(w *randomWorld) []string { return []string{"content", quoteOne(w, "0", "1\n", "")} }),
	func(w *randomWorld, d *declaration) {
		d.kind, d.props = "replace", []string{"path", strconv.Quote(w.at(w.path())), "match", quoteOne(w, "0", "1", "^one (.*)$"), "replacement", quoteOne(w, "2", "x", "00")}
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.props = "wait_for", []string{"file", strconv.Quote(w.at(w.any())), "within", `"20ms"`, "interval", `"5ms"`}
		w.mayHave(d, "match", quoteOne(w, "1", "2"))
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		owner, group := hosttest.Me()
		d.kind, d.name = "directory", w.at(w.dir+one(w.rnd, "/d0", "/d1", "/new", "/ud0", "/copy"))
		d.props = []string{"recurse", "true", "mode", quoteOne(w, "u=rwX,go=rX", "u=rw,go=", "0600")}
		w.mayHave(d, "owner", strconv.Quote(owner))
		w.mayHave(d, "group", strconv.Quote(group))
		w.mayHave(d, "dir_mode", `"0755"`)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.props = "host", []string{"path", strconv.Quote(w.at(w.path())), "ip", quoteOne(w, "192.0.2.1", "192.0.2.2")}
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.props = "known_host", []string{"path", strconv.Quote(w.at(w.path())), "key", quoteOne(w, publicKey(1), publicKey(2))}
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.props = "authorized_key", []string{"user", strconv.Quote(w.me()), "key", quoteOne(w, publicKey(1), publicKey(2))}
		if !w.rooted || w.rnd.IntN(2) == 0 {
			d.props = append(d.props, "path", strconv.Quote(w.at(w.path())))
		}
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name = "link", w.at(w.dir+one(w.rnd, "/l0", "/d0/c", "/new/a", "/l0"))
		d.props = []string{"target", strconv.Quote(one(w.rnd, w.at(w.dir+"/d0"), "d1", w.at(w.dir+"/new"), "nothing"))}
		if w.mayBeAbsent(d); !slices.Contains(d.props, "ensure") {
			w.mayHave(d, "parents", "true")
		}
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name = "directory", w.at(w.dir+one(w.rnd, "/copy", "/new/copy", "/d1", "/d0/copy"))
		d.props = []string{"source", strconv.Quote(w.dir + one(w.rnd, "/templates", "/d0", "/scaf", "/ud0", "/d1/sub"))}
		if w.rnd.IntN(3) == 0 {
			d.props = append(d.props, "purge", "true")
		}
		if w.rnd.IntN(3) == 0 {
			d.props = append(d.props, "exclude", `{"b"}`)
		}
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name = "git", w.at(w.dir+one(w.rnd, "/clone", "/new/clone", "/d0"))
		d.props = []string{"url", strconv.Quote(w.repo)}
		switch w.rnd.IntN(8) {
		case 0:
			d.unanswered, d.props = true, []string{"url", strconv.Quote(w.repo + "-gone")}
		case 1:
			d.unanswered, d.props = true, append(d.props, "ref", `"nowhere"`)
		case 2:
			d.props = append(d.props, "ref", `"main"`)
		}
		w.mayHave(d, "update", "false")
		w.mayBeAbsent(d)
		d.unanswered = d.unanswered && !slices.Contains(d.props, `"absent"`)
	},
	func(w *randomWorld, d *declaration) { // a type that nothing declares
		d.kind, d.name = "directory", w.at(w.dir+one(w.rnd, "/d1/sub", "/new/deep", "/d0/copy"))
		if !w.rooted && w.rnd.IntN(2) == 0 {
			d.name = w.dir + one(w.rnd, "/d0", "/new", "/ud0")
		}
		d.props = []string{"purge", "true"}
		w.mayHave(d, "exclude", one(w.rnd, `{"b"}`, `{"u*"}`))
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name, d.props = "apply", fmt.Sprintf("child%d.yaml", len(w.list)), nil
		if w.rnd.IntN(3) == 0 {
			d.props = []string{one(w.rnd, "noop", "noop", "health_check_only"), "true"}
		}
	},
}

// shippedOutsideRoot are those whose random tools (randomtools_test.go) do not know about another root.
var shippedOutsideRoot = []func(*randomWorld, *declaration){
	func(w *randomWorld, d *declaration) {
		d.kind, d.name = "language_package", one(w.rnd, "ga", "gb")
		manager := one(w.rnd, "gem", "npm", "pip")
		d.props = []string{"manager", strconv.Quote(manager), "path", strconv.Quote(w.at(w.dir + "/of-" + manager))}
		w.mayHave(d, "version", quoteOne(w, "1.0", "2.0"))
		w.mayBeAbsent(d)
	},
}

// declareShipped makes d one of them. If this machine cannot do that, d stays a file.
func (w *randomWorld) declareShipped(d *declaration) {
	all := slices.Concat(shipped, shippedOutsideRoot)
	if w.rooted {
		all = slices.Concat(shipped, shippedInRoot)
	}
	d.name = fmt.Sprintf("n%d", len(w.list))
	if one(w.rnd, all...)(w, d); canDeclare(*d) {
		return
	}
	owner, group := hosttest.Me()
	d.kind, d.name, d.props = "file", w.at(w.path()), []string{"owner", strconv.Quote(owner), "group", strconv.Quote(group), "mode", `"0644"`}
}

// canDeclare reports whether this machine has the requirements of a type.
func canDeclare(d declaration) bool {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { _, err := exec.LookPath(name); return err != nil })
	}
	isOwn := func() bool { owner, _ := hosttest.Me(); return d.props[1] == strconv.Quote(owner) }
	switch d.kind {
	case "git":
		return has("git")
	case "timer":
		return has("systemctl")
	case "alternative":
		return has("update-alternatives")
	case "user", "group":
		return os.Geteuid() == 0 && has("useradd", "usermod", "userdel", "groupadd", "groupdel")
	case "file":
		return os.Geteuid() == 0 || isOwn()
	}
	return true
}

// mayHave sometimes gives a resource a property.
func (w *randomWorld) mayHave(d *declaration, name, value string) {
	if w.rnd.IntN(3) == 0 {
		d.props = append(d.props, name, value)
	}
}

// mayBeAbsent sometimes makes a resource absent.
func (w *randomWorld) mayBeAbsent(d *declaration) {
	if w.rnd.IntN(4) == 0 {
		d.props = append(d.props, "ensure", `"absent"`)
	}
}

// edit declares resources of a type that edits a text.
func edit(kind string, props func(w *randomWorld) []string) func(w *randomWorld, d *declaration) {
	return func(w *randomWorld, d *declaration) {
		d.kind, d.props = kind, append([]string{"path", strconv.Quote(w.at(w.path()))}, props(w)...)
		if w.rnd.IntN(3) == 0 {
			d.props = append(d.props, "create", "true")
		}
		w.mayBeAbsent(d)
	}
}

// varyExec sometimes gives a command further properties.
func (w *randomWorld) varyExec(d *declaration) {
	switch w.rnd.IntN(16) {
	case 0:
		d.props = append(d.props, "removes", strconv.Quote(w.at(w.free())))
	case 1:
		d.props = append(d.props, "changed_if", quoteOne(w, "^$", ".", "x"))
	case 2:
		d.props = append(d.props, "unchanged_returns", "{1}")
	case 3:
		u := w.free()
		d.props = []string{"command", strconv.Quote(fmt.Sprintf("/bin/sh -c 'mkdir -p %s && touch %s'", filepath.Dir(u), u)), "check", strconv.Quote("test -e " + u)}
	}
}

// onlyRunFails reports whether it fails in a run for a reason that no plan checks.
func (d declaration) onlyRunFails() bool { return d.unanswered || d.isUnhealthy() }

// isUnhealthy reports whether its health check fails.
func (d declaration) isUnhealthy() bool { return strings.HasSuffix(d.health, "2'") }

// outputDecides reports whether only the output of its command tells if it has changed anything.
func (d declaration) outputDecides() bool {
	return d.kind == "wait_for" || slices.Contains(d.props, "changed_if") || slices.Contains(d.props, "unchanged_returns")
}

func (w *randomWorld) outputDecides(id string) bool {
	return slices.ContainsFunc(w.list, func(d declaration) bool { return d.id() == id && d.outputDecides() })
}

// children returns the applied manifests.
func (w *randomWorld) children() (list []string) {
	for _, d := range w.list {
		if d.kind == "apply" {
			list = append(list, d.name)
		}
	}
	return list
}

// isRestrained reports whether a resource is only planned, or only checked.
func (w *randomWorld) isRestrained(d declaration) bool {
	return slices.ContainsFunc(w.list, func(x declaration) bool {
		return x.kind == "apply" && x.name == d.in && slices.Contains(x.props, "noop")
	})
}

func quoteOne(w *randomWorld, list ...string) string { return strconv.Quote(one(w.rnd, list...)) }

// me returns the name of the user who runs the test.
func (w *randomWorld) me() string {
	if w.rooted {
		return "me"
	}
	u, err := user.Current()
	if err != nil {
		return "root"
	}
	return u.Username
}

// publicKey returns an SSH public key.
func publicKey(n byte) string {
	var b []byte
	for _, part := range []string{"ssh-ed25519", strings.Repeat(string(rune('a'+n)), 32)} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(part))), part...)
	}
	return "ssh-ed25519 " + base64.StdEncoding.EncodeToString(b)
}
