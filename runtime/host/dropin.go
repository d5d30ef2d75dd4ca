package host

import (
	"path"
	"strings"

	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A dropIn is a directory of which a program reads files with certain names.
type dropIn struct {
	dirs   string // patterns of path.Match, separated by spaces
	reader string // the program
	reads  func(name string) bool
	names  string // which names it reads
	// strict says that the program refuses files that do not belong to root, or that others may write.
	strict bool
	// debian says that the rule for names is that of Debian and its relatives.
	debian bool
}

// runPartsName matches the names that run-parts(8) and cron(8) of Debian read.
var runPartsName = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// endsIn returns a function that reports whether a name has one of several suffixes.
func endsIn(suffixes ...string) func(name string) bool {
	return func(name string) bool {
		for _, s := range suffixes {
			if strings.HasSuffix(name, s) {
				return true
			}
		}
		return false
	}
}

// dropIns are the directories of files that a program reads without being told of each (sudoers(5), cron(8),
// sysctl.d(5), modprobe.d(5), sources.list(5), yum.conf(5), udev(7) and others).
var dropIns = []dropIn{
	{dirs: "/etc/sudoers.d", reader: "sudo", reads: func(n string) bool { return !strings.Contains(n, ".") && !strings.HasSuffix(n, "~") }, names: "without a dot and without ~ at the end", strict: true},
	{dirs: "/etc/cron.d /etc/cron.hourly /etc/cron.daily /etc/cron.weekly /etc/cron.monthly", reader: "cron", reads: func(n string) bool { return runPartsName().MatchString(n) }, names: "of letters, digits, _ and -", strict: true, debian: true},
	{dirs: "/etc/sysctl.d /etc/modprobe.d /etc/modules-load.d /etc/tmpfiles.d /etc/sysusers.d /etc/binfmt.d /etc/systemd/*.conf.d /etc/systemd/system/*.d /etc/systemd/user/*.d", reader: "the system", reads: endsIn(".conf"), names: "that end in .conf"},
	{dirs: "/etc/security/limits.d", reader: "pam_limits", reads: endsIn(".conf"), names: "that end in .conf"},
	{dirs: "/etc/apt/sources.list.d", reader: "apt", reads: endsIn(".list", ".sources"), names: "that end in .list or .sources"},
	{dirs: "/etc/apt/apt.conf.d", reader: "apt", reads: func(n string) bool { return runPartsName().MatchString(strings.TrimSuffix(n, ".conf")) }, names: "without a dot, or that end in .conf"},
	{dirs: "/etc/apt/preferences.d", reader: "apt", reads: func(n string) bool { return runPartsName().MatchString(strings.TrimSuffix(n, ".pref")) }, names: "without a dot, or that end in .pref"},
	{dirs: "/etc/yum.repos.d", reader: "dnf", reads: endsIn(".repo"), names: "that end in .repo"},
	{dirs: "/etc/udev/rules.d /etc/polkit-1/rules.d", reader: "the system", reads: endsIn(".rules"), names: "that end in .rules"},
}

// dropInNotes returns what is to be said of a file that will be in a directory of drop-ins: that the program does not
// read it, by its name, or refuses it.
func dropInNotes(v *View, p overlay.PathEffect) (notes []string) {
	if p.Kind != safepath.Regular {
		return nil
	}
	dir, name := path.Split(p.Path)
	for _, d := range dropIns {
		if !d.has(path.Clean(dir)) {
			continue
		}
		if !d.reads(name) && (!d.debian || isDebian(v)) {
			notes = append(notes, d.reader+" ignores it: it only reads names "+d.names)
		}
		switch {
		case !d.strict || p.Attr == nil:
		case p.Attr.UID != 0:
			notes = append(notes, d.reader+" refuses it: it must belong to root")
		case p.Attr.Mode&0o022 != 0:
			notes = append(notes, d.reader+" refuses it: it is writable by users other than root")
		}
	}
	return notes
}

// has reports whether the directory is one of d.
func (d dropIn) has(dir string) bool {
	for pattern := range strings.FieldsSeq(d.dirs) {
		if ok, _ := path.Match(pattern, dir); ok {
			return true
		}
	}
	return false
}

func isDebian(v *View) bool {
	there, err := v.Exists("/etc/debian_version")
	return err == nil && there
}
