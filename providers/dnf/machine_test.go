package dnf

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// A build is one version of a package in the repository.
type build struct {
	name, epoch, version, release, arch string
	unmet                               string // a requirement that nothing satisfies
	broken                              bool   // its pre script fails
	provides                            string
}

// forms lists what rpm and dnf take for b, besides a path or a capability.
func (b build) forms() []string {
	nv, nev := b.name+"-"+b.version, b.name+"-"+b.epoch+":"+b.version
	return []string{
		b.name, b.name + "." + b.arch, nv, nev, nv + "-" + b.release, nev + "-" + b.release,
		nv + "-" + b.release + "." + b.arch, nev + "-" + b.release + "." + b.arch,
	}
}

// is reports whether spec, which may be a pattern, means b.
func (b build) is(spec string) bool {
	return slices.ContainsFunc(b.forms(), func(form string) bool {
		ok, _ := path.Match(spec, form)
		return ok
	})
}

// nevra formats b as dnf does.
func (b build) nevra() string {
	if b.epoch != "0" {
		return fmt.Sprintf("%s-%s:%s-%s.%s", b.name, b.epoch, b.version, b.release, b.arch)
	}
	return fmt.Sprintf("%s-%s-%s.%s", b.name, b.version, b.release, b.arch)
}

// A machine simulates rpm 4.18 and dnf 4.14 with the packages of the lab, with recorded outputs. Its state changes
// accordingly.
type machine struct {
	repo    map[string][]build // oldest first
	db      map[string][]build
	damaged bool     // rpm cannot read its database
	updates int      // how often the index was read
	asked   []string // what commands were run, in two words
}

func newMachine() *machine {
	builds := func(name string, versions ...string) (list []build) {
		for _, v := range versions {
			w := strings.Fields(v)
			list = append(list, build{name: name, epoch: w[0], version: w[1], release: w[2], arch: "noarch"})
		}
		return list
	}
	m := &machine{db: map[string][]build{}, repo: map[string][]build{
		"ccm-demo-rpm":        builds("ccm-demo-rpm", "0 1.0 1.lab", "0 1.1 1.lab", "0 2.0 1.lab"),
		"ccm-demo-rpm-epoch":  builds("ccm-demo-rpm-epoch", "0 1.5 1.lab", "1 0.9~rc1 1.lab", "1 0.9 1.lab", "1 0.9 2.lab"),
		"ccm-demo-rpm-broken": builds("ccm-demo-rpm-broken", "0 1.0 1.lab"),
		"ccm-demo-rpm-unmet":  builds("ccm-demo-rpm-unmet", "0 1.0 1.lab"),
		"ccm-vi":              builds("ccm-vi", "0 1.0 1.lab"),
		"python3.11":          builds("python3.11", "0 3.11.4 1.lab", "0 3.11.5 1.lab"),
		"glibc": {
			{name: "glibc", epoch: "0", version: "2.34", release: "60.el9", arch: "x86_64"},
			{name: "glibc", epoch: "0", version: "2.34", release: "60.el9", arch: "i686"},
			{name: "glibc", epoch: "0", version: "2.34", release: "83.el9", arch: "x86_64"},
			{name: "glibc", epoch: "0", version: "2.34", release: "83.el9", arch: "i686"},
		},
	}}
	m.repo["ccm-demo-rpm-broken"][0].broken = true
	m.repo["ccm-demo-rpm-unmet"][0].unmet = "ccm-demo-rpm-nonexistent"
	m.repo["ccm-vi"][0].provides = "ccm-virt"
	return m
}

// with installs what spec means.
func (m *machine) with(specs ...string) *machine {
	for _, spec := range specs {
		for _, b := range m.all() {
			if b.is(spec) {
				m.db[b.name] = append(m.db[b.name], b)
			}
		}
	}
	return m
}

func (m *machine) all() (list []build) {
	for _, name := range slices.Sorted(maps.Keys(m.repo)) {
		list = append(list, m.repo[name]...)
	}
	return list
}

func ok(stdout string) host.Result { return host.Result{Stdout: []byte(stdout)} }

func failed(code int, stdout, stderr string) host.Result {
	return host.Result{Stdout: []byte(stdout), Stderr: []byte(stderr), Code: code}
}

// Answer runs a command.
func (m *machine) Answer(c host.Cmd) (res host.Result, err error) {
	argv := c.Argv
	m.asked = append(m.asked, argv[0]+" "+argv[1])
	switch {
	case argv[0] == "rpm" && argv[1] == "-q" && argv[len(argv)-2] == "--queryformat":
		return m.rpm(argv[len(argv)-1], argv[2:len(argv)-2]), nil
	case strings.HasPrefix(c.String(), "dnf -q repoquery --queryformat "):
		return m.repoquery(argv[4], argv[5:]), nil
	case len(argv) > 3 && argv[0] == "dnf" && (argv[1] == "install" || argv[1] == "downgrade") && argv[2] == "--assumeno":
		return m.resolve(argv[3:]), nil
	case len(argv) > 3 && argv[0] == "dnf" && argv[1] == "remove" && argv[2] == "--assumeno":
		return m.resolveRemoval(argv[3:]), nil
	case len(argv) == 4 && argv[0] == "dnf" && argv[2] != "-y":
		return failed(1, "Is this ok [y/N]: \n", "Operation aborted.\n"), nil
	case strings.Join(argv, " ") == "dnf -q makecache --refresh":
		m.updates++
		return ok(""), nil
	case len(argv) > 3 && argv[0] == "dnf":
		verb, found := map[string]func(string) host.Result{"install": m.install, "downgrade": m.downgrade, "remove": m.remove}[argv[1]]
		for _, spec := range argv[3:] {
			if found && res.Code == 0 && !strings.HasPrefix(spec, "-") {
				res = verb(spec)
			}
		}
		if found {
			return res, nil
		}
	}
	return host.Result{}, fmt.Errorf("command %q not found", c)
}

func (m *machine) rpm(format string, specs []string) host.Result {
	if m.damaged {
		return failed(len(specs), "package "+strings.Join(specs, " is not installed\npackage ")+" is not installed\n",
			"error: sqlite failure: CREATE TABLE IF NOT EXISTS 'Packages': file is not a database\n"+
				"error: cannot open Packages database in /var/lib/rpm\n")
	}
	res := host.Result{}
	out := ""
	for _, spec := range specs {
		found := false
		for _, name := range slices.Sorted(maps.Keys(m.db)) {
			for _, b := range m.db[name] {
				if !b.is(spec) {
					continue
				}
				found = true
				out += strings.NewReplacer(`\t`, "\t", `\n`, "\n", "%{NAME}", b.name, "%|EPOCH?{%{EPOCH}}:{0}|", b.epoch,
					"%{VERSION}", b.version, "%{RELEASE}", b.release, "%{ARCH}", b.arch, "%{LICENSE}", "MIT", "%{URL}", "(none)",
					"%{SUMMARY}", "ccm lab package "+b.name, "%{DESCRIPTION}", "ccm lab package.\n\nIt is not installed.").Replace(format)
			}
		}
		if !found {
			out += "package " + spec + " is not installed\n"
			res.Code++
		}
	}
	res.Stdout = []byte(out)
	return res
}

func (m *machine) repoquery(format string, specs []string) host.Result {
	var lines []string
	for _, b := range m.all() {
		if slices.ContainsFunc(specs, b.is) || slices.Contains(specs, b.provides) {
			lines = append(lines, strings.NewReplacer(`\n`, "\n", "%{name}", b.name, "%{epoch}", b.epoch,
				"%{version}", b.version, "%{release}", b.release, "%{arch}", b.arch).Replace(format)+"\n")
		}
	}
	slices.Sort(lines)
	return ok(strings.Join(lines, ""))
}

const checked = "Last metadata expiration check: 0:00:01 ago on Fri Nov 20 06:38:59 2026.\n"

const nothing = "Dependencies resolved.\nNothing to do.\nComplete!\n"

// resolve returns the changes of an installation, without making them.
func (m *machine) resolve(specs []string) host.Result {
	out := checked + "Dependencies resolved.\n====\n Package  Architecture Version  Repository Size\n====\nInstalling:\n"
	for _, spec := range specs {
		list := slices.DeleteFunc(m.all(), func(b build) bool { return !b.is(spec) })
		if len(list) == 0 {
			return failed(1, checked+"No match for argument: "+spec+"\n", "Error: Unable to find a match: "+spec+"\n")
		}
		b := list[len(list)-1]
		if b.unmet != "" {
			return m.transaction(b)
		}
		out += fmt.Sprintf(" %s  %s\n                         %s-%s  ccm-lab  6 k\n", b.name, b.arch, b.version, b.release)
	}
	return failed(1, out+"Installing dependencies:\n ccm-base  noarch  1.0-1.lab  ccm-lab  5.5 k\n\nTransaction Summary\n====\nInstall  2 Packages\n\nTotal size: 12 k\n",
		"Operation aborted.\n")
}

// install installs the newest build that spec means, in place of an older or a
// newer one.
func (m *machine) install(spec string) host.Result {
	list := slices.DeleteFunc(m.all(), func(b build) bool { return !b.is(spec) && b.provides != spec })
	if len(list) == 0 {
		return failed(1, checked+"No match for argument: "+spec+"\n", "Error: Unable to find a match: "+spec+"\n")
	}
	b := list[len(list)-1]
	for _, other := range list {
		if other.arch != "i686" { // the architecture of the machine, if the spec leaves a choice
			b = other
		}
	}
	if slices.Contains(m.db[b.name], b) {
		return ok(checked + "Package " + b.nevra() + " is already installed.\n" + nothing)
	}
	return m.transaction(b)
}

func (m *machine) transaction(b build) host.Result {
	switch {
	case b.unmet != "":
		return failed(1, checked+"(try to add '--skip-broken' to skip uninstallable packages or '--nobest' to use not only best candidate packages)\n",
			"Error: \n Problem: conflicting requests\n  - nothing provides "+b.unmet+" needed by "+b.nevra()+"\n")
	case b.broken:
		return failed(1, checked+"Running transaction\n"+
			"  Preparing        :                                                        1/1 \n"+
			"  Running scriptlet: "+b.nevra()+"                   1/1 \n"+
			b.name+": pre fails\nerror: %prein("+b.nevra()+") scriptlet failed, exit status 1\n\n"+
			"  Verifying        : "+b.nevra()+"                   1/1 \n\nFailed:\n  "+b.nevra()+"\n\n",
			"Error in PREIN scriptlet in rpm package "+b.name+"\nError: Transaction failed\n")
	}
	m.db[b.name] = append(slices.DeleteFunc(m.db[b.name], func(o build) bool { return o.arch == b.arch }), b)
	return ok(checked + "Running transaction\n  Installing       : " + b.nevra() + "     1/1 \n\nComplete!\n")
}

// downgrade installs the newest build that matches spec, if it is older than the installed one.
func (m *machine) downgrade(spec string) host.Result {
	list := slices.DeleteFunc(m.all(), func(b build) bool { return !b.is(spec) })
	if len(list) == 0 {
		return failed(1, checked+"No package "+spec+" available.\n", "Error: No packages marked for downgrade.\n")
	}
	b := list[len(list)-1]
	i := slices.IndexFunc(m.db[b.name], func(o build) bool { return o.arch == b.arch })
	if i < 0 {
		return failed(1, checked, "Error: No packages marked for downgrade.\n")
	}
	if slices.Index(m.repo[b.name], m.db[b.name][i]) <= slices.Index(m.repo[b.name], b) {
		return failed(0, checked+nothing, "Package "+b.name+" of lowest version already installed, cannot downgrade it.\n")
	}
	return m.transaction(b)
}

// resolveRemoval returns the changes of a removal, without making them. The package ccm-demo-rpm-epoch needs
// ccm-demo-rpm here.
func (m *machine) resolveRemoval(specs []string) host.Result {
	const rule = "================================================================================\n"
	out := "Dependencies resolved.\n" + rule + " Package                 Architecture  Version            Repository       Size\n" + rule + "Removing:\n"
	for _, spec := range specs {
		out += " " + spec + "            noarch        2.0-1.lab          @ccm-lab         47  \n"
	}
	if slices.Contains(specs, "ccm-demo-rpm") && !slices.Contains(specs, "ccm-demo-rpm-epoch") {
		out += "Removing dependent packages:\n ccm-demo-rpm-epoch        noarch        1.0-1.lab          @ccm-lab          0  \n"
	}
	return failed(1, out+"\nTransaction Summary\n"+rule+"Remove  2 Packages\n\nFreed space: 47  \n", "Operation aborted.\n")
}

func (m *machine) remove(spec string) host.Result {
	removed := false
	for name := range m.db {
		before := len(m.db[name])
		m.db[name] = slices.DeleteFunc(m.db[name], func(b build) bool { return b.is(spec) || b.provides == spec })
		removed = removed || len(m.db[name]) < before
	}
	if !removed {
		return failed(0, "No match for argument: "+spec+"\n"+nothing, "No packages marked for removal.\n")
	}
	return ok("Complete!\n")
}
