package machine

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"strings"
)

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
	db.scripts = func() string { return alpineAccounts + r.text("/lib/apk/db/scripts.tar") } // not compressed
	world := map[string]bool{}                                                               // by name: whether a version holds it
	for word := range strings.FieldsSeq(r.text("/etc/apk/world")) {
		name, held := word, false
		if at := strings.IndexAny(word, "<>=~@"); at >= 0 {
			// "name><Q1..." has the digest of the package file that was installed.
			name, held = word[:at], !strings.HasPrefix(word[at:], "><") && strings.ContainsAny(word, "<>=~")
		}
		world[name] = held
	}
	var p *installed
	name, dir, file := "", "", ""
	ask := func(as string) {
		if held, asked := world[as]; p != nil && asked {
			p.asked, p.held = true, p.held || held
		}
	}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ":")
		switch key {
		case "P":
			name, dir, file = value, "", ""
			p = &installed{base: name == "alpine-base"}
			db.packages[name] = p
			ask(name)
		case "V":
			if p != nil {
				p.version = value
			}
		case "p": // what it provides, which the world may name instead
			for word := range strings.FieldsSeq(value) {
				word, _, _ = strings.Cut(word, "=")
				ask(word)
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

// alpineAccounts are accounts in the files that alpine-baselayout brings.
const alpineAccounts = "abuild guest ntp ping users utmp\n"
