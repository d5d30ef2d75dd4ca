package secret

import (
	"strings"
	"unicode/utf8"
)

// Conceal returns the content of a file before and after a change as it may be
// shown. The content before may hold secrets that nobody knows any more: of its
// lines that go, those parts are masked that stand where there is a secret in one
// that comes, or else the whole line. With all set, the lines that stay are masked
// too, unless they hold nothing. What is not text stays as it is.
func (k *Keeper) Conceal(have, want string, all bool) (shownHave, shownWant string) {
	if !isText(have) || !isText(want) {
		return have, want
	}
	wanted, known := k.lines(want), make(map[string]string)
	there := make(map[string]bool)
	for line := range strings.Lines(have) {
		there[body(line)] = true
	}
	var come []shownLine // lines that are new and hold a secret
	for _, l := range wanted {
		old, twice := known[l.text]
		if !twice || old == l.text {
			known[l.text] = l.shown
		}
		if !there[l.text] && l.hidden {
			come = append(come, l)
		}
	}
	var a, b strings.Builder
	for line := range strings.Lines(want) {
		text := body(line)
		shown := known[text]
		if all && there[text] {
			shown = k.wholly(text)
		}
		b.WriteString(shown + line[len(text):])
	}
	for line := range strings.Lines(have) {
		text := body(line)
		shown, stays := known[text]
		switch {
		case stays && all:
			shown = k.wholly(text)
		case !stays:
			shown = k.gone(text, come)
		}
		a.WriteString(shown + line[len(text):])
	}
	return a.String(), b.String()
}

// wholly masks a line that says anything.
func (k *Keeper) wholly(line string) string {
	if strings.TrimSpace(line) == "" {
		return line
	}
	return k.Mask(line)
}

// gone returns how a line is shown that may hold an old secret.
func (k *Keeper) gone(line string, come []shownLine) string {
	for _, l := range come {
		if len(line) > len(l.before)+len(l.after) && strings.HasPrefix(line, l.before) && strings.HasSuffix(line, l.after) && l.before+l.after != "" {
			return l.before + k.Mask(line[len(l.before):len(line)-len(l.after)]) + l.after
		}
	}
	return k.wholly(line)
}

// A shownLine is a line as it is and as it is shown.
type shownLine struct {
	text, shown string
	hidden      bool
	// before and after are what stands before the first and behind the last secret.
	before, after string
}

// lines returns the lines of a text. A secret of several lines is masked in each.
func (k *Keeper) lines(text string) (out []shownLine) {
	spans := k.spansOf(text)
	at := 0
	for line := range strings.Lines(text) {
		from, to := at, at+len(body(line))
		at += len(line)
		l := shownLine{text: text[from:to]}
		var b strings.Builder
		done := from
		for len(spans) > 0 && spans[0].from < to {
			s := spans[0]
			if s.to > from {
				begin, end, of := max(s.from, from), min(s.to, to), s.of
				if begin > s.from || end < s.to {
					of = text[begin:end]
				}
				if !l.hidden {
					l.before = text[from:begin]
				}
				b.WriteString(text[done:begin])
				if strings.TrimSpace(text[begin:end]) != "" {
					b.WriteString(k.Mask(of))
					l.hidden = true
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
		l.shown = b.String() + text[done:to]
		out = append(out, l)
	}
	return out
}

// body returns a line without its end.
func body(line string) string { return strings.TrimSuffix(line, "\n") }

func isText(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }
