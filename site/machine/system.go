package machine

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/safepath"
)

// system adds the settings of the system.
func (r *reader) system() {
	if r.scan.Hostname != "" {
		r.add(Item{Kind: Hostname, Name: r.scan.Hostname, Path: "/etc/hostname", Reason: "the host name"})
	}
	if target, err := r.v.Readlink("/etc/localtime"); err == nil {
		if _, zone, ok := strings.Cut(target, "/zoneinfo/"); ok && !slices.Contains([]string{"UTC", "Etc/UTC"}, zone) {
			r.add(Item{Kind: Timezone, Name: zone, Path: "/etc/localtime", Reason: "the time zone"})
		}
	}
	r.locales()
	r.hosts()
	r.mounts()
	for _, dir := range []string{"/var/lib/dpkg/alternatives", "/var/lib/alternatives"} {
		for _, name := range r.names(dir) {
			if mode, _, _ := strings.Cut(r.text(dir+"/"+name), "\n"); mode == "manual" {
				r.add(Item{Kind: Alternative, Name: name, Reason: "set by hand"})
			}
		}
	}
	for _, policy := range r.names("/var/lib/selinux") {
		for _, line := range settings(r.text("/var/lib/selinux/" + policy + "/active/booleans.local")) {
			if name, _, ok := strings.Cut(line, "="); ok {
				r.add(Item{Kind: SELinuxBoolean, Name: strings.TrimSpace(name), Reason: "set by hand"})
			}
		}
	}
	r.languagePackages()
	r.debconf()
}

// locales adds the locale of the system, and the generated ones.
func (r *reader) locales() {
	lang := ""
	for _, name := range []string{"/etc/default/locale", "/etc/locale.conf"} {
		for _, line := range settings(r.text(name)) {
			if value, ok := strings.CutPrefix(line, "LANG="); ok && lang == "" {
				lang = strings.Trim(value, `"'`)
			}
		}
	}
	var names []string
	for _, line := range settings(r.text("/etc/locale.gen")) {
		names = append(names, strings.Fields(line)[0])
	}
	if lang != "" && !slices.Contains(names, lang) {
		names = append(names, lang)
	}
	for _, name := range names {
		i := Item{Kind: Locale, Name: name, Path: "/etc/locale.gen", Reason: "generated"}
		if name == lang {
			i.Reason, i.Value = "the locale of the system", "default"
		}
		if !strings.HasPrefix(name, "C.") && name != "C" && name != "POSIX" {
			r.add(i)
		}
	}
}

// hosts adds the hosts of /etc/hosts, without those that an installer writes.
func (r *reader) hosts() {
	for _, line := range settings(r.text("/etc/hosts")) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) < 2 || strings.HasPrefix(f[0], "127.") || f[0] == "::1" || strings.HasPrefix(f[0], "ff0") || strings.HasPrefix(f[0], "fe00") {
			continue
		}
		r.add(Item{Kind: Host, Name: f[1], Path: "/etc/hosts", Value: f[0], Reason: "in /etc/hosts"})
	}
}

// mounts adds the mounts of /etc/fstab, without those of an installer.
func (r *reader) mounts() {
	for _, line := range settings(r.text("/etc/fstab")) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		at := unescape(f[1])
		if f[2] == "swap" || !strings.HasPrefix(at, "/") || at == "/" || at == "/boot" || strings.HasPrefix(at, "/boot/") || strings.HasPrefix(at, "/media/cdrom") || at == "/proc" {
			continue
		}
		r.add(Item{Kind: Mount, Name: at, Path: "/etc/fstab", Reason: "in /etc/fstab"})
	}
}

// unescape returns a field of fstab with its octal escapes replaced.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// debconf lists the questions of packages that somebody has answered other than by default. Answers may be secrets.
func (r *reader) debconf() {
	const dir = "/var/cache/debconf/"
	answers := stanzas(r.text(dir + "config.dat"))
	if len(answers) == 0 {
		return
	}
	templates := map[string]stanza{}
	for _, s := range stanzas(r.text(dir + "templates.dat")) {
		templates[s["Name"]] = s
	}
	for _, s := range answers {
		t := templates[s["Template"]]
		owner, _, _ := strings.Cut(s["Owners"], ",")
		if !strings.Contains(s["Flags"], "seen") || s["Value"] == t["Default"] || owner == "tzdata" || owner == "locales" {
			continue
		}
		if slices.Contains([]string{"string", "boolean", "select", "multiselect"}, t["Type"]) {
			r.leave("debconf "+s["Name"], "an answer to a question of package "+owner+": debconf-show "+owner+" prints it, debconf-set-selections sets it elsewhere")
		}
	}
}

// languagePackages adds the packages that pip and npm have installed for the whole system.
func (r *reader) languagePackages() {
	for _, lib := range r.names("/usr/local/lib") {
		if !strings.HasPrefix(lib, "python") {
			continue
		}
		for _, sub := range []string{"dist-packages", "site-packages"} {
			for _, name := range r.names("/usr/local/lib/" + lib + "/" + sub) {
				if pkg, ok := strings.CutSuffix(name, ".dist-info"); ok {
					if at := strings.LastIndexByte(pkg, '-'); at > 0 {
						pkg = pkg[:at]
					}
					r.add(Item{Kind: LanguagePackage, Name: pkg, Value: "pip", Reason: "installed for the whole system"})
				}
			}
		}
	}
	for _, dir := range []string{"/usr/local/lib/node_modules", "/usr/lib/node_modules"} {
		for _, name := range r.names(dir) {
			info, err := r.v.Lstat(dir + "/" + name)
			if err == nil && info.Kind == safepath.Directory && name != "npm" && name != "corepack" && !strings.HasPrefix(name, ".") {
				r.add(Item{Kind: LanguagePackage, Name: name, Value: "npm", Reason: "installed for the whole system"})
			}
		}
	}
}

// listed lists what is named and not described: containers.
func (r *reader) listed() {
	const dir = "/var/lib/docker/containers"
	for _, id := range r.names(dir) {
		var c struct {
			Name   string
			Config struct{ Image string }
			State  struct{ Running bool }
		}
		text := r.text(path.Join(dir, id, "config.v2.json"))
		if json.Unmarshal([]byte(text), &c) == nil && c.State.Running {
			r.leave("container "+strings.TrimPrefix(c.Name, "/"), "running: its image is "+c.Config.Image+"; see docker inspect for its options")
		}
	}
}
