package facts

import (
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// ParseEnv reads the text of a .env file; file is its name for messages.
//
// A line is KEY=value, with export before it or not, or a comment that begins
// with #. A bare value goes to the end of the line or to a # after a space. In
// 'single quotes' everything is itself. In "double quotes" \n, \r, \t, \", \\,
// \$ and \` are escapes. Quoted text may hold line breaks. Nothing is expanded:
// $HOME is five letters. Of a key that is given twice the last counts.
//
// All mistakes are returned, with the keys that could be read.
func ParseEnv(file, text string) (map[string]string, error) {
	p := &envParser{file: file, text: strings.TrimPrefix(text, "\ufeff"), line: 1, vars: make(map[string]string)}
	for p.at < len(p.text) {
		p.readLine()
	}
	return p.vars, p.errs.Err()
}

type envParser struct {
	file, text string
	at         int // the next byte
	line       int // the number of the line, from 1
	begin      int // the offset of the line's beginning
	vars       map[string]string
	errs       diag.List
}

// readLine reads one assignment, comment or empty line.
func (p *envParser) readLine() {
	p.spaces()
	if !p.ends() && p.text[p.at] != '#' {
		p.assignment()
	}
	p.skipLine()
}

func (p *envParser) assignment() {
	if rest, ok := strings.CutPrefix(p.text[p.at:], "export"); ok && rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		p.at += len("export")
		p.spaces()
	}
	start := p.at
	for !p.ends() && isKeyByte(p.text[p.at], p.at > start) {
		p.at++
	}
	key := p.text[start:p.at]
	p.spaces()
	if key == "" || p.ends() || p.text[p.at] != '=' {
		p.failKey(start)
		return
	}
	p.at++
	p.spaces()
	if val, ok := p.value(); ok {
		p.vars[key] = val
	}
}

// value reads the value behind the =.
func (p *envParser) value() (string, bool) {
	if p.ends() || (p.text[p.at] != '"' && p.text[p.at] != '\'') {
		return p.bare(), true
	}
	val, ok := p.quoted()
	if !ok {
		return "", false
	}
	p.spaces()
	if !p.ends() && p.text[p.at] != '#' {
		p.fail(p.at, "%w", diag.Expected("the end of the line or a # after the closing quote").Got("%q", p.text[p.at:p.at+1]))
		return "", false
	}
	return val, true
}

// bare reads a value without quotes.
func (p *envParser) bare() string {
	start := p.at
	for !p.ends() {
		if p.text[p.at] == '#' && (p.at == start || isBlank(p.text[p.at-1])) {
			break
		}
		p.at++
	}
	return strings.TrimRight(p.text[start:p.at], " \t")
}

// quoted reads a value in quotes.
func (p *envParser) quoted() (string, bool) {
	quote, open := p.text[p.at], p.place(p.at)
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		switch {
		case c == quote:
			p.at++
			return b.String(), true
		case c == '\\' && quote == '"' && p.at+1 < len(p.text):
			p.at++
			b.WriteString(unescape(p.text[p.at]))
			if p.text[p.at] == '\n' {
				p.newLine()
			}
			continue
		case c == '\n':
			p.newLine()
		}
		b.WriteByte(c)
	}
	p.errs = append(p.errs, diag.At(open, diag.Expected("a closing %c", quote).Got("the end of the file")))
	return "", false
}

// unescape returns the character for a backslash and c in double quotes.
func unescape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case '\n':
		return "" // the line continues
	case '"', '\\', '$', '`':
		return string(c)
	}
	return `\` + string(c)
}

// newLine notes that the byte at p.at ends a line.
func (p *envParser) newLine() { p.line, p.begin = p.line+1, p.at+1 }

// ends reports whether the line is over.
func (p *envParser) ends() bool {
	rest := p.text[p.at:]
	return rest == "" || rest[0] == '\n' || strings.HasPrefix(rest, "\r\n") || rest == "\r"
}

func (p *envParser) spaces() {
	for p.at < len(p.text) && isBlank(p.text[p.at]) {
		p.at++
	}
}

// skipLine goes to the beginning of the next line.
func (p *envParser) skipLine() {
	if i := strings.IndexByte(p.text[p.at:], '\n'); i >= 0 {
		p.at += i
		p.newLine()
		p.at++
		return
	}
	p.at = len(p.text)
}

// failKey records that no KEY= begins at a byte. The message does not repeat the rest, which may be a secret value.
func (p *envParser) failKey(start int) {
	line, _, _ := strings.Cut(p.text[start:], "\n")
	before, _, ok := strings.Cut(line, "=")
	if !ok {
		p.fail(start, "%w", diag.Expected("KEY=value").Got("no ="))
		return
	}
	p.fail(start, "%w", diag.Expected("a key of letters, digits and _ that does not begin with a digit").Got("%q", strings.TrimSpace(before)))
}

func (p *envParser) place(at int) diag.Pos {
	return diag.Pos{File: p.file, Line: p.line, Col: at - p.begin + 1}
}

func (p *envParser) fail(at int, format string, args ...any) {
	p.errs = append(p.errs, diag.Errorf(p.place(at), format, args...))
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isKeyByte reports whether c can be part of a key.
func isKeyByte(c byte, inside bool) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || inside && '0' <= c && c <= '9'
}
