package repl

import (
	"strings"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// redacted takes the place of a secret in a stored text.
const redacted = "(secret)"

// secretName matches names that likely stand for secrets.
var secretName = lazyregexp.New(`(?i)(passw(or)?d|passphrase|secret|token|api_?key|private_?key|credential)`)

var (
	// assignment matches NAME=VALUE in a string, as in environments.
	assignment = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)
	// userinfo matches the password in a URL.
	userinfo = lazyregexp.New(`://([^/@:\s"']*):([^/@\s"']+)@`)
)

// Redact removes the secrets from a text of Lua, so that the text can be stored. A string is a
// secret if it is an argument of secret, the value of a property marked as secret, or any value
// whose name suggests a secret. Computed secrets are not recognized.
func Redact(text string, reg *resource.Registry) string {
	c := cursorIn(text, reg.Type)
	tokens := syntax.Lexemes(text)
	if n := len(tokens); n > 0 && tokens[n-1].Kind == syntax.String && tokens[n-1].Open {
		c = cursorIn(text+closingOf(text[tokens[n-1].Start:]), reg.Type)
	}
	var b strings.Builder
	at := 0
	for i, t := range c.tokens {
		if t.Kind != syntax.String {
			continue
		}
		end := min(t.End, len(text))
		s := text[t.Start:end]
		out := redactInside(s)
		if c.secretAt(i, reg) {
			out = `"` + redacted + `"`
		}
		b.WriteString(text[at:t.Start] + out)
		at = end
	}
	return b.String() + text[at:]
}

// closingOf returns the closing delimiter of the string at the beginning of s.
func closingOf(s string) string {
	if s[0] != '[' {
		return s[:1]
	}
	return "]" + strings.Repeat("=", strings.IndexByte(s[1:], '[')) + "]"
}

// redactInside returns a string without the secrets in it.
func redactInside(s string) string {
	s = userinfo().ReplaceAllString(s, "://$1:"+redacted+"@")
	inner := strings.Trim(s, `"'`)
	if m := assignment().FindStringSubmatch(inner); m != nil && secretName().MatchString(m[1]) && inner != s {
		return s[:1] + m[1] + "=" + redacted + s[len(s)-1:]
	}
	return s
}

// secretAt reports whether token i, a string, is a secret.
func (c *cursor) secretAt(i int, reg *resource.Registry) bool {
	switch before := c.tokenText(i - 1); {
	case before == "=" || before == "==" || before == "~=":
		name := c.tokenText(i - 2)
		if name == "]" { // ["password"] =
			name = c.tokenText(i - 3)
		}
		return secretName().MatchString(name) || c.kind(i-2) == syntax.Name && secretProperty(name, reg)
	case c.kind(i-1) == syntax.Name:
		return before == "secret"
	case before == "(":
		return c.tokenText(i-2) == "secret"
	}
	return false
}

// secretProperty reports whether a type has a property of that name which is a
// secret.
func secretProperty(name string, reg *resource.Registry) bool {
	for _, t := range reg.Types() {
		for _, s := range t.Properties() {
			if p := s.Field(name); p != nil && isSecret(p) {
				return true
			}
		}
	}
	return false
}

func isSecret(p *schema.Field) bool { return p.Secret || p.Elem != nil && p.Elem.Secret }
