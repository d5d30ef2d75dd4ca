package machine

import (
	"slices"
	"strings"
)

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
