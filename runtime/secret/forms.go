package secret

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/terminal"
)

// formsOf returns the forms in which programs write a secret, and those of its lines if it
// has several. Each has at least [Shortest] bytes.
func formsOf(value string) []form {
	var out []form
	seen := make(map[string]bool)
	add := func(of string, texts ...string) {
		for _, t := range texts {
			if len(t) >= Shortest && !seen[t] {
				seen[t] = true
				out = append(out, form{text: t, maskText: of, value: value})
			}
		}
	}
	add(value, value)
	add(value, quotations(value)...)
	add(value, encodings(value)...)
	add(value, strings.ToUpper(value), strings.ToLower(value))
	add(value, digestsOf(value)...)
	add(value, digestsOf(value+"\n")...)
	said := echoEscapes.Replace(value)
	add(value, said)
	for _, text := range []string{value, said} {
		if !strings.Contains(text, "\n") {
			continue
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); !hasContent(line) {
				continue
			}
			add(line, line)
			add(line, quotations(line)...)
			add(line, encodings(line)...)
		}
	}
	return out
}

// echoEscapes replaces the escapes that echo(1) of some shells replaces.
var echoEscapes = strings.NewReplacer(`\\`, `\`, `\a`, "\a", `\b`, "\b", `\f`, "\f", `\n`, "\n", `\r`, "\r", `\t`, "\t", `\v`, "\v")

// hasContent reports whether a line of a secret is worth masking.
func hasContent(line string) bool {
	return len(line) >= Shortest && strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// quoters are the ways in which programs quote texts, without the quotes.
var quoters = []func(string) string{
	func(s string) string { return jsonQuoted(s, false) },
	func(s string) string { return jsonQuoted(s, true) },
	func(s string) string { return withoutQuotes(strconv.Quote(s)) },
	func(s string) string { return withoutQuotes(strconv.QuoteToASCII(s)) },
	func(s string) string { return strings.ReplaceAll(s, "'", `'\''`) },
	func(s string) string { return strings.ReplaceAll(s, "'", "''") },
	func(s string) string { return strings.ReplaceAll(s, "'", `\'`) },
	func(s string) string { return strings.ReplaceAll(s, `"`, `""`) },
	func(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) },
	func(s string) string {
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s)
	},
	luaQuoted,
	func(s string) string { return luaEscaped(s, '"') },
	func(s string) string { return luaEscaped(s, '\'') },
	terminal.Line,
	terminal.Lines,
	func(s string) string { return withoutShellQuotes(shellquote.Join(s)) },
}

// quotations returns a text in the quotations of programs, and quoted once more.
func quotations(s string) []string {
	var out []string
	known := map[string]bool{s: true}
	level := []string{s}
	for range 2 {
		var next []string
		for _, text := range level {
			for _, quote := range quoters {
				if q := quote(text); !known[q] {
					known[q] = true
					next = append(next, q)
				}
			}
		}
		out, level = append(out, next...), next
	}
	for _, q := range append(urlForms(s),
		html.EscapeString(s), strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;").Replace(s),
	) {
		if !known[q] {
			known[q] = true
			out = append(out, q)
		}
	}
	return out
}

// urlForms returns a text as escaped in the parts of a URL, each of which escapes other
// characters.
func urlForms(s string) (out []string) {
	path, fragment := url.URL{Path: "/" + s}, url.URL{Fragment: s}
	all := ""
	for i := range len(s) {
		all += fmt.Sprintf("%%%02X", s[i])
	}
	query := url.QueryEscape(s)
	for _, q := range []string{
		query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(s), strings.TrimPrefix(path.EscapedPath(), "/"), fragment.EscapedFragment(),
		strings.TrimPrefix(url.UserPassword("", s).String(), ":"),
		componentEscape(s, "!'()*"), componentEscape(s, "!'()*;/?:@&=+$,#"), all,
	} {
		out = append(out, q)
		if lower := lowerEscapes(q); lower != q {
			out = append(out, lower)
		}
	}
	return out
}

// lowerEscapes returns a text with the escapes of a URL in lower case.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], bytes.ToLower(b[i:i+3]))
		}
	}
	return string(b)
}

// componentEscape escapes for a URL what is neither a letter, a digit, one of -_.~
// nor one of plain, as encodeURIComponent and encodeURI of JavaScript do.
func componentEscape(s, plain string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~"+plain, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func withoutQuotes(s string) string { return s[1 : len(s)-1] }

// withoutShellQuotes removes the quotes around a word.
func withoutShellQuotes(s string) string {
	if len(s) > 2 && s[0] == '\'' && s[len(s)-1] == '\'' {
		return withoutQuotes(s)
	}
	return s
}

func jsonQuoted(s string, forHTML bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(forHTML)
	if enc.Encode(s) != nil {
		return s
	}
	return withoutQuotes(strings.TrimSuffix(b.String(), "\n"))
}

// luaQuoted is %q of string.format.
func luaQuoted(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", "\\\n", "\r", `\r`, "\x00", `\000`).Replace(s)
}

// luaEscaped returns a string as inspect writes it, in one kind of quotes.
func luaEscaped(s string, quote byte) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == quote || c == '\\':
			b.WriteString(`\` + string(c))
		case c >= ' ' && c != 127:
			b.WriteByte(c)
		case c >= '\a' && c <= '\r':
			b.WriteString(`\` + "abtnvfr"[c-'\a':][:1])
		case i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
			fmt.Fprintf(&b, `\%03d`, c)
		default:
			fmt.Fprintf(&b, `\%d`, c)
		}
	}
	return b.String()
}

// base64Widths are the widths at which programs break lines of base64.
var base64Widths = []int{64, 76}

// encodings returns a text in base64, as the whole and as a part of something
// longer, and in hexadecimal.
func encodings(s string) []string {
	out := []string{hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s)))}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := enc.EncodeToString(append(make([]byte, before), s...))
			// The first and last characters hold bits of the neighboring bytes.
			part := text[(8*before+5)/6 : 8*(before+len(s))/6]
			out = append(out, part)
			for _, width := range base64Widths {
				for at := width; before == 0 && at-width < len(part) && len(part) > width; at += width {
					out = append(out, part[at-width:min(at, len(part))])
				}
			}
		}
	}
	return out
}

// digestsOf returns the SHA-256 of a text and the part of it in reports. A weak secret can be
// guessed from either.
func digestsOf(s string) []string {
	sum := sha256.Sum256([]byte(s))
	return []string{hex.EncodeToString(sum[:]), hex.EncodeToString(sum[:8])}
}
