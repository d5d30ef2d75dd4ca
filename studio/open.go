package studio

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
)

// maxOpen is how many files can be open.
const maxOpen = 200

// lock makes this the only studio of the directory: journals have one writer.
func (s *Server) lock() error {
	dir := journalDir(s.options.Directory)
	if err := makeDirs(s.state, dir); err != nil {
		return err
	}
	f, err := s.state.Open(path.Join(dir, "lock"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(diag.Errorf(diag.Pos{File: s.options.Directory}, "another studio has this directory open").
			WithHint("use its page, or end it"), f.Close())
	}
	s.locked = f
	return nil
}

// document returns an open file, and opens it if it is not. With create it need not be there.
func (s *Server) document(name string, create bool) (*document, error) {
	if err := checkFileName(name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.documents[name]; d != nil {
		return d, nil
	}
	if len(s.documents) >= maxOpen {
		return nil, refuse(http.StatusServiceUnavailable, "limit", fmt.Sprintf("%d files are open, which is the most", maxOpen))
	}
	d, err := s.open(name, create)
	if err != nil {
		return nil, err
	}
	s.documents[name] = d
	return d, nil
}

// open opens a file, with what its journal says.
func (s *Server) open(name string, create bool) (*document, error) {
	now, err := s.readTrusted(name)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, err
	}
	if missing && !create && !s.state.Has(journalName(s.options.Directory, name)) {
		return nil, err
	}
	j, entries, err := openJournal(s.state, s.options.Directory, name)
	if err != nil {
		return nil, err
	}
	d := &document{name: name, journal: j, where: "same"}
	on := opened{name, now.text, now.digest}
	if len(entries) == 0 || entries[0].Open == nil || entries[0].Open.File != name || d.replay(entries) != nil {
		*d = document{name: name, journal: j, where: "same", text: on.Text, disk: on}
		if err := j.restart(entry{Open: &on}); err != nil {
			return nil, errors.Join(err, j.close())
		}
		return d, nil
	}
	d.rev = 0
	if err := s.found(d, now, missing); err != nil {
		return nil, errors.Join(err, j.close())
	}
	if d.saved() && d.where == "same" && j.isLong() {
		d.undo, d.redo = nil, nil
		return d, j.restart(entry{Open: &d.disk})
	}
	return d, nil
}

// readTrusted reads a file that ccm as this user would read, too.
func (s *Server) readTrusted(name string) (fileText, error) {
	t, err := s.directory.read(name)
	if err == nil {
		err = s.options.Process.Files.Trust().Check(path.Join(s.options.Directory, name))
	}
	return t, err
}

// found takes notice of what the file on the disk is now. If all was saved, the document
// follows; else a person is asked when he saves.
func (s *Server) found(d *document, now fileText, missing bool) error {
	switch {
	case missing && d.disk.Digest == "", !missing && now.digest == d.disk.Digest:
		d.where = "same"
	case missing:
		d.where = "gone"
	case now.text == d.text:
		d.where = "same"
		d.disk = opened{d.name, now.text, now.digest}
		return d.journal.append(entry{Saved: now.digest})
	case d.saved():
		return d.follow(opened{d.name, now.text, now.digest})
	default:
		d.where = "changed"
	}
	return nil
}

// follow makes the text that of the disk, as a step that can be taken back.
func (d *document) follow(on opened) error {
	if list := difference(d.text, on.Text); list != nil {
		if err := d.record(list, false); err != nil {
			return err
		}
	}
	if err := d.journal.append(entry{Based: &on}); err != nil {
		return err
	}
	d.disk, d.where = on, "same"
	return nil
}
