// Package term is the terminal of the prompt: it reads lines, completes and colors
// them while they are typed, and says what the keys do that interrupt. The library
// readline edits the line and walks through the history; the dialog of package repl
// says what can stand where.
package term

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

// Options are the options of a terminal.
type Options struct {
	Stdin          io.Reader
	Stdout, Stderr *terminal.Writer
	Color          bool
	// Mode is the mode of the terminal; every end of the process calls its Restore.
	Mode *Mode
	// Stop is closed when the process is to end.
	Stop <-chan struct{}
	// Warn takes problems that do not prevent typing.
	Warn func(message string)
	// CheckFound returns an error if a file is not trusted, which was found without being named.
	CheckFound func(name string) error
	// HasTool reports whether a program of the name can be run.
	HasTool func(name string) bool
	// RunTool runs the user's editor or pager, to which it leaves the terminal. Words are the command
	// line.
	RunTool func(ctx context.Context, words []string, stdin io.Reader) error
	// Exit ends the process, which was interrupted.
	Exit func()
}

// A Terminal is the terminal of a person, or standard input.
type Terminal struct {
	options Options
	dialog  *repl.Dialog
	history *repl.History
	reader  lineReader // nil if nobody types
	signals *interrupts
}

// New returns a terminal at which nobody types yet.
func New(o Options) *Terminal { return &Terminal{options: o} }

// Active reports whether a person types at the terminal.
func (t *Terminal) Active() bool { return t.reader != nil }

// A lineReader reads the lines that a person types.
type lineReader interface {
	// read returns a typed text. The error is errDropped if the text was dropped, io.EOF at the end,
	// and ErrStopped if the process has to end.
	read() (string, error)
	// ask returns the answer to a question.
	ask(question string) (string, error)
	// leave ends the process if it is waiting for a person.
	leave()
}

// A waitState says whether the process waits for a person.
type waitState struct{ atomic.Bool }

// beginWait begins to wait for a person. It is false if the process has to end.
func (w *waitState) beginWait(stop <-chan struct{}) bool {
	w.Store(true)
	// leave has done nothing if it was called before the process waited.
	select {
	case <-stop:
		w.Store(false)
		return false
	default:
		return true
	}
}

// errDropped is returned by read for a text that is not to be answered.
var errDropped = errors.New("dropped")

// ErrStopped says that the process is to end.
var ErrStopped = errors.New("stopped")

// Converse prompts until there is nothing more to answer. Prepare is called before
// the first prompt, and can be interrupted. The error is [ErrStopped] if the process
// is to end.
func (t *Terminal) Converse(ctx context.Context, d *repl.Dialog, h *repl.History, prepare func(context.Context)) (err error) {
	t.dialog, t.history = d, h
	t.signals = catchInterrupts()
	defer t.signals.release()
	if t.reader, err = t.newReader(); err != nil {
		return err
	}
	defer t.whenStopped(t.reader.leave)()
	t.Interruptible(ctx, prepare)
	return t.loop(ctx)
}

// loop answers the typed texts.
func (t *Terminal) loop(ctx context.Context) error {
	for {
		text, err := t.reader.read()
		switch {
		case errors.Is(err, errDropped):
			t.dialog.Drop()
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		quit := false
		t.Interruptible(ctx, func(ctx context.Context) { quit = t.dialog.Handle(ctx, text).Quit })
		if err := t.history.Release(); err != nil {
			t.options.Warn(err.Error())
		}
		if quit {
			return nil
		}
	}
}

// Confirm asks a question that only a person can answer with yes.
func (t *Terminal) Confirm(question string) (bool, error) {
	if !t.Active() {
		return false, &diag.Error{Err: diag.Requires("asking", "a terminal"),
			Hint: "apply a script without asking with: ccm run"}
	}
	answer, err := t.reader.ask(question)
	if errors.Is(err, errDropped) {
		return false, nil
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, err
	}
	return false, nil
}

// whenStopped calls a function when the process has to end. The returned function cancels that.
func (t *Terminal) whenStopped(do func()) (end func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-t.options.Stop:
			do()
		case <-done:
		}
	}()
	return sync.OnceFunc(func() { close(done) })
}

// Stoppable returns a context that ends when the process is to end, too.
func (t *Terminal) Stoppable(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	end := t.whenStopped(cancel)
	return ctx, func() {
		end()
		cancel()
	}
}

// Interruptible calls do with a context that the first interrupt, or the end of the process,
// cancels. If do does not end then, the third interrupt ends the process.
func (t *Terminal) Interruptible(ctx context.Context, do func(context.Context)) {
	ctx, cancel := t.Stoppable(ctx)
	defer cancel()
	before := t.signals.set(func() {
		terminal.Fprintf(t.options.Stdout, "\n") // the terminal has shown ^C
		cancel()
	}, func() {
		terminal.Fprintf(t.options.Stderr, "ccm: still running; interrupt again to quit ccm\n")
	}, t.exit)
	defer func() { t.signals.set(before...) }()
	do(ctx)
}

// OnInterrupt sets the handlers of interrupts: the first interrupt calls first, the second then,
// and the third ends the process. The returned function restores the handlers before.
func (t *Terminal) OnInterrupt(first, then func()) (restore func()) {
	if t.signals == nil {
		return func() {}
	}
	before := t.signals.set(first, then, t.exit)
	return func() { t.signals.set(before...) }
}

// exit ends the process.
func (t *Terminal) exit() {
	t.reader.leave()
	t.options.Mode.Restore()
	t.options.Exit()
}
