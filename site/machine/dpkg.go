package machine

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/words"
)

// A stanza is a paragraph of fields, as in /var/lib/dpkg/status. Continued lines follow after a line break.
type stanza map[string]string

// stanzas returns the paragraphs of a text.
func stanzas(text string) (list []stanza) {
	var s stanza
	field := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch name, value, ok := strings.Cut(line, ":"); {
		case line == "":
			s = nil
		case line[0] == ' ' || line[0] == '\t':
			if s != nil && field != "" {
				s[field] += "\n" + strings.TrimSpace(line)
			}
		case ok:
			if s == nil {
				s = stanza{}
				list = append(list, s)
			}
			field = name
			s[field] = strings.TrimSpace(value)
		}
	}
	return list
}

// dpkg reads the database of dpkg and apt. Broken paragraphs and lists are left out.
func (r *reader) dpkg(db *database) bool {
	const dir = "/var/lib/dpkg/"
	status, infos := stanzas(r.text(dir+"status")), r.names(dir+"info")
	if lost := r.lostPackages(db, status, infos); len(lost) > 0 {
		r.scan.Damage = fmt.Sprintf("%sstatus lacks %s that %sinfo has, such as %s (dpkg keeps copies in /var/backups)",
			dir, words.Count(len(lost), "package"), dir, lost[0])
	}
	if len(status) == 0 {
		return false
	}
	db.manager = "apt"
	auto, initial, requested := map[string]bool{}, r.initialPackages(), r.requestedPackages()
	for _, s := range stanzas(r.text("/var/lib/apt/extended_states")) {
		auto[s["Package"]+":"+s["Architecture"]] = s["Auto-Installed"] == "1"
	}
	native := ""
	for _, s := range status {
		if s["Package"] == "dpkg" {
			native = s["Architecture"]
		}
	}
	has := map[string]bool{}
	for _, name := range infos {
		has[name] = true
	}
	needed := dependencies(status)
	var conffiles []func()
	var unlisted []string
	for _, s := range status {
		name, arch, state := s["Package"], s["Architecture"], strings.Fields(s["Status"])
		if name == "" || len(state) != 3 || !slices.Contains([]string{"installed", "unpacked", "half-configured", "triggers-pending", "triggers-awaited"}, state[2]) {
			continue
		}
		if state[2] == "unpacked" || state[2] == "half-configured" {
			r.leave("package "+name, "not installed completely: "+state[2])
		}
		full := name
		if arch != native && arch != "all" && native != "" {
			full += ":" + arch
		}
		p := &installed{held: state[0] == "hold", version: s["Version"]}
		p.asked = !auto[name+":"+arch] && !(arch == "all" && auto[name+":"+native])
		p.base = s["Priority"] == "required" || s["Essential"] == "yes"
		p.usual = initial[name] || (s["Priority"] == "important" || s["Priority"] == "standard") && !requested[name]
		// Installers mark no library as installed for another package.
		p.base = p.base || needed[name] && slices.Contains([]string{"libs", "oldlibs", "perl"}, path.Base(s["Section"]))
		db.packages[full] = p
		list := name + ".list"
		if !has[list] {
			list = name + ":" + arch + ".list"
		}
		if info, err := r.v.Lstat(dir + "info/" + list); err == nil {
			p.since = info.MTime
		}
		text := r.text(dir + "info/" + list)
		if text == "" {
			unlisted = append(unlisted, name)
		}
		ships := false // something whose digest is in another file
		for line := range strings.Lines(text) {
			file := strings.TrimRight(line, "\n")
			db.own(full, file, "")
			ships = ships || strings.HasPrefix(file, "/etc/")
		}
		if sums := strings.TrimSuffix(list, ".list") + ".md5sums"; ships && has[sums] {
			for line := range strings.Lines(r.text(dir + "info/" + sums)) {
				if sum, file, ok := strings.Cut(strings.TrimRight(line, "\n"), "  "); ok && strings.HasPrefix(file, "etc/") {
					db.own(full, "/"+file, sum)
				}
			}
		}
		conffiles = append(conffiles, func() { dpkgConffiles(db, full, s["Conffiles"]) })
	}
	for _, name := range unlisted[:min(len(unlisted), mostUnlisted)] {
		r.leave("package "+name, "the package database has no list of its files")
	}
	if len(unlisted) > mostUnlisted && r.scan.Damage == "" {
		r.scan.Damage = fmt.Sprintf("%sinfo has no list of the files of %d packages, which count as files without a package", dir, len(unlisted))
	}
	for _, add := range conffiles { // a conffile of one package may be an obsolete one of another
		add()
	}
	r.dpkgExtras(db)
	r.maintained(db)
	db.copies = func(digests map[string]bool) map[string][]string {
		found := map[string][]string{}
		for _, name := range infos {
			if !strings.HasSuffix(name, ".md5sums") {
				continue
			}
			for line := range strings.Lines(r.text(dir + "info/" + name)) {
				if sum, file, ok := strings.Cut(strings.TrimRight(line, "\n"), "  "); ok && digests[sum] {
					found[sum] = append(found[sum], "/"+file)
				}
			}
		}
		return found
	}
	db.scripts = func() string {
		var all strings.Builder
		for _, name := range infos {
			if strings.HasSuffix(name, ".postinst") || strings.HasSuffix(name, ".preinst") {
				all.WriteString(r.text(dir + "info/" + name))
			}
		}
		return all.String()
	}
	return true
}

// mostUnlisted is the maximum number of packages without a list of their files that are left out by name.
const mostUnlisted = 10

// lostPackages returns the packages that have a list of files, and are not in the status. What they own is noted.
func (r *reader) lostPackages(db *database, status []stanza, infos []string) (lost []string) {
	known := map[string]bool{}
	for _, s := range status {
		known[s["Package"]] = true
	}
	for _, file := range infos {
		name, ok := strings.CutSuffix(file, ".list")
		if name, _, _ = strings.Cut(name, ":"); !ok || known[name] {
			continue
		}
		lost = append(lost, name)
		for line := range strings.Lines(r.text("/var/lib/dpkg/info/" + file)) {
			db.own(name, strings.TrimRight(line, "\n"), "")
		}
	}
	return lost
}

// dependencies returns the packages that others depend on.
func dependencies(status []stanza) map[string]bool {
	found := map[string]bool{}
	for _, s := range status {
		for _, field := range []string{"Depends", "Pre-Depends"} {
			for _, one := range strings.FieldsFunc(s[field], func(c rune) bool { return c == ',' || c == '|' }) {
				if words := strings.Fields(one); len(words) > 0 {
					name, _, _ := strings.Cut(words[0], ":")
					found[name] = true
				}
			}
		}
	}
	return found
}

// dpkgConffiles notes the configuration files of a package, with their digests.
func dpkgConffiles(db *database, pkg, list string) {
	for line := range strings.SplitSeq(list, "\n") {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		last := words[len(words)-1]
		dropped := last == "obsolete" || last == "remove-on-upgrade"
		if dropped {
			words = words[:len(words)-1]
		}
		if len(words) < 2 {
			continue
		}
		file, digest := strings.Join(words[:len(words)-1], " "), words[len(words)-1]
		if len(digest) != 32 { // newconffile, while the package is being installed
			digest = ""
		}
		if _, known := db.files[file]; dropped && known && db.files[file].pkg != pkg {
			continue
		}
		db.own(pkg, file, digest)
		f := db.files[file]
		if f.dropped = dropped; f.pkg == "" {
			f.pkg = pkg
		}
		db.files[file] = f
	}
}

// dpkgExtras notes files that ucf has installed, and diverted ones.
func (r *reader) dpkgExtras(db *database) {
	pkgs := map[string]string{}
	for line := range strings.Lines(r.text("/var/lib/ucf/registry")) {
		if words := strings.Fields(line); len(words) == 2 {
			pkgs[words[1]] = words[0]
		}
	}
	for line := range strings.Lines(r.text("/var/lib/ucf/hashfile")) {
		if sum, file, ok := strings.Cut(strings.TrimRight(line, "\n"), "  "); ok {
			db.own(pkgs[file], file, sum)
		}
	}
	lines := strings.Split(r.text("/var/lib/dpkg/diversions"), "\n")
	for i := 0; i+2 < len(lines); i += 3 {
		from, to, pkg := lines[i], lines[i+1], lines[i+2]
		if pkg == ":" {
			r.leave(from, "diverted to "+to+" with dpkg-divert --local")
		}
		if f, ok := db.files[from]; ok && isOfInterest(to) {
			db.files[to] = f
			delete(db.files, from)
		}
	}
}

// maintained notes the links that scripts of packages have made to enable parts of Apache and PHP, and those that were
// removed since.
func (r *reader) maintained(db *database) {
	note := func(records string, links func(name string) []string) {
		for _, name := range r.names(records + "/enabled_by_maint") {
			for _, link := range links(name) {
				db.made[link] = "enabled by its package"
			}
		}
		for _, name := range r.names(records + "/disabled_by_admin") {
			for _, link := range links(name) {
				db.made[link] = ""
			}
		}
	}
	for records, dir := range map[string]string{"conf": "conf", "module": "mods", "site": "sites"} {
		note("/var/lib/apache2/"+records, func(name string) []string {
			at := "/etc/apache2/" + dir + "-enabled/" + name
			if records == "module" {
				return []string{at + ".load", at + ".conf"}
			}
			return []string{at + ".conf"}
		})
	}
	const php = "/var/lib/php/modules"
	for _, version := range r.names(php) {
		for _, server := range r.names(php + "/" + version) {
			if server == "registry" {
				continue
			}
			dir := "/etc/php/" + version + "/" + server + "/conf.d"
			have := r.names(dir)
			note(php+"/"+version+"/"+server, func(name string) (links []string) {
				for _, file := range have {
					if _, module, _ := strings.Cut(file, "-"); module == name+".ini" {
						links = append(links, dir+"/"+file)
					}
				}
				return links
			})
		}
	}
	for _, row := range generatedRows() {
		if row.kind == "made" && db.packages[row.reason] != nil {
			db.made[row.pattern] = "made by package " + row.reason
			if there, err := r.v.Exists(row.pattern); err == nil && !there {
				db.made[row.pattern] = ""
			}
		}
	}
}

// requestedPackages returns the packages that the log of apt has as installed by request.
func (r *reader) requestedPackages() map[string]bool {
	found := map[string]bool{}
	const dir = "/var/log/apt"
	for _, name := range r.names(dir) {
		if !strings.HasPrefix(name, "history.log") {
			continue
		}
		for _, s := range stanzas(r.unpacked(dir + "/" + name)) {
			for one := range strings.SplitSeq(s["Install"], "), ") { // such as nginx:amd64 (1.0, automatic), curl:amd64 (2.0)
				pkg, rest, _ := strings.Cut(one, ":")
				if !strings.HasSuffix(strings.TrimSuffix(rest, ")"), ", automatic") {
					found[pkg] = true
				}
			}
		}
	}
	return found
}

// initialPackages returns the packages of the installer of Debian and Ubuntu.
func (r *reader) initialPackages() map[string]bool {
	found := map[string]bool{}
	for _, s := range stanzas(r.unpacked("/var/log/installer/initial-status.gz")) {
		found[s["Package"]] = true
	}
	return found
}

// unpacked returns a file, which may be packed with gzip, "" if it is missing or cannot be read.
func (r *reader) unpacked(name string) string {
	if path.Ext(name) != ".gz" {
		return r.text(name)
	}
	packed, err := r.v.ReadUpTo(name, largestDatabase)
	if err != nil {
		return ""
	}
	var text []byte
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(z, largestDatabase))
	}
	r.cannot(name, err)
	return string(text)
}
