// Package atomicfile replaces files that are not on the managed machine, such as records, caches and files of sites:
// readers see the old or the new content. Files of the managed machine are written by package host.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Prefix begins the names of temporary files.
const Prefix = ".new-"

// A Directory has the file that is replaced: an [os.Root], or one with rules of its own. Names are relative to it.
type Directory interface {
	OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error)
	Open(name string) (*os.File, error)
	Rename(from, to string) error
	Link(from, to string) error
	Remove(name string) error
}

// Options are how a file is replaced.
type Options struct {
	// Durable content survives a loss of power.
	Durable bool
	// Shared files may be replaced by several processes at once: the last one wins.
	Shared bool
	// New files must not exist: if one does, the error is [fs.ErrExist].
	New bool
	// Effect performs each effect on a file, or returns the reason why it may not happen. May be nil.
	Effect func(op, name string, effect func() error) error
	// Name returns the name of the file in its directory, if that depends on what was written. May be nil.
	Name func() string
	// Check is called after all is written. Its error prevents the replacement. May be nil.
	Check func() error
}

// Replace replaces a file in one step by what write writes. Its mode is 0600 unless write changes it. After an error
// the old file is there, but for one of making the name durable.
func Replace(in Directory, name string, o Options, write func(f *os.File) error) error {
	if o.Effect == nil {
		o.Effect = func(_, _ string, effect func() error) error { return effect() }
	}
	dir, base := filepath.Split(name)
	flag := os.O_RDWR | os.O_CREATE | os.O_TRUNC
	if o.Shared {
		const random, longest = 8, 255 // bytes
		base = rand.Text()[:random] + "-" + base
		base, flag = base[:min(len(base), longest-len(Prefix))], flag|os.O_EXCL
	}
	temp := dir + Prefix + base
	var f *os.File
	err := o.Effect("create", temp, func() (err error) {
		f, err = in.OpenFile(temp, flag, 0o600)
		return err
	})
	if err != nil {
		return err
	}
	if err = o.place(in, f, temp, name, write); err != nil {
		return errors.Join(err, in.Remove(temp))
	}
	if !o.Durable {
		return nil
	}
	return o.Effect("syncdir", filepath.Dir(name), func() error {
		d, err := in.Open(filepath.Dir(name))
		if err != nil {
			return err
		}
		return errors.Join(d.Sync(), d.Close())
	})
}

// place writes the temporary file and gives it its name.
func (o Options) place(in Directory, f *os.File, temp, name string, write func(f *os.File) error) error {
	err := o.Effect("write", temp, func() error { return write(f) })
	if err == nil && o.Durable {
		err = o.Effect("sync", temp, f.Sync)
	}
	if err = errors.Join(err, f.Close()); err == nil && o.Check != nil {
		err = o.Check()
	}
	if err != nil {
		return err
	}
	if o.Name != nil {
		name = filepath.Join(filepath.Dir(name), o.Name())
	}
	return o.Effect("rename", name, func() error {
		if !o.New {
			return in.Rename(temp, name)
		}
		if err := in.Link(temp, name); err != nil {
			return err
		}
		return in.Remove(temp)
	})
}

// Text returns a function that writes a text.
func Text(text []byte) func(f *os.File) error {
	return func(f *os.File) error {
		_, err := f.Write(text)
		return err
	}
}

// Write replaces the file at a path by what write writes.
func Write(path string, o Options, write func(f *os.File) error) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	err = Replace(root, filepath.Base(path), o, write)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		at.Path = filepath.Join(filepath.Dir(path), at.Path)
	}
	return err
}
