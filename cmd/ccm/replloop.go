package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A lineReader is where a person types.
type lineReader interface {
	// read returns what was typed. The error is errDropped if it was dropped,
	// io.EOF at the end, and errStopped if the process is to end.
	read() (string, error)
	// ask returns the answer to a question.
	ask(question string) (string, error)
	// leave ends the process if it waits for a person.
	leave()
}

// A waiting says whether the process waits for a person.
type waiting struct{ atomic.Bool }

// begin says that it does from now on. It is false if the process is to end.
func (w *waiting) begin(stop <-chan struct{}) bool {
	w.Store(true)
	// Whoever was told to stop before has not seen that yet.
	select {
	case <-stop:
		w.Store(false)
		return false
	default:
		return true
	}
}

// What read returns besides errors.
var (
	errDropped = errors.New("dropped") // what was typed is not to be answered
	errStopped = errors.New("stopped") // the process is to end
)

// converse prompts until there is nothing more to answer.
func (p *prompt) converse(ctx context.Context, args []string) (err error) {
	p.signals = catchInterrupts()
	defer p.signals.release()
	if p.talk, err = p.newTerminal(); err != nil {
		return err
	}
	defer p.watchStop()()
	if !p.flags.quiet {
		terminal.Fprintf(p.env.stdout, "ccm %s (Lua 5.1). .help helps, Ctrl-D leaves.\n", readBuildInfo().Version)
	}
	p.interruptible(ctx, func(ctx context.Context) { p.prepare(ctx, args) })
	return p.loop(ctx)
}

// loop answers what is typed.
func (p *prompt) loop(ctx context.Context) error {
	for {
		text, err := p.talk.read()
		switch {
		case errors.Is(err, errDropped):
			p.dialog.Drop()
			continue
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errStopped):
			return status(exitInterrupted)
		case err != nil:
			return err
		}
		quit := false
		p.interruptible(ctx, func(ctx context.Context) { quit = p.dialog.Handle(ctx, text).Quit })
		if err := p.history.Release(); err != nil {
			p.env.warn(err.Error())
		}
		if quit {
			return nil
		}
	}
}

// watchStop ends the process while it waits for a person, if it is told to end.
// While something is done, that is ended first.
func (p *prompt) watchStop() (end func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-p.env.stop:
			p.talk.leave()
		case <-done:
		}
	}()
	return func() { close(done) }
}

// historyFile returns where the history is kept, "" for nowhere.
func (p *prompt) historyFile() string {
	dir := p.flags.stateDir
	for _, d := range []string{os.Getenv("CCM_STATE_DIR"), os.Getenv("XDG_STATE_HOME")} {
		if dir == "" && filepath.IsAbs(d) {
			if dir = d; d != os.Getenv("CCM_STATE_DIR") {
				dir = filepath.Join(d, "ccm")
			}
		}
	}
	if home := os.Getenv("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".local", "state", "ccm")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "repl_history")
}

// openHistory returns the history. That it cannot be kept is said once.
func (p *prompt) openHistory() *repl.History {
	file := p.historyFile()
	if err := p.env.checkPlace(file); err != nil {
		p.env.warn("there is no history: " + err.Error())
		file = ""
	}
	h, err := repl.OpenHistory(file, p.env.clock.Now, func(text string) string {
		return p.env.secrets.Redact(repl.Redact(text, p.loading.site.registry))
	})
	h.Hold()
	p.history = h
	if err != nil {
		p.env.warn(err.Error())
	}
	return h
}

// interrupts are the keys Ctrl-C that a person presses while something is done.
type interrupts struct {
	signals chan os.Signal
	mu      sync.Mutex
	then    []func() // what the next ones do, the first first
}

// catchInterrupts takes the signal over from [main], where it means that the
// process shall end.
func catchInterrupts() *interrupts {
	signal.Reset(os.Interrupt)
	i := &interrupts{signals: make(chan os.Signal, 4)}
	signal.Notify(i.signals, os.Interrupt)
	go func() {
		for range i.signals {
			i.mu.Lock()
			if len(i.then) > 0 {
				i.then[0]()
				i.then = i.then[1:]
			}
			i.mu.Unlock()
		}
	}()
	return i
}

func (i *interrupts) release() {
	signal.Stop(i.signals)
	close(i.signals)
}

// set says what interrupts do from now on: the first does the first thing. It
// returns what they did before.
func (i *interrupts) set(then ...func()) (before []func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	before, i.then = i.then, then
	return before
}

// interruptible does something that the first interrupt, or the end of the
// process, cancels. What cannot be cancelled the third one ends with the
// process.
func (p *prompt) interruptible(ctx context.Context, do func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before := p.signals.set(func() {
		terminal.Fprintf(p.env.stdout, "\n") // the terminal has shown ^C
		cancel()
	}, func() {
		terminal.Fprintf(p.env.stderr, "ccm: still at work; interrupt once more to end ccm\n")
	}, p.exit)
	defer func() { p.signals.set(before...) }()
	defer p.alsoStop(cancel)()
	do(ctx)
}

// exit ends the process.
func (p *prompt) exit() {
	p.talk.leave()
	p.env.screen.restore()
	os.Exit(exitInterrupted)
}
