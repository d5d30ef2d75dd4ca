package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/atomicfile"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// A file that cannot be replaced by a rename is written in place. Until that is done, the state
// directory has the new content, held/NAME, and what is needed to write it, held/NAME.json. A
// content without the latter was never begun.
const (
	heldDir    = "held"
	heldSuffix = ".json"
)

// heldRecord is the content of held/NAME.json.
type heldRecord struct {
	Run  string `json:"run"`
	Path Name   `json:"path"`
	Root string `json:"root"`
	Dev  uint64 `json:"dev"`
	Ino  uint64 `json:"ino"`
	UID  uint32 `json:"uid"`
	GID  uint32 `json:"gid"`
	Mode Mode   `json:"mode"`
}

// Hold begins the content of a file that is written in place.
func (w *Work) Hold(string) (host.Held, error) {
	w.mu.Lock()
	w.held++
	name := filepath.Join(heldDir, fmt.Sprint(w.run, ".", w.held))
	w.mu.Unlock()
	dir := w.s.dir
	if err := dir.MakeDir(heldDir); err != nil {
		return nil, err
	}
	var f *os.File
	err := dir.Do("create", dir.Path(name), func() (err error) {
		f, err = dir.Open(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &heldContent{dir: dir, run: w.run, name: name, f: f}, nil
}

// A heldContent is the new content of one file.
type heldContent struct {
	dir       *statedir.Dir
	run, name string
	f         *os.File
	recorded  bool
}

// File implements host.Held.
func (c *heldContent) File() *os.File { return c.f }

// Name implements host.Held.
func (c *heldContent) Name() string { return c.dir.Path(c.name) }

// Commit implements host.Held.
func (c *heldContent) Commit(w host.InPlace) error {
	if err := c.dir.Do("sync", c.Name(), c.f.Sync); err != nil {
		return err
	}
	text, err := json.Marshal(heldRecord{
		Run: c.run, Path: Name(w.Path), Root: c.dir.RecordedRoot(w.Root), Dev: w.Dev, Ino: w.Ino,
		UID: w.Attr.UID, GID: w.Attr.GID, Mode: Mode(w.Attr.Mode),
	})
	if err != nil {
		return err
	}
	c.recorded = true
	return c.dir.Replace(c.name+heldSuffix, true, statedir.Writing(text))
}

// Remove implements host.Held.
func (c *heldContent) Remove() error {
	err := c.f.Close()
	if c.recorded { // first, because a record without a content cannot be completed
		err = errors.Join(err, removed(c.dir, c.name+heldSuffix))
	}
	return errors.Join(err, removed(c.dir, c.name))
}

// Close implements host.Held.
func (c *heldContent) Close() error { return c.f.Close() }

// removed removes a file that may be missing.
func removed(dir *statedir.Dir, name string) error {
	err := dir.Remove(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// completeWrites writes the files that dead runs have begun to write in place, and warns of each.
// The next run tries again what could not be written, unless another file is there by now.
func completeWrites(dir *statedir.Dir, image string) {
	entries, err := dir.List(heldDir)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			dir.Warn(fmt.Sprintf("%s: cannot read unfinished writes of runs: %v", dir.Path(heldDir), err))
		}
		return
	}
	_ = dir.RemoveTemporary(heldDir)
	recorded := make(map[string]bool)
	for _, e := range entries {
		if base, ok := strings.CutSuffix(e.Name(), heldSuffix); ok && !strings.HasPrefix(base, atomicfile.Prefix) {
			recorded[base] = true
		}
	}
	for _, e := range entries {
		name := filepath.Join(heldDir, e.Name())
		switch base := strings.TrimSuffix(e.Name(), heldSuffix); {
		case strings.HasPrefix(base, atomicfile.Prefix):
		case base != e.Name():
			completeWrite(dir, filepath.Join(heldDir, base), image)
		case !recorded[base]:
			_ = dir.Remove(name) // the write did not begin
		}
	}
}

// completeWrite writes one file.
func completeWrite(dir *statedir.Dir, name, image string) {
	var x heldRecord
	text, err := dir.ReadFile(name + heldSuffix)
	if err == nil {
		err = json.Unmarshal(text, &x)
		x.Root = dir.RootOf(x.Root)
	}
	var f *os.File
	if err == nil {
		f, err = dir.Open(name, os.O_RDONLY)
	}
	if err == nil && image != "" && x.Root != image {
		err = diag.Expected("a path in %s", image).Found("%s in %s", x.Path, x.Root)
	}
	if err != nil {
		dir.Warn(fmt.Sprintf("%s: cannot read unfinished writes of a run: %v", dir.Path(name), err))
	} else {
		defer f.Close()
		h := host.New(host.Options{Root: x.Root})
		w := host.InPlace{Root: x.Root, Path: string(x.Path), Dev: x.Dev, Ino: x.Ino, Attr: safepath.Attr{UID: x.UID, GID: x.GID, Mode: uint32(x.Mode)}}
		err = dir.Do("overwrite", w.Path, func() error { return host.CompleteWrite(h, w, f) })
		switch {
		case err == nil:
			dir.Warn(fmt.Sprintf("completed %s, which run %s was writing when it was killed", x.Path, x.Run))
		case errors.Is(err, host.ErrAnotherFile) || errors.Is(err, os.ErrNotExist):
			dir.Warn(fmt.Sprintf("run %s was killed while writing %s, which was replaced since", x.Run, x.Path))
		default:
			dir.Warn(fmt.Sprintf("run %s was killed while writing %s: %v", x.Run, x.Path, err))
			return
		}
	}
	if err := errors.Join(removed(dir, name+heldSuffix), removed(dir, name)); err != nil {
		dir.Warn(err.Error())
	}
}
