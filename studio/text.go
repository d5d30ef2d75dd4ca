package studio

import (
	"context"
	"net/http"

	"github.com/luaccm/ccm/runtime/textedit/splice"
)

// editText answers POST /api/text.
func (w *workspace) editText(ctx context.Context, in TextEdit) (any, error) {
	d, end, err := w.beginEdit(in.File, in.Rev)
	if err != nil {
		return nil, err
	}
	defer end()
	if in.Derived {
		return w.editDerived(ctx, d, in)
	}
	before, base := d.text, d.rev
	list, err := splicesOf(before, in)
	if err != nil {
		return nil, err
	}
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
	return w.tell(ctx, d, before, base, list, asker{in.Client, in.Have, true}), nil
}

// splicesOf returns the splices of a request in bytes of a text.
func splicesOf(text string, in TextEdit) ([]splice.Splice, error) {
	list := make([]splice.Splice, len(in.Splices))
	for i, x := range in.Splices {
		if x.From < 0 || x.To < x.From {
			return nil, refuse(http.StatusBadRequest, "", "a splice ends before it begins")
		}
		list[i] = splice.Splice(x)
	}
	return splice.FromUTF16(text, list), nil
}

// checkText refuses a text that would be too long to open again.
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
func (w *workspace) undo(redo bool) func(ctx context.Context, in Step) (any, error) {
	return func(ctx context.Context, in Step) (any, error) {
		d, end, err := w.beginEdit(in.File, in.Rev)
		if err != nil {
			return nil, err
		}
		defer end()
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
		return w.tell(ctx, d, before, base, list, asker{in.Client, in.Have, false}), nil
	}
}
