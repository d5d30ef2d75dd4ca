package terminal

import (
	"io"
	"sync"
	"unicode/utf8"
)

// A Printer prints Texts.
type Printer interface {
	Print(t Text) (int, error)
}

// A Writer writes to a terminal, or to a file that people read later. Bytes given to Write are untrusted text of
// several lines and are escaped; a Text is written as it is. It is safe for use by several goroutines.
type Writer struct {
	w  io.Writer
	mu sync.Mutex
	// incomplete is the start of a UTF-8 character whose rest may come with the next Write.
	incomplete string
	// makeWay is called before each write, and its result after it; may be nil.
	makeWay func() func()
}

var _ Printer = (*Writer)(nil)

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Unwrap returns the underlying writer, for data that programs read.
func (w *Writer) Unwrap() io.Writer { return w.w }

// Before makes the Writer call makeWay before each write, to remove a progress line for example, and the result of
// makeWay after it.
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

// begun returns the number of bytes at the end of a text that begin an incomplete character.
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

// Flush writes an incomplete character that is still held back.
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

// Control sequences for terminals.
var (
	EraseLine   = Text{"\r\x1b[K"}             // and go to its start
	LineAbove   = Text{"\x1b[1A"}              // go to the line above
	EraseScreen = Text{"\x1b[H\x1b[2J"}        // and go to its top
	AskPosition = Text{"\x1b[6n"}              // ask for the cursor position, which the terminal sends as input
	EndPaste    = Text{"\x1b[?2004l\r"}        // leave bracketed paste mode
	OtherScreen = Text{"\x1b[?1049h\x1b[?25l"} // alternate screen without a cursor
	OwnScreen   = Text{"\x1b[?25h\x1b[?1049l"} // back to the normal screen
	Home        = Text{"\x1b[H"}               // go to the top left
	EraseRest   = Text{"\x1b[K"}               // rest of the line
	EraseBelow  = Text{"\x1b[J"}               // all below the cursor
)
