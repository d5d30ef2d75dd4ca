package studio

import (
	"context"
	"fmt"
	"net/http"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/textedit/splice"
	"github.com/luaccm/ccm/studio/model"
)

// notDerived is why there is no text in the other language while the text has mistakes.
const notDerived = "updated when the errors are fixed"

// deriveManifest returns a manifest with the literal declarations of a script.
func (c *check) deriveManifest(own model.Types, good bool) *DerivedText {
	out := &DerivedText{Language: model.YAML}
	if !good {
		out.Reason = notDerived
		return out
	}
	m, err := model.Read(c.name, c.texts[c.by.pathOf(c.name)], withTypes(shippedTypes(), own))
	if err == nil {
		var left []model.Mark
		out.Text, left, err = m.Manifest()
		if len(left) > 0 {
			out.Reason = fmt.Sprintf("%d parts of the script cannot be written in a manifest, first on line %d: %s", len(left), left[0].Line, left[0].Reason)
		}
	}
	if err != nil {
		out.Reason = errText(err)
		return out
	}
	out.Current, out.Editable = true, true
	return out
}

// parse returns the mistakes in a file without declarations.
func (c *check) parse() error {
	text := c.texts[c.by.pathOf(c.name)]
	switch c.language {
	case model.Lua:
		_, err := luaapi.Parse(c.name, text)
		return err
	case model.YAML, "json":
		_, err := data.ParseAll(c.name, text)
		return err
	}
	return nil
}

// parseData returns the value of a data file.
func parseData(name, text string) (any, error) {
	switch languageOf(name) {
	case model.YAML, "json":
		docs, err := data.ParseAll(name, text)
		if err != nil {
			return nil, err
		}
		if len(docs) != 1 {
			return nil, diag.At(diag.Pos{File: name}, diag.Expected("one document").Found("%d", len(docs)))
		}
		return docs[0].Root.Go(), nil
	}
	return nil, diag.At(diag.Pos{File: name}, diag.Expected("YAML or JSON"))
}

// editDerived makes an edit of the derived text an edit of the file. If a part of the edit has no
// counterpart in the file, nothing is edited. The caller holds the document.
func (w *workspace) editDerived(ctx context.Context, d *document, in TextEdit) (any, error) {
	if d.checked == nil || d.checked.rev != d.rev || d.checked.derived == nil || !d.checked.derived.Current {
		return nil, refuse(http.StatusUnprocessableEntity, "convert", "the text in the other language is out of date")
	}
	d.readModel()
	if d.model == nil {
		return nil, refuse(http.StatusUnprocessableEntity, "shape", "the text has an error: "+errText(d.modelErr))
	}
	base := d.checked.derived.Text
	typed, err := typedText(base, in)
	if err != nil {
		return nil, err
	}
	next, list, marks, err := d.model.ApplyDerived(base, typed)
	if err != nil {
		return nil, err
	}
	if len(marks) > 0 {
		f := Failure{Error: marks[0].Reason, Code: "convert", Line: marks[0].Line, Hint: "convert the file to Lua first"}
		for _, m := range marks {
			f.Conflicts = append(f.Conflicts, m.Line)
		}
		return nil, &refusal{http.StatusUnprocessableEntity, f}
	}
	if err := checkText(d.text, list); err != nil {
		return nil, err
	}
	before, rev := d.text, d.rev
	if len(list) > 0 {
		if err := d.record(list, in.Joined); err != nil {
			return nil, err
		}
		if next.Text == d.text {
			d.model, d.modelErr, d.read = next, nil, d.rev
		}
	}
	return w.tell(ctx, d, before, rev, list, asker{in.Client, in.Have, false}), nil
}

// typedText returns the text after the edit in a request.
func typedText(base string, in TextEdit) (string, error) {
	if in.Text != nil {
		return *in.Text, nil
	}
	list, err := splicesOf(base, in)
	if err != nil {
		return "", err
	}
	typed, err := splice.Apply(base, list)
	if err != nil {
		return "", refuse(http.StatusBadRequest, "", err.Error())
	}
	return typed, nil
}
