package site

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/secret"
)

// Decrypter returns what decrypts secrets, with the identities of whoever runs ccm. It is one for the
// whole process: nothing is decrypted twice, and no passphrase is asked for twice. It is asked for before
// a run has goroutines.
func (p *Process) Decrypter() *encryption.Decrypter {
	if p.decrypter == nil {
		config := UserConfig()
		if config != "" {
			config = filepath.Dir(config)
		}
		p.questions = new(questions)
		p.decrypter = &encryption.Decrypter{Shown: p.fromBundle, Identities: &encryption.Identities{
			Getenv: os.Getenv, ConfigDir: config, ReadFile: p.Files.ReadFile, Passphrase: p.Passphrase, Asking: p.asking, Warn: p.Messages.Warn,
		}}
	}
	return p.decrypter
}

// decryptFile returns what an encrypted file holds, which is a secret from now on.
func (p *Process) decryptFile(name string, text []byte) ([]byte, error) {
	plain, err := p.Decrypter().File(name, text)
	if err == nil {
		p.keepDecrypted(string(plain))
	}
	return plain, err
}

// openValue returns what an encrypted value of a document holds, which is a secret from now on.
func (p *Process) openValue(text, file, key string) (string, error) {
	plain, err := p.Decrypter().Value(text, file, key)
	if err == nil {
		p.keepDecrypted(plain)
	}
	return plain, err
}

// keepDecrypted makes a text a secret. One that is too short or too long to be hidden wherever it appears
// is hidden where it came from only: the properties that hold it are marked.
func (p *Process) keepDecrypted(text string) {
	_ = p.Secrets.Keep(strings.TrimRight(text, "\r\n"))
	if len(text) > secret.Longest {
		for line := range strings.Lines(text) {
			_ = p.Secrets.Keep(strings.TrimSpace(line))
		}
	}
}
