package secret

import (
	"strings"
	"unicode/utf8"
)

// Conceal masks the content of a file before and after a change. The old content may hold
// an earlier secret, which the Keeper does not know. So removed lines are masked too: the
// part in the place of the secret of an added line that is otherwise the same, or else the
// whole line. With all set, unchanged lines are masked as well. Content that is not text
// is returned as it is.
func (k *Keeper) Conceal(have, want string, all bool) (shownHave, shownWant string) {
	if !isText(have) || !isText(want) {
		return have, want
	}
	wanted, known := k.lines(want), make(map[string]string)
	there := make(map[string]bool)
	for line := range strings.Lines(have) {
		there[body(line)] = true
	}
	var come []maskedLine // added lines with a secret
	for _, l := range wanted {
		old, twice := known[l.text]
		if !twice || old == l.text {
			known[l.text] = l.maskedText
		}
		if !there[l.text] && l.hasSecret {
			come = append(come, l)
		}
	}
	var a, b strings.Builder
	for line := range strings.Lines(want) {
		text := body(line)
		shown := known[text]
		if all && there[text] {
			shown = k.maskLine(text)
		}
		b.WriteString(shown + line[len(text):])
	}
	for line := range strings.Lines(have) {
		text := body(line)
		shown, stays := known[text]
		switch {
		case stays && all:
			shown = k.maskLine(text)
		case !stays:
			shown = k.maskRemoved(text, come)
		}
		a.WriteString(shown + line[len(text):])
	}
	return a.String(), b.String()
}

// maskLine masks a line as a whole, unless it has no content.
func (k *Keeper) maskLine(line string) string {
	if strings.TrimSpace(line) == "" {
		return line
	}
	return k.Mask(line)
}

// maskRemoved masks a removed line that may hold an earlier secret.
func (k *Keeper) maskRemoved(line string, come []maskedLine) string {
	for _, l := range come {
		if len(line) > len(l.before)+len(l.after) && strings.HasPrefix(line, l.before) && strings.HasSuffix(line, l.after) && l.before+l.after != "" {
			return l.before + k.Mask(line[len(l.before):len(line)-len(l.after)]) + l.after
		}
	}
	return k.maskLine(line)
}

// A maskedLine is a line and its masked form.
type maskedLine struct {
	text, maskedText string
	hasSecret        bool
	// before and after are the text before the first secret and behind the last one.
	before, after string
}

// lines returns the lines of a text. A secret of several lines is masked in each.
func (k *Keeper) lines(text string) (out []maskedLine) {
	spans := k.spansOf(text)
	at := 0
	for line := range strings.Lines(text) {
		from, to := at, at+len(body(line))
		at += len(line)
		l := maskedLine{text: text[from:to]}
		var b strings.Builder
		done := from
		for len(spans) > 0 && spans[0].from < to {
			s := spans[0]
			if s.to > from {
				begin, end, of := max(s.from, from), min(s.to, to), s.maskText
				if begin > s.from || end < s.to {
					of = text[begin:end]
				}
				if !l.hasSecret {
					l.before = text[from:begin]
				}
				b.WriteString(text[done:begin])
				if strings.TrimSpace(text[begin:end]) != "" {
					b.WriteString(k.Mask(of))
					l.hasSecret = true
				} else {
					b.WriteString(text[begin:end])
				}
				l.after, done = text[end:to], end
			}
			if s.to > to {
				break // it goes on in the next line
			}
			spans = spans[1:]
		}
		l.maskedText = b.String() + text[done:to]
		out = append(out, l)
	}
	return out
}

// body returns a line without its end.
func body(line string) string { return strings.TrimSuffix(line, "\n") }

func isText(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }
