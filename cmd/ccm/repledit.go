package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/terminal"
)

// editCommand is .edit: a script, or what was typed last.
func (p *prompt) editCommand(ctx context.Context, d *repl.Dialog, name string) error {
	if p.talk == nil {
		return errors.New("nobody is there to edit")
	}
	if name != "" {
		if err := p.runEditor(ctx, name); err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return d.Load(ctx, name, text)
	}
	text, err := p.edited(ctx, d.Last())
	if err != nil {
		return err
	}
	terminal.Fprintf(p.env.stdout, "%s\n", terminal.LinesText(text))
	return d.Eval(ctx, text)
}

// edited returns what the editor of the user makes of a text.
func (p *prompt) edited(ctx context.Context, text string) (string, error) {
	f, err := os.CreateTemp("", "ccm-*.lua") // only its user can read it
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if err := p.runEditor(ctx, f.Name()); err != nil {
		return "", err
	}
	out, err := os.ReadFile(f.Name())
	return strings.TrimRight(string(out), "\n"), err
}

// editLine is what Ctrl-X Ctrl-E does: the line goes through the editor.
func (t *editor) editLine() {
	again, err := t.p.env.screen.aside()
	if err != nil {
		return
	}
	line := t.shell.Line()
	text, err := t.p.edited(context.Background(), string(*line))
	again()
	if err != nil {
		t.shell.Hint.SetTemporary(terminal.Line(err.Error()))
		return
	}
	line.Set([]rune(text)...)
	t.shell.Cursor().Set(line.Len())
}

// runEditor runs the editor of the user.
func (p *prompt) runEditor(ctx context.Context, name string) error {
	return p.runTool(ctx, chosenTool("vi", "VISUAL", "EDITOR"), nil, name)
}

// page shows a text in the pager of the user, or as it is if there is none.
func (p *prompt) page(ctx context.Context, text terminal.Text) error {
	standard := "less"
	if _, err := exec.LookPath(standard); err != nil {
		standard = "more"
	}
	pager := chosenTool(standard, "CCM_PAGER", "PAGER")
	if _, err := exec.LookPath(standard); p.talk == nil || err != nil && pager == standard {
		_, err := p.env.stdout.Print(text)
		return err
	}
	if os.Getenv("LESS") == "" { // a short text ends less at once, and stays on the screen
		defer os.Unsetenv("LESS")
		_ = os.Setenv("LESS", "FRX")
	}
	return p.runTool(ctx, pager, strings.NewReader(text.String()))
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

// runTool runs a program that has the terminal to itself and deals with interrupts.
// It reads stdin, the terminal if that is nil.
func (p *prompt) runTool(ctx context.Context, command string, stdin io.Reader, args ...string) error {
	words, err := shellquote.Split(command)
	if err != nil || len(words) == 0 {
		return fmt.Errorf("%q cannot be run", command)
	}
	before := p.signals.set()
	defer p.signals.set(before...)
	cmd := exec.CommandContext(context.WithoutCancel(ctx), words[0], append(words[1:], args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return nil
}

// clearCommand is .clear.
func (p *prompt) clearCommand(context.Context, *repl.Dialog, string) error {
	if _, ok := p.talk.(*editor); ok {
		_, _ = p.env.stdout.Print(terminal.EraseScreen)
	}
	return nil
}

// dataCommand is .data.
func (p *prompt) dataCommand(_ context.Context, _ *repl.Dialog, key string) error {
	tree := p.loading.around.data
	if len(tree) == 0 {
		return &diag.Error{Err: errors.New("there is no data"), Hint: "--data FILE gives some, and so does data.load(FILE)"}
	}
	val, err := facts.Static(tree).Get(key)
	if nf, ok := errors.AsType[*facts.NotFoundError](err); ok {
		return &diag.Error{Err: fmt.Errorf("no data %q", nf.Path), Hint: nf.Hint()}
	}
	if err != nil {
		return err
	}
	writeValue(p.env.data(), schema.ValueOf(val), "")
	return nil
}
