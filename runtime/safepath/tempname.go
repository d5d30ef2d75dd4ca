package safepath

import (
	"crypto/rand"
	"strings"
)

// HiddenName returns the name of a hidden file: a dot, base, shortened if necessary, and suffix.
func HiddenName(base, suffix string) string {
	return "." + base[:min(len(base), 255-len(suffix)-1)] + suffix
}

// RandomName is HiddenName with a part that cannot be guessed, for a directory in which other users may create files.
func RandomName(base, suffix string) string {
	return HiddenName(base, suffix+"."+rand.Text())
}

// RandomPrefix returns the part of RandomName before the random part.
func RandomPrefix(base, suffix string) string {
	name := RandomName(base, suffix)
	return name[:len(name)-len(rand.Text())]
}

// IsRandomName reports whether a name can be a result of RandomName with that suffix.
func IsRandomName(name, suffix string) bool {
	at := strings.LastIndex(name, suffix+".")
	if at < 1 || name[0] != '.' {
		return false
	}
	end := name[at+len(suffix)+1:]
	return len(end) == len(rand.Text()) && strings.Trim(end, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}
