package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/words"
	"github.com/luaccm/ccm/site/machine"
)

// CheckNewDirectory returns an error unless a directory for a site is missing or empty.
func CheckNewDirectory(e *Env, dir string) error {
	if err := e.Files.CheckPlace(dir); err != nil {
		return err
	}
	switch names, err := os.ReadDir(dir); {
	case err == nil && len(names) > 0:
		return diag.About(dir, diag.Expected("an empty directory").Found("%d entries", len(names)))
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	return nil
}

// SaveSite writes a site into a directory, and returns a line about it.
func SaveSite(e *Env, dir string, s *machine.Site) (line string, err error) {
	h := Machine(e)
	for _, file := range s.Files {
		name := filepath.Join(dir, file.Name)
		if err := h.SaveDirectory(filepath.Dir(name)); err != nil {
			return "", err
		}
		if err := h.SaveNew(name, file.Content, file.Mode); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("wrote %s: %s in %s, %s left out (see %s)", dir, words.Count(s.Declared, "resource"), words.Count(len(s.Files), "file"), words.Count(len(s.LeftOut), "item"), filepath.Join(dir, "README.md")), nil
}
