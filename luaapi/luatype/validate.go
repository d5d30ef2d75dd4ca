package luatype

import (
	"context"
	"errors"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/schema"
)

// A type that edits can have a list property validate: a command that checks the new text before it
// is written, such as "visudo -cf %s". %s stands for a temporary file with the text, in the same
// directory and with the same owner and mode; in a plan, for a file in a directory of its own.

// validation returns the command, nil if there is none.
func (d *definition) validation(want *resource.Properties) (c resource.CheckCommand) {
	if f := d.schema.Field("validate"); f == nil || f.Kind != schema.List {
		return nil
	}
	for _, e := range want.Table().Entries {
		if e.Key == "validate" {
			for _, word := range e.Val.Items() {
				c = append(c, raw(word.Go()))
			}
		}
	}
	return c
}

// checkValidation reports mistakes in the command.
func (d *definition) checkValidation(want *resource.Properties) error {
	c := d.validation(want)
	if !c.IsGiven() {
		return nil
	}
	if err := c.Err(true); err != nil {
		return resource.PropertyErrorf("validate", "%w", err)
	}
	return nil
}

// askValidation asks the command about the text that the file is to have.
func (d *definition) askValidation(ctx context.Context, h *host.Host, want *resource.Properties, path, text string, attr safepath.Attr) (err error) {
	c := d.validation(want)
	if !c.IsGiven() {
		return nil
	}
	tmp, err := h.Create(path, attr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tmp.Discard()) }()
	if _, err := strings.NewReader(text).WriteTo(tmp); err != nil {
		return err
	}
	return c.Ask(ctx, &h.View, "validate", tmp.Name())
}

// editPredict asks the command about the new text in a plan.
func (d *definition) editPredict(ctx context.Context, v *host.View, want *resource.Properties) error {
	c := d.validation(want)
	if !c.IsGiven() {
		return nil
	}
	have, err := d.editStatus(ctx, v, want)
	s, ok := have.(State)
	if err != nil || !ok || s.text == nil || s.text.Have == s.text.Want {
		return err
	}
	return v.WithScratch(func(dir *host.Scratch) error {
		if err := dir.WriteFile("content", []byte(s.text.Want)); err != nil {
			return err
		}
		return c.Ask(ctx, v, "validate", dir.Path("content"))
	})
}
