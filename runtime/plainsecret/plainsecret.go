// Package plainsecret finds likely secrets in plain text in a directory tree: private keys, tokens of well-known
// services, passwords that are assigned to a name or are part of a URL, and decrypted copies beside encrypted files.
//
// It guesses by form and by name, so it misses secrets and reports harmless text. It skips lines with the comment
// "ccm: ignore". A finding never contains the secret.
//
// Begin with [Scan], or with [Text] for one file.
package plainsecret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// Largest limits the part of a file that is searched, in bytes.
const Largest = 8 << 20

// A Finding is the position of a likely secret in plain text.
type Finding struct {
	// File is the path of the file, with slashes.
	File string `json:"file"`
	// Line and Column are its start, Column in bytes, both from 1; Length is its length in bytes within the line.
	Line   int `json:"line"`
	Column int `json:"column"`
	Length int `json:"length"`
	// Kind is a description, such as "a private key".
	Kind string `json:"kind"`
	// Name is the key that it is assigned to, "" if it was found by its form.
	Name string `json:"name,omitempty"`
}

// Message returns the finding on one line, without its position.
func (f Finding) Message() string {
	if f.Name != "" {
		return fmt.Sprintf("%s looks like a plain secret", f.Name)
	}
	return fmt.Sprintf("this looks like %s", f.Kind)
}

// String returns the position and the message.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message())
}

// Scan searches all regular files of a tree in the order of their paths, without those that skip reports; a nil skip
// skips only directories named .git. Links are not followed.
func Scan(root fs.FS, skip func(path string, dir bool) bool) ([]Finding, error) {
	var found []Finding
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name != "." && (entry.Name() == ".git" || skip != nil && skip(name, true)) {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular() || skip != nil && skip(name, false):
			return nil
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		var content strings.Builder
		_, err = io.Copy(&content, io.LimitReader(f, Largest))
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		text := content.String()
		inside := Text(name, text)
		if sealed, err := fs.Stat(root, name+".age"); err == nil && sealed.Mode().IsRegular() && len(inside) == 0 && !encrypted(text) {
			inside = []Finding{{File: name, Line: 1, Column: 1, Kind: "the plain text of " + path.Base(name) + ".age"}}
		}
		found = append(found, inside...)
		return nil
	})
	return found, err
}

// A token is a form of text that only secrets have.
type token struct {
	kind string
	// hints are parts of such texts; each text has one of them. Only files and lines with one are matched: that takes
	// about 4 µs for a line.
	hints []string
	form  func() *regexp.Regexp
}

// in reports whether a text may have the token.
func (t token) in(text string) bool {
	return slices.ContainsFunc(t.hints, func(hint string) bool { return strings.Contains(text, hint) })
}

// tokens are the forms that services document for their tokens, and the forms of private keys.
var tokens = []token{
	{"a private key", []string{"PRIVATE KEY"}, lazyregexp.New(`-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----`)},
	{"a private key of age", []string{"AGE-"}, lazyregexp.New(`\bAGE-(?:SECRET-KEY-(?:PQ-)?|PLUGIN-[A-Z0-9-]+-)1[02-9AC-HJ-NP-Z]{20,}`)},
	{"a private key of PuTTY", []string{"PuTTY-User-Key-File"}, lazyregexp.New(`PuTTY-User-Key-File-[0-9]+:`)},
	{"an access key of AWS", []string{"AKIA", "ASIA"}, lazyregexp.New(`\b(?:AKIA|ASIA)[A-Z2-7]{16}\b`)},
	{"a token of GitHub", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, lazyregexp.New(`\bgh[pousr]_[A-Za-z0-9]{36,}\b`)},
	{"a token of GitHub", []string{"github_pat_"}, lazyregexp.New(`\bgithub_pat_[A-Za-z0-9_]{60,}\b`)},
	{"a token of GitLab", []string{"glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-"}, lazyregexp.New(`\bgl(?:pat|dt|rt|cbt|ptt|soat)-[A-Za-z0-9_-]{20,}`)},
	{"a token of Slack", []string{"xox"}, lazyregexp.New(`\bxox[abeoprs]-[A-Za-z0-9-]{20,}`)},
	{"a key of Stripe", []string{"_live_"}, lazyregexp.New(`\b[rs]k_live_[A-Za-z0-9]{20,}`)},
	{"a key of Google", []string{"AIza"}, lazyregexp.New(`\bAIza[A-Za-z0-9_-]{35}`)},
	{"a token of npm", []string{"npm_"}, lazyregexp.New(`\bnpm_[A-Za-z0-9]{36}\b`)},
	{"a token of PyPI", []string{"pypi-"}, lazyregexp.New(`\bpypi-[A-Za-z0-9_-]{50,}`)},
	{"a token of Vault", []string{"hvb.", "hvs."}, lazyregexp.New(`\bhv[bs]\.[A-Za-z0-9_-]{24,}`)},
	{"a token of DigitalOcean", []string{"_v1_"}, lazyregexp.New(`\bdo[opr]_v1_[a-f0-9]{64}\b`)},
	{"a signed token (JWT)", []string{"eyJ"}, lazyregexp.New(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`)},
	{"a seed of NATS", []string{"SA", "SN", "SO", "SU", "SX", "SC"}, lazyregexp.New(`\bS[ANOUXC][A-Z2-7]{56}\b`)},
	{"a password hash", []string{"$y$", "$gy$", "$5$", "$6$", "$2a$", "$2b$", "$2y$"}, lazyregexp.New(`\$(?:y|gy|5|6|2[aby])\$[./A-Za-z0-9$=,]{40,}`)},
}

// urlPassword matches a URL with a password, which is the group.
var urlPassword = lazyregexp.New(`\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@"'<>]{0,100}:([^\s/@"'<>]{3,200})@[A-Za-z0-9\[]`)

// assignment matches a name typical of secrets and the value that is assigned to it, in Lua, YAML, JSON, TOML, INI
// files and shell variables.
var assignment = lazyregexp.New(`(?i)(?:^|[\s,{(\[;"'])([\w.-]*?(?:passw(?:or)?d|passphrase|pass_?phrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|[_-]pass|\bpw))["']?\]?\s*(?::=|[:=])\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"',;#}{\[\]()]+)`)

// assignedNames are the ends of all names that assignment matches, in lower case.
var assignedNames = []string{"passwd", "password", "passphrase", "pass_phrase", "secret", "token", "key", "credential", "credentials", "pass", "pw"}

// firstAssignment returns the index from which a line is to be matched with assignment, or -1 if it does not match: the
// start of the first name with such an end before a colon or an equals sign. Matching whole lines takes 15 to 30 µs each.
func firstAssignment(line string) int {
	for from := 0; ; from++ {
		i := strings.IndexAny(line[from:], ":=")
		if i < 0 {
			return -1
		}
		from += i
		name := strings.TrimSuffix(strings.TrimRight(line[:from], "\t\n\f\r "), "]")
		if name != "" && strings.Contains(`"'`, name[len(name)-1:]) {
			name = name[:len(name)-1]
		}
		if slices.ContainsFunc(assignedNames, func(end string) bool {
			return len(name) >= len(end) && strings.EqualFold(name[len(name)-len(end):], end)
		}) {
			return max(0, strings.LastIndexFunc(name, func(r rune) bool {
				return r != '_' && r != '.' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
			}))
		}
	}
}

// marked matches a literal that is marked as a secret: secret "x" in Lua, !secret x and {sensitive: true, value: x}
// in YAML. ccm hides it in reports, but the file has it in plain text.
var marked = lazyregexp.New(`(?:^|[^.:\w])secret\s*\(?\s*("(?:[^"\\]|\\.)*"|'[^']*')|!secret\s+("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"';#}{()|>]+)|\bsensitive["']?\s*:\s*true\s*,\s*["']?value["']?\s*:\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"',;#}{\[\]()]+)`)

// firstMark returns the index from which a line is to be matched with marked, or -1 if it does not match: the character
// before the first of its words.
func firstMark(line string) int {
	first := len(line) + 1
	for _, word := range []string{"secret", "sensitive"} {
		if i := strings.Index(line[:min(first, len(line))], word); i >= 0 {
			first = i
		}
	}
	if first > len(line) {
		return -1
	}
	return max(0, first-1)
}

// Text searches one file. name is used for findings, and its suffix determines whether an unquoted word can be a value.
func Text(name, text string) []Finding {
	var found []Finding
	binary := strings.IndexByte(text[:min(len(text), 8000)], 0) >= 0
	if encrypted(text) {
		return nil
	}
	forms := slices.DeleteFunc(slices.Clone(tokens), func(t token) bool {
		return binary && !strings.Contains(t.kind, "private key") || !t.in(text)
	})
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.Contains(line, "ccm: ignore") {
			continue
		}
		for _, f := range inLine(name, line, forms, binary) {
			f.File, f.Line = name, number
			found = append(found, f)
		}
	}
	return found
}

// encrypted reports whether a text is an age file.
func encrypted(text string) bool {
	return strings.HasPrefix(text, "age-encryption.org/v1\n") ||
		strings.HasPrefix(strings.TrimLeft(text[:min(len(text), 200)], " \t\r\n"), "-----BEGIN AGE ENCRYPTED FILE-----")
}

// inLine searches one line, for those tokens and, unless the file is binary, for passwords.
func inLine(name, line string, forms []token, binary bool) []Finding {
	var found []Finding
	add := func(f Finding, from, to int) {
		for _, other := range found {
			if from < other.Column-1+other.Length && other.Column-1 < to {
				return
			}
		}
		f.Column, f.Length = from+1, to-from
		found = append(found, f)
	}
	for _, t := range forms {
		if !t.in(line) {
			continue
		}
		for _, m := range t.form().FindAllStringIndex(line, -1) {
			add(Finding{Kind: t.kind}, m[0], m[1])
		}
	}
	if binary {
		return found
	}
	if _, rest, is := strings.Cut(line, "://"); is && strings.Contains(rest, "@") {
		for _, m := range urlPassword().FindAllStringSubmatchIndex(line, -1) {
			if !placeholder(line[m[2]:m[3]]) {
				add(Finding{Kind: "a password in a URL"}, m[2], m[3])
			}
		}
	}
	ext := path.Ext(name)
	if ext == ".md" || !strings.ContainsAny(line, ":=") || len(line) > 16<<10 {
		return found
	}
	if from := firstMark(line); from >= 0 {
		for _, m := range marked().FindAllStringSubmatchIndex(line[from:], -1) {
			for i := 2; i < len(m); i += 2 {
				if m[i] < 0 || comment(line[:from+m[i]], ext) {
					continue
				}
				if value := strings.Trim(line[from+m[i]:from+m[i+1]], `"'`); len(value) > 0 && !placeholder(value) {
					add(Finding{Kind: "a plain secret"}, from+m[i], from+m[i+1])
				}
			}
		}
	}
	from := firstAssignment(line)
	if from < 0 {
		return found
	}
	for _, m := range assignment().FindAllStringSubmatchIndex(line[from:], -1) {
		key, value := line[from+m[2]:from+m[3]], line[from+m[4]:from+m[5]]
		quoted := value[0] == '"' || value[0] == '\''
		if quoted {
			value = value[1 : len(value)-1]
		} else if !words[ext] {
			continue // a variable or a type
		}
		if !utf8.ValidString(value) || len(value) < 4 || placeholder(value) || comment(line[:from+m[2]], ext) {
			continue
		}
		add(Finding{Kind: "a plain secret", Name: key}, from+m[4], from+m[5])
	}
	return found
}

// words are the suffixes of files in which an unquoted word is a string.
var words = map[string]bool{".yaml": true, ".yml": true, ".env": true, ".ini": true, ".conf": true, ".cfg": true, ".properties": true, ".cnf": true}

// comment reports whether a match is in a comment, given the part of its line before it.
func comment(before, ext string) bool {
	mark := "#"
	switch ext {
	case ".lua":
		mark = "--"
	case ".json", ".js", ".go", ".c":
		mark = "//"
	}
	return strings.HasPrefix(strings.TrimSpace(before), mark)
}

// placeholder reports whether a text is a reference to a secret, or stands for one.
func placeholder(value string) bool {
	if strings.ContainsAny(value[:1], "$%{<[@/&*!|>~") || strings.ContainsAny(value, " \t") && !strings.ContainsAny(value, "0123456789") {
		return true
	}
	for _, mark := range []string{"${", "{{", "[[", "ENC[", "(secret ", "%(", "data.", "env.", "secret.", "...", "***", "xxx", "XXX"} {
		if strings.Contains(value, mark) {
			return true
		}
	}
	switch strings.ToLower(value) {
	case "true", "false", "null", "none", "nil", "string", "required", "optional", "present", "absent", "secret", "password", "token", "changeme", "example", "disabled", "enabled":
		return true
	}
	return false
}
