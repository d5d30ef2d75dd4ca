package main

import (
	"strconv"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// shippedInRoot declare resources whose files are in fixed directories, which are below the root.
var shippedInRoot = []func(w *randomWorld, d *declaration){
	func(w *randomWorld, d *declaration) {
		d.kind, d.name = "cron", one(w.rnd, "a", "b")
		d.props = []string{"command", quoteOne(w, "true", "date"), "schedule", `"@daily"`}
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name, d.props = "sysctl", one(w.rnd, "vm.a", "vm.b"), []string{"value", quoteOne(w, "0", "1")}
		if w.rnd.IntN(2) == 0 {
			d.props = append(d.props, "path", strconv.Quote(w.at(w.path())))
		}
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) { d.kind, d.name = "hostname", one(w.rnd, "a", "b") },
	func(w *randomWorld, d *declaration) { d.kind, d.name = "timezone", one(w.rnd, "A", "B") },
	func(w *randomWorld, d *declaration) {
		d.kind, d.name = "kernel_module", one(w.rnd, "a", "b")
		if w.rnd.IntN(2) == 0 {
			d.props = append(d.props, "options", `"x=1"`)
		}
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name, d.props = "apt_repo", one(w.rnd, "a", "b"), []string{"uris", `{"https://apt.example.org"}`, "suites", `{"./"}`}
		if w.rnd.IntN(2) == 0 {
			d.props = append(d.props, "key", `"key"`)
		}
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name, d.props = "unit", one(w.rnd, "a.service", "b.service"), []string{"content", quoteOne(w, "[Service]\nExecStart=/bin/true\n", "[Unit]\n")}
		if w.rnd.IntN(3) == 0 {
			d.props = append(d.props, "dropin", `"x"`)
		}
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name, d.props = "timer", one(w.rnd, "ta", "tb"), []string{"command", quoteOne(w, "/bin/true", "/bin/date"), "schedule", `{"daily"}`}
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name = "user", one(w.rnd, "ua", "ub", "uc")
		w.mayHave(d, "comment", quoteOne(w, "x", "y"))
		w.mayHave(d, "uid", map[string]string{"ua": "4011", "ub": "4012", "uc": "4013"}[d.name])
		w.mayHave(d, "group", quoteOne(w, "gc", "me"))
		w.mayHave(d, "groups", one(w.rnd, `{"ga"}`, `{"gb", "me"}`, `{"ua"}`))
		w.mayHave(d, "membership", `"exact"`)
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name = "group", one(w.rnd, "ga", "gb", "gc", "ua", "uc")
		w.mayHave(d, "gid", map[string]string{"ga": "4001", "gb": "4002", "gc": "4003", "ua": "4011", "uc": "4013"}[d.name])
		w.mayHave(d, "members", one(w.rnd, `{"ua"}`, `{"uc", "me"}`, `{"ub"}`))
		w.mayHave(d, "membership", `"exact"`)
		if d.name != "gc" { // only once the pending user exists is it known that this is its primary group
			w.mayBeAbsent(d)
		}
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name = "file", w.at(w.path())
		d.props = []string{"owner", quoteOne(w, "ua", "ub", "uc"), "group", quoteOne(w, "0", "ga", "ua", "uc"), "mode", `"0644"`, "content", `"1\n"`}
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.props = "authorized_key", []string{"user", quoteOne(w, "ua", "ub", "uc"), "key", quoteOne(w, publicKey(1), publicKey(2))}
		w.mayHave(d, "path", strconv.Quote(w.at(w.path())))
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name, d.props = "mount", w.at(w.dir+one(w.rnd, "/d0", "/new", "/mnt")), []string{"ensure", quoteOne(w, "present", "present", "absent", "mounted")}
		w.mayHave(d, "options", `{"noatime"}`)
		if w.rnd.IntN(4) > 0 {
			d.props = append(d.props, "device", quoteOne(w, "LABEL=a", "/dev/b"))
		}
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name, d.props = "alternative", one(w.rnd, "aa", "ab"), []string{"path", strconv.Quote(w.at(one(w.rnd, w.dir+"/usr/bin/pa", w.dir+"/usr/bin/pb", w.path())))}
		if w.rnd.IntN(3) > 0 {
			d.props = append(d.props, "link", quoteOne(w, "/usr/bin/"+d.name, "/usr/bin/x"), "priority", one(w.rnd, "1", "2"))
		}
		w.mayHave(d, "ensure", quoteOne(w, "auto", "absent"))
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name = "locale", one(w.rnd, "aa_AA.UTF-8", "bb_BB.UTF-8", "cc_CC.UTF-8")
		if w.rnd.IntN(4) == 0 {
			d.props = append(d.props, "ensure", `"absent"`)
		} else {
			w.mayHave(d, "default", one(w.rnd, "true", "false"))
		}
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name, d.props = "firewall", one(w.rnd, "fa", "fb"), []string{"rules", quoteOne(w, "chain a { }", "chain b { }")}
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name, d.props = one(w.rnd, "yum_repo", "zypper_repo"), one(w.rnd, "a", "b"), []string{"baseurl", `{"https://rpm.example.org"}`}
		w.mayHave(d, "enabled", one(w.rnd, "true", "false"))
		w.mayBeAbsent(d)
	},
	func(w *randomWorld, d *declaration) {
		d.kind, d.name, d.props = "package_key", one(w.rnd, "a", "b"), []string{"key", quoteOne(w, "key", "other key"), "store", quoteOne(w, "apt", "rpm")}
		w.mayBeAbsent(d)
	},
}

// accounts returns the files of the machine beyond an empty directory.
func (w *randomWorld) accounts() []entry {
	if !w.rooted {
		return nil
	}
	uid, gid := hosttest.Me()
	passwd, group, shadow, gshadow := "me:x:"+uid+":"+gid+"::/home/me:/bin/sh\n", "me:x:"+gid+":\n", "me:*:1::::::\n", "me:*::\n"
	if w.populated {
		passwd, group = passwd+"uc:x:3001:3001:x:/home/uc:/bin/sh\n", group+"uc:x:3001:\nga:x:3002:uc\n"
		shadow, gshadow = shadow+"uc:*:1::::::\n", gshadow+"uc:*::\nga:*::uc\n"
	}
	return []entry{
		{path: w.dir + "/etc/passwd", text: passwd}, {path: w.dir + "/etc/group", text: group},
		{path: w.dir + "/etc/shadow", text: shadow}, {path: w.dir + "/etc/gshadow", text: gshadow},
		{path: w.dir + "/usr/share/zoneinfo/A", text: "A\n"},
		{path: w.dir + "/home/me"}, {path: w.dir + "/home/uc"}, {path: w.dir + "/var/log"},
	}
}

// findShipped makes the files that types in shippedInRoot read.
func (w *randomWorld) findShipped() {
	if !w.rooted {
		return
	}
	w.populated = w.rnd.IntN(2) == 0
	for _, e := range []entry{
		{path: "/etc/cron.d/a", text: "# Kept by ccm.\n@daily root true\n"},
		{path: "/etc/sysctl.d/60-ccm.conf", text: "vm.a = 1\n"},
		{path: "/etc/hostname", text: "a\n"}, {path: "/etc/timezone", text: "A\n"}, {path: "/etc/localtime", target: "/usr/share/zoneinfo/A"},
		{path: "/home/me/.ssh/authorized_keys", text: publicKey(1) + "\n"},
		{path: "/etc/systemd/system/a.service", text: "[Unit]\n"},
		{path: "/etc/login.defs", text: "USERGROUPS_ENAB yes\n"},
		{path: "/etc/fstab", text: "LABEL=a /d0 auto defaults 0 0\n"},
		{path: "/etc/nftables.conf", text: "# rules\n"},
		{path: "/usr/share/i18n/SUPPORTED", text: "aa_AA.UTF-8 UTF-8\nbb_BB.UTF-8 UTF-8\n"}, {path: "/etc/locale.gen", text: "aa_AA.UTF-8 UTF-8\n# cc_CC.UTF-8 UTF-8\n"},
		{path: "/usr/bin/pa", text: "1\n"}, {path: "/usr/bin/pb", text: "1\n"},
	} {
		if w.rnd.IntN(2) == 0 {
			e.path = w.dir + e.path
			w.start = append(w.start, e)
		}
	}
	if w.rnd.IntN(2) == 0 {
		w.start = append(w.start, entry{path: w.dir + "/var/lib/dpkg/alternatives/aa", text: "auto\n/usr/bin/aa\n\n/usr/bin/pa\n1\n\n"},
			entry{path: w.dir + "/etc/alternatives/aa", target: "/usr/bin/pa"}, entry{path: w.dir + "/usr/bin/aa", target: "/etc/alternatives/aa"})
	}
}
