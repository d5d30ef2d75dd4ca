package state

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// keyFile holds the key for digests and for sealed properties.
const keyFile = "key"

// ReadKey returns the key of a state directory.
func ReadKey(dir string) ([]byte, error) { return (statedir.New(dir, nil, nil)).ReadFile(keyFile) }

// needKey makes sure that the keeper of secrets has the key of the directory. The key is made
// when properties are sealed for the first time.
func (s *Store) needKey() error {
	if s.keyed {
		return nil
	}
	text, err := s.dir.ReadFile(keyFile)
	switch {
	case err == nil && len(text) == secret.KeySize:
		if !bytes.Equal(text, s.secrets.Key()) {
			s.secrets.UseKey(text)
		}
		s.keyed = true
		return nil
	case err == nil:
		s.dir.SetAside(keyFile, "not a key: everything sealed with it is lost", s.clock.Now())
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	if err := s.dir.Replace(keyFile, true, statedir.Writing(s.secrets.Key())); err != nil {
		return fmt.Errorf("key: %w", err)
	}
	s.keyed = true
	return nil
}
