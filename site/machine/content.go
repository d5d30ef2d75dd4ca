package machine

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/plainsecret"
	"github.com/luaccm/ccm/runtime/safepath"
)

// content is a file of the machine, as it was read.
type content struct {
	safepath.Info
	text   []byte
	secret string // why it is a secret, or ""
	err    error
}

// readContents reads the files of the items, and finds the secrets in them: what is a secret in one file is one in all.
func (w *Writer) readContents(s *Scan) {
	known := map[string]bool{}
	total := 0
	for _, i := range s.Items {
		if i.Kind != File && i.Kind != Unit || i.Removed || i.Path == "" {
			continue
		}
		c := w.readFile(i.Path)
		if total += len(c.text); total > largestCompared {
			c.text, c.err = nil, ownReason(fmt.Sprintf("the files of a site have at most %d bytes", largestCompared))
		}
		w.read[i.Path] = c
		if c.err != nil {
			continue
		}
		text := string(c.text)
		if original, ok := w.original(i); ok { // what its package ships is no secret
			text = newLines(text, string(original))
		}
		if c.secret = secretFile(i.Path, c.Mode, text); c.secret == "" && w.Sensitive != nil && w.Sensitive(i.Path) {
			c.secret = "held secrets in earlier runs"
		}
		if c.secret != "" {
			for _, value := range secretValues(text) {
				known[value] = true
			}
		}
	}
	for line := range strings.Lines(w.shadow()) {
		if f := strings.Split(line, ":"); len(f) > 1 && len(f[1]) > 8 {
			known[f[1]] = true
		}
	}
	w.known = sortedKeys(known)
	for _, c := range w.read {
		if c.err == nil && c.secret == "" && w.holdsKnown(string(c.text)) {
			c.secret = "holds a secret of another file"
		}
	}
}

// newLines returns the lines of a text that another one does not have.
func newLines(text, original string) string {
	old := map[string]bool{}
	for line := range strings.Lines(original) {
		old[line] = true
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !old[line] {
			b.WriteString(line)
		}
	}
	return b.String()
}

// lowercase are the letters of words: a short value of them may be in any text.
const lowercase = "abcdefghijklmnopqrstuvwxyz"

// secretValues returns the values of a text that look like secrets.
func secretValues(text string) (values []string) {
	for line := range strings.Lines(text) {
		for _, f := range plainsecret.Text("x.conf", strings.TrimLeft(line, "#; \t")) {
			line := strings.TrimLeft(line, "#; \t")
			if value := strings.Trim(line[f.Column-1:min(len(line), f.Column-1+f.Length)], "\"' \t\r\n"); len(value) >= 8 && (len(value) >= 16 || strings.Trim(value, lowercase) != "") {
				values = append(values, value)
			}
		}
		for _, word := range aWord().FindAllString(line, -1) {
			if isToken(word) {
				values = append(values, word)
			}
		}
	}
	return values
}

func (w *Writer) holdsKnown(text string) bool {
	return slices.ContainsFunc(w.known, func(value string) bool { return strings.Contains(text, value) })
}

func (w *Writer) holdsSecret(text string) bool {
	return w.holdsKnown(text) || secretText("", text) != ""
}

// shadow returns /etc/shadow, "" if it cannot be read.
func (w *Writer) shadow() string {
	text, err := w.View.ReadText("/etc/shadow", largestDatabase)
	if err != nil {
		return ""
	}
	return text
}

// errChanged is the reason for a file that changed after the scan had found it.
const errChanged = ownReason("changed while it was read")

// readFile reads a file that stays the same meanwhile.
func (w *Writer) readFile(name string) *content {
	c := new(content)
	if c.Info, c.err = w.View.Lstat(name); c.err != nil {
		return c
	}
	if c.Kind != safepath.Regular {
		c.err = errChanged
		return c
	}
	if c.text, c.err = w.View.ReadUpTo(name, largestFile); c.err != nil {
		return c
	}
	after, err := w.View.Lstat(name)
	if err != nil || after.Ino != c.Ino || after.CTime != c.CTime || after.Size != c.Size {
		c.err = errChanged
	}
	return c
}

// isPlain reports whether a text can be in a script: it has no characters that a terminal acts on.
func isPlain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && c != '\t' && !unicode.IsPrint(c) })
}

// isShowable reports whether a text in a script is shown as it is: control characters are escaped there, unless it has
// several lines.
func isShowable(text string) bool {
	return isPlain(text) || utf8.ValidString(text) && !strings.Contains(text, "\n") &&
		!strings.ContainsFunc(text, func(c rune) bool { return c > 0x7f && !unicode.IsPrint(c) })
}
