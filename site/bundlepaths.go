package site

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/state"
)

// makeAbsolute makes the paths in the options and in the environment absolute.
func (o *Options) makeAbsolute(dir string, p *Process) error {
	from := func(path string) string {
		if path == "" || path == "-" || filepath.IsAbs(path) || isRemote(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	for _, path := range []*string{&o.Root, &o.Facts.File, &o.Data.File, &o.Data.EnvFile, &o.Bundle.Signers} {
		*path = from(*path)
	}
	for i, path := range p.Modules {
		p.Modules[i] = from(path)
	}
	for _, name := range []string{DataVariable, state.DirVariable, encryption.IdentityFileVariable} {
		if path := os.Getenv(name); path != "" {
			if err := os.Setenv(name, from(path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// workingDirectory returns the directory in which ccm was started.
func (b *enteredBundle) workingDirectory() (string, error) {
	if b != nil {
		return b.origin, nil
	}
	return os.Getwd()
}

// fromScript returns the name of a file in messages. For a file of the bundle it is relative to
// the script, because the unpacked bundle is gone afterwards. Other files keep their names.
func (b *enteredBundle) fromScript(file string) string {
	if b == nil || !strings.HasPrefix(file, b.place.Path+string(filepath.Separator)) {
		return file
	}
	here, err := os.Getwd()
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(here, file); err == nil {
		return rel
	}
	return file
}

// fileShown returns the name in messages of a file that the user did not name. A file of the
// bundle has the name of the bundle before it. Other files keep their names.
func (b *enteredBundle) fileShown(file string) string {
	if b == nil {
		return file
	}
	return b.within(file, b.shownName)
}

// fileKnown is fileShown for records: it uses the bundle's name in the state directory.
func (b *enteredBundle) fileKnown(file string) string {
	if b == nil {
		return file
	}
	return b.within(file, b.stateName)
}

// within returns the name of a file of the bundle with name before it. Other files keep their
// names.
func (b *enteredBundle) within(file, name string) string {
	if rel, ok := strings.CutPrefix(file, filepath.Join(b.place.Path, unpackedName)+string(filepath.Separator)); ok {
		return name + "/" + rel
	}
	return file
}
