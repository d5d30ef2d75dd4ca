package studio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/textedit/splice"
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

// record writes splices to the journal and applies them.
func (d *document) record(list []splice.Splice, joined bool) error {
	if _, err := splice.Apply(d.text, list); err != nil {
		return refuse(http.StatusBadRequest, "", err.Error())
	}
	if err := d.journal.append(entry{Edit: list, Joined: joined}); err != nil {
		return err
	}
	return d.change(list, joined)
}

// atRevision refuses what was asked about an older text.
func (s *Server) atRevision(d *document, rev int) error {
	if rev == d.rev {
		return nil
	}
	st := s.stateOf(d)
	text := d.text
	st.Text = &text
	return &refusal{http.StatusConflict, Failure{
		Error: "the file was edited elsewhere meanwhile", Code: "stale", State: st,
	}}
}

// serveState answers GET /api/state.
func (s *Server) serveState(w http.ResponseWriter, r *http.Request) {
	respond(w)(s.wholeState(r.Context(), r.URL.Query().Get("file")))
}

func (s *Server) wholeState(ctx context.Context, name string) (any, error) {
	d, err := s.document(name, false)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.checked == nil || d.checked.rev != d.rev {
		s.checkSoon(ctx, d, false)
	}
	st := s.stateOf(d)
	text := d.text
	st.Text = &text
	return st, nil
}

// An asker is the page that asked for a change.
type asker struct {
	client string
	have   int  // the serial of the last state that it took
	typed  bool // it has the text already
}

// tell answers a change that led from the text before at revision base, and tells the other
// pages.
func (s *Server) tell(ctx context.Context, d *document, before string, base int, list []splice.Splice, by asker) *State {
	s.checkSoon(ctx, d, false)
	st := s.stateOf(d)
	st.Base, st.Client = base, by.client
	st.Splices = wireSplices(splice.UTF16(before, inOrder(list)))
	s.hub.sendOthers(by.client, "state", st)
	st = d.answer(st, by.have)
	if by.typed {
		st.Splices = nil
	}
	return st
}

func inOrder(list []splice.Splice) []splice.Splice {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b splice.Splice) int { return a.From - b.From })
	return list
}

func wireSplices(list []splice.Splice) []Splice {
	out := make([]Splice, len(list))
	for i, s := range list {
		out[i] = Splice(s)
	}
	return out
}

// text answers POST /api/text.
func (s *Server) editText(ctx context.Context, in TextEdit) (any, error) {
	d, err := s.document(in.File, false)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := s.atRevision(d, in.Rev); err != nil {
		return nil, err
	}
	if in.Derived {
		return s.editDerived(ctx, d, in)
	}
	before, base := d.text, d.rev
	list := make([]splice.Splice, len(in.Splices))
	for i, x := range in.Splices {
		if x.From < 0 || x.To < x.From {
			return nil, refuse(http.StatusBadRequest, "", "a splice ends before it begins")
		}
		list[i] = splice.Splice(x)
	}
	list = splice.FromUTF16(before, list)
	if in.Text != nil {
		list = difference(before, *in.Text)
	}
	if err := checkText(before, list); err != nil {
		return nil, err
	}
	if len(list) > 0 {
		if err := d.record(list, in.Joined); err != nil {
			return nil, err
		}
	}
	return s.tell(ctx, d, before, base, list, asker{in.Client, in.Have, true}), nil
}

// checkText refuses a text that is too long to be opened again.
func checkText(before string, list []splice.Splice) error {
	size := len(before)
	for _, x := range list {
		size += len(x.Text) - (x.To - x.From)
	}
	if size > maxText {
		return refuse(http.StatusRequestEntityTooLarge, "limit", errTooLarge.Error())
	}
	return nil
}

// undo answers POST /api/undo and redo.
func (s *Server) undo(redo bool) func(ctx context.Context, in Step) (any, error) {
	return func(ctx context.Context, in Step) (any, error) {
		d, err := s.document(in.File, false)
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if err := s.atRevision(d, in.Rev); err != nil {
			return nil, err
		}
		before, base := d.text, d.rev
		steps, move := d.undo, d.back
		if redo {
			steps, move = d.redo, d.forth
		}
		if len(steps) == 0 {
			return nil, errNothing
		}
		if err := d.journal.append(entry{Undo: !redo, Redo: redo}); err != nil {
			return nil, err
		}
		list, err := move()
		if err != nil {
			return nil, err
		}
		return s.tell(ctx, d, before, base, list, asker{in.Client, in.Have, false}), nil
	}
}

// newFile answers POST /api/new.
func (s *Server) newFile(ctx context.Context, in New) (any, error) {
	if err := checkFileName(in.File); err != nil {
		return nil, err
	}
	if _, err := s.directory.read(in.File); !errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(http.StatusConflict, "", terminal.Line(in.File)+" is there already")
	}
	d, err := s.document(in.File, true)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.text != "" {
		return nil, refuse(http.StatusConflict, "", terminal.Line(in.File)+" is open already")
	}
	text := in.Text
	if text == "" {
		text = beginning(in.File)
	}
	if list := difference("", text); list != nil {
		if err := checkText("", list); err != nil {
			return nil, err
		}
		if err := d.record(list, false); err != nil {
			return nil, err
		}
	}
	s.checkSoon(ctx, d, false)
	st := s.stateOf(d)
	st.Text, st.Client = &d.text, ""
	s.hub.send("files", struct{}{})
	return st, nil
}

// beginning returns what a new file holds.
func beginning(name string) string {
	if languageOf(name) == "yaml" && kindOf(name, nil) == "manifest" {
		return "ccm:\n  resources: []\n"
	}
	return ""
}
