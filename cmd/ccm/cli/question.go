package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
)

// OpenTerminal returns a writer for questions on the terminal, or an error if nobody can be asked.
func (e *Env) OpenTerminal(flag, hint string) (*terminal.Writer, error) {
	if terminal.IsTerminal(e.Stdin) {
		if terminal.IsTerminal(e.Stderr) {
			return e.Stderr, nil
		}
		if f, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0); err == nil {
			return terminal.NewWriter(secret.NewWriter(f, e.Secrets)), nil
		}
	}
	return nil, diag.At(diag.Pos{}, diag.Requires(flag, "a terminal")).WithHint("%s", hint)
}

// Ask asks a question on a terminal until the answer is one of the words or the beginning
// of one, and returns that word. No answer at all is the last word.
func (e *Env) Ask(ctx context.Context, tty *terminal.Writer, words ...string) (string, error) {
	ctx, cancel := e.Stop.Context(ctx)
	defer cancel()
	for {
		terminal.Fprintf(tty, "Do this? (%s) ", strings.Join(words, ", "))
		_ = tty.Flush()
		line, err := readLine(ctx, e.Stdin)
		if err != nil {
			terminal.Fprintf(tty, "\n")
			return "", err
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		if answer == "" {
			return words[len(words)-1], nil
		}
		if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, answer) }); i >= 0 {
			return words[i], nil
		}
	}
}

// longestAnswer is the maximum length of an answer in bytes.
const longestAnswer = 256

// readLine reads a line from a terminal. It returns at once when the context ends.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		var line []byte
		var one [1]byte
		for len(line) < longestAnswer {
			n, err := in.Read(one[:])
			if n == 1 && one[0] == '\n' || errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				done <- result{"", err}
				return
			}
			line = append(line, one[:n]...)
		}
		done <- result{string(line), nil}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Confirm asks whether to go on. The answer no is an error.
func (e *Env) Confirm(ctx context.Context, tty *terminal.Writer) error {
	answer, err := e.Ask(ctx, tty, "yes", "no")
	if err == nil && answer == "no" {
		err = errors.New("nothing was changed")
	}
	return err
}
