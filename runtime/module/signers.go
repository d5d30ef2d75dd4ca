package module

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/signers"
)

// checkSigners returns an error if a locked module was signed by somebody whom the site's file of signers does not
// name. mayLack allows that file to be missing.
func (s *Site) checkSigners(mayLack bool) error {
	if s.File == nil || s.Lock == nil {
		return nil
	}
	lists := make(map[string]*signers.List) // by file
	for i := range s.Lock.Modules {
		m := &s.Lock.Modules[i]
		file := s.File.SignersOf(m.Name)
		if file == "" || m.Replace != "" {
			continue
		}
		list, ok := lists[file]
		if !ok {
			var err error
			if list, err = s.readSigners(file); errors.Is(err, fs.ErrNotExist) && mayLack {
				err = nil
			} else if err != nil {
				return fmt.Errorf("signers of %s: %w", m.Name, err)
			}
			lists[file] = list
		}
		if list != nil && !list.StillNames(m.Signer) {
			return diag.Errorf(diag.Pos{File: s.shownPath(LockName)}, "%s: %w", m, diag.Not("its signer "+cmp.Or(m.Signer, "(unknown)"), "in %s", file)).
				WithHint("verify its signature again with ccm mod tidy, or get another version with ccm mod update")
		}
	}
	return nil
}

func (s *Site) readSigners(file string) (*signers.List, error) {
	path := file
	if !filepath.IsAbs(path) {
		path = s.path(file)
	}
	text, err := readOwnFile(s.policy, path, false)
	if err == nil && text == nil {
		err = &fs.PathError{Op: "open", Path: file, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, err
	}
	return signers.Parse(file, string(text))
}
