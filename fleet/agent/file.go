package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
)

// A fileSource is a local script, manifest, folder or bundle. It is not watched, because half of
// an edit must not be run. It is read again in each run.
type fileSource struct {
	path      string
	arguments []string
}

func newFileSource(c SourceConfig) *fileSource {
	s := &fileSource{path: c.URL}
	if c.Signers != "" {
		s.arguments = append(s.arguments, "--signers", c.Signers)
	}
	if c.SHA256 != "" {
		s.arguments = append(s.arguments, "--sha256", c.SHA256)
	}
	return s
}

// Name implements Source.
func (s *fileSource) Name() string { return s.path }

// Take implements Source.
func (s *fileSource) Take() (Site, func(), bool) {
	name, err := s.entry()
	return Site{Path: name, Arguments: s.arguments}, func() {}, err == nil
}

// Poll implements Source. It only checks that there is a file to run.
func (s *fileSource) Poll(context.Context) (bool, error) {
	_, err := s.entry()
	return false, err
}

// entry returns the file to run.
func (s *fileSource) entry() (string, error) {
	fi, err := os.Stat(s.path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = diag.NotFound("file", "", nil)
		}
		return "", err
	}
	if !fi.IsDir() {
		return s.path, nil
	}
	entry, err := bundle.FindEntry(os.DirFS(s.path))
	if err != nil {
		return "", diag.Cannot("run", "the directory", err)
	}
	return filepath.Join(s.path, entry), nil
}
