package machine

import (
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// addressIn returns the first address of IPv4 in a text that is not one of every machine, "" if there is none.
func addressIn(text string) string {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c != '.' && (c < '0' || c > '9') }) {
		f := strings.Split(word, ".")
		ok := len(f) == 4 && f[0] != "127" && f[0] != "0" && f[0] != "255"
		for _, part := range f {
			n, err := strconv.Atoi(part)
			ok = ok && err == nil && n < 256
		}
		if ok {
			return word
		}
	}
	return ""
}

// perMachine returns what in a text differs between machines, "" if nothing was found.
func perMachine(text string, v *host.View) string {
	name, _ := v.ReadText("/etc/hostname", largestFile)
	if name = firstWord(name); len(name) > 2 && isPlain(name) && containsWord(text, name) {
		return "the host name"
	}
	if addr := addressIn(text); addr != "" {
		return "the address " + addr
	}
	return ""
}

// containsWord reports whether a text contains a word, not as a part of another one.
func containsWord(text, word string) bool {
	isPart := func(c byte) bool {
		return c == '-' || c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !isPart(text[i-1])) && (end == len(text) || !isPart(text[end])) {
			return true
		}
		from = i + 1
	}
}
