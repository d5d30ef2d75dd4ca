package studio

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"time"
)

// lookInterval is the time between checks of files. A check costs a system call per file, works on
// all file systems, and needs no library.
const lookInterval = time.Second

// watch reports files that others change to pages, until the context ends.
func (w *workspace) watch(ctx context.Context) {
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	last := w.directory.signature()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.lookAtDocuments()
		if now := w.directory.signature(); now != last {
			last = now
			w.hub.send("files", struct{}{})
			w.recheckAll() // a module or a data file may have changed
		}
	}
}

// lookAtDocuments checks the open files on the disk.
func (w *workspace) lookAtDocuments() {
	w.mu.Lock()
	var list []*document
	for _, d := range w.documents {
		list = append(list, d)
	}
	w.mu.Unlock()
	for _, d := range list {
		w.lookAt(d)
	}
}

// lookAt checks a file, and reports a change to pages. It keeps saves out: a first save between
// reading the file and storing the result would look like a removed file.
func (w *workspace) lookAt(d *document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, err := w.readTrusted(d.name)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return // saving will report the mistake
	}
	where, rev, before, saved := d.diskState, d.rev, d.text, d.saved()
	if err := w.found(d, now, missing); err != nil {
		return // the journal cannot be written; the next edit reports that
	}
	if d.rev != rev {
		w.tell(w.ctx, d, before, rev, difference(before, d.text), asker{})
	} else if d.diskState != where || d.saved() != saved {
		st := d.state()
		st.Base = d.rev
		w.hub.send("state", st)
	}
	if d.diskState != where {
		w.hub.send("disk", DiskEvent{d.name, d.diskState})
	}
}

// signature returns a number that changes with the directory.
func (d *directory) signature() uint64 {
	sum := fnv.New64a()
	count := 0
	_ = fs.WalkDir(d.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if count++; count > maxListed {
			return fs.SkipAll
		}
		if entry.IsDir() && name != "." && (entry.Name()[0] == '.' || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		if isSaving(entry.Name()) {
			return nil
		}
		if fi, err := entry.Info(); err == nil && !entry.IsDir() {
			fmt.Fprintf(sum, "%s\x00%d\x00%d\x00%d\n", name, fi.Mode(), fi.Size(), fi.ModTime().UnixNano())
		} else {
			fmt.Fprintf(sum, "%s\n", name)
		}
		return nil
	})
	return sum.Sum64()
}
