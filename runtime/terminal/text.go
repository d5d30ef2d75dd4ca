package terminal

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/rivo/uniseg"
)

// A Text is text that is safe to write to a terminal. Only this package makes one.
type Text struct{ s string }

// String returns the text.
func (t Text) String() string { return t.s }

// A Style is the look of text, as the parameters of its control sequence (SGR).
type Style string

// The styles.
const (
	Bold   Style = "1"
	Faint  Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Blue   Style = "34"
	Purple Style = "35"
	Cyan   Style = "36"
)

// Paint returns t in a style. An empty Text stays empty.
func (s Style) Paint(t Text) Text {
	if s == "" || t.s == "" {
		return t
	}
	return Text{"\x1b[" + string(s) + "m" + t.s + "\x1b[0m"}
}

// On returns the style, or no style if wanted is false.
func (s Style) On(wanted bool) Style {
	if wanted {
		return s
	}
	return ""
}

// LineText returns [Line] of a text as a Text.
func LineText(s string) Text { return Text{Line(s)} }

// LinesText returns [Lines] of a text as a Text.
func LinesText(s string) Text { return Text{Lines(s)} }

// IndentedText returns [Indented] of a text as a Text.
func IndentedText(s, indent string) Text { return Text{Indented(s, indent)} }

// Concat returns texts one after the other.
func Concat(list ...Text) Text { return Join(list, "") }

// Join returns texts with sep between them, which is escaped.
func Join(list []Text, sep string) Text {
	parts := make([]string, len(list))
	for i, t := range list {
		parts[i] = t.s
	}
	return Text{strings.Join(parts, Lines(sep))}
}

// Sprintf formats as [fmt.Sprintf] does. The format must be a literal; each argument that is not a Text is escaped as
// [Line] does.
func Sprintf(format string, args ...any) Text {
	if false {
		_ = fmt.Sprintf(format, args...) // lets vet check the calls
	}
	return Text{string(appendf(nil, format, args))}
}

func appendf(b []byte, format string, args []any) []byte {
	var own []any // a copy: args belongs to the caller
	for i, arg := range args {
		if harmless(arg) {
			continue
		}
		if own == nil {
			own = append([]any(nil), args...)
		}
		own[i] = argument{arg}
	}
	if own == nil {
		own = args
	}
	return fmt.Appendf(b, format, own...)
}

// harmless reports whether an argument never needs escapes.
func harmless(arg any) bool {
	switch x := arg.(type) {
	case string:
		return firstSpecial(x, false) < 0
	case nil, Text, bool, int, int64, uint64, float64:
		return true
	case error, fmt.Stringer, fmt.Formatter:
		return false
	}
	switch v := reflect.ValueOf(arg); v.Kind() {
	case reflect.String:
		return firstSpecial(v.String(), false) < 0
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return true // as a number: %c is not used
	}
	return false
}

// An argument escapes its value when it is formatted.
type argument struct{ value any }

// Format implements fmt.Formatter. It escapes text before it is padded to a width.
func (a argument) Format(s fmt.State, verb rune) {
	if text, ok := a.value.([]byte); ok && verb == 's' {
		a.value = string(text) // as in fmt: bytes are text, not a list of numbers
	}
	if (verb == 's' || verb == 'v') && !s.Flag('+') && !s.Flag('#') {
		fmt.Fprintf(s, fmt.FormatString(s, 's'), Line(fmt.Sprint(a.value)))
		return
	}
	_, _ = io.WriteString(s, Line(fmt.Sprintf(fmt.FormatString(s, verb), a.value)))
}

// Fprint writes texts to w. If w is not a Printer, such as a buffer, it gets the texts with their styles.
func Fprint(w io.Writer, list ...Text) (n int, err error) {
	var text Text
	if len(list) == 1 {
		text = list[0]
	} else {
		text = Concat(list...)
	}
	if p, ok := w.(Printer); ok {
		return p.Print(text)
	}
	return io.WriteString(w, text.s)
}

// Fprintf writes what [Sprintf] returns to w.
func Fprintf(w io.Writer, format string, args ...any) (n int, err error) {
	if false {
		_ = fmt.Sprintf(format, args...) // lets vet check the calls
	}
	return Fprint(w, Text{string(appendf(nil, format, args))})
}

// Width returns the columns that a text takes on a terminal.
func Width(t Text) int { return uniseg.StringWidth(t.s) }

// Cut shortens a text without styles to a number of columns. A shortened text ends in "...", if there is room.
func Cut(t Text, columns int) Text {
	const end = "..."
	if Width(t) <= columns {
		return t
	}
	room := max(0, columns-len(end))
	taken, used := 0, 0
	for g := uniseg.NewGraphemes(t.s); g.Next() && used+g.Width() <= room; {
		used += g.Width()
		_, taken = g.Positions()
	}
	return Text{t.s[:taken] + end[:max(0, min(len(end), columns))]}
}

// A Buffer collects Texts. The zero Buffer is empty.
type Buffer struct{ b []byte }

// Reset empties the buffer.
func (b *Buffer) Reset() { b.b = b.b[:0] }

// Printf appends what [Sprintf] returns.
func (b *Buffer) Printf(format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...) // lets vet check the calls
	}
	b.b = appendf(b.b, format, args)
}

// Print appends texts.
func (b *Buffer) Print(list ...Text) {
	for _, t := range list {
		b.b = append(b.b, t.s...)
	}
}

// Text returns the content.
func (b *Buffer) Text() Text { return Text{string(b.b)} }
