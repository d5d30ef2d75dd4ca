package site

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/state"
)

// absolute makes the paths in the options absolute, and those that the environment gives.
func (o *Options) absolute(dir string, p *Process) error {
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

// workingDirectory returns the directory in which ccm was called.
func (b *enteredBundle) workingDirectory() (string, error) {
	if b != nil {
		return b.origin, nil
	}
	return os.Getwd()
}

// fromScript returns how messages name a file: one of the bundle as its script does, because
// the place where it was unpacked is gone afterwards. Others stay as they are.
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

// fileShown returns how messages name a file that the user did not name: one of the bundle with the name of
// the bundle before it. Others stay as they are.
func (b *enteredBundle) fileShown(file string) string {
	if b == nil {
		return file
	}
	return b.within(file, b.shownName)
}

// fileKnown is fileShown for what is recorded, with the name under which the state directory knows the bundle.
func (b *enteredBundle) fileKnown(file string) string {
	if b == nil {
		return file
	}
	return b.within(file, b.stateName)
}

// within returns a file of the bundle with a name of the bundle before it, any other as it is.
func (b *enteredBundle) within(file, name string) string {
	if rel, ok := strings.CutPrefix(file, filepath.Join(b.place.Path, unpackedName)+string(filepath.Separator)); ok {
		return name + "/" + rel
	}
	return file
}
