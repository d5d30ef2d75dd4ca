package term

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reeflective/readline"
	"github.com/reeflective/readline/inputrc"
	"golang.org/x/term"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/terminal"
)

// An editor is a terminal on which lines can be edited.
type editor struct {
	term    *Terminal
	shell   *readline.Shell
	history *repl.History
	color   bool

	question  string      // that is asked, "" at the prompt
	longPaste *pastedText // a paste that is too long for the screen
	state     waitState
	answers   answers // whether the terminal tells the place of its cursor
}

// A pastedText is not shown, but evaluated at once.
type pastedText struct{ text string }

// newReader returns the lineReader for the terminal of the process.
func (t *Terminal) newReader() (lineReader, error) {
	if !terminal.IsTerminal(t.options.Stdout) || os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" {
		return t.newPlainReader(), nil
	}
	if err := t.options.Mode.begin(int(os.Stdin.Fd())); err != nil {
		return nil, err
	}
	e := &editor{term: t, history: t.history, color: t.options.Color}
	e.shell = e.newShell()
	return e, nil
}

func (t *editor) newShell() *readline.Shell {
	defer t.term.withoutForeignKeys()()
	sh := readline.NewShell()
	for name, value := range map[string]any{
		"enable-bracketed-paste":       true,
		"convert-meta":                 false, // otherwise letters such as ü would mean Alt with a key
		"input-meta":                   true,
		"output-meta":                  true,
		"multiline-column":             false,  // the prompts of further lines are ours
		"comment-begin":                "\x00", // comments are colored with the rest
		"echo-control-characters":      false,
		"menu-complete-display-prefix": true,
		"completion-selection-style":   "\x1b[7m",
		probe:                          false,
	} {
		_ = sh.Config.Set(name, value)
	}
	sh.Prompt.Primary(t.promptText)
	sh.History.Add("history", source{t})
	sh.AcceptMultiline = t.accept
	sh.SyntaxHighlighter = t.highlight
	sh.PasteTransformer = t.paste
	sh.Completer = t.complete
	sh.Hint.SetProvider(t.hint)
	sh.Keymap.Register(map[string]func(){
		// The library's own action drops the line only if no other key follows at once.
		"drop-line": func() {
			sh.Display.AcceptLine()
			sh.History.Accept(false, false, readline.ErrInterrupt)
		},
		// The library's own finds no editor.
		"edit-line": t.editLine,
		// The library's own deletes the last character at the end of the line.
		"delete-under-cursor": t.deleteUnderCursor,
		"delete-or-leave": func() {
			if t.shell.Line().Len() > 0 {
				t.deleteUnderCursor()
				return
			}
			sh.Display.AcceptLine()
			sh.History.Accept(false, false, io.EOF)
		},
	})
	for keys, action := range keyActions {
		for _, keymap := range []string{"emacs", "emacs-standard", "vi-insert", "vi-command"} {
			sh.Config.Binds[keymap][keys] = inputrc.Bind{Action: action}
		}
	}
	return sh
}

// withoutForeignKeys keeps the library from reading an untrusted ~/.inputrc, which can define the
// text that a key types. The returned function undoes that.
func (t *Terminal) withoutForeignKeys() func() {
	const variable = "INPUTRC"
	name := filepath.Join(os.Getenv("HOME"), ".inputrc")
	err := t.options.CheckFound(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) || os.Getenv(variable) != "" {
		return func() {}
	}
	t.options.Warn("omitted: " + err.Error())
	_ = os.Setenv(variable, os.DevNull)
	return func() { _ = os.Unsetenv(variable) }
}

// keyActions are the keys that differ from other programs with readline: Tab shows a menu of
// completions, and the arrows move inside of an entry of several lines, and beyond it to other
// entries.
var keyActions = map[string]string{
	inputrc.Unescape(`\C-c`):     "drop-line",
	inputrc.Unescape(`\C-x\C-e`): "edit-line",
	inputrc.Unescape(`\C-d`):     "delete-or-leave",
	inputrc.Unescape(`\e[3~`):    "delete-under-cursor",
	inputrc.Unescape(`\M-[3~`):   "delete-under-cursor",
	inputrc.Unescape(`\C-i`):     "menu-complete",
	inputrc.Unescape(`\e[Z`):     "menu-complete-backward",
	inputrc.Unescape(`\M-[A`):    "up-line-or-history",
	inputrc.Unescape(`\M-OA`):    "up-line-or-history",
	inputrc.Unescape(`\M-[B`):    "down-line-or-history",
	inputrc.Unescape(`\M-OB`):    "down-line-or-history",
}

// deleteUnderCursor deletes the character under the cursor, nothing at the end.
func (t *editor) deleteUnderCursor() {
	line, at := t.shell.Line(), t.shell.Cursor().Pos()
	if at < line.Len() {
		t.shell.History.Save()
		line.CutRune(at)
	}
}

// promptText returns the prompt of the first line.
func (t *editor) promptText() string {
	t.term.options.Mode.changing.Store(false) // the terminal is in its mode by now
	if t.question != "" {
		return t.question
	}
	first, more := t.prompts()
	if t.term.dialog.Pending() {
		first = more
	}
	return first
}

// prompts returns the prompts in the form that is shown.
func (t *editor) prompts() (first, more string) {
	first, more = t.term.dialog.Prompt()
	return terminal.Line(first), terminal.Line(more)
}

// read implements lineReader.
func (t *editor) read() (string, error) {
	text, err := t.readline()
	if p := t.longPaste; p != nil {
		t.longPaste = nil
		if err == nil {
			text = p.text
			terminal.Fprintf(t.term.options.Stdout, "-- %d lines\n", strings.Count(strings.TrimRight(text, "\n"), "\n")+1)
			t.keep(text)
		}
	}
	return text, err
}

func (t *editor) readline() (string, error) {
	before := t.term.signals.set()
	defer t.term.signals.set(before...)
	t.term.options.Mode.changing.Store(true)
	defer t.term.options.Mode.changing.Store(false)
	if !t.state.beginWait(t.term.options.Stop) {
		return "", ErrStopped
	}
	defer t.state.Store(false)
	// Text that was typed ahead has been echoed here, and will be shown again.
	_, _ = t.term.options.Stdout.Print(terminal.EraseLine)
	text, err := t.shell.Readline()
	if errors.Is(err, readline.ErrInterrupt) {
		err = errDropped
	}
	return text, err
}

// ask implements lineReader.
func (t *editor) ask(question string) (string, error) {
	t.question = question
	t.history.Mute(true)
	defer func() {
		t.question = ""
		t.history.Mute(false)
	}()
	return t.readline()
}

// leave implements lineReader.
func (t *editor) leave() {
	if t.state.Load() {
		mode := t.term.options.Mode
		mode.Restore() // before the writes, which may have to wait
		_, _ = t.term.options.Stdout.Print(terminal.EndPaste)
		terminal.Fprintf(t.term.options.Stdout, "\n")
		mode.Restore()
		t.term.options.Exit()
	}
}

// accept reports whether a typed text can be answered.
func (t *editor) accept(line []rune) bool {
	return t.question != "" || t.longPaste != nil || t.term.dialog.Finished(string(line))
}

// paste handles pasted text, and returns the part of it for the line. A text higher than the screen
// is not shown, but answered at once.
func (t *editor) paste(text string) string {
	_, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || t.question != "" || strings.Count(text, "\n") < height-4 {
		return strings.TrimSuffix(text, "\n")
	}
	line := []rune(string(*t.shell.Line()))
	at := min(t.shell.Cursor().Pos(), len(line))
	t.longPaste = &pastedText{string(line[:at]) + text + string(line[at:])}
	t.shell.Keys.Feed(false, '\r')
	return ""
}

func (t *editor) keep(text string) {
	if err := t.history.Add(text); err != nil {
		t.term.options.Warn(err.Error())
	}
}

// hint returns the line below the typed text. The library calls it before it draws.
func (t *editor) hint(line []rune, cursor int) []rune {
	t.probeIfMenu()
	if t.question != "" {
		return nil
	}
	text := terminal.LineText(t.term.dialog.Hint(string(line), len(string(line[:min(cursor, len(line))]))))
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		text = terminal.Cut(text, width-1)
	}
	if text.String() == "" {
		return nil
	}
	return []rune(terminal.Faint.On(t.color).Paint(text).String())
}

// source is the history in the form of the library readline.
type source struct{ t *editor }

// Write implements readline.History.
func (s source) Write(text string) (int, error) {
	if s.t.longPaste == nil {
		s.t.keep(text)
	}
	return s.t.history.Len(), nil
}

// GetLine implements readline.History.
func (s source) GetLine(i int) (string, error) {
	if i < 0 || i >= s.t.history.Len() {
		return "", io.EOF
	}
	return terminal.Lines(s.t.history.Entry(i)), nil // may have been pasted
}

// Len implements readline.History.
func (s source) Len() int { return s.t.history.Len() }

// Dump implements readline.History.
func (s source) Dump() any { return nil }
