package cli

import (
	"os"
	"time"

	"golang.org/x/term"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

// askPassphrase asks for the passphrase of an identity on the terminal, without echo.
func (e *Env) askPassphrase(file string) ([]byte, error) {
	return e.ReadHidden("passphrase of "+file+": ", hintForPassphrase)
}

// AskNewPassphrase asks for a passphrase twice.
func (e *Env) AskNewPassphrase() (string, error) {
	first, err := e.ReadHidden("new passphrase: ", hintForPassphrase)
	if err != nil {
		return "", err
	}
	if len(first) < 8 {
		return "", diag.With("passphrase", diag.MustBe("at least 8 characters long"))
	}
	second, err := e.ReadHidden("repeat passphrase: ", hintForPassphrase)
	if err == nil && string(first) != string(second) {
		err = diag.Mismatch("second passphrase", "the first")
	}
	return string(first), err
}

// hintForPassphrase is the alternative to a terminal, for messages.
const hintForPassphrase = "set CCM_AGE_IDENTITY_FILE to an identity without a passphrase"

// ReadHidden reads a line from the terminal without echo, regardless of redirections. Hint is the
// alternative without a terminal, for the error.
func (e *Env) ReadHidden(prompt, hint string) ([]byte, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, diag.At(diag.Pos{}, diag.Requires("asking for it", "a terminal")).WithHint("%s", hint)
	}
	defer tty.Close()
	out := terminal.NewWriter(tty)
	// A signal in the middle would leave the terminal without echo.
	state, err := term.GetState(int(tty.Fd()))
	if err != nil {
		return nil, err
	}
	type result struct {
		line []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := term.ReadPassword(int(tty.Fd()))
		read <- result{line, err}
	}()
	awaitChange(int(tty.Fd()), state)
	terminal.Fprintf(out, "%s", prompt)
	_ = out.Flush()
	select {
	case r := <-read:
		terminal.Fprintf(out, "\n")
		_ = out.Flush()
		return r.line, r.err
	case <-e.Stop:
		_ = term.Restore(int(tty.Fd()), state)
		terminal.Fprintf(out, "\n")
		_ = out.Flush()
		return nil, diag.Interrupted("")
	}
}

// awaitChange waits for a short time until the state of the terminal differs from the state from:
// the prompt must not appear before the echo is off.
func awaitChange(fd int, from *term.State) {
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if now, err := term.GetState(fd); err != nil || *now != *from {
			return
		}
	}
}
