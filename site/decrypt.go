package site

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/secret"
)

// A decryption decrypts secrets, and adds them to the keeper so that they are masked.
type decryption struct {
	*askingDecrypter
	secrets *secret.Keeper
}

// An askingDecrypter also knows how long it has waited for passphrases.
type askingDecrypter struct {
	decrypter *encryption.Decrypter
	questions questions
}

// Decrypter returns the decrypter with the identities of the user of ccm. There is one for the
// whole process, so that nothing is decrypted twice and no passphrase is asked for twice. The
// first call must come before a run has goroutines.
func (p *Process) Decrypter() *encryption.Decrypter { return p.decryption().decrypter }

// decryption returns the decryption of the process. The first call makes the decrypter.
func (p *Process) decryption() decryption {
	if p.decrypter == nil {
		config := UserConfig()
		if config != "" {
			config = filepath.Dir(config)
		}
		d := new(askingDecrypter)
		// p.Files.Bundle is read on each call, because a bundle may be entered later.
		d.decrypter = &encryption.Decrypter{ShownPath: func(file string) string { return p.Files.Bundle.fromScript(file) }, Identities: &encryption.Identities{
			Getenv: os.Getenv, ConfigDir: config, ReadFile: p.Files.ReadFile, ReadFound: p.Files.readIdentity,
			Passphrase: p.Passphrase, Warn: p.Messages.Warn,
			BeforePrompt: func() (done func()) { return d.questions.askAfter(p.BeforePrompt) },
		}}
		p.decrypter = d
	}
	return decryption{p.decrypter, p.Secrets}
}

// readIdentity reads a file of identities that the user did not name. Root skips a file of
// another user, with a warning.
func (f *Files) readIdentity(path string) ([]byte, error) {
	err := f.Trust().CheckFound(path)
	if err == nil {
		return f.ReadFile(path)
	}
	if placed, ok := errors.AsType[*diag.Error](err); ok {
		f.Messages.Warn("skipped: " + placed.Error())
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return nil, err
}

// file returns the plain text of an encrypted file, which becomes a secret.
func (d decryption) file(name string, text []byte) ([]byte, error) {
	plain, err := d.decrypter.File(name, text)
	if err == nil {
		d.keep(string(plain))
	}
	return plain, err
}

// value returns the plain text of an encrypted value in a document, which becomes a secret. A
// value that is too short to mask is refused, because the results of a script would show it.
func (d decryption) value(text, file, key string) (string, error) {
	plain, err := d.decrypter.Value(text, file, key)
	if err != nil {
		return plain, err
	}
	if err := encryption.CheckValue(plain); err != nil {
		if d.decrypter.ShownPath != nil {
			file = d.decrypter.ShownPath(file)
		}
		return "", &encryption.Error{Place: encryption.Place{File: file, Key: key}, Err: err}
	}
	d.keep(plain)
	return plain, nil
}

// keep adds a text to the keeper. A text that is too short or too long to mask everywhere is
// masked only in the properties that hold it, which are marked.
func (d decryption) keep(text string) {
	_ = d.secrets.Keep(strings.TrimRight(text, "\r\n"))
	if len(text) > secret.Longest {
		for line := range strings.Lines(text) {
			_ = d.secrets.Keep(strings.TrimSpace(line))
		}
	}
}
