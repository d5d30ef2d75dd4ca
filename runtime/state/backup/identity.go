package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"filippo.io/age"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// identityFile holds the identity of the machine in the format of age. Contents with secrets are
// encrypted to it. It never leaves the state directory. The program age can use it: age -d -i
// identity FILE.
const identityFile = "identity"

// readIdentity returns the identity of the machine. The error wraps [os.ErrNotExist] if there is
// none yet.
func (s *Store) readIdentity() (*age.X25519Identity, error) {
	if s.machine != nil {
		return s.machine, nil
	}
	text, err := s.Dir.ReadFile(identityFile)
	if err != nil {
		return nil, err
	}
	id, err := age.ParseX25519Identity(string(bytes.TrimSpace(text)))
	if err != nil {
		return nil, errNoIdentity // the error of age shows parts of the identity
	}
	s.machine = id
	return id, nil
}

// errNoIdentity says that the file of the identity holds no identity.
var errNoIdentity = diag.Not("", "an identity: everything encrypted to it is lost")

// needIdentity makes sure that the machine has an identity. It is generated on first use.
func (s *Store) needIdentity() error {
	_, err := s.readIdentity()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNoIdentity):
		s.Dir.SetAside(identityFile, err.Error(), s.Now())
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	if err := s.Dir.Replace(identityFile, true, statedir.Writing([]byte(id.String()+"\n"))); err != nil {
		return fmt.Errorf("%s: %w", identityFile, err)
	}
	s.machine = id
	return nil
}

// encrypt returns a writer that encrypts to the machine's identity. To close it does not close w.
func (s *Store) encrypt(w io.Writer) (io.WriteCloser, error) {
	id, err := s.readIdentity()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", identityFile, err)
	}
	return age.Encrypt(w, id.Recipient())
}

// decrypt returns a reader of the plain text of what encrypt wrote.
func (s *Store) decrypt(r io.Reader) (io.Reader, error) {
	id, err := s.readIdentity()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", identityFile, err)
	}
	out, err := age.Decrypt(r, id)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, errors.New("encrypted for another machine, or before the file identity was lost")
	}
	return out, err
}
