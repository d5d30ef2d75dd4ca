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
