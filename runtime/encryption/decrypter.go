package encryption

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"filippo.io/age"
	"filippo.io/age/plugin"

	"github.com/luaccm/ccm/runtime/diag"
)

// ErrDamaged is returned for encrypted text that was changed or is not from age.
var ErrDamaged = errors.New("damaged, or not encrypted with age")

// ErrMoved is returned for an encrypted value that is not at the place it was encrypted for.
var ErrMoved = errors.New("moved after encryption")

// ErrNoIdentity is returned if no available identity can decrypt a text.
var ErrNoIdentity = diag.None("identity on this machine can decrypt it")

// A Decrypter decrypts files and values, each distinct text once. It is safe for use by several goroutines.
type Decrypter struct {
	Identities *Identities
	// ShownPath returns the name of a file for messages; nil leaves names as they are.
	ShownPath func(file string) string

	mu      sync.Mutex
	results map[[sha256.Size]byte]*result
}

type result struct {
	once sync.Once
	text []byte
	err  error
}

// Decrypted returns the number of distinct texts that were decrypted or tried.
func (d *Decrypter) Decrypted() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.results)
}

// An Error is a failure to decrypt: its place, its cause, and who could decrypt the text.
type Error struct {
	Place Place
	For   string // names of the recipients, "" if they are unknown
	Err   error
}

// Error returns the place, the cause and the recipients.
func (e *Error) Error() string {
	text := e.Place.String() + ": " + e.Err.Error()
	if e.For != "" {
		text += "; its recipients are " + e.For
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// File returns the content of a file encrypted with age. name is for messages.
func (d *Decrypter) File(name string, text []byte) ([]byte, error) {
	out, desc, err := d.decrypt(text)
	return out, d.explainFailure(Place{File: name}, desc, err)
}

// Value returns the content of an encrypted value that is in a file under a key. A value that was encrypted for
// another place is refused.
func (d *Decrypter) Value(text, file, key string) (string, error) {
	shown := Place{file, key}
	raw, err := valueBytes(text)
	if err != nil {
		return "", d.explainFailure(shown, nil, err)
	}
	desc, err := Describe(raw)
	if err != nil {
		return "", d.explainFailure(shown, nil, err)
	}
	if at := placeOf(file, key); !at.fits(desc.At) {
		return "", d.explainFailure(shown, desc, fmt.Errorf("%w: encrypted for %s, found at %s", ErrMoved, desc.At, at))
	}
	out, desc, err := d.decrypt(raw)
	return string(out), d.explainFailure(shown, desc, err)
}

// decrypt returns the content of a file encrypted with age, from memory if it was decrypted before.
func (d *Decrypter) decrypt(text []byte) ([]byte, *Description, error) {
	header, _, err := open(text)
	if err != nil {
		return nil, nil, err
	}
	desc, err := describe(header)
	if err != nil {
		return nil, nil, err
	}
	ids, err := d.Identities.get()
	if err != nil {
		return nil, desc, err
	}
	if len(ids) == 0 {
		return nil, desc, ErrNoIdentity
	}
	sum := sha256.Sum256(text)
	d.mu.Lock()
	r := d.results[sum]
	if r == nil {
		if d.results == nil {
			d.results = make(map[[sha256.Size]byte]*result)
		}
		r = new(result)
		d.results[sum] = r
	}
	d.mu.Unlock()
	r.once.Do(func() { r.text, r.err = decrypt(text, ids) })
	return r.text, desc, r.err
}

func decrypt(text []byte, ids []age.Identity) ([]byte, error) {
	_, in, err := open(text)
	if err != nil {
		return nil, err
	}
	r, err := age.Decrypt(in, ids...)
	if err != nil {
		return nil, explain(err)
	}
	out, err := io.ReadAll(io.LimitReader(r, LargestFile+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return out, nil
}

// explain replaces errors of age by errors in the words of ccm.
func explain(err error) error {
	if missing, ok := errors.AsType[*plugin.NotFoundError](err); ok {
		return diag.At(diag.Pos{}, diag.Not(fmt.Sprintf("age-plugin-%s, which one of the keys requires,", missing.Name), "installed")).
			WithHint("install age-plugin-%s, or set CCM_AGE_IDENTITY_FILE to an identity without plugin", missing.Name)
	}
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok || errors.Is(err, age.ErrIncorrectIdentity) {
		return ErrNoIdentity
	}
	if strings.Contains(err.Error(), "bad header MAC") || strings.Contains(err.Error(), "failed to read header") || strings.Contains(err.Error(), "failed to read nonce") {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// explainFailure adds the place, the recipients and a hint to an error.
func (d *Decrypter) explainFailure(at Place, desc *Description, err error) error {
	if err == nil {
		return nil
	}
	if d.ShownPath != nil {
		at.File = d.ShownPath(at.File)
	}
	e, hint := &Error{Place: at, Err: err}, ""
	if list, ok := err.(diag.List); ok && len(list) == 1 {
		err = list[0]
	}
	if inner, ok := err.(*diag.Error); ok { // its hint comes last in the message
		bare := *inner
		hint, bare.Hint, e.Err = inner.Hint, "", &bare
	}
	if desc != nil && !errors.Is(err, ErrMoved) {
		e.For = desc.ForWhom()
	}
	switch {
	case hint != "":
	case errors.Is(err, ErrNoIdentity):
		hint = "tried " + strings.Join(d.Identities.Looked(), ", ") + "; " + IdentityFileVariable + " selects another identity; or ask a recipient to add you to " + RecipientsFile + " and run ccm secret rekey"
	case errors.Is(err, ErrMoved):
		hint = "move it back, or move it with ccm secret edit"
	case errors.Is(err, ErrDamaged):
		hint = "restore it from git or a backup"
	}
	return &diag.Error{Err: e, Hint: hint}
}
