package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

// Commands returns the commands of the dialog that need a terminal.
func (t *Terminal) Commands() []repl.Command {
	return []repl.Command{
		{Name: "clear", Doc: "Clear the screen.", Run: t.clearCommand},
		{Name: "edit", Args: "[FILE]", Doc: "Edit the last input, or FILE, and evaluate it.", Detail: "Uses the editor of VISUAL or EDITOR, else vi.", Takes: repl.ArgFile, Run: t.editCommand},
	}
}

// editCommand is .edit: it edits a script, or the last typed text.
func (t *Terminal) editCommand(ctx context.Context, d *repl.Dialog, name string) error {
	if !t.Active() {
		return diag.Requires("editing", "a terminal")
	}
	if name != "" {
		if err := t.runEditor(ctx, name); err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return d.Load(ctx, name, text)
	}
	text, err := t.Edit(ctx, d.Last())
	if err != nil {
		return err
	}
	terminal.Fprintf(t.options.Stdout, "%s\n", terminal.LinesText(text))
	return d.Eval(ctx, text)
}

// Edit returns a text after the user's editor.
func (t *Terminal) Edit(ctx context.Context, text string) (string, error) {
	f, err := os.CreateTemp("", "ccm-*.lua") // readable only by its user
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if err := t.runEditor(ctx, f.Name()); err != nil {
		return "", err
	}
	out, err := os.ReadFile(f.Name())
	return strings.TrimRight(string(out), "\n"), err
}

// editLine is the action of Ctrl-X Ctrl-E: it edits the line in the editor.
func (t *editor) editLine() {
	resume, err := t.term.options.Mode.suspend()
	if err != nil {
		return
	}
	line := t.shell.Line()
	text, err := t.term.Edit(context.Background(), string(*line))
	resume()
	if err != nil {
		t.shell.Hint.SetTemporary(terminal.Line(err.Error()))
		return
	}
	line.Set([]rune(text)...)
	t.shell.Cursor().Set(line.Len())
}

// runEditor runs the editor of the user.
func (t *Terminal) runEditor(ctx context.Context, name string) error {
	return t.runTool(ctx, chosenTool("vi", "VISUAL", "EDITOR"), nil, name)
}

// Page shows a text in the user's pager, or prints it without one.
func (t *Terminal) Page(ctx context.Context, text terminal.Text) error {
	standard := "less"
	if !t.options.HasTool(standard) {
		standard = "more"
	}
	pager := chosenTool(standard, "CCM_PAGER", "PAGER")
	if !t.Active() || pager == standard && !t.options.HasTool(standard) {
		_, err := t.options.Stdout.Print(text)
		return err
	}
	if os.Getenv("LESS") == "" { // a short text ends less at once, and stays on the screen
		defer os.Unsetenv("LESS")
		_ = os.Setenv("LESS", "FRX")
	}
	return t.runTool(ctx, pager, strings.NewReader(text.String()))
}

// chosenTool returns the command line that the first variable that is set has.
func chosenTool(standard string, variables ...string) string {
	for _, variable := range variables {
		if v := os.Getenv(variable); v != "" {
			return v
		}
	}
	return standard
}

// runTool runs a program that has the terminal to itself and handles interrupts. It reads stdin,
// the terminal if stdin is nil.
func (t *Terminal) runTool(ctx context.Context, command string, stdin io.Reader, args ...string) error {
	words, err := shellquote.Split(command)
	if err != nil || len(words) == 0 {
		return diag.Cannot("run", strconv.Quote(command), nil)
	}
	before := t.signals.set()
	defer t.signals.set(before...)
	if stdin == nil {
		stdin = t.options.Stdin
	}
	if err := t.options.RunTool(context.WithoutCancel(ctx), append(words, args...), stdin); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return nil
}

// clearCommand is .clear.
func (t *Terminal) clearCommand(context.Context, *repl.Dialog, string) error {
	if _, ok := t.reader.(*editor); ok {
		_, _ = t.options.Stdout.Print(terminal.EraseScreen)
	}
	return nil
}
