package studio

import (
	"context"
	"errors"
	"net/http"

	"github.com/luaccm/ccm/runtime/diag"
)

// save answers POST /api/save.
func (w *workspace) save(ctx context.Context, in Save) (any, error) {
	d, end, err := w.beginEdit(in.File, in.Rev)
	if err != nil {
		return nil, err
	}
	defer end()
	had := d.disk.Digest
	switch in.OnConflict {
	case "", "ask":
	case "mine":
		had = in.DiskDigest // the content that the person saw and decided to replace
	case "theirs":
		return w.takeTheirs(ctx, d, in)
	default:
		return nil, refuse(http.StatusBadRequest, "", "onConflict: "+diag.Expected("ask, mine or theirs").Error())
	}
	saved, err := w.saveFile(d.name, d.text, had)
	if changed, ok := errors.AsType[*changedError](err); ok {
		d.diskState = "changed"
		if changed.gone {
			d.diskState = "gone"
		}
		return nil, &refusal{http.StatusConflict, Failure{
			Error: changed.Error(), Code: "conflict", Conflict: conflictOf(d, changed),
		}}
	}
	if err != nil {
		return nil, err
	}
	if err := d.journal.append(entry{SavedDigest: saved.digest}); err != nil {
		return nil, err
	}
	d.disk, d.diskState = fileContent{d.name, d.text, saved.digest}, "same"
	st := d.state()
	st.Base, st.Client = d.rev, in.Client
	w.hub.sendOthers(in.Client, "state", st)
	w.hub.send("files", struct{}{})
	w.recheckOthers(d)
	return d.answer(st, in.Have), nil
}

// takeTheirs makes the text equal to the file on the disk.
func (w *workspace) takeTheirs(ctx context.Context, d *document, in Save) (any, error) {
	now, err := w.readTrusted(d.name)
	if err != nil {
		return nil, err
	}
	before, base := d.text, d.rev
	list := difference(before, now.text)
	if err := d.follow(fileContent{d.name, now.text, now.digest}); err != nil {
		return nil, err
	}
	return w.tell(ctx, d, before, base, list, asker{in.Client, in.Have, false}), nil
}

// conflictOf returns the three texts of a file.
func conflictOf(d *document, c *changedError) *Conflict {
	out := &Conflict{Base: d.disk.Text, PageText: d.text, DiskText: c.now.text, Gone: c.gone, Digest: c.now.digest}
	out.Chunks, out.Conflicts = merged(out.Base, out.PageText, out.DiskText)
	return out
}

// saveFile writes a file. After the first file that studio writes into an empty directory, the
// directory is remembered as a trusted one.
func (w *workspace) saveFile(name, text, had string) (fileText, error) {
	first := w.gate.beginWriting()
	saved, err := w.directory.save(name, text, had)
	if err == nil && first {
		_ = w.gate.rememberOwn() // without it a person is asked the next time
	}
	return saved, err
}
