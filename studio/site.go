package studio

import (
	"context"
	"errors"
	"io/fs"
	"net/http"

	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/textedit/splice"
)

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
