package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A plainTerminal reads lines from a terminal that can do nothing but that:
// there is a prompt, and no escape sequence.
type plainTerminal struct {
	p       *prompt
	out     *terminal.Writer // where prompts go
	history *repl.History
	lines   chan line
	asked   bool // a line is being waited for
	dropped chan struct{}
	reading waiting
	in      *bufio.Reader
}

type line struct {
	text string
	err  error
}

func (p *prompt) newPlainTerminal() *plainTerminal {
	t := &plainTerminal{
		p: p, out: p.env.stdout, history: p.openHistory(), in: bufio.NewReader(p.env.stdin),
		lines: make(chan line), dropped: make(chan struct{}, 1),
	}
	if !isTerminal(p.env.stdout) {
		t.out = p.env.stderr
	}
	return t
}

// read implements lineReader.
func (t *plainTerminal) read() (string, error) {
	first, more := t.p.dialog.Prompt()
	if t.p.dialog.Pending() {
		first = more
	}
	text, err := t.line(first)
	if errors.Is(err, io.EOF) {
		terminal.Fprintf(t.out, "\n")
	}
	if err == nil {
		if err := t.history.Add(text); err != nil {
			t.p.env.warn(err.Error())
		}
	}
	return text, err
}

// line reads one line. An interrupt drops what was typed of it.
func (t *plainTerminal) line(prompt string) (string, error) {
	before := t.p.signals.set(t.drop, t.drop, t.drop)
	defer t.p.signals.set(before...)
	if !t.reading.begin(t.p.env.stop) {
		return "", errStopped
	}
	defer t.reading.Store(false)
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
	case <-t.dropped:
		// The terminal has forgotten the line itself.
		terminal.Fprintf(t.out, "\n")
		return "", errDropped
	}
}

func (t *plainTerminal) drop() {
	select {
	case t.dropped <- struct{}{}:
	default:
	}
}

// ask implements lineReader.
func (t *plainTerminal) ask(question string) (string, error) { return t.line(question) }

// leave implements lineReader.
func (t *plainTerminal) leave() {
	if t.reading.Load() {
		terminal.Fprintf(t.out, "\n")
		os.Exit(exitInterrupted)
	}
}
