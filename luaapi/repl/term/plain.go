package term

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A plainReader reads lines from a terminal on which lines cannot be edited. It
// writes prompts, and no escape sequences.
type plainReader struct {
	term      *Terminal
	out       *terminal.Writer // for prompts
	history   *repl.History
	lines     chan line
	asked     bool // a line is being waited for
	interrupt chan struct{}
	state     waitState
	in        *bufio.Reader
}

type line struct {
	text string
	err  error
}

func (t *Terminal) newPlainReader() *plainReader {
	r := &plainReader{
		term: t, out: t.options.Stdout, history: t.history, in: bufio.NewReader(t.options.Stdin),
		lines: make(chan line), interrupt: make(chan struct{}, 1),
	}
	if !terminal.IsTerminal(t.options.Stdout) {
		r.out = t.options.Stderr
	}
	return r
}

// read implements lineReader.
func (t *plainReader) read() (string, error) {
	first, more := t.term.dialog.Prompt()
	if t.term.dialog.Pending() {
		first = more
	}
	text, err := t.line(first)
	if errors.Is(err, io.EOF) {
		terminal.Fprintf(t.out, "\n")
	}
	if err == nil {
		if err := t.history.Add(text); err != nil {
			t.term.options.Warn(err.Error())
		}
	}
	return text, err
}

// line reads one line. An interrupt drops the typed part of the line.
func (t *plainReader) line(prompt string) (string, error) {
	before := t.term.signals.set(t.drop, t.drop, t.drop)
	defer t.term.signals.set(before...)
	if !t.state.beginWait(t.term.options.Stop) {
		return "", ErrStopped
	}
	defer t.state.Store(false)
	terminal.Fprintf(t.out, "%s", prompt)
	if !t.asked {
		t.asked = true
		go func() {
			text, err := t.in.ReadString('\n')
			if err != nil && text != "" {
				err = nil // a last line without an end
			}
			t.lines <- line{strings.TrimRight(text, "\r\n"), err}
		}()
	}
	select {
	case l := <-t.lines:
		t.asked = false
		return l.text, l.err
	case <-t.interrupt:
		// The kernel drops the typed part of a line at an interrupt.
		terminal.Fprintf(t.out, "\n")
		return "", errDropped
	}
}

func (t *plainReader) drop() {
	select {
	case t.interrupt <- struct{}{}:
	default:
	}
}

// ask implements lineReader.
func (t *plainReader) ask(question string) (string, error) { return t.line(question) }

// leave implements lineReader.
func (t *plainReader) leave() {
	if t.state.Load() {
		terminal.Fprintf(t.out, "\n")
		t.term.options.Exit()
	}
}
