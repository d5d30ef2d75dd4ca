package terminal

import (
	"io"
	"sync"
	"unicode/utf8"
)

// A Printer takes Texts.
type Printer interface {
	Print(t Text) (int, error)
}

// A Writer writes to a terminal, or to what people read later. Bytes that are
// written to it are taken for text from outside, of several lines; a Text passes as
// it is. It is safe for use by several goroutines.
type Writer struct {
	w  io.Writer
	mu sync.Mutex
	// incomplete is the beginning of a character of which the rest may come.
	incomplete string
	// makeWay is called before anything is written, and what it returns after; may be nil.
	makeWay func() func()
}

var _ Printer = (*Writer)(nil)

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Unwrap returns what is written to. It is for data that programs read.
func (w *Writer) Unwrap() io.Writer { return w.w }

// Before has makeWay called before anything is written, to remove what stands in its
// place, and what it returns after.
func (w *Writer) Before(makeWay func() func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.makeWay = makeWay
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.makeWay != nil {
		defer w.makeWay()()
	}
	text := w.incomplete + string(p)
	end := len(text) - begun(text)
	w.incomplete = text[end:]
	if _, err := io.WriteString(w.w, Lines(text[:end])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// begun returns how many bytes at the end of a text are the beginning of a
// character.
func begun(text string) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if rest := text[len(text)-n:]; utf8.RuneStart(rest[0]) {
			if utf8.FullRuneInString(rest) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Print implements Printer.
func (w *Writer) Print(t Text) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.makeWay != nil {
		defer w.makeWay()()
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	return io.WriteString(w.w, t.s)
}

// Flush writes what waits for its rest.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush()
}

func (w *Writer) flush() error {
	if w.incomplete == "" {
		return nil
	}
	text := w.incomplete
	w.incomplete = ""
	_, err := io.WriteString(w.w, Lines(text))
	return err
}

// What a terminal is told besides text.
var (
	EraseLine   = Text{"\r\x1b[K"}             // and stand at its beginning
	LineAbove   = Text{"\x1b[1A"}              // go there
	EraseScreen = Text{"\x1b[H\x1b[2J"}        // and stand at its top
	AskPosition = Text{"\x1b[6n"}              // of the cursor, which it answers
	EndPaste    = Text{"\x1b[?2004l\r"}        // no longer mark what is pasted
	OtherScreen = Text{"\x1b[?1049h\x1b[?25l"} // a page that is drawn again and again, without a cursor
	OwnScreen   = Text{"\x1b[?25h\x1b[?1049l"} // and back
	Home        = Text{"\x1b[H"}               // go to its top
	EraseRest   = Text{"\x1b[K"}               // of the line
	EraseBelow  = Text{"\x1b[J"}               // all that follows
)
