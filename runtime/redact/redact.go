// Package redact masks secrets in events: in the differences and in the texts of files.
package redact

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
)

// A History is the properties and files that have held secrets in earlier runs. These
// secrets may not be the present ones, and are not on record.
type History interface {
	// Held returns the properties of a resource that have held secrets.
	Held(id resource.ID) []string
	// HeldIn reports whether a file has held secrets.
	HeldIn(path string) bool
}

// A Redactor masks secrets in events. A nil Redactor masks nothing.
type Redactor struct {
	k       *secret.Keeper
	history History // nil for none
	// texts says that events are to have the contents of files that change.
	texts bool
	// secretEdits are the files that are edited on behalf of resources with secrets.
	secretEdits map[string]bool
}

// New returns a redactor for the events of resources, nil if they cannot contain secrets. K has the
// secrets; k and history may be nil. Texts means that events keep the contents of changed files;
// otherwise contents only serve to mask differences.
func New(k *secret.Keeper, history History, texts bool, list []*resource.Resource) *Redactor {
	if !k.Any() && history == nil {
		// A value that is known later may be one.
		if !slices.ContainsFunc(list, func(r *resource.Resource) bool { return r.Resolve != nil || len(r.Sensitive) > 0 }) {
			return nil
		}
	}
	c := &Redactor{k: k, history: history, texts: texts, secretEdits: make(map[string]bool)}
	if c.k == nil {
		c.k = secret.New(nil)
	}
	for _, r := range list {
		if x, ok := r.Spec.(resource.FileEditor); ok && len(r.Sensitive) > 0 {
			c.secretEdits[x.EditedFile()] = true
		}
	}
	return c
}

// properties returns the properties of r that hold secrets, or have held some.
func (c *Redactor) properties(r *resource.Resource) []string {
	if c.history == nil {
		return r.Sensitive
	}
	return append(slices.Clip(r.Sensitive), c.history.Held(r.ID)...)
}

// Event redacts the differences of an event.
func (c *Redactor) Event(ev *event.Event) {
	if c == nil || len(ev.Diff) == 0 && ev.Text == nil {
		return
	}
	properties, whole := c.properties(ev.Resource), ev.Text
	if len(ev.Resource.SecretProperties) > 0 { // secrets too short to be found in a text may be in it
		ev.Text, properties = nil, append(slices.Clip(properties), "content")
	}
	if whole == nil && c.hidesContent(ev) {
		properties = append(slices.Clip(properties), "content")
	}
	if t := ev.Text; t != nil {
		edits, wholesale := ev.Resource.Spec.(resource.FileEditor)
		shared := wholesale && edits.EditedFile() != "" && c.secretEdits[edits.EditedFile()]
		held := c.history != nil && c.history.HeldIn(t.Path)
		if len(properties) > 0 || shared || held || c.k.Contains(t.Want) || c.k.Contains(t.Have) {
			shown := *t
			shown.Have, shown.Want = c.k.Conceal(t.Have, t.Want, wholesale && (shared || held))
			ev.Text = &shown
			properties = append(slices.Clip(properties), "content")
		}
	}
	if !c.texts {
		ev.Text = nil // was read only for its mask
	}
	if whole != nil && slices.Contains(properties, "content") {
		ev.Diff = c.contents(ev.Diff, whole)
	}
	ev.Diff = c.deltas(ev.Diff, properties, ev.Resource.Type)
}

// NeedsText reports whether the contents of a file are needed to mask its differences, although the
// events do not show them.
func (c *Redactor) NeedsText(diff []resource.Delta) bool {
	return c != nil && (c.k.Any() || c.history != nil) && slices.ContainsFunc(diff, isContent)
}

// MarkText marks a resource as secret if the text of its file has secrets: the text of a source is
// not among its properties.
func (c *Redactor) MarkText(r *resource.Resource, t resource.TextChange) {
	if c != nil && !slices.Contains(r.Sensitive, "content") && (c.k.Contains(t.Want) || c.k.Contains(t.Have)) {
		r.Sensitive = append(slices.Clip(r.Sensitive), "content")
	}
}

// isContent reports whether a difference is about a content, with digests or sizes.
func isContent(d resource.Delta) bool {
	return d.Property == "content" && (isContentText(d.Have) || isContentText(d.Want))
}

func isContentText(side string) bool { return resource.IsDigestText(side) || resource.IsSizeText(side) }

// contents returns differences with a mask in the place of each digest and size of a content.
func (c *Redactor) contents(list []resource.Delta, t *resource.TextChange) []resource.Delta {
	out := slices.Clone(list)
	for i, d := range out {
		if !isContent(d) {
			continue
		}
		if isContentText(d.Have) {
			out[i].Have = resource.MaskContent(c.k, t.Have)
		}
		if isContentText(d.Want) {
			out[i].Want = resource.MaskContent(c.k, t.Want)
		}
	}
	return out
}

// hidesContent reports whether the digest of a content with an unknown text must be masked: the
// file has held secrets, or was too large to be searched. A size alone reveals none.
func (c *Redactor) hidesContent(ev *event.Event) bool {
	path, _, _ := resource.BoundsOf(ev.Resource.Spec)
	switch {
	case path == "":
		return false
	case c.history != nil && c.history.HeldIn(path):
		return true
	}
	return c.k.Any() && slices.ContainsFunc(ev.Diff, func(d resource.Delta) bool {
		return d.Property == "content" && !resource.IsSizeText(d.Want)
	})
}

// Deltas returns differences of r redacted.
func (c *Redactor) Deltas(list []resource.Delta, r *resource.Resource) []resource.Delta {
	if c == nil {
		return list
	}
	return c.deltas(list, c.properties(r), r.Type)
}

// Mark adds the secrets of a resource whose lazy values have become known.
func (c *Redactor) Mark(r *resource.Resource) error {
	if c == nil {
		return nil
	}
	r.AddSecrets(c.k)
	return r.MarkSensitive(c.k)
}

// deltas returns redacted differences. The differences in the given properties are secret.
func (c *Redactor) deltas(list []resource.Delta, properties []string, of *resource.Type) []resource.Delta {
	var out []resource.Delta
	for i, d := range list {
		name, _, _ := strings.Cut(d.Property, ".")
		if !slices.Contains(properties, name) && !c.k.Contains(d.Want) && !c.k.Contains(d.Have) && (plain(name, of) || len(properties) == 0) {
			continue
		}
		if out == nil {
			out = slices.Clone(list)
		}
		out[i].Have = c.side(d.Have, false)
		out[i].Want = c.side(d.Want, true)
	}
	if out == nil {
		return list
	}
	return out
}

// plain reports whether a difference is in a property of the type, and not in a detail that only
// the type knows.
func plain(name string, of *resource.Type) bool {
	return name == "ensure" || name == resource.Refresh || of != nil && of.Properties().Field(name) != nil
}

// side returns one side of a difference in a property with secrets. It masks the secrets of a known
// text, and all of an unknown one. A size is masked without a digest, which would be the same for
// all contents of that size. A digest is masked as a whole, because it belongs to a content with an
// unknown text.
func (c *Redactor) side(text string, known bool) string {
	switch {
	case text == "", text == resource.KnownAfterRun, strings.HasPrefix(text, "("):
		return text
	case resource.IsSizeText(text):
		return "(secret)"
	case known && !resource.IsDigestText(text) && c.k.Contains(text):
		return c.k.Redact(text)
	}
	return c.k.Mask(text)
}
