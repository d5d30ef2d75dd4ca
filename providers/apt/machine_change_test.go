package apt

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

const preamble = "Reading package lists...\nBuilding dependency tree...\nReading state information...\n"

// aptOptions are those that matter to the machine.
type aptOptions struct {
	verb        string
	yes         bool
	downgrades  bool
	keepOld     bool
	lockTimeout int
	simulate    bool
	noRemove    bool
	names       []string
}

func parseAptGet(args []string) (o aptOptions, err error) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-y":
			o.yes = true
		case arg == "-q", arg == "--reinstall", arg == "--no-install-recommends", arg == "--auto-remove", arg == "--allow-change-held-packages":
		case arg == "-t":
			i++
		case arg == "--no-remove":
			o.noRemove = true
		case arg == "--simulate":
			o.simulate = true
		case arg == "--allow-downgrades":
			o.downgrades = true
		case arg == "-o":
			i++
			key, val, _ := strings.Cut(args[i], "=")
			switch {
			case key == "DPkg::Options::" && val == "--force-confold":
				o.keepOld = true
			case key == "DPkg::Lock::Timeout":
				o.lockTimeout, _ = strconv.Atoi(val)
			}
		case strings.HasPrefix(arg, "-"):
			return o, fmt.Errorf("E: Command line option %s is not understood in combination with the other options", arg)
		case o.verb == "":
			o.verb = arg
		default:
			o.names = append(o.names, arg)
		}
	}
	return o, nil
}

func (m *machine) aptGet(args []string) host.Result {
	o, err := parseAptGet(args)
	switch {
	case err != nil:
		return failed(100, "", err.Error()+"\n")
	case !o.yes:
		return failed(1, preamble+"Do you want to continue? [Y/n] Abort.\n", "")
	case m.locked > o.lockTimeout && !o.simulate:
		return failed(100, "Waiting for cache lock: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 489 (perl)...\r",
			"E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?\n")
	}
	if o.simulate {
		return m.simulate(o)
	}
	m.locked = 0
	if o.noRemove && strings.Contains(string(m.simulate(o).Stdout), "Remv ") {
		return failed(100, preamble, "E: Packages need to be removed but remove is disabled.\n")
	}
	for _, n := range o.names {
		res := m.install(o, n)
		if o.verb == "remove" || o.verb == "purge" {
			res = m.remove(n)
		}
		if o.verb == "purge" {
			delete(m.db, n)
		}
		if res.Code != 0 {
			return res
		}
	}
	return ok(preamble)
}

// simulate returns the changes of an installation.
func (m *machine) simulate(o aptOptions) host.Result {
	o.keepOld = true // nothing is unpacked, so dpkg asks nothing
	after := &machine{repo: m.repo, virtual: m.virtual, db: map[string][]*entry{}}
	for pkg, list := range m.db {
		for _, e := range list {
			after.with(pkg, *e)
		}
	}
	out := preamble
	for _, n := range o.names {
		res := after.install(o, n)
		if o.verb == "remove" {
			res = after.remove(n)
		}
		if res.Code != 0 {
			return res
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(after.db)) {
		for i, e := range after.db[pkg] {
			now, old := "", ""
			if i < len(m.db[pkg]) && m.db[pkg][i].status != "config-files" {
				now = m.db[pkg][i].version
			}
			if now != "" {
				old = "[" + now + "] "
			}
			if now != "" && e.status == "config-files" {
				out += fmt.Sprintf("Remv %s [%s]\n", pkg, now)
			}
			if e.version != now && e.version != "" && e.status != "config-files" {
				out += fmt.Sprintf("Inst %s %s(%s localhost [%s])\n", pkg, old, e.version, e.arch)
			}
		}
	}
	return ok(out)
}

func (m *machine) install(o aptOptions, n string) host.Result {
	n, version, exact := strings.Cut(n, "=")
	pkg, arch, _ := strings.Cut(n, ":")
	if m.repo[pkg] == nil && m.virtual[pkg] == nil && m.db[pkg] == nil {
		return m.installByAnotherName(o, n)
	}
	list := m.releases(pkg, arch)
	if len(list) == 0 && !exact && len(m.virtual[pkg]) == 1 {
		return m.install(o, m.virtual[pkg][0]) // Note, selecting 'mawk' instead of 'awk'
	}
	if len(list) == 0 && !exact {
		return failed(100, preamble, "E: Package '"+n+"' has no installation candidate\n")
	}
	at := len(list) - 1
	if exact {
		if at = slices.IndexFunc(list, func(r release) bool { return r.version == version }); at < 0 {
			return failed(100, preamble+"Package "+n+" is not available, but is referred to by another package.\n\n",
				"E: Version '"+version+"' for '"+n+"' was not found\n")
		}
	}
	to := list[at]
	if to.unmet != "" {
		return failed(100, preamble+"Some packages could not be installed. This may mean that you have\nrequested an impossible situation\n\n"+
			"The following packages have unmet dependencies:\n "+pkg+" : Depends: "+to.unmet+" but it is not installable\n",
			"W: Target Packages is configured multiple times\nE: Unable to correct problems, you have held broken packages.\n")
	}
	have := m.installed(pkg, to.arch)
	if have != nil && have.version != to.version {
		from := slices.IndexFunc(list, func(r release) bool { return r.version == have.version })
		switch {
		case have.want == "hold":
			return failed(100, preamble, "E: Held packages were changed and -y was used without --allow-change-held-packages.\n")
		case from > at && !o.downgrades:
			return failed(100, preamble, "E: Packages were downgraded and -y was used without --allow-downgrades.\n")
		}
	}
	if rival := m.installed(to.conflicts, ""); rival != nil {
		rival.status, rival.want = "config-files", "deinstall"
	}
	if to.needs != "" && m.installed(to.needs, "") == nil {
		_ = m.install(o, to.needs)
	}
	return m.unpack(o, pkg, to)
}

// installByAnotherName does what apt does with a name that it does not know.
func (m *machine) installByAnotherName(o aptOptions, n string) host.Result {
	if pkg, remove := strings.CutSuffix(n, "-"); remove {
		return m.remove(pkg)
	}
	if pkg, plus := strings.CutSuffix(n, "+"); plus {
		return m.install(o, pkg)
	}
	names := m.known([]string{n})
	if len(names) == 0 {
		return failed(100, preamble, "E: Unable to locate package "+n+"\n")
	}
	for _, pkg := range names {
		_ = m.install(o, pkg)
	}
	return ok(preamble)
}

func (m *machine) unpack(o aptOptions, pkg string, to release) host.Result {
	i := slices.IndexFunc(m.db[pkg], func(e *entry) bool { return e.arch == to.arch })
	if i < 0 {
		m.db[pkg] = append(m.db[pkg], &entry{arch: to.arch, same: pkg == "ccm-ma"})
		i = len(m.db[pkg]) - 1
	}
	e := m.db[pkg][i]
	changed := e.version != "" && e.version != to.version
	e.version = to.version
	if e.want != "hold" {
		e.want = "install"
	}
	steps := preamble + fmt.Sprintf("(Reading database ... (Reading database ... 5%%(Reading database ... 12695 files and directories currently installed.)\r\n"+
		"Preparing to unpack ..././%s_%s_all.deb ...\nUnpacking %s (%s) ...\nSetting up %s (%s) ...\n", pkg, to.version, pkg, to.version, pkg, to.version)
	conclusion := "Errors were encountered while processing:\n " + pkg + "\n"
	const stderr = "E: Sub-process /usr/bin/dpkg returned an error code (1)\n"
	switch {
	case e.edited && changed && !o.keepOld:
		e.status = "unpacked"
		return failed(100, steps+"*** demo.conf (Y/I/N/O/D/Z) [default=N] ? dpkg: error processing package "+pkg+
			" (--configure):\n end of file on stdin at conffile prompt\n"+conclusion, stderr)
	case to.broken && !o.simulate:
		e.status = "half-configured"
		return failed(100, steps+pkg+": postinst fails\ndpkg: error processing package "+pkg+
			" (--configure):\n installed "+pkg+" package post-installation script subprocess returned error exit status 1\n"+conclusion, stderr)
	}
	e.status = "installed"
	return ok(steps)
}

func (m *machine) remove(n string) host.Result {
	pkg, arch, _ := strings.Cut(n, ":")
	if m.repo[pkg] == nil && m.db[pkg] == nil {
		return failed(100, preamble, "E: Unable to locate package "+n+"\n")
	}
	if arch == "" && len(m.repo[pkg]) > 0 {
		arch = m.repo[pkg][0].arch // the native one
	}
	e := m.installed(pkg, arch)
	if e == nil {
		if i := slices.IndexFunc(m.db[pkg], func(e *entry) bool { return slices.Contains(unfinished, e.status) }); i >= 0 {
			e = m.db[pkg][i]
		}
	}
	switch {
	case e == nil:
		return ok(preamble + "Package '" + n + "' is not installed, so not removed.\n")
	case e.want == "hold":
		return failed(100, preamble, "E: Held packages were changed and -y was used without --allow-change-held-packages.\n")
	}
	e.status, e.want = "config-files", "deinstall"
	for other, list := range m.repo { // what depends on it goes too
		if list[0].needs == pkg && m.installed(other, "") != nil {
			_ = m.remove(other)
		}
	}
	return ok(preamble)
}
