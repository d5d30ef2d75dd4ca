package backup

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/state/statedir"
)

// Once there are as many small files of earlier runs as packFrom, they are moved into a pack. With 500
// runs that change 10 files each, the backups take 4 MB on disk instead of 21. A run moves at most maxPack
// files more than it has stored itself, because each takes 0.2 ms.
const (
	packFrom = 64
	maxPack  = 256
)

// pack moves small contents of earlier runs into a pack if there are many. Those of the present run
// stay files, so that to undo it takes no longer. The pack is durable before the files are removed. After
// a kill in between, the files count, and go into the next pack.
func (w *Writer) pack() error {
	name := packFile(w.run)
	if w.small-len(w.used) < packFrom || w.s.Dir.Has(name) {
		return nil
	}
	var list []packedContent
	var files []string
	w.small = 0 // what was recorded may be wrong
	err := w.s.each(func(id, file string, size int64) error {
		if id == "" || size > block {
			return nil
		}
		w.small++
		if w.used[digestOf(id)] || len(list) == maxPack+len(w.used) {
			return nil
		}
		c := packedContent{packEntry: packEntry{id: digestOf(id)}}
		if n := len(list); n > 0 && list[n-1].id == c.id {
			return nil // the same with another suffix
		}
		c.suffix = byte(slices.Index(suffixes, strings.TrimPrefix(filepath.Base(file), id)))
		var err error
		c.bytes, err = w.s.Dir.ReadFile(file)
		list, files = append(list, c), append(files, file)
		return err
	})
	if err != nil || len(list) < packFrom {
		return err
	}
	text := encodePack(list)
	if w.total+sizeOnDisk(int64(len(text))) > w.s.Bytes {
		return nil // until makeRoom has removed a tenth
	}
	if err := w.s.Dir.MakeDir(packsDir); err != nil {
		return err
	}
	if err := w.writePack(name, text); err != nil {
		return err
	}
	for _, file := range files {
		if _, err := w.removeFile(file); err != nil {
			return err
		}
	}
	return nil
}

// writePack writes a pack durably.
func (w *Writer) writePack(name string, text []byte) error {
	err := w.s.Dir.Replace(name, true, statedir.Writing(text))
	if err == nil {
		w.total += sizeOnDisk(int64(len(text)))
	}
	w.s.forgetPacks()
	return err
}

// retain removes the contents of a pack for which keep is false: the pack is written again without them, or
// removed. Of a damaged pack, only intact contents are kept.
func (w *Writer) retain(p *pack, keep func(e packEntry) bool) error {
	if p.err != nil {
		return p.err
	}
	left := slices.DeleteFunc(slices.Clone(p.entries), func(e packEntry) bool { return !keep(e) })
	if len(left) == len(p.entries) && !p.damaged {
		return nil
	}
	f, err := w.s.Dir.Open(p.file, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	var list []packedContent
	for _, e := range left {
		text, err := io.ReadAll(e.in(f))
		if err != nil {
			return err
		}
		if !p.damaged || w.isIntact(e, text) {
			list = append(list, packedContent{e, text})
		}
	}
	w.total -= sizeOnDisk(p.size)
	if len(list) == 0 {
		w.s.forgetPacks()
		return w.s.Dir.Remove(p.file)
	}
	return w.writePack(p.file, encodePack(list))
}

// isIntact reports whether a text is the content of an entry.
func (w *Writer) isIntact(e packEntry, text []byte) bool {
	r, err := w.s.decode(e.name(), source{bytes.NewReader(text), io.NopCloser(nil), suffixes[e.suffix]})
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close()) == nil
}
