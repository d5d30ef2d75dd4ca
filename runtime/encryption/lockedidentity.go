package encryption

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"filippo.io/age"
)

// A lockedSSHIdentity is a private SSH key with a passphrase. The user has one attempt.
type lockedSSHIdentity struct {
	name string
	key  age.Identity
	err  error
}

// Unwrap implements age.Identity.
func (l *lockedSSHIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	if l.err != nil {
		return nil, l.err
	}
	key, err := l.key.Unwrap(stanzas)
	switch {
	case err == nil, errors.Is(err, age.ErrIncorrectIdentity):
		return key, err
	case strings.Contains(err.Error(), x509.IncorrectPasswordError.Error()): // age does not wrap the error
		err = fmt.Errorf("identity %s: wrong passphrase", l.name)
	default:
		err = fmt.Errorf("identity %s: %w", l.name, err)
	}
	l.err = err
	return nil, err
}

// A lockedIdentity is a file of identities that is encrypted with a passphrase. The user is asked once, when no other
// identity fits.
type lockedIdentity struct {
	ids  *Identities
	name string
	text []byte

	once sync.Once
	list []age.Identity
	err  error
}

// Unwrap implements age.Identity.
func (l *lockedIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	l.once.Do(func() { l.list, l.err = l.unlock() })
	if l.err != nil {
		return nil, l.err
	}
	for _, id := range l.list {
		key, err := id.Unwrap(stanzas)
		if !errors.Is(err, age.ErrIncorrectIdentity) {
			return key, err
		}
	}
	return nil, age.ErrIncorrectIdentity
}

func (l *lockedIdentity) unlock() ([]age.Identity, error) {
	_, in, err := open(l.text)
	if err != nil {
		return nil, fmt.Errorf("identity %s: %w", l.name, err)
	}
	pass, err := l.ids.ask(l.name)
	if err != nil {
		return nil, err
	}
	id, err := age.NewScryptIdentity(string(pass))
	if err != nil {
		return nil, fmt.Errorf("identity %s: %w", l.name, err)
	}
	r, err := age.Decrypt(in, id)
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong || errors.Is(err, age.ErrIncorrectIdentity) {
		return nil, fmt.Errorf("identity %s: wrong passphrase", l.name)
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(r, maxIdentity+1))
	}
	if err != nil {
		return nil, fmt.Errorf("identity %s: %w: %w", l.name, ErrDamaged, err)
	}
	return l.ids.parse(l.name, text)
}

func (ids *Identities) ask(file string) ([]byte, error) {
	if ids.Passphrase == nil {
		return nil, fmt.Errorf("identity %s has a passphrase, which cannot be asked for without a terminal", file)
	}
	defer ids.asking()()
	pass, err := ids.Passphrase(file)
	if err != nil {
		return nil, fmt.Errorf("identity %s has a passphrase: %w", file, err)
	}
	return pass, nil
}

// asking calls BeforePrompt.
func (ids *Identities) asking() (done func()) {
	if ids.BeforePrompt == nil {
		return func() {}
	}
	return ids.BeforePrompt()
}
