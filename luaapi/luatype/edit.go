package luatype

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A type with an edit function changes the text of one file, its property path or, without that,
// its name. The function gets the wanted properties and the text, and returns the new text. It does
// not look at the machine. Its second result is the state for comparison with the wanted
// properties; without it, the resource is stable if the text is unchanged. The third result has the
// wanted properties for reports: a line with its groups filled in. The
// fourth result is a phrase, the fifth a warning about the file.

// fileLimit is the maximum size of a file that is read into a script.
const fileLimit = 64 << 20

// checkEdit reports an edit function without a path. It reads which properties say what part of the file is edited.
func (r *reader) checkEdit(given *lua.LTable, d *definition) {
	d.part = r.strings(given, nil, "part")
	for _, name := range d.part {
		if d.schema.Field(name) == nil || d.edit == nil {
			r.fail("part", "", "%w", diag.Expected("properties of a type with edit").Got("%q", name))
		}
	}
	f := d.schema.Field("path")
	switch {
	case d.edit == nil:
	case f == nil:
		r.fail("edit", `add path = { type = "path" }`, "a type with edit requires the property path")
	case d.schema.Field("ensure") == nil:
		r.fail("edit", `add ensure = { enum = { "present", "absent" }, default = "present" }`, "a type with edit requires the property ensure")
	}
}

// validateEdit reports a property that is no path, and mistakes that the script finds.
func (d *definition) validateEdit(want *resource.Properties) error {
	if err := new(Path).UnmarshalText([]byte(filePath(want))); err != nil {
		e := resource.PropertyErrorf("path", "%w", err)
		if want.Text("path") == "" {
			e = resource.PropertyErrorf("path", "%w", diag.RequiredUnless("", "the name must be an absolute path"))
			e.Hint = resource.HomeHint(want.Name())
		}
		return e
	}
	if _, _, err := d.creation(want); err != nil {
		return err
	}
	if err := d.checkValidation(want); err != nil {
		return err
	}
	return d.validateAny(want)
}

// filePath returns the path of the edited file.
func filePath(want *resource.Properties) string {
	if path := want.Text("path"); path != "" {
		return path
	}
	return want.Name()
}

// editedPart returns which part of the file is edited, and what is wanted of it. A key that was left out is the name.
// Of a list to which others may add, the value is the part.
func (d *definition) editedPart(want *resource.Properties) (part, wanted string) {
	value := func(property string) string {
		v, _ := want.Value(property)
		return raw(v.Go())
	}
	var parts []string
	known := false
	for _, name := range d.part {
		v := value(name)
		if v == "" && name == "key" {
			v = want.Name()
		}
		known = known || v != ""
		parts = append(parts, v)
	}
	if !known {
		return "", ""
	}
	wanted = want.WantedEnsure()
	among := value("among") == "true"
	if among {
		parts = append(parts, value("value"))
	} else if wanted != absent {
		for _, name := range []string{"value", "values", "no_value"} {
			if v, given := want.Value(name); given {
				wanted += fmt.Sprintf(" %#v", v.Go())
			}
		}
	}
	return fmt.Sprintf("%q %t", parts, among), wanted
}

// editStatus reads the file and calls the script for the new text.
func (d *definition) editStatus(ctx context.Context, v *host.View, want *resource.Properties) (any, error) {
	path := filePath(want)
	info, err := v.Lstat(path)
	from := path // where the text is read
	if err == nil && info.Kind == safepath.Symlink && d.linksOf(want) != linksRefuse {
		if from, err = host.FollowLink(v, path); err != nil {
			return nil, err
		}
		if info, err = v.Lstat(from); d.linksOf(want) == linksFollow {
			path = from
		}
	}
	switch {
	case err != nil:
		return nil, err
	case info.Kind == safepath.Missing && want.WantedEnsure() == absent:
		return State{Data: map[string]any{"ensure": absent}, schema: d.schema}, nil
	case info.Kind == safepath.Missing:
		made, err := d.fileToMake(v, want, path)
		if err != nil {
			return nil, err
		}
		s, err := d.callEdit(ctx, v, want, path, "")
		if err == nil {
			s.text.HaveExists, s.newFile = false, made
		}
		return s, err
	case info.Kind == safepath.Symlink:
		to, err := host.LinkEnd(v, path)
		if err != nil {
			return nil, diag.Expected("a file to edit at %s", path).Found(`a symbolic link, which is not followed (%w; create the file with links = "follow")`, err)
		}
		return nil, diag.Expected("a file to edit at %s", path).Found(`a symbolic link (edit the target with path = %q or links = "follow", or replace the link with links = "replace")`, to)
	case info.Kind != safepath.Regular:
		return nil, diag.Expected("a file to edit at %s", path).Found("%s", info.Kind)
	}
	before, err := v.ReadText(from, fileLimit)
	if err != nil {
		return nil, err
	}
	if l := d.latest; l.want == want && l.have.text != nil && l.have.text.HaveExists && l.have.text.Have == before && l.have.from == from {
		return l.have, nil // perform looks again
	}
	s, err := d.callEdit(ctx, v, want, path, before)
	s.from = from
	if err == nil {
		d.latest.want, d.latest.have = want, s
	}
	return s, err
}

// byteOrderMark begins some texts of Windows. It belongs to no line.
const byteOrderMark = "\ufeff"

// callEdit calls the edit function. A byte order mark stays where it is, and the function does not see it.
func (d *definition) callEdit(ctx context.Context, v *host.View, want *resource.Properties, path, before string) (s State, err error) {
	text, marked := strings.CutPrefix(before, byteOrderMark)
	L := d.values()
	out, err := d.invoke(ctx, access{view: v, function: "edit"}, d.edit, 5, d.luaWant(L, want), lua.LString(text), d.lib.lookHost(L))
	if err != nil {
		return s, err
	}
	after, ok := out[0].(lua.LString)
	if !ok {
		return s, d.blame(d.edit, "edit", "%w", diag.Expected("the new text").Got("%s", describe(out[0])))
	}
	if marked {
		after = byteOrderMark + after
	}
	s = State{Data: make(map[string]any), schema: d.schema}
	if out[1] != lua.LNil {
		if s, err = d.stateOf(d.edit, "edit", out[1]); err != nil {
			return s, err
		}
	}
	if out[2] != lua.LNil {
		shown, err := d.stateOf(d.edit, "edit", out[2])
		if err != nil {
			return s, err
		}
		s.shownValues = shown.Data
	}
	if out[3] != lua.LNil {
		phrase, ok := out[3].(lua.LString)
		if !ok || !isPhrase(string(phrase)) {
			return s, d.blame(d.edit, "edit", "%w", diag.Expected(`a phrase that follows "Would have"`).Got("%s", describe(out[3])))
		}
		s.phrase = string(phrase)
	}
	if warning, ok := out[4].(lua.LString); ok && d.warned != want {
		d.warned = want // a run looks several times
		v.Log().Warn(fmt.Sprintf("%s#%s: %s", d.name, want.Name(), warning))
	}
	if s.Data["ensure"] == nil {
		s.Data["ensure"] = d.foundEnsure(want, before == string(after))
	}
	s.text = &resource.TextChange{Path: path, Have: before, Want: string(after), HaveExists: true, WantExists: true}
	return s, nil
}

// foundEnsure returns the found value of ensure: the wanted one if nothing is to do.
func (d *definition) foundEnsure(want *resource.Properties, same bool) string {
	desired := want.WantedEnsure()
	switch {
	case same:
		return desired
	case desired == absent:
		return "present"
	}
	return absent
}

// editDecide compares, and writes if the text is to be another one.
func (d *definition) editDecide(want *resource.Properties, have any) resource.Decision {
	s := have.(State)
	dec := d.compare(want, s)
	differs := s.text != nil && s.text.Have != s.text.Want
	switch {
	case differs && len(dec.Diff) == 0:
		dec.Err = d.blame(d.edit, "edit", "the text would change although the state is up to date: %s", text(s.Data))
	case !differs && len(dec.Diff) > 0:
		dec.Err = d.blame(d.edit, "edit", "the text would not change although the state differs: %s", dec)
	}
	if dec.Err != nil || !differs {
		return dec
	}
	for i := range dec.Actions {
		dec.Actions[i].Phrase = cmp.Or(s.phrase, dec.Actions[i].Phrase)
	}
	dec.Text = func(context.Context, *host.View) (resource.TextChange, error) { return *s.text, nil }
	dec.Effects = []overlay.PathEffect{{Path: s.text.Path, Kind: safepath.Regular, Content: new(s.text.Want), KeepsHardLinks: d.keepsHardLinks(want)}}
	if s.newFile != nil {
		dec.Effects[0].Attr = &s.newFile.attr
		s.newFile.addTo(&dec)
	}
	dec.Complete = true
	return dec
}

// editPerform writes the text.
func (d *definition) editPerform(ctx context.Context, h *host.Host, want *resource.Properties, _ resource.Action) error {
	have, err := d.editStatus(ctx, &h.View, want)
	if err != nil {
		return err
	}
	s := have.(State)
	if s.text == nil {
		return nil
	}
	if d.keepsHardLinks(want) {
		h = host.KeepHardLinks(h)
	}
	write, attr := h.WriteFile, safepath.Attr{}
	if s.newFile != nil {
		attr = s.newFile.attr
		if d.linksOf(want) != linksReplace { // otherwise a link may be there
			write = h.WriteNewFile
		}
	} else {
		info, err := h.Lstat(s.from)
		if err != nil {
			return err
		}
		attr = safepath.Attr{UID: info.UID, GID: info.GID, Mode: info.Mode}
	}
	if err := d.askValidation(ctx, h, want, s.text.Path, s.text.Want, attr); err != nil {
		return err
	}
	return write(s.text.Path, strings.NewReader(s.text.Want), attr)
}

// textOf reads the text of a decision: the content of a file before and after.
func (d *definition) textOf(v lua.LValue) (func(context.Context, *host.View) (resource.TextChange, error), error) {
	t, ok := v.(*lua.LTable)
	if v == lua.LNil {
		return nil, nil
	}
	var path lua.LString
	if ok {
		path, ok = t.RawGetString("path").(lua.LString)
	}
	if !ok {
		return nil, d.blame(d.decide, "decide", "text: %w", diag.Expected("{ path = ..., have = ..., want = ... }").Got("%s", describe(v)))
	}
	out := resource.TextChange{Path: string(path)}
	have, want := t.RawGetString("have"), t.RawGetString("want")
	if out.HaveExists = have != lua.LNil; out.HaveExists {
		out.Have = lua.LVAsString(have)
	}
	if out.WantExists = want != lua.LNil; out.WantExists {
		out.Want = lua.LVAsString(want)
	}
	return func(context.Context, *host.View) (resource.TextChange, error) { return out, nil }, nil
}
