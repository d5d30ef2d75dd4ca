package machine

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/host"
)

// A database is what a package manager knows, as far as the scan needs it.
type database struct {
	manager  string // "" if none was found
	packages map[string]*installed
	// files are the files below the directories in isOfInterest.
	files map[string]owned
	// made are files that scripts of packages have made, with the reason why they are there, "" if they were removed since.
	made map[string]string
	// copies returns the files of packages that have some digests, by digest.
	copies func(digests map[string]bool) map[string][]string
	// scripts returns the texts that create users when packages are installed.
	scripts func() string
}

// installed is an installed package.
type installed struct {
	asked bool // not only installed for another package
	base  bool // part of the base system
	usual bool // part of most base systems, but not of small ones
	held  bool
	since time.Time
	// version is as the package manager writes it, "" if it is not known.
	version string
	units   []string // the units that it ships
}

// owned is a file of a package.
type owned struct {
	pkg string
	// digest is the digest of the file as shipped, in hexadecimal: MD5, SHA-1 or SHA-256, by its length; "" if it is not
	// known.
	digest  string
	several bool // packages ship it, as a directory
	dropped bool // the package no longer ships it
}

// unitDirectories are the directories of units of packages.
var unitDirectories = []string{"/usr/lib/systemd/system/", "/lib/systemd/system/"}

// isOfInterest reports whether the scan needs to know who owns a path.
func isOfInterest(name string) bool {
	for _, dir := range []string{"/etc/", "/opt/", "/srv/", "/usr/local/"} {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}

// own notes that a package has a file.
func (db *database) own(pkg, name, digest string) {
	for _, dir := range unitDirectories {
		if unit, ok := strings.CutPrefix(name, dir); ok && isUnit(unit) {
			if p := db.packages[pkg]; p != nil && !slices.Contains(p.units, unit) {
				p.units = append(p.units, unit)
			}
		}
	}
	if !isOfInterest(name) {
		return
	}
	have, known := db.files[name]
	if known && have.pkg != pkg {
		have.several = true
	}
	if !known {
		have.pkg = pkg
	}
	if digest != "" {
		have.digest = digest
	}
	db.files[name] = have
}

// packageOf returns the package that a path belongs to, "" if that is not clear: its owner, that of a directory above it
// that has the name of the package, or the package with the name of that directory.
func (db *database) packageOf(name string) string {
	if f, ok := db.files[name]; ok && !f.several {
		return f.pkg
	}
	for at := path.Dir(name); strings.Count(at, "/") > 1; at = path.Dir(at) {
		base := path.Base(at)
		if f, ok := db.files[at]; ok && !f.several && strings.HasPrefix(f.pkg, base) {
			return f.pkg
		}
		if db.packages[base] != nil { // /etc/nginx, made by a script of nginx
			return base
		}
	}
	return ""
}

// readDatabase reads the database of the package manager.
func (r *reader) readDatabase() *database {
	for _, read := range []func(*database) bool{r.dpkg, r.pacman, r.apk, r.rpm} {
		db := newDatabase()
		before := len(r.scan.LeftOut)
		if read(db) {
			return db
		}
		if db.manager == "" { // there is no such database
			r.scan.LeftOut = r.scan.LeftOut[:before]
		}
	}
	r.leave("packages", "no readable package database was found: packages and files of packages are unknown")
	return newDatabase()
}

func newDatabase() *database {
	return &database{
		packages: map[string]*installed{}, files: map[string]owned{}, made: map[string]string{}, scripts: func() string { return "" },
		copies: func(map[string]bool) map[string][]string { return nil },
	}
}

// packages adds the packages that were asked for.
func (r *reader) packages() {
	for _, name := range sortedKeys(r.db.packages) {
		p := r.db.packages[name]
		switch reason := generatedReason("package", name); {
		case p.held:
			r.add(Item{Kind: Package, Name: name, Package: name, Held: true, Version: p.version, Changed: p.since, Reason: "on hold"})
		case !p.asked || p.base || p.usual:
		case reason != "":
			r.leave("package "+name, reason)
		default:
			r.add(Item{Kind: Package, Name: name, Package: name, Version: p.version, Changed: p.since, Reason: "installed by request"})
		}
	}
}

// usualPackages adds packages that are part of most base systems, if something of them was changed: a small base system
// may lack them.
func (r *reader) usualPackages() {
	var more []Item
	added := map[string]bool{}
	for _, i := range r.scan.Items {
		if p := r.db.packages[i.Package]; p != nil && p.usual && p.asked && !p.base && !p.held && !added[i.Package] && generatedReason("package", i.Package) == "" {
			added[i.Package] = true
			more = append(more, Item{Kind: Package, Name: i.Package, Package: i.Package, Version: p.version, Changed: p.since, Reason: "something of it was changed"})
		}
	}
	slices.SortFunc(more, func(a, b Item) int { return strings.Compare(a.Name, b.Name) })
	r.scan.Items = append(more, r.scan.Items...)
}

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
	status := stanzas(r.text(dir + "status"))
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
	infos := r.names(dir + "info")
	has := map[string]bool{}
	for _, name := range infos {
		has[name] = true
	}
	needed := dependencies(status)
	var conffiles []func()
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
		p.base = s["Priority"] == "required" || s["Essential"] == "yes" || initial[name]
		p.usual = (s["Priority"] == "important" || s["Priority"] == "standard") && !requested[name]
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
			r.leave("package "+name, "the package database has no list of its files")
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

// pacman reads the local database of pacman.
func (r *reader) pacman(db *database) bool {
	const dir = "/var/lib/pacman/local"
	names := r.names(dir)
	if len(names) == 0 || len(names) == 1 && names[0] == "ALPM_DB_VERSION" {
		return false
	}
	db.manager = "pacman"
	for _, at := range names {
		if at == "ALPM_DB_VERSION" {
			continue
		}
		desc := sections(r.text(dir + "/" + at + "/desc"))
		if len(desc["NAME"]) == 0 {
			r.leave("package "+at, "its entry in the package database is damaged")
			continue
		}
		name := desc["NAME"][0]
		p := &installed{asked: !slices.Contains(desc["REASON"], "1")}
		p.base = name == "base" || slices.Contains(desc["GROUPS"], "base")
		if len(desc["VERSION"]) > 0 {
			p.version = desc["VERSION"][0]
		}
		if len(desc["INSTALLDATE"]) > 0 {
			p.since = unixTime(desc["INSTALLDATE"][0])
		}
		db.packages[name] = p
		files := sections(r.text(dir + "/" + at + "/files"))
		for _, file := range files["FILES"] {
			db.own(name, "/"+strings.TrimSuffix(file, "/"), "")
		}
		for _, line := range files["BACKUP"] {
			if file, sum, ok := strings.Cut(line, "\t"); ok {
				db.own(name, "/"+file, sum)
			}
		}
	}
	return len(db.packages) > 0
}

// sections returns the lines below each %NAME% of a file of pacman.
func sections(text string) map[string][]string {
	found, at := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		switch line = strings.TrimRight(line, "\n"); {
		case len(line) > 2 && line[0] == '%' && line[len(line)-1] == '%':
			at = line[1 : len(line)-1]
		case line != "":
			found[at] = append(found[at], line)
		}
	}
	return found
}

// apk reads the database of apk.
func (r *reader) apk(db *database) bool {
	text := r.text("/lib/apk/db/installed")
	if text == "" {
		text = r.text("/usr/lib/apk/db/installed")
	}
	if text == "" {
		return false
	}
	db.manager = "apk"
	world := map[string]bool{}
	for word := range strings.FieldsSeq(r.text("/etc/apk/world")) {
		if at := strings.IndexAny(word, "<>=~@"); at >= 0 {
			word = word[:at]
		}
		world[word] = true
	}
	name, dir, file := "", "", ""
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ":")
		switch key {
		case "P":
			name, dir, file = value, "", ""
			db.packages[name] = &installed{asked: world[name], base: name == "alpine-base"}
		case "V":
			if p := db.packages[name]; p != nil {
				p.version = value
			}
		case "F":
			dir, file = "/"+value, ""
			db.own(name, dir, "")
		case "R":
			file = path.Join(dir, value)
			db.own(name, file, "")
		case "Z":
			if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(value, "Q1")); err == nil && file != "" {
				db.own(name, file, hex.EncodeToString(sum))
			}
		}
	}
	return len(db.packages) > 0
}

// rpmFiles is the question for all files of all packages; configuration files that are not installed (%ghost) have the
// flag 64.
const rpmFiles = `[%{=NAME}\t%{=INSTALLTIME}\t%{FILEFLAGS}\t%{FILEDIGESTS}\t%{FILENAMES}\n]`

// rpm asks rpm for its database.
func (r *reader) rpm(db *database) bool {
	there := slices.ContainsFunc([]string{"/var/lib/rpm", "/usr/lib/sysimage/rpm"}, func(dir string) bool {
		is, err := r.v.IsDirectory(dir)
		return err == nil && is
	})
	if !there {
		return false
	}
	known := func(name, time string) *installed {
		if db.packages[name] == nil {
			db.packages[name] = &installed{since: unixTime(time)}
		}
		return db.packages[name]
	}
	line := func(line string) {
		switch f := strings.SplitN(line, "\t", 5); len(f) {
		case 3:
			known(f[0], f[1]).version = f[2]
		case 5:
			known(f[0], f[1])
			if flags, _ := strconv.Atoi(f[2]); flags&64 == 0 {
				db.own(f[0], f[4], strings.Trim(f[3], "0 "))
			} else {
				db.own(f[0], f[4], "")
			}
		}
	}
	if !r.ask(line, "rpm", "-qa", "--queryformat", `%{NAME}\t%{INSTALLTIME}\t%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\n`) || len(db.packages) == 0 {
		return false
	}
	r.ask(line, "rpm", "-qa", "--queryformat", rpmFiles)
	delete(db.packages, "gpg-pubkey")
	if is, err := r.v.IsDirectory("/var/lib/zypp"); err == nil && is {
		db.manager = "zypper"
		auto := map[string]bool{}
		for _, name := range settings(r.text("/var/lib/zypp/AutoInstalled")) {
			auto[name] = true
		}
		for name, p := range db.packages {
			p.asked = !auto[name]
		}
	} else {
		db.manager = "dnf"
		asked := func(name string) {
			if p := db.packages[strings.TrimSpace(name)]; p != nil {
				p.asked = true
			}
		}
		if !r.ask(asked, "dnf", "-q", "-C", "--disablerepo=*", "repoquery", "--userinstalled", "--queryformat", `%{name}\n`) {
			r.leave("packages", "dnf did not list the packages installed by request")
		}
	}
	db.scripts = func() string {
		var all strings.Builder
		r.ask(func(line string) { all.WriteString(line + "\n") }, "rpm", "-qa", "--queryformat", `%{PREIN}\n%{POSTIN}\n`)
		return all.String()
	}
	return true
}

// ask runs a command that only looks, and calls line for each line of its output.
func (r *reader) ask(line func(string), argv ...string) bool {
	ctx, cancel := context.WithTimeout(r.ctx, time.Minute)
	defer cancel()
	res, err := r.v.Query(ctx, host.Cmd{Argv: argv, OnLine: line})
	return err == nil && res.Code == 0
}

func unixTime(text string) time.Time {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}
