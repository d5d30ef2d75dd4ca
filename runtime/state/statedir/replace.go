package statedir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/atomicfile"
)

// Do asks the effect function whether an effect may happen, and performs it.
func (d *Dir) Do(op, path string, effect func() error) error {
	if d.effect != nil {
		if err := d.effect(op, path); err != nil {
			return err
		}
	}
	return effect()
}

// IsWatched reports whether there is an effect function.
func (d *Dir) IsWatched() bool { return d.effect != nil }

// MakeDir makes a directory that is missing, durably.
func (d *Dir) MakeDir(name string) error {
	path := d.Path(name)
	err := d.Do("mkdir", path, func() error { return d.mkdir(name) })
	switch {
	case errors.Is(err, os.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return d.SyncDir(filepath.Dir(name))
}

// SyncDir makes the names in a directory durable.
func (d *Dir) SyncDir(name string) error {
	return d.Do("syncdir", d.Path(name), func() error {
		f, err := d.OpenDir(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// files are the files of a state directory for package atomicfile.
type files struct{ *Dir }

// OpenFile implements atomicfile.Directory: new files have the mode 0600.
func (f files) OpenFile(name string, flag int, _ os.FileMode) (*os.File, error) {
	return f.Dir.Open(name, flag)
}

// Open implements atomicfile.Directory: only directories are opened.
func (f files) Open(name string) (*os.File, error) { return f.OpenDir(name) }

// Rename implements atomicfile.Directory.
func (f files) Rename(from, to string) error { return f.rename(from, to) }

// Replace replaces a file in one step: readers see the old or the new content. If durable is set,
// the new content survives a loss of power.
func (d *Dir) Replace(name string, durable bool, write func(w io.Writer) error) error {
	effect := func(op, name string, effect func() error) error { return d.Do(op, d.Path(name), effect) }
	return atomicfile.Replace(files{d}, name, atomicfile.Options{Durable: durable, Effect: effect}, func(f *os.File) error { return write(f) })
}

// Writing returns a function that writes a text.
func Writing(text []byte) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// SetAside keeps a copy of a damaged file in broken, with the time in its name, and warns.
func (d *Dir) SetAside(name, what string, at time.Time) {
	to := filepath.Join("broken", filepath.Base(name)+"-"+at.UTC().Format("20060102T150405"))
	err := d.MakeDir("broken")
	if err == nil {
		err = d.Do("link", d.Path(to), func() error { return d.Link(name, to) })
	}
	if errors.Is(err, os.ErrExist) {
		err = nil
	}
	if err != nil {
		d.Warn(fmt.Sprintf("%s: %s, and cannot be moved aside: %v", d.Path(name), what, err))
		return
	}
	d.Warn(fmt.Sprintf("%s: %s; a copy is in %s", d.Path(name), what, d.Path(to)))
}

// RemoveTemporary removes the temporary files that dead runs left in a directory; "." is the
// state directory.
func (d *Dir) RemoveTemporary(dir string) error {
	entries, err := d.List(dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			err = errors.Join(err, d.RemoveTemporary(name))
		case strings.HasPrefix(e.Name(), atomicfile.Prefix):
			err = errors.Join(err, d.Remove(name))
		}
	}
	return err
}

// Remove removes a file.
func (d *Dir) Remove(name string) error {
	return d.Do("remove", d.Path(name), func() error { return d.unlink(name) })
}
