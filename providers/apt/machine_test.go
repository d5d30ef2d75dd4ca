package apt

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// A release is one version of a package in the repository.
type release struct {
	version string
	arch    string
	unmet   string // a dependency that nothing satisfies
	broken  bool   // its postinst fails
	needs   string // a package that comes with it
	// conflicts is a package that is removed for it.
	conflicts string
}

// An entry is what dpkg knows of a package.
type entry struct {
	version, arch, status, want string
	same                        bool // Multi-Arch: same
	edited                      bool // its configuration file was changed by hand
	automatic                   bool // it came with another package
}

// A machine simulates dpkg 1.21 and apt 2.6 on a Debian with the packages of the lab, with recorded outputs. Its
// state changes accordingly.
type machine struct {
	repo    map[string][]release // oldest first
	virtual map[string][]string  // who provides it
	db      map[string][]*entry
	locked  int // seconds for which another process will hold the lock
	env     [][]string
	// upstream is what the repositories have that the index does not know.
	upstream    map[string][]release
	updates     int // how often the index was read
	updateFails bool
	asked       []string // what commands were run, without what they were asked about
}

// newMachine returns a machine on which nothing of the lab is installed.
func newMachine() *machine {
	all := func(versions ...string) (list []release) {
		for _, v := range versions {
			list = append(list, release{version: v, arch: "all"})
		}
		return list
	}
	return &machine{
		repo: map[string][]release{
			"ccm-demo":        all("1.0", "1.1", "2.0"),
			"ccm-demo-epoch":  all("1.5", "1:0.9~rc1-1", "1:0.9-1", "1:0.9-2+lab1"),
			"ccm-demo-broken": {{version: "1.0", arch: "all", broken: true}},
			"ccm-demo-dep":    {{version: "1.0", arch: "all", needs: "ccm-demo"}},
			"ccm-rival":       {{version: "1.0", arch: "all", conflicts: "ccm-demo"}},
			"ccm-demo-unmet":  {{version: "1.0", arch: "all", unmet: "ccm-demo-nonexistent"}},
			"ccm-ma":          {{version: "1.0", arch: "amd64"}, {version: "1.0", arch: "i386"}},
			"ccm-w":           {{version: "1.0", arch: "i386"}},
			"mawk":            {{version: "1.3.4.20200120-3.1", arch: "amd64"}},
		},
		virtual: map[string][]string{"awk": {"mawk"}, "ccm-virt": {"ccm-w2", "ccm-ma", "ccm-ma"}},
		db:      map[string][]*entry{"awk": {{status: "not-installed", want: "unknown"}}},
	}
}

// with puts a package on m.
func (m *machine) with(pkg string, e entry) *machine {
	if e.arch == "" {
		e.arch = "all"
	}
	if e.want == "" {
		e.want = "install"
	}
	m.db[pkg] = append(m.db[pkg], &e)
	return m
}

func ok(stdout string) host.Result { return host.Result{Stdout: []byte(stdout)} }

func failed(code int, stdout, stderr string) host.Result {
	return host.Result{Stdout: []byte(stdout), Stderr: []byte(stderr), Code: code}
}

// Answer runs a command.
func (m *machine) Answer(c host.Cmd) (host.Result, error) {
	m.env = append(m.env, c.Env)
	argv := c.Argv
	m.asked = append(m.asked, argv[0])
	switch {
	case argv[0] == "dpkg-query" && argv[1] == "-W" && strings.HasPrefix(argv[2], "-f="):
		return m.dpkgQuery(strings.TrimPrefix(argv[2], "-f="), argv[3:]), nil
	case argv[0] == "dpkg-deb" && argv[1] == "--show":
		pkg, version, found := strings.Cut(strings.TrimSuffix(filepath.Base(argv[3]), ".deb"), "_")
		if !found {
			return failed(2, "", "dpkg-deb: error: '"+argv[3]+"' is not a Debian format archive\n"), nil
		}
		return ok(pkg + " " + version), nil
	case argv[0] == "apt-cache" && argv[1] == "policy":
		return ok(m.policy(argv[2:])), nil
	case argv[0] == "apt-cache" && argv[1] == "depends":
		return ok(m.depends(argv[2:])), nil
	case argv[0] == "apt-cache" && argv[1] == "showpkg":
		return m.showpkg(argv[2]), nil
	case argv[0] == "apt-get" && argv[1] == "update":
		m.updates++
		if m.updateFails {
			return failed(100, "", "E: Failed to fetch https://deb.example.org/dists/x/InRelease  Could not connect\n"), nil
		}
		maps.Copy(m.repo, m.upstream)
		return ok(preamble), nil
	case argv[0] == "apt-mark" && argv[1] == "showauto":
		list := slices.DeleteFunc(slices.Clone(argv[2:]), func(n string) bool { return !m.db[n][0].automatic })
		return ok(strings.Join(append(list, ""), "\n")), nil
	case argv[0] == "apt-mark" && argv[1] == "manual":
		for _, n := range argv[2:] {
			m.db[n][0].automatic = false
		}
		return ok(""), nil
	case argv[0] == "apt-mark":
		for _, n := range argv[2:] {
			m.db[n][0].want = map[string]string{"hold": "hold", "unhold": "install"}[argv[1]]
		}
		return ok(""), nil
	case argv[0] == "apt-get":
		return m.aptGet(argv[1:]), nil
	}
	return host.Result{}, fmt.Errorf("command %q not found", c)
}

func (m *machine) dpkgQuery(format string, names []string) host.Result {
	var lines []string
	res := host.Result{}
	for _, n := range names {
		pkg, arch, _ := strings.Cut(n, ":")
		found := false
		for _, e := range m.db[pkg] {
			if arch != "" && e.arch != arch {
				continue
			}
			found = true
			unique := pkg
			if e.arch != "all" && (e.same || e.arch != "amd64") && e.arch != "" {
				unique += ":" + e.arch
			}
			description := "ccm lab package " + pkg + "\n It has a longer\n .\n description."
			if e.status == "not-installed" {
				description = ""
			}
			line := strings.NewReplacer(`\t`, "\t", `\n`, "\n", "${Package}", pkg, "${Version}", e.version,
				"${Architecture}", e.arch, "${db:Status-Status}", e.status, "${db:Status-Want}", e.want,
				"${binary:Package}", unique, "${Homepage}", "", "${Description}", description).Replace(format)
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
		if !found {
			res.Code = 1
			res.Stderr = append(res.Stderr, "dpkg-query: no packages found matching "+n+"\n"...)
		}
	}
	slices.Sort(lines)
	res.Stdout = []byte(strings.Join(lines, ""))
	return res
}

func (m *machine) policy(names []string) string {
	out := ""
	for _, n := range m.known(names) {
		pkg, arch, _ := strings.Cut(n, ":")
		list := m.releases(pkg, arch)
		head := pkg
		if len(list) > 0 && list[0].arch == "i386" {
			head += ":i386"
		}
		now, candidate := "(none)", "(none)"
		if e := m.installed(pkg, arch); e != nil {
			now, candidate = e.version, e.version
		}
		if len(list) > 0 {
			candidate = list[len(list)-1].version
		}
		out += fmt.Sprintf("%s:\n  Installed: %s\n  Candidate: %s\n  Version table:\n", head, now, candidate)
		for _, r := range slices.Backward(list) {
			mark, more := "    ", ""
			if r.version == now {
				mark, more = " ***", "        100 /var/lib/dpkg/status\n"
			}
			out += fmt.Sprintf("%s %s 500\n        500 file:/srv/ccm-lab/apt ./ Packages\n%s", mark, r.version, more)
		}
	}
	return out
}

// known returns the packages that apt knows by names, or for which it takes
// them.
func (m *machine) known(names []string) (list []string) {
	for _, n := range names {
		pkg, arch, qualified := strings.Cut(n, ":")
		if (m.repo[pkg] != nil || m.virtual[pkg] != nil || m.db[pkg] != nil) && (arch == "" || len(m.releases(pkg, arch)) > 0) {
			list = append(list, n)
			continue
		}
		if qualified || !strings.ContainsAny(n, ".+") {
			continue
		}
		re, err := regexp.Compile(n)
		if err != nil {
			continue
		}
		for _, pkg := range slices.Sorted(maps.Keys(m.repo)) {
			if re.MatchString(pkg) {
				list = append(list, pkg)
			}
		}
	}
	return list
}

// releases returns the releases of pkg that apt would choose from.
func (m *machine) releases(pkg, arch string) []release {
	list := slices.Clone(m.repo[pkg])
	if len(list) > 0 && arch == "" {
		arch = list[0].arch
	}
	return slices.DeleteFunc(list, func(r release) bool { return r.arch != arch && r.arch != "all" })
}

func (m *machine) installed(pkg, arch string) *entry {
	for _, e := range m.db[pkg] {
		if (arch == "" || e.arch == arch || e.arch == "all") && e.version != "" && e.status != "config-files" {
			return e
		}
	}
	return nil
}

func (m *machine) depends(names []string) (out string) {
	for _, pkg := range names {
		out += pkg + "\n  Conflicts: ccm-demo-epoch\n"
		if list := m.repo[pkg]; len(list) > 0 && list[0].needs != "" {
			out += " |Depends: " + list[0].needs + "\n"
		}
	}
	return out
}

func (m *machine) showpkg(pkg string) host.Result {
	out := "Package: " + pkg + "\nVersions: \n\nReverse Depends: \n  base-files," + pkg + "\nDependencies: \nProvides: \nReverse Provides: \n"
	for _, p := range m.virtual[pkg] {
		out += p + " 1.0 (= )\n"
	}
	return ok(out)
}
