package manifest

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"strings"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/template"
)

// The owner or group, and the mode, of a file that are not managed.
const (
	unmanagedOwner = "-1"
	unmanagedMode  = "xxx"
)

// declare translates a definition of TinyCM into a file of the catalog.
func (t *tinyReader) declare(d *definition) {
	where := newTable(d.name)
	f := &tinyFile{tinyReader: t, d: d, table: where, subject: "file#" + d.name.Text}
	f.set("name", d.name, d.name.Scalar())
	before := len(t.errs)
	switch ensure := f.oneOf("ensure", "contents", "exists", "removed"); ensure {
	case "removed":
		f.set("ensure", d.props["ensure"], schema.StringValue("absent"))
	default:
		f.content(ensure)
		f.attributes()
	}
	f.require()
	if len(t.errs) > before {
		return
	}
	r, err := t.file.Decode(where.tab, resource.Origin{Pos: d.name.Pos(), Dir: t.Dir, Calls: t.Calls, Scope: t.Scope})
	if err == nil {
		err = r.Mark(t.loader.Secrets, where.secrets()...)
	}
	if err == nil {
		_, err = t.Add(t.ctx, r)
	}
	if err != nil {
		t.errs.Add(err)
		return
	}
	if !t.loader.Light {
		t.m.Resources = append(t.m.Resources, ResolvedResource{Type: t.file, Name: r.ID.Name, Properties: where.tab})
	}
}

// A tinyFile translates one definition.
type tinyFile struct {
	*tinyReader
	d       *definition
	table   *table
	subject string
}

// set sets a property of the file, with the position of n or, if nil, of the name.
func (f *tinyFile) set(name string, n *data.Node, v schema.Value) {
	if n == nil {
		n = f.d.name
	}
	f.table.add(data.Entry{Key: n, Val: n}, name, v)
}

func (f *tinyFile) wrong(n *data.Node, hint, format string, args ...any) {
	e := n.Errorf(format, args...)
	e.Hint = cmp.Or(hint, e.Hint)
	f.errs = append(f.errs, withSubject(f.subject, e))
}

// oneOf returns a property with a closed set of values, of which the first is the default.
func (f *tinyFile) oneOf(name string, values ...string) string {
	n := f.d.props[name]
	if n == nil {
		return values[0]
	}
	for _, v := range values {
		if n.Text == v {
			return v
		}
	}
	f.wrong(n, diag.DidYouMean(n.Text, values), "%s: %w", name, diag.Expected("one of %s", strings.Join(values, ", ")).Got("%s", n.Describe()))
	return ""
}

// content translates ensure, type, contents, interpolate and encoding.
func (f *tinyFile) content(ensure string) {
	n := f.d.props["contents"]
	kind := f.oneOf("type", "constant", "http", "template")
	// Without interpolation, a template is ordinary content.
	interpolate := kind == "template"
	if i := f.d.props["interpolate"]; i != nil {
		if i.Kind != schema.Bool {
			f.wrong(i, "", "interpolate: %w", diag.Expected("true or false").Got("%s", i.Describe()))
			return
		}
		interpolate = i.Scalar().B
	}
	switch {
	case n == nil && ensure == "contents":
		f.wrong(f.d.name, "", "%w", diag.RequiredUnless("contents", "ensure is exists or removed"))
	case n == nil || ensure == "" || kind == "":
	case kind == "constant":
		f.constantContent(n, interpolate)
	default:
		f.fileContent(n, kind, interpolate)
	}
	if n != nil && ensure == "exists" {
		f.set("content_once", f.d.props["ensure"], schema.BoolValue(true))
	}
}

func (f *tinyFile) constantContent(n *data.Node, interpolate bool) {
	text := n.Text
	if interpolate {
		var err error
		if text, err = format(n.Text, f.constants); err != nil {
			f.errs = append(f.errs, withSubject(f.subject, n.Place("contents", err)))
			return
		}
	}
	f.set("content", n, schema.StringValue(text))
}

// fileContent translates contents that are the path or URL of a file. Without processing they
// become a source, which is fetched on demand.
func (f *tinyFile) fileContent(n *data.Node, kind string, interpolate bool) {
	u, err := url.Parse(n.Text)
	remote := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	if remote != (kind == "http") {
		if kind == "http" {
			f.wrong(n, "", "contents: %w", diag.Expected("an http or https URL").Got("%q", n.Text))
		} else {
			f.wrong(n, "type: http requires a URL", "contents: %w", diag.Expected("a path").Got("%q", n.Text))
		}
		return
	}
	decode := f.decoder()
	if decode == nil {
		return
	}
	encoded := f.d.props["encoding"] != nil && !isUTF8(f.d.props["encoding"].Text)
	if !interpolate && !encoded {
		f.set("source", n, schema.StringValue(n.Text))
		return
	}
	text, name, err := f.read(n.Text, remote)
	if err != nil {
		f.wrong(n, "", "contents: %w", err)
		return
	}
	if text, err = decode(text); err != nil {
		f.wrong(f.d.props["encoding"], "", "encoding: %w", err)
		return
	}
	if interpolate {
		f.loader.remember(name, text)
		if text, err = template.Jinja(name, text, f.jinjaVariables(), f.loader.readTemplate, f.check); err != nil {
			if late, ok := errors.AsType[*timeoutError](err); ok {
				f.wrong(n, late.Hint(), "contents: %w", err)
				return
			}
			f.errs = append(f.errs, withSubject(f.subject, n.Place("contents", err)))
			return
		}
	}
	f.set("content", n, schema.StringValue(text))
}

// jinjaVariables returns the variables of a Jinja template: the constants, and functions that ask
// servers, unless a constant has the same name.
func (f *tinyFile) jinjaVariables() map[string]any {
	vars := f.loader.env().JinjaFunctions()
	maps.Copy(vars, f.constants)
	return vars
}

// read returns the text of a template and its name for messages.
func (f *tinyFile) read(where string, remote bool) (text, name string, err error) {
	var raw []byte
	if remote {
		if f.loader.Fetch == nil {
			return "", where, errors.New("downloads are not available here")
		}
		raw, err = f.loader.Fetch(f.ctx, where)
		return string(raw), where, err
	}
	path := f.PathOf(where)
	raw, err = f.loader.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = diag.None("file %s", path)
	}
	return string(raw), path, err
}

func isUTF8(name string) bool {
	return strings.EqualFold(strings.ReplaceAll(name, "-", ""), "utf8")
}

// decoder returns a function that converts a text to UTF-8, nil if the encoding is
// unknown.
func (f *tinyFile) decoder() func(string) (string, error) {
	n := f.d.props["encoding"]
	if n == nil || isUTF8(n.Text) {
		return func(s string) (string, error) { return s, nil }
	}
	name := strings.ReplaceAll(strings.ToLower(n.Text), "_", "-")
	if name == "latin-1" {
		name = "latin1"
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		f.wrong(n, "such as utf-8, latin1 or windows-1252", "encoding: %w", diag.Unknown("encoding", n.Text, nil))
		return nil
	}
	return enc.NewDecoder().String
}

// attributes translates owner, group and permission-mask. Missing ones are not managed.
func (f *tinyFile) attributes() {
	for _, name := range []string{"owner", "group"} {
		v := schema.StringValue(unmanagedOwner)
		if n := f.d.props[name]; n != nil {
			v = n.Scalar()
		}
		f.set(name, f.d.props[name], v)
	}
	n := f.d.props["permission-mask"]
	mask := unmanagedMode
	if n != nil {
		if mask = n.Text; !isMask(mask) {
			f.wrong(n, "", "permission-mask: %w", diag.Expected(`three digits from 0 to 7 or x such as "64x"`).Got("%s", n.Describe()))
		}
	}
	f.set("mode", n, schema.StringValue(mask))
}

// require translates after, a list of file::/path or /path.
func (f *tinyFile) require() {
	if len(f.d.after) == 0 {
		return
	}
	refs := make([]schema.Value, len(f.d.after))
	var list []*data.Node
	for i, n := range f.d.after {
		if n.Kind == schema.List || n.Kind == schema.Map || n.IsNil() {
			f.wrong(n, "", "after: %w", diag.Expected("the name of a definition").Got("%s", n.Describe()))
			continue
		}
		ref := n.Text
		if typ, name, ok := strings.Cut(ref, "::"); ok {
			ref = typ + "#" + name
		} else if !strings.Contains(ref, "#") {
			ref = "file#" + ref
		}
		refs[i] = schema.StringValue(ref)
		list = append(list, n)
	}
	f.table.add(data.Entry{Key: f.d.after[0], Val: f.d.after[0].WithItems(list)}, "require", schema.ListValue(refs...))
}
