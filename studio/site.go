package studio

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/textedit/splice"
	"github.com/luaccm/ccm/studio/model"
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

// atRevision refuses a request about an older text.
func (w *workspace) atRevision(d *document, rev int) error {
	if rev == d.rev {
		return nil
	}
	st := d.state()
	text := d.text
	st.Text = &text
	return &refusal{http.StatusConflict, Failure{
		Error: "the file was edited elsewhere meanwhile", Code: "stale", State: st,
	}}
}

// serveState answers GET /api/state.
func (s *Server) serveState(w http.ResponseWriter, r *http.Request) {
	respond(w)(s.workspace.wholeState(r.Context(), r.URL.Query().Get("file")))
}

// beginEdit returns an open file for a change of the text with a revision. The document is held
// until end is called.
func (w *workspace) beginEdit(name string, rev int) (d *document, end func(), err error) {
	if d, err = w.document(name, false); err != nil {
		return nil, nil, err
	}
	d.mu.Lock()
	if err := w.atRevision(d, rev); err != nil {
		d.mu.Unlock()
		return nil, nil, err
	}
	return d, d.mu.Unlock, nil
}

// wholeState returns a document with its text.
func (w *workspace) wholeState(ctx context.Context, name string) (any, error) {
	d, err := w.document(name, false)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.checked == nil || d.checked.rev != d.rev {
		w.checkSoon(ctx, d, false)
	}
	st := d.state()
	text := d.text
	st.Text = &text
	return st, nil
}

// newFile answers POST /api/new.
func (w *workspace) newFile(ctx context.Context, in NewRequest) (any, error) {
	if err := checkFileName(in.File); err != nil {
		return nil, err
	}
	if _, err := w.directory.read(in.File); !errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(http.StatusConflict, "", terminal.Line(in.File)+" already exists")
	}
	d, err := w.document(in.File, true)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.text != "" {
		return nil, refuse(http.StatusConflict, "", terminal.Line(in.File)+" is already open")
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
	w.checkSoon(ctx, d, false)
	st := d.state()
	st.Text, st.Client = &d.text, ""
	w.hub.send("files", struct{}{})
	return st, nil
}

// beginning returns the first text of a new file.
func beginning(name string) string {
	if languageOf(name) == "yaml" && kindOf(name, nil) == "manifest" {
		return "ccm:\n  resources: []\n"
	}
	return ""
}

// convert answers POST /api/convert.
func (w *workspace) convert(ctx context.Context, in Convert) (any, error) {
	d, err := w.document(in.File, false)
	if err != nil {
		return nil, err
	}
	if err := w.gate.check(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	if d.checked == nil || d.checked.rev != d.rev {
		w.checkSoon(ctx, d, false)
	}
	c, rev := d.checked, d.rev
	d.mu.Unlock()
	switch {
	case c == nil || c.derived == nil:
		return nil, refuse(http.StatusUnprocessableEntity, "", "this file cannot be shown in another language")
	case c.rev != rev || !c.derived.Current:
		return nil, refuse(http.StatusUnprocessableEntity, "", "no text in the other language: "+c.derived.Reason)
	}
	to := in.To
	if to == "" {
		to = strings.TrimSuffix(d.name, path.Ext(d.name)) + map[string]string{model.Lua: ".lua", model.YAML: ".yaml"}[c.derived.Language]
	}
	return w.newFile(ctx, NewRequest{File: to, Text: c.derived.Text})
}
