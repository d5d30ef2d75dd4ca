package safepath

import (
	"crypto/rand"
	"strings"
)

// HiddenName returns the name beside a file that has a suffix.
func HiddenName(base, suffix string) string {
	return "." + base[:min(len(base), 255-len(suffix)-1)] + suffix
}

// RandomName is hiddenName for a directory in which others may make names: it cannot be
// guessed.
func RandomName(base, suffix string) string {
	return HiddenName(base, suffix+"."+rand.Text())
}

// RandomPrefix returns how the random names beside a file begin.
func RandomPrefix(base, suffix string) string {
	name := RandomName(base, suffix)
	return name[:len(name)-len(rand.Text())]
}

// IsRandomName reports whether a name is one of randomName.
func IsRandomName(name, suffix string) bool {
	at := strings.LastIndex(name, suffix+".")
	if at < 1 || name[0] != '.' {
		return false
	}
	end := name[at+len(suffix)+1:]
	return len(end) == len(rand.Text()) && strings.Trim(end, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}
