package luaapi

import (
	"strings"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// secretLiteral matches a secret that is written in a script.
var secretLiteral = lazyregexp.New(`(?:^|[^.:\w])secret\s*\(?\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\[\[[^\]]*\]\])`)

// HideLiterals returns the text of a script for messages, with stars instead of literal arguments
// of secret. Positions stay valid.
func HideLiterals(text string) string {
	if !strings.Contains(text, "secret") {
		return text
	}
	out := []byte(text)
	for _, m := range secretLiteral().FindAllStringSubmatchIndex(text, -1) {
		for i := m[2] + 1; i < m[3]-1; i++ {
			if out[i] != '\n' {
				out[i] = '*'
			}
		}
	}
	return string(out)
}

// shown returns the text of a file for messages.
func (in *Interp) shown(file string) (string, bool) {
	text, ok := in.source.text(file)
	if !ok {
		return "", false
	}
	return in.opts.Secrets.Stars(HideLiterals(text)), true
}
