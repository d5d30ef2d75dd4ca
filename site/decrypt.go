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

// A decryption decrypts secrets, and has them masked from then on.
type decryption struct {
	*askingDecrypter
	secrets *secret.Keeper
}

// An askingDecrypter knows for how long it has waited for passphrases.
type askingDecrypter struct {
	decrypter *encryption.Decrypter
	questions questions
}

// Decrypter returns what decrypts secrets, with the identities of the user of ccm. It is one for the
// whole process: nothing is decrypted twice, and no passphrase is asked for twice. It is asked for before
// a run has goroutines.
func (p *Process) Decrypter() *encryption.Decrypter { return p.decryption().decrypter }

// decryption returns that of the process. The decrypter is made the first time.
func (p *Process) decryption() decryption {
	if p.decrypter == nil {
		config := UserConfig()
		if config != "" {
			config = filepath.Dir(config)
		}
		d := new(askingDecrypter)
		// The bundle is asked for later: one may be entered meanwhile.
		d.decrypter = &encryption.Decrypter{ShownPath: func(file string) string { return p.bundle.fromScript(file) }, Identities: &encryption.Identities{
			Getenv: os.Getenv, ConfigDir: config, ReadFile: p.Files.ReadFile, ReadFound: p.Files.readIdentity,
			Passphrase: p.Passphrase, Warn: p.Messages.Warn,
			BeforePrompt: func() (done func()) { return d.questions.askAfter(p.BeforePrompt) },
		}}
		p.decrypter = d
	}
	return decryption{p.decrypter, p.Secrets}
}

// readIdentity reads a file of identities that nobody has named. Root leaves one out, with a warning, that belongs to somebody else.
func (f *Files) readIdentity(path string) ([]byte, error) {
	err := f.Trust().CheckFound(path)
	if err == nil {
		return f.ReadFile(path)
	}
	if placed, ok := errors.AsType[*diag.Error](err); ok {
		f.Messages.Warn("left out: " + placed.Error())
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return nil, err
}

// file returns what an encrypted file holds, which is a secret from now on.
func (d decryption) file(name string, text []byte) ([]byte, error) {
	plain, err := d.decrypter.File(name, text)
	if err == nil {
		d.keep(string(plain))
	}
	return plain, err
}

// value returns what an encrypted value of a document holds, which is a secret from now on. One that is too short to
// be hidden is refused, as others are: what a script makes of it would be shown.
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

// keep makes a text a secret. One that is too short or too long to be hidden wherever it appears
// is hidden where it came from only: the properties that hold it are marked.
func (d decryption) keep(text string) {
	_ = d.secrets.Keep(strings.TrimRight(text, "\r\n"))
	if len(text) > secret.Longest {
		for line := range strings.Lines(text) {
			_ = d.secrets.Keep(strings.TrimSpace(line))
		}
	}
}
